//! Tests of settings that a server takes only at its start, on servers that dbdyno did not start:
//! they are restarted by a command of their owner, here or by an agent, and their files are
//! restored byte for byte, whoever is killed in between.

use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use drivers::Opening;
use model::{Request, Row, StatementKind, Target};
use tempfile::TempDir;

use crate::agents::Hub;
use crate::home::{Home, at, number_in};
use crate::proxies::free_port;
use crate::settings::say;
use crate::waiting::{Started, eventually};

const FAILED: i32 = 1;
const USAGE: i32 = 2;
const INTERRUPTED: i32 = 130;

/// Folder of PostgreSQL's programs, as Debian has it.
const POSTGRES_BIN: &str = "/usr/lib/postgresql/15/bin";

/// A server of somebody's house: its owner has started it, and has a command that restarts it.
struct House {
    folder: TempDir,
    target: String,
    /// File to which settings are added, and which the server reads last.
    file: PathBuf,
    /// Whether the owner must name the file.
    is_file_named: bool,
    varied: Varied,
}

/// A setting that needs a restart, with two values other than its own.
#[derive(Clone, Copy)]
struct Varied {
    name: &'static str,
    values: [&'static str; 2],
    /// Query that returns the value of the setting.
    sql: &'static str,
}

/// Contents, permissions and owner of a file; `None` if there is none.
type FileState = Option<(Vec<u8>, u32, u32)>;

impl House {
    fn postgres() -> House {
        let (folder, port) = (folder_for("postgres"), free_port());
        let path = |name: &str| folder.path().join(name);
        let data = path("data");
        let made = as_user("postgres", &format!("{POSTGRES_BIN}/initdb"))
            .args(["-A", "trust", "-U", "bench", "--no-sync", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status();
        assert!(made.expect("PostgreSQL is installed").success());
        let file = data.join("postgresql.auto.conf");
        let mut text = fs::read_to_string(&file).expect("it is there");
        text += "# not ours\nwork_mem = '5MB'";
        fs::write(&file, text).expect("it is ours");
        let start = format!(
            "{POSTGRES_BIN}/pg_ctl -D {} -l {} -m fast -w restart -o '-p {port} -k {} \
             -c listen_addresses=127.0.0.1 -c fsync=off'",
            data.display(),
            path("log").display(),
            folder.path().display()
        );
        let house = House {
            target: format!("postgres://bench@127.0.0.1:{port}/postgres"),
            file,
            is_file_named: false,
            varied: Varied {
                name: "shared_buffers",
                values: ["32MB", "64MB"],
                sql: "SELECT current_setting('shared_buffers')",
            },
            folder,
        };
        house.started("postgres", &start)
    }

    fn mariadb() -> House {
        let (folder, port) = (folder_for("mysql"), free_port());
        let path = |name: &str| folder.path().join(name).display().to_string();
        let made = as_user("mysql", "mariadb-install-db")
            .args(["--no-defaults", "--skip-test-db", "--auth-root-authentication-method=normal"])
            .arg(format!("--datadir={}", path("data")))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        assert!(made.expect("MariaDB is installed").success());
        fs::create_dir(path("conf.d")).expect("the folder is ours");
        let configuration = format!(
            "[mysqld]\ndatadir={}\nsocket={}\nport={port}\nbind-address=127.0.0.1\npid-file={}\n\
             log-error={}\ninnodb_flush_log_at_trx_commit=2\n!includedir {}\n",
            path("data"),
            path("socket"),
            path("pid"),
            path("log"),
            path("conf.d")
        );
        fs::write(path("my.cnf"), configuration).expect("the folder is ours");
        let start = format!(
            "if P=$(cat {pid} 2>/dev/null); then kill $P; while kill -0 $P 2>/dev/null; do \
             sleep 0.02; done; fi\n\
             rm -f {socket}\n\
             mariadbd --defaults-file={configuration} </dev/null >/dev/null 2>&1 & P=$!\n\
             while kill -0 $P 2>/dev/null; do [ -S {socket} ] && exit 0; sleep 0.02; done\n\
             echo 'ERROR: mariadbd has ended' >&2; exit 1",
            pid = path("pid"),
            socket = path("socket"),
            configuration = path("my.cnf"),
        );
        let house = House {
            target: format!("mariadb://root@127.0.0.1:{port}/mysql"),
            file: folder.path().join("conf.d/zz-dbdyno.cnf"),
            is_file_named: true,
            varied: Varied {
                name: "innodb_log_buffer_size",
                values: ["4M", "8M"],
                sql: "SELECT CAST(@@GLOBAL.innodb_log_buffer_size AS CHAR)",
            },
            folder,
        };
        house.started("mysql", &start)
    }

    /// Writes the restart command, and starts the server by it.
    fn started(self, user: &str, start: &str) -> House {
        let script = self.folder.path().join("start.sh");
        fs::write(&script, start).expect("the folder is ours");
        let by_user = match rustix::process::geteuid().is_root() {
            true => format!("setpriv --reuid={user} --regid={user} --init-groups "),
            false => String::new(),
        };
        let restart = format!("#!/bin/sh\nexec setsid {by_user}sh {}\n", script.display());
        fs::write(self.restart(), restart).expect("the folder is ours");
        fs::set_permissions(self.restart(), Permissions::from_mode(0o755)).expect("it is ours");
        let started = Command::new(self.restart()).stdout(Stdio::null()).status();
        assert!(started.expect("a shell").success());
        assert!(eventually(|| self.opened().is_some()), "the server does not answer");
        self
    }

    fn restart(&self) -> String {
        self.folder.path().join("restart.sh").display().to_string()
    }

    fn opened(&self) -> Option<Box<dyn model::Session>> {
        let target = Target::parse(&self.target).expect("a target");
        let database = drivers::open(&target, Opening { create: false, seed: 0 }).ok()?;
        let clock = std::rc::Rc::new(engine::ThreadClock::unstopped());
        let placement = model::Placement::Thread;
        let place = model::Place { placement, clock, client: 0 };
        engine::block_on(database.connect(place, std::sync::Arc::from(Vec::new()))).ok()
    }

    fn value(&self) -> String {
        self.answer().expect("the server answers")
    }

    /// Returns the value of the setting; `None` if the server does not answer, or is shut down
    /// meanwhile.
    fn answer(&self) -> Option<String> {
        let (mut session, mut value) = (self.opened()?, None);
        let request = Request::Text { kind: StatementKind::Other, sql: self.varied.sql };
        let mut visit = |row: &dyn Row| {
            value = Some(row.text(0)?.to_owned());
            Ok(())
        };
        engine::block_on(model::query(session.as_mut(), request, &mut visit)).ok()?;
        value
    }

    fn state(&self) -> FileState {
        let contents = fs::read(&self.file).ok()?;
        let there = fs::metadata(&self.file).ok()?;
        Some((contents, there.mode(), there.uid()))
    }

    /// Returns the options with which the owner lets the server be restarted.
    fn options(&self) -> Vec<String> {
        let file = format!("--settings-file={}", self.file.display());
        let restart = format!("--restart-command={}", self.restart());
        std::iter::once(restart).chain(self.is_file_named.then_some(file)).collect()
    }

    /// Returns the arguments of an experiment over the setting.
    fn experiment(&self, duration: &str, more: &[String]) -> Vec<String> {
        let Varied { name, values, .. } = self.varied;
        self.over(&format!("server.{name}={}", values.join(",")), duration, more)
    }

    fn over(&self, vary: &str, duration: &str, more: &[String]) -> Vec<String> {
        let (target, vary) = (format!("--target={}", self.target), format!("--vary={vary}"));
        let duration = format!("--duration={duration}");
        let words = ["run", "empty", &target, &vary, "--clients=1", "--rate=20", "--ramp-up=0s"];
        let words = words.into_iter().chain([duration.as_str(), "--repeat=1"]);
        words.map(str::to_owned).chain(more.iter().cloned()).collect()
    }
}

impl Drop for House {
    fn drop(&mut self) {
        let pid_file = match self.is_file_named {
            true => self.folder.path().join("pid"),
            false => self.folder.path().join("data/postmaster.pid"),
        };
        let text = fs::read_to_string(pid_file).unwrap_or_default();
        let pid = text.lines().next().and_then(|line| line.trim().parse().ok());
        if let Some(pid) = pid.and_then(rustix::process::Pid::from_raw) {
            // Immediate shutdown of PostgreSQL, whose children end with it.
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::QUIT);
            let _ = eventually(|| rustix::process::test_kill_process(pid).is_err());
        }
    }
}

/// Creates a folder that a server's user owns and reaches.
fn folder_for(user: &str) -> TempDir {
    let folder = tempfile::Builder::new().prefix("dbdyno-house-").tempdir().expect("a folder");
    fs::set_permissions(folder.path(), Permissions::from_mode(0o755)).expect("it is ours");
    if rustix::process::geteuid().is_root() {
        let ids = Command::new("id").args(["-u", user]).output().expect("a user");
        let id = String::from_utf8(ids.stdout).expect("digits").trim().parse().expect("an id");
        chown(folder.path(), Some(id), None).expect("we are root");
    }
    folder
}

fn as_user(user: &str, program: &str) -> Command {
    if !rustix::process::geteuid().is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    let (uid, gid) = (format!("--reuid={user}"), format!("--regid={user}"));
    command.args([&uid, &gid, "--init-groups", program]).current_dir("/");
    command
}

/// Varies the setting, and checks that each trial had its value, and that nothing is left.
#[track_caller]
fn varied_and_restored(house: &House) {
    let home = Home::new();
    let (file, value) = (house.state(), house.value());
    let refused = home.run(&house.experiment("1s", &[])).code(USAGE);
    refused.warns(&[house.varied.name, "takes effect only at a start", "--restart-command"]);
    home.run(&house.experiment("1s", &house.options())).good();
    assert_eq!((house.state(), house.value()), (file, value));
    let runs = home.json(&["runs", "list"]);
    let runs = at(&runs, "runs").as_array().expect("a list").clone();
    let setting = |run: &serde_json::Value| {
        let id = at(run, "run_id").as_str().expect("an id").to_owned();
        let report = home.json(&["runs", "show", &id]);
        at(&report, &format!("facts.setting.{}", house.varied.name)).clone()
    };
    let mut settings: Vec<String> = runs.iter().map(|run| setting(run).to_string()).collect();
    settings.sort();
    settings.dedup();
    assert_eq!(settings.len(), 2, "{settings:?}");
    home.run(&["restore"]).good().says(&["no settings"]);
}

/// Kills a process in the middle of an experiment, and returns when the file is changed.
fn until_changed(house: &House, home: &Home, more: &[String], before: &FileState) -> Started {
    let (store, sql) = (home.store(), "SELECT count(*) FROM run");
    let n_before = number_in(&store, sql).unwrap_or(0);
    let mut run: Started = home.start(&house.experiment("600s", more));
    run.wait_until("a trial", |_| number_in(&store, sql) > Some(n_before));
    assert_ne!(house.state(), *before);
    run
}

#[track_caller]
fn restored_after_a_kill(house: &House) {
    let home = Home::new();
    let (file, value) = (house.state(), house.value());
    let mut run = until_changed(house, &home, &house.options(), &file);
    run.kill();
    run.end();
    let target = format!("--target={}", house.target);
    home.run(&["runs", "list"]).good().warns(&["settings file", "dbdyno restore --target"]);
    let dry = home.run(&["restore", "--dry-run"]).good();
    dry.says(&["would be restored, and the server restarted by"]);
    assert_ne!(house.state(), file);
    // The file of another is not overwritten.
    let ours = fs::read(&house.file).expect("it is there");
    fs::write(&house.file, [&ours[..], b"port = 1\n"].concat()).expect("it is ours");
    home.run(&["restore", &target]).code(FAILED).says(&["somebody else has changed it"]);
    fs::write(&house.file, ours).expect("it is ours");
    home.run(&["restore", &target]).good().says(&["restored, and the server restarted"]);
    assert_eq!((house.state(), house.value()), (file.clone(), value.clone()));
    home.run(&["restore"]).good().says(&["no settings"]);
    // A run without settings of its own has the server's, whatever a killed one has left.
    let mut run = until_changed(house, &home, &house.options(), &file);
    run.kill();
    run.end();
    let words = ["run", "empty", &target, "--clients=1", "--rate=20", "--duration=1s"];
    let words = words.map(str::to_owned).into_iter().chain(house.options());
    home.run(&words.collect::<Vec<String>>()).good();
    assert_eq!((house.state(), house.value()), (file, value));
    home.run(&["restore"]).good().says(&["no settings"]);
}

#[test]
fn settings_of_postgres_that_need_a_restart_are_varied_and_restored() {
    let house = House::postgres();
    varied_and_restored(&house);
    restored_after_a_kill(&house);
    let home = Home::new();
    let (file, value) = (house.state(), house.value());
    let with = |vary: &str| home.run(&house.over(vary, "1s", &house.options())).code(USAGE);
    with("server.shared_buffers=32MB,1kB").warns(&["1kB is outside", "128 to 8589934584 KiB"]);
    with("server.shared_buffers=32MB,many").warns(&["own program refuses", "\"many\""]);
    assert_eq!((house.state(), house.value()), (file, value));
}

#[test]
fn settings_of_mariadb_that_need_a_restart_are_varied_and_restored() {
    let house = House::mariadb();
    varied_and_restored(&house);
    restored_after_a_kill(&house);
}

/// Interrupts a run after somebody else has changed the settings file, and checks that their
/// setting stays, and ours does not.
#[track_caller]
fn kept_beside_ours(house: &House, change: impl FnOnce(&House), theirs: &str) {
    let home = Home::new();
    let (file, value) = (house.state(), house.value());
    let run = until_changed(house, &home, &house.options(), &file);
    change(house);
    run.interrupt();
    run.end().code(INTERRUPTED);
    let text = fs::read_to_string(&house.file).expect("they have changed it");
    assert!(text.contains(theirs) && !text.contains(house.varied.name), "{text}");
    assert_eq!(house.value(), value);
    home.run(&["restore"]).good().says(&["no settings"]);
}

#[test]
fn what_others_add_to_the_file_during_a_run_stays_there() {
    let house = House::postgres();
    let by_sql = |house: &House| {
        let mut session = house.opened().expect("it answers");
        say(session.as_mut(), "ALTER SYSTEM SET maintenance_work_mem = '77MB'");
    };
    kept_beside_ours(&house, by_sql, "maintenance_work_mem = '77MB'");
    // It was there before, and the server has written the file again.
    let text = fs::read_to_string(&house.file).expect("it is there");
    assert!(text.contains("work_mem = '5MB'"), "{text}");
    let house = House::mariadb();
    let by_hand = |house: &House| {
        let text = fs::read_to_string(&house.file).expect("it is ours");
        fs::write(&house.file, text + "max_connections = 99\n").expect("it is ours");
    };
    kept_beside_ours(&house, by_hand, "max_connections = 99");
}

#[test]
fn an_interrupt_in_a_restart_waits_for_its_end_and_restores_the_file() {
    let house = House::mariadb();
    let home = Home::new();
    let (file, value) = (house.state(), house.value());
    let path = |name: &str| house.folder.path().join(name);
    let script = format!(
        "touch {begun}; while [ ! -e {go} ]; do sleep 0.02; done; exec {restart}",
        begun = path("begun").display(),
        go = path("go").display(),
        restart = house.restart()
    );
    let mut options = house.options();
    options[0] = format!("--restart-command={script}");
    let run = home.start(&house.experiment("600s", &options));
    assert!(eventually(|| path("begun").exists()), "it restarts nothing");
    assert_ne!(house.state(), file);
    // Nobody else changes the file meanwhile, whatever their store is.
    let other = Home::new();
    let refused = other.run(&house.experiment("1s", &house.options())).code(FAILED);
    refused.warns(&["another dbdyno is changing the settings of this server"]);
    run.interrupt();
    fs::write(path("go"), "").expect("the folder is ours");
    run.end().code(INTERRUPTED);
    assert_eq!((house.state(), house.value()), (file, value));
    home.run(&["restore"]).good().says(&["no settings"]);
}

#[test]
fn a_server_that_does_not_start_gets_its_own_settings_back() {
    let house = House::mariadb();
    let home = Home::new();
    let (file, value) = (house.state(), house.value());
    // The data have another size of pages.
    let vary = "server.innodb_page_size=4096,8192";
    let run = home.run(&house.over(vary, "1s", &house.options())).code(FAILED);
    run.warns(&["with innodb_page_size=4096", "mariadbd has ended", "its own settings again"]);
    assert_eq!((house.state(), house.value()), (file.clone(), value.clone()));
    // A file that the server does not read, and a command that restarts nothing.
    let other = house.folder.path().join("other.cnf").display().to_string();
    let options = |command: &str, file: &str| {
        [format!("--restart-command={command}"), format!("--settings-file={file}")]
    };
    let unread = options(&house.restart(), &other);
    let run = home.run(&house.experiment("1s", &unread)).code(USAGE);
    run.warns(&["is still", "does the server read this file last?"]);
    assert!(!Path::new(&other).exists());
    let fails = options("echo no such service >&2; false", &house.file.display().to_string());
    let run = home.run(&house.experiment("1s", &fails)).code(FAILED);
    run.warns(&["no such service", "dbdyno restore --forget"]);
    assert_eq!((house.state(), house.value()), (file, value));
    home.run(&["restore", "--forget"]).good().says(&["forgotten"]);
    let nowhere = home.run(&house.experiment("1s", &house.options()[..1])).code(USAGE);
    nowhere.warns(&["give a file that it reads", "--settings-file"]);
}

#[test]
fn an_agent_restarts_the_server_of_its_host_and_restores_it_whoever_is_killed() {
    let house = House::mariadb();
    let mut hub = Hub::new();
    let (file, value) = (house.state(), house.value());
    let options = house.options();
    let options = ["--allow=control"].into_iter().chain(options.iter().map(String::as_str));
    let options: Vec<&str> = options.collect();
    let address = hub.address();
    let _other = hub.agent_with(&address, "gen1", &[], &[]);
    let mut agent = hub.agent_with(&address, "db1", &options, &[]);
    let by = |agent: &str| vec![format!("--control-agent={agent}")];
    let refused = hub.home.run(&house.experiment("1s", &by("gen1"))).code(FAILED);
    refused.warns(&["gen1", "does not let a server be restarted", "--allow control"]);
    let code = "server.plugin_dir=/tmp,/var";
    let refused = hub.home.run(&house.over(code, "1s", &by("db1"))).code(FAILED);
    refused.warns(&["server.plugin_dir can start programs, load code"]);
    assert_eq!((house.state(), house.value()), (file.clone(), value.clone()));
    hub.home.run(&house.experiment("1s", &by("db1"))).good();
    assert_eq!((house.state(), house.value()), (file.clone(), value.clone()));
    hub.home.run(&["restore"]).good().says(&["no settings"]);
    let is_back = || house.state() == file && house.answer().as_ref() == Some(&value);
    // The run is killed: the agent hears no more of it.
    let mut run = until_changed(&house, &hub.home, &by("db1"), &file);
    run.kill();
    run.end();
    assert!(eventually(is_back), "the agent has not restored it");
    // The agent is killed: the process that it has started ends, and restores before.
    let mut run = until_changed(&house, &hub.home, &by("db1"), &file);
    agent.kill();
    assert!(eventually(is_back), "nobody has restored it");
    run.kill();
    run.end();
    // All are killed at once: the agent restores when it joins again.
    let agent = hub.agent_with(&address, "db1", &options, &[]);
    let mut run = until_changed(&house, &hub.home, &by("db1"), &file);
    agent.stand_still();
    agent.kill_children("dbdyno");
    let mut agent = agent;
    agent.kill();
    run.kill();
    run.end();
    assert_ne!(house.state(), file);
    let _agent = hub.agent_with(&address, "db1", &options, &[]);
    assert!(eventually(is_back), "it was not restored at the next join");
    // The run's journal still knows it, and the agent says that it has been done.
    hub.home.run(&["restore"]).good().says(&["was restored already"]);
    hub.home.run(&["restore"]).good().says(&["no settings"]);
}
