//! The section on checks: data, commits, generator, connections, requirements of standards, and
//! notes that a workload must disclose.

use analysis::report::{
    CheckReport, Disclosure, PrimaryMetricReport, Report, RequirementReport, Verdict,
};
use model::numbers::{self, NONE, amount, count, fixed, ms, significant};
use model::{FactValue, NOT_CHECKED, format_count};

use crate::document::{Block, Details, Length, Section, Text};
use crate::table::{Align, Cell, Column, Table};

pub(super) fn section(report: &Report) -> Section {
    let mut blocks = vec![Block::pairs(pairs(report))];
    blocks.extend(processes(report));
    blocks.extend(monitors(report));
    blocks.extend(all_checks(report));
    blocks.extend(report.disclosures.iter().map(of_standard));
    blocks.extend(declared(report));
    Section::new("checks", "Checks and disclosures", blocks)
}

/// Returns labelled lines on consistency checks, generator, connections, indexes and standards;
/// empty ones are left out.
fn pairs(report: &Report) -> Vec<(&'static str, String)> {
    let mut pairs = vec![("checks", checks(report)), ("generator", generator(report))];
    pairs.extend(sessions(report).map(|words| ("sessions", words)));
    pairs.extend(later_indexes(report).map(|words| ("indexes", words)));
    for disclosure in &report.disclosures {
        let words = format!("{}. {}", disclosure.summary(), disclosure.note);
        pairs.push(("standard", words));
    }
    pairs.retain(|(_, words)| !words.is_empty());
    pairs
}

/// Returns the table of the hosts that agents monitored; `None` if there are none.
fn monitors(report: &Report) -> Option<Block> {
    let facts = report.facts.get("monitor_agents")?;
    let mut table = Table::new([
        Column::new("monitored by", Align::Left),
        Column::new("host", Align::Left),
        Column::new("CPUs", Align::Right),
        Column::new("server", Align::Left),
        Column::new("clock ahead by, at the start", Align::Right),
        Column::new("at the end", Align::Right),
    ]);
    let server = facts.get("server").map(ToString::to_string);
    for name in facts.keys().filter_map(|key| key.strip_suffix("_agent")) {
        let fact = |what: &str| facts.get(&format!("{name}_{what}"));
        let text = |what: &str| fact(what).map_or(NONE.to_owned(), ToString::to_string);
        let offset = |when: &str| clock_offset(&fact, when);
        let is_server = if server.as_deref() == Some(name) { "yes" } else { NONE };
        table.row([
            Cell::from(name),
            text("machine").as_str().into(),
            text("cpus").as_str().into(),
            is_server.into(),
            offset("first").as_str().into(),
            offset("last").as_str().into(),
        ]);
    }
    Some(Block::Table(table))
}

/// Describes by how much a process's clock was ahead of the run's at the start (`first`) or at the
/// end (`last`), with the error, from facts by their name.
fn clock_offset<'r>(fact: &dyn Fn(&str) -> Option<&'r FactValue>, when: &str) -> String {
    let us =
        |name: &str| fact(&format!("clock_offset_{when}{name}_s"))?.as_seconds().map(|s| s * 1e6);
    match (us(""), us("_error")) {
        (Some(us), Some(error)) => format!("{} ± {} µs", fixed(us, 1), fixed(error, 1)),
        _ => NONE.to_owned(),
    }
}

/// Returns the table of the generator's separate client processes, or of its agents; `None` if
/// there are none.
fn processes(report: &Report) -> Option<Block> {
    let facts = report.facts.get("processes")?;
    let are_agents = facts.contains_key("process_1_agent");
    let of_agents = are_agents.then(|| {
        [("agent", Align::Left), ("host", Align::Left), ("CPUs", Align::Right)]
            .map(|(title, align)| Column::new(title, align))
    });
    let of_processes = (!are_agents).then(|| [Column::new("process", Align::Right)]);
    let mut columns: Vec<Column> = of_processes.into_iter().flatten().collect();
    columns.extend(of_agents.into_iter().flatten());
    columns.extend([
        Column::new("clients", Align::Left),
        Column::new("CPU s", Align::Right),
        Column::new("memory", Align::Right),
        Column::new("clock ahead by, at the start", Align::Right),
        Column::new("at the end", Align::Right),
    ]);
    let mut table = Table::new(columns);
    for number in 1_u32.. {
        let fact = |name: &str| facts.get(&format!("process_{number}_{name}"));
        let Some(clients) = fact("clients") else { break };
        let offset = |when: &str| clock_offset(&fact, when);
        let cpu = fact("cpu_s").and_then(FactValue::as_seconds);
        let memory = fact("max_rss_bytes").and_then(FactValue::bytes);
        let text = |name: &str| fact(name).map_or(NONE.to_owned(), ToString::to_string);
        let mut row: Vec<Cell> = match are_agents {
            true => ["agent", "machine", "cpus"].map(|name| text(name).as_str().into()).into(),
            false => vec![number.to_string().as_str().into()],
        };
        row.extend([
            clients.to_string().as_str().into(),
            cpu.map_or(NONE.to_owned(), |cpu| significant(cpu, 3)).as_str().into(),
            memory.map_or(NONE.to_owned(), |bytes| amount(bytes as f64, "B")).as_str().into(),
            offset("first").as_str().into(),
            offset("last").as_str().into(),
        ]);
        table.row(row);
    }
    Some(Block::Table(table))
}

/// Describes how many clients connected, how long it took, and how many connections the server
/// counted; `None` if no client connected.
fn sessions(report: &Report) -> Option<String> {
    let connect = &report.block.connect_ms;
    if connect.times.count + connect.failed == 0 {
        return None;
    }
    let mean = connect.times.mean.map(|mean| format!(", mean {} ms", significant(mean, 3)));
    let most = connect.times.max.map(|max| format!(", max {} ms", significant(max, 3)));
    let failed = (connect.failed > 0).then(|| format!(", {} failed", format_count(connect.failed)));
    let connected = format!("{} connected", format_count(connect.times.count));
    let counted = server_connections(report).map(|words| format!("; {words}"));
    Some([Some(connected), mean, most, failed, counted].into_iter().flatten().collect())
}

/// Describes how long it took to add indexes after the load, and the rates over load and indexing
/// together; `None` if no indexes were added.
fn later_indexes(report: &Report) -> Option<String> {
    let facts = report.facts.get("indexes")?;
    let (add, all) = (facts.get("add_s")?, facts.get("load_and_add_s")?);
    let rate = |(name, metric): &(String, PrimaryMetricReport)| {
        let rate: f64 = facts.get(&format!("{name}_overall"))?.to_string().parse().ok()?;
        Some(format!("{} {}", significant(rate, 4), metric.title))
    };
    let rates: Vec<String> = report.block.primary_metrics.0.iter().filter_map(rate).collect();
    let rates = rates.join(", ");
    Some(format!(
        "added in {add} s after the load, and dropped; load and indexes took {all} s in all: \
         {rates} over that time"
    ))
}

/// Describes how many connections the server counted, dbdyno's own queries included; `None` if the
/// server was not asked.
fn server_connections(report: &Report) -> Option<String> {
    let facts = report.facts.get("connections")?;
    let number = |name: &str| Some(format_count(facts.get(name)?.count()?));
    let counts = [("server_at_start", "at the start"), ("server_under_load", "under load")];
    let known = counts.iter().filter_map(|(name, when)| Some(format!("{} {when}", number(name)?)));
    let known: Vec<String> = known.collect();
    let counter = facts.get("server_counter")?;
    (!known.is_empty()).then(|| format!("the server counts {} ({counter})", known.join(" and ")))
}

/// Compares the server's counter of commits with dbdyno's count, and explains a difference; `None`
/// if the server has no such counter.
fn server_commits(report: &Report) -> Option<String> {
    let facts = report.facts.get("commits")?;
    let number = |name: &str| facts.get(name)?.integer();
    let (change, ours) = (number("server_change")?, number("ours")?);
    let counter = facts.get("server_counter")?;
    let formatted = |n: i64| format_count(n.unsigned_abs());
    let says_so = report
        .facts
        .get("server")
        .is_some_and(|about_server| about_server.contains_key("restarted_ago_s"));
    let is_found = report.findings.iter().any(|finding| finding.id == "server_restarted");
    if (says_so || is_found) && change < ours {
        return Some(format!("the server's {counter} was reset: the server was restarted"));
    }
    if !report.disturbances.is_empty() && change < ours {
        return Some(format!("the server's {counter} was reset by the plan's disturbances"));
    }
    if change < 0 {
        return Some(format!("the server's {counter} decreased: it was restarted"));
    }
    let why = match change - ours {
        0 => String::new(),
        1.. => "; it also counts commits of other sessions and of dbdyno's checks".to_owned(),
        _ if facts.get("counts_single_statements").is_some_and(|is| is.yes_no() == Some(false)) => {
            "; it does not count statements outside of transactions".to_owned()
        }
        _ => ", which is lower".to_owned(),
    };
    Some(format!(
        "the server's {counter} grew by {} while dbdyno committed {}{why}",
        formatted(change),
        formatted(ours)
    ))
}

fn checks(report: &Report) -> String {
    let mut parts = vec![data(report)];
    parts.extend(server_commits(report));
    let left_out = report.notes.iter().filter_map(|note| note.strip_prefix(NOT_CHECKED));
    parts.extend(left_out.map(|rest| format!("not checked{}", rest.trim_end_matches('.'))));
    parts.retain(|part| !part.is_empty());
    parts.join("; ")
}

/// Describes the consistency checks of the data, and the comparison of commits with a value in the
/// data: `13 of 13 checks passed before and after the load; database and dbdyno agree: 10,693
/// commits of new_order, ramp-up included`.
pub(super) fn data(report: &Report) -> String {
    let passed = |results: &Option<Vec<CheckReport>>| {
        let results = results.as_ref()?;
        let passed = results.iter().filter(|check| check.failed == 0).count();
        Some(format!("{passed} of {} checks passed", results.len()))
    };
    let mut parts = match (passed(&report.checks.before), passed(&report.checks.after)) {
        (Some(before), Some(after)) if before == after => {
            vec![format!("{before} before and after the load")]
        }
        (before, after) => {
            let before = before.map(|words| format!("{words} before the load"));
            before.into_iter().chain(after.map(|words| format!("{words} after the load"))).collect()
        }
    };
    for check in &report.crosschecks {
        let (change, kind) = (numbers::thousands(&check.change.to_string()), &check.transaction);
        let ours = format_count(check.committed);
        parts.push(if check.matches {
            format!("database and dbdyno agree: {ours} commits of {kind}, ramp-up included")
        } else {
            format!("the database counts {change} commits of {kind}, dbdyno {ours}")
        });
    }
    parts.join("; ")
}

/// Returns true if all checks of the data before and after the load passed; `None` if there were
/// none.
pub(super) fn all_passed(report: &Report) -> Option<bool> {
    let results = [&report.checks.before, &report.checks.after].into_iter().flatten();
    let checks: Vec<&CheckReport> = results.flatten().collect();
    (!checks.is_empty()).then(|| checks.iter().all(|check| check.failed == 0))
}

fn generator(report: &Report) -> String {
    let mut parts = Vec::new();
    if let Some(client) = &report.client {
        let each =
            client.cpu_us_per_query.map(|us| format!(", {} µs per query", significant(us, 3)));
        let cpu = significant(client.cpu_seconds, 3);
        let of_producer = client.producer_cpu_seconds.map(|seconds| {
            format!(" ({} s of it to make what clients send)", significant(seconds, 3))
        });
        let of_producer = of_producer.unwrap_or_default();
        parts.push(format!("{cpu} s of CPU{of_producer}{}", each.unwrap_or_default()));
        parts.push(format!("{} of memory", numbers::bytes(client.max_rss_bytes)));
        if client.bytes_in + client.bytes_out > 0 {
            let (out, back) = (numbers::bytes(client.bytes_out), numbers::bytes(client.bytes_in));
            parts.push(format!("{out} out and {back} in"));
        }
    }
    let lag = &report.block.lag_us;
    if lag.max.is_some_and(|max| max > 0.0) {
        let [p50, p99, max] = [lag.p50, lag.p99, lag.max].map(ms);
        parts.push(format!("lag p50 {p50}, p99 {p99}, max {max} µs"));
    }
    let lag = &report.block.reply_lag_us;
    if lag.count > 0 {
        let [p50, p99, max] = [lag.p50, lag.p99, lag.max].map(ms);
        parts.push(format!("reply lag p50 {p50}, p99 {p99}, max {max} µs"));
    }
    if lag.late > 0 {
        let noun = if lag.late == 1 { "reply" } else { "replies" };
        parts.push(format!("{} {noun} lay for 10 ms or longer", format_count(lag.late)));
    }
    parts.extend(loops(report));
    parts.join("; ")
}

/// Describes how busy and how late the load generator's event loops were: `event loops busy 41, 39
/// %, at most 1.2 ms late`. `None` for a generator without event loops.
fn loops(report: &Report) -> Option<String> {
    let late = report.loops.iter().filter_map(|of_loop| of_loop.heartbeat_lag_us.max);
    let late = late.max_by(f64::total_cmp)?;
    let busy = report.facts.get("client").and_then(|facts| facts.get("loop_busy_percent"));
    let busy = busy.map(|busy| format!(" busy {busy} %,")).unwrap_or_default();
    Some(format!("event loops{busy} at most {} ms late", significant(late / 1e3, 2)))
}

/// Returns the folded table of all consistency checks, with the numbers of rows that violate them;
/// `None` if nothing was checked.
fn all_checks(report: &Report) -> Option<Block> {
    let phases = [("before", &report.checks.before), ("after", &report.checks.after)];
    let all = phases.iter().flat_map(|(when, all)| all.iter().flatten().map(move |c| (*when, c)));
    let all: Vec<(&str, &CheckReport)> = all.collect();
    let mut table = Table::new([
        Column::new("check", Align::Left),
        Column::new("when", Align::Left),
        Column::new("what must hold", Align::Left),
        Column::new("rows that break it", Align::Right),
        Column::spare("examples", Align::Left, 1),
    ]);
    for (when, check) in &all {
        table.row([
            Cell::from(check.id.as_str()),
            (*when).into(),
            check.title.as_str().into(),
            check.failed.into(),
            check.examples.join("; ").into(),
        ]);
    }
    let title = format!("All {} checks of the data", all.len());
    (!all.is_empty()).then(|| Block::details(title, Length::Short, vec![Block::Table(table)]))
}

/// Returns the folded table of a standard's requirements, with measured values and results. Text
/// and Markdown have the reasons of results below the table.
fn of_standard(disclosure: &Disclosure) -> Block {
    let with_reason = |one: &RequirementReport| {
        let verdict = one.verdict.words();
        one.reason.as_ref().map_or_else(|| verdict.to_owned(), |why| format!("{verdict}: {why}"))
    };
    let short = |one: &RequirementReport| {
        let short = match one.verdict {
            Verdict::NotApplicable => "n/a",
            Verdict::NotKnown => "unknown",
            Verdict::Pass | Verdict::Fail => one.verdict.words(),
        };
        short.to_owned()
    };
    let (passed, judged) = (disclosure.passed, disclosure.passed + disclosure.failed);
    let title = format!("Requirements of {}: {passed} of {judged} hold", disclosure.standard);
    let note = Block::paragraphs([disclosure.note.clone()]);
    let table = Block::Table(requirements(disclosure, short));
    let below = Block::paragraphs(reasons(disclosure));
    let name = format!("Requirements of {} ({})", disclosure.standard, disclosure.group);
    let details = Details {
        title,
        blocks: vec![note, Block::Table(requirements(disclosure, with_reason))],
        length: Length::Short,
        otherwise: vec![Block::Part(name, vec![table, below])],
    };
    Block::Part(String::new(), vec![Block::Details(details)])
}

/// Returns the table of a standard's requirements. `result` returns the text of the last column.
fn requirements(disclosure: &Disclosure, result: fn(&RequirementReport) -> String) -> Table {
    let mut table = Table::new([
        Column::new("clause", Align::Left).head(),
        Column::sentences("requirement").head(),
        Column::new("required", Align::Right),
        Column::new("measured", Align::Right),
        Column::new("result", Align::Left),
    ]);
    for one in &disclosure.requirements {
        table.row([
            one.clause.clone(),
            one.title.clone(),
            one.required.clone(),
            one.measured_words().unwrap_or_else(|| NONE.to_owned()),
            result(one),
        ]);
    }
    table
}

/// Lists the reasons of the requirements' results; requirements with the same result and reason
/// share a line.
fn reasons(disclosure: &Disclosure) -> Vec<String> {
    let mut found: Vec<(&str, &str, Vec<&str>)> = Vec::new();
    for one in &disclosure.requirements {
        let Some(why) = &one.reason else { continue };
        let (word, title) = (one.verdict.words(), one.title.as_str());
        match found.iter_mut().find(|(known, reason, _)| (*known, *reason) == (word, why)) {
            Some((_, _, titles)) => titles.push(title),
            None => found.push((word, why, vec![title])),
        }
    }
    let line = |(word, why, titles): (&str, &str, Vec<&str>)| {
        format!("{} ({word}): {why}", titles.join("; "))
    };
    found.into_iter().map(line).collect()
}

/// Returns the folded notes on the workload, such as deviations from its standard; `None` without
/// notes. Text and Markdown have only the first note, which is the legally required notice if there
/// is one.
fn declared(report: &Report) -> Option<Block> {
    let (first, others) = report.notes.split_first()?;
    let more = (!others.is_empty()).then(|| {
        let more = count(others.len() as u64, "further note");
        let are = if others.len() == 1 { "is" } else { "are" };
        let what = match report.disclosures.first() {
            Some(disclosure) => format!(", deviations from {} among them,", disclosure.standard),
            None => " on the workload".to_owned(),
        };
        Text::from(format!("{more}{what} {are} listed in the JSON report."))
    });
    let details = Details {
        title: "Notes on the workload, and deviations from its standard".to_owned(),
        blocks: vec![Block::paragraphs(report.notes.clone())],
        length: Length::Short,
        otherwise: vec![Block::paragraphs(
            [Some(Text::from(first.as_str())), more].into_iter().flatten(),
        )],
    };
    Some(Block::Part(String::new(), vec![Block::Details(details)]))
}
