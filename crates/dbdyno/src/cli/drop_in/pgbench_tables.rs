//! What pgbench's options of `-i` change about its tables, once they are built.
//!
//! Not here: the build (tpcb).

use app::Error;
use clap::ArgMatches;

use super::pgbench_options::{is_set, number, text};
use super::unsupported;

const PROGRAM: &str = "pgbench";

/// Foreign keys of pgbench's tables: table, column, and the table that has its values.
const FOREIGN_KEYS: [(&str, &str, &str); 5] = [
    ("tellers", "bid", "branches"),
    ("accounts", "bid", "branches"),
    ("history", "bid", "branches"),
    ("history", "tid", "tellers"),
    ("history", "aid", "accounts"),
];

/// Changes of the tables that the options ask for.
pub(super) struct Later {
    /// Number of partitions of the accounts, and whether they are chosen by hash.
    partitions: Option<(u64, bool)>,
    is_unlogged: bool,
    /// Percentage up to which pages are filled, below 100.
    fill_percent: Option<u64>,
    tablespace: Option<String>,
    index_tablespace: Option<String>,
    has_keys: bool,
}

impl Later {
    /// Reads the options.
    ///
    /// # Errors
    ///
    /// A number that is none, or steps other than those of a whole build.
    pub(super) fn read(matches: &ArgMatches) -> Result<Later, Error> {
        let steps = text(matches, "init_steps").unwrap_or("dtgvp").replace('G', "g");
        let mut order: Vec<char> = steps.chars().filter(|step| !" f".contains(*step)).collect();
        order.sort_unstable();
        order.dedup();
        if order != ['d', 'g', 'p', 't', 'v'] {
            let option = format!("--init-steps={steps}");
            return Err(unsupported(PROGRAM, &option, "the build has all steps of dtgvp"));
        }
        let n_partitions = number(matches, "partitions", 0)?.filter(|n| *n > 0);
        let is_hash = match text(matches, "partition_method") {
            None | Some("range") => false,
            Some("hash") => true,
            Some(other) => {
                let why = format!("--partition-method: '{other}' is neither range nor hash");
                return Err(Error::Usage(why));
            }
        };
        if text(matches, "partition_method").is_some() && n_partitions.is_none() {
            return Err(Error::Usage("--partition-method needs --partitions".to_owned()));
        }
        let owned = |id: &str| text(matches, id).map(quoted);
        Ok(Later {
            partitions: n_partitions.map(|n| (n, is_hash)),
            is_unlogged: is_set(matches, "unlogged_tables"),
            fill_percent: number(matches, "fillfactor", 10)?.filter(|percent| *percent < 100),
            tablespace: owned("tablespace"),
            index_tablespace: owned("index_tablespace"),
            has_keys: is_set(matches, "foreign_keys") || steps.contains('f'),
        })
    }

    /// Returns the statements that change built tables with this number of accounts.
    pub(super) fn statements(&self, n_accounts: u64) -> Vec<String> {
        let mut all = Vec::new();
        let mut accounts = vec!["pgbench_accounts".to_owned()];
        if let Some((n, is_hash)) = self.partitions {
            accounts = (1..=n).map(|nth| format!("pgbench_accounts_{nth}")).collect();
            self.divide(n_accounts, &accounts, is_hash, &mut all);
        }
        let small = ["branches", "tellers"].map(|table| format!("pgbench_{table}"));
        let filled: Vec<&String> = accounts.iter().chain(&small).collect();
        let history = "pgbench_history".to_owned();
        for table in filled.iter().copied().chain([&history]) {
            if self.is_unlogged {
                all.push(format!("ALTER TABLE {table} SET UNLOGGED"));
            }
            if let Some(space) = &self.tablespace {
                all.push(format!("ALTER TABLE {table} SET TABLESPACE {space}"));
            }
        }
        for table in filled {
            if let Some(percent) = self.fill_percent {
                all.push(format!("ALTER TABLE {table} SET (fillfactor = {percent})"));
                // The rows are in full pages until the table is written again.
                all.push(format!("VACUUM (FULL, ANALYZE) {table}"));
            }
            if let Some(space) = &self.index_tablespace {
                all.push(format!("ALTER INDEX {table}_pkey SET TABLESPACE {space}"));
            }
        }
        for (table, column, of) in FOREIGN_KEYS.iter().filter(|_| self.has_keys) {
            all.push(format!(
                "ALTER TABLE pgbench_{table} ADD CONSTRAINT pgbench_{table}_{column}_fkey \
                 FOREIGN KEY ({column}) REFERENCES pgbench_{of}"
            ));
        }
        all
    }

    /// Adds the statements that divide the accounts into partitions.
    fn divide(&self, n_accounts: u64, names: &[String], is_hash: bool, all: &mut Vec<String>) {
        let method = if is_hash { "HASH" } else { "RANGE" };
        let n = names.len() as u64;
        let size = n_accounts.div_ceil(n);
        all.push("ALTER TABLE pgbench_accounts RENAME TO pgbench_accounts_whole".to_owned());
        all.push(format!(
            "CREATE TABLE pgbench_accounts (LIKE pgbench_accounts_whole) PARTITION BY {method} (aid)"
        ));
        for (name, nth) in names.iter().zip(0..) {
            let values = match is_hash {
                true => format!("WITH (MODULUS {n}, REMAINDER {nth})"),
                false => {
                    let limit = |nth: u64, end: &str| match nth == 0 || nth == n {
                        true => end.to_owned(),
                        false => (nth * size + 1).to_string(),
                    };
                    let (low, high) = (limit(nth, "MINVALUE"), limit(nth + 1, "MAXVALUE"));
                    format!("FROM ({low}) TO ({high})")
                }
            };
            all.push(format!(
                "CREATE TABLE {name} PARTITION OF pgbench_accounts FOR VALUES {values}"
            ));
        }
        all.push("INSERT INTO pgbench_accounts SELECT * FROM pgbench_accounts_whole".to_owned());
        all.push("DROP TABLE pgbench_accounts_whole".to_owned());
        all.push("ALTER TABLE pgbench_accounts ADD PRIMARY KEY (aid)".to_owned());
        all.push("VACUUM ANALYZE pgbench_accounts".to_owned());
    }
}

/// Quotes a name in SQL.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
