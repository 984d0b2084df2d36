//! A second process of this test binary, which performs a task so that a test can kill it or run it
//! as another user.

use std::fs::{self, Permissions};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use servers::{Kind, Server};

use crate::client::{ask, command, start_small};
use crate::nodes::start_nodes;

/// Environment variable that tells this test binary to perform a task instead of running tests.
const TASK: &str = "DBDYNO_SERVERS_TASK";
const TEST: &str = "another::a_task_is_done_where_one_is_given";

/// Prefix of the line on stderr that announces a running server by its process ID and folder.
const TOLD: &str = "@@";

/// A second process that has started a server and keeps the server until it is killed.
pub(crate) struct Holder {
    pub(crate) child: Child,
    pub(crate) server_pid: u32,
    pub(crate) dir: PathBuf,
}

impl Holder {
    pub(crate) fn start(what: &str, kind: Kind, folder: &Path) -> Holder {
        let exe = std::env::current_exe().expect("ourselves");
        let mut command = Command::new(exe);
        let mut child = task(&mut command, &format!("{what} {}", kind.name()), folder)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let errors = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut lines = errors.lines().map(|line| line.expect("UTF-8"));
        let shown = lines.find_map(|line| line.strip_prefix(TOLD).map(str::to_owned));
        let shown = shown.unwrap_or_default();
        let (pid, dir) = shown.split_once(' ').unwrap_or_default();
        let server_pid = pid.parse().unwrap_or_default();
        let holder = Holder { child, server_pid, dir: PathBuf::from(dir) };
        assert!(holder.server_pid > 0, "no server was started");
        holder
    }

    /// Kills the process by SIGKILL, so that it cannot clean up its server.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("killed");
        self.child.wait().expect("reaped");
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Copies this test binary into `folder`, where every user may run it.
pub(crate) fn copy_for_all(folder: &Path) -> PathBuf {
    let copy = folder.join("it");
    fs::copy(std::env::current_exe().expect("ourselves"), &copy).expect("copied");
    fs::set_permissions(&copy, Permissions::from_mode(0o755)).expect("opened");
    copy
}

pub(crate) fn task<'a>(command: &'a mut Command, task: &str, folder: &Path) -> &'a mut Command {
    let task = format!("{task} {}", folder.display());
    command.args(["--exact", TEST, "--nocapture"]).env(TASK, task).stdout(Stdio::null())
}

#[test]
#[expect(clippy::disallowed_methods, reason = "tells this process apart from those that test")]
fn a_task_is_done_where_one_is_given() {
    let Ok(task) = std::env::var(TASK) else { return };
    let words: Vec<&str> = task.split(' ').collect();
    let [task, kind, folder] = words[..] else { panic!("{task}") };
    let kind = Kind::ALL.iter().copied().find(|known| known.name() == kind).expect("a kind");
    if task == "hold-nodes" {
        let cluster = start_nodes(2, Path::new(folder));
        return hold(&cluster.nodes()[1]);
    }
    let server = start_small(kind, Path::new(folder));
    match task {
        "hold" => hold(&server),
        "keep-busy" => {
            let mut client = busy(&server);
            hold(&server);
            client.wait().expect("reaped");
        }
        "visit" => {
            assert_eq!(ask(&server, "SELECT 1"), "1");
            tell(&server);
        }
        _ => panic!("{task}"),
    }
}

/// Keeps the server until stdin ends, which does not happen before this process is killed.
fn hold(server: &Server) {
    tell(server);
    std::io::stdin().read_to_end(&mut Vec::new()).expect("stdin");
}

fn tell(server: &Server) {
    let pid = server.process_id().expect("running");
    eprintln!("{TOLD}{pid} {}", server.folder().display());
}

/// Starts a client whose statement never ends. Returns once the statement is running.
pub(crate) fn busy(server: &Server) -> Child {
    assert_eq!(server.kind(), Kind::Postgres);
    let sql = "DO $$ BEGIN LOOP END LOOP; END $$";
    let mut command = command(server.kind(), &server.target(), sql);
    let client = command.stderr(Stdio::null()).spawn().expect("psql");
    let sql = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'";
    let is_under_way = (0..1000).any(|_| ask(server, sql) == "1");
    assert!(is_under_way, "the statement does not begin");
    client
}
