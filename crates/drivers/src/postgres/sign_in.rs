//! Sign-in to PostgreSQL: TLS if requested, the start-up message, and authentication, until the
//! server is ready for the first statement.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use model::{DbError, DbErrorKind, Secret, Statement};
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::message::backend::{self, AuthenticationSaslBody};
use postgres_protocol::message::frontend;

use super::Way;
use super::completion::read_status;
use super::db_errors::{garbled, read_error};
use super::messages::{self, Message, is_aside};
use super::protocol::Postgres;
use super::scram::{self, Binding, KeyCache, Scram};
use crate::net::{CancelKey, Channel, Input, SessionSettings, SignIn, Step, check_clear};

/// Limit on the messages that a server may send in a sign-in; with more, the sign-in fails. Some
/// twenty settings and a few notices are usual; a hostile server might never stop.
const MESSAGES_MAX: usize = 1_000;

/// Use of channel binding, which ties a SCRAM sign-in to its TLS connection, so that nobody can
/// relay it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ChannelBinding {
    Disable,
    /// Binds the sign-in if connection and server allow it.
    Prefer,
    /// Rejects a server that accepts the user in any other way.
    Require,
}

impl ChannelBinding {
    /// Names of the variants, as users write them, in their order.
    pub(super) const NAMES: &'static [&'static str] = &["disable", "prefer", "require"];

    pub(super) fn by_name(name: &str) -> ChannelBinding {
        match name {
            "disable" => ChannelBinding::Disable,
            "require" => ChannelBinding::Require,
            _ => ChannelBinding::Prefer,
        }
    }
}

/// User, password, database and options with which all connections of a target sign in.
pub(super) struct Account {
    pub(super) user: String,
    pub(super) password: Option<Secret>,
    pub(super) database: String,
    pub(super) application_name: String,
    pub(super) way: Way,
    /// Whether the user permits sending the password unencrypted to a server whose identity is not
    /// verified.
    pub(super) clear_password: bool,
    pub(super) channel_binding: ChannelBinding,
    /// Server-side time limit of a statement, in milliseconds; 0 for none.
    pub(super) statement_timeout_ms: u64,
    /// Isolation level and further settings of each session.
    pub(super) session: SessionSettings,
    /// Cache of the keys derived from the password, for SCRAM sign-ins.
    pub(super) keys: KeyCache,
    /// Whether a connection pooler is between dbdyno and the server; false until the first session
    /// has found out.
    pub(super) is_pooled: AtomicBool,
}

pub(super) struct PostgresSignIn {
    account: Arc<Account>,
    statements: Arc<[Statement]>,
    /// Number of statements that the session keeps prepared at most.
    n_kept: usize,
    /// Random bytes for a SCRAM sign-in, newly drawn for each.
    nonce: [u8; 18],
    stage: Stage,
    scram: Option<Scram>,
    /// Whether the SCRAM sign-in that has begun is tied to the TLS connection.
    offers_binding: bool,
    /// Whether the user was accepted by a sign-in that is tied to the TLS connection.
    is_bound: bool,
    cancel_key: CancelKey,
    n_messages: usize,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Nothing,
    /// The client has asked whether the server supports TLS, and waits for the reply.
    AskedTls,
    /// The server supports TLS, and the TLS handshake is under way.
    Securing,
    /// The start-up message was sent, and the server is authenticating the user.
    Proving,
    /// The server has accepted the password, and sends its settings and the cancel key.
    Known,
}

impl PostgresSignIn {
    pub(super) fn new(
        account: Arc<Account>,
        (statements, n_kept): (Arc<[Statement]>, usize),
        nonce: [u8; 18],
    ) -> PostgresSignIn {
        let cancel_key = CancelKey::Secret(0, 0);
        let stage = Stage::Nothing;
        PostgresSignIn {
            account,
            statements,
            n_kept,
            nonce,
            stage,
            scram: None,
            offers_binding: false,
            is_bound: false,
            cancel_key,
            n_messages: 0,
        }
    }

    fn start_up(&mut self, out: &mut Vec<u8>) -> Result<(), DbError> {
        let account = &self.account;
        let settings = [
            ("user", account.user.as_str()),
            ("database", &account.database),
            ("application_name", &account.application_name),
            ("client_encoding", "UTF8"),
            // In the server's own spelling: a pooler compares the text, and would set it again at
            // each transaction.
            ("DateStyle", "ISO, MDY"),
        ];
        // Poolers do not pass every setting, so only requested ones are sent.
        let timeout_ms = account.statement_timeout_ms.to_string();
        let limit = ("statement_timeout", timeout_ms.as_str());
        let limit = (account.statement_timeout_ms > 0).then_some(limit);
        let session = &account.session;
        let isolation = session.isolation.as_deref().map(str::to_lowercase);
        let isolation = isolation.as_deref().map(|level| ("default_transaction_isolation", level));
        let further = session.settings.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let settings = settings.into_iter().chain(limit).chain(isolation).chain(further);
        messages::put(out, |buffer| frontend::startup_message(settings, buffer))?;
        self.stage = Stage::Proving;
        Ok(())
    }

    /// Reads the server's reply to the request for TLS, which is a single byte or an error.
    fn read_tls_reply(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Postgres>, DbError> {
        match *input.bytes() {
            [] => Ok(Step::More),
            [b'S'] => {
                input.consume(1);
                self.stage = Stage::Securing;
                Ok(Step::StartTls)
            }
            // An attacker could have inserted it (CVE-2021-23222).
            [b'S', ..] => Err(garbled(&"unencrypted bytes after the start of TLS")),
            [b'N', ..] if channel.tls_mode.is_required() => {
                let message = format!(
                    "the server does not offer TLS, which tls={} requires; set ssl = on on the \
                     server, or use tls=prefer",
                    channel.tls_mode
                );
                Err(DbError::new(DbErrorKind::Denied, message))
            }
            [b'N', ..] => {
                input.consume(1);
                self.start_up(out)?;
                Ok(Step::More)
            }
            [b'E', ..] => match Message::first(input.bytes())? {
                Some(message) => Err(read_error(message.whole)?.db_error),
                None => Ok(Step::More),
            },
            _ => Err(garbled(&"an unknown reply")),
        }
    }

    fn take(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Option<Postgres>, DbError> {
        self.n_messages += 1;
        if self.n_messages > MESSAGES_MAX {
            return Err(garbled(&"the sign-in has too many messages"));
        }
        match message.tag {
            b'E' => return Err(read_error(message.whole)?.db_error),
            b'R' if self.stage == Stage::Proving => self.prove(message, out, channel)?,
            b'K' if self.stage == Stage::Known => self.cancel_key = read_key(message.body())?,
            b'Z' if self.stage == Stage::Known => {
                let status = read_status(message.body())?;
                let statements = Arc::clone(&self.statements);
                let key = self.cancel_key.clone();
                // Sessions that build, check or query leave no prepared statements in a pooler's
                // connections.
                let is_pooled = self.account.is_pooled.load(Ordering::Relaxed);
                let way = match self.account.way {
                    Way::Named if statements.is_empty() && is_pooled => Way::Unnamed,
                    way => way,
                };
                let statements = (statements, self.n_kept);
                return Ok(Some(Postgres::new(way, statements, key, status)));
            }
            // Supported versions and options: we request the oldest, and none.
            b'v' => {}
            tag if is_aside(tag) => {}
            tag => {
                let tag = tag.escape_ascii();
                return Err(garbled(&format_args!(
                    "unexpected message '{tag}' during the sign-in"
                )));
            }
        }
        Ok(None)
    }

    fn prove(
        &mut self,
        message: Message<'_>,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<(), DbError> {
        use backend::Message as Asked;
        let parsed = Asked::parse(&mut BytesMut::from(message.whole));
        match parsed.map_err(|error| garbled(&error))? {
            Some(Asked::AuthenticationOk) if self.scram.is_some() => {
                Err(garbled(&"it accepted the sign-in without proving that it knows the password"))
            }
            Some(Asked::AuthenticationOk) if self.must_bind() && !self.is_bound => {
                Err(unbound("accepted the user without it (another method in pg_hba.conf)"))
            }
            Some(Asked::AuthenticationOk) => {
                self.stage = Stage::Known;
                Ok(())
            }
            Some(Asked::AuthenticationCleartextPassword | Asked::AuthenticationMd5Password(_))
                if self.must_bind() =>
            {
                Err(unbound("asks for the password by another method than SCRAM"))
            }
            Some(Asked::AuthenticationCleartextPassword) => {
                let password = self.password()?.as_bytes();
                check_clear(channel, self.account.clear_password)
                    .map_err(|no| no.during("method password of pg_hba.conf"))?;
                messages::put(out, |buffer| frontend::password_message(password, buffer))
            }
            Some(Asked::AuthenticationMd5Password(body)) => {
                let user = self.account.user.as_bytes();
                let hash = md5_hash(user, self.password()?.as_bytes(), body.salt());
                messages::put(out, |buffer| frontend::password_message(hash.as_bytes(), buffer))
            }
            Some(Asked::AuthenticationSasl(body)) => self.begin_scram(&body, out, channel),
            Some(Asked::AuthenticationSaslContinue(body)) => {
                let account = Arc::clone(&self.account);
                let password = self.password()?.to_owned();
                let scram = self.scram.as_mut().ok_or_else(not_begun)?;
                let answer = scram.answer(body.data(), &password, &account.keys)?;
                messages::put(out, |buffer| frontend::sasl_response(answer.as_bytes(), buffer))
            }
            Some(Asked::AuthenticationSaslFinal(body)) => {
                self.scram.as_mut().ok_or_else(not_begun)?.finish(body.data())?;
                self.scram = None;
                // With SCRAM-SHA-256-PLUS the server has proven its certificate, too.
                self.is_bound = self.offers_binding;
                Ok(())
            }
            _ => {
                let message = "the server requires an authentication method that dbdyno does not \
                               support; use trust, password, md5 or scram-sha-256 (in pg_hba.conf)";
                Err(DbError::new(DbErrorKind::Unsupported, message))
            }
        }
    }

    fn must_bind(&self) -> bool {
        self.account.channel_binding == ChannelBinding::Require
    }

    fn password(&self) -> Result<&str, DbError> {
        match &self.account.password {
            Some(password) => Ok(password.reveal()),
            None => {
                let user = &self.account.user;
                let asks = format!("the server asks for the password of '{user}'");
                let message =
                    format!("{asks}; use --ask-password, --password-file or DBDYNO_PASSWORD");
                Err(DbError::new(DbErrorKind::Denied, message))
            }
        }
    }

    fn begin_scram(
        &mut self,
        body: &AuthenticationSaslBody,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<(), DbError> {
        let offered: Vec<&str> = body.mechanisms().collect().map_err(|error| garbled(&error))?;
        let may_bind = channel.is_tls && self.account.channel_binding != ChannelBinding::Disable;
        let certificate = channel.certificate.as_deref().filter(|_| may_bind);
        let hash = certificate.and_then(scram::certificate_hash);
        let binding = match hash {
            Some(hash) if offered.contains(&scram::PLUS) => Binding::Certificate(hash),
            Some(_) => Binding::NotOffered,
            None => Binding::Impossible,
        };
        self.offers_binding = matches!(binding, Binding::Certificate(_));
        if self.must_bind() && !self.offers_binding {
            return Err(unbound(match channel.is_tls {
                false => "does not use TLS for this connection: use tls=require",
                true => "does not offer SCRAM-SHA-256-PLUS for this certificate",
            }));
        }
        let mechanism = match binding {
            Binding::Certificate(_) => scram::PLUS,
            _ if offered.contains(&scram::PLAIN) => scram::PLAIN,
            _ => {
                let offered = offered.join(", ");
                let message =
                    format!("the server offers only {offered}; dbdyno supports scram-sha-256");
                return Err(DbError::new(DbErrorKind::Unsupported, message));
            }
        };
        if self.scram.is_some() {
            return Err(garbled(&"SCRAM was started twice"));
        }
        // Fails early without a password.
        self.password()?;
        let (scram, first) = Scram::begin(binding, self.nonce);
        self.scram = Some(scram);
        messages::put(out, |buffer| {
            frontend::sasl_initial_response(mechanism, first.as_bytes(), buffer)
        })
    }
}

impl SignIn for PostgresSignIn {
    type Protocol = Postgres;

    fn advance(
        &mut self,
        input: &mut Input,
        out: &mut Vec<u8>,
        channel: &Channel,
    ) -> Result<Step<Postgres>, DbError> {
        match self.stage {
            Stage::Nothing if channel.tls_mode == crate::net::TlsMode::Disable => {
                self.start_up(out)?;
            }
            Stage::Nothing if channel.is_direct => {
                self.stage = Stage::Securing;
                return Ok(Step::StartTls);
            }
            Stage::Nothing => {
                messages::put(out, |buffer| {
                    frontend::ssl_request(buffer);
                    Ok(())
                })?;
                self.stage = Stage::AskedTls;
            }
            Stage::AskedTls => return self.read_tls_reply(input, out, channel),
            Stage::Securing => {
                assert!(channel.is_tls, "TLS was begun");
                self.start_up(out)?;
            }
            Stage::Proving | Stage::Known => {}
        }
        let mut n_read = 0;
        let mut signed_in = None;
        while let (None, Some(message)) = (&signed_in, Message::first(&input.bytes()[n_read..])?) {
            n_read += message.whole.len();
            signed_in = self.take(message, out, channel)?;
        }
        input.consume(n_read);
        Ok(signed_in.map_or(Step::More, Step::Done))
    }
}

/// Error of a server whose sign-in is not tied to the TLS connection, although the target demands
/// it. `why` continues "the server".
#[cold]
fn unbound(why: &str) -> DbError {
    let message = format!("channel_binding=require, but the server {why}");
    DbError::new(DbErrorKind::Denied, message)
}

#[cold]
fn not_begun() -> DbError {
    garbled(&"a SCRAM message before SCRAM was started")
}

/// Parses a BackendKeyData message: the process ID and the secret for cancel requests, of four
/// bytes each in protocol version 3.0.
fn read_key(body: &[u8]) -> Result<CancelKey, DbError> {
    match *body {
        [a, b, c, d, e, f, g, h] => {
            let process = i32::from_be_bytes([a, b, c, d]);
            Ok(CancelKey::Secret(process, i32::from_be_bytes([e, f, g, h])))
        }
        _ => Err(garbled(&"a cancel key of an unknown length")),
    }
}
