//! The scripts that pgbench has built in, by name. They run on tables of the workload `tpcb`.

/// A script of pgbench.
pub struct Builtin {
    pub name: &'static str,
    /// Title under which pgbench reports the script.
    pub title: &'static str,
    pub text: &'static str,
}

/// Start of the scripts that change accounts: the numbers that they draw.
macro_rules! drawn {
    () => {
        "\\set aid random(1, 100000 * :scale)\n\
         \\set bid random(1, 1 * :scale)\n\
         \\set tid random(1, 10 * :scale)\n\
         \\set delta random(-5000, 5000)\n\
         BEGIN;\n\
         UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid;\n\
         SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n"
    };
}

/// End of the scripts that change accounts: a row of the history.
macro_rules! recorded {
    () => {
        "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime) VALUES (:tid, :bid, :aid, \
         :delta, CURRENT_TIMESTAMP);\nEND;\n"
    };
}

/// All of pgbench's scripts, in its order.
pub static BUILTINS: [Builtin; 3] = [
    Builtin {
        name: "tpcb-like",
        title: "<builtin: TPC-B (sort of)>",
        text: concat!(
            drawn!(),
            "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid;\n",
            "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid;\n",
            recorded!()
        ),
    },
    Builtin {
        name: "simple-update",
        title: "<builtin: simple update>",
        text: concat!(drawn!(), recorded!()),
    },
    Builtin {
        name: "select-only",
        title: "<builtin: select only>",
        text: "\\set aid random(1, 100000 * :scale)\n\
               SELECT abalance FROM pgbench_accounts WHERE aid = :aid;\n",
    },
];

/// Returns the script whose name begins with `name`, if there is exactly one.
pub fn builtin(name: &str) -> Option<&'static Builtin> {
    let mut found = BUILTINS.iter().filter(|one| one.name.starts_with(name));
    let first = found.next().filter(|_| !name.is_empty());
    first.filter(|_| found.next().is_none())
}
