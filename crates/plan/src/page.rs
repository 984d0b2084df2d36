//! Checks of plans that come from a web page. A page acts as the user who serves it, so such a plan
//! must neither start programs other than dbdyno's own nor name files.
//!
//! Only harmless parts are allowed: parameters declared with `AnyValue`, values for which this
//! module has a rule, and the options and settings listed here. Not here: access to pages (dbdyno's
//! web).

use std::path::{Component, Path};

use model::{Target, plain_setting};

use crate::bad_plan::BadPlan;
use crate::draft::{Draft, VaryDraft};
use crate::managed::{is_managed, is_setting};
use crate::place::{Place, places};
use crate::table::{AT, EXPERIMENT, GROUP, OnPage, PLAN, Row};
use crate::target::can_restart;
use crate::vary::is_target;
use crate::written::{From, Written};

/// Options of a managed server that a plan from a web page may set, because they concern no files,
/// programs or accounts.
const MANAGED: &[&str] = &["start_limit", "nodes", "load_on"];
/// Values of server settings that a plan from a web page may set, because they name neither a file
/// nor a program.
const WORDS: &[&str] = &[
    "on",
    "off",
    "true",
    "false",
    "yes",
    "no",
    "default",
    "none",
    "auto",
    "full",
    "minimal",
    "replica",
    "logical",
    "local",
    "remote_write",
    "remote_apply",
    "fsync",
    "fdatasync",
    "open_sync",
    "open_datasync",
    "o_direct",
    "o_direct_no_fsync",
    "o_dsync",
    "row",
    "statement",
    "mixed",
    "read-uncommitted",
    "read-committed",
    "repeatable-read",
    "serializable",
    "crc32",
    "strict_crc32",
    "full_crc32",
    "lz4",
    "pglz",
    "zstd",
];

/// Beginnings of the names of server settings that a plan from a web page may set, for the MySQL
/// family and PostgreSQL.
const SETTINGS: &[&str] = &[
    "aria_",
    "autovacuum",
    "back_log",
    "bgwriter_",
    "binlog_",
    "checkpoint_",
    "commit_delay",
    "commit_siblings",
    "cpu_",
    "deadlock_timeout",
    "default_statistics_target",
    "effective_",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "innodb_",
    "jit",
    "join_buffer_size",
    "key_buffer_size",
    "lock_",
    "maintenance_work_mem",
    "max_",
    "min_wal_size",
    "myisam_",
    "open_files_limit",
    "optimizer_",
    "parallel_",
    "performance_schema",
    "query_cache_",
    "random_page_cost",
    "read_buffer_size",
    "read_rnd_buffer_size",
    "rocksdb_",
    "seq_page_cost",
    "shared_buffers",
    "sort_buffer_size",
    "statement_timeout",
    "sync_",
    "synchronous_commit",
    "table_",
    "temp_buffers",
    "thread_",
    "tmp_table_size",
    "track_",
    "transaction_isolation",
    "tx_isolation",
    "userstat",
    "vacuum_",
    "wal_",
    "work_mem",
];
/// Options of a target that name files on this machine. A plan from a web page must not set them,
/// and one for an agent only with the agent's permission.
pub const FILES: &[&str] = &["library", "tls_ca", "tls_cert", "tls_key"];

/// Returns an error if a plan sent by a web page contains anything by which the page could read
/// files or run programs. Database files have to be in `folder`; without one, none is allowed.
pub fn check_from_page(draft: &Draft, folder: Option<&Path>) -> Result<(), BadPlan> {
    let is_sql_safe = is_sql_safe(draft);
    for (name, written) in &draft.values {
        of_plan(name, written, folder)?;
    }
    for group in &draft.groups {
        group.values.iter().try_for_each(|(name, written)| of_group(name, written, folder))?;
    }
    for (name, written) in &draft.experiment {
        match *name {
            "wait_until" => sql(name, written, is_sql_safe)?,
            name if takes_any(EXPERIMENT, name) => {}
            name => return Err(refused(&written.from, name, "a page names no files")),
        }
    }
    for (name, written) in &draft.server {
        setting(name, &written.text, &written.from)?;
    }
    for axis in &draft.vary {
        of_axis(draft, axis, folder)?;
    }
    for (name, written) in draft.at.iter().flat_map(|at| &at.values) {
        match *name {
            "sql" => sql(name, written, is_sql_safe)?,
            name if takes_any(AT, name) => {}
            name => return Err(refused(&written.from, name, "a page starts no programs")),
        }
    }
    Ok(())
}

/// Returns true if the parameter is declared so that a plan from a web page may give it any value.
fn takes_any<T>(rows: &[Row<T>], name: &str) -> bool {
    rows.iter().any(|row| row.parameter.name == name && row.on_page == OnPage::AnyValue)
}

/// Creates the error for a value that a plan from a web page may not give. The message advises to
/// save the plan and run it in a terminal.
fn refused(from: &From, name: &str, why: &str) -> BadPlan {
    from.bad_value(name, format!("{why}: save the plan and run it in a terminal"))
}

fn of_plan(name: &'static str, written: &Written, folder: Option<&Path>) -> Result<(), BadPlan> {
    match name {
        "target" => target(&written.text, &written.from, folder),
        name if takes_any(PLAN, name) => Ok(()),
        name => Err(refused(&written.from, name, "this is not possible from a page")),
    }
}

fn of_group(name: &'static str, written: &Written, folder: Option<&Path>) -> Result<(), BadPlan> {
    match name {
        "target" => target(&written.text, &written.from, folder),
        "rate" if written.text.trim_start().starts_with("file") => {
            Err(refused(&written.from, name, "a page names no files"))
        }
        "workload" if is_workload_file(&written.text) => {
            Err(refused(&written.from, name, "a page names no files"))
        }
        "rate" | "workload" => Ok(()),
        name if takes_any(GROUP, name) => Ok(()),
        name => Err(refused(&written.from, name, "this is not possible from a page")),
    }
}

/// Returns true if a workload's name is that of a file, read already or not. A web page may not
/// name one, because the file contains code.
fn is_workload_file(name: &str) -> bool {
    let is_file = workloads::language_of(name).is_some() || workloads::by_name(name).is_ok();
    is_file && !workloads::is_compiled_in(name)
}

/// Checks each value of a varied parameter from a web page as if the plan fixed the parameter at
/// this value. An invalid name of the parameter is reported elsewhere.
fn of_axis(draft: &Draft, axis: &VaryDraft, folder: Option<&Path>) -> Result<(), BadPlan> {
    let places = places(draft, axis).unwrap_or_default();
    for value in &axis.values {
        let written = Written::new(value.as_str(), axis.from.clone());
        if is_target(&axis.name) {
            target(value, &axis.from, folder)?;
        }
        for place in &places {
            match place {
                Place::Plan(name) => of_plan(name, &written, folder)?,
                Place::Group(_, name) => of_group(name, &written, folder)?,
                Place::Server(name) => setting(name, value, &axis.from)?,
                Place::Parameter(..) => {}
            }
        }
    }
    Ok(())
}

/// Returns true if the plan's SQL can do no more than any user who signs in to the server over a
/// network. On a managed server, SQL would act as the user who serves the page.
fn is_sql_safe(draft: &Draft) -> bool {
    let written = draft.values.get("target").map(|written| &written.text);
    let of_axes = draft.vary.iter().filter(|axis| is_target(&axis.name));
    let mut all = written.into_iter().chain(of_axes.flat_map(|axis| &axis.values)).peekable();
    all.peek().is_some()
        && all.all(|url| {
            let target = Target::parse(url).ok().filter(|target| !can_restart(target));
            target.is_some_and(|target| {
                drivers::of_target(&target).is_some_and(|entry| (entry.is_over_network)(&target))
            })
        })
}

fn sql(name: &str, written: &Written, is_safe: bool) -> Result<(), BadPlan> {
    match is_safe {
        true => Ok(()),
        false => Err(refused(
            &written.from,
            name,
            "from a page, SQL is executed only on a server that is reached over the network",
        )),
    }
}

fn target(url: &str, from: &From, folder: Option<&Path>) -> Result<(), BadPlan> {
    // An invalid target is rejected elsewhere.
    let Ok(target) = Target::parse(url) else { return Ok(()) };
    let bad = |why: &str| Err(refused(from, "target", why));
    if is_managed(&target) {
        for (name, value) in &target.options {
            let is_ours = crate::managed::PARAMETERS.iter().any(|row| row.name == name);
            if is_setting(&target, name) {
                setting(name, value, from)?;
            } else if is_ours && !MANAGED.contains(&name.as_str()) {
                return bad(&format!("{name}: a page names no programs, folders or users"));
            }
        }
        return Ok(());
    }
    if let Some((name, _)) = target.options.iter().find(|(name, _)| FILES.contains(&&**name)) {
        return bad(&format!("{name}: a page names no files"));
    }
    let is_file = drivers::file_of(&target).is_some();
    if is_file && target.path != ":memory:" && !is_in(Path::new(&target.path), folder) {
        let folder = folder.map_or_else(String::new, |folder| folder.display().to_string());
        return bad(&format!("from a page, database files are in {folder}"));
    }
    Ok(())
}

/// Returns true if a file is directly in the folder, and not a symbolic link.
fn is_in(file: &Path, folder: Option<&Path>) -> bool {
    let is_plain = file.components().all(|part| part != Component::ParentDir);
    is_plain && folder.is_some() && file.parent() == folder && !file.is_symlink()
}

/// Checks a server setting in a plan from a web page. Its name must begin with a listed prefix,
/// whose settings name neither files nor programs nor accounts; its value must be a number, with a
/// unit or not, or a listed word. A list of forbidden settings would never be complete, because
/// servers accept prefixes (`loose_`, `enable_`, `skip_`) and abbreviated names.
fn setting(name: &str, value: &str, from: &From) -> Result<(), BadPlan> {
    let digits = |c: char| c.is_ascii_digit() || c == '.';
    let unit = value.trim().trim_start_matches('-').trim_start_matches(digits);
    let is_number = unit.len() < value.trim().len()
        && unit.trim().len() <= 3
        && unit.trim().chars().all(|c| c.is_ascii_alphabetic());
    let is_word = WORDS.iter().any(|word| word.eq_ignore_ascii_case(value.trim()));
    let refused = |why: &str| Err(refused(from, &format!("server.{name}"), why));
    let plain = plain_setting(name);
    if !SETTINGS.iter().any(|family| plain.starts_with(family)) {
        return refused(
            "from a page, only settings of memory, logs, flushing and the like are set",
        );
    }
    match is_number || is_word {
        true => Ok(()),
        false => {
            refused("from a page, a setting is a number with its unit, or a word such as on or off")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toml_file::read_toml;

    fn db_error(text: &str) -> Option<String> {
        let text = format!("{text}\n[[group]]\nworkload = \"tpcc\"\n");
        let draft = read_toml("plan.toml", &text).expect("TOML");
        check_from_page(&draft, Some(Path::new("/home/me/dbdyno"))).err().map(|bad| bad.0)
    }

    #[test]
    fn a_plan_from_a_page_names_no_program_and_no_file() {
        let check = |text: &str, expect: &str| {
            let why = db_error(text).unwrap_or_else(|| panic!("it is accepted: {text}"));
            assert!(why.contains(expect) && why.ends_with("in a terminal"), "{text}: {why}");
        };
        let at =
            |what: &str| format!("target = \"managed:postgres\"\n[[at]]\ntime = \"1s\"\n{what}");
        check(&at("command = \"touch /tmp/x\""), "plan.toml:4:11: command: a page starts no");
        check(&at("sql = \"COPY t TO PROGRAM 'sh'\""), "SQL is executed only on");
        check("[[at]]\ntime = \"1s\"\nsql = \"SELECT 1\"", "SQL is executed only on");
        check(
            "target = \"postgres://me@/db?socket=/run\"\n[experiment]\nwait_until = \"SELECT 1\"",
            "SQL",
        );
        check("target = \"managed:mariadb?bin=/tmp/evil\"", "bin: a page names no programs");
        check("target = \"managed:mariadb?folder=/etc\"", "folder: a page names no");
        check("target = \"managed:mariadb?user=root\"", "user: a page names no");
        check("target = \"managed:postgres?archive_command=reboot\"", "archive_command");
        check("target = \"managed:mariadb?general_log_file=/etc/x\"", "general_log_file");
        check("target = \"managed:mariadb?innodb_tmpdir=/etc\"", "a setting is a number");
        for open in ["skip-grant-tables=1", "loose_skip_grant_tables=on", "enable_skip_grant=1"] {
            check(&format!("target = \"managed:mariadb?{open}\""), "only settings of memory");
        }
        for open in ["loose_bind_address=0", "LOOSE-port=3777", "plugin_load_add=auto"] {
            check(&format!("target = \"managed:mariadb?{open}\""), "only settings of memory");
        }
        check("target = \"managed:postgres?archive_command=true\"", "only settings of memory");
        check("target = \"mariadb://me@db/bench?tls_ca=/etc/shadow\"", "tls_ca: a page names no");
        check("[server]\narchive_command = \"rm -r x\"", "server.archive_command");
        check(
            "[experiment.vary]\n\"server.init_connect\" = [\"DROP TABLE x\"]",
            "only settings of memory",
        );
        check("[experiment.vary]\ntarget = [\"managed:mariadb?bin=/x\"]", "bin: a page names");
        check("[experiment.vary]\nrate = [\"file /etc/shadow\"]", "rate: a page names no files");
        check("[experiment]\nreference = \"/etc/shadow\"", "reference: a page names no files");
        check(
            "target = \"sqlite:/home/me/.ssh/authorized_keys\"",
            "database files are in /home/me/dbdyno",
        );
        check("target = \"sqlite:/home/me/dbdyno/../x\"", "database files are in");
        check("target = \"sqlite:x.db\"", "database files are in");
        check("target = \"duckdb:/tmp/x.db\"", "database files are in");
        let library = "target = \"duckdb::memory:?library=/tmp/evil.so\"";
        check(library, "library: a page names no files");
        let rate =
            "[[group]]\nname = \"a\"\nworkload = \"tpcc\"\nload = \"open\"\nrate = \"file x\"";
        check(rate, "rate: a page names no files");
    }

    #[test]
    fn a_plan_from_a_page_names_no_workload_in_a_file() {
        static CODE: workloads::Language = workloads::Language {
            extension: "code",
            is_code: true,
            read: |_| Err(model::BadParameter::new("it was read".to_owned())),
            modules: None,
        };
        static ALL: [&workloads::Language; 1] = [&CODE];
        workloads::add(workloads::Added { languages: &ALL, ..Default::default() });
        let check = |text: &str| {
            let draft = read_toml("plan.toml", text).expect("TOML");
            check_from_page(&draft, None).map_err(|bad| bad.0)
        };
        for name in ["evil.code", "evil.lua"] {
            let plan = format!("[[group]]\nworkload = \"/home/me/{name}\"");
            // A language that is not compiled in is no workload at all.
            if workloads::language_of(name).is_some() {
                let why = check(&plan).expect_err("a file");
                assert!(why.contains("workload: a page names no files"), "{why}");
            }
        }
        assert_eq!(check("[[group]]\nworkload = \"tpcb\""), Ok(()));
        // A misspelt name is reported with the one that is meant.
        assert_eq!(check("[[group]]\nworkload = \"tpcx\""), Ok(()));
    }

    #[test]
    fn a_plan_from_a_page_does_what_harms_nobody() {
        let check = |text: &str| assert_eq!(db_error(text), None, "{text}");
        check("");
        check("target = \"managed:mariadb?innodb_buffer_pool_size=1.5G&nodes=3&tls=disable\"");
        check("target = \"managed:postgres?fsync=off&checkpoint_timeout=5 min\"");
        check("target = \"sqlite:/home/me/dbdyno/tpcc.db?journal=wal\"\nduration = \"5s\"");
        check("target = \"sqlite::memory:\"");
        check("target = \"mariadb://me@db/bench\"\n[[at]]\ntime = \"1s\"\nsql = \"DROP TABLE x\"");
        check("target = \"managed:mariadb\"\n[[at]]\ntime = \"1s\"\nserver = \"restart\"");
        check("[experiment]\nrepeat = 3\n[experiment.vary]\nclients = [1, 2]\nrate = [5, 6]");
        check("[experiment.vary]\n\"server.innodb_flush_log_at_trx_commit\" = [1, 2]");
    }

    /// Returns the names of the declared parameters whose values this module checks.
    fn checked<T>(rows: &[Row<T>]) -> impl Iterator<Item = &'static str> {
        let checked = rows.iter().filter(|row| row.on_page == OnPage::Checked);
        checked.map(|row| row.parameter.name)
    }

    #[test]
    fn each_parameter_is_allowed_or_refused_with_intent() {
        let group = |line: &str| format!("[[group]]\nworkload = \"tpcc\"\n{line}");
        let at = |line: &str| format!("[[at]]\ntime = \"1s\"\n{line}");
        let refused = [
            ("target", "target = \"sqlite:/etc/x.db\"".to_owned()),
            // The test above has its own language of workload files.
            ("workload", String::new()),
            ("script", "[[group]]\nscript = \"SELECT 1;\"".to_owned()),
            ("target", group("target = \"sqlite:/etc/x.db\"")),
            ("rate", group("load = \"open\"\nrate = \"file rates.csv\"")),
            ("wait_until", "target = \"sqlite::memory:\"\n[experiment]\nwait_until = \"x\"".into()),
            ("reference", "[experiment]\nreference = \"x.csv\"".to_owned()),
            ("sql", format!("target = \"sqlite::memory:\"\n{}", at("sql = \"x\""))),
            ("command", at("command = \"true\"")),
        ];
        let names = checked(PLAN).chain(checked(GROUP)).chain(checked(EXPERIMENT));
        let names: Vec<&str> = names.chain(checked(AT)).collect();
        assert_eq!(names, refused.each_ref().map(|(name, _)| *name));
        for (name, text) in refused.into_iter().filter(|(_, text)| !text.is_empty()) {
            let said = db_error(&text).unwrap_or_else(|| panic!("{name} is allowed: {text}"));
            assert!(said.contains("save the plan") || said.contains(name), "{said}");
        }
    }
}
