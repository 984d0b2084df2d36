//! Tests of sign-ins to a scripted server, with authentication methods that no test server has.
//! The client's proofs are verified with another library than the one that made them, or with
//! published examples of the method.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use model::{DbError, DbErrorKind, Target};
use mysql_common::auth::plugins::caching_sha2_password::scramble_sha256;
use mysql_common::auth::plugins::parsec::Parsec;
use mysql_common::auth::plugins::{ChallengeResponsePlugin, Context};
use mysql_common::constants::{CapabilityFlags, StatusFlags};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{AuthSwitchRequest, HandshakePacket, HandshakeResponse};
use mysql_common::proto::MySerialize;
use num_bigint::BigUint;
use proptest::prelude::*;
use ring::signature::{ED25519, UnparsedPublicKey};
use sha1::{Digest, Sha1};

use super::super::decide;
use super::super::packets::put_packet;
use super::super::sign_in::MysqlSignIn;
use super::channel_in_clear;
use crate::certificates::{bare_rsa_key, rsa_key};
use crate::net::{Channel, Input, SignIn, Step, TlsMode};

const PASSWORD: &[u8] = b"secret";
const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";
const OK: &[u8] = &[0, 0, 0, 2, 0, 0, 0];
/// URL of a target to which the password may be sent in clear text.
const CLEAR: &str = "mysql://bench:secret@nowhere/db?tls=disable&clear_password=true";
const FAST: &[u8] = &[1, 3];
const FULL: &[u8] = &[1, 4];

/// A client that is signing in to a scripted server, with the buffers for the bytes between them.
struct Client {
    sign_in: MysqlSignIn,
    input: Input,
    out: Vec<u8>,
    channel: Channel,
    sequence: u8,
}

impl Client {
    fn new(channel: Channel) -> Client {
        Client::to_url("mysql://bench:secret@nowhere/db?tls=disable", channel)
    }

    fn to_url(url: &str, channel: Channel) -> Client {
        let target = Target::parse(url).expect("a URL");
        let server = Arc::new(decide(&target).expect("a target"));
        let sign_in = MysqlSignIn::new(server, Arc::from([]));
        Client { sign_in, input: Input::new(1 << 16), out: Vec::new(), channel, sequence: 0 }
    }

    /// Passes a server packet with this payload to the client, and returns the payload of the
    /// client's answer; `None` if it sends none.
    fn hear(&mut self, payload: &[u8]) -> Result<Option<Vec<u8>>, DbError> {
        let mut packet = Vec::new();
        put_packet(&mut packet, self.sequence, |out| out.extend_from_slice(payload));
        self.input.push(&packet).expect("within the limit");
        match self.sign_in.advance(&mut self.input, &mut self.out, &self.channel)? {
            Step::Done(_) => return Ok(None),
            Step::More => {}
            Step::StartTls | Step::Send => panic!("nobody asked for this"),
        }
        let answer = std::mem::take(&mut self.out);
        let [a, b, c, sequence, payload @ ..] = answer.as_slice() else {
            return Ok(None);
        };
        assert_eq!(payload.len(), u32::from_le_bytes([*a, *b, *c, 0]) as usize, "one packet");
        self.sequence = sequence.wrapping_add(1);
        Ok(Some(payload.to_owned()))
    }

    /// Passes the server's greeting to the client, and returns the authentication data in the
    /// client's answer.
    fn greet(&mut self, plugin: &str) -> Vec<u8> {
        let payload = greeting(plugin, CapabilityFlags::all() - CapabilityFlags::CLIENT_SSL);
        let answer = self.hear(&payload).expect("greeted").expect("an answer");
        let response = ParseBuf(&answer).parse::<HandshakeResponse<'_>>(()).expect("a response");
        assert_eq!((response.user(), response.db_name()), (&b"bench"[..], Some(&b"db"[..])));
        response.scramble_buf().to_owned()
    }

    fn switch(&mut self, plugin: &str, data: &[u8]) -> Result<Vec<u8>, DbError> {
        let mut payload = Vec::new();
        AuthSwitchRequest::new(plugin.as_bytes(), data).serialize(&mut payload);
        self.hear(&payload).map(|answer| answer.expect("an answer"))
    }

    /// Accepts the client's password, and checks that the client then sends its first SET
    /// statement and is signed in.
    fn accept(&mut self) {
        let setting = self.hear(OK).expect("accepted").expect("a statement");
        assert!(setting.starts_with(b"\x03SET autocommit=1"));
        self.sequence = 1;
        assert_eq!(self.hear(OK).expect("done"), None);
    }
}

fn greeting(plugin: &str, offered: CapabilityFlags) -> Vec<u8> {
    let (first, rest) = NONCE.split_first_chunk::<8>().expect("20 bytes");
    let rest = [rest, &[0]].concat();
    let status = StatusFlags::SERVER_STATUS_AUTOCOMMIT;
    let (version, plugin) = (b"8.4.0".as_slice(), Some(plugin.as_bytes()));
    let packet =
        HandshakePacket::new(10, version, 7, *first, Some(rest), offered, 45, status, plugin);
    let mut payload = Vec::new();
    packet.serialize(&mut payload);
    payload
}

#[test]
fn compression_that_the_server_does_not_offer_is_refused() {
    let url = "mysql://bench:secret@nowhere/db?tls=disable&compress=zlib";
    let mut client = Client::to_url(url, channel_in_clear());
    let offered = CapabilityFlags::all() - CapabilityFlags::CLIENT_COMPRESS;
    let no = client.hear(&greeting("mysql_native_password", offered)).expect_err("it is refused");
    assert_eq!(no.kind, DbErrorKind::Unsupported);
    assert!(no.message.contains("leave compress=zlib out of the target's URL"), "{no}");
}

#[test]
fn caching_sha2_is_fast_where_the_server_remembers() {
    let mut client = Client::new(channel_in_clear());
    let proof = client.greet("caching_sha2_password");
    assert_eq!(Some(proof), scramble_sha256(NONCE, PASSWORD).map(|proof| proof.to_vec()));
    assert_eq!(client.hear(FAST).expect("fast"), None);
    client.accept();
}

#[test]
fn caching_sha2_shows_the_password_only_where_nobody_listens() {
    let verified = Channel { tls_mode: TlsMode::VerifyCa, is_tls: true, ..channel_in_clear() };
    for channel in [verified, Channel { is_local: true, ..channel_in_clear() }] {
        let mut client = Client::new(channel_in_clear());
        client.greet("mysql_native_password");
        client.channel = channel;
        let other = b"ABCDEFGHIJKLMNOPQRST";
        let proof = client.switch("caching_sha2_password", &[other, &[0][..]].concat());
        let expect = scramble_sha256(other, PASSWORD).expect("a password").to_vec();
        assert_eq!(proof.expect("proven"), expect);
        assert_eq!(client.hear(FULL).expect("full").expect("an answer"), b"secret\0");
        client.accept();
    }
}

/// Tests servers whose identity is not verified: one that offers its RSA key without TLS, and one
/// with an unverified certificate.
#[test]
fn a_server_that_has_proven_nothing_does_not_get_the_password() {
    let over_tls = |tls_mode| Channel { tls_mode, is_tls: true, ..channel_in_clear() };
    let unproven = [channel_in_clear(), over_tls(TlsMode::Prefer), over_tls(TlsMode::Require)];
    for channel in unproven {
        // The greeting offers no TLS, which is required in one case.
        let greeted = |plugin: &str| {
            let is_required = channel.tls_mode.is_required();
            let at_first = if is_required { channel_in_clear() } else { channel.clone() };
            let mut client = Client::new(at_first);
            assert_ne!(client.greet(plugin), b"secret\0");
            client.channel = channel.clone();
            client
        };
        let check = |mut client: Client, method: &str, answer: &[u8]| {
            let no = client.hear(answer).expect_err("it asks for the password");
            assert_eq!(no.kind, DbErrorKind::Denied);
            let has = |words: &str| no.message.contains(words);
            assert!(has(method) && has("tls=verify-full") && has("clear_password=true"), "{no}");
            assert!(client.out.is_empty(), "{:?}", client.out);
        };
        check(greeted("caching_sha2_password"), "caching_sha2_password", FULL);
        let mut client = greeted("mysql_native_password");
        client.switch("caching_sha2_password", NONCE).expect("a proof, not the password");
        check(client, "caching_sha2_password", FULL);
        let mut switch = Vec::new();
        AuthSwitchRequest::new(b"sha256_password".as_slice(), NONCE).serialize(&mut switch);
        check(greeted("sha256_password"), "sha256_password", &switch);
        // A user without a password has nothing that others could read.
        let mut client = Client::to_url("mysql://bench@nowhere/db?tls=disable", channel_in_clear());
        client.greet("mysql_native_password");
        client.channel = channel;
        client.switch("sha256_password", NONCE).expect("an empty proof");
        client.accept();
    }
}

#[test]
fn where_it_is_allowed_the_password_goes_under_the_servers_key() {
    let pem = rsa_key().public_key_pem();
    for (plugin, request) in [("caching_sha2_password", 2), ("sha256_password", 1)] {
        let mut client = Client::to_url(CLEAR, channel_in_clear());
        let proof = client.greet(plugin);
        let asked = if plugin == "sha256_password" {
            proof
        } else {
            client.hear(FULL).expect("full").expect("an answer")
        };
        assert_eq!(asked, [request], "it asks for the key");
        let answer = [&[1], pem.as_bytes()].concat();
        let encrypted = client.hear(&answer).expect("a key").expect("an answer");
        assert_eq!(encrypted.len(), 256);
        let mixed = decrypt(&bare_rsa_key(), &encrypted);
        let mixed = mixed.iter().zip(NONCE.iter().cycle());
        let password: Vec<u8> = mixed.map(|(letter, salt)| letter ^ salt).collect();
        assert_eq!(password, b"secret\0");
        client.accept();
    }
}

/// Decrypts a password with the server's private key (PKCS #1), as a server does: RSA, and OAEP
/// with SHA-1 (RFC 8017, 7.1.2).
fn decrypt(key: &[u8], encrypted: &[u8]) -> Vec<u8> {
    let numbers: Vec<Vec<u8>> = yasna::parse_der(key, |reader| {
        reader.collect_sequence_of(|reader| Ok(reader.read_bigint_bytes()?.0))
    })
    .expect("a key");
    let [modulus, secret] = [1, 3].map(|index| BigUint::from_bytes_be(&numbers[index]));
    let plain = BigUint::from_bytes_be(encrypted).modpow(&secret, &modulus).to_bytes_be();
    // The first byte is a zero, and a number has none.
    let padded = [vec![0; encrypted.len() - 1 - plain.len()], plain].concat();
    let (seed, data) = padded.split_at(20);
    let seed = xor(seed, &mask(data, seed.len()));
    let data = xor(data, &mask(&seed, data.len()));
    let (label, rest) = data.split_at(20);
    assert_eq!(label, &Sha1::digest([])[..], "the label is empty");
    let begin = rest.iter().position(|byte| *byte != 0).expect("an end of the padding");
    assert_eq!(rest[begin], 1);
    rest[begin + 1..].to_vec()
}

/// Computes the mask generation function MGF1 with SHA-1: `length` bytes from `seed` (RFC 8017,
/// appendix B.2.1).
fn mask(seed: &[u8], length: usize) -> Vec<u8> {
    let blocks = (0u32..).flat_map(|block| Sha1::digest([seed, &block.to_be_bytes()].concat()));
    blocks.take(length).collect()
}

fn xor(left: &[u8], right: &[u8]) -> Vec<u8> {
    left.iter().zip(right).map(|(left, right)| left ^ right).collect()
}

struct Knows;

impl Context for Knows {
    fn pass(&self) -> &[u8] {
        PASSWORD
    }
    fn is_ipc_transport(&self) -> bool {
        false
    }
    fn is_tls_transport(&self) -> bool {
        false
    }
    fn scramble(&self) -> &[u8] {
        NONCE
    }
    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

#[test]
fn parsec_signs_both_nonces_with_the_password() {
    let salt = [b"P\x02", &[9u8; 18][..]].concat();
    // The key that the server stores, derived as the method itself does it.
    let mut method = Parsec::default();
    method.run(Knows, &[0; 32]).expect("begun");
    method.run(Knows, &salt).expect("signed");
    let kept = method.password_hash(Knows).expect("done");
    let nonce = [7u8; 32];
    let mut client = Client::new(channel_in_clear());
    client.greet("mysql_native_password");
    assert_eq!(client.switch("parsec", &nonce).expect("begun"), b"", "it asks for the salt");
    let proof = client.hear(&salt).expect("a salt").expect("an answer");
    let (own_nonce, signature) = proof.split_at(32);
    let key = UnparsedPublicKey::new(&ED25519, &kept[salt.len()..]);
    key.verify(&[&nonce, own_nonce].concat(), signature).expect("the password's signature");
    client.accept();
}

#[test]
fn methods_that_hide_nothing_are_refused() {
    let check = |plugin: &str, channel: Channel, expect: &str| {
        let mut client = Client::new(channel);
        client.greet("caching_sha2_password");
        let no = client.switch(plugin, b"").expect_err("it is refused");
        assert_eq!(no.kind, DbErrorKind::Denied);
        assert!(no.message.contains(expect) && !no.message.contains("secret"), "{no}");
    };
    check("mysql_clear_password", channel_in_clear(), "tls=verify-full");
    let tls = Channel { is_tls: true, ..channel_in_clear() };
    check("mysql_clear_password", tls, "tls=verify-full");
    check("mysql_old_password", channel_in_clear(), "ALTER USER");
    check("dialog", channel_in_clear(), "'dialog'");
    let mut client = Client::new(channel_in_clear());
    client.greet("caching_sha2_password");
    assert_eq!(client.hear(&[0xfe]).expect_err("too old").kind, DbErrorKind::Unsupported);
}

#[test]
fn a_server_that_is_full_says_so_instead_of_a_greeting() {
    let mut client = Client::new(channel_in_clear());
    let no = client.hear(b"\xff\x10\x04Too many connections").expect_err("refused");
    assert_eq!((no.kind, no.code), (DbErrorKind::TooManyConnections, 1040));
    assert!(no.message.contains("raise max_connections"), "{no}");
}

#[test]
fn tls_that_is_asked_for_is_not_given_up() {
    let channel = Channel { tls_mode: TlsMode::Require, ..channel_in_clear() };
    let mut client = Client::new(channel);
    let offered = CapabilityFlags::all() - CapabilityFlags::CLIENT_SSL;
    let nonce = Some(b"ijklmnopqrst\0".as_slice());
    let status = StatusFlags::empty();
    let plugin = Some(b"mysql_native_password".as_slice());
    let name = b"8.4.0".as_slice();
    let greeting =
        HandshakePacket::new(10, name, 7, *b"abcdefgh", nonce, offered, 45, status, plugin);
    let mut payload = Vec::new();
    greeting.serialize(&mut payload);
    let no = client.hear(&payload).expect_err("refused");
    assert!(no.message.contains("tls=require"), "{no}");
    assert!(client.out.is_empty(), "not even the user's name is sent");
}

proptest! {
    #[test]
    fn keys_and_greetings_that_are_none_are_refused(
        bytes in prop::collection::vec(any::<u8>(), 0..300)
    ) {
        let mut client = Client::new(channel_in_clear());
        let _ = client.hear(&bytes);
        let greeting = [b"\x0a8.4.0\0", bytes.as_slice()].concat();
        let _ = Client::new(channel_in_clear()).hear(&greeting);
        let mut client = Client::to_url(CLEAR, channel_in_clear());
        client.greet("caching_sha2_password");
        client.hear(FULL).expect("full");
        let key = STANDARD.encode(&bytes);
        let pem = format!("-----BEGIN PUBLIC KEY-----\n{key}\n-----END PUBLIC KEY-----\n");
        let key = [&[1], pem.as_bytes()].concat();
        prop_assert!(client.hear(&key).is_err());
    }
}

/// Regression test, found by fuzzing: the client searched for the end of the nonce behind the
/// wrong zero byte.
#[test]
fn a_greeting_of_protocol_0_with_a_nonce_of_no_length_is_refused() {
    let greeting = [b"\x008.4.0\0", &[0xff; 20][..], &[0x80], &[0; 40]].concat();
    let no = Client::new(channel_in_clear()).hear(&greeting).expect_err("it is refused");
    assert_eq!(no.kind, DbErrorKind::ConnectionLost);
}
