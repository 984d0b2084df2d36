//! HTTP connection to the web service of a team, which shows the token of a writer.
//!
//! The service must show the certificate that the token names or, if it names none, one that an
//! authority of this system has signed. Not here: what is sent (push).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use app::Error;
use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use hyper::client::conn::http1::{SendRequest, handshake};
use hyper_util::rt::TokioIo;
use model::Host;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::net::TcpStream;
use tokio::runtime::{Builder, Runtime};
use tokio::time::timeout;
use tokio_rustls::TlsConnector;

use crate::web::{FROM, WriterToken};

/// Time limit for connecting, and for the TLS handshake.
const CONNECT_WITHIN: Duration = Duration::from_secs(10);
/// Time limit for a request with its response.
const ANSWER_WITHIN: Duration = Duration::from_secs(600);
/// Largest size of a response, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 20;

/// Address of a web service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Url {
    is_tls: bool,
    host: Host,
    port: u16,
}

impl Url {
    /// Parses `https://host:port`, or `http://` for a service on this host.
    pub(super) fn parse(text: &str) -> Result<Url, Error> {
        let bad = |why: &str| {
            Error::Usage(format!(
                "'{text}' is no address of a service: {why} (such as https://bench.example:8421)"
            ))
        };
        let (scheme, rest) = text.split_once("://").ok_or_else(|| bad("it has no https://"))?;
        let is_tls = match scheme {
            "https" => true,
            "http" => false,
            _ => return Err(bad("it begins with https://")),
        };
        let host = Host::parse(rest.trim_end_matches('/')).map_err(|why| bad(&why.to_string()))?;
        if !is_tls && !host.is_here() {
            return Err(bad("the token would be readable on the way: use https://"));
        }
        let port = host.port.unwrap_or(if is_tls { 443 } else { 80 });
        Ok(Url { is_tls, host, port })
    }

    /// Returns host and port as in the header `Host`.
    fn authority(&self) -> String {
        Host { name: self.host.name.clone(), port: Some(self.port) }.to_string()
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}", if self.is_tls { "https" } else { "http" }, self.authority())
    }
}

/// An open connection to a web service.
pub(super) struct Connection {
    runtime: Runtime,
    sender: SendRequest<Body>,
    url: Url,
    token: WriterToken,
}

impl Connection {
    /// Connects to the service. Fails with a sentence if it cannot be reached, or is another one
    /// than that of the token.
    pub(super) fn to(url: &Url, token: WriterToken) -> Result<Connection, Error> {
        let failed = |why: String| Error::Unreachable(format!("{url} cannot be reached: {why}"));
        let runtime = Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| Error::Failed(error.to_string()))?;
        // A time limit is made within the runtime, which has the clock.
        let connecting = async { timeout(CONNECT_WITHIN, connect(url, &token)).await };
        let connected = runtime.block_on(connecting);
        let late = || "it does not answer within 10 s".to_owned();
        let sender = connected.map_err(|_| failed(late()))?.map_err(failed)?;
        Ok(Connection { runtime, sender, url: url.clone(), token })
    }

    /// Posts JSON, and returns the JSON of the response.
    pub(super) fn post_json(&mut self, path: &str, value: &Value) -> Result<Value, Error> {
        self.post(path, "application/json", value.to_string().into_bytes())
    }

    /// Posts the bytes of a file, and returns the JSON of the response.
    pub(super) fn post_file(&mut self, path: &str, bytes: Vec<u8>) -> Result<Value, Error> {
        self.post(path, "application/octet-stream", bytes)
    }

    fn post(&mut self, path: &str, kind: &str, bytes: Vec<u8>) -> Result<Value, Error> {
        let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
        let request = Request::post(path)
            .header(header::HOST, self.url.authority())
            .header(header::AUTHORIZATION, self.token.bearer())
            .header(header::CONTENT_TYPE, kind)
            .header(header::CONTENT_LENGTH, bytes.len())
            .header(FROM, host)
            .body(Body::from(bytes))
            .map_err(|error| Error::Failed(error.to_string()))?;
        let url = &self.url;
        let broken = |why: String| Error::Unreachable(format!("{url}: {why}"));
        let sender = &mut self.sender;
        let exchange = async {
            let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
            let (parts, body) = response.into_parts();
            let body = to_bytes(Body::new(body), ANSWER_BYTES_MAX).await;
            let body = body.map_err(|error| error.to_string())?;
            Ok::<_, String>((parts.status, parts.headers, body))
        };
        let answered = self.runtime.block_on(async { timeout(ANSWER_WITHIN, exchange).await });
        let late = |_| broken("it does not answer within 10 minutes".to_owned());
        let (status, headers, body) = answered.map_err(late)?.map_err(broken)?;
        let value: Option<Value> = serde_json::from_slice(&body).ok();
        match (status, value) {
            (StatusCode::OK, Some(value)) => Ok(value),
            (status, value) => Err(refused(url, status, value.as_ref(), &headers)),
        }
    }
}

/// Returns the error for a response that is none of success.
fn refused(url: &Url, status: StatusCode, value: Option<&Value>, headers: &HeaderMap) -> Error {
    let text = value.and_then(|value| value["error"].as_str());
    let text = text.map_or_else(|| format!("it answers {status}"), str::to_owned);
    let wait = headers.get(header::RETRY_AFTER).and_then(|wait| wait.to_str().ok());
    let wait = wait.map_or_else(String::new, |seconds| format!(" (again in {seconds} s)"));
    match status {
        StatusCode::NOT_FOUND => Error::Failed(format!(
            "{url} takes no runs: it is no 'dbdyno web', or one of another version"
        )),
        _ => Error::Failed(format!("{url} refuses the runs: {text}{wait}")),
    }
}

async fn connect(url: &Url, token: &WriterToken) -> Result<SendRequest<Body>, String> {
    let stream = TcpStream::connect((url.host.name.as_str(), url.port));
    let stream = stream.await.map_err(|error| error.to_string())?;
    match url.is_tls {
        false => begin(TokioIo::new(stream)).await,
        true => {
            let connector = TlsConnector::from(Arc::new(client_config(token)?));
            let name = ServerName::try_from(url.host.name.clone());
            let name = name.map_err(|error| error.to_string())?;
            let stream = connector.connect(name, stream);
            begin(TokioIo::new(stream.await.map_err(|error| error.to_string())?)).await
        }
    }
}

async fn begin<S>(stream: TokioIo<S>) -> Result<SendRequest<Body>, String>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (sender, connection) = handshake(stream).await.map_err(|error| error.to_string())?;
    // Its error is that of the request.
    tokio::spawn(async move { drop(connection.await) });
    Ok(sender)
}

fn client_config(token: &WriterToken) -> Result<ClientConfig, String> {
    let provider = Arc::new(ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let Some(fingerprint) = token.fingerprint else {
        let mut roots = RootCertStore::empty();
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        return Ok(builder.with_root_certificates(roots).with_no_client_auth());
    };
    let pinned = Arc::new(Pinned { fingerprint, provider });
    Ok(builder.dangerous().with_custom_certificate_verifier(pinned).with_no_client_auth())
}

/// Accepts one certificate only, whatever the address is: that whose SHA-256 is in the token.
#[derive(Debug)]
struct Pinned {
    fingerprint: [u8; 32],
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Pinned {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found: [u8; 32] = Sha256::digest(end_entity).into();
        match found == self.fingerprint {
            true => Ok(ServerCertVerified::assertion()),
            false => Err(rustls::Error::General(
                "it shows another certificate than that of the token: make a new token there"
                    .to_owned(),
            )),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_never_shown_without_tls_to_another_host() {
        for (text, shown) in [
            ("https://bench.example:8421", "https://bench.example:8421"),
            ("https://bench.example/", "https://bench.example:443"),
            ("https://[::1]:8421", "https://[::1]:8421"),
            ("http://127.0.0.1:8421/", "http://127.0.0.1:8421"),
        ] {
            assert_eq!(Url::parse(text).expect(text).to_string(), shown);
        }
        for text in ["bench.example", "http://bench.example:8421", "ftp://h", "https://", ""] {
            assert!(Url::parse(text).is_err(), "{text}");
        }
    }
}
