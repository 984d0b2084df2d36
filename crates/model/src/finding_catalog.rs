//! Every finding that there is: what raises it and what to do about it. The table in
//! docs/findings.md is made of this list.
//!
//! Not here: whether a run deserves one (who judges it, and who makes it).

/// A finding, whatever the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Its stable name.
    pub id: &'static str,
    /// How much it may matter: `note`, `warning` and `invalid`, with commas between.
    pub severity: &'static str,
    /// When it is raised.
    pub raised: &'static str,
    /// What to do about it.
    pub advice: &'static str,
}

/// The finding of this name.
pub fn catalog_entry(id: &str) -> Option<&'static CatalogEntry> {
    CATALOG.iter().find(|entry| entry.id == id)
}

/// What raises the finding of this name, and the name.
pub fn in_short(id: &str) -> String {
    match catalog_entry(id) {
        Some(entry) => format!("{} ({id})", entry.raised),
        None => id.to_owned(),
    }
}

/// All findings, those that make a result invalid first.
pub static CATALOG: &[CatalogEntry] = &[
    CatalogEntry {
        id: "run_failed",
        severity: "invalid",
        raised: "the run could not go on",
        advice: "Remove the cause and run it again.",
    },
    CatalogEntry {
        id: "too_short",
        severity: "invalid",
        raised: "nothing, or less than 1 s, was measured",
        advice: "Measure a minute or more.",
    },
    CatalogEntry {
        id: "nothing_finished",
        severity: "invalid",
        raised: "no transaction finished",
        advice: "Look at the errors; check that the data are there and that the user may write.",
    },
    CatalogEntry {
        id: "failed",
        severity: "note, warning, invalid",
        raised: "transactions failed: below 0.1 %, below 50 %, from 50 % on",
        advice: "They are not in the response times of finished ones, and count as infinite in \
                 the offered percentiles.",
    },
    CatalogEntry {
        id: "managed_server_ended",
        severity: "invalid",
        raised: "the private server of a `managed:` target ended during the run; its last words \
                 are told",
        advice: "Read its last words, and mend what made it end.",
    },
    CatalogEntry {
        id: "settings_lost",
        severity: "invalid",
        raised: "settings that were set for the run are others after the load: the server was \
                 started anew, or somebody changed them",
        advice: "Repeat the run on a server that nobody else changes or starts anew.",
    },
    CatalogEntry {
        id: "setting_adjusted",
        severity: "warning",
        raised: "the server took a setting to another value than was asked for: it rounds, or has \
                 bounds",
        advice: "Read the figures as those of the value that the server says, or ask for one that \
                 it takes as it is.",
    },
    CatalogEntry {
        id: "condition_not_met",
        severity: "warning",
        raised: "the condition that was waited for before a trial (`--wait-until`) did not hold \
                 in time",
        advice: "Wait for longer (--wait-at-most), or ask for what can be reached.",
    },
    CatalogEntry {
        id: "clients_abandoned",
        severity: "invalid",
        raised: "clients did not end when the run cut them off: what they held is not all counted",
        advice: "Offer less than the generator can even count, or look for a database that does \
                 not let go.",
    },
    CatalogEntry {
        id: "checks_failed_before",
        severity: "invalid",
        raised: "the data are inconsistent before, or after the load",
        advice: "Build the data anew. If they break again under load, transactions are not \
                 isolated or not atomic.",
    },
    CatalogEntry {
        id: "checks_failed",
        severity: "invalid",
        raised: "the data are inconsistent before, or after the load",
        advice: "Build the data anew. If they break again under load, transactions are not \
                 isolated or not atomic.",
    },
    CatalogEntry {
        id: "checks_not_run",
        severity: "invalid",
        raised: "the data could not be looked at after the load",
        advice: "Look why the database did not answer after the load, and run it again.",
    },
    CatalogEntry {
        id: "crosscheck_not_run",
        severity: "invalid",
        raised: "the data could not be looked at after the load",
        advice: "Look why the database did not answer after the load, and run it again.",
    },
    CatalogEntry {
        id: "crosscheck_mismatch",
        severity: "invalid",
        raised: "the database's count of commits is not ours",
        advice: "Commits were lost or not ours: make sure that nobody else used the database, and \
                 look at its log.",
    },
    CatalogEntry {
        id: "server_commit_count_low",
        severity: "warning",
        raised: "the counter of commits of the server itself grew by less than we committed",
        advice: "It counts all sessions, so it should grow by at least as much: look whether the \
                 server was started anew, or a proxy spreads what we do.",
    },
    CatalogEntry {
        id: "server_restarted",
        severity: "warning",
        raised: "after the load the server said that it was started within it, or its counter of \
                 commits was lower than before, or grew by less than we committed while \
                 connections broke, and the plan disturbs nothing",
        advice: "The figures are of a server that went away and of one with cold caches: look at \
                 its log. An outage that you want to measure belongs into the plan ([[at]]), which \
                 tells it by itself.",
    },
    CatalogEntry {
        id: "internal_count_mismatch",
        severity: "invalid",
        raised: "counts and histograms disagree: an error of dbdyno",
        advice: "Do not use the figures: this is an error of dbdyno, or of the file that they \
                 were read from. Please report it.",
    },
    CatalogEntry {
        id: "generator_paused",
        severity: "warning",
        raised: "the generator was woken a quarter of a second late or more while there was load",
        advice: "A stall at that time is not the database's: look at what suspended \
                 the process, paused its host (a snapshot, a migration) or kept it from a CPU, and \
                 repeat the run.",
    },
    CatalogEntry {
        id: "generator_lag",
        severity: "warning",
        raised: "p99 of lag above 100 µs and above 5 % of the median service time",
        advice: "Give it more cores, move it to a host of its own, or use fewer clients.",
    },
    CatalogEntry {
        id: "generator_saturated",
        severity: "warning",
        raised: "an event loop was busy for more than 90 % of the time, or threads waited for a \
                 CPU for more than 10 % of the service time, or replies lay in sockets for more \
                 than 10 % of it and 100 µs on average, or an event loop or a read was 25 ms late",
        advice: "Give the generator more cores, move it to a host of its own, or offer less.",
    },
    CatalogEntry {
        id: "client_time_outside",
        severity: "warning",
        raised: "clients of a closed load spent more than 10 % of their time outside of any \
                 transaction",
        advice: "The generator limits the rate: give it more cores or more clients. Reconnecting \
                 is not in it.",
    },
    CatalogEntry {
        id: "connect_failed",
        severity: "warning",
        raised: "clients could not connect",
        advice: "Raise the server's limit of connections, or use fewer clients.",
    },
    CatalogEntry {
        id: "connects_retried",
        severity: "note",
        raised: "attempts to connect before the load failed and were made again; all clients are \
                 there",
        advice: "All clients are connected; connect more slowly with --connect-rate or \
                 --connect-at-once.",
    },
    CatalogEntry {
        id: "idle_clients",
        severity: "warning",
        raised: "in closed load, clients that finished nothing",
        advice: "Look for connections that were lost, or clients that wait for a lock for ever: \
                 the others had less company than the plan says.",
    },
    CatalogEntry {
        id: "dropped_arrivals",
        severity: "warning",
        raised: "the queue was full",
        advice: "Read the offered percentiles, not the finished ones; lower the rate or add \
                 clients.",
    },
    CatalogEntry {
        id: "queue_too_small",
        severity: "warning",
        raised: "arrivals were dropped at a full queue although the clients were busy for less \
                 than 90 % of the time",
        advice: "Allow a longer queue (--queue): it is a burst that finds it full, not the rate.",
    },
    CatalogEntry {
        id: "queue_grew",
        severity: "warning",
        raised: "in open load, more waited from one eighth of the measured phase to the next, or \
                 within its last quarter by more than a queue wanders by chance, and in the end \
                 more than there are clients",
        advice: "Response times grow for as long as this goes on: they tell how long was measured, \
                 and not how fast the system is. Lower the rate, or add clients if the database \
                 has time left.",
    },
    CatalogEntry {
        id: "queue_at_end",
        severity: "warning",
        raised: "in open load, more waited at the end of the measured phase than when it was \
                 lowest before, by more than a queue wanders by chance and by more than there are \
                 clients, for too short a time to tell whether it grows (`queue_grew`)",
        advice: "Lower the rate, or measure for longer: then it is seen whether it goes away.",
    },
    CatalogEntry {
        id: "unfinished",
        severity: "warning",
        raised: "work had not ended when the run was over",
        advice: "Read the offered percentiles, in which they count at least their age; lower the \
                 rate or allow a longer drain.",
    },
    CatalogEntry {
        id: "backlog_at_start",
        severity: "warning",
        raised: "in open load, a backlog of more than one a client came from the ramp-up",
        advice: "Lower the rate, or lengthen the ramp-up until the backlog is gone.",
    },
    CatalogEntry {
        id: "short_ramp_up",
        severity: "warning",
        raised: "the ramp-up was shorter than connecting all clients took, where that was a \
                 second or more",
        advice: "Ramp up for longer than that: what a server does at the first transaction of \
                 each connection is part of the figures.",
    },
    CatalogEntry {
        id: "queue_full",
        severity: "warning, invalid",
        raised: "the run ended at a full queue, as the plan asks: in the measured phase, before it",
        advice: "Lower the rate, add clients, or allow a longer queue (--queue).",
    },
    CatalogEntry {
        id: "unknown_commits",
        severity: "warning",
        raised: "connections broke during COMMIT: outcomes that nobody knows",
        advice: "The database holds between committed and committed + unknown.",
    },
    CatalogEntry {
        id: "drifting",
        severity: "warning",
        raised: "commits went up or down over the measured phase by more than 5 % and more than \
                 chance",
        advice: "Lengthen the ramp-up, or find out what grows: data, caches, dirty pages, a queue.",
    },
    CatalogEntry {
        id: "warming_up",
        severity: "warning",
        raised: "the beginning of the measured phase (as MSER-5 cuts it off) differs from the rest in \
                 commits or in median response times, by more than 1 % and 5 standard errors",
        advice: "Filling caches, compiling statements or connecting are part of the figures.",
    },
    CatalogEntry {
        id: "slow_seconds",
        severity: "note, warning",
        raised: "two times or more, seconds stand out: fewer commits than the median second by a \
                 factor of 1.25, or a p95 above its by 1.5, and beyond the scatter of the others \
                 (above 3 % of the time: warning)",
        advice: "Look at what the database and the machine did in them: checkpoints, flushes, \
                 vacuum, backups, a job of the system.",
    },
    CatalogEntry {
        id: "uneven",
        severity: "warning",
        raised: "the seconds scatter, beyond chance, by more than 30 % of their mean",
        advice: "A mean hides that: look at the chart of commits over time.",
    },
    CatalogEntry {
        id: "stalled",
        severity: "note, warning",
        raised: "no commits for a while: below, or from 1 % of the time",
        advice: "Look for checkpoints, flushes and lock waits at that time.",
    },
    CatalogEntry {
        id: "overflow",
        severity: "warning",
        raised: "times above the range of the histograms",
        advice: "Raise the range of the recording in the plan.",
    },
    CatalogEntry {
        id: "disturbance_failed",
        severity: "warning",
        raised: "what the plan does in mid-run went wrong, or was not begun",
        advice: "What the run shows is not what the plan asks for: mend it and repeat.",
    },
    CatalogEntry {
        id: "disturbance_skipped",
        severity: "warning",
        raised: "what the plan does in mid-run went wrong, or was not begun",
        advice: "Measure longer, or do it less often.",
    },
    CatalogEntry {
        id: "debug_build",
        severity: "warning",
        raised: "dbdyno was built without optimisation",
        advice: "Build it with --release.",
    },
    CatalogEntry {
        id: "settings_changed",
        severity: "warning",
        raised: "modes or settings of the database were others after the run than before",
        advice: "The run is of neither: repeat it and leave the server alone.",
    },
    CatalogEntry {
        id: "noisy_machine",
        severity: "warning",
        raised: "other virtual machines took more than 2 % of the CPU time (steal)",
        advice: "Use a machine of its own, or repeat and interleave the runs.",
    },
    CatalogEntry {
        id: "other_cpu_load",
        severity: "warning",
        raised: "programs other than the generator and the server took more than 10 % of this \
                 machine's CPU time in the measured phase; not looked for with `--monitor off`, \
                 nor where the server is on this machine and its process is not seen",
        advice: "Repeat the run while nothing else works on the machine: what they took, \
                 generator and database had to do without. (What is not seen to be the server \
                 counts with others: a proxy, or a database in a container of this machine.)",
    },
    CatalogEntry {
        id: "store_not_written",
        severity: "warning",
        raised: "the run could not be kept",
        advice: "Make room, or name another file with --store.",
    },
    CatalogEntry {
        id: "killed",
        severity: "warning",
        raised: "the process of the run died: what it kept is all there is",
        advice: "The figures are true of the seconds that were kept: repeat the run.",
    },
    CatalogEntry {
        id: "points_not_interleaved",
        severity: "warning",
        raised: "of an experiment: all trials of a point were made one after the other",
        advice: "Leave out the order, or choose interleaved: then what drifts meets all points \
                 alike.",
    },
    CatalogEntry {
        id: "disturbed",
        severity: "note",
        raised: "the plan did something to the database in mid-run",
        advice: "Read those before, during and after each disturbance.",
    },
    CatalogEntry {
        id: "disturbance_cut_off",
        severity: "note",
        raised: "it was cut off by its limit, or at the end of the measured phase",
        advice: "It was not done as a whole, and has no time after it if the load was over.",
    },
    CatalogEntry {
        id: "few_samples",
        severity: "note",
        raised: "too few samples for p99 or p99.9",
        advice: "Measure longer; until then, read the maximum.",
    },
    CatalogEntry {
        id: "retried",
        severity: "note",
        raised: "transactions were tried again",
        advice: "Response times span all attempts.",
    },
    CatalogEntry {
        id: "interrupted",
        severity: "note",
        raised: "somebody ended the run early",
        advice: "The figures are true of that part.",
    },
    CatalogEntry {
        id: "short",
        severity: "note",
        raised: "less than 10 s was measured",
        advice: "Measure a minute or more before you rely on it.",
    },
    CatalogEntry {
        id: "no_ramp_up",
        severity: "note",
        raised: "there was no ramp-up",
        advice: "Give it one, unless that is what you measure.",
    },
    CatalogEntry {
        id: "closed_load",
        severity: "note",
        raised: "the load was closed",
        advice: "For what users see who arrive at a rate, offer one (--rate).",
    },
    CatalogEntry {
        id: "same_host",
        severity: "note",
        raised: "generator and database share a host, or a process",
        advice: "Figures are of both together: where users have two hosts, use two.",
    },
    CatalogEntry {
        id: "not_durable",
        severity: "note",
        raised: "the database may lose an acknowledged commit",
        advice: "Compare only with runs of the same durability.",
    },
    CatalogEntry {
        id: "data_unknown",
        severity: "note",
        raised: "the data have no `dbdyno_meta`",
        advice: "Compare only with runs on the same data, or build them with dbdyno.",
    },
];
