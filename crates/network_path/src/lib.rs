//! A network path to a server with a known delay and bandwidth, in a separate process: clients
//! connect to it on this machine, and it connects to the server for them.
//!
//! The path uses neither threads nor CPU time of the load generator: [`NetworkPath`] starts the
//! program again with a hidden subcommand, and [`serve()`] is the code of that process. The process
//! runs while its standard input is open, so it ends with dbdyno, even if dbdyno is killed. No
//! other program can use the path: a connection begins with a line that contains a secret, which
//! the process receives through its input.
//!
//! Not here: the meaning of the bytes, and name resolution.

mod clock;
mod link;
mod path;
mod serve;
mod sockets;

pub use path::{NetworkPath, PathReport};
pub use serve::serve;
