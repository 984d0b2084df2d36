//! Parameters of HammerDB as keys of a plan.
//!
//! Not here: the commands that set them.

use super::commands::{Run, Set};
use super::databases::{Place, tls};
use super::notes::Notes;
use super::settings::{Key, Settings};
use super::steps::Value;

/// Parameters that decide nothing that a run of dbdyno leaves open, with what to know about them.
const KNOWN: &[(&[&str], &str)] = &[
    (&["timeprofile"], "each run has the response times of each transaction type"),
    (&["num_vu", "num_threads"], "sessions of a build: dbdyno build --loaders"),
    (&["raiseerror", "raise_query_error"], "errors are counted by kind, and a run goes on"),
    (&["async_verbose", "verbose", "refresh_verbose"], "output of the program itself"),
    (&["superuser", "defaultdbase"], "the user creates the database, if it may"),
    (&["total_iterations"], "a run of a fixed time ends after its duration"),
    (&["tspace", "ssl_cipher"], "the default of the server"),
];
/// Parameters that have no counterpart, with the reason.
const LEFT_OUT: &[(&[&str], &str)] = &[
    (&["prepared"], "statements that call a procedure are prepared always"),
    (&["history_pk"], "the table history has no primary key"),
    (&["connect_pool"], "a list of several connections: name several hosts in the target"),
    (&["async_delay"], "a pause between connects: clients connect before the load begins"),
    (
        &[
            "oracompat",
            "dritasnap",
            "cituscompat",
            "obcompat",
            "gpcompat",
            "gpcompress",
            "rs_compat",
            "azure_citus",
            "cloud_query",
            "ob_partition_num",
            "ob_tenant_name",
            "oceanbase_port",
        ],
        "a variant for another product",
    ),
    (&["update_sets", "trickle_refresh"], "refresh functions are executed as the standard says"),
    (
        &["ssl_two_way", "ssl_cert", "ssl_key", "ssl_windows_capath"],
        "a certificate of the client is not supported",
    ),
];

/// Parameters of TPROC-C that are numbers of minutes, with their keys and defaults.
const MINUTES: &[(&str, &str, &str)] = &[("rampup", "ramp_up", "2"), ("duration", "duration", "5")];

/// Reads the values of one run.
pub(super) struct Reading<'r> {
    run: &'r Run,
    notes: &'r mut Notes,
    settings: Settings,
    place: Place,
}

/// Returns the keys of a plan for the values of a run. If the script `runs`, values that it does
/// not set are those that HammerDB has.
pub(super) fn settings_of(run: &Run, runs: bool, cpus: usize, notes: &mut Notes) -> Settings {
    let settings = Settings::new();
    let mut reading = Reading { run, notes, settings, place: Place::default() };
    reading.target();
    let own = if run.is_analytical { "tpch" } else { "tpcc" };
    for ((dictionary, name), set) in &run.values {
        match dictionary.as_str() {
            "connection" => reading.connection(name, set),
            dictionary if dictionary != own => {
                let why = format!("it belongs to {dictionary}, and the script runs {own}");
                reading.notes.left_out(set.line, &what(set), why);
            }
            _ if reading.common(name, set) => {}
            "tpch" => reading.analytical(name, set),
            _ => reading.transactional(name, set),
        }
    }
    if run.is_analytical {
        reading.streams(runs);
    } else {
        let mode = if reading.is_true("no_stored_procs") { "text" } else { "procedures" };
        reading.settings.insert(Key::Parameter("mode"), mode.to_owned());
        if runs {
            reading.phases();
            reading.clients(cpus);
        }
    }
    if let Some(set) = &run.refresh_rate {
        reading.seconds(set);
    }
    reading.end()
}

/// Describes a value of the script, without a password.
fn what(set: &Set) -> String {
    format!("{} {}", set.name, set.value.text().unwrap_or_default())
}

impl Reading<'_> {
    fn put(&mut self, key: Key, value: impl Into<String>, set: &Set) {
        let value = value.into();
        let (Key::Plan(name) | Key::Group(name) | Key::Parameter(name)) = key else {
            self.settings.insert(key, value);
            return;
        };
        self.notes.translated(set.line, &what(set), format!("{name} = {value}"));
        self.settings.insert(key, value);
    }

    /// Returns a value of the run's own dictionary.
    fn own(&self, name: &str) -> Option<&Set> {
        let own = if self.run.is_analytical { "tpch" } else { "tpcc" };
        self.run.values.get(&(own.to_owned(), name.to_owned()))
    }

    fn is_true(&self, name: &str) -> bool {
        self.own(name).is_some_and(|set| set.value.truth() == Some(true))
    }

    /// Returns a positive number, or takes note that there is none.
    fn number(&mut self, set: &Set, least: f64, most: f64) -> Option<f64> {
        if let Value::Unknown(why) = &set.value {
            let why = format!("its value is not known ({why}): write it into the plan");
            self.notes.left_out(set.line, &set.name, why);
            return None;
        }
        let number = set.value.number().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            let why = format!("it is no number from {least} to {most}: write it into the plan");
            self.notes.left_out(set.line, &what(set), why);
        }
        number
    }

    fn target(&mut self) {
        let Some(server) = self.run.server else {
            let why = "the script does not name the database: write target = \"...\"";
            self.notes.left_out(0, "dbset db", why);
            return;
        };
        let (user, database) =
            if self.run.is_analytical { server.analytical } else { server.transactional };
        self.place.user = user.to_owned();
        self.place.database = database.to_owned();
        self.place.host = "127.0.0.1".to_owned();
    }

    fn connection(&mut self, name: &str, set: &Set) {
        let Some(text) = set.value.text() else {
            let why = "its value is not known: write it into the target";
            self.notes.left_out(set.line, &set.name, why);
            return;
        };
        let is_host = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
        match name {
            "host" if !text.is_empty() && text.chars().all(is_host) => self.place.host = text,
            "port" if text.parse::<u16>().is_ok() => self.place.port = Some(text),
            "socket" if matches!(&*text, "" | "null") => {}
            // HammerDB takes the socket for these hosts.
            "socket" => self.place.options.push(("socket", text)),
            "sslmode" | "ssl" if tls(&text).is_some() => {
                let mode = tls(&text).expect("it was found").to_owned();
                // The modes that dbdyno has anyway.
                if mode != "prefer" && !(name == "ssl" && mode == "disable") {
                    self.place.options.push(("tls", mode));
                }
            }
            "ssl_ca" | "ssl_linux_capath" if self.uses_tls() => self
                .place
                .options
                .push((if name == "ssl_ca" { "tls_ca" } else { "tls_ca_folder" }, text)),
            "ssl_ca" | "ssl_linux_capath" | "ssl_cert" | "ssl_key" | "ssl_windows_capath"
            | "ssl_two_way" | "ssl_cipher" => {}
            _ => {
                self.other(name, set);
                return;
            }
        }
        self.notes.translated(set.line, &what(set), "target");
    }

    fn uses_tls(&self) -> bool {
        let ssl = self.run.values.get(&("connection".to_owned(), "ssl".to_owned()));
        ssl.is_some_and(|set| set.value.truth() == Some(true))
    }

    /// Reads what both benchmarks have; returns false for other names.
    fn common(&mut self, name: &str, set: &Set) -> bool {
        match name {
            "pass" | "superuserpass" => self.notes.password(&set.name),
            "user" | "dbase" => {
                let Some(text) = set.value.text() else {
                    let why = "its value is not known: write it into the target";
                    self.notes.left_out(set.line, &set.name, why);
                    return true;
                };
                match name {
                    "user" => self.place.user = text,
                    _ => self.place.database = text,
                }
                self.notes.translated(set.line, &what(set), "target");
            }
            "storage_engine" => {
                let text = set.value.text().unwrap_or_default().to_ascii_lowercase();
                match text.as_str() {
                    "innodb" | "myisam" | "aria" | "rocksdb" => {
                        self.put(Key::Parameter("engine"), text, set);
                    }
                    _ => {
                        let why = "dbdyno has innodb, myisam, aria and rocksdb";
                        self.notes.left_out(set.line, &what(set), why);
                    }
                }
            }
            _ => return false,
        }
        true
    }

    fn transactional(&mut self, name: &str, set: &Set) {
        let is_true = set.value.truth() == Some(true);
        match name {
            "count_ware" => {
                if let Some(n) = self.number(set, 1.0, 100_000.0) {
                    self.put(Key::Parameter("warehouses"), format!("{}", n as u64), set);
                }
            }
            "allwarehouse" if is_true => self.put(Key::Parameter("home"), "all", set),
            "keyandthink" if is_true => self.put(Key::Group("load"), "keythink", set),
            "purge" | "vacuum" if is_true => self.put(Key::Plan("settle"), "before", set),
            // Read with the values that they belong to.
            "rampup" | "duration" | "driver" | "async_client" => {}
            "async_scale" | "no_stored_procs" | "storedprocs" => self.plain(set),
            "partition" if is_true => {
                let why = "dbdyno has a number of partitions: parameters = { partitions = N }";
                self.notes.left_out(set.line, &what(set), why);
            }
            "total_iterations" if !self.is_timed() => {
                if let Some(n) = self.number(set, 1.0, 1e12) {
                    let text = format!("{} per client", n as u64);
                    self.put(Key::Group("transactions"), text, set);
                }
            }
            _ => self.other(name, set),
        }
    }

    fn analytical(&mut self, name: &str, set: &Set) {
        match name {
            "scale_fact" => {
                if let Some(n) = self.number(set, 0.01, 1000.0) {
                    self.put(Key::Parameter("scale"), format!("{n}"), set);
                }
            }
            "total_querysets" => {
                if let Some(n) = self.number(set, 1.0, 1000.0).filter(|n| *n > 1.0) {
                    let repeat = format!("{}", n as u64);
                    self.notes.translated(set.line, &what(set), format!("repeat = {repeat}"));
                    self.settings.insert(Key::Experiment("repeat"), repeat);
                } else {
                    self.plain(set);
                }
            }
            "degree_of_parallel" => match self.run.server.and_then(|s| s.query_processes) {
                Some(setting) => {
                    if let Some(n) = self.number(set, 0.0, 1024.0) {
                        let text = format!("[server] {setting} = {n}");
                        self.notes.translated(set.line, &what(set), text);
                        self.settings.insert(Key::Server(setting), format!("{n}"));
                    }
                }
                None => self.notes.left_out(set.line, &what(set), "the server has no such setting"),
            },
            "refresh_on" => self.plain(set),
            _ => self.other(name, set),
        }
    }

    /// Takes note of a value that needs no key of its own.
    fn plain(&mut self, set: &Set) {
        self.notes.translated(set.line, &what(set), "part of the plan");
    }

    fn other(&mut self, name: &str, set: &Set) {
        let is_named = |(names, _): &&(&[&str], &str)| names.contains(&name);
        if matches!(name, "host" | "port" | "sslmode" | "ssl") {
            let why = "it cannot be part of a target: write it there";
            self.notes.left_out(set.line, &what(set), why);
        } else if let Some((_, text)) = KNOWN.iter().find(is_named) {
            self.notes.translated(set.line, &what(set), *text);
        } else if set.value.truth() == Some(false) {
            self.notes.translated(set.line, &what(set), "not used, as in dbdyno");
        } else if let Some((_, why)) = LEFT_OUT.iter().find(is_named) {
            self.notes.left_out(set.line, &what(set), *why);
        } else if let Value::Unknown(why) = &set.value {
            self.notes.left_out(set.line, &set.name, format!("its value is not known ({why})"));
        } else {
            self.notes.left_out(set.line, &set.name, "dbdyno does not know this parameter");
        }
    }

    fn is_timed(&self) -> bool {
        let driver = self.own("driver").and_then(|set| set.value.text());
        driver.is_none_or(|driver| driver != "test")
    }

    fn phases(&mut self) {
        if let Some(set) = self.own("driver").cloned() {
            self.plain(&set);
        }
        if !self.is_timed() {
            self.settings.insert(Key::Plan("ramp_up"), "0s".to_owned());
            return;
        }
        for (name, key, default) in MINUTES {
            match self.own(name).cloned() {
                Some(set) => {
                    if let Some(n) = self.number(&set, 0.0, 100_000.0) {
                        self.put(Key::Plan(key), minutes(n), &set);
                    }
                }
                None => {
                    let value = format!("{default}m");
                    self.notes.translated(0, name, format!("HammerDB's default, {key} = {value}"));
                    self.settings.insert(Key::Plan(key), value);
                }
            }
        }
    }

    fn clients(&mut self, cpus: usize) {
        let Some(set) = self.run.users.clone() else {
            self.notes.translated(0, "vuset vu", "HammerDB's default, clients = 1");
            self.settings.insert(Key::Group("clients"), "1".to_owned());
            return;
        };
        let set = with_cpus(set, cpus);
        let Some(mut n) = self.number(&set, 1.0, 1_000_000.0) else { return };
        if self.is_true("async_scale") {
            let per_user = self.own("async_client").cloned();
            let each = per_user.as_ref().map_or(Some(10.0), |set| self.number(set, 1.0, 1e6));
            n *= each.unwrap_or(1.0);
        }
        self.put(Key::Group("clients"), format!("{}", n as u64), &set);
    }

    /// Reads which test of the analytical workload the users make.
    fn streams(&mut self, runs: bool) {
        let refresh = self.is_true("refresh_on");
        let set = self.run.users.clone();
        let n = match set.as_ref().filter(|_| runs) {
            Some(set) => self.number(set, 1.0, 41.0).unwrap_or(1.0),
            None => 1.0,
        };
        let line = set.as_ref().map_or(0, |set| set.line);
        let users = format!("vuset vu {n}");
        let (test, streams) = match (n > 1.0, refresh) {
            (false, false) => ("queries", None),
            (false, true) => ("power", None),
            // One of the users executes the refresh functions.
            (true, true) => ("throughput", Some(n - 1.0)),
            (true, false) => ("throughput", Some(n)),
        };
        self.settings.insert(Key::Parameter("test"), test.to_owned());
        let mut text = format!("test = {test}");
        if let Some(streams) = streams {
            self.settings.insert(Key::Parameter("streams"), format!("{streams}"));
            text = format!("{text}, streams = {streams}");
            if !refresh {
                let why = "the throughput test always has refresh functions";
                self.notes.left_out(0, "refresh_on false", why);
            }
        }
        if runs {
            self.notes.translated(line, &users, text);
        }
    }

    /// Reads the interval of the transaction counter.
    fn seconds(&mut self, set: &Set) {
        if let Some(n) = self.number(set, 1.0, 3600.0) {
            self.put(Key::Plan("report_interval"), format!("{}s", n as u64), set);
        }
    }

    fn end(mut self) -> Settings {
        // The socket is that of this machine.
        let is_local = matches!(self.place.host.as_str(), "localhost" | "127.0.0.1");
        let folder = self.place.options.iter().position(|(name, _)| *name == "tls_ca_folder");
        let folder = folder.map(|at| self.place.options.remove(at).1);
        for (name, value) in &mut self.place.options {
            if *name == "tls_ca"
                && !value.starts_with('/')
                && let Some(folder) = &folder
            {
                *value = format!("{}/{value}", folder.trim_end_matches('/'));
            }
        }
        self.place.options.retain(|(name, value)| {
            (*name != "socket" || is_local) && !(*name == "tls_ca" && value.is_empty())
        });
        if let Some(server) = self.run.server {
            self.settings.insert(Key::Plan("target"), server.url(&self.place));
        }
        self.settings
    }
}

/// Writes a number of minutes as a duration.
fn minutes(n: f64) -> String {
    match n.fract() == 0.0 {
        true => format!("{}m", n as u64),
        false => format!("{}s", (n * 60.0).round() as u64),
    }
}

/// Replaces HammerDB's word for the number of CPUs.
fn with_cpus(set: Set, cpus: usize) -> Set {
    match set.value.text().as_deref() {
        Some("vcpu") => Set {
            value: Value::Text(cpus.to_string()),
            name: "vuset vu vcpu, on this machine".to_owned(),
            ..set
        },
        _ => set,
    }
}
