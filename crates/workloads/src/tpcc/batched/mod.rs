//! The five transactions of TPC-C in as few round trips as is possible with SQL statements from a
//! client (mode `batched`).
//!
//! Statements that need no earlier result are sent together, in a flight: BEGIN with the first
//! flight, COMMIT with the last. Lists of keys replace queries of single rows. Contended rows are
//! locked first, before any plain read. Stock is locked in the order of warehouse and item, so that
//! two orders cannot deadlock. Not here: the inputs, and the same transactions row by row.

mod delivery;
mod flight;
mod new_order;
mod order_status;
mod payment;
mod statements;
mod stock_level;

use model::{DbError, Done, Request, StatementId};

use super::inputs::Inputs;
use super::tx::Tx;
use crate::tx_control::{control, taken_back};

pub(super) use statements::declare;

/// Runs a transaction in the mode `batched`: statements that do not depend on each other are sent
/// together. Rolls back after a database error.
pub(super) async fn transact(tx: &mut Tx<'_>, inputs: &Inputs) -> Result<Done, DbError> {
    let said = match inputs {
        Inputs::NewOrder(order) => new_order::converse(tx, order).await,
        Inputs::Payment(payment) => payment::converse(tx, payment).await,
        Inputs::OrderStatus(asked) => order_status::converse(tx, asked).await,
        Inputs::Delivery(delivery) => delivery::converse(tx, delivery).await,
        Inputs::StockLevel(asked) => stock_level::converse(tx, asked).await,
    };
    let ended = match said {
        Ok(Done::RolledBack) => control(tx.session, Request::Rollback).await.and(said),
        said => said,
    };
    taken_back(tx.session, ended).await
}

const BEGIN: StatementId = StatementId::BEGIN;
const BEGIN_READ_ONLY: StatementId = StatementId::BEGIN_READ_ONLY;
const COMMIT: StatementId = StatementId::COMMIT;
