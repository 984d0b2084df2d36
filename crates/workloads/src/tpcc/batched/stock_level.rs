//! The Stock-Level transaction of TPC-C (clause 2.8) in one round trip. Not here: the inputs.

use model::{DbError, Done, Row};

use super::super::inputs::StockLevel;
use super::super::tx::{Tx, wrong_count};
use super::flight::Flight;
use super::statements::LOW_STOCK;
use super::{BEGIN_READ_ONLY, COMMIT};

/// Runs a Stock-Level transaction from BEGIN to COMMIT, in few round trips (clause 2.8.2.2).
pub(super) async fn converse(tx: &mut Tx<'_>, asked: &StockLevel) -> Result<Done, DbError> {
    let values = [asked.warehouse.into(), asked.district.into(), asked.threshold.into()];
    let mut flight = Flight::empty();
    flight.call(BEGIN_READ_ONLY, &[]);
    flight.call(LOW_STOCK, &values);
    flight.call(COMMIT, &[]);
    let mut n_rows = 0;
    let mut see = |row: &dyn Row| {
        n_rows += 1;
        row.int(0).map(|_| ())
    };
    flight.ask(tx, &mut see).await?;
    match n_rows {
        1 => Ok(Done::Committed),
        n => Err(wrong_count("count of low stock", &values, n)),
    }
}
