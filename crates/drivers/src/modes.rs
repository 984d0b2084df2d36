//! Guarantees of a database for transactions: durability of acknowledged commits, judged by a
//! driver's list of risky modes, and isolation; and the memory of its cache. Not here: these lists,
//! each of which is in its driver.

use model::{CommitRisk, Fact};

/// A setting with which acknowledged commits may be lost: its name, its value, and the failure that
/// loses them.
pub(crate) type RiskyMode = (&'static str, &'static str, &'static str);

/// Returns the facts that tell whether commits may be lost ([`CommitRisk`]): the first of the
/// `risky` settings that is in force, or that none is. Empty if `facts` contain none of these
/// settings, so that durability is unknown.
pub(crate) fn durability(facts: &[Fact], risky: &[RiskyMode]) -> Vec<Fact> {
    if !risky.iter().any(|(name, _, _)| mode(facts, name).is_some()) {
        return Vec::new();
    }
    let found = risky.iter().find(|(name, value, _)| has_mode(facts, name, value));
    CommitRisk::facts(found.map(|(name, value, loss)| CommitRisk {
        mode: format!("{name}={value}"),
        loss: (*loss).to_owned(),
    }))
}

/// Returns the fact with the isolation level of transactions. `level` is the server's own name for
/// it: `REPEATABLE-READ` becomes `repeatable read`.
pub(crate) fn isolation(level: &str) -> Fact {
    Fact::new("isolation", "level", level.to_lowercase().replace('-', " "))
}

/// Returns the fact with the memory in which the server caches data: the name of the setting as
/// users know it, and its value, such as `InnoDB buffer pool 128 MiB`.
pub(crate) fn server_memory(setting: &str, value: &str) -> Fact {
    Fact::new("server_memory", "cache", format!("{setting} {value}"))
}

/// Returns the fact with the size of the cache that all sessions of the database share.
pub(crate) fn cache_bytes(bytes: u64) -> Fact {
    Fact::new("server_memory", "cache_bytes", bytes.to_string())
}

/// Whether `facts` say that the database setting `name` has this value; case is ignored.
pub(crate) fn has_mode(facts: &[Fact], name: &str, value: &str) -> bool {
    mode(facts, name).is_some_and(|is| is.eq_ignore_ascii_case(value))
}

/// Returns the value of the database setting `name` in `facts`, the last if there are several;
/// `None` if there is none. Drivers report such settings as facts about `mode` or `database`.
pub(crate) fn mode(facts: &[Fact], name: &str) -> Option<String> {
    let is_it = |fact: &&Fact| matches!(&*fact.about, "mode" | "database") && fact.name == name;
    facts.iter().rev().find(is_it).map(|fact| fact.value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_risky_mode_in_force_is_the_one_that_is_kept() {
        let check = |driver: &str, modes: &[(&str, &str)], expect: Option<Option<&str>>| {
            let entry = crate::by_scheme(driver).expect("it is in the list");
            let facts: Vec<Fact> =
                modes.iter().map(|(name, value)| Fact::new("mode", name, *value)).collect();
            let found = (entry.product.administration.durability)(&facts);
            let value = |about: &str, name: &str| {
                let is_it = |fact: &&Fact| fact.about == about && fact.name == name;
                found.iter().find(is_it).map(|fact| &fact.value)
            };
            let risk = CommitRisk::read(value).map(|risk| format!("{}: {}", risk.mode, risk.loss));
            let expect = expect.map(|words| words.map(str::to_owned));
            assert_eq!((!found.is_empty()).then_some(risk), expect, "{driver} {modes:?}");
        };
        let flush = "innodb_flush_log_at_trx_commit";
        check("mariadb", &[(flush, "1")], Some(None));
        let second = "innodb_flush_log_at_trx_commit=2: a loss of power may lose the last second \
                      of commits";
        check("mysql", &[(flush, "2")], Some(Some(second)));
        let crash = "innodb_flush_log_at_trx_commit=0: a crash may lose the last second of commits";
        check("mysql", &[(flush, "0"), ("sync_binlog", "0")], Some(Some(crash)));
        // For example a proxy, which reports no modes.
        check("mysql", &[("tx_isolation", "SERIALIZABLE")], None);
        let safe = [("fsync", "on"), ("full_page_writes", "on"), ("synchronous_commit", "local")];
        check("postgres", &safe, Some(None));
        let late = "synchronous_commit=off: a crash may lose the last commits";
        check("postgres", &[("fsync", "on"), ("synchronous_commit", "off")], Some(Some(late)));
        let all = "fsync=off: a loss of power may lose commits and damage the data";
        check("postgres", &[("synchronous_commit", "off"), ("fsync", "off")], Some(Some(all)));
        check("sqlite", &[("journal_mode", "wal"), ("synchronous", "full")], Some(None));
        check("sqlite", &[("journal_mode", "delete"), ("synchronous", "normal")], Some(None));
        let wal = "journal_mode=wal with synchronous=normal: a loss of power may lose the last \
                   commits";
        check("sqlite", &[("journal_mode", "wal"), ("synchronous", "normal")], Some(Some(wal)));
        let off = "synchronous=off: a loss of power may lose commits and damage the file";
        check("sqlite", &[("journal_mode", "off"), ("synchronous", "OFF")], Some(Some(off)));
        let none = "journal_mode=memory: a crash damages the file";
        check("sqlite", &[("journal_mode", "memory"), ("synchronous", "full")], Some(Some(none)));
        check("sim", &[], None);
    }

    #[test]
    fn what_lives_in_memory_has_nothing_to_lose() {
        let facts = [("path", ":memory:"), ("journal_mode", "memory"), ("synchronous", "off")];
        let facts = facts.map(|(name, value)| Fact::new("database", name, value));
        let sqlite = crate::by_scheme("sqlite").expect("it is in the list");
        let durability = sqlite.product.administration.durability;
        assert_eq!(durability(&facts), []);
        assert!(!durability(&facts[1..]).is_empty());
    }
}
