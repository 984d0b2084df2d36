//! Other hosts that take part in runs: a hub, the agents that join it, and the connections of a run
//! to them.
//!
//! Not here: what a client process does (app), and how clients are divided (engine).
