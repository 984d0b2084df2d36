//! Tests of MariaDB as a Galera cluster: its nodes, and that nothing of them is left behind.

use std::path::Path;

use servers::{Cluster, Kind, Options, ServerControl, ServerErrorKind};

use crate::another::Holder;
use crate::client::{ask, parent, small};
use crate::waiting::{LIMIT, ends_within, gone_within};

/// Starts a Galera cluster of small nodes, with short time-outs for noticing failed nodes.
pub(crate) fn start_nodes(n_nodes: u32, folder: &Path) -> Cluster {
    let mut options = Options { nodes: Some(n_nodes), ..small(Kind::MariaDb, folder) };
    let soon = "evs.keepalive_period=PT0.3S;evs.inactive_check_period=PT0.3S;\
                evs.suspect_timeout=PT3S;evs.inactive_timeout=PT9S;evs.install_timeout=PT9S;\
                gcache.size=8M";
    options.settings.push(("wsrep_provider_options".to_owned(), soon.to_owned()));
    Cluster::start(Kind::MariaDb, &options).unwrap_or_else(|error| panic!("{error}"))
}

fn size(cluster: &Cluster, index: usize) -> String {
    let sql = "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS \
               WHERE VARIABLE_NAME = 'WSREP_CLUSTER_SIZE'";
    ask(&cluster.nodes()[index], sql)
}

#[test]
fn nodes_hold_the_same_data_are_killed_come_back_and_join() {
    let parent = parent();
    let mut cluster = start_nodes(2, parent.path());
    let ports = |cluster: &Cluster| {
        cluster.target(false).hosts.iter().filter_map(|host| host.port).collect::<Vec<_>>()
    };
    assert_eq!(ports(&cluster), [cluster.nodes()[0].port(), cluster.nodes()[1].port()]);
    let sql = "CREATE TABLE dbdyno.t (id INT PRIMARY KEY); INSERT INTO dbdyno.t VALUES (1)";
    ask(&cluster.nodes()[0], sql);
    let wait = "SET wsrep_sync_wait=1; SELECT COUNT(*) FROM dbdyno.t";
    assert_eq!(ask(&cluster.nodes()[1], wait), "1");

    assert_eq!(cluster.join().expect("joined"), 2);
    assert_eq!(size(&cluster, 2), "3");
    cluster.node(1).expect("a node").kill().expect("killed");
    assert!(cluster.how_it_ended().expect("one has ended").starts_with("(node 2) "));
    ask(&cluster.nodes()[2], "SET wsrep_sync_wait=1; INSERT INTO dbdyno.t VALUES (2)");
    cluster.restart(1).expect("back");
    assert_eq!((ask(&cluster.nodes()[1], wait).as_str(), cluster.how_it_ended()), ("2", None));

    // A node that starts alone bootstraps the cluster, whatever it was before.
    for index in 0..3 {
        cluster.node(index).expect("a node").kill().expect("killed");
    }
    assert!(cluster.restore().expect("restored") && cluster.nodes().len() == 2);
    assert_eq!((ask(&cluster.nodes()[1], wait).as_str(), size(&cluster, 0).as_str()), ("2", "2"));
    assert!(!cluster.restore().expect("nothing to do"));
    cluster.load_on(Some(1));
    assert_eq!(ports(&cluster), [cluster.nodes()[0].port()]);
    cluster.restart_all().expect("again");
    assert_eq!(ask(&cluster.nodes()[1], wait), "2");
}

#[test]
fn nodes_do_not_outlive_their_owner() {
    let parent = parent();
    let mut holder = Holder::start("hold-nodes", Kind::MariaDb, parent.path());
    holder.kill();
    assert!(gone_within(&holder.dir, LIMIT), "{} is still there", holder.dir.display());
    assert!(ends_within(holder.server_pid, LIMIT));
    let entries = std::fs::read_dir(parent.path()).expect("listed");
    for left in entries.map(|entry| entry.expect("listed").path()) {
        assert!(gone_within(&left, LIMIT), "{} is still there", left.display());
    }
}

#[test]
fn a_node_that_cannot_be_one_says_why() {
    let parent = parent();
    let mut options = Options { nodes: Some(1), ..small(Kind::MariaDb, parent.path()) };
    options.settings.push(("wsrep_provider".to_owned(), "/nowhere.so".to_owned()));
    let Err(error) = Cluster::start(Kind::MariaDb, &options) else { panic!("a node") };
    assert!(matches!(error.kind, ServerErrorKind::Ended | ServerErrorKind::TooSlow), "{error}");
    assert!(error.text.contains("/nowhere.so"), "{error}");
}
