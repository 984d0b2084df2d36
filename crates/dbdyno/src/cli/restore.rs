//! `dbdyno restore`: restores settings of servers, and their settings files, that a killed dbdyno
//! has left changed. Other commands report them when they start.

use app::Error;
use app::settings::{
    Fate, Left, RestoreOptions, Restored, forget, forget_files, left, left_files,
    restore as set_back, restore_file,
};
use clap::{Arg, ArgAction, ArgMatches, Command};
use drivers::server_of;
use model::{ChangedFile, ChangedSetting, Target};
use serde_json::{Value, json};

use super::signals::stop_on_signals;
use super::{DONE, FAILED, Outcome, flags, hosts, password};
use crate::shell::Shell;

pub(crate) fn command() -> Command {
    let switch = |name: &'static str, long: &'static str, help: &'static str| {
        Arg::new(name).long(long).action(ArgAction::SetTrue).help(help)
    };
    let command =
        Command::new("restore")
            .about("Restores server settings that a killed dbdyno has left changed")
            .arg(Arg::new("target").long("target").value_name("URL").help(
                "Server to restore, and the user to sign in as [default: all servers, each as the \
                 user who changed it]",
            ))
            .arg(switch("dry_run", "dry-run", "Show what would be restored, and change nothing"))
            .arg(Arg::new("restart_command").long("restart-command").value_name("COMMAND").help(
                "Command that restarts the server of a settings file [default: that of the run]",
            ))
            .args(hosts::hub_flags())
            .arg(switch("force", "force", "Also restore settings that somebody else changed since"))
            .arg(
                Arg::new("forget")
                    .long("forget")
                    .value_name("NAME")
                    .num_args(0..)
                    .conflicts_with_all(["dry_run", "force"])
                    .help(
                        "Forget these settings, or all that are left, without changing the server: \
                     what it does not set back would be told of for ever",
                    ),
            );
    password::add(command)
}

pub(crate) fn restore(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let store = flags::store_path(matches, shell)?;
    let (mut all, mut files) = (left(&store)?, left_files(&store)?);
    let wanted = matches.get_one::<String>("target").map(|url| Target::parse(url));
    let wanted = wanted.transpose();
    let wanted = wanted.map_err(|bad| Error::Usage(format!("--target: {bad}")))?;
    if let Some(target) = &wanted {
        let server = server_of(target);
        all.retain(|left| left.entry.server == server);
        files.retain(|left| left.entry.server == server);
    }
    if let Some(names) = matches.get_many::<String>("forget") {
        let names: Vec<&String> = names.collect();
        let (all, files) = named(all, files, &names)?;
        let restored = All { settings: forget(&store, all)?, files: forget_files(&store, files)? };
        return report(&restored, wanted.is_some(), matches, shell);
    }
    let options =
        RestoreOptions { dry_run: matches.get_flag("dry_run"), force: matches.get_flag("force") };
    let stop = stop_on_signals(shell);
    let mut restored = All::default();
    // Files first: a server that does not start with a changed file answers no question.
    for (target, changed) in by_server(files, wanted.as_ref())? {
        let mut target = target;
        password::give(&mut target, matches, shell)?;
        let command = matches.get_one::<String>("restart_command").map(String::as_str);
        for file in changed {
            let agent = file.entry.agent.as_deref();
            let by_agent = agent.and_then(|name| hosts::restart_by(name, matches, shell));
            let by = (command, by_agent);
            restored.files.push(restore_file(&store, &target, file, by, options, &stop));
        }
    }
    for (target, changed) in by_server(all, wanted.as_ref())? {
        let mut target = target;
        password::give(&mut target, matches, shell)?;
        restored.settings.extend(set_back(&store, &target, changed, options, &stop));
    }
    report(&restored, wanted.is_some(), matches, shell)
}

/// What became of all entries of the restore journal.
#[derive(Default)]
struct All {
    settings: Vec<Restored>,
    files: Vec<Restored<ChangedFile>>,
}

impl All {
    fn fates(&self) -> impl Iterator<Item = &Fate> {
        let settings = self.settings.iter().map(|one| &one.fate);
        settings.chain(self.files.iter().map(|one| &one.fate))
    }
}

/// An entry of the restore journal, as this command names and groups it.
trait Entry {
    /// Target through which the entry was made, its server, and the entry's name.
    fn place(&self) -> (&str, &str, &str);
}

impl Entry for ChangedSetting {
    fn place(&self) -> (&str, &str, &str) {
        (&self.target, &self.server, &self.name)
    }
}

impl Entry for ChangedFile {
    fn place(&self) -> (&str, &str, &str) {
        (&self.target, &self.server, &self.path)
    }
}

/// Selects the settings and files with these names from those left changed, ignoring case; all of
/// them if no name is given. Fails if none of them has a given name.
fn named(
    all: Vec<Left>,
    files: Vec<Left<ChangedFile>>,
    names: &[&String],
) -> Result<(Vec<Left>, Vec<Left<ChangedFile>>), Error> {
    let (all, files) = (Named { all, names }, Named { all: files, names });
    if let Some(name) = names.iter().find(|name| !all.has(name) && !files.has(name)) {
        return Err(Error::Usage(format!(
            "--forget: no setting {name} is left changed; 'dbdyno restore --dry-run' lists those \
             that are"
        )));
    }
    Ok((all.selected(), files.selected()))
}

/// Entries of which those with some names are selected.
struct Named<'a, T> {
    all: Vec<Left<T>>,
    names: &'a [&'a String],
}

impl<T: Entry> Named<'_, T> {
    fn has(&self, name: &str) -> bool {
        self.all.iter().any(|left| left.entry.place().2.eq_ignore_ascii_case(name))
    }

    fn selected(self) -> Vec<Left<T>> {
        let is_it = |left: &Left<T>, name: &String| left.entry.place().2.eq_ignore_ascii_case(name);
        let mut all = self.all;
        all.retain(|left| self.names.is_empty() || self.names.iter().any(|name| is_it(left, name)));
        all
    }
}

/// Prints the outcome for each setting. The exit code is that of a failure if a setting stays
/// changed. `is_of_server` says that only the settings of one server are restored.
fn report(restored: &All, is_of_server: bool, matches: &ArgMatches, shell: &Shell) -> Outcome {
    if flags::is_json(matches) {
        let rows: Vec<Value> = restored.settings.iter().map(row).collect();
        let files: Vec<Value> = restored.files.iter().map(file_row).collect();
        let all = json!({"schema": "dbdyno.restore/1", "settings": rows, "files": files});
        shell.print(&format!("{all:#}\n"))?;
    } else if restored.fates().next().is_none() {
        let which = if is_of_server { "that" } else { "a" };
        shell.print(&format!("no settings of {which} server are left changed\n"))?;
    } else {
        let files: String = restored.files.iter().map(file_line).collect();
        shell.print(&files)?;
        shell.print(&restored_lines(&restored.settings))?;
    }
    let is_done =
        |fate: &Fate| !matches!(fate, Fate::ChangedSince | Fate::InUse(_) | Fate::Failed(_));
    Ok(if restored.fates().all(is_done) { DONE } else { FAILED })
}

/// Entries of one server, with the target by which it is reached.
type OfServer<T> = (Target, Vec<Left<T>>);

/// Groups entries by server. The target of a group is `wanted`, or else that of the run that made
/// the first entry. Fails if a stored target cannot be parsed.
fn by_server<T: Entry>(
    all: Vec<Left<T>>,
    wanted: Option<&Target>,
) -> Result<Vec<OfServer<T>>, Error> {
    let mut servers: Vec<OfServer<T>> = Vec::new();
    for left in all {
        let (target, server, name) = left.entry.place();
        let known = servers.iter_mut().find(|(target, _)| server_of(target) == server);
        if let Some((_, changed)) = known {
            changed.push(left);
            continue;
        }
        let target = match wanted {
            Some(target) => target.clone(),
            None => Target::parse(target).map_err(|bad| {
                Error::Failed(format!("the target of {name} of {target} is damaged: {bad}"))
            })?,
        };
        servers.push((target, vec![left]));
    }
    Ok(servers)
}

/// Formats one line per setting, or a single line for all settings of a server that fail for the
/// same reason before their values are read.
fn restored_lines(restored: &[Restored]) -> String {
    let is_same = |a: &Restored, b: &Restored| {
        a.found.is_none() && a.fate == b.fate && a.entry.server == b.entry.server
    };
    let parts = restored.chunk_by(is_same).map(|same| match same {
        [one] => restored_line(one),
        several => {
            let first = &several[0].entry;
            let names: Vec<&str> = several.iter().map(|one| one.entry.name.as_str()).collect();
            let fate = match &several[0].fate {
                Fate::Failed(why) => failed(why),
                Fate::Forgotten => "forgotten".to_owned(),
                other => format!("{other:?}"),
            };
            format!("{} of {}: {fate}\n", names.join(", "), first.target)
        }
    });
    parts.collect()
}

fn restored_line(one: &Restored) -> String {
    let setting = &one.entry;
    let now = one.found.as_deref().unwrap_or("unknown");
    let (before, purpose) = (&setting.before, &setting.purpose);
    if one.fate == Fate::Forgotten {
        return format!("{setting}: forgotten; {before} before the {purpose}\n");
    }
    let set_to = format!("set it to {}", setting.asked);
    format!("{setting}: {now} now, {before} before the {purpose}: {}\n", words(&one.fate, &set_to))
}

fn file_line(one: &Restored<ChangedFile>) -> String {
    let file = &one.entry;
    let is_created = file.before.is_none() && file.agent.is_none();
    let before = if is_created { "created" } else { "changed" };
    let fate = match &one.fate {
        Fate::ToBeSetBack => match &file.agent {
            Some(agent) => format!("would be restored by the agent {agent}, if it has not been"),
            None => format!("would be restored, and the server restarted by: {}", file.restart),
        },
        Fate::SetBack => "restored, and the server restarted".to_owned(),
        fate => words(fate, "changed it"),
    };
    format!("{file}: {before} by the {}: {fate}\n", file.purpose)
}

/// Returns what became of an entry. `what` is what dbdyno did to it.
fn words(fate: &Fate, what: &str) -> String {
    match fate {
        Fate::ToBeSetBack => "would be restored".to_owned(),
        Fate::SetBack => "restored".to_owned(),
        Fate::WasBack => "was restored already".to_owned(),
        Fate::ChangedSince => format!(
            "NOT RESTORED: dbdyno {what}, and somebody else has changed it since; --force restores \
             it"
        ),
        Fate::InUse(process) => format!("NOT RESTORED: process {process} uses it"),
        Fate::Forgotten => "forgotten".to_owned(),
        Fate::Failed(why) => failed(why),
    }
}

/// Returns the text for a setting that cannot be restored, with the flag that drops the setting
/// from the restore journal.
fn failed(why: &str) -> String {
    format!("FAILED: {why}; --forget drops it from the journal")
}

fn row(one: &Restored) -> Value {
    let (fate, why) = fate_of(&one.fate);
    let setting = &one.entry;
    json!({
        "target": setting.target,
        "name": setting.name,
        "before": setting.before,
        "asked": setting.asked,
        "found": one.found,
        "changed_unix_ms": setting.since_unix_ms,
        "purpose": setting.purpose,
        "fate": fate,
        "why": why,
    })
}

fn file_row(one: &Restored<ChangedFile>) -> Value {
    let (fate, why) = fate_of(&one.fate);
    let file = &one.entry;
    json!({
        "target": file.target,
        "path": file.path,
        "restart_command": file.restart,
        "changed_unix_ms": file.since_unix_ms,
        "purpose": file.purpose,
        "fate": fate,
        "why": why,
    })
}

/// Returns what became of an entry as a word of JSON, and the reason if it failed.
fn fate_of(fate: &Fate) -> (&'static str, Option<&str>) {
    match fate {
        Fate::ToBeSetBack => ("to_be_set_back", None),
        Fate::SetBack => ("set_back", None),
        Fate::WasBack => ("was_back", None),
        Fate::ChangedSince => ("changed_since", None),
        Fate::InUse(_) => ("in_use", None),
        Fate::Forgotten => ("forgotten", None),
        Fate::Failed(why) => ("failed", Some(why)),
    }
}

/// Reports settings that a killed process has left changed, before commands that use data or stored
/// runs. On a terminal, `dbdyno run` also offers to restore them.
pub(crate) fn offer(matches: &ArgMatches, shell: &Shell) {
    let Some((name, sub)) = matches.subcommand() else { return };
    let is_resumed = sub.subcommand_name() == Some("resume");
    // A resumed experiment takes over its own.
    if !matches!(name, "run" | "build" | "check" | "settle" | "drop" | "runs" | "experiments")
        || is_resumed
    {
        return;
    }
    // Commands that need the store report its problems.
    let Ok(store) = flags::store_path(super::innermost(matches), shell) else { return };
    let (Ok(mut all), Ok(mut files)) = (left(&store), left_files(&store)) else { return };
    all.retain(|left| left.process.is_none());
    files.retain(|left| left.process.is_none());
    for Left { entry, .. } in &files {
        shell.say(&format!(
            "dbdyno: an earlier {} has left the settings file {} changed, or has not restarted its \
             server; do both with:\n  dbdyno restore --target '{}'{}",
            entry.purpose,
            entry.path,
            entry.target,
            password_hint(Target::parse(&entry.target).is_ok_and(|target| target.user.is_some()))
        ));
    }
    let Ok(servers) = by_server(all, None) else { return };
    for (target, changed) in servers {
        let settings = changed.iter().map(|left| {
            let setting = &left.entry;
            format!("{} ({} before)", setting.name, setting.before)
        });
        let settings = settings.collect::<Vec<_>>().join(", ");
        let purpose = &changed[0].entry.purpose;
        shell.say(&format!(
            "dbdyno: a killed {purpose} has left settings of {target} changed: {settings}; \
             restore them with:\n  dbdyno restore --target '{target}'{}",
            password_hint(target.user.is_some())
        ));
        if name == "run" && is_agreed(shell) {
            let mut target = target;
            if let Err(error) = password::give(&mut target, sub, shell) {
                shell.say(&format!("dbdyno: {error}"));
                continue;
            }
            let options = RestoreOptions { dry_run: false, force: false };
            let stop = app::Stop::default();
            let restored = set_back(&store, &target, changed, options, &stop);
            restored.iter().for_each(|one| shell.say(restored_line(one).trim_end()));
        }
    }
}

/// Returns the remark behind a command for a target with or without a user.
fn password_hint(has_user: bool) -> &'static str {
    if has_user { "  # --ask-password if the user has one" } else { "" }
}

/// Asks on the terminal whether to restore the settings; false without a terminal or a readable
/// answer.
fn is_agreed(shell: &Shell) -> bool {
    if !shell.writes_terminal() || !shell.reads_terminal() {
        return false;
    }
    shell.ask("Restore them now? [Y/n] ");
    // An unreadable answer means no.
    let mut answer = String::new();
    let is_read = std::io::stdin().read_line(&mut answer).is_ok_and(|n| n > 0);
    is_read && matches!(answer.trim().to_ascii_lowercase().as_str(), "" | "y" | "yes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_sign_in_is_reported_once_for_all_settings_of_a_server() {
        let one = |name: &str, server: &str, found: Option<&str>, fate: Fate| Restored {
            entry: ChangedSetting {
                server: server.to_owned(),
                target: format!("{server}/d"),
                name: name.to_owned(),
                before: "1".to_owned(),
                kept_before: None,
                asked: "2".to_owned(),
                now: None,
                since_unix_ms: 0,
                purpose: "settling".to_owned(),
            },
            found: found.map(str::to_owned),
            fate,
        };
        let denied = || Fate::Failed("denied".to_owned());
        let all = [
            one("a", "mariadb://h", None, denied()),
            one("b", "mariadb://h", None, denied()),
            one("a", "mariadb://i", Some("2"), Fate::SetBack),
            one("b", "mariadb://i", Some("2"), Fate::SetBack),
        ];
        let text = restored_lines(&all);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert_eq!(
            lines[0],
            "a, b of mariadb://h/d: FAILED: denied; --forget drops it from the journal"
        );
    }
}
