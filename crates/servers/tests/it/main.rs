//! Real servers, from start to end. A missing server fails with its remedy; nothing is skipped.

mod another;
mod client;
mod db_errors;
mod lives;
mod nodes;
mod orphans;
mod products;
mod waiting;
