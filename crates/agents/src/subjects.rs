//! Subjects of the broker, and who may use them.
//!
//! Each agent has a *place*, a number that the hub gives to it. Its name in certificates and its
//! subjects have that number, so the broker lets an agent read and write its own subjects alone.

/// Number of places for agents of a hub.
pub(crate) const N_PLACES: u32 = 256;

/// Subject on which every agent is asked who is there.
pub(crate) const WHO: &str = "dbdyno.all.who";
/// Subject on which agents ask the hub to join.
pub(crate) const JOIN: &str = "dbdyno.join";
/// Subjects of the hub's answers to those who join, each behind this prefix.
pub(crate) const JOINED: &str = "dbdyno.joined";
/// Name in the certificate of runs.
pub(crate) const RUN: &str = "run.dbdyno";
/// Name in the certificate of the hub itself, which admits agents.
pub(crate) const HUB: &str = "hub.dbdyno";

/// Last word of the subject on which an agent says that it is there.
pub(crate) const HERE: &str = "here";
/// Last word of the subjects on which an agent renews its certificate.
pub(crate) const RENEW: &str = "renew";

/// Returns the name in the certificate of the agent at a place.
pub(crate) fn agent_name(place: u32) -> String {
    format!("agent-{place}.dbdyno")
}

/// Returns the subject on which the agent at a place reads, with this last word.
pub(crate) fn to_agent(place: u32, word: &str) -> String {
    format!("dbdyno.agent.{place}.in.{word}")
}

/// Returns the subject on which the agent at a place writes, with this last word.
pub(crate) fn from_agent(place: u32, word: &str) -> String {
    format!("dbdyno.agent.{place}.out.{word}")
}

/// Subjects on which all agents write.
pub(crate) fn from_all(word: &str) -> String {
    format!("dbdyno.agent.*.out.{word}")
}

/// Returns the place and the last word of a subject on which an agent writes.
pub(crate) fn sender_of(subject: &str) -> Option<(u32, &str)> {
    let (place, word) = subject.strip_prefix("dbdyno.agent.")?.split_once(".out.")?;
    Some((place.parse().ok()?, word))
}

/// Returns the last word of a subject on which the agent at this place reads.
pub(crate) fn word_for(place: u32, subject: &str) -> Option<&str> {
    subject.strip_prefix(&to_agent(place, ""))
}

/// Permissions of one certificate name at the broker.
pub(crate) struct Rights {
    pub(crate) name: String,
    pub(crate) publish: Vec<String>,
    pub(crate) subscribe: Vec<String>,
}

/// Returns the rights of all names. Everything else is refused.
pub(crate) fn all_rights() -> Vec<Rights> {
    let rights = |name: &str, publish: &[&str], subscribe: &[&str]| {
        let texts = |all: &[&str]| all.iter().map(|text| (*text).to_owned()).collect();
        Rights { name: name.to_owned(), publish: texts(publish), subscribe: texts(subscribe) }
    };
    let joined = format!("{JOINED}.>");
    let (renew, renewed) = (from_all(RENEW), "dbdyno.agent.*.in.renew");
    let mut all = vec![
        rights(crate::token::JOIN, &[JOIN], &[&joined]),
        rights(HUB, &[&joined, renewed], &[JOIN, &renew]),
        rights(RUN, &[WHO, "dbdyno.agent.*.in.>"], &["dbdyno.agent.*.out.>"]),
    ];
    all.extend((0..N_PLACES).map(|place| {
        let (reads, writes) = (to_agent(place, ">"), from_agent(place, ">"));
        rights(&agent_name(place), &[&writes], &[WHO, &reads])
    }));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subject_has_a_place_and_a_word() {
        assert_eq!(sender_of(&from_agent(7, "ab")), Some((7, "ab")));
        assert_eq!(word_for(7, &to_agent(7, "ab")), Some("ab"));
        assert_eq!(word_for(7, &to_agent(17, "ab")), None);
        for other in ["dbdyno.agent.x.out.ab", "dbdyno.agent.7.in.ab", "dbdyno.all.who", ""] {
            assert_eq!(sender_of(other), None, "{other}");
        }
    }

    #[test]
    fn no_agent_may_use_the_subjects_of_another_one() {
        let all = all_rights();
        let of = |place: u32| all.iter().find(|rights| rights.name == agent_name(place)).unwrap();
        let (one, other) = (of(1), of(11));
        assert!(one.publish.iter().all(|subject| !other.publish.contains(subject)));
        let shared: Vec<_> =
            one.subscribe.iter().filter(|subject| other.subscribe.contains(subject)).collect();
        assert_eq!(shared, [WHO]);
        assert_eq!(all.len(), N_PLACES as usize + 3);
    }
}
