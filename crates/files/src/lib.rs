//! Files of users, which are read up to a limit, and written completely or not at all.
//!
//! Not here: the contents of files, wording of errors for a command, and kernel files.

mod plain;
mod unfinished;

pub use self::plain::{is_open_to_others, read_bytes, read_text, refuse_special};
pub use self::unfinished::{Unfinished, folder_of, remove_leftovers, write_whole};
