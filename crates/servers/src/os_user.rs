//! Operating system account that a private server runs as. If dbdyno runs as root, the server
//! normally gets another account, since PostgreSQL refuses root and no server should be root.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{MetadataExt, chown, fchown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::process::geteuid;

use crate::{Kind, ServerError, ServerErrorKind};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OsUser {
    name: String,
    uid: u32,
    gid: u32,
    /// Whether dbdyno itself runs as this account, so that the server's files need no other owner.
    is_us: bool,
}

impl OsUser {
    /// Chooses the operating system account for a server of `kind`: `wanted` if given; otherwise
    /// dbdyno's own account or, if dbdyno runs as root, the product's account or `nobody`. Fails if
    /// that account does not exist or cannot be used.
    pub(crate) fn choose(kind: Kind, wanted: Option<&str>) -> Result<OsUser, ServerError> {
        let us = geteuid().as_raw();
        // Without the file no account has a name, and root needs one.
        let known = fs::read_to_string("/etc/passwd").unwrap_or_default();
        OsUser::decide(kind, wanted, us, &known)
            .map_err(|text| ServerError::new(ServerErrorKind::BadOption, text))
    }

    fn decide(kind: Kind, wanted: Option<&str>, us: u32, known: &str) -> Result<OsUser, String> {
        let find = |name: &str| known.lines().find_map(|line| parse(line, name, us));
        let title = kind.title();
        match wanted {
            Some(name) => {
                let account = find(name)
                    .ok_or_else(|| format!("there is no user '{name}' here; leave ?user= out"))?;
                if us != 0 && !account.is_us {
                    return Err(format!("only root starts a server as '{name}'; leave ?user= out"));
                }
                if account.uid == 0 && kind == Kind::Postgres {
                    return Err(format!("{title} refuses to run as root; leave ?user= out"));
                }
                Ok(account)
            }
            None if us != 0 => Ok(OsUser { name: "us".to_owned(), uid: us, gid: 0, is_us: true }),
            None => {
                let own = if kind == Kind::Postgres { "postgres" } else { "mysql" };
                find(own).or_else(|| find("nobody")).ok_or_else(|| {
                    format!(
                        "{title} must not run as root, and there is neither '{own}' nor 'nobody' \
                         here; create a user and name it with ?user="
                    )
                })
            }
        }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn is_root(&self) -> bool {
        self.uid == 0
    }

    /// Makes `command` run as this account, without supplementary groups. Does nothing if dbdyno
    /// runs as the account itself.
    pub(crate) fn run(&self, command: &mut Command) {
        if !self.is_us {
            command.uid(self.uid).gid(self.gid);
        }
    }

    /// Makes this account the owner of a folder. Safe only while the account has no access yet:
    /// later it could replace the path by a link.
    pub(crate) fn own(&self, path: &Path) -> io::Result<()> {
        if self.is_us {
            return Ok(());
        }
        chown(path, Some(self.uid), Some(self.gid))
    }

    /// Makes this account the owner of an open file.
    pub(crate) fn own_file(&self, file: &File) -> io::Result<()> {
        if self.is_us {
            return Ok(());
        }
        fchown(file, Some(self.uid), Some(self.gid))
    }

    /// Returns the first folder above `path`, from the root on, that this account may not enter;
    /// `None` if it may enter all.
    pub(crate) fn stopped_at(&self, path: &Path) -> Option<PathBuf> {
        if self.is_us || self.is_root() {
            return None;
        }
        let mut folders: Vec<&Path> = path.ancestors().skip(1).collect();
        folders.reverse();
        let passes = |folder: &&Path| {
            fs::metadata(folder).is_ok_and(|data| {
                let bits = match (data.uid() == self.uid, data.gid() == self.gid) {
                    (true, _) => data.mode() >> 6,
                    (false, true) => data.mode() >> 3,
                    (false, false) => data.mode(),
                };
                bits & 1 != 0
            })
        };
        folders.into_iter().find(|folder| !passes(folder)).map(Path::to_owned)
    }
}

/// Parses a line of /etc/passwd (`name:x:uid:gid:...`); `None` if the line is malformed or about
/// another user than `name`. `us` is the user ID of dbdyno's process.
fn parse(line: &str, name: &str, us: u32) -> Option<OsUser> {
    let mut fields = line.split(':');
    if fields.next() != Some(name) {
        return None;
    }
    let uid = fields.nth(1)?.parse().ok()?;
    let gid = fields.next()?.parse().ok()?;
    Some(OsUser { name: name.to_owned(), uid, gid, is_us: uid == us })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: &str = "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n\
                         mysql:x:102:105:MySQL:/:/bin/false\nme:x:1000:1000::/home/me:/bin/sh\n";

    #[test]
    fn root_gives_the_server_to_its_own_user() {
        let who = |kind: Kind, wanted: Option<&str>, us: u32| {
            OsUser::decide(kind, wanted, us, KNOWN).map(|account| (account.uid, account.gid))
        };
        assert_eq!(who(Kind::MariaDb, None, 0), Ok((102, 105)));
        assert_eq!(who(Kind::Postgres, None, 0), Ok((65534, 65534)));
        assert_eq!(who(Kind::MariaDb, Some("root"), 0), Ok((0, 0)));
        assert_eq!(who(Kind::MariaDb, Some("me"), 1000), Ok((1000, 1000)));
        assert_eq!(who(Kind::MariaDb, None, 1000).map(|ids| ids.0), Ok(1000));
    }

    #[test]
    fn a_user_that_cannot_be_had_is_reported_with_the_remedy() {
        let check = |kind: Kind, wanted: Option<&str>, us: u32, known: &str, expect: &str| {
            let text = OsUser::decide(kind, wanted, us, known).expect_err("no such account");
            assert!(text.contains(expect), "{text}");
        };
        check(Kind::MySql, Some("you"), 0, KNOWN, "there is no user 'you' here");
        check(Kind::MySql, Some("mysql"), 1000, KNOWN, "only root starts a server as 'mysql'");
        check(Kind::Postgres, Some("root"), 0, KNOWN, "refuses to run as root");
        check(Kind::Postgres, None, 0, "", "neither 'postgres' nor 'nobody'");
    }
}
