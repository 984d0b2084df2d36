//! Passwords of databases that a session has typed: kept in memory, for that session alone, as
//! long as it lasts. They are on no page, in no file and in no list of processes.
//!
//! Not here: passwords of the pages themselves (auth).

use std::collections::HashMap;
use std::sync::Mutex;

use model::{Secret, Target};

use super::visitor::{SessionId, held};

/// More sessions are not remembered: all are forgotten then.
const SESSIONS_MAX: usize = 256;
/// More databases than this are no evening's work.
const TARGETS_MAX: usize = 64;

/// What sessions have typed.
#[derive(Default)]
pub(super) struct Passwords(Mutex<HashMap<SessionId, HashMap<String, Secret>>>);

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
    pub(super) fn of(&self, session: Option<&SessionId>, target: &Target) -> Option<Secret> {
        target.user.as_ref()?;
        held(&self.0).get(session?)?.get(&name_of(target)).cloned()
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
        let of = |session: &SessionId, url: &str| passwords.of(Some(session), &target(url));
        assert_eq!(of(&mine, "mariadb://me@db1/other?tls=require"), Some(Secret::new("hunter2")));
        assert_eq!(of(&yours, "mariadb://me@db1/bench"), None);
        assert_eq!(of(&mine, "mariadb://you@db1/bench"), None);
        assert_eq!(of(&mine, "mariadb://me@db2/bench"), None);
        assert_eq!(passwords.of(None, &bench), None);
        passwords.forget(&mine);
        assert_eq!(of(&mine, "mariadb://me@db1/bench"), None);
    }
}
