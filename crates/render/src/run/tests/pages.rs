//! Tests that terminal, HTML and Markdown pages of a run all contain every kind of fact that its
//! report has.

use analysis::fixtures::{Made, subjects};
use analysis::report::{Disclosure, RequirementReport, Verdict};
use model::Severity;
use model::format_count;

use crate::document::{Details, Text};
use crate::html::{Medium, body};
use crate::markdown::markdown;
use crate::run::*;
use crate::terminal::{Style, text};

/// The page of one run as each printer (terminal, HTML, Markdown) writes it, as words separated by
/// single blanks.
struct Pages {
    terminal: String,
    markdown: String,
    html: String,
}

impl Pages {
    fn print(document: &Document) -> Pages {
        let wide = Style { color: false, width: usize::MAX };
        Pages {
            terminal: words(&text(document, &wide)),
            markdown: words(&markdown(document).replace('\\', "")),
            html: words(&unescaped(&body(document, Medium::File))),
        }
    }

    fn all(&self) -> [(&str, &str); 3] {
        [("terminal", &self.terminal), ("Markdown", &self.markdown), ("HTML", &self.html)]
    }
}

/// Removes tags from HTML, and decodes escaped characters.
fn unescaped(html: &str) -> String {
    let pieces = html.split('<').map(|piece| piece.split_once('>').map_or(piece, |(_, rest)| rest));
    let text: String = pieces.collect::<Vec<&str>>().join(" ");
    let escapes = [("&#60;", "<"), ("&#62;", ">"), ("&#34;", "\""), ("&#39;", "'"), ("&#38;", "&")];
    escapes.iter().fold(text, |text, (escape, letter)| text.replace(escape, letter))
}

/// Returns the words of a text separated by single blanks, without blanks that pad numbers.
fn words(text: &str) -> String {
    let text = text.replace(['\u{2007}', '\u{2008}'], "").replace('\u{a0}', " ");
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

/// Makes a report with every kind of fact that a run's page can show.
fn eventful() -> Report {
    let mut report = subjects::closed();
    let open = subjects::open();
    report.intervals = open.intervals.clone();
    report.groups[0].load = open.groups[0].load.clone();
    report.groups[0].closed_form = Some("keying alone allows 12 NOPM".to_owned());
    report.groups[0].block = Some(report.block.clone());
    report.modes.push("an odd mode".to_owned());
    report.block.wait_ms.note = None;
    report.block.offered_ms = open.block.offered_ms.clone();
    report.block.ramp_up_errors = report.block.errors.clone();
    report.block.ramp_up_errors[0].message = "refused in the ramp-up".to_owned();
    report.disturbances[0].output = "the last words".to_owned();
    report.notes = vec!["First declared.".to_owned()];
    let requirement = RequirementReport {
        clause: "9.9.9".to_owned(),
        title: "length of the interval".to_owned(),
        required: "≥ 120 min".to_owned(),
        measured: Some(1.0),
        unit: "min".to_owned(),
        measured_times: None,
        verdict: Verdict::Fail,
        reason: None,
    };
    report.disclosures = vec![Disclosure {
        group: "users".to_owned(),
        standard: "Standard 9".to_owned(),
        note: "It is no result.".to_owned(),
        passed: 0,
        failed: 1,
        requirements: vec![requirement],
    }];
    report
}

#[test]
fn every_fact_of_a_report_is_on_every_page() {
    let report = eventful();
    let block = &report.block;
    let mut facts = vec![report.run_id.clone(), report.name.clone(), report.target.clone()];
    facts.extend([report.dbdyno.clone(), report.database.clone(), report.workload.clone()]);
    facts.extend(report.modes.clone());
    facts.push(format!("seed {}", report.seed));
    facts.extend(report.groups.iter().flat_map(|group| group.closed_form.clone()));
    let groups = || report.groups.iter();
    facts.extend(groups().map(|group| group.name.clone()));
    facts.extend(groups().flat_map(|group| group.parameters.iter().map(|(_, v)| v.clone())));
    facts.extend(report.findings.iter().map(|finding| finding.text.clone()));
    facts.extend(block.primary_metrics.iter().map(|(_, metric)| metric.title.clone()));
    let counts = &block.counts;
    let all = [counts.offered, counts.finished, counts.failed, counts.committed, counts.retried];
    facts.extend(all.map(format_count));
    facts.extend(block.transactions.iter().map(|(name, _)| name.to_owned()));
    facts.extend(block.custom_metrics.iter().map(|(name, _)| name.to_owned()));
    let errors = block.errors.iter().chain(&block.ramp_up_errors);
    facts.extend(errors.flat_map(|error| [error.message.clone(), error.kind.clone()]));
    let disturbances = report.disturbances.iter();
    facts.extend(disturbances.flat_map(|disturbance| {
        [disturbance.name.clone(), disturbance.what.clone(), disturbance.output.clone()]
    }));
    let intervals = report.intervals.iter();
    facts.extend(intervals.map(|interval| format!("{} to {}", interval.from_s, interval.to_s)));
    facts.extend(block.per_client.iter().flatten().map(|client| format!(" {} ", client.client)));
    facts.extend(report.gauges.iter().map(|gauge| gauge.about.clone()));
    facts.extend(
        report
            .disclosures
            .iter()
            .flat_map(|disclosure| [disclosure.summary(), disclosure.note.clone()]),
    );
    let required = report.disclosures.iter().flat_map(|disclosure| &disclosure.requirements);
    facts.extend(required.flat_map(|one| {
        [one.clause.clone(), one.title.clone(), one.required.clone()]
            .into_iter()
            .chain(one.measured_words())
    }));
    facts.extend(report.notes.clone());
    let document = run(&report);
    facts.extend(document.validity.iter().map(|validity| validity.answer.clone()));
    let pages = Pages::print(&document);
    assert!(facts.len() > 60, "{}", facts.len());
    let headlines = document.verdicts.iter().map(|verdict| verdict.headline.plain());
    let headlines: Vec<String> = headlines.collect();
    for (page, words) in pages.all() {
        // If tiles are drawn, they have the figures of the headline.
        let of_headline = headlines.iter().filter(|_| page != "HTML");
        for fact in facts.iter().chain(of_headline) {
            let is_there = !fact.is_empty() && words.to_lowercase().contains(&fact.to_lowercase());
            assert!(is_there, "'{fact}' is not in {page}: {words}");
        }
    }
}

/// Returns the texts of blocks that a printer shows. `folds` is true for HTML, which also shows
/// charts and folded blocks.
fn shown(blocks: &[Block], folds: bool) -> Vec<String> {
    blocks.iter().flat_map(|block| of_block(block, folds)).collect()
}

fn of_block(block: &Block, folds: bool) -> Vec<String> {
    match block {
        Block::Paragraphs(all) => all.iter().map(Text::plain).collect(),
        Block::Verbatim(text) => text.lines().map(str::to_owned).collect(),
        Block::Next(_) if folds => Vec::new(),
        Block::Next(commands) => commands.iter().map(|(command, _)| command.clone()).collect(),
        Block::Pairs(pairs) => {
            let shown = pairs.iter().filter(|(_, text)| !text.is_empty());
            shown.flat_map(|(label, text)| [label.clone(), text.plain()]).collect()
        }
        // Columns have two blanks between them.
        Block::Table(table) => {
            let lines = table.lines(usize::MAX);
            let cells = lines.iter().flat_map(|line| line.split("  "));
            let title = (!folds).then(|| table.title.clone());
            title.into_iter().chain(cells.map(str::to_owned)).collect()
        }
        Block::Charts(charts) if folds => charts.iter().map(|chart| chart.title.clone()).collect(),
        Block::Sketch(sketch) if !folds => vec![sketch.title.clone()],
        Block::Charts(_) | Block::FlameGraph(_) | Block::Sketch(_) => Vec::new(),
        Block::Part(title, blocks) => titled(title, shown(blocks, folds)),
        Block::Details(Details { title, blocks, .. }) if folds => {
            titled(title, shown(blocks, folds))
        }
        Block::Details(details) => shown(&details.otherwise, folds),
    }
}

fn titled(title: &str, mut all: Vec<String>) -> Vec<String> {
    if !all.is_empty() {
        all.insert(0, title.to_owned());
    }
    all
}

#[test]
fn every_printer_prints_all_of_a_document() {
    let mut reports = vec![eventful(), subjects::open()];
    reports.extend(subjects::odd());
    for report in reports {
        let document = run(&report);
        let pages = Pages::print(&document);
        let sections = document.sections.iter().chain(&document.repeat);
        for section in sections {
            for (page, on_page) in pages.all() {
                let all = shown(&section.blocks, page == "HTML");
                let title = (page != "terminal" && !all.is_empty()).then(|| section.title.clone());
                let note = (!all.is_empty()).then(|| section.note.clone());
                for part in all.into_iter().chain(title).chain(note) {
                    let part = words(&part).to_lowercase();
                    let is_there = on_page.to_lowercase().contains(&part);
                    assert!(is_there, "'{part}' of {} is not in {page}", section.id);
                }
            }
        }
        let validity = document.validity.expect("a run is valid or not");
        assert_eq!(validity.remarks.len(), report.findings.len());
        for (page, on_page) in pages.all() {
            for remark in &validity.remarks {
                let text = words(&remark.text.plain());
                assert!(on_page.contains(&text), "'{text}' is not in {page}");
            }
            let is_alarmed = on_page.to_lowercase().contains("invalid");
            let is_invalid =
                validity.remarks.iter().any(|remark| remark.severity == Severity::Invalid);
            assert!(is_alarmed || !is_invalid, "{page}");
        }
    }
}

#[test]
fn what_is_looked_for_first_is_first_where_it_is_drawn() {
    let document = run(&eventful());
    let place = |page: &str, words: &str| page.find(words).unwrap_or_else(|| panic!("no {words}"));
    let html = body(&document, Medium::File);
    let in_html = |id: &str| place(&html, &format!("<section id=\"{id}\">"));
    let order = ["time", "disturbances", "findings", "latency", "transactions", "clients"];
    let rest = ["errors", "monitor", "checks", "ran", "repeat"];
    assert!(order.iter().chain(&rest).is_sorted_by_key(|id| in_html(id)), "{html}");
    let page = text(&document, &Style::default());
    let lines = ["tpcc on SQLite", "\ntarget ", "\nlatency in ms", "\nTPS in each", "\nchecks "];
    assert!(lines.iter().is_sorted_by_key(|line| place(&page, line)), "{page}");
}

#[test]
fn a_page_with_everything_is_as_narrow_as_asked() {
    let document = run(&eventful());
    for width in [60, 80, 96, 120, 160] {
        let page = text(&document, &Style { color: false, width });
        let widest = page.lines().max_by_key(|line| line.chars().count());
        assert!(widest.is_some_and(|line| line.chars().count() <= width), "{width}: {widest:?}");
    }
}

/// Returns a run's page of `width` columns, up to its line on checks.
fn head(width: usize) -> String {
    let page = text(
        &run(&Report::from_tally(&Made::open_overloaded().tally())),
        &Style { color: false, width },
    );
    let end = page.find("\nchecks ").unwrap_or(page.len());
    page[..end].trim_end().to_owned()
}

#[test]
fn a_page_of_60_columns() {
    insta::assert_snapshot!(head(60), @r"
    tpcc on MariaDB 11.8.2: 10,835 NOPM ± 178, 24,000 TPM ± 0
    (400.0 TPS ± 0 within this run; 500.0 offered), p99 ∞ (18 %
    lost)

    Valid, with 4 warnings: 18 % of the offered load was
    dropped; saturated at 400.0 TPS.
    warning     The first 5 seconds of the measured phase
                differ: a median response of 1,811 ms, 2,582 ms
                afterwards. Use --ramp-up 10s. The figures
                include filling caches, compiling statements or
                connecting.
    warning     5,500 of 30,000 arrivals found the queue full
                and were dropped (18.3 %): the rate is higher
                than the system can handle. Use the offered
                percentiles, not those of finished transactions;
                lower the rate or add clients.
    warning     150 of 30,000 transactions were unfinished at
                the end of the run (0.50 %); their response
                times are not known. Use the offered
                percentiles, which count them with at least
                their age; lower the rate or allow a longer
                drain (--drain).
    warning     250 transactions of the ramp-up were still
                queued or running when the measured phase began,
                with 6 clients: the first response times include
                that backlog. Lower the rate, or lengthen the
                ramp-up until the backlog is gone.

    target      mariadb://bench@db7.example/bench,
                innodb_flush_log_at_trx_commit=1
    load        6 clients, a thread each, open, 500 arrivals/s
                (Poisson), at most 1,000 queued, then dropped
    tpcc        warehouses=4
    phases      5 s ramp-up, 60 s measured, seed 7

    latency in ms    count     mean      p50      p90      p95
    response        24,350  2,502    2,575    2,630    2,642
      service       24,350     17.9     12.2     34.4     49.8
      wait          24,350  2,423    2,500    2,500    2,500
    of all offered  30,000      –    2,590        ∞        ∞

    latency in ms     p99  p99.9    max
    response        2,674  2,741  2,856
      service         104    181    268
      wait          2,500  2,500  2,500
    of all offered      ∞      ∞      –
    95 % CI: p50 2,559 to 2,592
    of all offered: p50 2,573 to 2,609
    no CI for p90: it needs a run of about 3m
    no CI for p95: it needs a run of about 6m
    no CI for p99: it needs a run of about 35m
    no CI for p99.9: it needs a run of about 6h
    ∞ 5,500 of 30,000 transactions were dropped or failed

    30,000 transactions offered = 24,350 finished + 0 failed +
    5,500 dropped + 150 unfinished
    24,350 committed, 250 carried over from the ramp-up
    10,208 QPS = 4,900 reads + 4,492 writes + 816.7 others
    per transaction: 25.0 round trips, 12.0 reads + 11.0 writes
    + 2.00 others

    transaction    calls  failed  retried     TPS  % of time
    new_order     10,905       0        0  180.6        58.0
    payment       10,550       0        0  172.3        26.1
    order_status     958       0        0   15.58        0.9
    delivery         980       0        0   15.98       13.4
    stock_level      957       0        0   15.60        1.6

    transaction   trips  p50 ms    p95    p99    max
    new_order      25.0   2,579  2,647  2,674  2,770
    payment        25.0   2,569  2,632  2,645  2,694
    order_status   25.0   2,561  2,624  2,628  2,629
    delivery       25.0   2,609  2,710  2,775  2,856
    stock_level    25.0   2,567  2,626  2,634  2,641

    TPS in each of 60 seconds, 0 to 400
    ████████████████████████████████████████████████████████████
    min 400 (at 0 s), median 400, max 400, CV 0 %, no stall

     seconds  offered/s    TPS  p50 ms  p95  p99  wait %   lost
     0 to 10      500.0  400.0   2,468    –    –    99.3    500
    10 to 20      500.0  400.0   2,598    –    –    99.4  1,000
    20 to 30      500.0  400.0   2,598    –    –    99.3  1,000
    30 to 40      500.0  400.0   2,598    –    –    99.3  1,000
    40 to 50      500.0  400.0   2,596    –    –    99.2  1,000
    50 to 60      500.0  400.0   2,600    –    –    99.1  1,150
    column hidden, too narrow: queued (COLUMNS=67 shows all)
    ");
}

#[test]
fn a_page_of_80_columns() {
    insta::assert_snapshot!(head(80), @r"
    tpcc on MariaDB 11.8.2: 10,835 NOPM ± 178, 24,000 TPM ± 0 (400.0 TPS ± 0 within
    this run; 500.0 offered), p99 ∞ (18 % lost)

    Valid, with 4 warnings: 18 % of the offered load was dropped; saturated at 400.0
    TPS.
    warning     The first 5 seconds of the measured phase differ: a median response
                of 1,811 ms, 2,582 ms afterwards. Use --ramp-up 10s. The figures
                include filling caches, compiling statements or connecting.
    warning     5,500 of 30,000 arrivals found the queue full and were dropped (18.3
                %): the rate is higher than the system can handle. Use the offered
                percentiles, not those of finished transactions; lower the rate or
                add clients.
    warning     150 of 30,000 transactions were unfinished at the end of the run
                (0.50 %); their response times are not known. Use the offered
                percentiles, which count them with at least their age; lower the
                rate or allow a longer drain (--drain).
    warning     250 transactions of the ramp-up were still queued or running when
                the measured phase began, with 6 clients: the first response times
                include that backlog. Lower the rate, or lengthen the ramp-up until
                the backlog is gone.

    target      mariadb://bench@db7.example/bench, innodb_flush_log_at_trx_commit=1
    load        6 clients, a thread each, open, 500 arrivals/s (Poisson), at most
                1,000 queued, then dropped
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

    30,000 transactions offered = 24,350 finished + 0 failed + 5,500 dropped + 150
    unfinished
    24,350 committed, 250 carried over from the ramp-up
    10,208 QPS = 4,900 reads + 4,492 writes + 816.7 others
    per transaction: 25.0 round trips, 12.0 reads + 11.0 writes + 2.00 others

    transaction    calls  failed     TPS  % of time  p50 ms    p95    p99    max
    new_order     10,905       0  180.6        58.0   2,579  2,647  2,674  2,770
    payment       10,550       0  172.3        26.1   2,569  2,632  2,645  2,694
    order_status     958       0   15.58        0.9   2,561  2,624  2,628  2,629
    delivery         980       0   15.98       13.4   2,609  2,710  2,775  2,856
    stock_level      957       0   15.60        1.6   2,567  2,626  2,634  2,641
    columns hidden, too narrow: retried, trips (COLUMNS=92 shows all)

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
    ");
}

#[test]
fn a_page_of_120_columns() {
    insta::assert_snapshot!(head(120), @r"
    tpcc on MariaDB 11.8.2: 10,835 NOPM ± 178, 24,000 TPM ± 0 (400.0 TPS ± 0 within this run; 500.0 offered), p99 ∞ (18 %
    lost)

    Valid, with 4 warnings: 18 % of the offered load was dropped; saturated at 400.0 TPS.
    warning     The first 5 seconds of the measured phase differ: a median response of 1,811 ms, 2,582 ms afterwards. Use
                --ramp-up 10s. The figures include filling caches, compiling statements or connecting.
    warning     5,500 of 30,000 arrivals found the queue full and were dropped (18.3 %): the rate is higher than the system
                can handle. Use the offered percentiles, not those of finished transactions; lower the rate or add clients.
    warning     150 of 30,000 transactions were unfinished at the end of the run (0.50 %); their response times are not
                known. Use the offered percentiles, which count them with at least their age; lower the rate or allow a
                longer drain (--drain).
    warning     250 transactions of the ramp-up were still queued or running when the measured phase began, with 6 clients:
                the first response times include that backlog. Lower the rate, or lengthen the ramp-up until the backlog is
                gone.

    target      mariadb://bench@db7.example/bench, innodb_flush_log_at_trx_commit=1
    load        6 clients, a thread each, open, 500 arrivals/s (Poisson), at most 1,000 queued, then dropped
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
    ");
}

#[test]
fn a_page_of_160_columns() {
    insta::assert_snapshot!(head(160), @r"
    tpcc on MariaDB 11.8.2: 10,835 NOPM ± 178, 24,000 TPM ± 0 (400.0 TPS ± 0 within this run; 500.0 offered), p99 ∞ (18 % lost)

    Valid, with 4 warnings: 18 % of the offered load was dropped; saturated at 400.0 TPS.
    warning     The first 5 seconds of the measured phase differ: a median response of 1,811 ms, 2,582 ms afterwards. Use --ramp-up 10s. The figures include filling
                caches, compiling statements or connecting.
    warning     5,500 of 30,000 arrivals found the queue full and were dropped (18.3 %): the rate is higher than the system can handle. Use the offered percentiles,
                not those of finished transactions; lower the rate or add clients.
    warning     150 of 30,000 transactions were unfinished at the end of the run (0.50 %); their response times are not known. Use the offered percentiles, which
                count them with at least their age; lower the rate or allow a longer drain (--drain).
    warning     250 transactions of the ramp-up were still queued or running when the measured phase began, with 6 clients: the first response times include that
                backlog. Lower the rate, or lengthen the ramp-up until the backlog is gone.

    target      mariadb://bench@db7.example/bench, innodb_flush_log_at_trx_commit=1
    load        6 clients, a thread each, open, 500 arrivals/s (Poisson), at most 1,000 queued, then dropped
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
    ");
}

#[test]
fn a_page_in_ascii() {
    insta::assert_snapshot!(crate::ascii(&head(76)), @r"
    tpcc on MariaDB 11.8.2: 10,835 NOPM +- 178, 24,000 TPM +- 0 (400.0 TPS +- 0
    within this run; 500.0 offered), p99 inf (18 % lost)

    Valid, with 4 warnings: 18 % of the offered load was dropped; saturated at
    400.0 TPS.
    warning     The first 5 seconds of the measured phase differ: a median
                response of 1,811 ms, 2,582 ms afterwards. Use --ramp-up 10s.
                The figures include filling caches, compiling statements or
                connecting.
    warning     5,500 of 30,000 arrivals found the queue full and were dropped
                (18.3 %): the rate is higher than the system can handle. Use the
                offered percentiles, not those of finished transactions; lower
                the rate or add clients.
    warning     150 of 30,000 transactions were unfinished at the end of the run
                (0.50 %); their response times are not known. Use the offered
                percentiles, which count them with at least their age; lower the
                rate or allow a longer drain (--drain).
    warning     250 transactions of the ramp-up were still queued or running
                when the measured phase began, with 6 clients: the first
                response times include that backlog. Lower the rate, or lengthen
                the ramp-up until the backlog is gone.

    target      mariadb://bench@db7.example/bench,
                innodb_flush_log_at_trx_commit=1
    load        6 clients, a thread each, open, 500 arrivals/s (Poisson), at
                most 1,000 queued, then dropped
    tpcc        warehouses=4
    phases      5 s ramp-up, 60 s measured, seed 7

    latency in ms    count      p50      p90      p95    p99  p99.9    max
    response        24,350  2,575    2,630    2,642    2,674  2,741  2,856
      service       24,350     12.2     34.4     49.8    104    181    268
      wait          24,350  2,500    2,500    2,500    2,500  2,500  2,500
    of all offered  30,000  2,590      inf      inf      inf    inf      -
    column hidden, too narrow: mean (COLUMNS=79 shows all)
    95 % CI: p50 2,559 to 2,592
    of all offered: p50 2,573 to 2,609
    no CI for p90: it needs a run of about 3m
    no CI for p95: it needs a run of about 6m
    no CI for p99: it needs a run of about 35m
    no CI for p99.9: it needs a run of about 6h
    inf 5,500 of 30,000 transactions were dropped or failed

    30,000 transactions offered = 24,350 finished + 0 failed + 5,500 dropped +
    150 unfinished
    24,350 committed, 250 carried over from the ramp-up
    10,208 QPS = 4,900 reads + 4,492 writes + 816.7 others
    per transaction: 25.0 round trips, 12.0 reads + 11.0 writes + 2.00 others

    transaction    calls  failed     TPS  % of time  p50 ms    p95    p99    max
    new_order     10,905       0  180.6        58.0   2,579  2,647  2,674  2,770
    payment       10,550       0  172.3        26.1   2,569  2,632  2,645  2,694
    order_status     958       0   15.58        0.9   2,561  2,624  2,628  2,629
    delivery         980       0   15.98       13.4   2,609  2,710  2,775  2,856
    stock_level      957       0   15.60        1.6   2,567  2,626  2,634  2,641
    columns hidden, too narrow: retried, trips (COLUMNS=92 shows all)

    TPS in each of 60 seconds, 0 to 400
    ############################################################
    min 400 (at 0 s), median 400, max 400, CV 0 %, no stall

     seconds  offered/s    TPS  p50 ms  p95  p99  wait %  queued   lost
     0 to 10      500.0  400.0   2,468    -    -    99.3     820    500
    10 to 20      500.0  400.0   2,598    -    -    99.4   1,000  1,000
    20 to 30      500.0  400.0   2,598    -    -    99.3   1,000  1,000
    30 to 40      500.0  400.0   2,598    -    -    99.3   1,000  1,000
    40 to 50      500.0  400.0   2,596    -    -    99.2   1,000  1,000
    50 to 60      500.0  400.0   2,600    -    -    99.1   1,000  1,150
    ");
}

#[test]
fn a_fixed_sequence_of_transactions_is_shown_without_its_seconds() {
    let mut report = subjects::closed();
    let seconds = |report: &Report| {
        let charts = crate::charts::of_run(report);
        let sections = run(report).sections;
        let n_sections = sections.iter().filter(|section| section.id == "time").count();
        (charts.iter().any(|chart| chart.id == "throughput"), n_sections)
    };
    assert_eq!(seconds(&report), (true, 1));
    report.groups[0].sequence = Some(22);
    assert_eq!(seconds(&report), (false, 0));
}

/// Words of rates over time and of percentiles, which say nothing about a fixed sequence.
const OF_RATES: [&str; 14] = [
    "TPS",
    "QPS",
    "p50",
    "p95",
    "p99",
    "per second",
    "percentile",
    "stall",
    "too few samples",
    "CV ",
    "latency",
    "closed load:",
    "steady",
    "throughput",
];

/// Returns the words of [`OF_RATES`] that a page has outside of its plan and output.
fn of_rates(page: &Document) -> Vec<(String, &'static str)> {
    let page = Document { repeat: None, ..page.clone() };
    let mut all = Vec::new();
    for (medium, page) in Pages::print(&page).all() {
        let page = page.to_lowercase();
        let has = |word: &&&str| page.contains(&word.to_lowercase());
        all.extend(OF_RATES.iter().filter(has).map(|word| (medium.to_owned(), *word)));
    }
    all
}

#[test]
fn a_fixed_sequence_has_nothing_of_rates_on_any_page() {
    let mut made = Made::closed();
    let shown = |made: &Made| {
        let options = analysis::report::Options { per_client: true };
        let mut report = Report::with(&made.tally(), options);
        report.notes.clear();
        // These are no times of transactions: ages of records, and lags of the generator.
        report.block.custom_metrics = Default::default();
        report.block.lag_us = Default::default();
        let with = Short { is_default: &|_, _, _| true, is_stored: true, next: Vec::new() };
        let (full, first) = (run(&report), run_short(&report, &with));
        let line = run_in_a_line(&report);
        let trends = full.tiles.iter().filter(|tile| !tile.trend.is_empty()).count();
        ([full, first, line].map(|page| of_rates(&page)), trends)
    };
    let (found, n_trends) = shown(&made);
    assert!(found.iter().all(|found| !found.is_empty()) && n_trends > 0, "{found:?}");
    made.description.groups[0].sequence = Some(22);
    assert_eq!(shown(&made), ([Vec::new(), Vec::new(), Vec::new()], 0));
}

#[test]
fn the_plan_of_a_query_unfolds_on_its_line() {
    let mut made = Made::closed();
    made.description.groups[0].sequence = Some(22);
    let mut report = Report::from_tally(&made.tally());
    let plan = "SCAN orders\n  <sort>".to_owned();
    let (group, transaction) = (String::new(), "payment".to_owned());
    let executed = String::new();
    let query_plan = analysis::report::QueryPlanReport { group, transaction, plan, executed };
    report.query_plans = vec![query_plan];
    let page = run(&report);
    let html = body(&page, Medium::File);
    let line = html.lines().find(|line| line.contains(">payment<")).expect("a line");
    assert!(line.contains("<summary>plan</summary><pre>SCAN orders"), "{line}");
    let other = html.lines().find(|line| line.contains(">new_order<")).expect("a line");
    assert!(other.contains("<td class=\"fold\"></td>"), "{other}");
    assert_eq!(html.matches("SCAN orders").count(), 1, "{html}");
    let wide = Style { color: false, width: 80 };
    let terminal = text(&page, &wide);
    assert!(terminal.contains("Plan of payment:\nSCAN orders\n"), "{terminal}");
    assert!(markdown(&page).contains("```\nSCAN orders"));
}
