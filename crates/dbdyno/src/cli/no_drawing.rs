//! Stands in for drawing on a terminal if dbdyno is built without it: `live` prints lines instead.

use std::convert::Infallible;

/// Stand-in, without any value, for the drawing on a terminal: `begin` always returns `None` in
/// this build.
pub(super) struct Drawing(Infallible);

impl Drawing {
    pub(super) fn begin() -> Option<Drawing> {
        None
    }

    pub(super) fn end(&mut self) {
        match self.0 {}
    }

    pub(super) fn clear_passing(&mut self) {
        match self.0 {}
    }

    pub(super) fn draw(&mut self, _: impl FnOnce(usize) -> Vec<String>) {
        match self.0 {}
    }

    pub(super) fn building(&mut self, _: u64, _: u64, _: &str) {
        match self.0 {}
    }

    pub(super) fn doing(&mut self, _: &str) {
        match self.0 {}
    }

    pub(super) fn note(&mut self, _: &str) {
        match self.0 {}
    }
}
