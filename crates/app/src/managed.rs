//! Starts a private database server or cluster for a `managed:` target, and removes it with its
//! data at the end. Not here: the options of a `managed:` target (plan).

use model::{Fact, Host, Target, numbers, plain_setting};
use monitor::Locate;
use plan::Draft;
use plan::managed::Wanted;
use servers::{Cluster, Options, ServerControl, ServerError, ServerErrorKind};

use crate::error::Error;

/// A private server or cluster that was started for a target. Drop ends it and deletes its data.
pub(crate) struct Managed {
    control: Box<dyn ServerControl>,
    /// Target (URL) under which clients reach the server. It contains the password, and is never
    /// shown.
    pub(crate) target: Target,
    wanted: Wanted,
}

/// Fails if a `managed:` target in `draft` names a server program (`bin`) that does not exist.
/// Checks all targets before anything runs, because a later point of an experiment would fail much
/// later.
pub fn check_programs(draft: &Draft) -> Result<(), Error> {
    for (target, from) in plan::targets_of(draft) {
        let wanted = plan::managed::read(&target);
        let Some(wanted) = wanted.ok().filter(|wanted| wanted.options.bin.is_some()) else {
            continue;
        };
        servers::check_installed(wanted.kind, &wanted.options)
            .map_err(|error| from.bad(format!("target {target}: bin: {error}")))?;
    }
    Ok(())
}

impl Managed {
    /// Starts the server or cluster that `wanted` describes, and waits until it answers.
    pub(crate) fn start(wanted: &Wanted) -> Result<Managed, Error> {
        let cluster = Cluster::start(wanted.kind, &wanted.options).map_err(|error| {
            let is_named = wanted.options.bin.is_some();
            match error.kind {
                // The user named the program.
                ServerErrorKind::NotInstalled if is_named => {
                    Error::Usage(format!("the target: bin: {error}"))
                }
                _ => start_error(error, &wanted.options.settings),
            }
        })?;
        let target = reached(&cluster, wanted);
        Ok(Managed { control: Box::new(cluster), target, wanted: wanted.clone() })
    }

    /// Changes the server to `wanted`: sets other settings, puts back the copied data if
    /// `from_copy`, and restarts it if that is needed. `None` if `wanted` differs in more than
    /// settings, or no longer sets one of them; then the server is removed, as after an error.
    pub(crate) fn change(
        mut self,
        wanted: &Wanted,
        from_copy: bool,
    ) -> Result<Option<Managed>, Error> {
        let bare =
            |options: &Options| Options { settings: Vec::new(), load_on: None, ..options.clone() };
        let is_same = self.wanted.kind == wanted.kind
            && bare(&self.wanted.options) == bare(&wanted.options)
            && self.wanted.by_socket == wanted.by_socket;
        if !is_same {
            return Ok(None);
        }
        self.control.load_on(wanted.options.load_on);
        let has_changed = self.wanted.options.settings != wanted.options.settings;
        if has_changed {
            let is_unset = |(name, _): &&(String, String)| {
                !wanted.options.settings.iter().any(|(other, _)| other == name)
            };
            for (name, _) in self.wanted.options.settings.iter().filter(is_unset) {
                self.control.unset(name);
            }
            for (name, value) in &wanted.options.settings {
                self.control.set(name, value)?;
            }
        }
        let explain = |error| start_error(error, &wanted.options.settings);
        let is_put_back = from_copy && self.control.has_copy();
        if is_put_back {
            self.control.put_back().map_err(explain)?;
        }
        if has_changed || is_put_back || self.control.how_it_ended().is_some() {
            self.control.restart_all().map_err(explain)?;
        }
        self.target = reached(self.control.as_ref(), wanted);
        self.wanted = wanted.clone();
        Ok(Some(self))
    }

    /// Restarts all nodes of the server with the same settings and data.
    pub(crate) fn restarted(mut self) -> Result<Managed, Error> {
        let asked = &self.wanted.options.settings;
        self.control.restart_all().map_err(|error| start_error(error, asked))?;
        self.target = reached(self.control.as_ref(), &self.wanted);
        Ok(self)
    }

    /// Copies the server's data, so that [`Managed::change`] can put them back, and starts the
    /// server again.
    pub(crate) fn copied(mut self) -> Result<Managed, Error> {
        let asked = &self.wanted.options.settings;
        self.control.copy_data().map_err(|error| start_error(error, asked))?;
        self.control.restart_all().map_err(|error| start_error(error, asked))?;
        Ok(self)
    }

    /// Returns true if [`Managed::copied`] has made a copy of the data.
    pub(crate) fn has_copy(&self) -> bool {
        self.control.has_copy()
    }

    /// Returns the server's name for the user, such as `MariaDB 10.11.19`, or `MariaDB 10.11.19, a
    /// Galera cluster of 3 nodes`.
    pub(crate) fn name(&self) -> String {
        let title = self.control.title();
        match (self.control.is_cluster(), self.control.n_nodes() as u64) {
            (false, _) => title,
            (true, n) => format!("{title}, a Galera cluster of {}", numbers::count(n, "node")),
        }
    }

    /// Returns the folder with the data and logs of the server.
    pub(crate) fn folder(&self) -> &std::path::Path {
        self.control.folder()
    }

    /// Returns the settings that the user gave in the target's URL, as written.
    pub(crate) fn asked(&self) -> &[(String, String)] {
        &self.wanted.options.settings
    }

    /// Returns facts of a run about the server: product, folder, nodes and settings.
    pub(crate) fn facts(&self) -> Vec<Fact> {
        let mut facts = vec![
            Fact::new("managed", "server", self.name()),
            Fact::new("managed", "folder", self.folder().display().to_string()),
        ];
        if self.control.is_cluster() {
            facts.push(Fact::new("managed", "nodes", self.control.n_nodes()));
            facts.push(Fact::new("managed", "load_on", self.target.hosts.len()));
        }
        let settings = self.control.settings().iter();
        facts.extend(settings.map(|set| Fact::new("managed", &set.name, &set.value)));
        facts
    }

    /// Returns the process id of each node's server; `None` for a node whose server does not run.
    pub(crate) fn processes(&self) -> Vec<Option<u32>> {
        self.control.process_ids()
    }

    /// Returns, for the monitor, the name of each node and a function that finds its process. The
    /// process ids are those of now, so they are wrong once a node is restarted.
    pub(crate) fn locate(&self) -> Vec<(String, Locate)> {
        let processes = self.processes();
        let n_nodes = processes.len();
        let locator = |(node, process): (usize, Option<u32>)| {
            let locate: Locate = Box::new(move || process);
            (name_in_monitor(node, n_nodes), locate)
        };
        processes.into_iter().enumerate().map(locator).collect()
    }

    /// Returns the control with which the server can be started, stopped and changed.
    pub(crate) fn control(&mut self) -> &mut dyn ServerControl {
        self.control.as_mut()
    }

    /// Returns the addresses of all nodes of the server.
    pub(crate) fn hosts(&self) -> Vec<Host> {
        self.control.hosts()
    }

    /// Returns how the server has ended by itself, with exit status and last log lines; `None`
    /// while the server runs.
    pub(crate) fn ended(&mut self) -> Option<String> {
        self.control.how_it_ended()
    }
}

/// Returns the name under which the monitor reports a node's processes: `server` for a single
/// server, else such as `node 2/server`. `node` counts from 0.
pub(crate) fn name_in_monitor(node: usize, n_nodes: usize) -> String {
    match n_nodes {
        1 => "server".to_owned(),
        _ => format!("node {}/server", node + 1),
    }
}

fn reached(control: &dyn ServerControl, wanted: &Wanted) -> Target {
    let mut target = control.target(wanted.by_socket);
    let is_given = |name: &str| wanted.driver.iter().any(|(given, _)| given == name);
    target.options.retain(|(name, _)| !is_given(name));
    target.options.extend(wanted.driver.iter().cloned());
    target
}

fn start_error(error: ServerError, asked: &[(String, String)]) -> Error {
    if let Some(words) = refused_setting(&error) {
        return Error::Usage(of_setting(words, asked));
    }
    match error.kind {
        ServerErrorKind::BadOption => Error::Usage(format!("the target: {error}")),
        ServerErrorKind::NotInstalled
        | ServerErrorKind::Ended
        | ServerErrorKind::TooSlow
        | ServerErrorKind::System => Error::failed(error),
    }
}

/// Returns the error text for a setting that the server rejects. Says so if the setting is a
/// default of dbdyno and not the user's.
fn of_setting(words: &str, asked: &[(String, String)]) -> String {
    let plain = plain_setting(words);
    let is_named = |name: &str| plain.contains(&plain_setting(name));
    let is_asked = asked.iter().any(|(name, _)| is_named(name));
    let default = servers::DEFAULTS.iter().find(|default| is_named(default.name));
    match default.filter(|_| !is_asked) {
        Some(default) => format!(
            "the target: the server rejects a default of dbdyno's for managed servers: {words}; \
             give {} another value in the target's URL",
            default.name
        ),
        None => format!(
            "the target: the server rejects a setting: {words}; check its name and value in the \
             server's manual, or leave it out"
        ),
    }
}

/// Returns the part of a server's message which names an unknown or invalid setting, without time
/// and program; `None` if the error is about something else.
fn refused_setting(error: &ServerError) -> Option<&str> {
    const WORDS: [&str; 5] = [
        "unknown variable",
        "Unknown suffix",
        "Error while setting value",
        "unrecognized configuration parameter",
        "invalid value for parameter",
    ];
    if error.kind != ServerErrorKind::Ended {
        return None;
    }
    let position = |line: &'_ str| WORDS.iter().find_map(|words| line.find(words));
    let found = error.text.lines().find_map(|line| Some(&line[position(line)?..]));
    found.map(|words| words.trim_end_matches([' ', '.']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_the_server_refuses_is_reported_in_a_sentence() {
        let asked = [("inodb-x".to_owned(), "1".to_owned())];
        let check = |log: &str, expect: &str| {
            let text = format!(
                "creating the data directory ended with code 7; the end of its log:\n{log}\nAborting"
            );
            let error = ServerError { kind: ServerErrorKind::Ended, text };
            let Error::Usage(shown) = start_error(error, &asked) else {
                panic!("{log} is a failure")
            };
            assert!(shown.contains(expect) && !shown.contains('\n'), "{shown}");
        };
        check(
            "0 [ERROR] mariadbd: unknown variable 'inodb_x=1'",
            "rejects a setting: unknown variable 'inodb_x=1'; check",
        );
        check(
            "[ERROR] [MY-000067] [Server] unknown variable 'max_connections=2000'.",
            "a default of dbdyno's for managed servers: unknown variable 'max_connections=2000'; \
             give max_connections another value",
        );
        check(
            "2026 GMT [9] FATAL:  unrecognized configuration parameter \"work_memory\"",
            "setting: unrecognized configuration parameter \"work_memory\"; check",
        );
        let text =
            "PostgreSQL exited while starting; the end of its log:\nout of memory".to_owned();
        let error = ServerError { kind: ServerErrorKind::Ended, text };
        assert!(matches!(start_error(error, &[]), Error::Failed(_)));
    }
}
