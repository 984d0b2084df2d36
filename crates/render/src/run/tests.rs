//! Snapshots of whole pages of runs, and tests of single lines.

mod pages;

use analysis::fixtures::{Made, subjects};
use analysis::report::Options;
use model::finding_catalog::CATALOG;
use model::{Disturbed, Event, Finding, GroupDescription, NS_PER_S, Severity};

use super::head::answer;
use super::*;
use crate::terminal::{Style, text};

fn page(made: &Made) -> String {
    shown(&Report::from_tally(&made.tally()), &Style::default())
}

fn shown(report: &Report, style: &Style) -> String {
    text(&run(report), style)
}

#[test]
fn a_plain_closed_run_reads_like_a_page() {
    insta::assert_snapshot!(page(&Made::closed()), @r"
    tpcc on SQLite 3.54.1: 12,115 NOPM ± 213, 27,108 TPM ± 403 (451.8 TPS ± 6.9 within this run),
    p99 84.4 ms

    Valid: no problem was found.

    target      sqlite:/tmp/tpcc.sqlite, journal=wal, synchronous=full
    load        8 clients, a thread each, closed
    tpcc        warehouses=4
    phases      5 s ramp-up, 60 s measured, seed 7

    latency in ms    count     mean   p50   p90   p95   p99  p99.9    max
    response        27,225     18.7  13.5  38.2  50.3  84.1    157    366
    of all offered  27,227      –    13.5  38.2  50.3  84.4    161      –
    of the failed        2  5,000     –     –     –     –        –  5,000
    95 % CI: p50 13.2 to 13.8, p90 37.2 to 39.4, p95 48.9 to 51.8, p99 82.0 to 88.1
    of all offered: p50 13.3 to 13.8, p90 37.2 to 39.4, p95 48.9 to 51.8, p99 82.0 to 89.1
    no CI for p99.9: it needs a run of about 2m30s

    27,227 transactions offered = 27,225 finished + 2 failed + 0 dropped + 0 unfinished
    27,108 committed, 117 intended rollbacks, 299 further attempts, 8 carried over from the ramp-up
    11,344 QPS = 5,445 reads + 4,991 writes + 907.5 others
    per transaction: 12.0 reads + 11.0 writes + 2.00 others

    transaction    calls  failed  retried     TPS  % of time  p50 ms     p95    p99    max
    new_order     12,232       0      125  201.9        57.9   19.1    56.2    81.4  145
    payment       11,785       2      135  196.4        28.0    9.55   28.3    41.8   99.9
    order_status   1,065       0       19   17.75        0.8    3.16    9.10   14.3   35.0
    delivery       1,064       0        9   17.73       11.6   43.0   131     198    366
    stock_level    1,081       0       11   18.02        1.7    6.47   18.9    27.3   37.5

    TPS in each of 60 seconds, 0 to 473
    ██████████████████████████████████████████▆█████████████████
    min 307 (at 42 s), median 452.5, max 473, CV 4.8 %, no stall
    ±1 % of TPS would need a run of at least 90 s

    custom metric  unit   count      sum  per second  mean   p50   p99   max
    lines          rows  27,225  272,250       4,538  10.0  10.0  10.0  10.0

    Errors: those of attempts that were retried are among them
    phase     count  kind  code  first message
    measured     15  busy     5  database is locked

    checks      2 of 2 checks passed before and after the load; database and dbdyno agree: 13,000
                commits of new_order, ramp-up included
    generator   41.3 s of CPU, 60.7 µs per query; 34.0 MiB of memory; 54.5 MiB out and 101 MiB in;
                lag p50 30.0, p99 59.4, max 60.0 µs
    sessions    8 connected, mean 0.945 ms, max 1.68 ms

    Derived from TPC-C; not a TPC result, and not comparable with one.

    clients     simulated users, each with one transaction at a time
    sessions    connections of clients to the database
    TPS         commits per second
    QPS         statements per second: reads, writes and others
    NOPM        new orders per minute (TPC-C)
    TPM         transactions per minute (TPC-C)

    note        The database runs in the generator's process and shares its CPUs. The client's CPU
                time includes the database's. The figures include both: if production uses two
                hosts, measure with two.
    note        2 of 27,227 transactions failed (less than 0.01 %). The response times of finished
                transactions exclude them; the offered percentiles count them as infinite.
    note        299 further attempts after conflicts, for 27,227 transactions. Response times span
                all attempts.
    note        Closed load: a slow database gets fewer requests. To see the response times of users
                who arrive at a given rate, use open load (--load open --rate).

    run         019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d, quick, dbdyno 0.1.0, begun 2026-02-25 06:13:20
                UTC
    dbdyno runs show 8a1b0c9d --plan > plan.toml  # its plan
    dbdyno run plan.toml                          # again
    ");
}

#[test]
fn an_overloaded_open_run_tells_the_truth_first() {
    insta::assert_snapshot!(page(&Made::open_overloaded()), @r"
    tpcc on MariaDB 11.8.2: 10,835 NOPM ± 178, 24,000 TPM ± 0 (400.0 TPS ± 0 within this run; 500.0
    offered), p99 ∞ (18 % lost)

    Valid, with 4 warnings: 18 % of the offered load was dropped; saturated at 400.0 TPS.
    warning     The first 5 seconds of the measured phase differ: a median response of 1,811 ms,
                2,582 ms afterwards. Use --ramp-up 10s. The figures include filling caches,
                compiling statements or connecting.
    warning     5,500 of 30,000 arrivals found the queue full and were dropped (18.3 %): the rate is
                higher than the system can handle. Use the offered percentiles, not those of
                finished transactions; lower the rate or add clients.
    warning     150 of 30,000 transactions were unfinished at the end of the run (0.50 %); their
                response times are not known. Use the offered percentiles, which count them with at
                least their age; lower the rate or allow a longer drain (--drain).
    warning     250 transactions of the ramp-up were still queued or running when the measured phase
                began, with 6 clients: the first response times include that backlog. Lower the
                rate, or lengthen the ramp-up until the backlog is gone.

    target      mariadb://bench@db7.example/bench, innodb_flush_log_at_trx_commit=1
    load        6 clients, a thread each, open, 500 arrivals/s (Poisson), at most 1,000 queued, then
                dropped
    tpcc        warehouses=4
    phases      5 s ramp-up, 60 s measured, seed 7

    latency in ms    count     mean      p50      p90      p95    p99  p99.9    max
    response        24,350  2,502    2,575    2,630    2,642    2,674  2,741  2,856
      service       24,350     17.9     12.2     34.4     49.8    104    181    268
      wait          24,350  2,423    2,500    2,500    2,500    2,500  2,500  2,500
    of all offered  30,000      –    2,590        ∞        ∞        ∞      ∞      –
    95 % CI: p50 2,559 to 2,592
    of all offered: p50 2,573 to 2,609
    no CI for p90: it needs a run of about 3m
    no CI for p95: it needs a run of about 6m
    no CI for p99: it needs a run of about 35m
    no CI for p99.9: it needs a run of about 6h
    ∞ 5,500 of 30,000 transactions were dropped or failed

    30,000 transactions offered = 24,350 finished + 0 failed + 5,500 dropped + 150 unfinished
    24,350 committed, 250 carried over from the ramp-up
    10,208 QPS = 4,900 reads + 4,492 writes + 816.7 others
    per transaction: 25.0 round trips, 12.0 reads + 11.0 writes + 2.00 others

    transaction    calls  failed  retried     TPS  % of time  trips  p50 ms    p95    p99    max
    new_order     10,905       0        0  180.6        58.0   25.0   2,579  2,647  2,674  2,770
    payment       10,550       0        0  172.3        26.1   25.0   2,569  2,632  2,645  2,694
    order_status     958       0        0   15.58        0.9   25.0   2,561  2,624  2,628  2,629
    delivery         980       0        0   15.98       13.4   25.0   2,609  2,710  2,775  2,856
    stock_level      957       0        0   15.60        1.6   25.0   2,567  2,626  2,634  2,641

    TPS in each of 60 seconds, 0 to 400
    ████████████████████████████████████████████████████████████
    min 400 (at 0 s), median 400, max 400, CV 0 %, no stall

     seconds  offered/s    TPS  p50 ms  p95  p99  wait %  queued   lost
     0 to 10      500.0  400.0   2,468    –    –    99.3     820    500
    10 to 20      500.0  400.0   2,598    –    –    99.4   1,000  1,000
    20 to 30      500.0  400.0   2,598    –    –    99.3   1,000  1,000
    30 to 40      500.0  400.0   2,598    –    –    99.3   1,000  1,000
    40 to 50      500.0  400.0   2,596    –    –    99.2   1,000  1,000
    50 to 60      500.0  400.0   2,600    –    –    99.1   1,000  1,150

    checks      2 of 2 checks passed before and after the load; database and dbdyno agree: 13,000
                commits of new_order, ramp-up included
    generator   41.3 s of CPU, 67.4 µs per query; 34.0 MiB of memory; 49.1 MiB out and 91.1 MiB in;
                lag p50 30.0, p99 59.4, max 60.0 µs
    sessions    8 connected, mean 0.945 ms, max 1.68 ms

    Derived from TPC-C; not a TPC result, and not comparable with one.

    clients     simulated users, each with one transaction at a time
    sessions    connections of clients to the database
    TPS         commits per second
    QPS         statements per second: reads, writes and others
    NOPM        new orders per minute (TPC-C)
    TPM         transactions per minute (TPC-C)

    run         019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d, too-fast, dbdyno 0.1.0, begun 2026-02-25
                06:13:20 UTC
    dbdyno runs show 8a1b0c9d --plan > plan.toml  # its plan
    dbdyno run plan.toml                          # again
    ");
}

#[test]
fn an_interrupted_run_says_how_far_it_came() {
    insta::assert_snapshot!(page(&Made::interrupted()), @r"
    tpcc on SQLite 3.54.1: 12,495 NOPM, 27,146 TPM (452.4 TPS), p99 84.1 ms (no CI), interrupted
    after 7.4 s of 60 s

    Interrupted after 7.4 s of 60 s.

    target      sqlite:/tmp/tpcc.sqlite, journal=wal, synchronous=full
    load        8 clients, a thread each, closed
    tpcc        warehouses=4
    phases      5 s ramp-up, 7.4 s of 60 s measured, seed 7

    latency in ms  count  mean   p50   p90   p95   p99  p99.9  max
    response       3,366  18.7  13.5  38.4  50.5  84.1      –  215
    no CI for p50, p90, p95, p99: the run is too short: times are kept per second, and a CI needs 20
    s
    p99.9: too few samples: needs at least 3,688, has 3,366

    3,366 transactions offered = 3,366 finished + 0 failed + 0 dropped + 0 unfinished
    3,348 committed, 18 intended rollbacks, 37 further attempts, 8 carried over from the ramp-up
    11,372 QPS = 5,458 reads + 5,004 writes + 909.7 others
    per transaction: 12.0 reads + 11.0 writes + 2.00 others

    transaction   calls  failed  retried     TPS  % of time  p50 ms     p95   p99    max
    new_order     1,559       0       19  208.2        60.0   19.2    55.9   79.8  119
    payment       1,440       0       15  194.6        27.0    9.42   27.2   38.2   67.0
    order_status    118       0        1   15.95        0.7    3.01    8.50   –     15.2
    delivery        118       0        1   15.95       10.7   43.5   149      –    215
    stock_level     131       0        1   17.70        1.6    6.54   16.9    –     26.2
    – too few samples for a 95 % interval

    TPS in each of 7 seconds (without the last 0.4 s), 0 to 469
    ███████
    min 437 (at 2 s), median 447, max 469, CV 2.8 %, no stall
    no CI for TPS: commits vary too slowly for a run of 7.4 s: use at least 8.7 s

    custom metric  unit  count     sum  per second  mean   p50   p99   max
    lines          rows  3,366  33,660       4,549  10.0  10.0  10.0  10.0

    checks      2 of 2 checks passed before the load
    generator   41.3 s of CPU, 491 µs per query; 34.0 MiB of memory; 6.74 MiB out and 12.5 MiB in;
                lag p50 30.0, p99 59.4, max 60.0 µs
    sessions    8 connected, mean 0.945 ms, max 1.68 ms

    Derived from TPC-C; not a TPC result, and not comparable with one.

    clients     simulated users, each with one transaction at a time
    sessions    connections of clients to the database
    TPS         commits per second
    QPS         statements per second: reads, writes and others
    NOPM        new orders per minute (TPC-C)
    TPM         transactions per minute (TPC-C)

    note        The run was interrupted: 7.4 s were measured of 60 s planned. The figures cover that
                part only.
    note        7.4 s were measured, possibly without any checkpoint, flush or vacuum. Measure a
                minute or more before you rely on it.
    note        The database runs in the generator's process and shares its CPUs. The client's CPU
                time includes the database's. The figures include both: if production uses two
                hosts, measure with two.
    note        37 further attempts after conflicts, for 3,366 transactions. Response times span all
                attempts.
    note        Closed load: a slow database gets fewer requests. To see the response times of users
                who arrive at a given rate, use open load (--load open --rate).
    note        3,366 finished transactions are too few for p99.9, which needs 3,688. Measure
                longer; until then, use the maximum.

    run         019a7d3c-5b10-7c43-9f2e-2f6d8a1b0c9d, quick, dbdyno 0.1.0, begun 2026-02-25 06:13:20
                UTC
    dbdyno runs show 8a1b0c9d --plan > plan.toml  # its plan
    dbdyno run plan.toml                          # again
    ");
}

#[test]
fn a_quantile_among_unfinished_work_is_a_lower_bound() {
    let mut made = Made::closed();
    let kind = made.kind(0);
    kind.counts.unfinished = 1000;
    kind.unfinished.get_or_insert_default().record_n(9 * NS_PER_S, 1000);
    let page = page(&made);
    assert!(page.starts_with("tpcc on SQLite 3.54.1: 12,115 NOPM"));
    assert!(page.contains("\np99 ≥ 9,000 ms\n"), "{page}");
    assert!(page.contains("\n≥ lower bound: unfinished transactions"), "{page}");
}

#[test]
fn a_long_run_shows_its_worst_seconds() {
    let mut made = Made::closed();
    made.measured_ns = 300 * NS_PER_S;
    made.seconds = (0..300).map(|i| analysis::fixtures::second(i, 100)).collect();
    made.seconds.remove(250);
    let page = page(&made);
    assert!(page.contains("each block shows the worst of its values"), "{page}");
    assert_eq!(page.lines().filter(|line| line.starts_with('█') && line.contains('_')).count(), 1);
}

#[test]
fn a_page_is_as_narrow_as_asked() {
    for made in [Made::closed(), Made::open_overloaded(), Made::interrupted()] {
        for width in [60, 80, 96, 120, 160] {
            let page = shown(&Report::from_tally(&made.tally()), &Style { color: false, width });
            let widest = page.lines().max_by_key(|line| line.chars().count());
            assert!(widest.is_some_and(|line| line.chars().count() <= width), "{widest:?}");
        }
    }
}

#[test]
fn lines_of_a_log_in_a_finding_stay_lines() {
    let mut report = Report::from_tally(&Made::closed().tally());
    let text = "The managed server was ended by signal 9.\nThe end of its log:\nfirst\nlast";
    let finding = model::Finding::new("managed_server_ended", model::Severity::Invalid, text);
    report.findings = vec![finding];
    let page = shown(&report, &Style::default());
    let lines = page.lines().map(str::trim);
    let ours: Vec<&str> = lines.skip_while(|line| !line.starts_with("INVALID")).take(4).collect();
    assert!(ours[0].ends_with("ended by signal 9."), "{page}");
    assert_eq!(ours[1..], ["The end of its log:", "first", "last"], "{page}");
    assert!(page.contains("NOT VALID: the managed server was ended by signal 9.\n"), "{page}");
}

#[test]
fn colour_changes_no_word() {
    let report = Report::from_tally(&Made::open_overloaded().tally());
    let plain = shown(&report, &Style::default());
    let coloured = shown(&report, &Style { color: true, ..Style::default() });
    assert!(coloured.contains("\x1b[33mwarning\x1b[0m") && !plain.contains('\x1b'));
    let mut bare = coloured.clone();
    for code in ["\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[33m"] {
        bare = bare.replace(code, "");
    }
    assert_eq!(bare, plain);
}

#[test]
fn an_invalid_result_says_so_at_the_top() {
    let mut made = Made::closed();
    made.after = Some(vec![analysis::fixtures::check("3.3.2.1", 1)]);
    assert!(page(&made).lines().take(4).any(|line| line.starts_with("NOT VALID: ")));
}

#[test]
fn several_groups_stand_beside_each_other() {
    let mut made = Made::closed();
    let users = made.description.groups[0].clone();
    made.description.groups.push(GroupDescription { name: "readers".to_owned(), ..users });
    for second in made.seconds.clone() {
        made.more.push(Event::Second(model::Second { group: 1, ..second }));
    }
    let report = Report::from_tally(&made.tally());
    let offered =
        |index: usize| report.groups[index].block.as_ref().map(|block| block.counts.offered);
    assert_eq!(offered(0), offered(1));
    assert_eq!(offered(0).map(|n| 2 * n), Some(report.block.counts.offered));
    let names: Vec<&str> = report.block.transactions.iter().map(|(name, _)| name).collect();
    assert_eq!((names[0], names[5]), ("users.new_order", "readers.new_order"));
    // Columns that do not fit a narrow page are below the table.
    for (width, before) in [(100, "366  tpcc      "), (80, "\nreaders  ")] {
        let page = shown(&report, &Style { width, ..Style::default() });
        let primary = format!("{before}12,115 NOPM, 27,108 TPM\n");
        assert!(page.contains("366  tpcc") && page.contains(&primary), "{width} {page}");
    }
}

#[test]
fn a_run_without_a_beginning_is_still_a_page() {
    let page = shown(&Report::from_tally(&analysis::Tally::new()), &Style::default());
    assert!(
        page.contains("0 transactions offered = 0 finished + 0 failed + 0 dropped + 0 unfinished")
    );
}

#[test]
fn a_report_is_read_as_it_was_written() {
    let mut open = Made::open_overloaded();
    open.measured_ns = 59 * NS_PER_S + 250_000_000;
    for made in [Made::closed(), open, Made::interrupted(), Made::running()] {
        let report = Report::with(&made.tally(), Options { per_client: true });
        let json = serde_json::to_string(&report).expect("a report is JSON");
        let read: Report = serde_json::from_str(&json).expect("what we wrote");
        assert_eq!(read, report);
        assert_eq!(shown(&read, &Style::default()), shown(&report, &Style::default()));
    }
}

#[test]
fn nothing_speaks_for_a_run_of_which_nothing_was_measured() {
    let mut made = Made::running();
    made.seconds.retain(|second| second.second < 0);
    let report = Report::from_tally(&made.tally());
    assert_eq!(answer(&report), "Nothing was measured yet.");
    let killed = Report { status: analysis::report::Status::Interrupted, ..report };
    assert_eq!(answer(&killed), "Nothing was measured.");
    made.reason = Some(model::StopReason::Interrupted);
    made.measured_ns = 0;
    assert_eq!(answer(&Report::from_tally(&made.tally())), "NOT VALID: nothing was measured.");
}

#[test]
fn the_part_of_the_generator_in_the_service_time_is_reported() {
    let mut made = Made::closed();
    assert!(!page(&made).contains("reply lag"));
    made.seconds[5].reply_lag.get_or_insert_default().record_n(20_000, 12_345);
    made.seconds[6].late_replies.get_or_insert_default().record_n(52_000_000, 3);
    let mut late = stats::Histogram::default();
    late.record_n(1_200_000, 5);
    made.more.push(Event::Heartbeats { loop_index: 0, most_delayed_at_ns: 0, lag: Some(late) });
    made.fact("client", "loop_busy_percent", "41.0, 39.5");
    // Lines may be broken anywhere.
    let page = page(&made).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains(" ms on average: server and network "), "{page}");
    assert!(page.contains(" ms (reply lag, n = 12,345)"), "{page}");
    assert!(page.contains("reply lag p50 20.0, p99 20.0, max 52,000 µs"), "{page}");
    assert!(page.contains("3 replies lay for 10 ms or longer"), "{page}");
    assert!(page.contains("event loops busy 41.0, 39.5 %, at most 1.2 ms late"), "{page}");
}

#[test]
fn every_requirement_of_a_standard_is_a_row_where_lines_are_short() {
    let mut made = Made::closed();
    let requirement = |max| model::Requirement {
        clause: "1.2.3".to_owned(),
        title: "payments by customers of another warehouse".to_owned(),
        figure: model::RequirementFigure::MeasuredMinutes,
        min: None,
        max: Some(max),
        is_below: false,
        or_count: 0,
        pauses_ns: Vec::new(),
        not_applicable: None,
    };
    let why = || Some("there is one warehouse".to_owned());
    let pauses = model::Requirement {
        title: "keying times by type".to_owned(),
        figure: model::RequirementFigure::Pauses { percent: 100.0 },
        pauses_ns: [18, 3, 2, 2, 2].map(|s| (s * model::NS_PER_S, s * model::NS_PER_S)).to_vec(),
        ..requirement(1.0)
    };
    made.description.groups[0].load = model::Load::KeyThink { scale: 0.1 };
    made.description.groups[0].standard = Some(model::Standard {
        name: "Standard 1".to_owned(),
        note: "No result.".to_owned(),
        requirements: vec![
            requirement(120.0),
            requirement(0.5),
            model::Requirement { not_applicable: why(), ..requirement(1.0) },
            model::Requirement { not_applicable: why(), ..requirement(2.0) },
            pauses,
        ],
    });
    let text = shown(&Report::from_tally(&made.tally()), &Style { color: false, width: 80 });
    let from = text.find("standard    ").expect("the summary");
    let part: String = text[from..]
        .lines()
        .take_while(|line| !line.starts_with("Derived"))
        .collect::<Vec<_>>()
        .join("\n");
    insta::assert_snapshot!(part, @r"
    standard    1 of 3 requirements of Standard 1 met, 2 not met; 2 not applicable.
                No result.

    Requirements of Standard 1 (users)
    clause  requirement                      required               measured  result
    1.2.3   payments by customers of        ≤ 120 min             1.0000 min  pass
            another warehouse
    1.2.3   payments by customers of        ≤ 0.5 min             1.0000 min  FAIL
            another warehouse
    1.2.3   payments by customers of          ≤ 1 min                      –  n/a
            another warehouse
    1.2.3   payments by customers of          ≤ 2 min                      –  n/a
            another warehouse
    1.2.3   keying times by type       ≥ 18/3/2/2/2 s  1.8/0.3/0.2/0.2/0.2 s  FAIL
    payments by customers of another warehouse; payments by customers of another
    warehouse (not applicable): there is one warehouse
    ");
    assert!(part.lines().all(|line| line.chars().count() <= 80), "{part}");
}

#[test]
fn an_error_larger_than_its_figure_is_no_usable_interval() {
    let mut report = Report::from_tally(&Made::closed().tally());
    report.block.tps = Some(1.3);
    let half_width = |width: f64, report: &mut Report| {
        report.block.tps_ci95.as_mut().expect("it has one").half_width = width;
        let page = crate::terminal::text(&run(report), &Style::default());
        page.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let wide = half_width(3.0, &mut report);
    assert!(wide.contains("(1.3 TPS (no usable CI))"), "{wide}");
    let remedy = "no usable CI of TPS: the error is larger than the value; measure 25m or longer";
    assert!(wide.contains(remedy), "{wide}");
    let wild = half_width(30.0, &mut report);
    assert!(wild.contains("larger than the value; find out why the run is so uneven"), "{wild}");
    let narrow = half_width(1.2, &mut report);
    assert!(narrow.contains("(1.3 TPS ± 1.2 within this run)"), "{narrow}");
}

#[test]
fn ages_of_each_reader_are_a_row_and_on_a_narrow_page_those_that_people_ask_for() {
    let table = |width| -> Vec<String> {
        let page = shown(&subjects::with_readers(2), &Style { width, ..Style::default() });
        let lines = page.lines().skip_while(|line| !line.starts_with("Ages of records by reader"));
        let lines = lines.skip_while(|line| !line.starts_with("reader"));
        lines.take(3).map(|line| line.trim_end().to_owned()).collect()
    };
    assert_eq!(
        table(80),
        [
            "reader  ages   <1   <40  <100  <300",
            "     0    50  0.0   0.0  80.0  98.0",
            "     1    60  0.0  16.7  83.3  98.3",
        ]
    );
    assert_eq!(table(32)[0], "reader  ages   <40  <100  <300");
    let page = shown(&subjects::with_readers(2), &Style::default());
    assert!(page.contains("  table 1: 50 read first"), "{page}");
}

#[test]
fn notes_that_are_left_out_say_whether_deviations_are_among_them() {
    let mut report = Report::from_tally(&Made::closed().tally());
    let says = |report: &Report, words: &str| {
        let page = text(&run(report), &Style { color: false, width: 200 });
        assert!(page.contains(words), "{page}");
    };
    report.notes = ["one", "two", "three"].map(str::to_owned).to_vec();
    says(&report, "2 further notes on the workload are listed in the JSON report.");
    report.notes.pop();
    report.disclosures = vec![analysis::report::Disclosure {
        group: "tpcc".to_owned(),
        standard: "TPC-C 5.11".to_owned(),
        note: String::new(),
        passed: 0,
        failed: 0,
        requirements: Vec::new(),
    }];
    says(&report, "1 further note, deviations from TPC-C 5.11 among them, is listed in the JSON");
}

/// Returns the first page of a run as text of 80 columns, without default parameters.
fn first_page(report: &Report) -> String {
    let next = vec![
        ("dbdyno runs show last --full".to_owned(), "CIs, all metrics".to_owned()),
        ("dbdyno web".to_owned(), "charts of all runs".to_owned()),
        ("dbdyno run tpcc --repeat 5".to_owned(), "how much do runs differ?".to_owned()),
    ];
    first_page_with(report, next)
}

fn first_page_with(report: &Report, next: Vec<(String, String)>) -> String {
    let with = Short { is_default: &|_, _, _| false, is_stored: true, next };
    let style = Style { width: 80, ..Style::default() };
    crate::terminal::text(&run_short(report, &with), &style)
}

#[test]
fn the_first_page_of_a_closed_run() {
    insta::assert_snapshot!(first_page(&Report::from_tally(&Made::closed().tally())), @r"
    tpcc on SQLite 3.54.1, 8 clients, measured 60 s

    throughput  451.8 TPS ± 6.9, 12,115 NOPM ± 213
    latency     p50 13.5, p95 50.3, p99 84.4 (82.0 to 89.1), max 366 ms
    errors      2 of 27,227 failed, 299 retried; most often busy: database is locked
    per second  █████████████████████▆████████ 307 to 473 TPS, no stall

    Valid: no problem was found.

    transaction    calls     TPS  % of time  p50 ms     p95    p99    max
    new_order     12,232  201.9        57.9   19.1    56.2    81.4  145
    payment       11,785  196.4        28.0    9.55   28.3    41.8   99.9
    order_status   1,065   17.75        0.8    3.16    9.10   14.3   35.0
    delivery       1,064   17.73       11.6   43.0   131     198    366
    stock_level    1,081   18.02        1.7    6.47   18.9    27.3   37.5

    custom metric  unit   count  mean   p50   p99   max
    lines          rows  27,225  10.0  10.0  10.0  10.0

    data        2 of 2 checks passed before and after the load; database and dbdyno
                agree: 13,000 commits of new_order, ramp-up included
    setup       sqlite:/tmp/tpcc.sqlite, journal=wal, synchronous=full,
                warehouses=4, 5 s ramp-up, seed 7
    note        The database runs in the generator's process and shares its CPUs
    note        2 of 27,227 transactions failed (less than 0.01 %)

    Derived from TPC-C; not a TPC result, and not comparable with one.
    stored as 8a1b0c9d; ± and (a to b) are 95 % CIs within this run; TPS varies
    slowly, so 60 s tell as much as 5.1 independent seconds: measure longer; 2 more
    notes

    Next:
      dbdyno runs show last --full  # CIs, all metrics
      dbdyno web                    # charts of all runs
      dbdyno run tpcc --repeat 5    # how much do runs differ?
    ");
}

#[test]
fn the_first_page_of_an_overloaded_run() {
    insta::assert_snapshot!(first_page(&Report::from_tally(&Made::open_overloaded().tally())), @r"
    tpcc on MariaDB 11.8.2, 6 clients, open load, 500 arrivals/s, measured 60 s

    throughput  400.0 TPS ± 0; 500.0 offered, 10,835 NOPM ± 178
    latency     p50 2,590, p95 ∞, p99 ∞, max 2,856 ms
    errors      0 of 30,000 failed, 0 retried, 5,500 dropped, 150 unfinished
    per second  ██████████████████████████████ 400 to 400 TPS, no stall

    Valid, with 4 warnings: 18 % of the offered load was dropped; saturated at 400.0
    TPS.
    warning     The first 5 seconds of the measured phase differ: a median response
                of 1,811 ms, 2,582 ms afterwards
    warning     5,500 of 30,000 arrivals found the queue full and were dropped (18.3
                %): the rate is higher than the system can handle
    warning     150 of 30,000 transactions were unfinished at the end of the run
                (0.50 %); their response times are not known
    warning     1 more, with --full.

    transaction    calls     TPS  % of time  p50 ms    p95    p99    max
    new_order     10,905  180.6        58.0   2,579  2,647  2,674  2,770
    payment       10,550  172.3        26.1   2,569  2,632  2,645  2,694
    order_status     958   15.58        0.9   2,561  2,624  2,628  2,629
    delivery         980   15.98       13.4   2,609  2,710  2,775  2,856
    stock_level      957   15.60        1.6   2,567  2,626  2,634  2,641

    data        2 of 2 checks passed before and after the load; database and dbdyno
                agree: 13,000 commits of new_order, ramp-up included
    setup       mariadb://bench@db7.example/bench, innodb_flush_log_at_trx_commit=1,
                warehouses=4, 5 s ramp-up, seed 7

    Derived from TPC-C; not a TPC result, and not comparable with one.
    stored as 8a1b0c9d; ± is a 95 % CI within this run

    Next:
      dbdyno runs show last --full  # CIs, all metrics
      dbdyno web                    # charts of all runs
      dbdyno run tpcc --repeat 5    # how much do runs differ?
    ");
}

#[test]
fn the_first_page_of_a_short_run_says_why_figures_have_no_interval() {
    let page = first_page(&Report::from_tally(&Made::interrupted().tally()));
    let lines: Vec<&str> = page.lines().collect();
    insta::assert_snapshot!(lines[2..6].join("\n"), @r"
    throughput  452.4 TPS (no CI), 12,495 NOPM (no CI)
    latency     p50 13.5, p95 50.5, p99 84.1, max 215 ms (no CI)
    errors      0 of 3,366 failed, 37 retried, 18 intended rollbacks
    per second  ███████ 437 to 469 TPS, no stall; without the last 0.4 s
    ");
    let from = lines.iter().position(|line| line.starts_with("stored as")).expect("it is stored");
    insta::assert_snapshot!(lines[from..].join("\n"), @r"
    stored as 8a1b0c9d; no CI of TPS: commits vary too slowly for a run of 7.4 s:
    use at least 8.7 s; no CI of p50, p95, p99: the run is too short: times are kept
    per second, and a CI needs 20 s; more reasons with --full; –: too few samples; 3
    more notes

    Next:
      dbdyno runs show last --full  # CIs, all metrics
      dbdyno web                    # charts of all runs
      dbdyno run tpcc --repeat 5    # how much do runs differ?
    ");
}

#[test]
fn figures_without_an_interval_for_one_reason_are_named_together() {
    let mut report = Report::from_tally(&Made::interrupted().tally());
    let reason = report.block.tps_ci95_reason.clone();
    report.block.primary_metrics.0[0].1.reason = reason;
    let page = first_page(&report).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.contains("no CI of TPS, NOPM: commits vary too slowly"), "{page}");
    assert!(page.contains("no CI of p50, p95, p99: ") && !page.contains("more reasons"), "{page}");
}

#[test]
fn a_setting_of_the_target_is_named_once() {
    let mut report = Report::from_tally(&Made::closed().tally());
    report.target = "sqlite:/tmp/x.db?synchronous=full&cache=1".to_owned();
    for page in [first_page(&report), shown(&report, &Style::default())] {
        assert_eq!(page.matches("synchronous=full").count(), 1, "{page}");
        assert!(page.contains("cache=1, journal=wal"), "{page}");
    }
    // What the database made of a setting is another matter.
    report.target = "sqlite:/tmp/x.db?synchronous=off".to_owned();
    let page = first_page(&report);
    assert!(page.contains("synchronous=off, journal=wal, synchronous=full"), "{page}");
}

#[test]
fn a_first_page_fits_a_screen_whatever_ran() {
    let many = |made: &mut Made| {
        let group = made.description.groups[0].clone();
        for n in 1..12 {
            made.description
                .groups
                .push(GroupDescription { name: format!("g{n}"), ..group.clone() });
            let more = made.seconds.iter().filter(|second| second.group == 0);
            let more = more.map(|s| model::Second { group: n, ..s.clone() });
            made.seconds.extend(more.collect::<Vec<_>>());
        }
    };
    for is_grouped in [false, true] {
        for made in [Made::closed(), Made::open_overloaded(), Made::interrupted()] {
            let mut made = made;
            for begins_s in [2, 4, 6, 20, 30] {
                made.disturbance(begins_s * 1000, Some(begins_s * 1000 + 300), Disturbed::Done);
                if let Some(Event::Disturbance(event)) = made.more.last_mut() {
                    event.index = begins_s as u16;
                }
            }
            if is_grouped {
                many(&mut made);
            }
            let mut report = Report::from_tally(&made.tally());
            for entry in CATALOG.iter().take(20) {
                let observed = format!("{}, seen at 17 s and for 83 % of the time.", entry.raised);
                let finding = Finding::new(entry.id, Severity::Warning, observed.clone());
                report.findings.push(Finding { observed: Some(observed), ..finding });
            }
            let long =
                "--target mariadb://somebody@a-host.with.a.long.name/database --ask-password";
            let command = |more: &str| format!("dbdyno run tpcc {long} {more}");
            let next = ["--full", "--output json", "--repeat 5"].map(command);
            let next = next.map(|command| (command, "a purpose".to_owned())).to_vec();
            let page = first_page_with(&report, next);
            let n_lines = page.lines().count();
            assert!(n_lines <= 40, "{n_lines} lines:\n{page}");
        }
    }
}

#[test]
fn a_first_page_fits_a_screen_whatever_was_found() {
    for made in [Made::closed(), Made::open_overloaded()] {
        let mut report = Report::from_tally(&made.tally());
        report.findings.clear();
        for severity in [Severity::Warning, Severity::Note, Severity::Invalid] {
            for entry in CATALOG.iter().take(20) {
                let observed = format!("{}, seen at 17 s and for 83 % of the time.", entry.raised);
                let text = format!("{observed} {}", entry.advice);
                let finding = Finding::new(entry.id, severity, text);
                report.findings.push(Finding { observed: Some(observed), ..finding });
            }
            let page = first_page(&report);
            let n_lines = page.lines().count();
            assert!(n_lines <= 40, "{n_lines} lines:\n{page}");
            let has_notes = page.lines().any(|line| line.starts_with("note "));
            assert!(!has_notes, "warnings take the room of notes:\n{page}");
            let widest = page.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(80), "{widest:?}:\n{page}");
        }
    }
}
