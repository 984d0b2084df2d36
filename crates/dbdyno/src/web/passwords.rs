//! Passwords of databases that a session has typed: kept in memory, for that session alone, as
//! long as it lasts. They are on no page, in no file and in no list of processes.
//!
//! Not here: passwords of the pages themselves (auth).

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use model::{Secret, Target};

use super::visitor::{SessionId, held};

/// More sessions are not remembered: all are forgotten then.
const SESSIONS_MAX: usize = 256;
/// More databases than this are no evening's work.
const TARGETS_MAX: usize = 64;

/// What sessions have typed. Clones share it.
#[derive(Clone, Default)]
pub(super) struct Passwords(Arc<Mutex<HashMap<SessionId, HashMap<String, Secret>>>>);

/// A password for a job.
pub(super) struct JobPassword {
    pub(super) secret: Secret,
    /// Where a session remembers it; nothing of one that was typed for this job alone.
    remembered: Option<(Passwords, SessionId, String)>,
}

impl JobPassword {
    /// One that was typed for a job alone.
    pub(super) fn of_job(secret: Secret) -> JobPassword {
        JobPassword { secret, remembered: None }
    }

    /// Forgets it unless it was typed again since: it may be wrong, and is to be asked for.
    /// Whether there was anything to forget.
    pub(super) fn forget(self) -> bool {
        let Some((passwords, session, target)) = self.remembered else { return false };
        let mut all = held(&passwords.0);
        let Some(of_session) = all.get_mut(&session) else { return false };
        let is_same = of_session.get(&target) == Some(&self.secret);
        is_same && of_session.remove(&target).is_some()
    }
}

impl Passwords {
    /// Remembers it for this session.
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

    /// What this session has typed for a target; nothing where nobody signs in.
    pub(super) fn of(&self, session: Option<&SessionId>, target: &Target) -> Option<JobPassword> {
        target.user.as_ref()?;
        let (session, name) = (*session?, name_of(target));
        let secret = held(&self.0).get(&session)?.get(&name).cloned()?;
        Some(JobPassword { secret, remembered: Some((self.clone(), session, name)) })
    }

    /// Forgets a session.
    pub(super) fn forget(&self, session: &SessionId) {
        held(&self.0).remove(session);
    }
}

/// Who signs in where; a password is sent nowhere else.
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
        let of = |session: &SessionId, url: &str| {
            passwords.of(Some(session), &target(url)).map(|known| known.secret)
        };
        assert_eq!(of(&mine, "mariadb://me@db1/other?tls=require"), Some(Secret::new("hunter2")));
        assert_eq!(of(&yours, "mariadb://me@db1/bench"), None);
        assert_eq!(of(&mine, "mariadb://you@db1/bench"), None);
        assert_eq!(of(&mine, "mariadb://me@db2/bench"), None);
        assert!(passwords.of(None, &bench).is_none());
        passwords.forget(&mine);
        assert_eq!(of(&mine, "mariadb://me@db1/bench"), None);
    }

    #[test]
    fn a_password_that_failed_is_forgotten_unless_it_was_typed_again() {
        let passwords = Passwords::default();
        let (mine, bench) = ([1; 32], Target::parse("mariadb://me@db1/bench").unwrap());
        let given = || passwords.of(Some(&mine), &bench);
        passwords.remember(mine, &bench, &Secret::new("wrong"));
        let failed = given().expect("it is remembered");
        passwords.remember(mine, &bench, &Secret::new("right"));
        assert!(!failed.forget());
        assert!(given().expect("it is remembered").forget() && given().is_none());
        assert!(!JobPassword::of_job(Secret::new("typed")).forget());
    }
}
