//! How results look as text: the report of a run, its live view, and what they are made of.
//!
//! Everything here is a function from values to lines. Not here: what is true (report), and any
//! terminal (dbdyno).

mod comparison;
mod experiment;
pub mod figures;
pub mod list;
pub mod live;
mod seek;
pub mod spark;
pub mod table;
pub mod text;

pub use comparison::{comparison, comparison_csv, comparison_markdown};
pub use experiment::{experiment, experiment_list};
pub use list::run_list;
pub use seek::seek;
pub use spark::sparkline;
pub use table::{Align, Column, Table};
pub use text::{Style, text};
