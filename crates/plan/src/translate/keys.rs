//! Keys of a plan, as translations set them.
//!
//! Not here: their values (settings).

/// A key of a plan, by the table in which it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    Plan(&'static str),
    Group(&'static str),
    Parameter(&'static str),
    Server(&'static str),
    Experiment(&'static str),
}

impl Key {
    /// Returns the key as a note names it.
    pub(super) fn written(self) -> String {
        match self {
            Key::Plan(name) | Key::Group(name) | Key::Parameter(name) => name.to_owned(),
            Key::Server(name) => format!("[server] {name}"),
            Key::Experiment(name) => format!("[experiment] {name}"),
        }
    }

    /// Returns the name of the key as an axis of an experiment.
    pub(super) fn axis(self) -> String {
        match self {
            Key::Plan(name) | Key::Group(name) | Key::Parameter(name) | Key::Experiment(name) => {
                name.to_owned()
            }
            Key::Server(name) => format!("server.{name}"),
        }
    }
}
