//! Tests with real servers, from start to end. If a server is not installed, the tests fail and say
//! how to install it; none is skipped.

mod another;
mod client;
mod db_errors;
mod lives;
mod nodes;
mod orphans;
mod products;
mod waiting;
