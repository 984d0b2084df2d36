//! One MariaDB as a node of a Galera cluster: its ports, its words on the command line, and when it
//! is one of the cluster.
//!
//! Not here: which nodes there are, and who is started when (cluster). A node is asked nothing: it
//! tells its state by the command that `wsrep_notify_cmd` names, whenever that changes.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use model::plain_setting;

use crate::data_dir::DataDir;
use crate::options::Setting;
use crate::port::Port;
use crate::program::{PATH, Program};
use crate::{ServerError, ServerErrorKind};

/// The library by which a node speaks to the others.
const PROVIDER: &str = "libgalera_smm.so";
/// Where it lies: beside the server, then in the places of Debian and of MariaDB's packages.
const BESIDE: &[&str] = &["lib/galera", "lib64/galera", "lib64/galera-4", "lib"];
const SYSTEM: &[&str] = &["/usr/lib/galera", "/usr/lib64/galera-4", "/usr/lib64/galera"];

/// What a node sends to one that comes back; who missed more gets all data again.
const CACHE: &str = "gcache.size=64M";
/// Each state that a node tells is a line of this file in its folder.
const STATES: &str = "run/states";
/// `$0` is `--status`, `$1` the state. HOME is the node's folder.
const NOTIFY: &str = r#"--wsrep-notify-cmd=sh -c 'echo "$1" >>"$HOME/run/states"'"#;
/// The setting of which a part is ours.
const PROVIDER_OPTIONS: &str = "wsrep_provider_options";

/// What makes a server a node.
pub(crate) struct Member {
    provider: PathBuf,
    /// Where it hears the others.
    group: Port,
    /// Where it gets what it missed.
    missed: Port,
    /// Where it gets all data.
    all_data: Port,
    /// Where the others hear.
    pub(crate) peers: Vec<u16>,
    /// Whether it begins the cluster again, since no other node runs.
    pub(crate) is_first: bool,
}

impl Member {
    pub(crate) fn new(program: &Program) -> Result<Member, ServerError> {
        let reserved = || Port::reserve().map_err(|e| ServerError::system("127.0.0.1", e));
        Ok(Member {
            provider: provider(program)?,
            group: reserved()?,
            missed: reserved()?,
            all_data: reserved()?,
            peers: Vec::new(),
            is_first: false,
        })
    }

    /// Where it hears the others.
    pub(crate) fn port(&self) -> u16 {
        self.group.number()
    }

    /// Its words on the command line, before those that somebody asked for.
    pub(crate) fn arguments(&self, settings: &[Setting]) -> Vec<OsString> {
        let [group, missed, all_data] =
            [&self.group, &self.missed, &self.all_data].map(Port::number);
        let peers = self.peers.iter().map(|port| format!("127.0.0.1:{port}"));
        let mut provider = OsString::from("--wsrep-provider=");
        provider.push(&self.provider);
        let asked = settings.iter().filter(|setting| is_provider_options(&setting.name));
        let asked: String = asked.map(|setting| format!(";{}", setting.value)).collect();
        let mut arguments: Vec<OsString> = [
            "--wsrep-on=ON".to_owned(),
            "--wsrep-cluster-name=dbdyno".to_owned(),
            format!("--wsrep-cluster-address=gcomm://{}", peers.collect::<Vec<_>>().join(",")),
            format!("--wsrep-node-address=127.0.0.1:{group}"),
            format!("--wsrep-sst-receive-address=127.0.0.1:{all_data}"),
            "--wsrep-sst-method=rsync".to_owned(),
            format!(
                "--wsrep-provider-options=gmcast.listen_addr=tcp://127.0.0.1:{group};\
                 ist.recv_addr=127.0.0.1:{missed};{CACHE}{asked}"
            ),
            NOTIFY.to_owned(),
            // What Galera asks of a node.
            "--binlog-format=ROW".to_owned(),
            "--default-storage-engine=InnoDB".to_owned(),
            "--innodb-autoinc-lock-mode=2".to_owned(),
        ]
        .map(OsString::from)
        .into();
        arguments.push(provider);
        if self.is_first {
            arguments.push(OsString::from("--wsrep-new-cluster"));
        }
        arguments
    }
}

/// Whether a setting is said among the provider's options rather than by itself.
pub(crate) fn is_provider_options(name: &str) -> bool {
    plain_setting(name) == PROVIDER_OPTIONS
}

/// Forgets what the node told before; who begins a cluster again may do so whatever it knows.
pub(crate) fn before_launch(data_dir: &DataDir, member: &Member) -> Result<(), ServerError> {
    let dir = data_dir.path();
    let failed = |error: io::Error| ServerError::system("the node's state", error);
    remove(&dir.join(STATES)).map_err(failed)?;
    if !member.is_first {
        return Ok(());
    }
    // The nodes that it would wait for.
    remove(&dir.join("data/gvwstate.dat")).map_err(failed)?;
    match fs::read_to_string(dir.join("data/grastate.dat")) {
        Ok(state) => {
            let state = state.replace("safe_to_bootstrap: 0", "safe_to_bootstrap: 1");
            let written = data_dir.write("data/grastate.dat", state.as_bytes()).map(drop);
            written.map_err(|error| ServerError::system("writing 'data/grastate.dat'", error))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(failed(error)),
    }
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Whether the node has all that the others have, and takes part.
pub(crate) fn is_synced(dir: &Path) -> bool {
    let shown = fs::read_to_string(dir.join(STATES)).unwrap_or_default();
    shown.lines().last().is_some_and(|state| state.eq_ignore_ascii_case("synced"))
}

fn provider(program: &Program) -> Result<PathBuf, ServerError> {
    let beside = BESIDE.iter().map(|folder| program.base.join(folder));
    let all = beside.chain(SYSTEM.iter().map(PathBuf::from));
    let found = all.map(|folder| folder.join(PROVIDER)).find(|path| path.is_file());
    found.ok_or_else(|| ServerError::new(ServerErrorKind::NotInstalled, missing("galera-4")))
}

/// Whoever is sent all data needs it.
pub(crate) fn has_rsync() -> Result<(), ServerError> {
    match PATH.split(':').any(|folder| Path::new(folder).join("rsync").is_file()) {
        true => Ok(()),
        false => Err(ServerError::new(ServerErrorKind::NotInstalled, missing("rsync"))),
    }
}

fn missing(package: &str) -> String {
    format!("a MariaDB cluster needs {package}, which is not installed: install Debian's {package}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_one_of_the_cluster_when_it_says_so_last() {
        let dir = tempfile::tempdir().expect("a folder");
        assert!(!is_synced(dir.path()));
        fs::create_dir(dir.path().join("run")).expect("made");
        let check = |shown: &str, expect: bool| {
            fs::write(dir.path().join(STATES), shown).expect("written");
            assert_eq!(is_synced(dir.path()), expect, "{shown}");
        };
        check("joiner\njoined\n", false);
        check("joined\nsynced\n", true);
        check("synced\ndonor\n", false);
    }

    #[test]
    fn what_is_asked_of_the_provider_stands_behind_what_it_must_know() {
        let program = Program::find(crate::Kind::MariaDb, None).expect("MariaDB");
        let mut member = Member::new(&program).expect("Galera");
        member.peers = vec![4, 5];
        let asked = [Setting {
            name: "wsrep-provider-options".to_owned(),
            value: "evs.x=1".to_owned(),
            is_default: false,
        }];
        let said = member.arguments(&asked);
        let has =
            |end: &str| said.iter().filter_map(|word| word.to_str()).any(|w| w.ends_with(end));
        assert!(has("gcache.size=64M;evs.x=1") && has("gcomm://127.0.0.1:4,127.0.0.1:5"));
        assert!(!has("--wsrep-new-cluster"));
    }

    #[test]
    fn what_is_missing_is_reported_with_its_remedy() {
        assert!(missing("galera-4").ends_with("install Debian's galera-4"));
    }
}
