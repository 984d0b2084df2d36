//! Configurations of BenchBase as plans.
//!
//! Not here: its workloads, of which dbdyno has its own or examples in SQL.

use std::collections::BTreeMap;

use roxmltree::{Document, Node};

use super::databases::{Place, Server, by_jdbc, by_name, tls};
use super::keys::Key;
use super::mixes::{Mix, mix_of};
use super::notes::{Notes, short};
use super::settings::Settings;

/// Elements that decide nothing that a run of dbdyno leaves open, with what to know about them.
const KNOWN: &[(&[&str], &str)] = &[
    (&["driver"], "dbdyno has its own drivers"),
    (&["allowpublickeyretrieval"], "an option of the driver in Java"),
    (&["hikariconnectiontimeoutms"], "connect_limit sets how long clients try to connect"),
    (&["batchsize"], "data are built in bulk: dbdyno build --load-method"),
    (&["loaderthreads"], "sessions of a build: dbdyno build --loaders"),
    (&["reconnectonconnectionfailure"], "clients connect again after a failure"),
    (&["newconnectionpertxn"], "each client keeps its connection"),
    (&["dbname"], "the url has the name of the database"),
];
/// Elements that have no counterpart, with the reason.
const LEFT_OUT: &[(&[&str], &str)] = &[
    (&["sessionsetupfile", "aftersessionsetupfile"], "SQL of each session is not supported"),
    (&["monitor", "collector"], "each run has metrics of machine and server"),
    (&["datadir", "fileformat", "ddlpath"], "data are built by dbdyno"),
    (&["skewfactor"], "the keys are drawn by --zipfian, whose least value is 1.001"),
    (&["fieldsize"], "the rows have the size of the example"),
    (&["enableforeignkeysafterload"], "there are no foreign keys"),
    (
        &["usekeyingtime", "usethinktime"],
        "load = \"keythink\" pauses before and after transactions",
    ),
    (&["retries"], "it is no number: retry_attempts sets how often a conflict is tried"),
];

/// Benchmark of queries that run beside the transactions of another one.
const BESIDE: &str = "chbenchmark";

/// A part of the load, with its numbers as they are written.
struct Work {
    line: usize,
    /// Parts by their names in small letters, with the line and the text of each.
    parts: BTreeMap<String, (usize, String)>,
    seconds: Option<f64>,
    warm_up: Option<f64>,
    /// Requests per second; `None` if the load is closed.
    rate: Option<f64>,
    arrival: Option<String>,
    weights: Vec<f64>,
    is_serial: bool,
    clients: Option<f64>,
}

impl Work {
    /// Returns the length in seconds; that of a work without a time is a minute.
    fn length(&self) -> f64 {
        self.seconds.unwrap_or(SECONDS)
    }

    /// Returns the line of a part and the part as a note names it; `None` if the work lacks it.
    fn part(&self, name: &str) -> Option<(usize, String)> {
        let (line, text) = self.parts.get(name)?;
        Some((*line, format!("{name} {text}")))
    }
}

/// Customers in the hotspot of the example.
const HOT_CUSTOMERS: f64 = 1000.0;
/// Length in seconds of a work without a time.
const SECONDS: f64 = 60.0;
/// Parts of a work that are read.
const PARTS: [&str; 7] =
    ["time", "warmup", "rate", "arrival", "weights", "serial", "active_terminals"];

/// Translates a configuration. Returns the keys of the plan, and its workload; an error is a
/// sentence about the file `name`.
pub(super) fn settings_of(
    name: &str,
    text: &str,
    notes: &mut Notes,
) -> Result<(Settings, String), String> {
    let document = Document::parse(text)
        .map_err(|error| format!("{name} looks like a configuration of BenchBase: {error}"))?;
    let root = document.root_element();
    let mut reading = Reading { root, notes, settings: Settings::new() };
    // Its queries have the names of another benchmark, but other tables.
    let is_beside = text.contains(BESIDE);
    if is_beside && !reading.types().iter().any(|name| name == "NewOrder") {
        let line = reading.line_of_types();
        return Err(format!(
            "{name}:{line}: it is a configuration of BenchBase for {BESIDE}, which dbdyno does \
             not have: see examples/htap.toml"
        ));
    }
    if is_beside {
        let why = "queries beside transactions: examples/htap.toml has some";
        reading.notes.left_out(reading.line_of_types(), BESIDE, why);
    }
    let mix = mix_of(name, &child_text(root, "benchmark"), &reading.types()).map_err(|what| {
        let line = reading.line_of_types();
        format!(
            "{name}:{line}: it is a configuration of BenchBase for {what}, which dbdyno does not \
             have"
        )
    })?;
    let server = reading.server(name)?;
    reading.target(server, name)?;
    reading.size(mix);
    let works = reading.works(mix);
    reading.load(mix, &works);
    let workload = reading.mix(mix, &works);
    reading.others();
    let settings = reading.settings;
    Ok((settings, workload))
}

fn child<'a, 'd>(node: Node<'a, 'd>, name: &str) -> Option<Node<'a, 'd>> {
    node.children().find(|child| is_named(*child, name))
}

fn is_named(node: Node<'_, '_>, name: &str) -> bool {
    node.is_element() && node.tag_name().name().eq_ignore_ascii_case(name)
}

fn child_text(node: Node<'_, '_>, name: &str) -> String {
    child(node, name).and_then(|child| child.text()).unwrap_or("").trim().to_owned()
}

fn line_of(node: Node<'_, '_>) -> usize {
    node.document().text_pos_at(node.range().start).row as usize
}

struct Reading<'r, 'a, 'd> {
    root: Node<'a, 'd>,
    notes: &'r mut Notes,
    settings: Settings,
}

impl<'a, 'd> Reading<'_, 'a, 'd> {
    fn element(&self, names: &[&str]) -> Option<(Node<'a, 'd>, String)> {
        let node = names.iter().find_map(|name| child(self.root, name))?;
        Some((node, node.text().unwrap_or("").trim().to_owned()))
    }

    /// Returns the names of the transaction types, in the order of their weights.
    fn types(&self) -> Vec<String> {
        let all = self.root.children().filter(|node| {
            is_named(*node, "transactiontypes") && node.attribute("bench") != Some(BESIDE)
        });
        let all = all.flat_map(|all| all.children());
        all.filter(|node| is_named(*node, "transactiontype"))
            .map(|node| child_text(node, "name"))
            .collect()
    }

    /// Returns the line on which the configuration tells its benchmark: that of its own word, of
    /// its transaction types, or of the whole.
    fn line_of_types(&self) -> usize {
        let is_beside = |node: &Node<'_, '_>| node.attribute("bench") == Some(BESIDE);
        let beside = self.root.descendants().find(is_beside);
        let types = || child(self.root, "transactiontypes");
        let first = || types().and_then(|all| child(all, "transactiontype")).or_else(types);
        let node = beside.or_else(|| child(self.root, "benchmark")).or_else(first);
        line_of(node.unwrap_or(self.root))
    }

    /// Returns the database that the URL names, or the type if the URL names none.
    fn server(&mut self, name: &str) -> Result<&'static Server, String> {
        let of_url = self.element(&["url", "dburl"]).and_then(|(_, url)| by_jdbc(&url));
        let Some((node, kind)) = self.element(&["type", "dbtype"]) else {
            return of_url.ok_or_else(|| {
                format!("{name} is a configuration of BenchBase without <type>: add it")
            });
        };
        let (line, what) = (line_of(node), format!("type {}", short(&kind)));
        match (by_name(&kind), of_url) {
            (of_type, Some(server)) if of_type != Some(server) && of_type.is_some() => {
                self.notes.left_out(line, &what, "the URL is that of another database");
                Ok(server)
            }
            (Some(server), _) => {
                self.notes.translated(line, &what, "target, its scheme");
                Ok(server)
            }
            (None, _) => Err(format!(
                "{name}:{line}: it is a configuration of BenchBase for {}, which dbdyno does not \
                 measure",
                short(&kind)
            )),
        }
    }

    fn target(&mut self, server: &Server, name: &str) -> Result<(), String> {
        let (node, url) = self
            .element(&["url", "dburl"])
            .ok_or_else(|| format!("{name} is a configuration of BenchBase without <url>"))?;
        let Some((mut place, options)) = server.of_jdbc(&url) else {
            let why = "it is no URL of this database: write target = \"...\"";
            self.notes.left_out(line_of(node), "url", why);
            self.without_target();
            return Ok(());
        };
        self.notes.translated(line_of(node), "url", "target, its host and database");
        if let Some((user, text)) = self.element(&["username"]) {
            place.user = text;
            self.notes.translated(line_of(user), "username", "target, its user");
        }
        if self.element(&["password"]).is_some_and(|(_, text)| !text.is_empty()) {
            self.notes.password("password");
        }
        for option in options.split(['&', ';']).filter(|option| !option.is_empty()) {
            let (word, value) = option.split_once('=').unwrap_or((option, "true"));
            match (word.to_ascii_lowercase().as_str(), tls(value)) {
                ("sslmode" | "usessl" | "ssl", Some(mode)) => {
                    place.options.push(("tls", mode.to_owned()));
                    let text = format!("target, tls={mode}");
                    self.notes.translated(line_of(node), &format!("url: {option}"), text);
                }
                ("password", _) => self.notes.password("password of the url"),
                ("user", _) => place.user = value.to_owned(),
                _ => {
                    let why = "an option of the driver in Java";
                    self.notes.translated(line_of(node), &format!("url: {word}"), why);
                }
            }
        }
        if !server.is_file && place.user.is_empty() {
            self.notes.left_out(0, "username", "there is none: write a user into the target");
            self.without_target();
            return Ok(());
        }
        self.isolation(server, &mut place);
        match server.target(&place) {
            Some(target) => {
                self.settings.insert(Key::Plan("target"), target.to_string());
            }
            None => {
                let why = "its hosts cannot be part of a target: write target = \"...\"";
                self.notes.left_out(line_of(node), "url", why);
            }
        }
        Ok(())
    }

    /// Reads the size of the data.
    fn size(&mut self, mix: &Mix) {
        let Some((node, text)) = self.element(&["scalefactor"]) else { return };
        let what = format!("scalefactor {text}");
        let Ok(scale) = text.parse::<f64>() else {
            self.notes.left_out(line_of(node), &what, "it is no number");
            return;
        };
        let size = scale * mix.rows_per_scale;
        let size = if mix.size == "scale" { size } else { size.round().max(1.0) };
        self.put(Key::Parameter(mix.size), format!("{size}"), line_of(node), &what);
        if mix.bench == "smallbank" && size <= HOT_CUSTOMERS {
            let (key, hot) = (Key::Parameter("hot_customers"), (size / 10.0).ceil().to_string());
            self.notes.became_with(line_of(node), &what, key, &hot, "there are few customers");
            self.settings.insert(key, hot);
        }
    }

    fn works(&mut self, mix: &Mix) -> Vec<Work> {
        let all = child(self.root, "works");
        let all = all.into_iter().flat_map(|works| works.children());
        let all: Vec<Node<'_, '_>> = all.filter(|node| is_named(*node, "work")).collect();
        all.into_iter().map(|node| self.work(node, mix)).collect()
    }

    fn work(&mut self, node: Node<'_, '_>, mix: &Mix) -> Work {
        let line = line_of(node);
        let mut parts = BTreeMap::new();
        for part in node.children().filter(Node::is_element) {
            let name = part.tag_name().name().to_ascii_lowercase();
            let text = part.text().unwrap_or("").trim();
            if !PARTS.contains(&name.as_str()) {
                let why = "dbdyno does not know this part of a work";
                self.notes.left_out(line_of(part), &name, why);
            } else if part.attribute("bench").is_none_or(|bench| bench == mix.bench) {
                parts.insert(name, (line_of(part), text.to_owned()));
            }
        }
        let mut number = |name: &str| {
            let (line, text) = parts.get(name).cloned()?;
            let number = text.parse::<f64>().ok().filter(|n| *n >= 0.0);
            if number.is_none() {
                let why = "it is no number: write it into the plan";
                self.notes.left_out(line, &format!("{name} {text}"), why);
                parts.remove(name);
            }
            number
        };
        let seconds = number("time").filter(|seconds| *seconds > 0.0);
        let (warm_up, clients) = (number("warmup"), number("active_terminals"));
        let text = |name: &str| parts.get(name).map_or("", |(_, text)| text.as_str());
        let rate = text("rate").parse::<f64>().ok().filter(|rate| *rate > 0.0);
        let is_known = rate.is_some() || matches!(text("rate"), "" | "unlimited" | "disabled");
        let weights = text("weights").split(',').filter_map(|w| w.trim().parse().ok()).collect();
        let arrival = node.attribute("arrival").unwrap_or_else(|| text("arrival"));
        let arrival = Some(arrival.to_owned()).filter(|arrival| !arrival.is_empty());
        let is_serial = text("serial") == "true";
        if !is_known && let Some((line, text)) = parts.remove("rate") {
            let why = "it is neither a number nor unlimited: the plan has a closed load";
            self.notes.left_out(line, &format!("rate {text}"), why);
        }
        Work { line, parts, seconds, warm_up, rate, arrival, weights, is_serial, clients }
    }

    fn load(&mut self, mix: &Mix, works: &[Work]) {
        let terminals = self.element(&["terminals"]);
        let n = terminals.as_ref().and_then(|(_, text)| text.parse::<u64>().ok());
        if let Some((node, text)) = terminals.as_ref().filter(|_| n.is_none()) {
            let why = "it is no number: write clients into the plan";
            self.notes.left_out(line_of(*node), &format!("terminals {text}"), why);
        }
        let is_number = terminals.is_none() || n.is_some();
        let n = n.or_else(|| works.first()?.clients.map(|n| n as u64)).unwrap_or(1).max(1);
        let line = terminals.map_or(0, |(node, _)| line_of(node));
        if works.is_empty() {
            self.notes.left_out(0, "works", "there is no load: the plan has dbdyno's own");
            return;
        }
        if mix.is_analytical() {
            self.analytical(n, works, line);
            return;
        }
        if is_number {
            self.put(Key::Group("clients"), n.to_string(), line, &format!("terminals {n}"));
        }
        self.phases(works);
        self.rate(works);
        self.pauses(mix);
        for work in works {
            if let Some((line, what)) = work.part("serial") {
                self.notes.translated(line, &what, "only queries are executed one by one");
            }
            match work.part("active_terminals") {
                Some((line, what)) if work.clients == Some(n as f64) => {
                    self.notes.became(line, &what, Key::Group("clients"), &n.to_string());
                }
                Some((line, what)) => {
                    let why = format!("the number of clients does not change: {n}");
                    self.notes.left_out(line, &what, why);
                }
                None => {}
            }
        }
    }

    /// Reads the pauses before and after transactions, which are numbers of milliseconds.
    fn pauses(&mut self, mix: &Mix) {
        const PAUSES: [(&str, &str); 2] =
            [("preexecutionwait", "keying"), ("postexecutionwait", "thinking")];
        let types = self.root.children().filter(|node| is_named(*node, "transactiontypes"));
        let types: Vec<Node<'_, '_>> = types.flat_map(|all| all.children()).collect();
        let is_open = self.settings.contains_key(&Key::Group("rate"));
        for (element, key) in PAUSES {
            let pause = |name: &str| {
                let of = types.iter().find(|node| child_text(**node, "name") == name)?;
                let pause = child(*of, element)?;
                Some((pause, child_text(*of, element).parse::<u64>().ok()?))
            };
            let names = mix.types();
            let all: Vec<Option<(Node<'_, '_>, u64)>> = names.iter().map(|n| pause(n)).collect();
            if all.iter().flatten().all(|(_, ms)| *ms == 0) {
                continue;
            }
            let of = |one: &Option<(Node<'_, '_>, u64)>| {
                format!("{}ms", one.as_ref().map_or(0, |(_, ms)| *ms))
            };
            let value = all.iter().map(of).collect::<Vec<String>>().join("/");
            for (node, ms) in all.iter().flatten() {
                let (line, what) = (line_of(*node), format!("{element} {ms}"));
                if mix.bench != "tpcc" {
                    let why = "pauses between transactions of the example: \\sleep in its script";
                    self.notes.left_out(line, &what, why);
                } else if is_open {
                    self.notes.left_out(line, &what, "a load with a rate has no pauses");
                } else {
                    self.notes.became(line, &what, Key::Parameter(key), &value);
                }
            }
            if mix.bench == "tpcc" && !is_open {
                self.settings.insert(Key::Parameter(key), value);
                self.settings.insert(Key::Group("load"), "keythink".to_owned());
            }
        }
        // The pauses that the workload has itself are not those of the file.
        if self.settings.get(&Key::Group("load")).is_some_and(|load| load == "keythink") {
            for key in ["keying", "thinking"] {
                let none = || "0s/0s/0s/0s/0s".to_owned();
                self.settings.entry(Key::Parameter(key)).or_insert_with(none);
            }
        }
    }

    fn put(&mut self, key: Key, value: String, line: usize, what: &str) {
        self.notes.became(line, what, key, &value);
        self.settings.insert(key, value);
    }

    /// Reads how long the parts of the load take.
    fn phases(&mut self, works: &[Work]) {
        let key = Key::Plan("duration");
        let total = duration(works.iter().map(Work::length).sum());
        for work in works {
            match work.part("time") {
                Some((line, what)) => self.notes.became(line, &what, key, &total),
                None => {
                    self.notes.became_with(
                        work.line,
                        "work",
                        key,
                        &total,
                        "it has no time of its own",
                    );
                }
            }
        }
        self.settings.insert(key, total);
        let key = Key::Plan("ramp_up");
        let warm_up = duration(works[0].warm_up.unwrap_or(0.0));
        for (nth, work) in works.iter().enumerate() {
            match work.part("warmup") {
                Some((line, what)) if nth == 0 => self.notes.became(line, &what, key, &warm_up),
                Some((line, what)) => {
                    self.notes.left_out(line, &what, "only the beginning has a ramp-up");
                }
                None => {}
            }
        }
        self.settings.insert(key, warm_up);
    }

    /// Reads the rates of the parts of the load.
    fn rate(&mut self, works: &[Work]) {
        let rates: Option<Vec<f64>> = works.iter().map(|work| work.rate).collect();
        let Some(rates) = rates else {
            for work in works {
                let Some((line, what)) = work.part("rate") else { continue };
                match work.rate {
                    Some(_) => {
                        let why = "a rate beside works without one: the plan has a closed load";
                        self.notes.left_out(line, &what, why);
                    }
                    None if what.ends_with("disabled") => {
                        self.notes.left_out(line, &what, "a work without load is not left out");
                    }
                    None => self.notes.became(line, &what, Key::Group("load"), "closed"),
                }
            }
            for (line, what) in works.iter().filter_map(|work| work.part("arrival")) {
                self.notes.translated(line, &what, "a closed load has no arrivals of its own");
            }
            return;
        };
        let steps: Vec<String> = rates.iter().map(|rate| format!("{rate}")).collect();
        let rate = match steps.as_slice() {
            [one] => one.clone(),
            // The last rate goes on to the end.
            [all @ .., last] => {
                let step = |(rate, work): (&String, &Work)| {
                    format!("{rate} for {}", duration(work.length()))
                };
                let all: Vec<String> = all.iter().zip(works).map(step).collect();
                format!("steps {}, {last}", all.join(", "))
            }
            [] => return,
        };
        let is_poisson =
            works[0].arrival.as_ref().is_some_and(|a| a.eq_ignore_ascii_case("poisson"));
        let arrivals = if is_poisson { "poisson" } else { "uniform" };
        for work in works {
            if let Some((line, what)) = work.part("rate") {
                self.notes.became(line, &what, Key::Group("rate"), &rate);
            }
            match work.part("arrival") {
                Some((line, what)) if work.arrival == works[0].arrival => {
                    self.notes.became(line, &what, Key::Group("arrivals"), arrivals);
                }
                Some((line, what)) => {
                    self.notes.left_out(line, &what, "the plan has the arrivals of the first work");
                }
                None => {}
            }
        }
        self.settings.insert(Key::Group("load"), "open".to_owned());
        self.settings.insert(Key::Group("rate"), rate);
        if !is_poisson {
            self.settings.insert(Key::Group("arrivals"), arrivals.to_owned());
        }
    }

    fn analytical(&mut self, n: u64, works: &[Work], line: usize) {
        let is_alone = n == 1;
        let test = if is_alone { "queries" } else { "throughput" };
        self.put(Key::Parameter("test"), test.to_owned(), line, &format!("terminals {n}"));
        if !is_alone {
            let streams = n.min(40).to_string();
            self.put(Key::Parameter("streams"), streams, line, &format!("terminals {n}"));
            self.notes.left_out(0, "queries alone", "the throughput test has refresh functions");
        }
        for (nth, work) in works.iter().enumerate() {
            if nth > 0 {
                let why = "queries are executed once: translate further works apart";
                self.notes.left_out(work.line, "work", why);
                continue;
            }
            match work.part("serial") {
                Some((line, what)) if work.is_serial => {
                    self.notes.translated(line, &what, "the order of the standard");
                }
                _ => {
                    let why = "queries are executed in the standard's order, once";
                    self.notes.left_out(work.line, "work", why);
                }
            }
            let is_equal = work.weights.iter().all(|weight| *weight == work.weights[0]);
            for name in ["time", "warmup", "rate", "arrival", "weights", "active_terminals"] {
                let Some((line, what)) = work.part(name) else { continue };
                match (name, work.rate) {
                    ("rate", None) => {
                        let text = "queries follow each other without a rate";
                        self.notes.translated(line, &what, text);
                    }
                    ("weights", _) if is_equal => {
                        self.notes.translated(line, &what, "each query once");
                    }
                    ("weights", _) => {
                        let why = "each query is executed as often as the others";
                        self.notes.left_out(line, &what, why);
                    }
                    _ => {
                        let why = "queries follow each other until all are executed";
                        self.notes.left_out(line, &what, why);
                    }
                }
            }
        }
    }

    /// Reads the mix of transaction types, and returns the workload that has it.
    fn mix(&mut self, mix: &Mix, works: &[Work]) -> String {
        let Some(first) = works.first().filter(|_| !mix.is_analytical()) else {
            return mix.workload.to_owned();
        };
        let types = self.types();
        let weights: Vec<(String, f64)> =
            types.iter().cloned().zip(first.weights.iter().copied()).collect();
        self.check_weights(&types, first);
        let (workload, weights, difference) = mix.nearest(&weights);
        if workload.contains('/') {
            let text = format!(
                "an example of dbdyno: run the plan in the folder above 'examples', after dbdyno \
                 build {workload} with --{} and --target",
                mix.size
            );
            self.notes.translated(0, &workload, text);
        }
        for work in works {
            let Some((line, what)) = work.part("weights") else { continue };
            if work.weights != first.weights {
                let why = "the mix changes during the run: the plan has the first one";
                self.notes.left_out(line, &what, why);
            } else if let Some(difference) = &difference {
                self.notes.left_out(line, &what, difference.as_str());
            } else if let Some(weights) = &weights {
                self.notes.became(line, &what, Key::Parameter("weights"), weights);
            } else {
                self.notes.translated(line, &what, format!("the mix of {workload}"));
            }
        }
        if let (Some(difference), None) = (difference, first.part("weights")) {
            self.notes.left_out(first.line, "weights", difference);
        }
        if let Some(weights) = weights {
            self.settings.insert(Key::Parameter("weights"), weights);
        }
        workload
    }

    /// Takes note of weights that do not belong to the transaction types one by one.
    fn check_weights(&mut self, types: &[String], work: &Work) {
        let Some((line, what)) = work.part("weights") else { return };
        let (n, n_types) = (work.weights.len(), types.len());
        if n != n_types {
            let why = format!(
                "there are {n} weights for {n_types} transaction types: {}",
                if n < n_types { "those without one are not executed" } else { "the last ones" }
            );
            self.notes.left_out(line, &what, why);
        }
    }

    /// Takes note of what would be part of a target that is not known.
    fn without_target(&mut self) {
        if let Some((node, text)) = self.element(&["isolation"]) {
            let why = "write it into the target";
            self.notes.left_out(line_of(node), &format!("isolation {text}"), why);
        }
    }

    /// Reads the isolation level of the target.
    fn isolation(&mut self, server: &Server, place: &mut Place) {
        let Some((node, text)) = self.element(&["isolation"]) else { return };
        let level = text.strip_prefix("TRANSACTION_").unwrap_or(&text);
        let level = level.to_ascii_lowercase().replace(['_', ' '], "-");
        let is_level = ["read-uncommitted", "read-committed", "repeatable-read", "serializable"]
            .contains(&level.as_str());
        let what = format!("isolation {text}");
        if is_level && !server.is_file {
            self.notes.translated(line_of(node), &what, format!("target, isolation={level}"));
            place.options.push(("isolation", level));
        } else {
            self.notes.left_out(line_of(node), &what, "the database has no such level");
        }
    }

    /// Takes note of all other elements.
    fn others(&mut self) {
        const READ: [&str; 13] = [
            "type",
            "dbtype",
            "url",
            "dburl",
            "username",
            "password",
            "isolation",
            "scalefactor",
            "terminals",
            "works",
            "transactiontypes",
            "benchmark",
            "parameters",
        ];
        for node in self.root.children().filter(Node::is_element) {
            let name = node.tag_name().name().to_ascii_lowercase();
            let is_named = |(names, _): &&(&[&str], &str)| names.contains(&&*name);
            if READ.contains(&name.as_str()) {
                continue;
            }
            let text = node.text().unwrap_or("").trim();
            let counterpart = match (name.as_str(), text.parse::<u64>()) {
                ("randomseed", Ok(seed)) => Some((Key::Plan("seed"), seed.to_string())),
                // The first attempt is no retry.
                ("retries", Ok(n)) => {
                    Some((Key::Plan("retry_attempts"), n.saturating_add(1).to_string()))
                }
                ("newconnectionpertxn", _) if text == "true" => {
                    Some((Key::Group("connect"), "transaction".to_owned()))
                }
                _ => None,
            };
            if let Some((key, value)) = counterpart {
                self.put(key, value, line_of(node), &format!("{name} {text}"));
            } else if let Some((_, text)) = KNOWN.iter().find(is_named) {
                self.notes.translated(line_of(node), &name, *text);
            } else if let Some((_, why)) = LEFT_OUT.iter().find(is_named) {
                self.notes.left_out(line_of(node), &name, *why);
            } else {
                let why = "dbdyno does not know this element";
                self.notes.left_out(line_of(node), &name, why);
            }
        }
    }
}

/// Writes a number of seconds as a duration.
fn duration(seconds: f64) -> String {
    format!("{}s", seconds.round() as u64)
}
