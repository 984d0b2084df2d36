//! Parameters of HammerDB as keys of a plan.
//!
//! Not here: the commands that set them.

use model::Host;

use super::commands::{Run, Set};
use super::databases::{Place, tls};
use super::keys::Key;
use super::notes::Notes;
use super::settings::Settings;
use super::steps::Value;

/// Parameters that decide nothing that a run of dbdyno leaves open, with what to know about them.
const KNOWN: &[(&[&str], &str)] = &[
    (&["timeprofile"], "each run has the response times of each transaction type"),
    (&["num_vu", "num_threads", "num_tpch_threads"], "sessions of a build: dbdyno build --loaders"),
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
            "citus_azure_elastic_cluster",
            "citus_loadbalancer",
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
        "a certificate of the client: add tls_cert=FILE and tls_key=FILE to the target",
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
        reading.mode();
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
        self.notes.became(set.line, &what(set), key, &value);
        self.settings.insert(key, value);
    }

    /// Takes note of a part of the target.
    fn put_in_target(&mut self, part: &str, set: &Set) {
        self.notes.translated(set.line, &what(set), format!("target, {part}"));
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

    /// Returns a text for the target, or takes note that it is not known.
    fn text(&mut self, set: &Set) -> Option<String> {
        if let Value::Unknown(why) = &set.value {
            let why = format!("its value is not known ({why}): write it into the target");
            self.notes.left_out(set.line, &set.name, why);
        }
        set.value.text()
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
        let Some(text) = self.text(set) else { return };
        let part = match name {
            "host" if !text.is_empty() && Host::parse_list(&text).is_ok() => {
                self.place.host = text;
                "its host"
            }
            "port" if text.parse::<u16>().is_ok() => {
                self.place.port = Some(text);
                "its port"
            }
            "socket" if matches!(&*text, "" | "null") => "by TCP",
            // HammerDB takes the socket for these hosts.
            "socket" => {
                self.place.options.push(("socket", text));
                "socket, if the host is this machine"
            }
            "sslmode" | "ssl" if tls(&text).is_some() => {
                let mode = tls(&text).expect("it was found").to_owned();
                // The modes that dbdyno has anyway.
                if mode == "prefer" || (name == "ssl" && mode == "disable") {
                    "with dbdyno's default for tls"
                } else {
                    self.place.options.push(("tls", mode));
                    "tls"
                }
            }
            "ssl_ca" | "ssl_linux_capath" if self.uses_tls() => {
                let option = if name == "ssl_ca" { "tls_ca" } else { "tls_ca_folder" };
                self.place.options.push((option, text));
                "tls_ca"
            }
            "ssl_ca" | "ssl_linux_capath" | "ssl_cert" | "ssl_key" | "ssl_windows_capath"
            | "ssl_two_way" | "ssl_cipher"
                if !self.uses_tls() =>
            {
                "without TLS"
            }
            _ => {
                self.other(name, set);
                return;
            }
        };
        self.put_in_target(part, set);
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
                let Some(text) = self.text(set) else { return true };
                if name == "user" {
                    self.place.user = text;
                    self.put_in_target("its user", set);
                } else {
                    self.place.database = text;
                    self.put_in_target("its database", set);
                }
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
            "rampup" | "duration" | "driver" | "async_client" | "async_scale"
            | "no_stored_procs" | "storedprocs" => {}
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
            "total_querysets" => match self.number(set, 1.0, 1000.0) {
                Some(n) if n > 1.0 => {
                    self.put(Key::Experiment("repeat"), format!("{}", n as u64), set);
                }
                Some(_) => self.notes.translated(set.line, &what(set), "one run"),
                None => {}
            },
            "degree_of_parallel" => match self.run.server.and_then(|s| s.query_processes) {
                Some(setting) => {
                    if let Some(n) = self.number(set, 0.0, 1024.0) {
                        self.put(Key::Server(setting), format!("{n}"), set);
                    }
                }
                None => self.notes.left_out(set.line, &what(set), "the server has no such setting"),
            },
            // Read with the number of users.
            "refresh_on" => {}
            "driver" => {
                self.notes.translated(set.line, &what(set), "test says what is executed");
            }
            _ => self.other(name, set),
        }
    }

    /// Reads how the transactions are sent.
    fn mode(&mut self) {
        let key = Key::Parameter("mode");
        let mode = if self.is_true("no_stored_procs") { "text" } else { "procedures" };
        for name in ["no_stored_procs", "storedprocs"] {
            if let Some(set) = self.own(name) {
                self.notes.became(set.line, &what(set), key, mode);
            }
        }
        self.settings.insert(key, mode.to_owned());
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
        if !self.is_timed() {
            if let Some(set) = self.own("driver").cloned() {
                self.put(Key::Plan("ramp_up"), "0s", &set);
            }
            for name in ["rampup", "duration"] {
                if let Some(set) = self.own(name) {
                    let why = "the test driver ends after its transactions";
                    self.notes.translated(set.line, &what(set), why);
                }
            }
            return;
        }
        if let Some(set) = self.own("driver") {
            let text = "ramp_up and duration end the run";
            self.notes.translated(set.line, &what(set), text);
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
                    let key = Key::Plan(key);
                    self.notes.became_with(0, name, key, &value, "HammerDB's default");
                    self.settings.insert(key, value);
                }
            }
        }
    }

    fn clients(&mut self, cpus: usize) {
        let Some(set) = self.run.users.clone() else {
            let key = Key::Group("clients");
            self.notes.became_with(0, "vuset vu", key, "1", "HammerDB's default");
            self.settings.insert(key, "1".to_owned());
            return;
        };
        let set = with_cpus(set, cpus);
        let Some(mut n) = self.number(&set, 1.0, 1_000_000.0) else { return };
        let of_users = [self.own("async_scale").cloned(), self.own("async_client").cloned()];
        let is_scaled = self.is_true("async_scale");
        if is_scaled {
            let per_user = of_users[1].as_ref();
            let each = per_user.map_or(Some(10.0), |set| self.number(set, 1.0, 1e6));
            n *= each.unwrap_or(1.0);
        }
        let clients = format!("{}", n as u64);
        for of in of_users.iter().flatten() {
            match is_scaled {
                true => self.put(Key::Group("clients"), clients.clone(), of),
                false => self.notes.translated(of.line, &what(of), "not used, as in dbdyno"),
            }
        }
        self.put(Key::Group("clients"), clients, &set);
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
        let key = Key::Parameter("test");
        self.settings.insert(key, test.to_owned());
        let refresh_on = self.own("refresh_on").cloned();
        if streams.is_some() && !refresh {
            let why = "the throughput test always has refresh functions";
            let line = refresh_on.map_or(0, |set| set.line);
            self.notes.left_out(line, "refresh_on false", why);
        } else if let Some(set) = refresh_on {
            self.notes.became(set.line, &what(&set), key, test);
        }
        if runs {
            self.notes.became(line, &users, key, test);
        }
        if let Some(streams) = streams {
            let (key, streams) = (Key::Parameter("streams"), format!("{streams}"));
            self.notes.became(line, &users, key, &streams);
            self.settings.insert(key, streams);
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
        match self.run.server.map(|server| server.target(&self.place)) {
            Some(Some(target)) => {
                self.settings.insert(Key::Plan("target"), target.to_string());
            }
            Some(None) => {
                let why = "it cannot be part of a target: write target = \"...\"";
                self.notes.left_out(0, "connection", why);
            }
            None => {}
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
