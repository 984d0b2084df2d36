//! Catalog of all findings, with cause and advice, from which docs/reference/findings.md is
//! generated.
//!
//! Not here: the rules that raise them (analysis, and the parts of a run that observe them).

/// Catalog entry that describes one kind of finding, such as `generator_saturated`, independent of
/// any run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatalogEntry {
    /// Identifier of the finding, which never changes, such as `generator_saturated`.
    pub id: &'static str,
    /// Severities that the finding can have: `note`, `warning` and `invalid`, separated by commas.
    pub severity: &'static str,
    /// Condition that raises the finding, as a clause.
    pub raised: &'static str,
    /// Advice for the user, in sentences.
    pub advice: &'static str,
}

/// Returns the catalog's entry for the finding with this identifier; `None` if there is none.
pub fn catalog_entry(id: &str) -> Option<&'static CatalogEntry> {
    CATALOG.iter().find(|entry| entry.id == id)
}

/// Returns the condition that raises the finding, followed by its name ([`label`]) in brackets;
/// only the name if the catalog has no such finding.
pub fn in_short(id: &str) -> String {
    match catalog_entry(id) {
        Some(entry) => format!("{} ({})", entry.raised, label(id)),
        None => label(id),
    }
}

/// Returns the finding's name in words, such as `other CPU load`: its identifier without
/// underscores.
pub fn label(id: &str) -> String {
    match id {
        // This finding is also raised if the generator lacks a CPU.
        "generator_saturated" => "generator late".to_owned(),
        // What coincides with a dip does not yet explain it.
        "dip_explained" => "dip".to_owned(),
        id => {
            let words = id.split('_').map(|word| if word == "cpu" { "CPU" } else { word });
            words.collect::<Vec<&str>>().join(" ")
        }
    }
}

/// All findings, the most serious first. Reports list findings in this order.
pub static CATALOG: &[CatalogEntry] = &[
    CatalogEntry {
        id: "run_failed",
        severity: "invalid",
        raised: "an error stopped the run",
        advice: "Remove the cause and run it again.",
    },
    CatalogEntry {
        id: "too_short",
        severity: "invalid",
        raised: "nothing, or less than 1 s, was measured",
        advice: "Measure a minute or more.",
    },
    CatalogEntry {
        id: "count_too_small",
        severity: "note, invalid",
        raised: "the number of measurements or transactions ended the load before 10 s (note) or \
                 1 s (invalid) were measured",
        advice: "Give more of them, so that a minute or more is measured.",
    },
    CatalogEntry {
        id: "nothing_finished",
        severity: "invalid",
        raised: "no transaction finished, or none within the measured phase",
        advice: "Look at the errors and the other findings; check that the data are there and that \
                 the user may write.",
    },
    CatalogEntry {
        id: "still_running",
        severity: "invalid",
        raised: "no transaction finished, and all were still running at the end of the run",
        advice: "Measure longer than a transaction takes; if it never ends, look for its loop or \
                 its pause there.",
    },
    CatalogEntry {
        id: "no_statements",
        severity: "invalid",
        raised: "the transactions of a script finished, and none sent a statement",
        advice: "Let the script send statements: what was measured is dbdyno alone.",
    },
    CatalogEntry {
        id: "failed",
        severity: "note, warning, invalid",
        raised: "transactions failed (note: less than 0.1 %, warning: less than 50 %, invalid: 50 \
                 % or more)",
        advice: "The response times of finished transactions exclude them; the offered percentiles \
                 count them as infinite.",
    },
    CatalogEntry {
        id: "managed_server_ended",
        severity: "invalid",
        raised: "the private server of a `managed:` target exited during the run; the last \
                 lines of its log are shown",
        advice: "Read the end of its log, and fix the cause of the exit.",
    },
    CatalogEntry {
        id: "settings_lost",
        severity: "invalid",
        raised: "settings of the run changed during the load: the server was restarted, or \
                 somebody changed them",
        advice: "Repeat the run on a server that nobody else changes or restarts.",
    },
    CatalogEntry {
        id: "setting_adjusted",
        severity: "warning",
        raised: "the server adjusted a setting to a value other than the requested one: it \
                 rounds, or has limits",
        advice: "The figures are those of the value that the server reports; or request one that \
                 it accepts unchanged.",
    },
    CatalogEntry {
        id: "condition_not_met",
        severity: "warning",
        raised: "the condition to wait for before a trial (`--wait-until`) was not met in time",
        advice: "Wait longer (--wait-at-most), or choose a condition that can be met.",
    },
    CatalogEntry {
        id: "not_settled",
        severity: "warning",
        raised: "the database was to be settled before or after the load (`--settle`) and is not \
                 fully at rest: a limit, a missing privilege, other sessions, or an interrupt",
        advice: "What is left goes on beside the next load: compare only with runs that were \
                 settled as far.",
    },
    CatalogEntry {
        id: "replica_behind",
        severity: "note",
        raised: "a replica that clients used was a second or more behind the plan's target \
                 (`target` of a group)",
        advice: "Find out what holds up the replica (its CPU, its disk, a long query, too few \
                 appliers), or lower the rate of the writes.",
    },
    CatalogEntry {
        id: "settings_not_advised",
        severity: "note",
        raised: "the database was to be settled (`--settle`), and settings of its purge are not \
                 those that its makers advise for loads",
        advice: "Set them, so that old row versions are purged while the load runs and do not \
                 slow down its end or the next run.",
    },
    CatalogEntry {
        id: "clients_abandoned",
        severity: "invalid",
        raised: "clients did not stop when the run cancelled them: part of their work is not counted",
        advice: "Reduce the offered rate, or check whether the database ignores requests to cancel \
                 a statement.",
    },
    CatalogEntry {
        id: "checks_failed_before",
        severity: "invalid",
        raised: "the data were inconsistent before the load",
        advice: "Rebuild the data.",
    },
    CatalogEntry {
        id: "checks_failed",
        severity: "invalid",
        raised: "the data were inconsistent after the load",
        advice: "Rebuild the data. If they break again under load, transactions are not \
                 isolated or not atomic.",
    },
    CatalogEntry {
        id: "checks_not_run",
        severity: "invalid",
        raised: "the data could not be checked after the load",
        advice: "Find out why the database did not answer after the load, and run it again.",
    },
    CatalogEntry {
        id: "indexes_not_added",
        severity: "invalid",
        raised: "the indexes could not be added after the load",
        advice: "Find out why the database refused them, rebuild the data, and run it again.",
    },
    CatalogEntry {
        id: "crosscheck_not_run",
        severity: "invalid",
        raised: "the database's count of commits could not be read after the load",
        advice: "Find out why the database did not answer after the load, and run it again.",
    },
    CatalogEntry {
        id: "crosscheck_mismatch",
        severity: "invalid",
        raised: "the database's count of commits differs from dbdyno's",
        advice: "Commits were lost, or other clients committed too: make sure that nothing else \
                 uses the database, and check its log.",
    },
    CatalogEntry {
        id: "server_commit_count_low",
        severity: "warning",
        raised: "the server's own commit counter grew by less than the run committed",
        advice: "It counts all sessions, so it should grow by at least as much: check whether the \
                 server was restarted, or a proxy distributes the load.",
    },
    CatalogEntry {
        id: "server_restarted",
        severity: "warning",
        raised: "the server was restarted during the load, without a disturbance of the plan: it \
                 reported a start time within the load, or its commit counter decreased, or the \
                 counter grew by less than the run committed while connections broke",
        advice: "The figures include an outage and cold caches: check the server's log. To \
                 measure an outage, put it into the plan ([[at]]), which reports it.",
    },
    CatalogEntry {
        id: "internal_count_mismatch",
        severity: "invalid",
        raised: "counts and histograms disagree: a bug in dbdyno",
        advice: "Do not use the figures: this is a bug in dbdyno, or a damaged file. Please \
                 report it.",
    },
    CatalogEntry {
        id: "generator_paused",
        severity: "warning",
        raised: "the generator did not run for 0.25 s or more although it had work",
        advice: "The database did not cause a stall at that time. Find out what suspended the \
                 process, paused its host (a snapshot, a migration) or took its CPU, and repeat \
                 the run.",
    },
    CatalogEntry {
        id: "generator_lag",
        severity: "warning",
        raised: "p99 of lag above 100 µs and above 5 % of the median service time",
        advice: "Give the generator more cores, move it to a separate host, or use fewer clients.",
    },
    CatalogEntry {
        id: "generator_saturated",
        severity: "warning",
        raised: "an event loop was busy for more than 90 % of the time, or threads waited for a \
                 CPU, or replies waited unread, for more than 10 % of the service time and 100 µs \
                 on average, or threads for half of it, or an event loop or a read was 25 ms late",
        advice: "Give the generator more cores, move it to a separate host, or reduce the rate.",
    },
    CatalogEntry {
        id: "client_time_outside",
        severity: "warning",
        raised: "clients of a closed load spent more than 10 % of their time outside of any \
                 transaction",
        advice: "The generator limits the rate: give it more cores or more clients. Reconnecting \
                 is not included.",
    },
    CatalogEntry {
        id: "connect_failed",
        severity: "warning",
        raised: "clients could not connect",
        advice: "Raise the server's connection limit, or use fewer clients.",
    },
    CatalogEntry {
        id: "connects_retried",
        severity: "note",
        raised: "attempts to connect before the load failed and were retried; all clients \
                 connected",
        advice: "All clients are connected; connect more slowly with --connect-rate or \
                 --connect-at-once.",
    },
    CatalogEntry {
        id: "idle_clients",
        severity: "warning",
        raised: "in closed load, some clients finished no transaction",
        advice: "Look for lost connections, or clients that wait for a lock forever: fewer \
                 clients were active than the plan says.",
    },
    CatalogEntry {
        id: "dropped_arrivals",
        severity: "warning",
        raised: "the queue was full",
        advice: "Use the offered percentiles, not those of finished transactions; lower the rate or add \
                 clients.",
    },
    CatalogEntry {
        id: "queue_too_small",
        severity: "warning",
        raised: "arrivals were dropped at a full queue although the clients were busy for less \
                 than 90 % of the time, and with the dropped ones would have been for less than \
                 95 %",
        advice: "Allow a longer queue (--queue): bursts fill the queue; the average rate does not.",
    },
    CatalogEntry {
        id: "queue_grew",
        severity: "warning",
        raised: "in open load, the queue grew from one eighth of the measured phase to the next, \
                 or within its last quarter by more than chance explains, and was longer at the \
                 end than the number of clients",
        advice: "Response times grow as long as the queue grows: they depend on the length of the \
                 run, not on the speed of the system. Lower the rate, or add clients if the \
                 database has capacity left.",
    },
    CatalogEntry {
        id: "queue_at_end",
        severity: "warning",
        raised: "in open load, the queue at the end of the measured phase was longer than its \
                 earlier minimum, by more than chance explains and by more than the number of \
                 clients, for too short a time to decide whether it grows (`queue_grew`)",
        advice: "Lower the rate, or measure longer to see whether the queue shrinks again.",
    },
    CatalogEntry {
        id: "unfinished",
        severity: "note, warning",
        raised: "transactions were not finished at the end of the run (note: the user stopped it, \
                 with at most one per client)",
        advice: "Use the offered percentiles, which count them with at least their age; lower the \
                 rate or allow a longer drain (--drain).",
    },
    CatalogEntry {
        id: "backlog_at_start",
        severity: "warning",
        raised: "in open load, the ramp-up left a backlog of more than one transaction per client",
        advice: "Lower the rate, or lengthen the ramp-up until the backlog is gone.",
    },
    CatalogEntry {
        id: "short_ramp_up",
        severity: "warning",
        raised: "connecting all clients took a second or more, and longer than the ramp-up",
        advice: "Use a longer ramp-up: otherwise the figures include the server's work for the \
                 first transaction of each connection.",
    },
    CatalogEntry {
        id: "queue_full",
        severity: "warning, invalid",
        raised: "a full queue stopped the run (`--queue-full stop`): warning in the measured \
                 phase, invalid before it",
        advice: "Lower the rate, add clients, or allow a longer queue (--queue).",
    },
    CatalogEntry {
        id: "unknown_commits",
        severity: "warning",
        raised: "connections broke during a commit, or it was cancelled at the end of the drain, so \
                 the outcome is unknown",
        advice: "The number of commits in the database lies between `committed` and `committed + \
                 unknown`.",
    },
    CatalogEntry {
        id: "measurements_short",
        severity: "warning",
        raised: "the run of `arm` ended before all of `--measurements` were stored",
        advice: "Give a longer `--duration`, or ask for fewer measurements.",
    },
    CatalogEntry {
        id: "dropped_measurements",
        severity: "warning",
        raised: "the application of `arm` dropped measurements (`--pool-empty drop`), since a pool was \
                 empty",
        advice: "The rates are those of what was stored: lower `--application-rate`, add clients, or \
                 use `--pool-empty block`.",
    },
    CatalogEntry {
        id: "application_behind",
        severity: "warning",
        raised: "the application of `arm` generated at least 5 % fewer measurements than \
                 `--application-rate` offers, since it waited for a pool or for a CPU, or at least \
                 5 % (and 32 buffers) of them waited in the pools at the end",
        advice: "The database or the application cannot keep up with this rate: lower it, add \
                 clients or application threads.",
    },
    CatalogEntry {
        id: "few_buffers",
        severity: "note",
        raised: "fewer than 20 buffers of `arm` were filled, so rates are known to about one buffer",
        advice: "Give less `--buffer-bytes`, or run longer.",
    },
    CatalogEntry {
        id: "no_buffer_filled",
        severity: "warning",
        raised: "no buffer of `arm` was filled during the run, so nothing was stored",
        advice: "Give less `--buffer-bytes`, or run longer.",
    },
    CatalogEntry {
        id: "drifting",
        severity: "warning",
        raised: "throughput rose or fell over the measured phase, by more than 5 % and by more \
                 than chance explains",
        advice: "Lengthen the ramp-up, or find out what grows: data, caches, dirty pages, a queue.",
    },
    CatalogEntry {
        id: "warming_up",
        severity: "warning",
        raised: "the beginning of the measured phase (as determined by MSER-5) differs from the \
                 rest in throughput (not in open load) or median response time, by more than 1 % \
                 and more than chance explains, in a run of 20 s or more",
        advice: "The figures include filling caches, compiling statements or connecting.",
    },
    CatalogEntry {
        id: "dip_explained",
        severity: "warning",
        raised: "commits fell, or p95 rose, for some seconds, and in the same seconds something \
                 took at least 10 % more of the clients' time than usual \
                 (docs/explanation/why.md)",
        advice: "This coincided with the dip, which does not prove that it is the cause: see \
                 'Where the time goes' for what else moved then.",
    },
    CatalogEntry {
        id: "few_session_samples",
        severity: "note",
        raised: "less than half of the samples of the server's sessions that were due, ten per \
                 second, were taken: the machine was busy, or the server took long to answer",
        advice: "Waits in 'Where the time goes' are less certain than the number of samples due \
                 suggests: measure longer, or leave dbdyno a CPU.",
    },
    CatalogEntry {
        id: "slow_seconds",
        severity: "note, warning",
        raised: "two or more seconds were outliers: commits below the median second by a factor of \
                 1.25, or p95 above its median by a factor of 1.5, and beyond the scatter of the \
                 other seconds (warning: more than 3 % of the time); where the plan changes the \
                 rate, p95 alone, and of seconds with as many arrivals",
        advice: "Find out what the database and the machine did at that time: checkpoints, \
                 flushes, vacuum, backups, cron jobs.",
    },
    CatalogEntry {
        id: "uneven",
        severity: "warning",
        raised: "throughput per second varies by more than 30 % of its mean, beyond chance",
        advice: "The mean hides this: look at the throughput chart.",
    },
    CatalogEntry {
        id: "stalled",
        severity: "note, warning",
        raised: "hardly any commit for 200 ms or more, without a disturbance of the plan at that time (warning: \
                 1 % of the time or more)",
        advice: "Look for checkpoints, flushes and lock waits at that time.",
    },
    CatalogEntry {
        id: "stalled_at_disturbance",
        severity: "note, warning",
        raised: "hardly any commit for 200 ms or more, starting during a disturbance of the plan, less than 1 s \
                 after it began, or less than 1 s before it and mostly in it (warning: 10 % of \
                 the time or more)",
        advice: "The table of the disturbance shows when throughput recovered. The figures of the \
                 whole run include the time without commits.",
    },
    CatalogEntry {
        id: "overflow",
        severity: "warning",
        raised: "response times above the range of the histograms",
        advice: "Raise --histogram-max.",
    },
    CatalogEntry {
        id: "disturbance_failed",
        severity: "warning",
        raised: "a disturbance of the plan failed",
        advice: "The run does not show what the plan asks for: fix the disturbance and repeat.",
    },
    CatalogEntry {
        id: "disturbance_skipped",
        severity: "warning",
        raised: "a disturbance of the plan was not started",
        advice: "Measure longer, or repeat the disturbance less often.",
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
        raised: "modes or settings of the database changed during the run",
        advice: "The figures mix two configurations: repeat the run without changing the server.",
    },
    CatalogEntry {
        id: "noisy_machine",
        severity: "warning",
        raised: "other virtual machines took more than 2 % of the CPU time (steal)",
        advice: "Use a dedicated machine, or repeat and interleave the runs.",
    },
    CatalogEntry {
        id: "other_cpu_load",
        severity: "warning",
        raised: "programs other than the generator and the server took more than 10 % of this \
                 machine's CPU time in the measured phase; not checked with `--monitor off`, nor \
                 where the server is on this machine and its process is not visible",
        advice: "Repeat the run while nothing else runs on the machine: the generator and the \
                 database lacked that CPU time. (Processes not recognised as the server count \
                 as others: a proxy, or a database in a container on this machine.)",
    },
    CatalogEntry {
        id: "clocks_differ",
        severity: "warning",
        raised: "the clocks of two client processes differed by more than 0.1 ms beyond the error \
                 of their comparison",
        advice: "Use ages only if they are much longer than this difference.",
    },
    CatalogEntry {
        id: "idle_connections_closed",
        severity: "warning",
        raised: "connections were closed while their clients paused",
        advice: "The response times include connecting again. Raise the limit for idle connections \
                 above the longest pause: wait_timeout or idle_session_timeout of the server, the \
                 timeouts of a proxy (timeout client and timeout server of HAProxy, \
                 client_idle_timeout of PgBouncer).",
    },
    CatalogEntry {
        id: "store_not_written",
        severity: "warning",
        raised: "the run could not be stored",
        advice: "Free disk space, or name another file with --store.",
    },
    CatalogEntry {
        id: "killed",
        severity: "warning",
        raised: "the process of the run was killed: only what it had stored is available",
        advice: "The figures cover the stored seconds only: repeat the run.",
    },
    CatalogEntry {
        id: "points_not_interleaved",
        severity: "warning",
        raised: "in an experiment, all runs of a point ran one after the other",
        advice: "Leave out --order, or choose interleaved, so that drift affects all points \
                 equally.",
    },
    CatalogEntry {
        id: "kernels_differ",
        severity: "warning",
        raised: "in an experiment, runs used different kernels",
        advice: "Compare the kernels by the labels of their runs: 'dbdyno compare kernel=A \
                 kernel=B'.",
    },
    CatalogEntry {
        id: "labels_differ",
        severity: "warning",
        raised: "of an experiment: trials have different values of one of its labels",
        advice: "Compare the parts by their labels: 'dbdyno compare KEY=A KEY=B'.",
    },
    CatalogEntry {
        id: "disturbed",
        severity: "note",
        raised: "the plan has disturbances, which act on the database during the run",
        advice: "Read the figures before, during and after each disturbance.",
    },
    CatalogEntry {
        id: "disturbance_cut_off",
        severity: "note",
        raised: "a disturbance was cut off at its time limit, or at the end of the measured phase",
        advice: "It did not complete, and has no figures after it if the load was over.",
    },
    CatalogEntry {
        id: "few_samples",
        severity: "note",
        raised: "too few samples for p99 or p99.9",
        advice: "Measure longer; until then, use the maximum.",
    },
    CatalogEntry {
        id: "retried",
        severity: "note",
        raised: "transactions were retried",
        advice: "Response times span all attempts.",
    },
    CatalogEntry {
        id: "errors_ignored",
        severity: "note, invalid",
        raised: "transactions ended with an error that the plan ignores (--ignore-errors): note, or \
                 invalid if nothing else finished",
        advice: "They count as finished, not as commits; the table of errors names them.",
    },
    CatalogEntry {
        id: "interrupted",
        severity: "note",
        raised: "somebody stopped the run early",
        advice: "The figures cover that part only.",
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
        advice: "Add one (--ramp-up), unless you measure the cold start.",
    },
    CatalogEntry {
        id: "closed_load",
        severity: "note",
        raised: "the load was closed",
        advice: "To see the response times of users who arrive at a given rate, use open load \
                 (--load open --rate).",
    },
    CatalogEntry {
        id: "agent_lost",
        severity: "warning",
        raised: "an agent was lost during the load, and the run went on without it (agent_loss=mark)",
        advice: "From then on its clients are missing, and what it had not delivered is in no figure: \
                 measure again, or take the seconds before.",
    },
    CatalogEntry {
        id: "commits_not_delivered",
        severity: "note",
        raised: "an agent was lost, and the database has more commits than the figures \
                 (agent_loss=mark)",
        advice: "The figures are those of the other agents, and of this one until it was lost.",
    },
    CatalogEntry {
        id: "monitor_lost",
        severity: "note",
        raised: "an agent that monitored its host was lost during the load (monitor_agents)",
        advice: "The load went on, and its figures are whole; only the CPU, disks and server process \
                 of that host are unknown from then on.",
    },
    CatalogEntry {
        id: "same_host",
        severity: "note",
        raised: "generator and database share a host, or a process",
        advice: "The figures include both: if production uses two hosts, measure with two.",
    },
    CatalogEntry {
        id: "crosscheck_shared",
        severity: "note",
        raised: "another run of dbdyno used the database meanwhile, so that its own count of \
                 commits is higher than this run's",
        advice: "The figures are those of this run beside the other one. Only runs of dbdyno that \
                 commit into a database file, or into data that dbdyno has built, are known.",
    },
    CatalogEntry {
        id: "no_figure",
        severity: "invalid, warning",
        raised: "a transaction of a fixed sequence failed (invalid) or did not end (warning), so that \
                 figures which need it, such as Power@Size of `tpch`, have no value",
        advice: "Give queries more time (--query-timeout), and let a run end by itself, without \
                 --duration and --transactions.",
    },
    CatalogEntry {
        id: "pooled",
        severity: "note",
        raised: "a pooler is between dbdyno and the server: what the server says of itself was \
                 asked on one of the connections that are shared",
        advice: "Read settings and durability at the server itself; the server's own count of \
                 commits is not compared.",
    },
    CatalogEntry {
        id: "not_durable",
        severity: "note",
        raised: "the database may lose acknowledged commits",
        advice: "Compare only with runs of the same durability settings.",
    },
    CatalogEntry {
        id: "answers_cached",
        severity: "warning",
        raised: "the server has a cache of query results, which answers repeated reads without \
                 executing them",
        advice: "Switch the cache off, unless production has it: point reads of few rows then \
                 measure the cache.",
    },
    CatalogEntry {
        id: "data_in_memory",
        severity: "note",
        raised: "a disk limited throughput, or waits for it, and all data fit in the database's \
                 cache or in half of the memory of its machine",
        advice: "To measure reads from disk, build more data than memory holds (--scale or \
                 --warehouses), or give the server less cache.",
    },
    CatalogEntry {
        id: "few_hot_rows",
        severity: "note",
        raised: "there are more clients than rows of which every transaction updates one, such as \
                 the branches of `tpcb`",
        advice: "Build more of them than there are clients (--scale), unless waits for row locks \
                 are what you want to measure.",
    },
    CatalogEntry {
        id: "data_smaller",
        severity: "note",
        raised: "the data are smaller than their specification has them (`--shrink` of `tpcc`)",
        advice: "Compare only with runs on data that were shrunk as much: more fits into caches, \
                 and other rows are contended.",
    },
    CatalogEntry {
        id: "data_unknown",
        severity: "note",
        raised: "the data have no table `dbdyno_meta`, which records how dbdyno built them",
        advice: "Compare only with runs on the same data, or build them with dbdyno.",
    },
];
