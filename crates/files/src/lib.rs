//! Files of users: read within limits, and written as a whole or not at all.
//!
//! Not here: what is in them, the words of a command, and files of the kernel.

mod plain;
mod unfinished;

pub use self::plain::{read_bytes, read_text, refuse_special};
pub use self::unfinished::{Unfinished, folder_of, remove_leftovers};
