//! Passwords of databases that were entered in a web session. They are kept in memory for that
//! session only, until it ends, and are on no page, in no file and in no list of processes.
//!
//! Not here: passwords of the service itself (`auth`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use model::{Secret, Target};

use super::visitor::{SessionId, held};

/// Maximum number of web sessions with passwords of databases. If it is reached, all are removed
/// before one more is added.
const SESSIONS_MAX: usize = 256;
/// Maximum targets with a password per web session. If it is reached, all are removed before one
/// more is added.
const TARGETS_MAX: usize = 64;

/// Passwords of databases that users entered, by web session and target. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Passwords(Arc<Mutex<HashMap<SessionId, HashMap<String, Secret>>>>);

/// Password of a database for a job.
pub(super) struct JobPassword {
    pub(super) secret: Secret,
    /// Web session and target under which the password is remembered; `None` if it was entered for
    /// this job only.
    remembered: Option<(Passwords, SessionId, String)>,
}

impl JobPassword {
    /// Creates a password that was entered for one job only.
    pub(super) fn of_job(secret: Secret) -> JobPassword {
        JobPassword { secret, remembered: None }
    }

    /// Removes the password from its web session, since it may be wrong, unless another one was
    /// entered meanwhile. Returns true if it was removed.
    pub(super) fn forget(self) -> bool {
        let Some((passwords, session, target)) = self.remembered else { return false };
        let mut all = held(&passwords.0);
        let Some(of_session) = all.get_mut(&session) else { return false };
        let is_same = of_session.get(&target) == Some(&self.secret);
        is_same && of_session.remove(&target).is_some()
    }
}

impl Passwords {
    /// Remembers the password of a target for this session.
    pub(super) fn remember(&self, session: SessionId, target: &Target, password: &Secret) {
        let mut all = held(&self.0);
        if all.len() >= SESSIONS_MAX && !all.contains_key(&session) {
            all.clear();
        }
        let of_session = all.entry(session).or_default();
        if of_session.len() >= TARGETS_MAX {
            of_session.clear();
        }
        of_session.insert(name_of(target), password.clone());
    }

    /// Returns the password of this session for a target; `None` if none is remembered, or the
    /// target has no user.
    pub(super) fn find(&self, session: Option<&SessionId>, target: &Target) -> Option<JobPassword> {
        target.user.as_ref()?;
        let (session, name) = (*session?, name_of(target));
        let secret = held(&self.0).get(&session)?.get(&name).cloned()?;
        Some(JobPassword { secret, remembered: Some((self.clone(), session, name)) })
    }

    /// Removes all passwords of a session.
    pub(super) fn forget(&self, session: &SessionId) {
        held(&self.0).remove(session);
    }
}

/// Returns the key of a target under which its password is remembered: its user and address, but
/// not the database. A password is never sent to another address.
fn name_of(target: &Target) -> String {
    let socket = target.options.iter().filter(|(name, _)| name == "socket").cloned().collect();
    Target { password: None, path: String::new(), options: socket, ..target.clone() }.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_its_sessions_and_its_targets_alone() {
        let passwords = Passwords::default();
        let target = |url: &str| Target::parse(url).unwrap();
        let (mine, yours): (SessionId, SessionId) = ([1; 32], [2; 32]);
        let bench = target("mariadb://me@db1/bench");
        passwords.remember(mine, &bench, &Secret::new("hunter2"));
        let password = |session: &SessionId, url: &str| {
            passwords.find(Some(session), &target(url)).map(|known| known.secret)
        };
        assert_eq!(
            password(&mine, "mariadb://me@db1/other?tls=require"),
            Some(Secret::new("hunter2"))
        );
        assert_eq!(password(&yours, "mariadb://me@db1/bench"), None);
        assert_eq!(password(&mine, "mariadb://you@db1/bench"), None);
        assert_eq!(password(&mine, "mariadb://me@db2/bench"), None);
        assert!(passwords.find(None, &bench).is_none());
        passwords.forget(&mine);
        assert_eq!(password(&mine, "mariadb://me@db1/bench"), None);
    }

    #[test]
    fn a_password_that_failed_is_forgotten_unless_it_was_typed_again() {
        let passwords = Passwords::default();
        let (mine, bench) = ([1; 32], Target::parse("mariadb://me@db1/bench").unwrap());
        let given = || passwords.find(Some(&mine), &bench);
        passwords.remember(mine, &bench, &Secret::new("wrong"));
        let failed = given().expect("it is remembered");
        passwords.remember(mine, &bench, &Secret::new("right"));
        assert!(!failed.forget());
        assert!(given().expect("it is remembered").forget() && given().is_none());
        assert!(!JobPassword::of_job(Secret::new("typed")).forget());
    }
}
