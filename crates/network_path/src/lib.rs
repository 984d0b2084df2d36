//! A way to a server with a known delay and bandwidth, as a process of its own: clients connect to
//! it on this machine, and it connects to the server for them.
//!
//! Neither the threads nor the CPU time of whoever makes the load are its: [`NetworkPath`] starts
//! the program again with a word of ours, and [`serve`] is what that process does. It lives as long
//! as its input is open, so it ends with us, however we end. Nobody else can use it: a connection
//! begins with a line that has a secret, which goes to the process through its input.
//!
//! Not here: what the bytes mean, and a name that must be looked up.

mod clock;
mod link;
mod path;
mod serve;
mod sockets;

pub use path::{NetworkPath, PathReport};
pub use serve::serve;
