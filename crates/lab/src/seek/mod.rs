//! The highest rate, or number of clients, at which objectives hold.

mod course;

pub use course::{Ask, Conclusion, Course, Probe};
