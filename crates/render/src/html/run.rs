//! The page of a run: what was asked, the answer and whether it is valid; then everything
//! over time, by transaction, system and database metrics; how to repeat it at the end.

use analysis::report::{
    Block as Figures, ClientReport, Disclosure, DisturbanceReport, Report, Status,
};
use model::numbers::{self, NONE, count, ms, significant, with_error};
use model::{Load, Severity};

use super::Medium;
use super::blocks::{Block, Body, Tile, Verdict, named};
use super::long::heading;
use crate::charts::{Chart, gauges, of_run};
use crate::text::{disturbances, monitoring, sections};
use crate::{Align, Column, Table};

/// Stretches in the folded table; the JSON has all of them.
const INTERVALS_MOST: usize = 1_000;
/// Clients in the folded table; the JSON has all of them.
const CLIENTS_MOST: usize = 1_000;

/// Charts of each subject of system metrics that are seen at once.
const CHARTS_OPEN: usize = 2;

/// The body of a run's page: everything between header and footer.
pub fn run_body(report: &Report, medium: Medium<'_>) -> String {
    let charts = of_run(report);
    let mut body = Body::new(what(report), title_of(report));
    body.asked = asked(report);
    body.verdicts = vec![verdict(report)];
    body.tiles = tiles(report);
    body.section("findings", "Is this result valid?", &[Block::findings(&report.findings)]);
    let rates = named(&charts, &["throughput", "offered", "queue", "losses", "stalls"]);
    let times = named(&charts, &["response", "intervals"]);
    let over_time: Vec<&Chart> = interleaved(&rates, &times);
    let steady = sections::steadiness(report).unwrap_or_default();
    let stretches = sections::stretches(report, INTERVALS_MOST);
    let stretches = stretches.map(|table| Block::long("Intervals", &[Block::table(&table)]));
    let mut blocks = vec![Block::charts(&over_time, medium), Block::Words(steady)];
    blocks.extend(stretches);
    body.section("time", "Over time", &blocks);
    body.section("disturbances", "Disturbances", &disturbed(report));
    body.section("latency", "Latency", &latency(report, &charts, medium));
    body.section("transactions", "Transactions", &transactions(report, &charts, medium));
    body.section("clients", "Clients", &clients(report, &charts, medium));
    body.section("errors", "Errors", &errors(report));
    body.section("monitor", "System and database metrics", &surroundings(report, &charts, medium));
    body.section("ran", "What ran", &ran(report));
    body.section("repeat", "How to repeat it", &repeat(report));
    body.html()
}

/// System and database metrics, by what it is about: of each the charts that one looks for first,
/// and the others folded.
fn surroundings(report: &Report, charts: &[Chart], medium: Medium<'_>) -> Vec<Block> {
    let told = monitoring::metric_rows(report);
    let words = (!told.is_empty()).then(|| format!("Of each gauge: {}.", monitoring::MEANING));
    let mut blocks = vec![Block::Words(words.into_iter().collect()), Block::Pairs(told)];
    blocks.push(Block::charts(&named(charts, &["statements"]), medium));
    for (about, of) in gauges::by_subject(report, charts) {
        blocks.push(heading(&numbers::capital(about)));
        let (first, others) = of.split_at(of.len().min(CHARTS_OPEN));
        blocks.push(Block::charts(first, medium));
        if !others.is_empty() {
            let title = count(others.len() as u64, "more chart");
            let title = format!("{}: {title}", numbers::capital(about));
            blocks.push(Block::folded(title, &[Block::charts(others, medium)]));
        }
    }
    blocks.extend(all_gauges(report));
    blocks
}

fn what(report: &Report) -> String {
    let status = report.status.name().replace('_', " ");
    format!("Run, {status}, begun {}", sections::begun(&report.started))
}

fn title_of(report: &Report) -> String {
    match (report.name.is_empty(), report.workload.is_empty()) {
        (false, _) => report.name.clone(),
        (true, false) => report.workload.clone(),
        (true, true) => report.run_id.clone(),
    }
}

/// The question, as a sentence.
fn asked(report: &Report) -> Vec<String> {
    let (database, workload) = (&report.database, &report.workload);
    let clients = count(u64::from(report.clients), "client");
    let seconds = numbers::seconds(report.measured_seconds);
    vec![match &report.load {
        Some(Load::Closed) => format!(
            "How much of {workload} does {database} do for {clients} without pause? Measured for \
             {seconds}."
        ),
        Some(Load::Open { rate, .. }) => format!(
            "How quickly does {database} answer {workload} at {} over {clients}? Measured for \
             {seconds}.",
            numbers::arrival_rate(rate)
        ),
        Some(Load::KeyThink { .. }) => format!(
            "How quickly does {database} answer {workload} for {clients} who key and think? \
             Measured for {seconds}."
        ),
        None => {
            let n_groups = count(report.groups.len() as u64, "group");
            format!(
                "How does {database} serve {n_groups} of clients at once ({workload})? Measured \
                 for {seconds}."
            )
        }
    }]
}

fn verdict(report: &Report) -> Verdict {
    let has = |severity| report.findings.iter().any(|finding| finding.severity == severity);
    let text = sections::verdict(report);
    let reason = report.reason.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
    let (class, word) = match report.status {
        Status::Running => ("", "It goes on, and its figures are provisional."),
        Status::Failed => ("bad", "It failed."),
        _ if has(Severity::Invalid) => ("bad", "This result is not valid."),
        Status::Interrupted => ("warn", "It was interrupted."),
        Status::QueueFull => ("warn", "The queue was full, and it stopped."),
        Status::Completed if has(Severity::Warning) => ("warn", "With care."),
        Status::Completed => ("good", "This result is valid."),
    };
    let word = match reason.is_empty() {
        true => word.to_owned(),
        false => format!("{}{reason}.", word.trim_end_matches('.')),
    };
    // What is worth knowing stands below.
    let text = text
        .trim_start_matches("With care: ")
        .trim_start_matches("Yes. ")
        .trim_end_matches(" Notes:");
    Verdict { class, word, text: text.to_owned() }
}

fn tiles(report: &Report) -> Vec<Tile> {
    let block = &report.block;
    let mut tiles: Vec<Tile> = block
        .headlines
        .iter()
        .filter_map(|(_, headline)| {
            let value = significant(headline.value?, 4);
            let half = headline.half_width.map(|half| significant(half, 3));
            let error = half.map_or_else(String::new, |half| format!("± {half} within this run"));
            Some(Tile { name: headline.title.clone(), value, error })
        })
        .collect();
    tiles.push(tps(block));
    tiles.extend(["p50", "p95", "p99"].map(|field| quantile(report, field)));
    let max = Tile {
        name: "longest".to_owned(),
        value: with_unit(ms(block.response_ms.max)),
        error: String::new(),
    };
    tiles.push(max);
    let counts = &block.counts;
    let lost = counts.failed + counts.dropped + counts.unfinished;
    tiles.push(Tile {
        name: "failed, dropped, unfinished".to_owned(),
        value: model::format_count(lost),
        error: format!("of {}", model::format_count(counts.offered)),
    });
    tiles
}

fn tps(block: &Figures) -> Tile {
    let (value, error) = match (block.tps, &block.tps_ci95) {
        (Some(tps), Some(ci95)) => {
            let both = with_error(tps, ci95.half_width);
            let (value, error) = both.split_once(" ± ").unwrap_or((&both, ""));
            (value.to_owned(), format!("± {error} within this run"))
        }
        (tps, _) => (numbers::rate(tps), String::new()),
    };
    Tile { name: "TPS".to_owned(), value, error }
}

fn with_unit(value: String) -> String {
    let is_number = value.contains(|letter: char| letter.is_ascii_digit());
    if is_number { format!("{value} ms") } else { value }
}

/// A quantile as the headline of `runs show` has it, of all that was offered, with its own interval
/// where it has one. That of the finished ones is its own where all have finished: reports that
/// were kept before 0.1.0 have no other.
fn quantile(report: &Report, name: &str) -> Tile {
    let Figures { counts, response_ms, offered_ms, .. } = &report.block;
    let of_finished =
        || response_ms.intervals.get(name).filter(|_| counts.offered == counts.finished);
    let interval = offered_ms.intervals.get(name).or_else(of_finished);
    let reason = offered_ms.interval_reasons.get(name).map(|_| "no interval, see Latency");
    let interval = match (interval, reason) {
        (Some(ends), _) => sections::interval(*ends),
        (None, reason) => reason.unwrap_or_default().to_owned(),
    };
    let (value, error) = match sections::of_all_offered(report, name) {
        None => (NONE.to_owned(), String::new()),
        Some((value, why)) if why.is_empty() => (value, interval),
        Some(infinite) => infinite,
    };
    Tile { name: name.to_owned(), value, error }
}

/// Throughput and times beside each other: what belongs to the same seconds is seen together.
fn interleaved<'c>(rates: &[&'c Chart], times: &[&'c Chart]) -> Vec<&'c Chart> {
    let mut all = Vec::new();
    for index in 0..rates.len().max(times.len()) {
        all.extend(rates.get(index));
        all.extend(times.get(index));
    }
    all
}

fn disturbed(report: &Report) -> Vec<Block> {
    let one = |one: &DisturbanceReport| {
        let mut blocks = vec![Block::Words(vec![disturbances::sentence(one)])];
        blocks.extend(disturbances::table(one).map(|table| Block::table(&table)));
        if !one.output.is_empty() {
            blocks.push(Block::folded("Its output", &[Block::Text(one.output.clone())]));
        }
        blocks
    };
    report.disturbances.iter().flat_map(one).collect()
}

fn latency(report: &Report, charts: &[Chart], medium: Medium<'_>) -> Vec<Block> {
    let (table, words) = sections::times(report);
    vec![
        Block::table(&table),
        Block::Words(words),
        Block::charts(&named(charts, &["distribution"]), medium),
    ]
}

fn transactions(report: &Report, charts: &[Chart], medium: Medium<'_>) -> Vec<Block> {
    let mut blocks = vec![Block::Words(sections::counted(report))];
    blocks.extend(sections::by_group(report).map(|table| Block::table(&table)));
    blocks.extend(sections::by_kind(report).map(|table| Block::table(&table)));
    let kinds = || report.block.transactions.iter().filter(|(_, of)| of.calls > 0);
    if kinds().any(|(_, of)| of.response_ms.p99.is_none()) {
        blocks.push(Block::Words(vec![sections::FEW.to_owned()]));
    }
    blocks.push(Block::charts(&named(charts, &["kinds"]), medium));
    blocks.extend(sections::measured(report).map(|table| Block::table(&table)));
    blocks
}

fn clients(report: &Report, charts: &[Chart], medium: Medium<'_>) -> Vec<Block> {
    let Some(clients) = report.block.per_client.as_deref().filter(|all| !all.is_empty()) else {
        return Vec::new();
    };
    let mut table = Table::new([
        Column::new("client", Align::Right),
        Column::new("transaction", Align::Left),
        Column::new("calls", Align::Right),
        Column::new("failed", Align::Right),
        Column::new("min ms", Align::Point),
        Column::new("mean", Align::Point),
        Column::new("max", Align::Point),
        Column::spare("sd", Align::Point, 1),
    ]);
    let rows = clients.iter().flat_map(client_rows).take(CLIENTS_MOST);
    rows.for_each(|row| table.row(row));
    vec![
        Block::charts(&named(charts, &["clients"]), medium),
        Block::long("Each client and transaction", &[Block::table(&table)]),
    ]
}

fn client_rows(client: &ClientReport) -> Vec<[String; 8]> {
    let row = |(name, of): (&str, &analysis::report::ClientTransaction)| {
        [
            client.client.to_string(),
            name.to_owned(),
            model::format_count(of.calls),
            model::format_count(of.failed),
            ms(of.min_ms),
            ms(of.mean_ms),
            ms(of.max_ms),
            ms(of.sd_ms),
        ]
    };
    client.transactions.iter().map(row).collect()
}

fn errors(report: &Report) -> Vec<Block> {
    let phases = [("measured", &report.block.errors), ("ramp-up", &report.block.ramp_up_errors)];
    if phases.iter().all(|(_, errors)| errors.is_empty()) {
        return Vec::new();
    }
    let mut table = Table::new([
        Column::new("phase", Align::Left),
        Column::new("count", Align::Right),
        Column::new("kind", Align::Left),
        Column::new("code", Align::Right),
        Column::new("the first of them", Align::Left),
    ]);
    for (phase, error) in phases.iter().flat_map(|(phase, all)| all.iter().map(move |e| (phase, e)))
    {
        table.row([
            (*phase).to_owned(),
            model::format_count(error.count),
            error.kind.clone(),
            error.code.to_string(),
            error.message.clone(),
        ]);
    }
    let words = "Those of attempts that were tried again are among them.".to_owned();
    vec![Block::table(&table), Block::Words(vec![words])]
}

/// Every gauge, those too that never moved.
fn all_gauges(report: &Report) -> Option<Block> {
    report.gauges.first()?;
    let mut table = Table::new([
        Column::new("of", Align::Left),
        Column::new("gauge", Align::Left),
        Column::new("mean", Align::Right),
        Column::new("least", Align::Right),
        Column::new("most", Align::Right),
        Column::spare("what it is", Align::Left, 1),
    ]);
    for gauge in &report.gauges {
        let number = |value: Option<f64>| {
            value.map_or_else(|| NONE.to_owned(), |value| numbers::amount(value, &gauge.unit))
        };
        table.row([
            gauge.about.clone(),
            gauge.name.clone(),
            number(gauge.mean),
            number(gauge.min),
            number(gauge.max),
            gauge.help.clone(),
        ]);
    }
    let title = format!("All {} gauges, over the measured phase", report.gauges.len());
    Some(Block::long(title, &[Block::table(&table)]))
}

fn ran(report: &Report) -> Vec<Block> {
    let mut pairs = sections::ran(report);
    pairs.extend(sections::besides(report));
    pairs.retain(|(_, words)| !words.is_empty());
    let mut blocks = vec![Block::Pairs(pairs)];
    let failed = checks(report);
    blocks.extend(failed.map(|table| Block::table(&table)));
    for disclosure in &report.disclosures {
        let title = format!(
            "{} itself: {} of {} requirements hold",
            disclosure.standard,
            disclosure.passed,
            disclosure.passed + disclosure.failed
        );
        let note = Block::Words(vec![disclosure.note.clone()]);
        blocks.push(Block::folded(title, &[note, Block::table(&requirements(disclosure))]));
    }
    if !report.declarations.is_empty() {
        let words = Block::Words(report.declarations.clone());
        blocks.push(Block::folded("Disclosures: what differs from the standard", &[words]));
    }
    if !report.settings.is_empty() {
        let title = format!("Settings of the server ({})", report.settings.0.len());
        let settings = Block::Pairs(report.settings.0.clone());
        blocks.push(Block::long(title, &[settings]));
    }
    for (about, facts) in &report.facts {
        let facts = facts.iter().map(|(name, value)| (name.clone(), value.to_string()));
        let title = format!("Facts: {about} ({})", facts.len());
        blocks.push(Block::long(title, &[Block::Pairs(facts.collect())]));
    }
    blocks
}

/// Every check with what broke it.
/// What a standard requires, and what was measured.
fn requirements(disclosure: &Disclosure) -> Table {
    let mut table = Table::new([
        Column::new("clause", Align::Left),
        Column::new("requirement", Align::Left),
        Column::new("required", Align::Right),
        Column::new("measured", Align::Right),
        Column::new("", Align::Left),
    ]);
    for one in &disclosure.requirements {
        let verdict = one.verdict.words();
        let reason = one.reason.as_ref().map(|why| format!("{verdict}: {why}"));
        table.row([
            one.clause.clone(),
            one.title.clone(),
            one.required.clone(),
            one.measured_words().unwrap_or_else(|| numbers::NONE.to_owned()),
            reason.unwrap_or_else(|| verdict.to_owned()),
        ]);
    }
    table
}

fn checks(report: &Report) -> Option<Table> {
    let phases = [("before", &report.checks.before), ("after", &report.checks.after)];
    let all = || phases.iter().flat_map(|(when, all)| all.iter().flatten().map(move |c| (when, c)));
    all().next()?;
    let mut table = Table::new([
        Column::new("check", Align::Left),
        Column::new("when", Align::Left),
        Column::new("what must hold", Align::Left),
        Column::new("rows that break it", Align::Right),
        Column::spare("the first of them", Align::Left, 1),
    ]);
    for (when, check) in all() {
        table.row([
            check.id.clone(),
            (*when).to_owned(),
            check.title.clone(),
            model::format_count(check.failed),
            check.examples.join("; "),
        ]);
    }
    Some(table)
}

fn repeat(report: &Report) -> Vec<Block> {
    let run = &report.run_id;
    let command = format!("dbdyno runs show {run} --plan > plan.toml\ndbdyno run plan.toml");
    let told = vec![
        ("run".to_owned(), run.clone()),
        ("dbdyno".to_owned(), report.dbdyno.clone()),
        ("begun".to_owned(), report.started.clone()),
    ];
    let mut blocks = vec![Block::Pairs(told), Block::Text(command)];
    blocks.push(Block::folded("The plan as decided", &[Block::Text(report.plan.clone())]));
    if !report.output.is_empty() {
        let output = Block::Text(report.output.join("\n"));
        blocks.push(Block::long("What was said meanwhile", &[output]));
    }
    blocks
}
