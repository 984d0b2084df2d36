//! Changes a settings file of a server on this host, restarts the server, and restores the file.
//!
//! The file's contents are in the restore journal before it is changed. Not here: when that is done
//! (`at_start`), and processes that do it for a run on another host.

use std::collections::BTreeMap;
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, PermissionsExt as _, fchown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use files::Unfinished;
use model::{ChangedFile, FileBefore, Host, SettingsByFile, Target, plain_setting};
use monitor::{ServerProcess, wall_clock};
use rustix::fs::MemfdFlags;
use serde::{Deserialize, Serialize};
use store::{Changed, Store};

use crate::error::Error;

/// Largest size of a settings file, in bytes.
const FILE_BYTES_MAX: u64 = 1 << 20;
/// Longest time that a restart command may take.
const RESTARTS_WITHIN: Duration = Duration::from_secs(300);
/// Longest time that a server's program may take to read its configuration.
const CHECKS_WITHIN: Duration = Duration::from_secs(20);
/// Interval of looks at a program that runs, in milliseconds.
const LOOK_EVERY_MS: u64 = 20;
/// Most characters of what a failed program has printed that an error repeats.
const PRINTED_MOST: usize = 400;
/// Bytes of what a program has printed that are looked at, from the end.
const PRINTED_BYTES_MAX: u64 = 64 << 10;

/// A server whose settings file is to be changed, as its host needs to know it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Controlled {
    /// Identifier of the server, which is the same for all its databases and users.
    pub(crate) server: String,
    /// Target of the run, without its password.
    pub(crate) target: String,
    /// Addresses of the server, as clients use them.
    pub(crate) hosts: Vec<Host>,
    /// Path of the file that the server itself writes; `None` if it writes none.
    pub(crate) own_file: Option<String>,
    /// Purpose of the change for the restore journal.
    pub(crate) purpose: String,
}

impl Controlled {
    /// Returns the server of an entry of the restore journal.
    pub(super) fn for_restoring(entry: &ChangedFile) -> Controlled {
        Controlled {
            server: entry.server.clone(),
            target: entry.target.clone(),
            hosts: Vec::new(),
            own_file: Some(entry.path.clone()),
            purpose: entry.purpose.clone(),
        }
    }
}

/// Changes a server's settings file and restarts the server, on the server's host.
pub(crate) trait Control: Send {
    /// Adds settings behind the original contents of the file, which are in the restore journal
    /// then. Fails if the server's own program refuses them; the file is restored then.
    fn write(&mut self, settings: &[(String, String)]) -> Result<(), Error>;

    /// Restarts the server. On return its command has ended without an error.
    fn restart(&mut self) -> Result<(), Error>;

    /// Restores the file byte for byte. The restore journal still knows it.
    fn put_back(&mut self) -> Result<(), Error>;

    /// Removes the file from the restore journal, because the server runs with the restored file.
    fn forget(&mut self) -> Result<(), Error>;

    /// Returns the path of the file, and its host if that is another one.
    fn place(&self) -> String;

    /// Whether the file was changed and not restored, by this process or an earlier one, so that
    /// the server may run with it.
    fn is_changed(&self) -> bool;
}

/// Reaches the host of a server.
pub(crate) trait ReachControl: Send + Sync {
    /// Looks at the server's settings file on its host, and changes nothing. `journal` is the store
    /// with the restore journal of the run.
    fn reach(&self, journal: &Path, controlled: Controlled) -> Result<Box<dyn Control>, Error>;
}

/// This host, with a restart command and a settings file of the user.
pub(super) struct OnThisHost {
    pub(super) command: String,
    /// Path of the settings file; `None` for the one that the server itself writes.
    pub(super) file: Option<PathBuf>,
}

impl ReachControl for OnThisHost {
    fn reach(&self, journal: &Path, controlled: Controlled) -> Result<Box<dyn Control>, Error> {
        let here = Here::new(journal, &controlled, &self.command, self.file.as_deref())?;
        Ok(Box::new(here))
    }
}

/// Returns the first of these settings by which the server would start programs, load code, or use
/// other files.
pub(crate) fn dangerous<'a>(here: &Here, settings: &'a [(String, String)]) -> Option<&'a str> {
    let is_it = |name: &&str| {
        let plain = plain_setting(name);
        // MySQL takes these before a name, and a beginning that only one name has.
        let mut rest = plain.as_str();
        let prefixes = ["loose_", "enable_", "disable_", "skip_", "maximum_"];
        while let Some(bare) = prefixes.iter().find_map(|prefix| rest.strip_prefix(prefix)) {
            rest = bare;
        }
        let of = |name: &str| here.by.dangerous.iter().any(|known| known.starts_with(name));
        of(rest) || of(&plain)
    };
    settings.iter().map(|(name, _)| name.as_str()).find(is_it)
}

/// Control of a server on this host.
pub(crate) struct Here {
    journal: PathBuf,
    hosts: Vec<Host>,
    by: SettingsByFile,
    programs: Vec<String>,
    entry: ChangedFile,
    is_changed: bool,
    /// Locked as long as this value lives, so that no other process changes the file, whatever its
    /// store is.
    _lock: File,
}

impl Here {
    /// Looks at the file that will be changed, and changes nothing. Fails if it cannot be read, or
    /// if another process changes settings files in its folder.
    pub(crate) fn new(
        journal: &Path,
        controlled: &Controlled,
        command: &str,
        file: Option<&Path>,
    ) -> Result<Here, Error> {
        let target = Target::parse(&controlled.target).map_err(Error::failed)?;
        let by = drivers::of_target(&target)
            .and_then(|entry| entry.product.administration.settings)
            .map(|by| by.file);
        let by = by.ok_or_else(|| Error::Usage(format!("{target} has no settings of a server")))?;
        let programs = drivers::programs_of(&target);
        let path = path_of(controlled, file)?;
        let store = Store::open(journal)?;
        let known = store.changed_files()?;
        // An entry of an agent is that of a run, which may be in the same store.
        let is_it =
            |known: &Changed<ChangedFile>| known.entry.path == path && known.entry.agent.is_none();
        let now = look(Path::new(&path))?;
        let lock = lock_folder_of(Path::new(&path))?;
        let (before, written, is_changed) = match known.into_iter().find(is_it) {
            Some(Changed { entry, process: Some(process) }) => {
                return Err(Error::Failed(format!(
                    "{entry} is being changed by process {process}: retry when it has ended"
                )));
            }
            // A killed process has left it: what was before is kept.
            Some(Changed { entry, process: None }) => (entry.before, entry.written, true),
            None => {
                let written = contents(now.as_ref());
                (now, written, false)
            }
        };
        let entry = ChangedFile {
            server: controlled.server.clone(),
            target: controlled.target.clone(),
            written,
            before,
            path,
            restart: command.to_owned(),
            agent: None,
            since_unix_ms: wall_clock::unix_ms(),
            purpose: controlled.purpose.clone(),
        };
        let (journal, hosts) = (journal.to_owned(), controlled.hosts.clone());
        Ok(Here { journal, hosts, by, programs, entry, is_changed, _lock: lock })
    }

    /// Lets the server's own program read its configuration, and returns the errors that it prints,
    /// or the reason why it failed. Empty if the server does not run, or if this user may not see
    /// its program.
    fn check(&self) -> Vec<String> {
        let Some(process) = monitor::server_process(&self.hosts, &self.programs) else {
            return Vec::new();
        };
        let ServerProcess { program, arguments, environment, folder, user, group } = process;
        let mut command = Command::new(&program);
        command.args((self.by.check)(&arguments)).current_dir(folder);
        command.env_clear().envs(environment);
        // Servers refuse to be started by root, and files may be its user's alone.
        if rustix::process::geteuid().is_root() {
            command.uid(user).gid(group);
        }
        match ended(command, CHECKS_WITHIN) {
            // Some programs print an error, and leave the setting out.
            Ok(printed) => errors_in(&printed),
            Err(Ended::NotStarted(_)) => Vec::new(),
            Err(why) => vec![without_time(&why.to_string())],
        }
    }
}

/// Returns the first error of [`Here::check`] that was not among those `before`.
fn new_error(before: &[String], now: Vec<String>) -> Option<String> {
    now.into_iter().find(|line| !before.contains(line))
}

impl Control for Here {
    fn write(&mut self, settings: &[(String, String)]) -> Result<(), Error> {
        let (mut bytes, errors) = (restored(&self.entry)?, self.check());
        if !bytes.is_empty() && !bytes.ends_with(b"\n") {
            bytes.push(b'\n');
        }
        bytes.extend_from_slice((self.by.lines)(settings).as_bytes());
        self.entry.written = bytes;
        Store::open(&self.journal)?.note_file(&self.entry)?;
        let path = Path::new(&self.entry.path);
        let written = write(path, &self.entry.written, self.entry.before.as_ref());
        let refused = match written {
            Err(error) => Some(unwritable(path, &error)),
            Ok(()) => new_error(&errors, self.check()).map(|why| {
                let restored = self.put_back().err();
                let also = restored.map_or(String::new(), |also| format!("; {also}"));
                Error::Usage(format!(
                    "the server's own program refuses these settings: {why}{also}"
                ))
            }),
        };
        if let Some(error) = refused {
            // The server may still run with an earlier change.
            if !self.is_changed {
                self.forget()?;
            }
            return Err(error);
        }
        self.is_changed = true;
        Ok(())
    }

    fn restart(&mut self) -> Result<(), Error> {
        restart(&self.entry.restart)
    }

    fn put_back(&mut self) -> Result<(), Error> {
        put_back(&self.entry)
    }

    fn forget(&mut self) -> Result<(), Error> {
        self.is_changed = false;
        Ok(Store::open(&self.journal)?.forget_file(&self.entry)?)
    }

    fn place(&self) -> String {
        self.entry.path.clone()
    }

    fn is_changed(&self) -> bool {
        self.is_changed
    }
}

/// Locks the folder of a settings file, without a file of its own in it. Fails if another process
/// has locked it.
pub(super) fn lock_folder_of(path: &Path) -> Result<File, Error> {
    let folder = files::folder_of(path);
    let opened = File::open(folder).map_err(|error| unreadable(path, &error))?;
    match rustix::fs::flock(&opened, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(opened),
        Err(_) => Err(Error::Failed(format!(
            "another dbdyno is changing the settings of this server ({}): retry when it has ended",
            path.display()
        ))),
    }
}

/// Variables with which users give secrets to dbdyno.
const SECRETS: [&str; 5] = [
    "DBDYNO_PASSWORD",
    "DBDYNO_PUSH_TOKEN",
    "DBDYNO_TOKEN",
    "DBDYNO_WEB_PASSWORD",
    "DBDYNO_WEB_VIEWER_PASSWORD",
];

/// Keeps secrets of dbdyno from a program that is started with this process's environment.
pub(crate) fn without_secrets(command: &mut Command) -> &mut Command {
    SECRETS.iter().fold(command, |command, name| command.env_remove(name))
}

/// Executes a command that restarts a server. Fails with what it printed if it fails.
pub(super) fn restart(command: &str) -> Result<(), Error> {
    let mut shell = Command::new("/bin/sh");
    without_secrets(&mut shell).args(["-c", command]);
    ended(shell, RESTARTS_WITHIN)
        .map(drop)
        .map_err(|why| Error::Failed(format!("the restart command '{command}' failed: {why}")))
}

/// Restores a settings file byte for byte, with its owner and permissions. If somebody else has
/// changed it since, only what dbdyno has added is taken out.
pub(super) fn put_back(file: &ChangedFile) -> Result<(), Error> {
    let (path, restored) = (Path::new(&file.path), restored(file)?);
    let is_gone = restored.is_empty() && file.before.is_none();
    let done = match is_gone {
        false => write(path, &restored, file.before.as_ref()),
        true => match fs::remove_file(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        },
    };
    done.map_err(|error| unwritable(path, &error))
}

/// Returns whether a settings file has its old contents, and whether it has the settings that
/// dbdyno has written. A server that writes the file itself has other comments and another order.
pub(super) fn state(file: &ChangedFile) -> Result<(bool, bool), Error> {
    let now = look(Path::new(&file.path))?;
    let is_back = now.is_some() == file.before.is_some()
        && contents(now.as_ref()) == contents(file.before.as_ref());
    Ok((is_back, settings_in(&contents(now.as_ref())) == settings_in(&file.written)))
}

/// Returns the contents with which a file is restored: those of before or, if somebody else has
/// changed it since, what it has now without the lines that dbdyno has added. A server that writes
/// the file itself has dropped what they replaced, which then comes last again.
fn restored(file: &ChangedFile) -> Result<Vec<u8>, Error> {
    let before = contents(file.before.as_ref());
    let now = contents(look(Path::new(&file.path))?.as_ref());
    if now == before || settings_in(&now) == settings_in(&file.written) {
        return Ok(before);
    }
    let (old, new) = (settings_in(&before), settings_in(&file.written));
    let ours = |line: &str| {
        let (name, line) = named(line);
        new.get(&name) == Some(&line) && old.get(&name) != Some(&line)
    };
    let text = String::from_utf8_lossy(&now).into_owned();
    let mut kept: Vec<&str> = text.lines().filter(|line| !ours(line.trim())).collect();
    let left = settings_in(kept.join("\n").as_bytes());
    let is_lost = |(name, line): &(&String, &String)| {
        !left.contains_key(*name) && new.get(*name) != Some(*line)
    };
    kept.extend(old.iter().filter(is_lost).map(|(_, line)| line.as_str()));
    Ok(kept.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect())
}

/// Returns the last line of each setting in a file.
fn settings_in(bytes: &[u8]) -> BTreeMap<String, String> {
    let text = String::from_utf8_lossy(bytes);
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(named).collect()
}

/// Returns the name of the setting in a line, and the line.
fn named(line: &str) -> (String, String) {
    let name = line.split_once('=').map_or(line, |(name, _)| name);
    (name.trim().to_ascii_lowercase(), line.to_owned())
}

fn path_of(controlled: &Controlled, file: Option<&Path>) -> Result<String, Error> {
    let own = controlled.own_file.as_deref().map(Path::new);
    let path = file.or(own).ok_or_else(|| {
        Error::Usage(format!(
            "{} reads settings from files that it does not write itself: give a file that it reads \
             at its start, such as --settings-file /etc/mysql/conf.d/zz-dbdyno.cnf",
            controlled.target
        ))
    })?;
    match path.to_str() {
        Some(text) if path.is_absolute() => Ok(text.to_owned()),
        _ => {
            Err(Error::Usage(format!("--settings-file {}: name an absolute path", path.display())))
        }
    }
}

fn contents(before: Option<&FileBefore>) -> Vec<u8> {
    before.map(|before| before.contents.clone()).unwrap_or_default()
}

/// Reads a settings file; `None` if there is none. Fails if it cannot be read, or if there is no
/// folder for it.
fn look(path: &Path) -> Result<Option<FileBefore>, Error> {
    let unreadable = |error: io::Error| unreadable(path, &error);
    match files::read_bytes(path, FILE_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let folder = files::folder_of(path);
            fs::metadata(folder).map_err(unreadable).map(|_| None)
        }
        read => {
            let contents = read.map_err(unreadable)?;
            let there = fs::metadata(path).map_err(unreadable)?;
            let (mode, user, group) = (there.mode() & 0o7777, there.uid(), there.gid());
            Ok(Some(FileBefore { contents, mode, user, group }))
        }
    }
}

/// Replaces a file at once, with owner and permissions of the one before; a new one can be read by
/// everybody, as the server's user must read it.
fn write(path: &Path, bytes: &[u8], before: Option<&FileBefore>) -> io::Result<()> {
    let mode = before.map_or(0o644, |before| before.mode);
    let mut new = Unfinished::beside(path, 0o600)?;
    new.file().write_all(bytes)?;
    if let Some(before) = before {
        fchown(&*new.file(), Some(before.user), Some(before.group))?;
    }
    new.file().set_permissions(Permissions::from_mode(mode))?;
    new.replace(path)
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    Error::Usage(format!(
        "the settings file {} cannot be read here: {error}; run dbdyno as a user who may change it, \
         or let an agent on the server's host do it (--control-agent)",
        path.display()
    ))
}

fn unwritable(path: &Path, error: &io::Error) -> Error {
    Error::Failed(format!(
        "the settings file {} cannot be written: {error}; run dbdyno as a user who may change it",
        path.display()
    ))
}

/// How a program ended that should have succeeded.
enum Ended {
    NotStarted(io::Error),
    Late(Duration),
    /// It failed, with its exit status and the end of what it printed.
    Failed(String),
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Ended::NotStarted(error) => write!(f, "it cannot be started: {error}"),
            Ended::Late(limit) => write!(f, "it has not ended within {} s", limit.as_secs()),
            Ended::Failed(how) => f.write_str(how),
        }
    }
}

/// Executes a program, and waits until it has ended. What it prints goes to a file, so that a
/// daemon that it starts keeps nobody waiting.
fn ended(mut command: Command, within: Duration) -> Result<String, Ended> {
    let printed = rustix::fs::memfd_create("printed", MemfdFlags::CLOEXEC)
        .map_err(|error| Ended::NotStarted(error.into()))?;
    let printed = File::from(printed);
    let to = printed.try_clone().map_err(Ended::NotStarted)?;
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(to);
    let mut child = command.process_group(0).spawn().map_err(Ended::NotStarted)?;
    let began = wall_clock::now();
    let status = loop {
        match child.try_wait().map_err(Ended::NotStarted)? {
            Some(status) => break status,
            None if began.elapsed() > within => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Ended::Late(within));
            }
            None => wall_clock::rest_ms(LOOK_EVERY_MS),
        }
    };
    match status.success() {
        true => Ok(end_of(&printed)),
        false => Err(Ended::Failed(said(&end_of(&printed), status))),
    }
}

/// Returns the end of what a program has printed.
fn end_of(printed: &File) -> String {
    let length = printed.metadata().map_or(0, |there| there.len());
    let mut end = vec![0; length.min(PRINTED_BYTES_MAX) as usize];
    let begin = length - end.len() as u64;
    match printed.read_exact_at(&mut end, begin) {
        Ok(()) => String::from_utf8_lossy(&end).into_owned(),
        Err(_) => String::new(),
    }
}

/// Returns the lines that are errors, without their times.
fn errors_in(printed: &str) -> Vec<String> {
    printed.lines().filter(|line| line.contains("[ERROR]")).map(without_time).collect()
}

/// Leaves out the time with which a line of a log begins.
fn without_time(line: &str) -> String {
    let is_time = |c: char| c.is_ascii_digit() || "-:. TZ".contains(c);
    line.trim_start_matches(is_time).trim_start_matches("UTC").trim().to_owned()
}

/// Returns the line that says most of what a failed program has printed: the first that names a
/// bad setting, or that is an error, or the last one; else its exit status.
fn said(text: &str, status: ExitStatus) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let has_any =
        |words: &[&str]| lines().find(|line| words.iter().any(|word| line.contains(word)));
    let line = has_any(&["invalid", "unrecognized", "unknown", "must be"])
        .or_else(|| has_any(&["ERROR", "FATAL"]))
        .or_else(|| lines().next_back());
    match line {
        Some(line) => line.chars().take(PRINTED_MOST).collect(),
        None => status.to_string(),
    }
}
