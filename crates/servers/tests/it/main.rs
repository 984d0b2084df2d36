//! Real servers, from start to end. What is missing fails with its remedy; nothing is skipped.

mod another;
mod client;
mod db_errors;
mod lives;
mod nodes;
mod orphans;
mod products;
mod waiting;
