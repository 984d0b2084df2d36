//! The database to measure, given as a URL. Not here: what the URL means to a driver.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A secret text, such as a password: `Debug` and `Display` print asterisks instead of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

/// Length, in characters, from which a secret is masked even within a longer word, because a secret
/// of this length is unlikely to occur there by chance.
const LONG_SECRET: usize = 6;

impl Secret {
    /// Wraps a secret text, so that it is not printed by mistake.
    pub fn new(text: impl Into<String>) -> Secret {
        Secret(text.into())
    }

    /// Replaces the secret by asterisks in a text that may contain it, such as an error message. A
    /// shorter secret is masked only if it is a separate word, because other words may contain it
    /// by chance.
    pub fn hide_in(&self, text: &str) -> String {
        if self.0.is_empty() {
            return text.to_owned();
        }
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let is_long = self.0.chars().count() >= LONG_SECRET;
        let (mut hidden, mut rest) = (String::new(), 0);
        for (at, secret) in text.match_indices(&self.0) {
            let end = at + secret.len();
            let is_word = !text[..at].ends_with(is_part) && !text[end..].starts_with(is_part);
            if is_long || is_word {
                hidden.push_str(&text[rest..at]);
                hidden.push_str("***");
                rest = end;
            }
        }
        hidden + &text[rest..]
    }

    /// Returns the secret text, to sign in or to pass it to a process that does.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// Name and port of one host of a target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Name or IP address of the host.
    pub name: String,
    /// Port of the server; `None` for the driver's default.
    pub port: Option<u16>,
}

impl Host {
    /// Parses a host as users write it in a target: `db1`, `db1:3307`, `[::1]:3307`. Fails unless
    /// it is exactly one host. The error does not repeat a text with `@`, which may contain a
    /// password.
    pub fn parse(text: &str) -> Result<Host, BadTarget> {
        if text.contains('@') {
            let why = "a host has no user or password of its own: write db1 or db1:3307";
            return Err(BadTarget(why.to_owned()));
        }
        match parse_host(text) {
            Ok(host) if host.name.is_empty() || text.contains([',', '/']) => {
                Err(BadTarget(format!("'{text}' is not one host: write db1 or db1:3307")))
            }
            host => host,
        }
    }

    /// Parses hosts with commas between them, as a program that connects itself is given them;
    /// fails if one of them is none.
    pub fn parse_list(text: &str) -> Result<Vec<Host>, BadTarget> {
        text.split(',').map(Host::parse).collect()
    }

    /// Whether the host name obviously denotes this machine, such as `localhost` or `127.0.0.1`.
    /// The name is not resolved.
    pub fn is_here(&self) -> bool {
        self.name == "localhost" || self.name == "::1" || self.name.starts_with("127.")
    }

    /// Whether both are the same host and port; a host without a port is taken to have
    /// `default_port`. Case of host names is ignored (RFC 4343).
    pub fn is_same(&self, other: &Host, default_port: Option<u16>) -> bool {
        let port = |host: &Host| host.port.or(default_port);
        self.name.eq_ignore_ascii_case(&other.name) && port(self) == port(other)
    }
}

/// Formats the host as users write it in a target.
impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let v6 = self.name.contains(':');
        let (open, close) = if v6 { ("[", "]") } else { ("", "") };
        write!(f, "{open}{}{close}", encode(&self.name, if v6 { "[]@/?," } else { "[]@/?,:" }))?;
        match self.port {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

/// The database to measure, parsed from a URL:
/// `scheme://user:password@host:port,host/path?option=value`, or `scheme:path?option=value` for a
/// database in a file or without a server.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    /// Scheme of the URL, which selects the driver: `sqlite`, `mariadb`, `sim`...
    pub scheme: String,
    /// User to sign in as; `None` for the driver's default.
    pub user: Option<String>,
    /// Password of the user; `None` if the URL has none. A password is never printed or stored.
    pub password: Option<Secret>,
    /// Hosts of the server; empty for a database in a file or at the driver's default address.
    pub hosts: Vec<Host>,
    /// Name of the database, or path of its file.
    pub path: String,
    /// Options after the `?`, as pairs of name and value, in order.
    pub options: Vec<(String, String)>,
}

/// Error for a target that cannot be parsed; the message says what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadTarget(pub String);

impl fmt::Display for BadTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadTarget {}

impl Target {
    /// Creates a target of parts that are known apart, and so are not encoded as in a URL.
    pub fn of_parts(scheme: &str, path: &str) -> Target {
        Target {
            scheme: scheme.to_owned(),
            user: None,
            password: None,
            hosts: Vec::new(),
            path: path.to_owned(),
            options: Vec::new(),
        }
    }

    /// Whether the target is a server that is already running, because its URL names hosts or a
    /// Unix socket.
    pub fn is_server(&self) -> bool {
        !self.hosts.is_empty() || self.option("socket").is_some()
    }

    /// Adds an option with this value, unless the target already has the option.
    #[must_use]
    pub fn with_default(mut self, name: &str, value: &str) -> Target {
        if !self.options.iter().any(|(known, _)| known == name) {
            self.options.push((name.to_owned(), value.to_owned()));
        }
        self
    }

    /// Parses a URL. The error never repeats the whole URL, which may contain a password.
    pub fn parse(url: &str) -> Result<Target, BadTarget> {
        let Some((scheme, rest)) = url.split_once(':') else {
            return Err(BadTarget(
                "a target is a URL such as sqlite:/path/file.db, mariadb://user@host/database, \
                 postgres://user@host/database, managed:mariadb or managed:postgres (dbdyno starts \
                 one) or sim: (with the colon)"
                    .to_owned(),
            ));
        };
        let letters = |c: char| c.is_ascii_alphanumeric() || c == '+' || c == '-';
        if scheme.eq_ignore_ascii_case("jdbc") {
            let why = "the target begins with jdbc: leave it out, and write user and password \
                       before the host, such as mysql://user@host/database";
            return Err(BadTarget(why.to_owned()));
        }
        if scheme.is_empty() || !scheme.chars().all(letters) {
            return Err(BadTarget(
                "the target's scheme (before ':') may only have letters".to_owned(),
            ));
        }
        let (place, options) = rest.split_once('?').unwrap_or((rest, ""));
        let mut target = Target::of_parts(&scheme.to_ascii_lowercase(), "");
        target.options = parse_options(options)?;
        match place.strip_prefix("//") {
            Some(authority) => target.read_authority(authority)?,
            None => target.path = decode(place)?,
        }
        Ok(target)
    }

    fn read_authority(&mut self, text: &str) -> Result<(), BadTarget> {
        let (authority, path) = text.split_once('/').unwrap_or((text, ""));
        // `sqlite:///a/b` is the file /a/b: without a host the path keeps its slash.
        let slash = if authority.is_empty() && !path.is_empty() { "/" } else { "" };
        // In a URL with a host, a slash at the end is not part of the database's name.
        let path = if slash.is_empty() { path.trim_end_matches('/') } else { path };
        self.path = format!("{slash}{}", decode(path)?);
        let hosts = match authority.rsplit_once('@') {
            None => authority,
            Some((user, hosts)) => {
                let (user, password) = match user.split_once(':') {
                    Some((user, password)) => (user, Some(Secret(decode(password)?))),
                    None => (user, None),
                };
                self.user = Some(decode(user)?);
                self.password = password;
                hosts
            }
        };
        // Without a host, the target is a file or uses the driver's default address.
        for host in hosts.split(',').filter(|_| !hosts.is_empty()) {
            let host = parse_host(host)?;
            if host.name.is_empty() {
                let why = "a host of the target is empty: write each one between commas, such as \
                           db1,db2:3307";
                return Err(BadTarget(why.to_owned()));
            }
            self.hosts.push(host);
        }
        self.refuse_twice(None)
    }

    /// Fails if the target names a host twice, because that host would get twice its share of the
    /// clients. A host without a port is taken to have `default_port`.
    pub fn refuse_twice(&self, default_port: Option<u16>) -> Result<(), BadTarget> {
        for (index, host) in self.hosts.iter().enumerate() {
            if self.hosts[..index].iter().any(|other| other.is_same(host, default_port)) {
                return Err(BadTarget(format!("the target has the host {host} twice")));
            }
        }
        Ok(())
    }

    /// Returns the value of the option with this name; `None` if it is not given.
    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().rev().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Prints the same as `Display`, so that no secret is printed.
impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

/// Formats the URL without its password, for display and the store. Parsing the result gives the
/// same target, except for the password. The value of an option whose name suggests a secret is
/// masked too, though no driver has such an option.
impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.scheme)?;
        if !self.hosts.is_empty() || self.user.is_some() {
            f.write_str("//")?;
            if let Some(user) = &self.user {
                write!(f, "{}@", encode(user, ":@/?"))?;
            }
            for (index, host) in self.hosts.iter().enumerate() {
                let comma = if index > 0 { "," } else { "" };
                write!(f, "{comma}{host}")?;
            }
            f.write_str("/")?;
        }
        f.write_str(&encode(&self.path, "?"))?;
        for (index, (name, value)) in self.options.iter().enumerate() {
            let before = if index == 0 { "?" } else { "&" };
            let value = if is_secret(name) { "***".to_owned() } else { encode(value, "&") };
            write!(f, "{before}{}={value}", encode(name, "&="))?;
        }
        Ok(())
    }
}

fn parse_options(text: &str) -> Result<Vec<(String, String)>, BadTarget> {
    let mut options = Vec::new();
    for part in text.split('&').filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            // The part may be a piece of a password that contains a '?'.
            let why = match text.contains('@') {
                true => "an option of the target (after '?') has no value (name=value); write ? \
                         in a password as %3F"
                    .to_owned(),
                false => format!("the target's option '{part}' has no value (name=value)"),
            };
            return Err(BadTarget(why));
        };
        let (name, value) = (decode(name)?, decode(value)?);
        if options.iter().any(|(other, _)| *other == name) {
            return Err(BadTarget(format!("the target has the option '{name}' twice")));
        }
        options.push((name, value));
    }
    Ok(options)
}

fn parse_host(text: &str) -> Result<Host, BadTarget> {
    let (name, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, tail)) => (name, tail.strip_prefix(':')),
            None => return Err(BadTarget("a host of the target lacks its ']'".to_owned())),
        },
        None => match text.rsplit_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (text, None),
        },
    };
    let port = match port.map(str::parse::<u16>) {
        None => None,
        Some(Ok(port)) if port > 0 => Some(port),
        // The text may be a password that lost its '@', or contains a '/'.
        Some(_) => {
            let why = "the target's port (after the host and ':') is not 1 to 65535; \
                       write / : @ and % in a password as %2F %3A %40 and %25";
            return Err(BadTarget(why.to_owned()));
        }
    };
    Ok(Host { name: decode(name)?, port })
}

/// Whether the option with this name probably holds a secret, such as a password, so that its value
/// must be masked.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    // `clear_password` allows or forbids a password in clear text, and contains none.
    let is_of_one = ["pass", "pwd", "secret", "token"].iter().any(|word| name.contains(word));
    is_of_one && name != "clear_password"
}

/// Percent-encodes (RFC 3986, 2.1) the characters in `reserved`, control characters and `%`. All
/// others stay as they are.
fn encode(text: &str, reserved: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter == '%' || letter.is_control() || reserved.contains(letter) {
            let mut bytes = [0; 4];
            for byte in letter.encode_utf8(&mut bytes).bytes() {
                encoded.push_str(&format!("%{byte:02X}"));
            }
        } else {
            encoded.push(letter);
        }
    }
    encoded
}

/// Percent-decodes (RFC 3986, 2.1). Fails for incomplete escapes and invalid UTF-8.
fn decode(text: &str) -> Result<String, BadTarget> {
    if !text.contains('%') {
        return Ok(text.to_owned());
    }
    let bad = || {
        let why = "a '%' in the target is not followed by two hex digits: write % as %25";
        BadTarget(why.to_owned())
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = tail;
            continue;
        }
        let digit = |at: usize| char::from(*tail.get(at)?).to_digit(16);
        let (high, low) = digit(0).zip(digit(1)).ok_or_else(bad)?;
        bytes.push((high << 4 | low) as u8);
        rest = &tail[2..];
    }
    String::from_utf8(bytes).map_err(|_| BadTarget("the target is not UTF-8".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_in_texts_of_others_and_no_word_that_contains_a_short_one() {
        let hide = |secret: &str, text: &str| Secret::new(secret).hide_in(text);
        assert_eq!(hide("correcthorse", "it was 'correcthorse2'"), "it was '***2'");
        assert_eq!(hide("x", "raise max_connections of 'x'"), "raise max_connections of '***'");
        assert_eq!(hide("", "nothing"), "nothing");
    }

    #[test]
    fn a_url_is_read_into_its_parts() {
        let url = "mariadb://bench:p%40ss@db1:3307,[::1]:3308,db2/shop?tls=require&x=1";
        let target = Target::parse(url).expect("valid");
        assert_eq!(target.scheme, "mariadb");
        assert_eq!(target.user.as_deref(), Some("bench"));
        assert_eq!(target.password.as_ref().map(Secret::reveal), Some("p@ss"));
        assert_eq!(target.hosts[1], Host { name: "::1".to_owned(), port: Some(3308) });
        assert_eq!(target.hosts[2], Host { name: "db2".to_owned(), port: None });
        assert_eq!(target.path, "shop");
        let slashed = Target::parse("mariadb://bench@db1/shop/?x=1").expect("valid");
        assert_eq!(slashed.path, "shop");
        assert_eq!(target.option("tls"), Some("require"));
    }

    #[test]
    fn a_password_is_never_shown() {
        let target = Target::parse("mariadb://bench:hunter2@db1/shop").expect("valid");
        assert_eq!(target.to_string(), "mariadb://bench@db1/shop");
        assert!(!format!("{target:?}").contains("hunter2"));
        for bad in ["bench:hunter2@db1:99999/shop", "bench:hunter2", "bench:hunter2/x@db1/shop"] {
            let error = Target::parse(&format!("mariadb://{bad}")).expect_err("port");
            assert!(!error.0.contains("hunter2"), "{error}");
        }
    }

    #[test]
    fn what_is_shown_is_read_as_it_was_written() {
        let check = |url: &str, expect: &str| {
            let target = Target::parse(url).expect("valid");
            assert_eq!(target.to_string(), expect);
            let again = Target::parse(expect).expect("valid");
            assert_eq!(again, Target { password: None, ..target });
        };
        check(
            "postgres://a%40b%3Ac@%2Fvar%2Frun:5433,h2/d%3Fx%25y?o%26=%26%3D&p=a%20b=c",
            "postgres://a%40b%3Ac@%2Fvar%2Frun:5433,h2/d%3Fx%25y?o%26=%26=&p=a b=c",
        );
        check("mariadb://%C3%A9@[::1]:1/%0A", "mariadb://\u{e9}@[::1]:1/%0A");
        check("sqlite:/a%20b/c:d@e?journal=wal", "sqlite:/a b/c:d@e?journal=wal");
        check("mysql://a@h/d?clear_password=true", "mysql://a@h/d?clear_password=true");
    }

    #[test]
    fn an_option_that_looks_like_a_secret_is_masked() {
        for name in ["password", "sslPassword", "passwd", "pwd", "client_secret"] {
            let target = Target::parse(&format!("mysql://a@h/d?{name}=hunter2")).expect("valid");
            assert_eq!(target.to_string(), format!("mysql://a@h/d?{name}=***"));
            assert!(!format!("{target:?}").contains("hunter2"));
        }
        let error = Target::parse("mysql://a:hun?ter2@h/d").expect_err("a '?' in the password");
        assert!(!error.0.contains("ter2") && error.0.contains("%3F"), "{error}");
    }

    #[test]
    fn a_file_needs_no_host() {
        let target = Target::parse("sqlite:/tmp/a.db?journal=wal").expect("valid");
        assert_eq!((target.path.as_str(), target.hosts.len()), ("/tmp/a.db", 0));
        assert_eq!(target.to_string(), "sqlite:/tmp/a.db?journal=wal");
        assert_eq!(Target::parse("sqlite:///tmp/a.db").expect("valid").path, "/tmp/a.db");
        assert_eq!(Target::parse("sqlite::memory:").expect("valid").path, ":memory:");
    }

    #[test]
    fn a_host_that_is_there_twice_is_refused_with_the_port_that_is_taken_for_granted_too() {
        let target = Target::parse("mariadb://me@db1,db2,db1:3306/x").expect("valid");
        assert!(target.refuse_twice(Some(3307)).is_ok());
        let error = target.refuse_twice(Some(3306)).expect_err("db1");
        assert_eq!(error.0, "the target has the host db1:3306 twice");
    }

    #[test]
    fn a_host_is_read_by_itself_too() {
        for text in ["db1", "db1:3307", "[::1]:3307", "[::1]"] {
            assert_eq!(Host::parse(text).expect("a host").to_string(), text);
        }
        for bad in ["", ":3306", "a,b", "me@db1", "db1:0", "db1/x"] {
            assert!(Host::parse(bad).is_err(), "{bad}");
        }
        for bad in ["me:hunter2@db1", "me:hunter2@db1:3307", "me:hun@ter2@db1"] {
            let error = Host::parse(bad).expect_err("a user");
            assert!(
                error.0.contains("no user or password") && !error.0.contains("ter2"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_malformed_url_says_what_is_wrong() {
        for (url, expect) in [
            ("nonsense", "a target is a URL"),
            ("sim", "or sim: (with the colon)"),
            ("://x", "scheme"),
            ("sq lite:x", "scheme"),
            ("mariadb://h:0/x", "port"),
            ("mariadb://[::1/x", "lacks its ']'"),
            ("mariadb://me@,db2/x", "is empty"),
            ("mariadb://me@db1,/x", "is empty"),
            ("mariadb://me@:3306/x", "is empty"),
            ("mariadb://me@db1,db2,DB1/x", "the host DB1 twice"),
            ("mariadb://me@[::1]:7,db2,[::1]:7/x", "the host [::1]:7 twice"),
            ("sqlite:/a%zz", "hex"),
            ("mariadb://me:50%off@db1/x", "not followed by two hex digits: write % as %25"),
            ("jdbc:mysql://db1/x?user=me", "begins with jdbc: leave it out, and write user and"),
            ("JDBC:postgresql://db1/x", "begins with jdbc: leave it out"),
            ("sqlite:/a?journal", "no value"),
            ("sqlite:/a?journal=wal&journal=off", "'journal' twice"),
        ] {
            let error = Target::parse(url).expect_err(url);
            assert!(error.0.contains(expect), "{url}: {error}");
        }
    }
}
