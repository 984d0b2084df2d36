//! The hub: it starts the broker, lets agents join by a token, and renews their certificates.
//!
//! Not here: runs, which meet agents at the broker without the hub (fleet).

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use app::Error;
use model::is_agent_name;
use monitor::wall_clock;
use serde::{Deserialize, Serialize};

use crate::broker::{Address, Broker, Connect, Listener, Message};
use crate::broker_program::{BrokerProgram, Files, find};
use crate::certificates::{Authority, BROKER, PublicKey, Seed, Validity, fingerprint};
use crate::credentials::{self, Credentials};
use crate::lock;
use crate::messages::{Answer, Ask, Membership, decode, encode};
use crate::subjects::{
    HUB, JOIN, JOINED, N_PLACES, RENEW, RUN, agent_name, from_all, sender_of, to_agent,
};
use crate::this_host;
use crate::tls::{Shown, client_config};
use crate::token::{Token, bytes_of_hex, hex};
use crate::unix_s;

/// Seconds for which a token and the certificate of an agent are valid.
pub const VALID_S: u64 = 24 * 60 * 60;
/// Seconds before its expiry at which a token is followed by the next one.
const NEXT_TOKEN_S: u64 = VALID_S / 2;
/// Seconds for which the hub's own certificates are valid.
const OWN_VALID_S: u64 = 365 * 24 * 60 * 60;
/// Seconds before the expiry of the hub's own certificates at which all are replaced.
const OWN_RENEWED_S: u64 = 30 * 24 * 60 * 60;
/// Milliseconds between attempts to reach the broker while it starts.
const LOOK_EVERY_MS: u64 = 50;
/// Number of these attempts.
const LOOKS: usize = 200;
/// Milliseconds between two starts of a broker that ends.
const RESTART_AFTER_MS: u64 = 1000;

/// Where a hub is, and what it listens on.
pub struct HubOptions {
    /// Folder of its keys and settings, in which runs on this host find it.
    pub folder: PathBuf,
    /// Address on which the broker listens, such as `0.0.0.0:4222`.
    pub listen: Address,
    /// Address that is printed for agents; `None` for the name of this host.
    pub address: Option<Address>,
    /// Program of the broker; `None` to find the installed one.
    pub nats_server: Option<PathBuf>,
}

/// Secrets of a hub, which it keeps over restarts.
#[derive(Serialize, Deserialize)]
struct Kept {
    authority_seed: String,
    from_s: u64,
    to_s: u64,
    /// Tokens that have not expired; the last one is the newest.
    tokens: Vec<KeptToken>,
    #[serde(default)]
    agents: Vec<Known>,
}

#[derive(Serialize, Deserialize)]
struct KeptToken {
    seed: String,
    expires_s: u64,
}

/// An agent that has joined at some time.
#[derive(Clone, Serialize, Deserialize)]
struct Known {
    place: u32,
    name: String,
    key: String,
}

/// A hub that runs, with its broker, until it is dropped.
pub struct Hub {
    options: HubOptions,
    path_of_program: PathBuf,
    program: BrokerProgram,
    broker: Broker,
    desk: Arc<Desk>,
    /// Locked as long as the hub runs.
    _lock: File,
}

/// State of the hub that its connection's thread uses to answer agents.
struct Desk {
    path: PathBuf,
    kept: Mutex<Kept>,
    /// Sentences for the user that are not yet shown.
    said: Mutex<Vec<String>>,
}

/// Returns the path of the file with which runs connect to the hub in this folder.
pub(crate) fn run_file(folder: &Path) -> PathBuf {
    folder.join("run.toml")
}

impl Kept {
    /// Reads the secrets of a hub, or makes new ones if there are none or they expire soon.
    fn read_or_make(path: &Path, now_s: u64) -> Result<Kept, String> {
        if path.exists() {
            let kept: Kept = credentials::read(path)?;
            if kept.to_s > now_s + OWN_RENEWED_S {
                return Ok(kept);
            }
        }
        let validity = Validity::of(now_s, OWN_VALID_S);
        Ok(Kept {
            authority_seed: hex(&Seed::new().0),
            from_s: validity.from_s,
            to_s: validity.to_s,
            tokens: Vec::new(),
            agents: Vec::new(),
        })
    }

    fn validity(&self) -> Validity {
        Validity { from_s: self.from_s, to_s: self.to_s }
    }

    fn authority(&self) -> Result<Authority, String> {
        Ok(Authority::new(seed_of(&self.authority_seed)?, self.validity()))
    }

    /// Returns all tokens that have not expired, the newest one last.
    fn tokens(&self) -> Result<Vec<Token>, String> {
        let certificate = self.authority()?.certificate().map_err(|error| error.to_string())?;
        let authority = fingerprint(certificate.der());
        let token = |kept: &KeptToken| {
            let expires_s = u32::try_from(kept.expires_s).map_err(|error| error.to_string())?;
            Ok(Token { authority, seed: seed_of(&kept.seed)?, expires_s })
        };
        self.tokens.iter().map(token).collect()
    }

    /// Adds a token if the newest one expires within [`NEXT_TOKEN_S`], and drops expired ones.
    /// Returns whether it did.
    fn next_token(&mut self, now_s: u64) -> bool {
        let is_due = self.tokens.last().is_none_or(|last| last.expires_s < now_s + NEXT_TOKEN_S);
        if is_due {
            self.tokens.retain(|token| token.expires_s > now_s);
            let seed = hex(&Seed::new().0);
            self.tokens.push(KeptToken { seed, expires_s: now_s + VALID_S });
        }
        is_due
    }

    /// Returns the place and name of the agent with this key, which it gets now if it has none. A
    /// name that another key has gets a number.
    fn admit(&mut self, name: &str, key: &PublicKey) -> Result<Known, String> {
        let key = hex(&key.0);
        if let Some(known) = self.agents.iter().find(|known| known.key == key) {
            return Ok(known.clone());
        }
        let is_taken = |name: &str| self.agents.iter().any(|known| known.name == name);
        let name = match is_taken(name) {
            false => name.to_owned(),
            true => {
                let mut numbered = (2..).map(|nth| format!("{name}-{nth}"));
                numbered.find(|name| !is_taken(name)).expect("numbers do not end")
            }
        };
        let is_free = |place: &u32| !self.agents.iter().any(|known| known.place == *place);
        let place = (0..N_PLACES).find(is_free).ok_or_else(|| {
            format!(
                "all {N_PLACES} places are taken: remove the file hub.toml, and start the hub again"
            )
        })?;
        let known = Known { place, name, key };
        self.agents.push(known.clone());
        Ok(known)
    }

    fn certificate_of(&self, known: &Known, now_s: u64) -> Result<Membership, String> {
        let key = bytes_of_hex(&known.key).and_then(|key| key.try_into().ok());
        let key = PublicKey(key.ok_or("the file hub.toml was changed by hand")?);
        let validity = Validity::of(now_s, VALID_S);
        let signed = self.authority()?.sign(&agent_name(known.place), &key, validity);
        Ok(Membership {
            place: known.place,
            name: known.name.clone(),
            certificate: signed.map_err(|error| error.to_string())?.der().to_vec(),
            expires_s: validity.to_s,
        })
    }
}

fn seed_of(text: &str) -> Result<Seed, String> {
    let bytes = bytes_of_hex(text).and_then(|bytes| bytes.try_into().ok());
    Ok(Seed(bytes.ok_or("a seed in hub.toml was changed by hand")?))
}

impl Desk {
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn say(&self, sentence: String) {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).push(sentence);
    }

    fn answer(&self, ask: &Ask) -> Answer {
        let ours = app::run::version_of_ours();
        if ask.version != ours {
            let why = format!(
                "the agent has dbdyno {}, and the hub {ours}: install the same",
                ask.version
            );
            return Answer::Refused { why };
        }
        if !is_agent_name(&ask.name) {
            return Answer::Refused { why: "that is no name of an agent".to_owned() };
        }
        let mut kept = self.kept();
        let joined = kept
            .admit(&ask.name, &PublicKey(ask.key))
            .and_then(|known| kept.certificate_of(&known, unix_s()))
            .and_then(|membership| credentials::write(&self.path, &*kept).map(|()| membership));
        drop(kept);
        match joined {
            Ok(membership) => {
                self.say(format!("{} has joined", membership.name));
                Answer::Joined(membership)
            }
            Err(why) => Answer::Refused { why },
        }
    }

    fn renewed(&self, place: u32) -> Option<Membership> {
        let kept = self.kept();
        let known = kept.agents.iter().find(|known| known.place == place)?;
        kept.certificate_of(known, unix_s()).ok()
    }
}

impl Listener for Desk {
    fn message(&self, message: &Message<'_>, broker: &Broker) {
        if message.subject == JOIN {
            let Some(ask) = decode::<Ask>(message.bytes) else { return };
            // The word comes from the agent, and is part of a subject.
            if ask.answer_at.chars().all(|letter| letter.is_ascii_alphanumeric()) {
                let subject = format!("{JOINED}.{}", ask.answer_at);
                broker.publish(&subject, encode(&self.answer(&ask)));
            }
        } else if let Some((place, RENEW)) = sender_of(message.subject)
            && let Some(membership) = self.renewed(place)
        {
            broker.publish(&to_agent(place, RENEW), encode(&membership));
        }
    }
}

impl Hub {
    /// Starts the hub and its broker. Fails with a sentence if the program is missing, the address
    /// is in use, or the folder cannot be written.
    pub fn start(options: HubOptions) -> Result<Hub, Error> {
        let program = find(options.nats_server.as_deref()).map_err(Error::Usage)?;
        credentials::make_folder(&options.folder).map_err(Error::Failed)?;
        let lock = lock::take(
            &options.folder.join("hub.lock"),
            || "a hub of this folder runs already: stop it, or give this one another --hub folder",
        )?;
        Hub::start_with(options, &program, lock).map_err(Error::Failed)
    }

    fn start_with(options: HubOptions, program: &Path, lock: File) -> Result<Hub, String> {
        let path = options.folder.join("hub.toml");
        let now_s = unix_s();
        let mut kept = Kept::read_or_make(&path, now_s)?;
        kept.next_token(now_s);
        credentials::write(&path, &kept)?;
        let files = Files::of(&options.folder);
        files.write_settings(&options.listen)?;
        write_certificates(&kept, &files)?;
        let path_of_program = program.to_owned();
        let mut program = BrokerProgram::start(program, &files)?;
        let near = options.listen.reached_at("127.0.0.1");
        write_run_file(&kept, &options.folder, &near)?;
        let desk = Arc::new(Desk { path, kept: Mutex::new(kept), said: Mutex::default() });
        let broker = reach(&near, &desk, &mut program)?;
        Ok(Hub { options, path_of_program, program, broker, desk, _lock: lock })
    }

    /// Returns the address at which agents connect.
    pub fn address(&self) -> Address {
        let at_name = || self.options.listen.reached_at(&this_host::name());
        self.options.address.clone().unwrap_or_else(at_name)
    }

    /// Returns the token with which agents join now, which is secret.
    pub fn token(&self) -> Result<Token, Error> {
        let newest = self.desk.kept().tokens().map(|mut tokens| tokens.pop());
        newest.map_err(Error::Failed)?.ok_or_else(|| Error::failed("the hub has no token"))
    }

    /// Serves until `is_stopped`, and passes sentences for the user to `say`. `next_token` is
    /// called when there is another token. Fails if the broker cannot be started again.
    pub fn serve(
        &mut self,
        is_stopped: &dyn Fn() -> bool,
        say: &mut dyn FnMut(&str),
        next_token: &mut dyn FnMut(&Hub),
    ) -> Result<(), Error> {
        while !is_stopped() {
            wall_clock::rest_ms(LOOK_EVERY_MS);
            if let Some(why) = self.program.ended() {
                say(&format!("the broker has ended ({why}): it is started again"));
                let files = Files::of(&self.options.folder);
                self.program =
                    BrokerProgram::start(&self.path_of_program, &files).map_err(Error::Failed)?;
                wall_clock::rest_ms(RESTART_AFTER_MS);
            }
            let said =
                std::mem::take(&mut *self.desk.said.lock().unwrap_or_else(PoisonError::into_inner));
            said.iter().for_each(|sentence| say(sentence));
            let mut kept = self.desk.kept();
            if kept.next_token(unix_s()) {
                credentials::write(&self.desk.path, &*kept).map_err(Error::Failed)?;
                let files = Files::of(&self.options.folder);
                write_certificates(&kept, &files).map_err(Error::Failed)?;
                drop(kept);
                self.program.reload();
                next_token(self);
            }
        }
        Ok(())
    }
}

impl Drop for Hub {
    fn drop(&mut self) {
        self.broker.close();
    }
}

/// Writes the broker's certificate and key, and the certificates that it accepts.
fn write_certificates(kept: &Kept, files: &Files) -> Result<(), String> {
    let failed = |error: crate::certificates::CertificateError| error.to_string();
    let authority = kept.authority()?;
    let own = authority.certificate().map_err(failed)?;
    let seed = Seed::new();
    let broker = authority.sign(BROKER, &seed.public_key(), kept.validity()).map_err(failed)?;
    let mut accepted = own.pem();
    for token in kept.tokens()? {
        accepted += &token.certificate().map_err(failed)?.pem();
    }
    credentials::write_text(&files.chain, &(broker.pem() + &own.pem()))?;
    credentials::write_text(&files.key, &seed.key_pair().serialize_pem())?;
    credentials::write_text(&files.accepted, &accepted)
}

fn credentials_for(kept: &Kept, name: &str, near: &Address) -> Result<Credentials, String> {
    let failed = |error: crate::certificates::CertificateError| error.to_string();
    let authority = kept.authority()?;
    let seed = Seed::new();
    let signed = authority.sign(name, &seed.public_key(), kept.validity()).map_err(failed)?;
    let authority = fingerprint(authority.certificate().map_err(failed)?.der());
    Ok(Credentials::new(near, authority, &seed, signed.der(), kept.to_s))
}

/// Writes the file with which runs on this host, or on one that it is copied to, connect.
fn write_run_file(kept: &Kept, folder: &Path, near: &Address) -> Result<(), String> {
    credentials::write(&run_file(folder), &credentials_for(kept, RUN, near)?)
}

/// Connects the hub itself to its broker, which has just been started.
fn reach(near: &Address, desk: &Arc<Desk>, program: &mut BrokerProgram) -> Result<Broker, String> {
    let credentials = credentials_for(&desk.kept(), HUB, near)?;
    let (authority, seed, certificate) =
        credentials.secrets().ok_or("the hub's own certificate is broken")?;
    let mut last = String::new();
    for _ in 0..LOOKS {
        let connect = Connect {
            address: near.clone(),
            tls: client_config(authority, Shown::new(certificate.clone(), &seed)),
            name: "hub".to_owned(),
            subjects: vec![JOIN.to_owned(), from_all(RENEW)],
        };
        match Broker::connect(connect, Arc::clone(desk) as Arc<dyn Listener>) {
            Ok(broker) => return Ok(broker),
            Err(why) => last = why,
        }
        wall_clock::rest_ms(LOOK_EVERY_MS);
        if let Some(why) = program.ended() {
            return Err(format!("the hub's broker does not start: {why}"));
        }
    }
    Err(format!("the hub's broker does not answer: {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_keeps_its_place_and_a_taken_name_gets_a_number() {
        let mut kept = Kept::read_or_make(Path::new("/nowhere"), 1_800_000_000).unwrap();
        let (one, other) = (Seed::new().public_key(), Seed::new().public_key());
        let first = kept.admit("gen", &one).unwrap();
        let second = kept.admit("gen", &other).unwrap();
        assert_eq!((first.name.as_str(), first.place), ("gen", 0));
        assert_eq!((second.name.as_str(), second.place), ("gen-2", 1));
        assert_eq!(kept.admit("another", &one).unwrap().place, 0);
        let membership = kept.certificate_of(&second, 1_800_000_000).unwrap();
        assert_eq!(membership.expires_s, 1_800_000_000 + VALID_S);
    }

    #[test]
    fn a_token_is_followed_by_another_before_it_expires_and_lives_until_then() {
        let now_s = 1_800_000_000;
        let mut kept = Kept::read_or_make(Path::new("/nowhere"), now_s).unwrap();
        assert!(kept.next_token(now_s));
        let all = |kept: &Kept| -> Vec<String> {
            kept.tokens().unwrap().iter().map(Token::reveal).collect()
        };
        let first = all(&kept);
        assert!(!kept.next_token(now_s + NEXT_TOKEN_S));
        assert!(kept.next_token(now_s + NEXT_TOKEN_S + 1));
        let both = all(&kept);
        assert_eq!((both.len(), &both[..1]), (2, &first[..]));
        assert!(kept.next_token(now_s + VALID_S + NEXT_TOKEN_S));
        assert!(!all(&kept).contains(&first[0]));
    }
}
