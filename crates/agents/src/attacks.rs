//! Tests of what a hub refuses: each attack is tried on a real broker, with the keys that an
//! attacker could have.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use app::run::version_of_ours;
use monitor::wall_clock;
use rcgen::Certificate;
use tempfile::TempDir;

use crate::broker::{Address, Broker, Connect, Listener, Message};
use crate::certificates::{Authority, CertificateError, Seed, Validity, self_signed};
use crate::credentials::{self, Credentials};
use crate::hub::{Hub, HubOptions, run_file};
use crate::messages::{Answer, Ask, decode, encode};
use crate::subjects::{JOIN, JOINED, RUN, agent_name, from_agent, to_agent};
use crate::tls::{Shown, client_config};
use crate::token::{self, Token};
use crate::unix_s;

/// A hub in a folder of its own.
struct Victim {
    folder: TempDir,
    hub: Hub,
    address: Address,
}

impl Victim {
    fn new() -> Victim {
        let folder = TempDir::new().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let listen = Address { host: "127.0.0.1".to_owned(), port };
        let options = HubOptions {
            folder: folder.path().join("hub"),
            listen,
            address: None,
            nats_server: None,
        };
        let hub = Hub::start(options).unwrap();
        let address = hub.address();
        Victim { folder, hub, address }
    }

    fn hub_folder(&self) -> PathBuf {
        self.folder.path().join("hub")
    }

    fn token(&self) -> Token {
        self.hub.token().unwrap()
    }

    /// Returns the keys of runs, which have the hub's folder.
    fn run(&self) -> Keys {
        let kept: Credentials = credentials::read(&run_file(&self.hub_folder())).unwrap();
        let (authority, seed, certificate) = kept.secrets().unwrap();
        Keys { authority, seed, certificate }
    }

    /// Returns the keys of everybody who has the token.
    fn joiner(&self) -> Keys {
        let Token { authority, seed, .. } = self.token();
        Keys { authority, certificate: der(self.token().certificate()), seed }
    }

    /// Joins as an agent, whose keys are returned with its place.
    fn agent(&self, name: &str) -> (u32, Keys) {
        let (ear, seed, word) = (Arc::new(Ear::default()), Seed::new(), crate::random_word());
        let subjects = [format!("{JOINED}.{word}")];
        let broker = self.joiner().connect(&self.address, &subjects, &ear).unwrap();
        let ask = Ask {
            name: name.to_owned(),
            version: version_of_ours(),
            key: seed.public_key().0,
            answer_at: word,
        };
        let answer = ear.until_heard(|| broker.publish(JOIN, encode(&ask)));
        broker.close();
        let Some(Answer::Joined(membership)) = decode(&answer) else { panic!("it joins") };
        let authority = self.token().authority;
        (membership.place, Keys { authority, seed, certificate: membership.certificate })
    }
}

fn der(certificate: Result<Certificate, CertificateError>) -> Vec<u8> {
    certificate.unwrap().der().to_vec()
}

/// Key and certificate of a client of the broker.
struct Keys {
    authority: [u8; 32],
    seed: Seed,
    certificate: Vec<u8>,
}

impl Keys {
    fn connect(
        &self,
        address: &Address,
        subjects: &[String],
        ear: &Arc<Ear>,
    ) -> Result<Broker, String> {
        let shown = Shown::new(self.certificate.clone(), &self.seed);
        let connect = Connect {
            address: address.clone(),
            tls: client_config(self.authority, shown),
            name: "attacker".to_owned(),
            subjects: subjects.to_vec(),
        };
        Broker::connect(connect, Arc::clone(ear) as Arc<dyn Listener>)
    }
}

/// Keeps what was heard, and what the broker refused.
#[derive(Default)]
struct Ear {
    heard: Mutex<Vec<(String, Vec<u8>)>>,
    refused: Mutex<Vec<String>>,
}

impl Listener for Ear {
    fn message(&self, message: &Message<'_>, _broker: &Broker) {
        let heard = (message.subject.to_owned(), message.bytes.to_vec());
        self.heard.lock().unwrap().push(heard);
    }

    fn trouble(&self, what: &str) {
        self.refused.lock().unwrap().push(what.to_lowercase());
    }
}

const LOOKS: usize = 3000;

impl Ear {
    /// Repeats `ask` until something is heard, and returns it.
    fn until_heard(&self, ask: impl Fn()) -> Vec<u8> {
        for look in 0..LOOKS {
            if look % 20 == 0 {
                ask();
            }
            if let Some((_, bytes)) = self.heard.lock().unwrap().first() {
                return bytes.clone();
            }
            wall_clock::rest_ms(10);
        }
        panic!("nothing was heard");
    }

    /// Waits until the broker has refused this subject. Fails if it does not.
    fn until_refused(&self, subject: &str) {
        let is_of = |text: &String| {
            text.contains("permissions violation") && text.contains(&subject.to_lowercase())
        };
        for _ in 0..LOOKS {
            if self.refused.lock().unwrap().iter().any(is_of) {
                return;
            }
            wall_clock::rest_ms(10);
        }
        panic!("{subject} was not refused: {:?}", self.refused.lock().unwrap());
    }
}

#[test]
fn nobody_reads_or_writes_subjects_of_others() {
    let victim = Victim::new();
    let (mine, agent) = victim.agent("mine");
    let (other, _) = victim.agent("other");
    assert_ne!(mine, other);
    let all = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let (to_other, from_other) = (to_agent(other, "x"), from_agent(other, "here"));
    let by_agent = (
        [
            all(&[
                ">",
                "dbdyno.>",
                "dbdyno.agent.>",
                "dbdyno.agent.*.in.>",
                "dbdyno.agent.*.out.>",
            ]),
            vec![to_agent(other, ">"), from_agent(other, ">"), from_agent(mine, ">")],
            all(&[JOIN, "dbdyno.joined.>", "_INBOX.>", "$SYS.>"]),
        ]
        .concat(),
        [
            vec![to_other.clone(), from_other.clone(), to_agent(mine, "renew")],
            all(&["dbdyno.all.who", JOIN, "dbdyno.joined.x", "$SYS.REQ.SERVER.PING", "other"]),
        ]
        .concat(),
    );
    let by_joiner = (
        [vec![to_agent(mine, ">"), from_agent(mine, ">")], all(&["dbdyno.all.who", JOIN, ">"])]
            .concat(),
        [vec![to_other, from_other], all(&["dbdyno.all.who", "dbdyno.joined.x"])].concat(),
    );
    for (keys, (reads, writes)) in [(agent, by_agent), (victim.joiner(), by_joiner)] {
        let ear = Arc::new(Ear::default());
        let broker = keys.connect(&victim.address, &reads, &ear).unwrap();
        reads.iter().for_each(|subject| ear.until_refused(subject));
        for subject in &writes {
            broker.publish(subject, b"attack".to_vec());
            ear.until_refused(subject);
        }
        assert!(ear.heard.lock().unwrap().is_empty());
        broker.close();
    }
}

#[test]
fn nobody_connects_without_a_certificate_of_the_hub() {
    let victim = Victim::new();
    let authority = victim.token().authority;
    let validity = Validity::of(unix_s(), 3600);
    let seed = Seed::new();
    let stranger = Authority::new(Seed::new(), validity);
    let by_stranger = |name: &str| der(stranger.sign(name, &seed.public_key(), validity));
    let by_itself = |name: &str| der(self_signed(name, &seed, validity));
    let old = Validity::of(unix_s() - 10 * 24 * 3600, 3600);
    let expired = der(self_signed(token::JOIN, &victim.token().seed, old));
    let run = victim.run();
    let attempts = [
        ("an agent by another authority", by_stranger(&agent_name(0)), seed.clone()),
        ("a run by another authority", by_stranger(RUN), seed.clone()),
        ("an agent by itself", by_itself(&agent_name(0)), seed.clone()),
        ("a run by itself", by_itself(RUN), seed.clone()),
        ("a token that is not known", by_itself(token::JOIN), seed.clone()),
        ("the certificate of a run with another key", run.certificate, seed),
        ("an expired certificate of the token", expired, victim.token().seed),
    ];
    for (what, certificate, seed) in attempts {
        let keys = Keys { authority, seed, certificate };
        let joined = keys.connect(&victim.address, &[], &Arc::default());
        assert!(joined.is_err(), "{what} was let in");
    }
    // The agent, too, refuses a hub that is not that of its token.
    let other = Victim::new();
    let keys = Keys { authority, ..other.joiner() };
    let refused = keys.connect(&other.address, &[], &Arc::default()).err().unwrap();
    assert!(refused.contains("another one than that of the token"), "{refused}");
}

#[test]
fn nothing_is_served_without_tls() {
    let victim = Victim::new();
    let Address { host, port } = &victim.address;
    let mut plain = TcpStream::connect((host.as_str(), *port)).unwrap();
    plain.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let options = "{\"verbose\":false,\"tls_required\":false,\"user\":\"run.dbdyno\"}";
    plain.write_all(format!("CONNECT {options}\r\nSUB > 1\r\nPING\r\n").as_bytes()).unwrap();
    let mut said = Vec::new();
    let _ = plain.read_to_end(&mut said);
    let said = String::from_utf8_lossy(&said);
    assert!(!said.contains("PONG") && !said.contains("MSG"), "{said}");
}

#[test]
fn a_hub_answers_no_forged_request() {
    let victim = Victim::new();
    let ear = Arc::new(Ear::default());
    let broker = victim.joiner().connect(&victim.address, &[format!("{JOINED}.>")], &ear).unwrap();
    let ask = |name: &str, version: &str, answer_at: &str| Ask {
        name: name.to_owned(),
        version: version.to_owned(),
        key: [7; 32],
        answer_at: answer_at.to_owned(),
    };
    let ours = version_of_ours();
    // Answers to these would go to subjects of others.
    for answer_at in ["x.y", ">", "*", "x y", "x\r\nPUB dbdyno.all.who 0"] {
        broker.publish(JOIN, encode(&ask("gen", &ours, answer_at)));
    }
    broker.publish(JOIN, b"no request".to_vec());
    for (name, version, why) in
        [("gen", "0.0.1", "install the same"), ("../../etc", &ours, "no name of an agent")]
    {
        ear.heard.lock().unwrap().clear();
        let answer = ear.until_heard(|| broker.publish(JOIN, encode(&ask(name, version, "word"))));
        let Some(Answer::Refused { why: said }) = decode(&answer) else { panic!("{name} joins") };
        assert!(said.contains(why), "{said}");
        let heard = ear.heard.lock().unwrap();
        assert!(heard.iter().all(|(subject, _)| subject == "dbdyno.joined.word"), "{heard:?}");
    }
    broker.close();
}

#[test]
fn keys_are_readable_by_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let victim = Victim::new();
    let folder = victim.hub_folder();
    assert_eq!(std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        let is_secret = path.extension().is_some_and(|end| end == "toml" || end == "key");
        assert!(!is_secret || mode & 0o077 == 0, "{} {mode:o}", path.display());
    }
    let path = run_file(&folder);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let read: Result<Credentials, String> = credentials::read(&path);
    assert!(read.err().unwrap().contains("chmod 600"));
}
