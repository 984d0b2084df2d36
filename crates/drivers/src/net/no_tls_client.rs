//! Replacement for the module `tls_client` in builds without TLS.

use std::convert::Infallible;
use std::io;
use std::task::{Context, Poll};

use model::{BadParameter, DbError};

use super::socket::{Got, Socket, Wait};
use super::tls_mode::TlsMode;
use super::tls_options::TlsOptions;

/// TLS configuration in builds without TLS, where no value of it exists.
#[derive(Clone)]
pub(super) struct Config(Infallible);

/// Returns `None`, since this build has no TLS. Fails if `mode` requires TLS.
pub(super) fn config(mode: TlsMode, _: TlsOptions<'_>) -> Result<Option<Config>, BadParameter> {
    if mode.is_required() {
        let why = "this dbdyno was built without TLS: use tls=disable, or build dbdyno with \
                   --features tls";
        return Err(BadParameter::named("tls", why));
    }
    Ok(None)
}

impl Config {
    pub(super) fn begin(&self, _: &str) -> Result<Secured, DbError> {
        match self.0 {}
    }
}

/// TLS state of a connection in builds without TLS, where no value of it exists.
pub(super) struct Secured(Infallible);

impl Secured {
    pub(super) fn poll_handshake(
        &mut self,
        _: &mut Socket,
        _: &mut Context<'_>,
        _: &mut u64,
        _: &mut u64,
    ) -> Poll<Result<Option<Vec<u8>>, DbError>> {
        match self.0 {}
    }

    pub(super) fn send(
        &mut self,
        _: &mut Socket,
        _: &mut Context<'_>,
        _: &[u8],
        _: &mut usize,
        _: &mut u64,
    ) -> io::Result<bool> {
        match self.0 {}
    }

    pub(super) fn poll_receive(
        &mut self,
        _: &mut Socket,
        _: &mut Context<'_>,
        _: &mut [u8],
        _: Wait,
        _: &mut u64,
    ) -> Poll<Result<Got, DbError>> {
        match self.0 {}
    }
}
