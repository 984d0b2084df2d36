//! The hub's broker: a private `nats-server` with settings, certificates and a log of its own,
//! which ends with the hub.

use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use servers::Watchdog;

use crate::broker::Address;
use crate::credentials::write_text;
use crate::subjects::all_rights;

/// Folders in which packages install the program.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/usr/local/bin", "/usr/local/sbin"];
/// Largest message, in bytes.
const MESSAGE_BYTES_MAX: usize = 1 << 20;
/// Bytes that wait for a slow receiver before it is disconnected.
const PENDING_BYTES_MAX: usize = 64 << 20;

/// Returns the installed program; the error says how to install it.
pub(crate) fn find(named: Option<&Path>) -> Result<PathBuf, String> {
    match named {
        Some(path) if path.is_file() => Ok(path.to_owned()),
        Some(path) => Err(format!("there is no nats-server at {}", path.display())),
        None => {
            let mut all = FOLDERS.iter().map(|folder| Path::new(folder).join("nats-server"));
            all.find(|path| path.is_file()).ok_or_else(|| {
                "the hub needs nats-server, which is not installed: apt install nats-server, or \
                 name it with --nats-server PATH"
                    .to_owned()
            })
        }
    }
}

/// Files of the broker in the hub's folder.
pub(crate) struct Files {
    pub(crate) settings: PathBuf,
    pub(crate) chain: PathBuf,
    pub(crate) key: PathBuf,
    /// Certificates of those who are let in: the authority, and the tokens that have not expired.
    pub(crate) accepted: PathBuf,
    pub(crate) log: PathBuf,
}

impl Files {
    pub(crate) fn of(folder: &Path) -> Files {
        Files {
            settings: folder.join("broker.conf"),
            chain: folder.join("broker.pem"),
            key: folder.join("broker.key"),
            accepted: folder.join("accepted.pem"),
            log: folder.join("broker.log"),
        }
    }

    /// Writes the settings of the broker, which listens on this address. Every client must show a
    /// certificate, whose name decides what it may do. There is no page of statistics.
    pub(crate) fn write_settings(&self, listen: &Address) -> Result<(), String> {
        let quoted = |path: &Path| format!("{:?}", path.display().to_string());
        let listen = listen.host_and_port();
        let mut text = format!(
            "server_name: dbdyno\nlisten: \"{listen}\"\nmax_payload: {MESSAGE_BYTES_MAX}\n\
             max_pending: {PENDING_BYTES_MAX}\nping_interval: \"5s\"\nping_max: 3\n\
             tls {{\n  cert_file: {}\n  key_file: {}\n  ca_file: {}\n  verify_and_map: true\n  \
             timeout: 5\n}}\nauthorization {{\n  users: [\n",
            quoted(&self.chain),
            quoted(&self.key),
            quoted(&self.accepted),
        );
        let list = |all: &[String]| {
            let all: Vec<String> = all.iter().map(|subject| format!("{subject:?}")).collect();
            all.join(", ")
        };
        for rights in all_rights() {
            text += &format!(
                "    {{ user: {:?}, permissions: {{ publish: {{ allow: [{}] }}, subscribe: {{ \
                 allow: [{}] }} }} }}\n",
                rights.name,
                list(&rights.publish),
                list(&rights.subscribe),
            );
        }
        text += "  ]\n}\n";
        write_text(&self.settings, &text)
    }
}

/// A running broker, which ends when this is dropped.
pub(crate) struct BrokerProgram {
    child: Child,
    _watchdog: Watchdog,
    /// Last lines of its log that name an error.
    errors: Arc<Mutex<Vec<String>>>,
}

impl BrokerProgram {
    /// Starts the broker with the settings in its file.
    pub(crate) fn start(program: &Path, files: &Files) -> Result<BrokerProgram, String> {
        let failed = |error: io::Error| format!("{} cannot be started: {error}", program.display());
        let log = File::create(&files.log)
            .map_err(|error| format!("{} cannot be written: {error}", files.log.display()))?;
        let (output, input) = io::pipe().map_err(failed)?;
        let held = output.try_clone().map_err(failed)?;
        let child = Command::new(program)
            .arg("-c")
            .arg(&files.settings)
            .env_clear()
            .current_dir("/")
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(input.try_clone().map_err(failed)?)
            .stderr(input)
            .spawn()
            .map_err(failed)?;
        let watchdog = Watchdog::over_group(child.id(), held).map_err(failed)?;
        let errors = Arc::default();
        let kept = Arc::clone(&errors);
        let named = thread::Builder::new().name("broker-log".to_owned());
        named.spawn(move || follow(output, log, &kept)).map_err(failed)?;
        Ok(BrokerProgram { child, _watchdog: watchdog, errors })
    }

    /// Makes the broker read its settings and certificates again. Connections stay.
    pub(crate) fn reload(&self) {
        if let Some(process) = Pid::from_raw(self.child.id() as i32) {
            let _ = kill_process(process, Signal::HUP);
        }
    }

    /// Returns why the broker has ended; `None` while it runs.
    pub(crate) fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        let errors = self.errors.lock().unwrap_or_else(PoisonError::into_inner);
        Some(match errors.last() {
            Some(error) => error.clone(),
            None => format!("nats-server ended ({status})"),
        })
    }
}

impl Drop for BrokerProgram {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// Copies the broker's output into its log until it ends.
fn follow(output: PipeReader, mut log: File, errors: &Mutex<Vec<String>>) {
    for line in BufReader::new(output).lines().map_while(Result::ok) {
        let _ = writeln!(log, "{line}");
        let error = line.split_once("[FTL] ").or_else(|| line.split_once("nats-server: "));
        if let Some((_, error)) = error {
            let mut errors = errors.lock().unwrap_or_else(PoisonError::into_inner);
            errors.push(error.to_owned());
        }
    }
}
