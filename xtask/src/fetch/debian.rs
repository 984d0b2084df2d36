//! Servers from Debian's unstable suite, with every library they need, on a machine with an older
//! release. None of their packages is installed, and the system's own libraries stay unused.
//!
//! The mirror is that of the machine's own sources; apt checks its signatures, with separate lists.
//! The suite has one version of a package at a time. If it no longer has a pinned version, the
//! current one is used, whose checksum apt checks, and the rows for the new pin are printed. Not
//! here: the pins (`pinned`), other servers, and moving these to their places (`fetch`).

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::pinned::DebianServer;
use super::{check, run};

/// Debian's suite from which the servers and their libraries are fetched.
const SUITE: &str = "sid";

/// Path of the keys with which Debian signs its packages.
const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Debian package with its version and the SHA-256 checksum of its archive.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Package {
    name: String,
    version: String,
    sha256: String,
}

/// Folder of the libraries in each of the Debian packages, relative to the package's root.
const LIBRARIES: &str = "usr/lib/x86_64-linux-gnu";

/// Returns the script that starts a server with the loader of its own C library. The link to that
/// loader has the server's name, because the process gets this name.
fn wrapper(program: &str) -> String {
    format!(
        "#!/bin/sh\n\
         # Written by 'cargo xtask servers': {program} with its own C library, wherever this is.\n\
         here=$(dirname \"$0\")/..\n\
         exec \"$here/loader/{program}\" --argv0 \"$0\" --library-path \"$here/root/{LIBRARIES}\" \\\n    \
         \"$here/root/usr/sbin/{program}\" \"$@\"\n"
    )
}

/// Downloads and unpacks a server with its libraries below `work`; returns the folder.
pub(super) fn unpack(server: &DebianServer, work: &Path) -> Result<PathBuf> {
    let apt = Apt::private(work)?;
    apt.run("apt-get", &["update", "-qq"])?;
    let pinned: Vec<Package> = server.packages.iter().map(Package::pinned).collect();
    let names: Vec<&str> = pinned.iter().map(|package| package.name.as_str()).collect();
    let shown = apt.run("apt-cache", &[&["show", "--no-all-versions"], &names[..]].concat())?;
    let chosen = choose(server.series, &pinned, &offered(&shown))?;
    let unpacked = work.join("unpacked");
    let root = unpacked.join("root");
    fs::create_dir_all(&root)?;
    for package in &chosen {
        let archive = apt.download(package, &work.join("archives").join(&package.name))?;
        check(&archive, &package.sha256).with_context(|| package.name.clone())?;
        let arguments = [OsStr::new("-x"), archive.as_os_str(), root.as_os_str()];
        run(work, "dpkg-deb", &arguments)?;
    }
    make_runnable(server, &unpacked)?;
    Ok(unpacked)
}

impl Package {
    fn pinned(&(name, version, sha256): &(&str, &str, &str)) -> Package {
        Package { name: name.to_owned(), version: version.to_owned(), sha256: sha256.to_owned() }
    }

    /// Returns the line of the pins for this package.
    fn row(&self) -> String {
        format!("    (\"{}\", \"{}\", \"{}\"),", self.name, self.version, self.sha256)
    }
}

/// Parses the records that apt-cache prints for packages.
fn offered(records: &str) -> Vec<Package> {
    let read = |record: &str| {
        let field = |name: &str| {
            let value = |line: &str| line.strip_prefix(name)?.strip_prefix(": ").map(str::to_owned);
            record.lines().find_map(value)
        };
        Some(Package {
            name: field("Package")?,
            version: field("Version")?,
            sha256: field("SHA256")?,
        })
    };
    records.split("\n\n").filter_map(read).collect()
}

/// Returns the packages to download: the pinned version if the suite still has it, else the suite's
/// newest one. Fails if a package is gone, or the server (the first package) is of another series.
fn choose(series: &str, pinned: &[Package], offered: &[Package]) -> Result<Vec<Package>> {
    let mut chosen = Vec::new();
    for pin in pinned {
        let found = offered.iter().filter(|package| package.name == pin.name);
        let found: Vec<&Package> = found.collect();
        let Some(&newest) = found.first() else {
            bail!(
                "Debian's {SUITE} has no package {} any more: name its successor in \
                 xtask/src/fetch/pinned.rs ('apt-cache depends' of the server lists what it needs)",
                pin.name
            );
        };
        chosen.push(if found.contains(&pin) { pin.clone() } else { newest.clone() });
    }
    let server = &chosen[0];
    let version = server.version.split_once(':').map_or(&*server.version, |(_, version)| version);
    if !version.starts_with(series) {
        bail!(
            "Debian's {SUITE} has {} {} instead of {}: the tests are for {series}x; copy the \
             server's folder from a machine that has it, or move the tests to the new series",
            server.name,
            server.version,
            pinned[0].version
        );
    }
    if chosen != pinned {
        println!("{}", out_of_date(&chosen));
    }
    Ok(chosen)
}

/// Returns a message with the rows that the pins should have now.
fn out_of_date(chosen: &[Package]) -> String {
    let rows: Vec<String> = chosen.iter().map(Package::row).collect();
    format!(
        "Debian's {SUITE} no longer has all pinned versions; its own checksums vouch for the \
         others. The rows in xtask/src/fetch/pinned.rs should be:\n{}",
        rows.join("\n")
    )
}

/// Puts wrapper, loader and messages where the program of a server is expected, and starts the
/// program once to test it.
fn make_runnable(server: &DebianServer, unpacked: &Path) -> Result<()> {
    let name = server.program;
    for folder in ["bin", "loader"] {
        fs::create_dir(unpacked.join(folder))?;
    }
    let program = unpacked.join("bin").join(name);
    fs::write(&program, wrapper(name))?;
    run(unpacked, "chmod", &[OsStr::new("a+x"), program.as_os_str()])?;
    let loader = format!("../root/{LIBRARIES}/ld-linux-x86-64.so.2");
    symlink(loader, unpacked.join("loader").join(name))?;
    symlink(format!("root/usr/share/{}", server.share), unpacked.join("share"))?;
    let output = Command::new(&program)
        .args(["--no-defaults", "--version"])
        .stdin(Stdio::null())
        .output()
        .with_context(|| program.display().to_string())?;
    let version = String::from_utf8_lossy(&output.stdout);
    if !version.contains(&format!("Ver {}", server.series)) {
        bail!(
            "the server does not start: {}{}; add the package that has what it lacks to its row of \
             xtask/src/fetch/pinned.rs",
            String::from_utf8_lossy(&output.stderr).trim(),
            version.trim()
        );
    }
    Ok(())
}

/// Runs apt with sources, lists and caches of its own, and with the machine's proxies.
struct Apt {
    options: Vec<String>,
    folder: PathBuf,
}

impl Apt {
    fn private(work: &Path) -> Result<Apt> {
        let folder = work.join("apt");
        for name in ["lists/partial", "cache/archives/partial"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let keys = if Path::new(KEYS).is_file() {
            format!("[arch=amd64 signed-by={KEYS}]")
        } else {
            "[arch=amd64]".to_owned()
        };
        let sources = format!("deb {keys} {} {SUITE} main\n", mirror_of_machine()?);
        fs::write(folder.join("sources.list"), sources)?;
        fs::write(folder.join("status"), "")?;
        let path = |name: &str| folder.join(name).display().to_string();
        let options = [
            format!("Dir::Etc::sourcelist={}", path("sources.list")),
            "Dir::Etc::sourceparts=-".to_owned(),
            "Dir::Etc::preferences=-".to_owned(),
            "Dir::Etc::preferencesparts=-".to_owned(),
            format!("Dir::State::lists={}", path("lists")),
            format!("Dir::State::status={}", path("status")),
            format!("Dir::Cache={}", path("cache")),
            "APT::Architecture=amd64".to_owned(),
            "Acquire::Languages=none".to_owned(),
            "Acquire::IndexTargets::deb::DEP-11::DefaultEnabled=false".to_owned(),
            // apt's own user may not enter this folder.
            "APT::Sandbox::User=root".to_owned(),
        ];
        let options = options.into_iter().flat_map(|option| ["-o".to_owned(), option]).collect();
        Ok(Apt { options, folder })
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Result<String> {
        apt(&self.folder, program, &self.options, arguments)
    }

    /// Downloads a package into a new folder; returns the path of its archive.
    fn download(&self, package: &Package, folder: &Path) -> Result<PathBuf> {
        fs::create_dir_all(folder)?;
        let wanted = format!("{}={}", package.name, package.version);
        apt(folder, "apt-get", &self.options, &["download", "-qq", &wanted])?;
        let archive = folder.read_dir()?.next().context("apt-get downloaded nothing")?;
        Ok(archive?.path())
    }
}

/// Returns the address from which this machine gets Debian's packages. Fails if it has none.
fn mirror_of_machine() -> Result<String> {
    let arguments =
        ["indextargets", "--format", "$(RELEASE) $(COMPONENT) $(REPO_URI)", "Created-By: Packages"];
    let shown = apt(Path::new("/"), "apt-get", &[], &arguments)?;
    let mirror = mirror(&shown).context(
        "this machine has no source of Debian's packages: name a mirror in /etc/apt/sources.list",
    )?;
    Ok(mirror.to_owned())
}

/// Finds the mirror in lines of suite, component and address: that of the release, not of security
/// updates. `None` if no line is about Debian.
fn mirror(lines: &str) -> Option<&str> {
    lines.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let &[suite, "main", address] = &words[..] else { return None };
        let is_release = !suite.contains(['-', '/']);
        let is_debian = address.contains("debian") && !address.contains("security");
        (is_release && is_debian).then_some(address)
    })
}

fn apt(
    folder: &Path,
    program: &str,
    options: &[String],
    arguments: &[impl AsRef<OsStr>],
) -> Result<String> {
    let output = Command::new(program)
        .args(options)
        .args(arguments)
        .current_dir(folder)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("'{program}' is needed: this is fetched on Debian only"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        bail!("'{program}' failed, {}: {}", output.status, said.trim());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(name: &str, version: &str) -> Package {
        Package::pinned(&(name, version, "0"))
    }

    #[test]
    fn the_mirror_is_that_of_the_release_and_not_that_of_its_updates() {
        let lines = "bookworm-security main http://x.test/debian-security/\n\
                     stable main https://x.test/tools/\n\
                     bookworm contrib http://x.test/debian/\n\
                     bookworm main http://y.test/debian/\n";
        assert_eq!(mirror(lines), Some("http://y.test/debian/"));
        assert_eq!(mirror("jammy main http://x.test/ubuntu/\n"), None);
    }

    #[test]
    fn a_pinned_version_is_taken_while_the_suite_has_it() {
        let records = "Package: a\nVersion: 9.7.4-3\nSHA256: 1\n\nPackage: a\nVersion: 9.7.4-2\n\
                       Size: 7\nSHA256: 0\n\nPackage: b\nVersion: 1:2\nSHA256: 0\n";
        let offered = offered(records);
        assert_eq!(offered.len(), 3);
        let pinned = [package("a", "9.7.4-2"), package("b", "1:2")];
        assert_eq!(choose("9.7.", &pinned, &offered).expect("there"), pinned);
        let pinned = [package("b", "1:2")];
        assert_eq!(choose("2", &pinned, &offered).expect("there"), pinned, "behind the epoch");
    }

    #[test]
    fn a_version_that_is_gone_gives_way_to_the_newer_one_with_its_row() {
        let pinned = [package("a", "9.7.4-2"), package("b", "1")];
        let offered = [package("a", "9.7.5-1"), package("b", "1")];
        let chosen = choose("9.7.", &pinned, &offered).expect("there");
        assert_eq!(chosen, offered);
        assert!(out_of_date(&chosen).contains("\n    (\"a\", \"9.7.5-1\", \"0\"),\n"));
    }

    #[test]
    fn a_package_that_is_gone_and_another_series_are_refused_by_name() {
        let pinned = [package("a", "9.7.4-2"), package("b", "1")];
        let refused =
            |offered: &[Package]| choose("9.7.", &pinned, offered).expect_err("gone").to_string();
        let words = refused(&[package("a", "9.7.4-2")]);
        assert!(words.contains("no package b any more") && words.contains("pinned.rs"), "{words}");
        let words = refused(&[package("a", "10.1.0-1"), package("b", "1")]);
        assert!(words.contains("a 10.1.0-1 instead of 9.7.4-2"), "{words}");
    }
}
