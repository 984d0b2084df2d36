//! An agent: it joins a hub, and starts client processes for runs as far as its permissions allow.
//! It only dials out, and opens no port.
//!
//! Not here: what a client process does, and what it refuses (app).

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use app::Error;
use app::run::{Permissions, Work, version_of_ours};
use app::settings::restore_left_files;
use monitor::wall_clock;
use serde::{Deserialize, Serialize};
use store::Process;

use crate::broker::{Address, Broker, Connect, Listener, Message};
use crate::certificates::Seed;
use crate::conversation::Conversation;
use crate::credentials::{self, Credentials};
use crate::frame::Frame;
use crate::lock;
use crate::messages::{Answer, Ask, Here, Membership, Opening, Who, decode, encode};
use crate::random_word;
use crate::served::serve;
use crate::subjects::{HERE, JOIN, JOINED, RENEW, WHO, from_agent, to_agent, word_for};
use crate::this_host;
use crate::tls::{Shown, client_config};
use crate::token::Token;
use crate::unix_s;

/// Longest wait for the hub's answer to a request to join.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Interval at which the request is repeated.
const ASK_EVERY: Duration = Duration::from_millis(500);
/// Attempts to connect with a new certificate.
const ATTEMPTS: usize = 20;
/// Seconds before its expiry from which an agent asks for its next certificate.
const RENEW_BEFORE_S: u64 = crate::hub::VALID_S / 2;
/// Seconds between two requests for the next certificate.
const RENEW_EVERY_S: u64 = 60;
/// Number of ended conversations whose frames are known to be late ones.
const ENDED_MOST: usize = 1000;
/// Milliseconds between looks at whether the agent is to end.
const LOOK_EVERY_MS: u64 = 50;

/// How an agent joins, and what it allows.
pub struct AgentOptions {
    /// Folder for the agent's key and certificate.
    pub folder: PathBuf,
    /// Address of the hub.
    pub hub: Address,
    /// Token of the hub; `None` if the agent has joined in the last 24 hours.
    pub token: Option<Token>,
    /// Name of the agent; `None` for the name of its host.
    pub name: Option<String>,
    /// Permissions of runs on this host.
    pub permissions: Permissions,
    /// Largest number of bytes of results that wait for their delivery.
    pub spool_bytes: usize,
}

impl AgentOptions {
    /// Returns the name of the agent, and the path of the file with its key.
    fn name_and_file(&self) -> (String, PathBuf) {
        let name = self.name.clone().unwrap_or_else(default_name);
        let path = self.folder.join(format!("{name}.toml"));
        (name, path)
    }
}

/// State of an agent on disk, with which it connects again without the token.
#[derive(Clone, Serialize, Deserialize)]
struct Kept {
    name: String,
    place: u32,
    credentials: Credentials,
}

/// An agent that has joined.
pub struct Agent {
    worker: Arc<Worker>,
    broker: Broker,
    said: Receiver<String>,
    /// Locked as long as the agent runs, so that there is only one with its key.
    _lock: File,
}

/// The agent's work, on the thread of its connection and on one thread for each client process.
struct Worker {
    me: Weak<Worker>,
    permissions: Permissions,
    place: u32,
    name: String,
    spool_bytes: usize,
    conversations: Mutex<Conversations>,
    busy_with: Mutex<Option<String>>,
    said: Sender<String>,
    renewal: Renewal,
}

#[derive(Default)]
struct Conversations {
    open: HashMap<String, Arc<Conversation>>,
    ended: VecDeque<String>,
}

/// The certificate of the agent, and where it is kept.
struct Renewal {
    path: PathBuf,
    shown: Arc<Shown>,
    kept: Mutex<Kept>,
    asked_s: Mutex<u64>,
}

impl Agent {
    /// Joins the hub. Fails with a sentence if the hub cannot be reached, is another one than that
    /// of the token, or refuses the agent.
    pub fn join(options: AgentOptions) -> Result<Agent, Error> {
        let (name, path) = options.name_and_file();
        if !model::is_agent_name(&name) {
            return Err(Error::Usage(format!(
                "'{name}' is no name of an agent: give --name with letters, digits, '-' and '.'"
            )));
        }
        credentials::make_folder(&options.folder).map_err(Error::Failed)?;
        let lock = lock::take(
            &path.with_extension("lock"),
            || "an agent of this name runs here already: stop it, or give this one another --name",
        )?;
        let kept = match usable(&path, &options)? {
            Some(kept) => kept,
            None => {
                let token = options.token.as_ref().ok_or_else(no_token)?;
                let kept = enrol(&options.hub, token, &name)?;
                credentials::write(&path, &kept).map_err(Error::Failed)?;
                kept
            }
        };
        let broken = || Error::Failed(format!("{} was changed by hand: remove it", path.display()));
        let (authority, seed, certificate) = kept.credentials.secrets().ok_or_else(broken)?;
        let shown = Shown::new(certificate, &seed);
        let (said, sentences) = channel();
        let worker = Arc::new_cyclic(|me| Worker {
            me: me.clone(),
            permissions: options.permissions,
            place: kept.place,
            name: kept.name.clone(),
            spool_bytes: options.spool_bytes,
            conversations: Mutex::default(),
            busy_with: Mutex::default(),
            said,
            renewal: Renewal {
                path,
                shown: Arc::clone(&shown),
                kept: Mutex::new(kept.clone()),
                asked_s: Mutex::new(0),
            },
        });
        let connect = || Connect {
            address: options.hub.clone(),
            tls: client_config(authority, Arc::clone(&shown)),
            name: format!("agent {}", kept.name),
            subjects: vec![WHO.to_owned(), to_agent(kept.place, ">")],
        };
        worker.restore_left();
        let broker = connect_patiently(&connect, &worker).map_err(Error::Unreachable)?;
        Ok(Agent { worker, broker, said: sentences, _lock: lock })
    }

    /// Returns the name of the agent, which its hub may have given a number.
    pub fn name(&self) -> &str {
        &self.worker.name
    }

    /// Serves runs until `is_stopped`, and passes sentences for the user to `say`.
    pub fn serve(&self, is_stopped: &dyn Fn() -> bool, say: &mut dyn FnMut(&str)) {
        while !is_stopped() {
            wall_clock::rest_ms(LOOK_EVERY_MS);
            self.said.try_iter().for_each(|sentence| say(&sentence));
        }
        self.worker.each(|conversation| conversation.end("the agent was stopped"));
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        self.broker.close();
    }
}

/// Returns how an agent with these options would join, in words, without joining.
pub fn inspect(options: &AgentOptions) -> String {
    let (name, path) = options.name_and_file();
    let now_s = unix_s();
    let left = |expires_s: u64| {
        let left_s = expires_s.saturating_sub(now_s);
        format!("{}:{:02} hours left", left_s / 3600, left_s % 3600 / 60)
    };
    match (usable(&path, options), &options.token) {
        (Err(error), _) => format!("not: {error}"),
        (Ok(Some(kept)), _) => {
            format!("as {}, by its certificate ({})", kept.name, left(kept.credentials.expires_s))
        }
        (Ok(None), None) => "not: it needs a token".to_owned(),
        (Ok(None), Some(token)) if u64::from(token.expires_s) <= now_s => {
            "not: the token has expired".to_owned()
        }
        (Ok(None), Some(token)) => {
            format!("as {name}, by the token ({})", left(token.expires_s.into()))
        }
    }
}

fn default_name() -> String {
    let name = this_host::name();
    let plain = |letter: char| if letter.is_ascii_alphanumeric() { letter } else { '-' };
    name.split('.').next().unwrap_or("agent").chars().map(plain).collect()
}

fn no_token() -> Error {
    Error::Usage(
        "the agent has not joined in the last 24 hours: give the --token that 'dbdyno hub' prints"
            .to_owned(),
    )
}

/// Returns what the agent has kept, if it is for this hub and has not expired.
fn usable(path: &Path, options: &AgentOptions) -> Result<Option<Kept>, Error> {
    if !path.exists() {
        return Ok(None);
    }
    let kept: Kept = credentials::read(path).map_err(Error::Failed)?;
    let is_of_token = options
        .token
        .as_ref()
        .is_none_or(|token| crate::token::hex(&token.authority) == kept.credentials.authority);
    let is_valid = kept.credentials.expires_s > unix_s();
    Ok((is_of_token && is_valid).then_some(kept))
}

/// Waits for the hub's answer to a request to join.
struct Candidate {
    answer: Mutex<Sender<Answer>>,
}

impl Listener for Candidate {
    fn message(&self, message: &Message<'_>, _broker: &Broker) {
        if let Some(answer) = decode(message.bytes) {
            let _ = self.answer.lock().unwrap_or_else(PoisonError::into_inner).send(answer);
        }
    }
}

/// Asks the hub for a place and a certificate.
fn enrol(hub: &Address, token: &Token, name: &str) -> Result<Kept, Error> {
    let expires_s = u64::from(token.expires_s);
    if expires_s <= unix_s() {
        return Err(Error::Usage(
            "the token has expired (it lives 24 hours): take the one that the hub prints now"
                .to_owned(),
        ));
    }
    let certificate = token.certificate().map_err(|error| Error::Failed(error.to_string()))?;
    let (seed, word) = (Seed::new(), random_word());
    let (answer, answers) = channel();
    let connect = Connect {
        address: hub.clone(),
        tls: client_config(token.authority, Shown::new(certificate.der().to_vec(), &token.seed)),
        name: format!("joining {name}"),
        subjects: vec![format!("{JOINED}.{word}")],
    };
    let broker = Broker::connect(connect, Arc::new(Candidate { answer: Mutex::new(answer) }))
        .map_err(|why| Error::Unreachable(format!("the hub cannot be joined: {why}")))?;
    let ask = Ask {
        name: name.to_owned(),
        version: version_of_ours(),
        key: seed.public_key().0,
        answer_at: word,
    };
    let began = wall_clock::now();
    let answer = loop {
        broker.publish(JOIN, encode(&ask));
        match answers.recv_timeout(ASK_EVERY) {
            Ok(answer) => break answer,
            Err(_) if began.elapsed() < ANSWER_WITHIN => {}
            Err(_) => {
                broker.close();
                return Err(Error::Unreachable(format!(
                    "{hub} is there, but the hub does not answer: is 'dbdyno hub' running?"
                )));
            }
        }
    };
    broker.close();
    match answer {
        Answer::Refused { why } => Err(Error::Failed(format!("the hub refuses this agent: {why}"))),
        Answer::Joined(Membership { place, name, certificate, expires_s }) => {
            let credentials =
                Credentials::new(hub, token.authority, &seed, &certificate, expires_s);
            Ok(Kept { name, place, credentials })
        }
    }
}

/// Connects, also if the broker is just being restarted.
fn connect_patiently(
    connect: &dyn Fn() -> Connect,
    worker: &Arc<Worker>,
) -> Result<Broker, String> {
    let mut last = String::new();
    for attempt in 0..ATTEMPTS {
        match Broker::connect(connect(), Arc::clone(worker) as Arc<dyn Listener>) {
            Ok(broker) => return Ok(broker),
            Err(why) => last = why,
        }
        wall_clock::rest_ms(LOOK_EVERY_MS << attempt.min(5));
    }
    Err(format!("the hub cannot be reached: {last}"))
}

impl Worker {
    fn conversations(&self) -> MutexGuard<'_, Conversations> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn busy_with(&self) -> MutexGuard<'_, Option<String>> {
        self.busy_with.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn each(&self, act: impl Fn(&Conversation)) {
        let all: Vec<_> = self.conversations().open.values().cloned().collect();
        all.iter().for_each(|conversation| act(conversation));
    }

    fn say(&self, sentence: String) {
        let _ = self.said.send(sentence);
    }

    /// Makes the agent busy. Fails with what it does already.
    fn begin(&self, what: &str) -> Result<(), String> {
        let mut busy_with = self.busy_with();
        match busy_with.as_ref() {
            Some(other) => Err(format!("the agent {} is busy with {other}", self.name)),
            None => {
                *busy_with = Some(what.to_owned());
                Ok(())
            }
        }
    }

    /// Makes the agent free again.
    fn end(&self) {
        *self.busy_with() = None;
    }

    /// Forgets a conversation that has ended. Its frames that still arrive begin no other one.
    fn forget(&self, word: &str) {
        let mut conversations = self.conversations();
        conversations.open.remove(word);
        conversations.ended.push_back(word.to_owned());
        if conversations.ended.len() > ENDED_MOST {
            conversations.ended.pop_front();
        }
    }

    fn here(&self, who: &Who) -> Here {
        Here {
            asked_unix_ns: who.asked_unix_ns,
            unix_ns: wall_clock::unix_ns(),
            name: self.name.clone(),
            machine: this_host::name(),
            process: Process::current(),
            version: version_of_ours(),
            n_cpus: this_host::n_cpus(),
            load: this_host::load(),
            busy_with: self.busy_with().clone(),
            permissions: self.permissions.clone(),
        }
    }
}

/// The agent's connection, which also begins conversations.
impl Listener for Worker {
    fn message(&self, message: &Message<'_>, broker: &Broker) {
        if message.subject == WHO {
            if let Some(who) = decode::<Who>(message.bytes) {
                broker.publish(&from_agent(self.place, HERE), encode(&self.here(&who)));
            }
            return;
        }
        match word_for(self.place, message.subject) {
            Some(word) if message.has_no_responder => {
                let known = self.conversations().open.get(word).cloned();
                known.iter().for_each(|conversation| conversation.no_responder());
            }
            Some(RENEW) => self.renewal.take(message.bytes),
            Some(word) => {
                if let Some(frame) = Frame::decode(message.bytes) {
                    self.frame(word, frame, broker);
                }
            }
            None => {}
        }
    }

    fn connected(&self, _broker: &Broker) {
        self.each(Conversation::connected);
    }

    fn trouble(&self, what: &str) {
        self.say(what.to_owned());
    }

    fn tick(&self, broker: &Broker) {
        self.each(Conversation::tick);
        if self.renewal.is_due(unix_s()) {
            broker.publish(&from_agent(self.place, RENEW), Vec::new());
        }
    }
}

impl Worker {
    /// Passes a frame to its conversation. The first part of an unknown one begins it; other frames
    /// of unknown ones are those of a run that this agent no longer knows.
    fn frame(&self, word: &str, frame: Frame, broker: &Broker) {
        let known = self.conversations().open.get(word).cloned();
        if let Some(conversation) = known {
            conversation.frame(frame);
            return;
        }
        if matches!(frame, Frame::End { .. }) {
            return;
        }
        let subject = from_agent(self.place, word);
        let is_first = matches!(frame, Frame::Part { number: 0, .. });
        if !is_first || self.conversations().ended.iter().any(|ended| ended == word) {
            let why = format!("the agent {} does not know this run", self.name);
            broker.publish(&subject, Frame::End { why }.encode());
            return;
        }
        let conversation = Conversation::new(
            broker.clone(),
            (subject, Some(to_agent(self.place, word))),
            "the run".to_owned(),
            self.spool_bytes,
        );
        self.conversations().open.insert(word.to_owned(), Arc::clone(&conversation));
        conversation.frame(frame);
        let Some(worker) = self.me.upgrade() else { return };
        let (word, served) = (word.to_owned(), Arc::clone(&conversation));
        let work = move || worker.serve(&word, &served);
        if let Err(error) = thread::Builder::new().name("run".to_owned()).spawn(work) {
            conversation.end(&format!("the agent cannot start a thread: {error}"));
        }
    }

    /// Serves a conversation on a thread of its own.
    fn serve(&self, word: &str, conversation: &Arc<Conversation>) {
        let mut has_begun = false;
        let begin = &mut |opening: &Opening| {
            let what = &opening.asked_by;
            // Any number of runs may monitor the host, also while clients are executed on it.
            match opening.work {
                Work::Monitor => {
                    self.say(format!("monitors this host for {what}"));
                    return Ok(());
                }
                Work::Control => {
                    self.say(format!("controls the server of this host for {what}"));
                    return Ok(());
                }
                Work::Clients => {}
            }
            self.begin(what)?;
            has_begun = true;
            self.say(format!("executes {what}"));
            Ok(())
        };
        let how = serve(conversation, &self.permissions, begin);
        self.forget(word);
        if has_begun {
            self.end();
        }
        self.say(format!("done: {how}"));
        self.restore_left();
    }

    /// Restores the settings files that a process of this agent has left changed.
    fn restore_left(&self) {
        if let Some(control) = &self.permissions.control {
            restore_left_files(&control.journal).into_iter().for_each(|text| self.say(text));
        }
    }
}

impl Renewal {
    /// Whether the next certificate is to be asked for now.
    fn is_due(&self, now_s: u64) -> bool {
        let expires_s =
            self.kept.lock().unwrap_or_else(PoisonError::into_inner).credentials.expires_s;
        let mut asked_s = self.asked_s.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = expires_s < now_s + RENEW_BEFORE_S && *asked_s + RENEW_EVERY_S <= now_s;
        if is_due {
            *asked_s = now_s;
        }
        is_due
    }

    /// Takes the next certificate from the hub, if it is one of the agent's own key.
    fn take(&self, bytes: &[u8]) {
        let Some(membership) = decode::<Membership>(bytes) else { return };
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((authority, seed, _)) = kept.credentials.secrets() else { return };
        let Ok(hub) = kept.credentials.address() else { return };
        if membership.place != kept.place || membership.expires_s <= kept.credentials.expires_s {
            return;
        }
        let Membership { certificate, expires_s, .. } = membership;
        kept.credentials = Credentials::new(&hub, authority, &seed, &certificate, expires_s);
        self.shown.replace(certificate, &seed);
        // The present certificate goes on if the file cannot be written.
        let _ = credentials::write(&self.path, &*kept);
    }
}
