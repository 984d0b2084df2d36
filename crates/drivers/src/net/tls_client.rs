//! TLS by `rustls`: verification of certificates, transfer of records, and error messages in plain
//! words.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use model::{BadParameter, DbError, DbErrorKind};
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, Error, RootCertStore,
    SignatureScheme,
};

use super::broken::{db_error, ended, silent};
use super::client_certificate::ClientCertificate;
use super::socket::{Got, Socket, Wait};
use super::tls_mode::TlsMode;
use super::tls_options::TlsOptions;

/// TLS versions, ciphers and accepted certificates for the connections of a target. Cheap to clone.
#[derive(Clone)]
pub(super) struct Config(Arc<ClientConfig>);

/// Creates the TLS configuration for `mode` with these options. The result is never
/// `None` in builds with TLS.
pub(super) fn config(
    mode: TlsMode,
    options: TlsOptions<'_>,
) -> Result<Option<Config>, BadParameter> {
    let provider = Arc::new(ring::default_provider());
    let verifier = verifier(mode, options.ca, &provider)?;
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has suites for TLS 1.2 and 1.3")
        .dangerous()
        .with_custom_certificate_verifier(verifier);
    let mut config = match ClientCertificate::read(options)? {
        None => builder.with_no_client_auth(),
        Some(ClientCertificate { chain, key }) => {
            let made = builder.with_client_auth_cert(chain, key);
            made.map_err(|error| unusable(&error))?
        }
    };
    config.alpn_protocols =
        options.direct.map(|name| name.as_bytes().to_vec()).into_iter().collect();
    Ok(Some(Config(Arc::new(config))))
}

/// Describes why the client's certificate and its key cannot be used together.
fn unusable(error: &Error) -> BadParameter {
    match error {
        Error::InconsistentKeys(_) => {
            BadParameter::named("tls_key", "this private key is not that of tls_cert")
        }
        error => BadParameter::named("tls_key", format!("it cannot be used: {}", in_words(error))),
    }
}

impl Config {
    /// Starts TLS for a connection to the server with this host name, which its certificate must
    /// contain if the TLS mode is `verify-full`.
    pub(super) fn begin(&self, host: &str) -> Result<Secured, DbError> {
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            let message = format!("'{host}' is not a valid host name for TLS");
            DbError::new(DbErrorKind::Denied, message)
        })?;
        let must_agree = !self.0.alpn_protocols.is_empty();
        let connection = ClientConnection::new(Arc::clone(&self.0), name);
        connection
            .map(|tls| Secured { tls: Box::new(tls), must_agree })
            .map_err(|error| refused(&error))
    }
}

/// TLS state of one connection: keys, and bytes in progress.
pub(super) struct Secured {
    tls: Box<ClientConnection>,
    /// Whether the server must agree to the protocol (ALPN) that the client has named.
    must_agree: bool,
}

impl Secured {
    /// Completes the TLS handshake over the socket, and returns the server's certificate (DER);
    /// `None` if the server has none.
    pub(super) fn poll_handshake(
        &mut self,
        socket: &mut Socket,
        context: &mut Context<'_>,
        bytes_out: &mut u64,
        bytes_in: &mut u64,
    ) -> Poll<Result<Option<Vec<u8>>, DbError>> {
        let tls = &mut self.tls;
        loop {
            let all_sent = send_records(tls, socket, context, bytes_out).map_err(db_error)?;
            if !tls.is_handshaking() && all_sent {
                if self.must_agree && tls.alpn_protocol().is_none() {
                    return Poll::Ready(Err(no_agreement()));
                }
                let chain = tls.peer_certificates().unwrap_or_default();
                return Poll::Ready(Ok(chain.first().map(|first| first.to_vec())));
            }
            let wait = if all_sent { Wait::Bytes } else { Wait::BytesOrRoom };
            match ready!(read_records(tls, socket, context, wait, bytes_in))? {
                Got::Bytes(0) => return Poll::Ready(Err(ended())),
                Got::Silence => return Poll::Ready(Err(silent())),
                Got::Bytes(_) | Got::Room | Got::Nothing => {}
            }
        }
    }

    /// Encrypts and sends `bytes` from the index `n_sent` on, as far as possible without waiting,
    /// and increases `n_sent` by the number of bytes accepted. Returns whether all are sent.
    pub(super) fn send(
        &mut self,
        socket: &mut Socket,
        context: &mut Context<'_>,
        bytes: &[u8],
        n_sent: &mut usize,
        bytes_out: &mut u64,
    ) -> io::Result<bool> {
        loop {
            if !send_records(&mut self.tls, socket, context, bytes_out)? {
                return Ok(false);
            }
            if *n_sent == bytes.len() {
                return Ok(true);
            }
            // TLS accepts a limited amount at a time.
            *n_sent += self.tls.writer().write(&bytes[*n_sent..])?;
        }
    }

    /// Waits for the event that `wait` names, and receives decrypted bytes into `room`.
    pub(super) fn poll_receive(
        &mut self,
        socket: &mut Socket,
        context: &mut Context<'_>,
        room: &mut [u8],
        wait: Wait,
        bytes_in: &mut u64,
    ) -> Poll<Result<Got, DbError>> {
        loop {
            match self.tls.reader().read(room) {
                Ok(n_bytes) => return Poll::Ready(Ok(Got::Bytes(n_bytes))),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(db_error(error))),
            }
            match ready!(read_records(&mut self.tls, socket, context, wait, bytes_in))? {
                Got::Bytes(0) => return Poll::Ready(Ok(Got::Bytes(0))),
                // Records may contain no data for us yet.
                Got::Bytes(_) => {}
                got => return Poll::Ready(Ok(got)),
            }
        }
    }
}

/// Error of a server that answered in TLS but did not say that it speaks the client's protocol, as
/// another kind of server does.
fn no_agreement() -> DbError {
    let message = "TLS: the server does not confirm its protocol (ALPN), which a connection that \
                   begins with TLS needs";
    DbError::new(DbErrorKind::Denied, message)
}

/// Sends the TLS records that wait in `tls`, as far as possible without waiting. Returns whether
/// all are sent.
fn send_records(
    tls: &mut ClientConnection,
    socket: &mut Socket,
    context: &mut Context<'_>,
    bytes_out: &mut u64,
) -> io::Result<bool> {
    while tls.wants_write() {
        let mut out = Out { socket: &mut *socket, context: &mut *context };
        match tls.write_tls(&mut out) {
            Ok(n_bytes) => *bytes_out += n_bytes as u64,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        }
    }
    Ok(true)
}

fn read_records(
    tls: &mut ClientConnection,
    socket: &mut Socket,
    context: &mut Context<'_>,
    wait: Wait,
    bytes_in: &mut u64,
) -> Poll<Result<Got, DbError>> {
    let mut source = In { socket, context, wait, got: Got::Nothing };
    let result = tls.read_tls(&mut source);
    let got = source.got;
    match result {
        Ok(n_bytes) => {
            *bytes_in += n_bytes as u64;
            tls.process_new_packets().map_err(|error| refused(&error))?;
            Poll::Ready(Ok(Got::Bytes(n_bytes)))
        }
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => match (got, wait) {
            (Got::Nothing, Wait::Bytes | Wait::BytesOrRoom) => Poll::Pending,
            (got, _) => Poll::Ready(Ok(got)),
        },
        Err(error) => Poll::Ready(Err(db_error(error))),
    }
}

/// Writer through which `rustls` sends TLS records on the socket.
struct Out<'s, 'c, 'w> {
    socket: &'s mut Socket,
    context: &'c mut Context<'w>,
}

impl Write for Out<'_, '_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.socket.send(self.context, bytes)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            n_bytes => Ok(n_bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reader through which `rustls` receives TLS records from the socket.
struct In<'s, 'c, 'w> {
    socket: &'s mut Socket,
    context: &'c mut Context<'w>,
    wait: Wait,
    got: Got,
}

impl Read for In<'_, '_, '_> {
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        match self.socket.poll_receive(self.context, room, self.wait) {
            Poll::Ready(Ok(Got::Bytes(n_bytes))) => Ok(n_bytes),
            Poll::Ready(Ok(got)) => {
                self.got = got;
                Err(io::ErrorKind::WouldBlock.into())
            }
            Poll::Ready(Err(error)) => Err(error),
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
}

/// Converts an error of `rustls` to a database error with advice for the user.
fn refused(error: &Error) -> DbError {
    use rustls::AlertDescription as Alert;
    let advice = match error {
        Error::InvalidCertificate(CertificateError::UnknownIssuer) => {
            "; name its certificate authority with tls_ca=FILE, or accept any certificate with \
             tls=require"
        }
        Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        ) => "; connect by the name in the certificate, or use tls=verify-ca",
        Error::InvalidCertificate(other) if is_of_an_authority(other) => {
            "; give the server one signed by that authority, or accept any certificate with \
             tls=require"
        }
        Error::InvalidCertificate(_) => "; tls=require accepts any certificate",
        Error::AlertReceived(Alert::CertificateRequired) => {
            "; the server demands a certificate of the client: name it with tls_cert=FILE and \
             tls_key=FILE"
        }
        _ if is_of_client(error) => {
            "; the server does not accept the client's certificate (tls_cert): its authority must \
             be among those that the server trusts"
        }
        _ if is_too_old(error) => {
            "; the server does not support TLS 1.2 or later: upgrade it, or use tls=disable"
        }
        _ if has_no_cipher(error) => {
            "; dbdyno takes ECDHE with AES-GCM or ChaCha20: allow one of these ciphers on the \
             server, or use tls=disable"
        }
        _ => "",
    };
    let is_denied = is_of_client(error)
        || matches!(
            error,
            Error::InvalidCertificate(_) | Error::AlertReceived(Alert::CertificateRequired)
        );
    let kind = match is_denied || is_too_old(error) || has_no_cipher(error) {
        true => DbErrorKind::Denied,
        false => DbErrorKind::ConnectionLost,
    };
    DbError::new(kind, format!("TLS: {}{advice}", in_words(error)))
}

/// Describes a `rustls` error in plain words, because the library's own messages show internal
/// names.
fn in_words(error: &Error) -> String {
    match error {
        Error::InvalidCertificate(why) => {
            format!("the server's certificate is not accepted: {}", of_certificate(why))
        }
        Error::PeerIncompatible(why) => {
            format!("nothing in common with the server: {}", spaced(&format!("{why:?}")))
        }
        Error::PeerMisbehaved(why) => {
            format!("the server breaks the protocol: {}", spaced(&format!("{why:?}")))
        }
        Error::AlertReceived(rustls::AlertDescription::UnknownCA) => {
            "the server ends the handshake: unknown certificate authority".to_owned()
        }
        Error::AlertReceived(alert) => {
            format!("the server ends the handshake: {}", spaced(&format!("{alert:?}")))
        }
        Error::InvalidMessage(why) => {
            format!("the server's message cannot be read: {}", spaced(&format!("{why:?}")))
        }
        other => other.to_string(),
    }
}

fn of_certificate(why: &CertificateError) -> String {
    let name = match why {
        CertificateError::UnknownIssuer => return "its issuer is unknown".to_owned(),
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            return "it has expired".to_owned();
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            return "it is not valid yet (by the clock of this machine)".to_owned();
        }
        // This one is a sentence already.
        CertificateError::NotValidForNameContext { .. } => return why.to_string(),
        CertificateError::Other(why) => why.0.to_string(),
        other => format!("{other:?}"),
    };
    match name.as_str() {
        "UnsupportedCertVersion" => "it is of an X.509 version before 3".to_owned(),
        "CaUsedAsEndEntity" => "it is that of an authority (self-signed)".to_owned(),
        name => spaced(name),
    }
}

/// Converts the name of a Rust enum variant to words, such as `BadEncoding(..)` to `bad encoding`.
/// Content in parentheses is dropped.
fn spaced(name: &str) -> String {
    let end = name.find(['(', '{', ' ']).unwrap_or(name.len());
    let mut words = String::new();
    for letter in name[..end].chars() {
        if letter.is_ascii_uppercase() && words.ends_with(|c: char| c.is_ascii_lowercase()) {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// Whether the error means that the server presents an authority's certificate as its own. `rustls`
/// has no variant for this.
fn is_of_an_authority(error: &CertificateError) -> bool {
    match error {
        CertificateError::Other(why) => why.0.to_string().contains("CaUsedAsEndEntity"),
        _ => false,
    }
}

/// Whether the error means that client and server have no TLS version in common.
fn is_too_old(error: &Error) -> bool {
    use rustls::AlertDescription::ProtocolVersion;
    use rustls::PeerIncompatible as No;
    matches!(
        error,
        Error::PeerIncompatible(
            No::ServerDoesNotSupportTls12Or13 | No::ServerTlsVersionIsDisabledByOurConfig
        ) | Error::AlertReceived(ProtocolVersion)
    )
}

/// Whether the server says by this error that it does not accept the client's certificate.
fn is_of_client(error: &Error) -> bool {
    use rustls::AlertDescription::{
        BadCertificate, CertificateExpired, CertificateRevoked, CertificateUnknown, UnknownCA,
        UnsupportedCertificate,
    };
    let Error::AlertReceived(alert) = error else { return false };
    let of_certificates = [
        BadCertificate,
        CertificateExpired,
        CertificateRevoked,
        CertificateUnknown,
        UnknownCA,
        UnsupportedCertificate,
    ];
    of_certificates.contains(alert)
}

/// Whether the error means that client and server have a TLS version in common, but no common
/// cipher, curve or signature algorithm.
fn has_no_cipher(error: &Error) -> bool {
    use rustls::AlertDescription::{HandshakeFailure, InsufficientSecurity};
    let is_alert = matches!(error, Error::AlertReceived(HandshakeFailure | InsufficientSecurity));
    is_alert || matches!(error, Error::PeerIncompatible(_)) && !is_too_old(error)
}

fn verifier(
    mode: TlsMode,
    ca: Option<&Path>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<dyn ServerCertVerifier>, BadParameter> {
    let schemes = provider.signature_verification_algorithms.supported_schemes();
    if matches!(mode, TlsMode::Prefer | TlsMode::Require) {
        return Ok(Arc::new(Lenient { trusted: None, schemes }));
    }
    let roots = Arc::new(roots(ca)?);
    let builder = WebPkiServerVerifier::builder_with_provider(roots, Arc::clone(provider));
    let trusted =
        builder.build().map_err(|error| BadParameter::named("tls_ca", error.to_string()))?;
    Ok(match mode {
        TlsMode::VerifyFull => trusted,
        _ => Arc::new(Lenient { trusted: Some(trusted), schemes }),
    })
}

/// Limit on the size of a file of trusted certificate authorities, in bytes; a larger file is
/// rejected. The file of an operating system has a quarter of a megabyte.
const CA_BYTES_MAX: u64 = 16 << 20;

fn roots(ca: Option<&Path>) -> Result<RootCertStore, BadParameter> {
    let mut roots = RootCertStore::empty();
    let Some(path) = ca else {
        let found = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(found.certs);
        if roots.is_empty() {
            let words = "this system has no trusted certificate authorities; name one with \
                         tls_ca=FILE";
            return Err(BadParameter::new(words));
        }
        return Ok(roots);
    };
    let bad = |why: &dyn fmt::Display| {
        let path = path.display();
        BadParameter::named("tls_ca", format!("{path} is not a file of certificates (PEM): {why}"))
    };
    let pem = files::read_bytes(path, CA_BYTES_MAX).map_err(|error| bad(&error))?;
    for certificate in CertificateDer::pem_slice_iter(&pem) {
        roots.add(certificate.map_err(|error| bad(&error))?).map_err(|error| bad(&error))?;
    }
    if roots.is_empty() {
        return Err(bad(&"it contains no certificate"));
    }
    Ok(roots)
}

/// Verifier of server certificates that, unlike a browser, never checks the host name; used for all
/// TLS modes except `verify-full`.
#[derive(Debug)]
struct Lenient {
    /// Verifier that requires a certificate from a trusted authority (`verify-ca`). `None` accepts
    /// any certificate (`prefer`, `require`): nobody can eavesdrop, but the server's identity is
    /// not verified. Certificates are then not parsed, since servers generate old ones (X.509
    /// version 1) that would be rejected.
    trusted: Option<Arc<WebPkiServerVerifier>>,
    schemes: Vec<SignatureScheme>,
}

impl ServerCertVerifier for Lenient {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified = self.trusted.as_ref().map(|trusted| {
            trusted.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        });
        match verified {
            // The name is checked last, after the chain and its dates.
            None
            | Some(Err(Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            ))) => Ok(ServerCertVerified::assertion()),
            Some(verified) => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.as_ref().map_or(Ok(HandshakeSignatureValid::assertion()), |trusted| {
            trusted.verify_tls12_signature(message, certificate, signature)
        })
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.trusted.as_ref().map_or(Ok(HandshakeSignatureValid::assertion()), |trusted| {
            trusted.verify_tls13_signature(message, certificate, signature)
        })
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.schemes.clone()
    }
}

#[cfg(test)]
mod tests {
    use rustls::{AlertDescription, OtherError, PeerIncompatible};

    use super::*;

    #[derive(Debug)]
    struct Named(&'static str);

    impl fmt::Display for Named {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str(self.0)
        }
    }

    impl std::error::Error for Named {}

    #[test]
    fn what_tls_refuses_is_said_without_names_of_the_library() {
        let other = |name| {
            Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(Named(name)))))
        };
        let check = |error: Error, expect: &[&str]| {
            let no = refused(&error);
            for words in expect {
                assert!(no.message.contains(words), "{}", no.message);
            }
            // `BadEncoding` is an internal name of the library, `AES` is not.
            let of_library = |word: &&str| {
                let has_capital_within = word.chars().skip(1).any(|c| c.is_ascii_uppercase());
                has_capital_within && word.contains(|c: char| c.is_ascii_lowercase())
            };
            let words = no.message.split(|c: char| !c.is_ascii_alphabetic());
            let mut odd = words.filter(of_library).filter(|word| *word != "ChaCha");
            assert_eq!(odd.next(), None, "{}", no.message);
        };
        check(other("UnsupportedCertVersion"), &["X.509 version before 3", "tls=require accepts"]);
        check(other("CaUsedAsEndEntity"), &["that of an authority (self-signed)"]);
        check(other("TrailingData(Certificate)"), &["trailing data"]);
        let bad = Error::InvalidCertificate(CertificateError::BadEncoding);
        check(bad, &["the server's certificate is not accepted: bad encoding"]);
        let alert = Error::AlertReceived(AlertDescription::HandshakeFailure);
        check(alert, &["handshake failure", "allow one of these ciphers", "tls=disable"]);
        let alert = Error::AlertReceived(AlertDescription::ProtocolVersion);
        check(alert, &["does not support TLS 1.2 or later"]);
        let none = PeerIncompatible::ServerDoesNotSupportTls12Or13;
        check(Error::PeerIncompatible(none), &["does not support TLS 1.2 or later"]);
        let unknown = Error::AlertReceived(AlertDescription::UnknownCA);
        check(
            unknown,
            &[
                "unknown certificate authority",
                "does not accept the client's certificate (tls_cert)",
            ],
        );
        let required = Error::AlertReceived(AlertDescription::CertificateRequired);
        check(required, &["certificate required", "tls_cert=FILE and tls_key=FILE"]);
    }
}
