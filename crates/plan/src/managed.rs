//! Targets with the scheme `managed:`, whose servers dbdyno starts. Not here: starting a server
//! (app).
//!
//! The options of the URL belong to three owners. `bin`, `folder`, `user`, `start_limit` and the
//! like say how the server is started; options that the driver knows are passed to the driver; all
//! others are settings of the server. A setting with the same name as an option is written with `-`
//! for `_`.

use model::managed::{Kind, Options, from_target};
use model::{BadParameter, Settings, Target};

pub use model::managed::PARAMETERS;

/// URL scheme of targets whose servers dbdyno starts.
pub const NAME: &str = "managed";
/// Description of managed targets in one line, for lists.
pub const SUMMARY: &str =
    "A private MariaDB (also a Galera cluster), MySQL or PostgreSQL, removed when the command ends";
/// Example of a target URL with the scheme `managed:`, for lists of targets.
pub const EXAMPLE: &str = "managed:mariadb?innodb_buffer_pool_size=4G";

/// A target whose server dbdyno starts, with the options of its URL divided into those of dbdyno,
/// the server and the driver.
#[derive(Clone)]
pub struct Wanted {
    pub kind: Kind,
    pub options: Options,
    /// Options that are passed to the driver, in the order of the URL.
    pub driver: Vec<(String, String)>,
    /// True if clients connect through the server's Unix socket instead of TCP.
    pub by_socket: bool,
}

/// Returns true if dbdyno starts the server of this target.
pub fn is_managed(target: &Target) -> bool {
    target.scheme == NAME
}

/// Returns true if this option of a managed target's URL is a setting of its server, and not of
/// dbdyno or the driver.
pub(crate) fn is_setting(target: &Target, name: &str) -> bool {
    let driver = drivers::by_scheme(&target.path).ok();
    let of_driver = driver.iter().flat_map(|entry| entry.parameters);
    name != "socket" && !of_driver.chain(PARAMETERS).any(|row| row.name == name)
}

/// Returns the properties by which the server of one managed target differs from that of another,
/// as (name, value): its settings, its program, and its product, which has an empty name.
pub fn settings_of(target: &Target) -> Vec<(String, String)> {
    let given = target.options.iter();
    let mut all: Vec<(String, String)> =
        given.filter(|(name, _)| name == "bin" || is_setting(target, name)).cloned().collect();
    all.push(("".to_owned(), target.path.clone()));
    all
}

/// Returns the number of cluster nodes of a managed target; `None` if the target is not a cluster,
/// not managed or invalid.
pub(crate) fn n_nodes(target: &Target) -> Option<u32> {
    if is_managed(target) { read(target).ok()?.options.nodes } else { None }
}

/// Parses the URL of a managed target, and divides its options into those of dbdyno, the server and
/// the driver. The message of an error says what to write instead.
pub fn read(target: &Target) -> Result<Wanted, BadParameter> {
    let mut server = target.clone();
    let mut driver = Vec::new();
    let mut by_socket = false;
    if let Ok(entry) = drivers::by_scheme(&target.path) {
        server.options.clear();
        for (name, value) in &target.options {
            if name == "socket" {
                by_socket = match value.as_str() {
                    "true" => true,
                    "false" => false,
                    _ => {
                        let why = "a managed server has its own socket: write socket=true to use \
                                   it instead of TCP";
                        return Err(BadParameter::named(name, why));
                    }
                };
            } else if entry.parameters.iter().any(|row| row.name == name) {
                driver.push((name.clone(), value.clone()));
            } else {
                server.options.push((name.clone(), value.clone()));
            }
        }
        let written = driver.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        Settings::decide(entry.name, entry.parameters, written)?;
    }
    let (kind, options) = from_target(&server)?;
    if by_socket && options.nodes.is_some() {
        let why = "each node of a cluster has its own socket, and clients connect to several \
                   nodes: leave it out";
        return Err(BadParameter::named("socket", why));
    }
    Ok(Wanted { kind, options, driver, by_socket })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(url: &str) -> Result<Wanted, BadParameter> {
        read(&Target::parse(url).expect("a URL"))
    }

    #[test]
    fn an_option_goes_to_whom_it_belongs() {
        let url = "managed:mariadb?tls=disable&innodb_buffer_pool_size=4G&start_limit=90s\
                   &local_infile=false&local-infile=0&socket=true";
        let wanted = split(url).expect("valid");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(wanted.driver, [pair("tls", "disable"), pair("local_infile", "false")]);
        let settings = [pair("innodb_buffer_pool_size", "4G"), pair("local-infile", "0")];
        assert_eq!(wanted.options.settings, settings);
        assert!(wanted.by_socket);
    }

    #[test]
    fn a_wrong_managed_target_is_reported_with_its_remedy() {
        let check = |url: &str, expect: &str| {
            let Err(error) = split(url) else { panic!("{url} is accepted") };
            assert!(error.to_string().contains(expect), "{url}: {error}");
        };
        check("managed:marjadb", "did you mean");
        check("managed:mariadb?tls=maybe", "'maybe' is not one of");
        check("managed:mariadb?socket=/run/x", "write socket=true");
        check("managed:postgres?port=1", "dbdyno sets this");
        check("managed:mariadb?nodes=2&socket=true", "each node of a cluster has its own socket");
        check("managed:mariadb?nodes=many", "nodes: 'many'");
        check("managed:sqlite", "is not one of mariadb, mysql, postgres");
    }
}
