//! Words that some version of MariaDB or MySQL reserves in some `sql_mode`, and that dbdyno's SQL
//! must not use as names. Not here: keywords that are not reserved.
//!
//! Sources: `information_schema.KEYWORDS` of MySQL 9.7.4 (`RESERVED = 1`); "Keywords and Reserved
//! Words" of the manuals of MySQL 5.7, 8.0 and 8.4 for words that 9.7 no longer reserves,
//! including those reserved in some versions of a series only; for MariaDB 10.11 those words of
//! its `information_schema.KEYWORDS` that it rejects as the name of a column or of a derived table
//! in every `sql_mode`, or in `sql_mode=ORACLE`.

/// Words that MySQL 9.7 reserves, in lower case, separated by blanks.
const MYSQL: &str = "\
    accessible add all alter analyze and as asc asensitive before between bigint binary blob \
    both by call cascade case change char character check collate column condition constraint \
    continue convert create cross cube cume_dist current_date current_time current_timestamp \
    current_user cursor database databases day_hour day_microsecond day_minute day_second dec \
    decimal declare default delayed delete dense_rank desc describe deterministic distinct \
    distinctrow div double drop dual each else elseif empty enclosed escaped except exists exit \
    explain external false fetch first_value float float4 float8 for force foreign from fulltext \
    function generated get grant group grouping groups having high_priority hour_microsecond \
    hour_minute hour_second if ignore in index infile inner inout insensitive insert int int1 \
    int2 int3 int4 int8 integer intersect interval into io_after_gtids io_before_gtids is \
    iterate join json_table key keys kill lag last_value lateral lead leading leave left library \
    like limit linear lines load localtime localtimestamp lock long longblob longtext loop \
    low_priority match maxvalue mediumblob mediumint mediumtext middleint minute_microsecond \
    minute_second mod modifies natural not no_write_to_binlog nth_value ntile null numeric of on \
    optimize optimizer_costs option optionally or order out outer outfile over partition \
    percent_rank precision primary procedure purge qualify range rank read reads read_write real \
    recursive references regexp release rename repeat replace require resignal restrict return \
    revoke right rlike row rows row_number schema schemas second_microsecond select sensitive \
    separator set show signal smallint spatial specific sql sqlexception sqlstate sqlwarning \
    sql_big_result sql_calc_found_rows sql_small_result ssl starting stored straight_join system \
    table tablesample terminated then tinyblob tinyint tinytext to trailing trigger true undo \
    union unique unlock unsigned update usage use using utc_date utc_time utc_timestamp values \
    varbinary varchar varcharacter varying virtual when where while window with write xor \
    year_month zerofill";

/// Words that only older versions of MySQL reserve, and some of them MariaDB. The manuals list
/// those that begin with `sql_` as not reserved, but as a query's first column they are read as
/// options.
const OLDER_MYSQL: &str = "\
    admin array get_master_public_key manual master_bind master_ssl_verify_server_cert member \
    nonblocking parallel parse_gcol_expr persist persist_only role sql_buffer_result sql_cache \
    sql_no_cache";

/// Words that MariaDB reserves and that are not in [`MYSQL`] or [`OLDER_MYSQL`].
const MARIADB: &str = "\
    current_role delete_domain_id do_domain_ids ignore_domain_ids master_demote_to_replica \
    master_demote_to_slave offset page_checksum parse_vcol_expr portion ref_system_id returning \
    stats_auto_recalc stats_persistent stats_sample_pages";

/// Words that MariaDB reserves only with `sql_mode=ORACLE`.
const ORACLE_MODE: &str = "\
    body elsif goto minus others package raise rownum rowtype sysdate";

/// Returns the lower-case words of an SQL text that MySQL or MariaDB reserve. dbdyno writes
/// keywords in upper case, so these words are names and need quotes. Text in quotes and backquotes
/// is ignored.
pub(crate) fn reserved_names(sql: &str) -> Vec<&str> {
    let is_reserved = |word: &&str| {
        let mut lists = [MYSQL, OLDER_MYSQL, MARIADB, ORACLE_MODE].into_iter();
        lists.any(|list| list.split_whitespace().any(|reserved| reserved == *word))
    };
    let outside = sql.split(['\'', '`']).step_by(2);
    let of_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '@';
    outside.flat_map(|part| part.split(move |c| !of_word(c))).filter(is_reserved).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_reserved_somewhere_are_found() {
        let check = |sql: &str, expect: &[&str]| assert_eq!(reserved_names(sql), expect, "{sql}");
        check("SELECT a FROM (SELECT 1 AS a) stored ON stored.a = 1", &["stored", "stored"]);
        check("SELECT branches, others FROM t AS rank", &["others", "rank"]);
        check("SELECT 'stored', `order`, @@others, n_stored FROM history", &[]);
    }

    /// Checks the SQL that this driver declares, but not the SQL of workloads.
    #[test]
    fn no_name_in_sql_of_ours_is_reserved() {
        let product = &super::super::PRODUCT;
        let administration = &product.administration;
        let mut texts: Vec<String> = Vec::new();
        let model::Administration { build_lock, run_lock, alone_lock, .. } = *administration;
        for lock in [build_lock, run_lock, alone_lock] {
            texts.extend(lock.take.iter().chain([&lock.release]).map(ToString::to_string));
        }
        texts.push(administration.list_routines.to_owned());
        texts.extend(administration.list_storage_engines.map(str::to_owned));
        texts.extend(administration.storage_engine_of.map(|query| query("stock")));
        texts.extend(administration.house_limits.iter().map(ToString::to_string));
        texts.extend(administration.demands_keys.map(str::to_owned));
        for version in ["10.11.19-MariaDB", "9.7.4"] {
            let name = if version.contains("MariaDB") { "MariaDB" } else { "MySQL" };
            let facts = [("product", name), ("version", version)];
            let facts = facts.map(|(name, value)| model::Fact::new("database", name, value));
            let settling = (administration.settling)(&facts).expect("it can be settled");
            texts.extend(
                settling
                    .steps
                    .iter()
                    .flat_map(|step| step.level.as_ref())
                    .map(|l| l.sql.to_owned()),
            );
            texts.push(settling.changes.to_owned());
        }
        texts.extend(product.monitoring.commit_counter.map(|counter| counter.sql.to_owned()));
        for sql in &texts {
            assert_eq!(reserved_names(sql), [""; 0], "{sql}");
        }
    }
}
