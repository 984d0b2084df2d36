//! Sign-in to a server of the MySQL family: greeting, TLS, password, and the session's first
//! statement.
//!
//! Packets and authentication methods come from `mysql_common`. Not here: sockets, and requests.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use model::{DbError, DbErrorKind, Statement};
use mysql_common::auth::plugins::{AuthProc, ChallengeResponsePlugin, Context, Response};
use mysql_common::constants::{CapabilityFlags, MariadbCapabilities};
use mysql_common::io::ParseBuf;
use mysql_common::packets::{
    AuthPlugin, AuthSwitchRequest, HandshakePacket, HandshakeResponse, SslRequest,
};
use mysql_common::proto::MySerialize;

use super::compression::{Compressor, Connection};
use super::db_errors::db_error;
use super::key;
use super::packets::{
    END, ERROR, Framer, OK, broken, put_command, put_packet, read_error, read_ok,
};
use super::protocol::{Agreed, MySql};
use super::server::MysqlServer;
use super::statements::COM_QUERY;
use crate::net::{Channel, Input, SignIn, Step, check_clear};

/// Longest packet that the client announces in its sign-in, in bytes: the maximum of the server's
/// `max_allowed_packet`.
const PACKET_BYTES_MAX: u32 = 1 << 30;
/// Number of the character set and collation of connections, `utf8mb4_general_ci`, which every
/// server since 5.5 knows.
const UTF8MB4: u8 = 45;
/// Limit on the packets that a server may send in a sign-in before it fails; no authentication
/// method needs as many.
const STEPS_MAX: u32 = 32;
/// First byte of a packet with further data from the server for the authentication method.
const MORE_DATA: u8 = 0x01;

pub(super) struct MysqlSignIn {
    server: Arc<MysqlServer>,
    statements: Arc<[Statement]>,
    framer: Framer,
    state: State,
    n_steps: u32,
    /// Compressor of packets; `None` before the password is accepted, and if compression was not
    /// agreed on.
    compressor: Option<Box<Compressor>>,
}

enum State {
    /// The client waits for the server's greeting, the first packet of a connection.
    Greeting,
    /// The client has sent its request for TLS, and the handshake follows.
    Securing(Box<Greeting>),
    /// The client has answered the greeting with its user name, and the server is verifying the
    /// password.
    Proving(Box<Proof>),
    /// The server has accepted the password, and the client has sent the session's first SET
    /// statement.
    Setting(Agreed),
}

/// The server's greeting, and the capabilities in it that the connection will use.
struct Greeting {
    packet: HandshakePacket<'static>,
    capabilities: CapabilityFlags,
    mariadb_capabilities: MariadbCapabilities,
}

/// State of authentication by the method that the server has chosen, such as
/// `caching_sha2_password`.
struct Proof {
    method: AuthProc,
    nonce: Vec<u8>,
    /// Whether the client has asked the server for its RSA key, which the next packet then
    /// contains.
    awaits_key: bool,
    agreed: Agreed,
}

/// Password, nonce and channel properties from which `mysql_common` computes the messages of an
/// authentication method.
struct AuthInput<'a> {
    password: &'a [u8],
    nonce: &'a [u8],
    channel: &'a Channel,
}

impl Context for AuthInput<'_> {
    fn pass(&self) -> &[u8] {
        self.password
    }

    fn is_ipc_transport(&self) -> bool {
        self.channel.is_local
    }

    fn is_tls_transport(&self) -> bool {
        self.channel.is_tls
    }

    fn scramble(&self) -> &[u8] {
        self.nonce
    }

    fn server_key_pem(&self) -> Option<&[u8]> {
        None
    }
}

impl MysqlSignIn {
    pub(super) fn new(server: Arc<MysqlServer>, statements: Arc<[Statement]>) -> MysqlSignIn {
        let framer = Framer::new(server.packet_bytes_max);
        MysqlSignIn {
            server,
            statements,
            framer,
            state: State::Greeting,
            n_steps: 0,
            compressor: None,
        }
    }

    /// Returns payload and sequence number of the server's next packet; `None` if it has not been
    /// received completely.
    fn next(&mut self, input: &mut Input) -> Result<Option<(Vec<u8>, u8)>, DbError> {
        loop {
            let plain = match &mut self.compressor {
                Some(compressor) => compressor.plain(),
                None => &mut *input,
            };
            if let Some(framed) = self.framer.next(plain)? {
                let parts = self.framer.take_parts();
                let payload = framed.payload(plain, &parts).to_owned();
                framed.consume(plain);
                return Ok(Some((payload, framed.sequence)));
            }
            let Some(compressor) = &mut self.compressor else { return Ok(None) };
            if !compressor.take(input)? {
                return Ok(None);
            }
        }
    }

    fn read_packet(
        &mut self,
        payload: &[u8],
        sequence: u8,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Connection>, DbError> {
        self.n_steps += 1;
        if self.n_steps > STEPS_MAX {
            return Err(broken("the sign-in has too many steps"));
        }
        let Some(&first) = payload.first() else { return Err(broken("an empty packet")) };
        if first == ERROR {
            let error = read_error(payload).ok_or_else(|| broken("a truncated error packet"))?;
            let no = db_error(error);
            return Err(match (channel.tls_mode.is_none(), channel.is_tls) {
                (true, _) => may_need_tls(no),
                (false, true) => may_need_certificate(no),
                (false, false) => no,
            });
        }
        let next = sequence.wrapping_add(1);
        match std::mem::replace(&mut self.state, State::Greeting) {
            State::Greeting => self.greet(payload, next, out, channel),
            State::Securing(_) => Err(broken("a packet instead of the TLS handshake")),
            State::Proving(proof) => self.prove(*proof, payload, next, out, channel),
            State::Setting(mut agreed) => {
                let done = read_ok(payload).filter(|_| first == OK);
                agreed.status = done.ok_or_else(|| broken("no OK"))?.status;
                let MysqlServer { as_text, packet_bytes_max, .. } = *self.server;
                let declared = (&self.statements, self.server.connector.statements_kept());
                let protocol = MySql::new(agreed, as_text, packet_bytes_max, declared);
                Ok(Step::Done(Connection::new(protocol, self.compressor.take())))
            }
        }
    }

    fn greet(
        &mut self,
        payload: &[u8],
        sequence: u8,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Connection>, DbError> {
        check_greeting(payload)?;
        let packet = ParseBuf(payload).parse::<HandshakePacket<'_>>(());
        let packet = packet.map_err(|_| broken("an unknown greeting"))?;
        if packet.protocol_version() != 10 {
            return Err(broken("a greeting of a version other than 10"));
        }
        let greeting = Greeting::new(packet.into_owned(), &self.server, channel)?;
        self.server.note_version(&greeting.packet.server_version_str());
        if greeting.capabilities.contains(CapabilityFlags::CLIENT_SSL) {
            let request = SslRequest::new(greeting.capabilities, PACKET_BYTES_MAX, UTF8MB4)
                .with_mariadb_capabilities(greeting.mariadb_capabilities);
            put_packet(out, sequence, |out| request.serialize(out));
            self.state = State::Securing(Box::new(greeting));
            return Ok(Step::StartTls);
        }
        self.respond(greeting, sequence, out, channel)?;
        Ok(Step::More)
    }

    /// Answers the server's greeting with user, database, capabilities, and the first data of the
    /// authentication method.
    fn respond(
        &mut self,
        greeting: Greeting,
        sequence: u8,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<(), DbError> {
        let Greeting { packet, capabilities, mariadb_capabilities } = greeting;
        let nonce = packet.nonce();
        let (plugin, method, proof) =
            self.first_proof(packet.auth_plugin().as_ref(), &nonce, channel);
        let awaits_key = asks_for_key(&method, &proof);
        let attributes = [("_client_name", "dbdyno"), ("program_name", "dbdyno")];
        let attributes = attributes.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let database = self.server.database.as_deref().map(str::as_bytes);
        let response = HandshakeResponse::new(
            Some(proof),
            // First version with utf8mb4; older ones are rejected.
            (5, 5, 3),
            Some(self.server.user.as_bytes()),
            database,
            capabilities.contains(CapabilityFlags::CLIENT_PLUGIN_AUTH).then_some(plugin),
            capabilities,
            capabilities
                .contains(CapabilityFlags::CLIENT_CONNECT_ATTRS)
                .then(|| HashMap::from(attributes)),
            PACKET_BYTES_MAX,
        )
        .with_mariadb_ext_capabilities(mariadb_capabilities);
        put_packet(out, sequence, |out| response.serialize(out));
        let deprecates_eof = capabilities.contains(CapabilityFlags::CLIENT_DEPRECATE_EOF);
        let caches = MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;
        let agreed = Agreed {
            connection_id: u64::from(packet.connection_id()),
            has_column_end: !deprecates_eof,
            leaves_out_columns: mariadb_capabilities.contains(caches),
            can_load: capabilities.contains(CapabilityFlags::CLIENT_LOCAL_FILES),
            status: 0,
        };
        self.state = State::Proving(Box::new(Proof { method, nonce, awaits_key, agreed }));
        Ok(())
    }

    /// Chooses the authentication method for the client's answer to the greeting, and returns it
    /// with its first data. It is the server's default method if that is supported and allowed on
    /// this channel; otherwise `mysql_native_password` without data, whereupon the server names
    /// the user's method.
    fn first_proof(
        &self,
        offered: Option<&AuthPlugin<'_>>,
        nonce: &[u8],
        channel: &Channel,
    ) -> (AuthPlugin<'static>, AuthProc, Vec<u8>) {
        let known = AuthInput { password: self.server.password(), nonce, channel };
        if let Some(plugin) =
            offered.filter(|plugin| check_method(plugin, &self.server, channel).is_ok())
            && let Ok(mut method) = AuthProc::init(plugin)
            && let Ok(response) = method.run(known, nonce)
        {
            let proof = response.data().unwrap_or_default().to_vec();
            return (plugin.clone().into_owned(), method, proof);
        }
        let plugin = AuthPlugin::MysqlNativePassword;
        let method = AuthProc::MysqlNativePassword(Default::default());
        (plugin, method, Vec::new())
    }

    /// Writes the session's first SET statement, and begins compression if it was agreed on.
    fn set_state(&mut self, out: &mut Vec<u8>) {
        let state = self.server.session_state();
        let put = |out: &mut Vec<u8>| put_command(out, COM_QUERY, state.as_bytes());
        if !self.server.compress {
            return put(out);
        }
        let mut compressor = Box::new(Compressor::new(self.server.packet_bytes_max));
        compressor.pack(out, false, |_, out| put(out));
        self.compressor = Some(compressor);
    }

    fn prove(
        &mut self,
        mut proof: Proof,
        payload: &[u8],
        sequence: u8,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Connection>, DbError> {
        let challenge = match payload {
            [OK, ..] => {
                let done = read_ok(payload).ok_or_else(|| broken("a truncated OK packet"))?;
                proof.agreed.status = done.status;
                self.set_state(out);
                self.state = State::Setting(proof.agreed);
                return Ok(Step::More);
            }
            [END] => return Err(too_old()),
            [END, ..] => {
                let switch = ParseBuf(payload).parse::<AuthSwitchRequest<'_>>(());
                let switch = switch
                    .map_err(|_| broken("a truncated switch of the authentication method"))?;
                let plugin = switch.auth_plugin();
                check_method(&plugin, &self.server, channel)?;
                proof.method = AuthProc::init(&plugin).map_err(|_| unknown_method(&plugin))?;
                proof.nonce = switch.plugin_data().to_owned();
                proof.awaits_key = false;
                Cow::Owned(proof.nonce.clone())
            }
            [MORE_DATA, data @ ..] => Cow::Borrowed(data),
            data => Cow::Borrowed(data),
        };
        if std::mem::take(&mut proof.awaits_key) {
            let data = key::encrypt(&challenge, self.server.password(), &proof.nonce)?;
            put_packet(out, sequence, |out| out.extend_from_slice(&data));
            self.state = State::Proving(Box::new(proof));
            return Ok(Step::More);
        }
        check_answer(&proof.method, &challenge, &self.server, channel)?;
        let known = AuthInput { password: self.server.password(), nonce: &proof.nonce, channel };
        let response = proof.method.run(known, &challenge).map_err(|error| {
            let message = format!("cannot authenticate to the server: {error}");
            DbError::new(DbErrorKind::Denied, message)
        })?;
        if let Response::Next { packet: Some(data) } | Response::Last { packet: Some(data) } =
            &response
        {
            put_packet(out, sequence, |out| out.extend_from_slice(data));
            proof.awaits_key = asks_for_key(&proof.method, data);
        }
        self.state = State::Proving(Box::new(proof));
        Ok(Step::More)
    }
}

impl Greeting {
    fn new(
        packet: HandshakePacket<'static>,
        server: &MysqlServer,
        channel: &Channel,
    ) -> Result<Greeting, DbError> {
        use CapabilityFlags as C;
        let offered = packet.capabilities();
        let always = C::CLIENT_PROTOCOL_41 | C::CLIENT_SECURE_CONNECTION;
        if !offered.contains(always) {
            return Err(too_old());
        }
        let mut wanted = always
            | C::CLIENT_LONG_PASSWORD
            | C::CLIENT_LONG_FLAG
            | C::CLIENT_TRANSACTIONS
            | C::CLIENT_PLUGIN_AUTH
            | C::CLIENT_PLUGIN_AUTH_LENENC_CLIENT_DATA
            | C::CLIENT_CONNECT_ATTRS
            | C::CLIENT_MULTI_RESULTS
            | C::CLIENT_PS_MULTI_RESULTS
            | C::CLIENT_MULTI_STATEMENTS
            | C::CLIENT_DEPRECATE_EOF;
        if server.compress {
            if !offered.contains(C::CLIENT_COMPRESS) {
                return Err(no_compression());
            }
            wanted |= C::CLIENT_COMPRESS;
        }
        if server.local_infile {
            wanted |= C::CLIENT_LOCAL_FILES;
        }
        if channel.tls_mode.is_required() && !offered.contains(C::CLIENT_SSL) {
            return Err(no_tls(channel));
        }
        if !channel.tls_mode.is_none() {
            wanted |= C::CLIENT_SSL;
        }
        let mut capabilities = wanted & offered;
        // MariaDB signals its own capabilities by the absence of this flag.
        let is_mariadb = !offered.contains(C::CLIENT_LONG_PASSWORD);
        let mut mariadb_capabilities = MariadbCapabilities::empty();
        if is_mariadb && capabilities.contains(C::CLIENT_DEPRECATE_EOF) {
            mariadb_capabilities = packet.mariadb_ext_capabilities()
                & MariadbCapabilities::MARIADB_CLIENT_CACHE_METADATA;
        }
        if server.database.is_some() {
            capabilities |= C::CLIENT_CONNECT_WITH_DB;
        }
        Ok(Greeting { packet, capabilities, mariadb_capabilities })
    }
}

impl SignIn for MysqlSignIn {
    type Protocol = Connection;

    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Connection>, DbError> {
        if let State::Securing(_) = self.state {
            let securing = std::mem::replace(&mut self.state, State::Greeting);
            let State::Securing(greeting) = securing else { return Err(broken("TLS")) };
            // Packet 0 is the greeting, packet 1 the TLS request.
            self.respond(*greeting, 2, out, channel)?;
            return Ok(Step::More);
        }
        loop {
            let Some((payload, sequence)) = self.next(input)? else { return Ok(Step::More) };
            match self.read_packet(&payload, sequence, out, channel)? {
                Step::More => {}
                step => return Ok(step),
            }
        }
    }
}

/// Whether `data`, which the authentication method sends, asks the server for its RSA key.
fn asks_for_key(method: &AuthProc, data: &[u8]) -> bool {
    match method {
        AuthProc::CachingSha2Password(_) => data == [0x02],
        AuthProc::Sha256Password(_) => data == [0x01],
        _ => false,
    }
}

/// Checks the length of the nonce in the server's greeting, because `mysql_common` panics if it is
/// invalid.
fn check_greeting(payload: &[u8]) -> Result<(), DbError> {
    // Skips the protocol version, which may be any byte.
    let version_end = payload.iter().skip(1).position(|byte| *byte == 0).map(|at| at + 1);
    let nonce_length = version_end.and_then(|end| payload.get(end + 21));
    match nonce_length {
        Some(0..0x80) => Ok(()),
        _ => Err(broken("an unknown greeting")),
    }
}

/// Checks the authentication method that the server demands. Fails if it is `mysql_old_password`,
/// or if it would send the password readable for others on this channel.
fn check_method(
    plugin: &AuthPlugin<'_>,
    server: &MysqlServer,
    channel: &Channel,
) -> Result<(), DbError> {
    match plugin {
        AuthPlugin::MysqlOldPassword => {
            let message = "the server requires mysql_old_password, which is insecure; give the \
                           user a newer authentication method with ALTER USER";
            Err(DbError::new(DbErrorKind::Denied, message))
        }
        AuthPlugin::MysqlClearPassword => may_show(server, channel, "mysql_clear_password"),
        // The password is sent in clear text over TLS, otherwise encrypted with an unverified key.
        AuthPlugin::Sha256Password => may_show(server, channel, "sha256_password"),
        _ => Ok(()),
    }
}

/// Fails if the client's next message would contain the unencrypted password and this channel does
/// not allow that. With `caching_sha2_password` a server asks for the password unless it has it
/// cached.
fn check_answer(
    method: &AuthProc,
    challenge: &[u8],
    server: &MysqlServer,
    channel: &Channel,
) -> Result<(), DbError> {
    const FULL: &[u8] = &[0x04];
    match method {
        AuthProc::CachingSha2Password(_) if challenge == FULL => {
            may_show(server, channel, "caching_sha2_password")
        }
        _ => Ok(()),
    }
}

/// Fails unless the password may be sent on this channel in clear text, or encrypted with a key
/// that is not verified. An empty password always may.
fn may_show(server: &MysqlServer, channel: &Channel, method: &'static str) -> Result<(), DbError> {
    if server.password().is_empty() {
        return Ok(());
    }
    check_clear(channel, server.clear_password).map_err(|no| no.during(method))
}

fn unknown_method(plugin: &AuthPlugin<'_>) -> DbError {
    let name = String::from_utf8_lossy(plugin.as_bytes()).into_owned();
    let message = match (&name[..], cfg!(feature = "ed25519")) {
        ("client_ed25519" | "parsec", false) => format!(
            "the server requires the authentication method '{name}', without which this dbdyno \
             was built; give the user mysql_native_password, or build dbdyno with --features \
             ed25519"
        ),
        _ => format!(
            "the server requires the authentication method '{name}', which dbdyno does not \
             support; give the user mysql_native_password, caching_sha2_password, ed25519 or \
             parsec"
        ),
    };
    DbError::new(DbErrorKind::Denied, message)
}

fn no_compression() -> DbError {
    let message = "the server does not offer zlib compression; leave compress=zlib out of the \
                   target's URL";
    DbError::new(DbErrorKind::Unsupported, message)
}

fn too_old() -> DbError {
    let message = "the server is too old: it supports only the protocol before version 4.1";
    DbError::new(DbErrorKind::Unsupported, message)
}

/// Adds the advice to use TLS to the error "Access denied", which servers also return for a user
/// who must use TLS.
fn may_need_tls(mut no: DbError) -> DbError {
    if no.code == 1045 {
        no.message += "; if this user must use TLS, connect with tls=require";
    }
    no
}

/// Adds advice to the error "Access denied", which servers also return for a user who must present
/// a client certificate.
fn may_need_certificate(mut no: DbError) -> DbError {
    if no.code == 1045 {
        no.message += "; a user with REQUIRE X509, SUBJECT or ISSUER needs a certificate of the \
                       client: tls_cert=FILE and tls_key=FILE";
    }
    no
}

fn no_tls(channel: &Channel) -> DbError {
    let message = format!(
        "the server does not offer TLS, which tls={} requires; set ssl_cert and ssl_key on the \
         server, or use tls=prefer or tls=disable",
        channel.tls_mode
    );
    DbError::new(DbErrorKind::Denied, message)
}
