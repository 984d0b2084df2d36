//! How sessions of a server are made and ended. Not here: what a server is known by (server).

use std::sync::Arc;

use model::{DbError, Fact, Product, Statement};

use super::compression::FRAME_BYTES_MAX;
use super::packets::{HEADER_BYTES, PART_BYTES};
use super::server::MysqlServer;
use super::sign_in::MysqlSignIn;
use super::{PRODUCT, facts};
use crate::net::{CancelKey, Connector, NetSession, Server};

impl Server for MysqlServer {
    type SignIn = MysqlSignIn;

    const PRODUCT: &'static Product = &PRODUCT;

    fn facts(self: &Arc<Self>) -> Result<Vec<Fact>, DbError> {
        facts::facts(self)
    }

    fn connector(&self) -> &Connector {
        &self.connector
    }

    fn sign_in(self: &Arc<Self>, statements: Arc<[Statement]>) -> MysqlSignIn {
        MysqlSignIn::new(Arc::clone(self), statements)
    }

    fn message_bytes_max(&self) -> usize {
        if self.compress {
            return FRAME_BYTES_MAX;
        }
        // Longer packets are joined from parts; the next header may have come with one.
        self.packet_bytes_max.min(PART_BYTES) + 2 * HEADER_BYTES
    }

    fn end(self: &Arc<Self>, place: usize, keys: &[CancelKey]) {
        let Ok(mut session) = NetSession::connect_here(self, place) else { return };
        for key in keys {
            if let CancelKey::KillQuery(id) = key {
                // One that has ended by itself is unknown to the server.
                let _ = session.ask_here(&format!("KILL {id}"), &mut |_| Ok(()));
            }
        }
    }
}
