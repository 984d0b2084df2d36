//! Opening and closing sessions of a MariaDB or MySQL server. Not here: its address and options
//! (server).

use std::sync::Arc;
use std::sync::atomic::Ordering;

use model::{DbError, Fact, Product, Row, Secret, Statement};

use super::compression::FRAME_BYTES_MAX;
use super::packets::{HEADER_BYTES, PART_BYTES};
use super::server::{MysqlServer, plain_modes};
use super::sign_in::MysqlSignIn;
use super::{PRODUCT, facts};
use crate::net::{CancelKey, Connector, NetSession, Server};

impl Server for MysqlServer {
    type SignIn = MysqlSignIn;

    const PRODUCT: &'static Product = &PRODUCT;

    fn facts(self: &Arc<Self>) -> Result<Vec<Fact>, DbError> {
        facts::facts(self)
    }

    fn learn(self: &Arc<Self>, session: &mut NetSession<MysqlServer>) -> bool {
        let (mut chains, mut number) = (true, None);
        let sql = "SELECT @@completion_type, @@pseudo_thread_id";
        let asked = session.ask_here(sql, &mut |row: &dyn Row| {
            chains = !row.text(0)?.eq_ignore_ascii_case("NO_CHAIN");
            number = row.optional_int(1)?;
            Ok(())
        });
        if asked.is_err() {
            // The setting is unknown, so each session sets it.
            chains = true;
        }
        self.chains.fetch_or(chains, Ordering::Relaxed);
        match (session.cancel_key(), number) {
            // The greeting has only 32 bits for the connection's number; some servers send 0.
            (Some(CancelKey::KillQuery(ours)), Some(number)) => {
                number != 0 && ours as u32 != number as u32
            }
            _ => false,
        }
    }

    fn look_around(self: &Arc<Self>, session: &mut NetSession<MysqlServer>) {
        if self.sql_mode.get().is_some() {
            return;
        }
        let mut sql_mode = String::new();
        let asked = session.ask_here("SELECT @@SESSION.sql_mode", &mut |row: &dyn Row| {
            row.text(0)?.clone_into(&mut sql_mode);
            Ok(())
        });
        // If this server did not answer, the next session asks again.
        if asked.is_err() {
            return;
        }
        if let Some(modes) = self.sql_mode.get_or_init(|| plain_modes(&sql_mode)) {
            let set = format!("SET SESSION sql_mode = '{modes}'");
            // If this fails, the next session sets it when it begins, or reports the error.
            let _ = session.ask_here(&set, &mut |_| Ok(()));
        }
    }

    fn connector(&self) -> &Connector {
        &self.connector
    }

    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> MysqlSignIn {
        MysqlSignIn::new(Arc::clone(self), statements)
    }

    fn secret(&self) -> Option<&Secret> {
        self.password.as_ref()
    }

    fn message_bytes_max(&self) -> usize {
        if self.compress {
            return FRAME_BYTES_MAX;
        }
        // Longer packets are joined from parts; the next header may come with one.
        self.packet_bytes_max.min(PART_BYTES) + 2 * HEADER_BYTES
    }

    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]) {
        let Ok(mut session) = NetSession::connect_here(self, place) else { return };
        for key in keys {
            if let CancelKey::KillQuery(id) = key {
                // The server does not know a session that has ended by itself.
                let _ = session.ask_here(&format!("KILL {id}"), &mut |_| Ok(()));
            }
        }
    }
}
