//! A MariaDB server as a node of a Galera cluster: its ports, its command line, and its state.
//!
//! Not here: the set of nodes and the order of their starts (cluster). A node's state is not
//! queried by SQL; the node reports each change through the command of `wsrep_notify_cmd`.

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

/// File name of Galera's replication library, which the setting `wsrep_provider` names.
const PROVIDER: &str = "libgalera_smm.so";
/// Folders, relative to the server's installation folder, that may contain Galera's library
/// [`PROVIDER`].
const BESIDE: &[&str] = &["lib/galera", "lib64/galera", "lib64/galera-4", "lib"];
/// Folders of Debian's and MariaDB's packages that may contain Galera's library [`PROVIDER`].
const SYSTEM: &[&str] = &["/usr/lib/galera", "/usr/lib64/galera-4", "/usr/lib64/galera"];

/// Option for the size of a node's cache of write sets (changes of transactions). A node that joins
/// the cluster again gets the changes that it missed from this cache or, if it missed more, all
/// data again.
const CACHE: &str = "gcache.size=64M";
/// File, relative to the node's folder, to which the command in [`NOTIFY`] appends a line for each
/// change of the node's state.
const STATES: &str = "run/states";
/// Command-line argument with the command that the server runs at each change of its cluster state.
/// The command appends the state (`$1`) to the file [`STATES`] in the node's folder (HOME).
const NOTIFY: &str = r#"--wsrep-notify-cmd=sh -c 'echo "$1" >>"$HOME/run/states"'"#;
/// Name of the server setting with Galera's options. dbdyno sets some of these options, and appends
/// those of the user.
const PROVIDER_OPTIONS: &str = "wsrep_provider_options";

/// Properties of a server as a node of a Galera cluster: Galera's library, the node's ports, and
/// the ports of the other nodes.
pub(crate) struct Member {
    provider: PathBuf,
    /// Port on which the node communicates with the other nodes.
    group: Port,
    /// Port for incremental state transfer (IST), by which the node gets the changes that it
    /// missed.
    missed: Port,
    /// Port for full state transfer (SST), by which the node gets all data.
    all_data: Port,
    /// Ports on which the other nodes of the cluster communicate with this one.
    pub(crate) peers: Vec<u16>,
    /// Whether this node bootstraps the cluster at its next start, since no other node runs.
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

    /// Returns the TCP port on which this node communicates with the other nodes.
    pub(crate) fn port(&self) -> u16 {
        self.group.number()
    }

    /// Returns the command-line arguments that make the server a cluster node; the user's settings
    /// must follow them. They include the user's `wsrep_provider_options` from `settings`.
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
            // Required by Galera.
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

/// Whether a setting's name is `wsrep_provider_options`, in any spelling that servers accept.
pub(crate) fn is_provider_options(name: &str) -> bool {
    plain_setting(name) == PROVIDER_OPTIONS
}

/// Prepares a node's folder for a start: removes the record of earlier cluster states and, if the
/// node bootstraps the cluster, marks its data as safe for bootstrapping.
pub(crate) fn before_launch(data_dir: &DataDir, member: &Member) -> Result<(), ServerError> {
    let dir = data_dir.path();
    let failed = |error: io::Error| ServerError::system("the node's state", error);
    remove(&dir.join(STATES)).map_err(failed)?;
    if !member.is_first {
        return Ok(());
    }
    // The saved view of the cluster: the node would wait for the nodes in it.
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

/// Whether the node with the folder `dir` last reported the state `Synced`: it has all data and
/// takes part in the cluster.
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

/// Fails unless rsync is installed, which full state transfers need.
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
