//! Tells whether two target URLs mean the same data.
//!
//! Not here: runs that wait for each other (dbdyno's web), and messages about such runs (run).

use model::Target;
use plan::managed::is_managed;

/// Returns a text that is equal for all URLs of the same data: hosts or socket, and database or
/// file. `None` if each run has data of its own: a managed server, a simulation, a database in
/// memory.
pub fn place_of(url: &str) -> Option<String> {
    let target = Target::parse(url).ok().filter(keeps_data)?;
    let hosts: Vec<String> =
        target.hosts.iter().map(|host| host.to_string().to_ascii_lowercase()).collect();
    let socket = target.option("socket").unwrap_or_default();
    Some(format!("{} {socket} {}", hosts.join(","), target.path))
}

/// Returns true if the data that a run leaves in the target still exist for the next run.
pub fn keeps_data(target: &Target) -> bool {
    let is_kept = |entry: &drivers::Entry| entry.product.administration.keeps_data;
    let is_shared = drivers::of_target(target).is_none_or(is_kept) && target.path != ":memory:";
    is_shared && !is_managed(target)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_target_is_one_place_however_it_is_written() {
        let same = |a: &str, b: &str| place_of(a) == place_of(b) && place_of(a).is_some();
        assert!(same("mariadb://me@DB1/shop?tls=require", "mysql://you@db1/shop"));
        assert!(!same("mariadb://me@db1/shop", "mariadb://me@db1/other"));
        assert!(!same("mariadb://me@db1:3307/shop", "mariadb://me@db1:3308/shop"));
        assert!(same("sqlite:/a/b.db", "sqlite:/a/b.db?journal=wal"));
        for own in ["managed:mariadb", "sim:", "sqlite::memory:"] {
            assert_eq!(place_of(own), None, "{own}");
        }
    }
}
