//! Tests of a run's tables, for people and for programs.

use analysis::fixtures::Made;
use analysis::report::Options;

use super::*;

fn page(table: &Table) -> String {
    let style = crate::terminal::Style { width: usize::MAX, ..Default::default() };
    crate::terminal::of_table(table, &style).join("\n")
}

#[test]
fn timing_has_a_row_for_each_kind_and_adds_up() {
    let report = Report::from_tally(&Made::closed().tally());
    let table = timing(&report);
    insta::assert_snapshot!(page(&table), @r"
    Timing of run 019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d over 60 s, in ms

    transaction    calls  failed    min    avg    max    total    p50     p95    p99     sd  ratio %
    new_order     12,232       0   8.00  24.1   145    294,459  19.1    56.2    81.4  16.1      57.9
    payment       11,785       2   4.00  12.1    99.9  142,130   9.55   28.3    41.8   8.14     28.0
    order_status   1,065       0   1.34   3.95   35.0    4,212   3.16    9.10   14.3   2.82      0.8
    delivery       1,064       0  18.7   55.3   366     58,837  43.0   131     198    38.5      11.6
    stock_level    1,081       0   2.67   8.13   37.5    8,786   6.47   18.9    27.3   5.27      1.7
    ");
    let column = |key: &str| table.columns.iter().position(|c| c.key == key).expect(key);
    let sum = |key: &str| -> f64 {
        let cell = |row: &Vec<Cell>| match row[column(key)] {
            Cell::Number(number) => number,
            Cell::Count(count) => count as f64,
            _ => 0.0,
        };
        table.rows.iter().map(cell).sum()
    };
    assert!((sum("ratio_percent") - 100.0).abs() < 1e-3);
    let counts = &report.block.counts;
    assert_eq!(sum("calls"), (counts.finished + counts.failed) as f64);
}

#[test]
fn a_client_has_its_own_rows() {
    let report = Report::with(&Made::closed().tally(), Options { per_client: true });
    let mut table = per_client(&report);
    assert_eq!(table.rows.len(), 8);
    table.rows.truncate(1);
    insta::assert_snapshot!(page(&table), @r"
    Timing by client of run 019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d over 60 s, in ms

    client  transaction  calls  failed   min   avg   max  total   p50  p95  p99    sd  of its time %
         0  new_order        5       1  1.00  2.50  4.00  10.00  2.00    –    –  1.29          100.0
    ");
    assert!(per_client(&Report::from_tally(&Made::closed().tally())).rows.is_empty());
}

#[test]
fn the_counter_counts_every_second_or_stretch_once() {
    let tally = Made::closed().tally();
    let sum = |table: &Table| -> i64 {
        let commits = table.columns.iter().position(|c| c.key == "commits").expect("commits");
        let commits_of = |row: &Vec<Cell>| match row[commits] {
            Cell::Count(count) => count,
            _ => panic!("no count"),
        };
        table.rows.iter().map(commits_of).sum()
    };
    let (seconds, stretches) = (counter(&tally, 1), counter(&tally, 20));
    assert_eq!((seconds.rows.len(), stretches.rows.len()), (65, 4));
    assert_eq!(sum(&seconds), sum(&stretches));
    insta::assert_snapshot!(page(&stretches), @r"
    Transactions of run 019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d, every 20 s

    from s  offered  finished  failed  dropped  commits    TPS     TPM  p50 ms   p95   p99  max
        -5    1,797     1,797       0        0    1,792  358.4  21,504    12.8  51.5  83.4  156
         0    9,141     9,139       2        0    9,101  455.1  27,303    13.4  51.2  85.6  215
        20    9,140     9,140       0        0    9,096  454.8  27,288    13.5  49.3  82.8  366
        40    8,946     8,946       0        0    8,911  445.6  26,733    13.7  50.5  85.5  329
    ");
    assert_eq!(counter(&Tally::new(), 10).rows.len(), 0);
}

#[test]
fn a_stretch_that_the_end_cut_short_counts_by_its_own_length() {
    let tally = Made::interrupted().tally();
    let last = counter(&tally, 5).rows.pop().expect("rows");
    assert_eq!((&last[0], &last[1]), (&Cell::Count(5), &Cell::Number(7.4 - 5.0)));
}

#[test]
fn the_configuration_is_the_plan_as_decided() {
    let report = Report::from_tally(&Made::closed().tally());
    insta::assert_snapshot!(page(&config(&report)), @r"
    Configuration of run 019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d

    section      name            value
    run          id              019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d
    run          name            quick
    run          started         2026-02-25T06:13:20Z
    run          status          completed
    run          dbdyno          0.1.0
    run          seed            7
    run          placement       thread
    database     target          sqlite:/tmp/tpcc.sqlite
    database     product         SQLite 3.54.1
    database     journal         wal
    database     synchronous     full
    phases       ramp_up_s       5
    phases       measure_s       60
    phases       drain_s         10
    group users  workload        tpcc
    group users  clients         8
    group users  load            closed
    group users  stop condition  the end of the measured phase
    group users  warehouses      4
    ");
}

#[test]
fn programs_read_the_same_cells_with_all_their_digits() {
    let mut made = Made::closed();
    made.fact("mode", "journal", "wal");
    made.fact("db7/database", "a,b", "say \"x\" | y");
    made.fact("cpu", "model", "not a setting");
    let table = settings(&Report::from_tally(&made.tally()));
    insta::assert_snapshot!(crate::csv::of_table(&table), @r#"
    about,name,value
    db7/database,"a,b","say ""x"" | y"
    mode,journal,wal
    "#);
    insta::assert_snapshot!(crate::markdown::of_table(&table).join("\n\n"), @r#"
    **Settings of run 019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d**

    | about | name | value |
    | --- | --- | --- |
    | db7/database | a,b | say "x" \| y |
    | mode | journal | wal |
    "#);
    assert_eq!(table.json()[1]["value"], "wal");
    let timing = timing(&Report::from_tally(&Made::closed().tally()));
    let (csv, json) = (crate::csv::of_table(&timing), timing.json());
    let first = csv.lines().nth(1).expect("a row");
    assert_eq!(first.split(',').nth(2), Some(json[0]["calls"].to_string().as_str()));
    assert!(csv.starts_with("transaction,elapsed_s,calls,failed,min_ms,avg_ms,max_ms,"));
}

#[test]
fn parts_of_a_page_are_tables_with_all_digits() {
    let report = Report::from_tally(&Made::open_overloaded().tally());
    let csv = crate::csv::of_table(&latency(&report));
    assert!(csv.starts_with("time,count,min_ms,mean_ms,sd_ms,p50_ms,"), "{csv}");
    let offered = csv.lines().find(|line| line.starts_with("offered,")).expect("it is there");
    // As in lists of runs, and as programs read it.
    assert!(offered.contains(",inf,"), "{offered}");
    assert_eq!(intervals(&report).rows.len(), report.intervals.len());
    let mut made = Made::closed();
    made.disturbance(42_000, Some(43_300), model::Disturbed::Done);
    let report = Report::from_tally(&made.tally());
    assert_eq!(disturbances(&report).rows.len(), 3);
    assert_eq!(errors(&report).rows.len(), report.block.errors.len());
}

#[test]
fn a_disturbance_has_a_row_for_each_window_under_the_right_columns() {
    let report = analysis::fixtures::subjects::closed();
    let table = disturbances(&report);
    let column = |key: &str| table.columns.iter().position(|c| c.key == key).expect(key);
    assert_eq!(table.rows.len(), 3 * report.disturbances.len());
    assert!(table.rows.iter().all(|row| row.len() == table.columns.len()), "{table:?}");
    let windows: Vec<&Cell> = table.rows[..3].iter().map(|row| &row[column("window")]).collect();
    assert_eq!(windows, [&Cell::from("before"), &"during".into(), &"after".into()]);
    let before = report.disturbances[0].before.as_ref().expect("seconds before it");
    assert_eq!(table.rows[0][column("tps")], Cell::from(before.tps));
    assert_eq!(table.rows[0][column("max_ms")], Cell::from(before.response_ms.max));
}
