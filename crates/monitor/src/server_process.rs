//! Program and arguments of a server's process on this host, by which its program can be started
//! again to check a configuration.
//!
//! Not here: the resources that the process uses.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use model::Host;

use crate::process_locator::{ProcessLocator, proxy};

/// A server's process on this host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerProcess {
    /// Path of the program.
    pub program: PathBuf,
    /// Arguments of the program, without its name.
    pub arguments: Vec<String>,
    /// Environment with which the process was started; empty if this user may not see it.
    pub environment: Vec<(String, String)>,
    /// Folder in which the process works.
    pub folder: PathBuf,
    /// Ids of the user and the group as which the process runs.
    pub user: u32,
    pub group: u32,
}

/// Finds the process of the server at one of these addresses, which is named by one of these
/// programs; `None` if there is none on this host, or if this user may not see it.
pub fn server_process(hosts: &[Host], programs: &[String]) -> Option<ServerProcess> {
    let process = ProcessLocator::on_this_host(hosts).process(programs)?;
    if proxy(process).is_some() {
        return None;
    }
    let folder = PathBuf::from(format!("/proc/{process}"));
    let owner = fs::metadata(&folder).ok()?;
    let mut words = texts(&fs::read(folder.join("cmdline")).ok()?).into_iter();
    let named = words.next().filter(|word| Path::new(word).is_absolute());
    let arguments: Vec<String> = words.collect();
    let environment = texts(&fs::read(folder.join("environ")).unwrap_or_default());
    let pair = |text: &String| {
        let (name, value) = text.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    };
    Some(ServerProcess {
        environment: environment.iter().filter_map(pair).collect(),
        program: named.map(PathBuf::from).or_else(|| fs::read_link(folder.join("exe")).ok())?,
        arguments,
        folder: fs::read_link(folder.join("cwd")).unwrap_or_else(|_| PathBuf::from("/")),
        user: owner.uid(),
        group: owner.gid(),
    })
}

/// Returns the texts of a list in which each ends with a zero byte.
fn texts(bytes: &[u8]) -> Vec<String> {
    let ended = bytes.strip_suffix(&[0]).unwrap_or(bytes);
    if ended.is_empty() {
        return Vec::new();
    }
    let texts = ended.split(|byte| *byte == 0);
    texts.map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn the_process_at_a_port_is_found_with_its_program_and_arguments() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let host = Host { name: "127.0.0.1".to_owned(), port: Some(port) };
        let found = server_process(&[host], &[]).expect("it is this process");
        assert_eq!(found.program, std::env::current_exe().expect("a program"));
        assert_eq!(found.arguments, std::env::args().skip(1).collect::<Vec<String>>());
        assert_eq!(found.folder, std::env::current_dir().expect("a folder"));
        assert_eq!(found.user, rustix::process::geteuid().as_raw());
        assert!(found.environment.iter().any(|(name, _)| name == "PATH"));
    }

    #[test]
    fn a_list_may_be_empty_and_have_empty_texts() {
        assert_eq!(texts(b""), Vec::<String>::new());
        assert_eq!(texts(b"a\0\0b\0"), ["a", "", "b"]);
    }
}
