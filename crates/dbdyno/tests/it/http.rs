//! `dbdyno web` under test, and a client that sends exact bytes, most of which browsers would not
//! send.
//!
//! Not here: expectations.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::Value;

use crate::home::Home;
use crate::waiting::{LIMIT, Started, look_again, now};

/// Running `dbdyno web` that serves the store of a home folder.
pub(crate) struct Web {
    pub(crate) process: Started,
    /// Address of the service's pages, without the last '/'.
    pub(crate) base: String,
    address: SocketAddr,
    tls: Option<Arc<ClientConfig>>,
}

#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    headers: Vec<(String, String)>,
    pub(crate) body: String,
}

impl Web {
    /// Starts `dbdyno web` on a free port.
    pub(crate) fn start(home: &Home, args: &[&str]) -> Web {
        let listen = ["web", "--listen=127.0.0.1:0"];
        let mut process = home.start(&[&listen[..], args].concat());
        let mut base = String::new();
        process.wait_until("where the pages are", |said| {
            let address =
                said.split(" shows the runs of ").next().filter(|_| said.contains("shows"));
            base = address.unwrap_or_default().trim_end_matches('/').to_owned();
            said.contains("Ctrl-C ends it")
        });
        Web::at(home, process, base)
    }

    fn at(home: &Home, process: Started, base: String) -> Web {
        let (scheme, address) = base.split_once("://").expect("an address has a scheme");
        let tls =
            (scheme == "https").then(|| trusting(&home.path("data/dbdyno/runs.sqlite-web.crt")));
        let address = address.parse().expect("it listens on an address");
        Web { process, address, tls, base: base.clone() }
    }

    pub(crate) fn host(&self) -> String {
        self.address.to_string()
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "")
    }

    /// Requests a path, which must exist; returns the page.
    #[track_caller]
    pub(crate) fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.body
    }

    /// Requests a path, which must exist; returns its JSON.
    #[track_caller]
    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.page(path)).expect("it is JSON")
    }

    /// Waits until the list has a run that is running.
    #[track_caller]
    pub(crate) fn wait_for_a_run(&self) {
        let began = now();
        while self.json("/api/runs?status=running")["runs"].as_array().is_none_or(Vec::is_empty) {
            assert!(began.elapsed() < LIMIT, "no run begins");
            look_again();
        }
    }

    /// Sends a form as our own pages do, with the headers of a browser.
    pub(crate) fn post(&self, path: &str, form: &str) -> Answer {
        self.ask("POST", path, &[("Origin", &self.base), ("Sec-Fetch-Site", "same-origin")], form)
    }

    /// Sends a request with these headers. `Host` is the service's own unless given.
    pub(crate) fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Answer {
        let mut request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request += &format!("Host: {}\r\n", self.host());
        }
        for (name, value) in headers {
            request += &format!("{name}: {value}\r\n");
        }
        if method == "POST" && !headers.iter().any(|(name, _)| *name == "Content-Type") {
            request += "Content-Type: application/x-www-form-urlencoded\r\n";
        }
        request += &format!("Content-Length: {}\r\n\r\n{body}", body.len());
        Answer::parse(&self.send(request.as_bytes()))
    }

    /// Sends bytes on a new connection, and returns the whole response.
    pub(crate) fn send(&self, bytes: &[u8]) -> Vec<u8> {
        let stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a socket has a limit");
        let mut back = Vec::new();
        let read = match &self.tls {
            None => {
                let mut stream = stream;
                stream.write_all(bytes).and_then(|()| stream.read_to_end(&mut back))
            }
            Some(config) => {
                let name = ServerName::try_from("localhost").expect("a name");
                let client = ClientConnection::new(Arc::clone(config), name).expect("a client");
                let mut stream = StreamOwned::new(client, stream);
                stream.write_all(bytes).and_then(|()| stream.read_to_end(&mut back))
            }
        };
        // After the response it may close a TLS connection without notice.
        assert!(read.is_ok() || !back.is_empty(), "{read:?}");
        back
    }

    /// Opens connections that send nothing. The service may close some of them.
    pub(crate) fn silent(&self, n: usize) -> Vec<TcpStream> {
        let connect = |_| TcpStream::connect(self.address).expect("it listens");
        (0..n).map(connect).collect()
    }

    /// Sends plain text to the port, which may expect TLS; returns the response.
    pub(crate) fn plainly(&self, text: &str) -> String {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a socket has a limit");
        let mut back = Vec::new();
        // The service may close the connection at the first byte.
        let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.read_to_end(&mut back));
        String::from_utf8_lossy(&back).into_owned()
    }
}

/// Makes a TLS client that trusts only the certificate in this file.
fn trusting(path: &Path) -> Arc<ClientConfig> {
    let mut roots = RootCertStore::empty();
    let certificate = CertificateDer::from_pem_file(path).expect("it was just made");
    roots.add(certificate).expect("it is a certificate");
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has them")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Arc::new(config)
}

impl Answer {
    fn parse(bytes: &[u8]) -> Answer {
        let text = String::from_utf8_lossy(bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let mut lines = head.lines();
        let status = lines.next().and_then(|line| line.split(' ').nth(1)?.parse().ok());
        let pair = |line: &str| {
            let (name, value) = line.split_once(':')?;
            Some((name.to_ascii_lowercase(), value.trim().to_owned()))
        };
        Answer {
            status: status.unwrap_or_else(|| panic!("no answer: {text}")),
            headers: lines.filter_map(pair).collect(),
            body: body.to_owned(),
        }
    }

    /// Returns the value of a header of the response; empty if it is missing.
    pub(crate) fn header(&self, name: &str) -> &str {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}
