//! Finds the process of a target's server, if it runs on this machine.
//!
//! /proc lists the sockets that listen on a port or a path. The process that holds such a socket is
//! visible to root and to the server's own user. Other users find it by its program's name and its
//! user, which is that of the socket. No connection is made. Not here: the resources of the
//! process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use model::Host;

use crate::kernel_files::read;
use crate::process::parent_of;

/// Code for the state of a listening socket in /proc/net/tcp.
const LISTENS: &str = "0A";

/// Flag of a listening socket in /proc/net/unix.
const ACCEPTS: &str = "00010000";

/// Location at which clients connect to a server: a Unix socket, a local port, or another machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProcessLocator {
    /// The server listens on the Unix socket with this path.
    Socket(String),
    /// The server listens on this TCP port of this machine.
    Port(u16),
    /// The server is on another machine, or its location is not known.
    Elsewhere,
}

impl ProcessLocator {
    /// Derives the server's location from the hosts to which clients connect. A host whose name is
    /// a path is a Unix socket.
    pub(crate) fn for_hosts(hosts: &[Host]) -> ProcessLocator {
        match hosts.first() {
            Some(host) if host.name.starts_with('/') => ProcessLocator::Socket(host.name.clone()),
            Some(Host { port: Some(port), .. }) if hosts.iter().all(Host::is_here) => {
                ProcessLocator::Port(*port)
            }
            _ => ProcessLocator::Elsewhere,
        }
    }

    /// Derives the location of a server that is on this machine, whatever name clients have for
    /// it: the first of its ports or sockets at which a process listens.
    pub(crate) fn on_this_host(hosts: &[Host]) -> ProcessLocator {
        let place = |host: &Host| match (host.name.starts_with('/'), host.port) {
            (true, _) => Some(ProcessLocator::Socket(host.name.clone())),
            (false, port) => port.map(ProcessLocator::Port),
        };
        let mut places = hosts.iter().filter_map(place);
        places.find(|place| place.listener().is_some()).unwrap_or(ProcessLocator::Elsewhere)
    }

    /// Finds the process that listens at this location; `None` if it is on another machine or not
    /// visible. If only the socket is visible, it is the one server with its user and with the name
    /// of one of these programs.
    pub(crate) fn process(&self, programs: &[String]) -> Option<u32> {
        let Listening { inode, user } = self.listener()?;
        holder_of(inode).or_else(|| only_server(programs, user?))
    }

    fn listener(&self) -> Option<Listening> {
        match self {
            ProcessLocator::Socket(path) => {
                let inode = listener_at(&read("/proc/net/unix"), Path::new(path))?;
                let user = fs::metadata(path).ok().map(|file| file.uid());
                Some(Listening { inode, user })
            }
            ProcessLocator::Port(port) => {
                let tables = [read("/proc/net/tcp"), read("/proc/net/tcp6")];
                tables.iter().find_map(|table| listener(table, *port))
            }
            ProcessLocator::Elsewhere => None,
        }
    }
}

/// A socket at which a process listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Listening {
    inode: u64,
    /// Id of the user whose process made the socket, if it can be read.
    user: Option<u32>,
}

/// Finds the process of a server by its program's name and its user, if there is just one. The
/// children of a server have its name too, and do not count.
fn only_server(programs: &[String], user: u32) -> Option<u32> {
    let name = |process: u32| read(format!("/proc/{process}/comm")).trim().to_owned();
    let is_server = |process: u32| {
        programs.contains(&name(process))
            && fs::metadata(format!("/proc/{process}")).is_ok_and(|folder| folder.uid() == user)
    };
    let is_eldest =
        |process: &u32| is_server(*process) && !parent_of(*process).is_some_and(is_server);
    let mut found = processes().filter(is_eldest);
    let first = found.next();
    first.filter(|_| found.next().is_none())
}

/// Returns the ids of all processes that this user sees.
fn processes() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Names of programs that forward connections to a server, as the kernel has them: cut after 15
/// characters.
const PROXIES: [&str; 15] = [
    "docker-proxy",
    "envoy",
    "haproxy",
    "kubectl",
    "maxscale",
    "mysqlrouter",
    "nginx",
    "odyssey",
    "pgbouncer",
    "pgcat",
    "pgpool",
    "proxysql",
    "socat",
    "ssh",
    "toxiproxy-serve",
];

/// Returns the name of a process if it is a known proxy, otherwise `None`. The database server is
/// then another process, perhaps on another machine.
pub(crate) fn proxy(process: u32) -> Option<String> {
    let name = read(format!("/proc/{process}/comm"));
    PROXIES.contains(&name.trim()).then(|| name.trim().to_owned())
}

/// Finds the inode of the socket that listens on a path, in the text of /proc/net/unix. Columns are
/// number, references, protocol, flags, type, state, inode and the path as it was bound, which may
/// contain any character. `None` if there is no such socket.
fn listener_at(table: &str, path: &Path) -> Option<u64> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let wanted = real(path);
    table.lines().skip(1).find_map(|line| {
        // Columns are padded, and a path may contain blanks: the rest of the line is the path.
        let mut rest = line;
        let mut field = || {
            let (field, after) = rest.trim_start().split_once(' ')?;
            rest = after;
            Some(field)
        };
        let mut fields = [""; 7];
        for place in &mut fields {
            *place = field()?;
        }
        let (flags, inode, bound) = (fields[3], fields[6], Path::new(rest));
        let is_it = flags == ACCEPTS
            && bound.file_name() == path.file_name()
            && (bound == path || (wanted.is_some() && real(bound) == wanted));
        is_it.then(|| inode.parse().ok())?
    })
}

/// Finds the socket that listens on a port, in the text of /proc/net/tcp
/// (proc_pid_net(5)). Columns are number, local address, remote address, state, queues, timer,
/// retransmissions, user, timeout, inode. `None` if there is no such socket.
fn listener(table: &str, port: u16) -> Option<Listening> {
    let at_port = format!(":{port:04X}");
    table.lines().skip(1).find_map(|line| {
        let fields: Vec<&str> = line.split_ascii_whitespace().collect();
        let is_it = fields.get(1)?.ends_with(&at_port) && *fields.get(3)? == LISTENS;
        let found = || {
            let user = fields.get(7)?.parse().ok();
            Some(Listening { inode: fields.get(9)?.parse().ok()?, user })
        };
        is_it.then(found)?
    })
}

/// Finds the process that holds the socket with this inode, among those that this user may inspect.
/// If several hold it, because a server forks, returns the oldest ancestor, since a child may end
/// at any time.
fn holder_of(inode: u64) -> Option<u32> {
    processes().find(|process| holds(*process, inode)).and_then(|one| eldest_holder(one, inode))
}

/// Whether a process holds the socket with this inode. Always false for systemd, which opens
/// sockets for other programs and keeps them.
fn holds(process: u32, inode: u64) -> bool {
    let wanted = format!("socket:[{inode}]");
    let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    let mut links = files.flatten().filter_map(|file| fs::read_link(file.path()).ok());
    links.any(|link| link.to_str() == Some(wanted.as_str()))
        && read(format!("/proc/{process}/comm")).trim() != "systemd"
}

/// Follows the parents of the process `holder` as long as they hold the socket too, and returns the
/// last that does; `None` if a process ended in the meantime.
fn eldest_holder(holder: u32, inode: u64) -> Option<u32> {
    let mut eldest = holder;
    loop {
        match parent_of(eldest) {
            Some(parent) if holds(parent, inode) => eldest = parent,
            Some(_) => return Some(eldest),
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn a_server_is_here_if_its_address_says_so() {
        let check = |hosts: &[(&str, Option<u16>)], expect: ProcessLocator| {
            let host =
                |(name, port): &(&str, Option<u16>)| Host { name: (*name).to_owned(), port: *port };
            let all: Vec<Host> = hosts.iter().map(host).collect();
            assert_eq!(ProcessLocator::for_hosts(&all), expect, "{hosts:?}");
        };
        check(&[("127.0.0.1", Some(3306))], ProcessLocator::Port(3306));
        check(&[("db1", Some(3306))], ProcessLocator::Elsewhere);
        check(&[("localhost", Some(3306)), ("db1", Some(3306))], ProcessLocator::Elsewhere);
        check(&[], ProcessLocator::Elsewhere);
        check(&[("/run/s", None)], ProcessLocator::Socket("/run/s".to_owned()));
    }

    #[test]
    fn the_socket_that_listens_at_a_port_is_found_in_the_kernels_table() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n\
             0: 0100007F:0CEA 0100007F:C000 01 00000000:00000000 00:00000000 00000000 1 0 11 1\n\
             1: 0100007F:0CEA 00000000:0000 0A 00000000:00000000 00:00000000 00000000 1 0 12 1\n";
        assert_eq!(listener(table, 3306), Some(Listening { inode: 12, user: Some(1) }));
        assert_eq!(listener(table, 3307), None);
        for nonsense in ["", "x", "x\n0: :0CEA 0:0 0A", "x\n:0CEA"] {
            assert_eq!(listener(nonsense, 3306), None);
        }
    }

    #[test]
    fn the_socket_that_listens_at_a_path_is_found_whatever_is_in_the_path() {
        let table = "Num RefCount Protocol Flags Type St Inode Path\n\
             ffff: 00000003 00000000 00000000 0001 03 11 /no/such folder/s\n\
             ffff: 00000002 00000000 00010000 0001 01    12 /no/such folder/s\n\
             ffff: 00000002 00000000 00010000 0001 01 13\n";
        assert_eq!(listener_at(table, Path::new("/no/such folder/s")), Some(12));
        assert_eq!(listener_at(table, Path::new("/no/such folder/t")), None);
        assert_eq!(listener_at("x\n\n1 2 3", Path::new("/s")), None);
    }

    #[test]
    fn a_proxy_is_known_by_the_name_of_its_process() {
        use std::io::{Read, Write};
        use std::process::{Command, Stdio};

        let folder = tempfile::tempdir().expect("a folder");
        let named = |name: &str| {
            // The kernel names a process after its file.
            let program = folder.path().join(name);
            std::os::unix::fs::symlink("/bin/cat", &program).expect("a link");
            let mut command = Command::new(&program);
            let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("it is started");
            // The child has its name once it answers.
            let mut input = child.stdin.take().expect("a pipe");
            input.write_all(b"x").expect("it listens");
            child.stdout.as_mut().expect("a pipe").read_exact(&mut [0]).expect("it answers");
            let found = proxy(child.id());
            drop(input);
            child.wait().expect("it ends with its input");
            found
        };
        assert_eq!(named("haproxy").as_deref(), Some("haproxy"));
        assert_eq!(named("mariadbd"), None);
        assert_eq!(proxy(std::process::id()), None);
    }

    #[test]
    fn of_processes_that_hold_a_socket_it_is_the_eldest() {
        use std::os::fd::OwnedFd;
        use std::process::{Command, Stdio};

        let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listening.local_addr().expect("it has one").port();
        let inode = listener(&read("/proc/net/tcp"), port).expect("it listens").inode;
        let copy = OwnedFd::from(listening.try_clone().expect("a copy"));
        let mut child = Command::new("sleep").arg("60").stdin(Stdio::from(copy)).spawn();
        let child = child.as_mut().expect("it is started");
        let found = (holds(child.id(), inode), eldest_holder(child.id(), inode));
        child.kill().expect("it is ours");
        child.wait().expect("it has ended");
        assert_eq!(found, (true, Some(std::process::id())));
        assert_eq!(eldest_holder(child.id(), inode), None, "it has ended");
    }

    #[test]
    fn we_find_ourselves_at_a_port_and_at_a_socket() {
        let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listening.local_addr().expect("it has one").port();
        assert_eq!(ProcessLocator::Port(port).process(&[]), Some(std::process::id()));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("socket");
        let _listening = UnixListener::bind(&path).expect("a socket");
        let socket = ProcessLocator::Socket(path.to_string_lossy().into_owned());
        assert_eq!(socket.process(&[]), Some(std::process::id()));
        assert_eq!(ProcessLocator::Socket("/nowhere".to_owned()).process(&[]), None);
        assert_eq!(ProcessLocator::Elsewhere.process(&[]), None);
    }
    #[test]
    fn a_server_whose_sockets_are_hidden_is_found_by_program_and_user() {
        use std::process::Command;

        let folder = tempfile::tempdir().expect("a folder");
        let own = fs::metadata("/proc/self").expect("it is ours").uid();
        let program = folder.path().join("hidden-server");
        fs::copy("/bin/sleep", &program).expect("a copy");
        let start = || {
            let child = Command::new(&program).arg("60").spawn().expect("it is started");
            // The kernel lets its parent go on before it has the name of its program.
            let comm = format!("/proc/{}/comm", child.id());
            while read(comm.as_str()).trim() != "hidden-server" {
                std::thread::yield_now();
            }
            child
        };
        let programs = ["hidden-server".to_owned()];
        let mut first = start();
        let one = only_server(&programs, own);
        let of_other_user = only_server(&programs, own + 1);
        let mut second = start();
        let two = only_server(&programs, own);
        for child in [&mut first, &mut second] {
            child.kill().expect("it is ours");
            child.wait().expect("it has ended");
        }
        assert_eq!((one, of_other_user), (Some(first.id()), None));
        assert_eq!(two, None, "either of two may be it");
        assert_eq!(only_server(&programs, own), None);
    }

    #[test]
    fn on_the_servers_host_its_port_is_enough() {
        let listening = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listening.local_addr().expect("it has one").port();
        let host = |name: &str, port| Host { name: name.to_owned(), port };
        let hosts = [host("/nowhere", None), host("db1", Some(1)), host("db1.example", Some(port))];
        assert_eq!(ProcessLocator::on_this_host(&hosts), ProcessLocator::Port(port));
        assert_eq!(ProcessLocator::on_this_host(&hosts[..1]), ProcessLocator::Elsewhere);
    }
}
