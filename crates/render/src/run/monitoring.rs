//! The section on system and database metrics: lines with means and maxima over the measured phase,
//! charts by subject, and folded tables of busy threads and all gauges.
//!
//! Not here: readings per second (the JSON has them).

use std::collections::BTreeSet;

use analysis::report::{GaugeReport, Report};
use model::numbers::{NONE, amount, capital, count, significant};

use crate::charts::{Chart, Spot, gauges, in_spot};
use crate::document::{Block, Length, Section};
use crate::table::{Align, Cell, Column, Table};

/// Percentage of idle CPU time below which a run's page says that the measured round trip to the
/// server includes waiting for a CPU.
const IDLE_LEAST_PERCENT: f64 = 10.0;

/// Largest number of disks that the line on disks names; the JSON report has all.
const DISKS_MOST: usize = 3;
/// Largest number of gauges that the line on the database names; the JSON report has all.
const COUNTERS_MOST: usize = 8;

/// Largest number of charts per subject, such as `machine`, that are shown without unfolding; the
/// others are folded.
const CHARTS_OPEN: usize = 2;

/// Value below which a gauge counts as 0 and is left out, in the gauge's own unit.
const NOTHING: f64 = 0.005;

/// Explanation of the figures in the section on system and database metrics, printed beside its
/// title.
const MEANING: &str = "means over the measured phase, maxima in brackets";

/// Returns the section on system and database metrics: lines of figures, the first charts of each
/// subject, and everything else folded.
pub(super) fn section(report: &Report, charts: &[Chart]) -> Section {
    let rows = rows(report);
    let note = if rows.is_empty() { "" } else { MEANING };
    let mut blocks = vec![Block::pairs(rows), Block::Charts(in_spot(charts, Spot::Statements))];
    for (about, of_subject) in gauges::by_subject(report, charts) {
        let mut first: Vec<Chart> = of_subject.into_iter().cloned().collect();
        let others = first.split_off(first.len().min(CHARTS_OPEN));
        let subject = capital(about);
        let mut part = vec![Block::Charts(first)];
        if !others.is_empty() {
            let title = format!("{subject}: {}", count(others.len() as u64, "more chart"));
            part.push(Block::details(title, Length::Short, vec![Block::Charts(others)]));
        }
        blocks.push(Block::Part(subject, part));
    }
    blocks.extend(threads(report));
    blocks.extend(all(report));
    let section = Section::new("monitor", "System and database metrics", blocks);
    Section { note: note.to_owned(), ..section }
}

/// Returns labelled lines on machine, generator, server and database. An empty label continues the
/// line above.
fn rows(report: &Report) -> Vec<(String, String)> {
    let of_machine = |label, about: &str| {
        [(label, machine(report, about)), ("", pressure(report, about)), ("", disks(report, about))]
    };
    let mut all = of_machine(MACHINE, MACHINE).to_vec();
    all.push((GENERATOR, process(report, GENERATOR)));
    // Further processes of the generator: `process 1/generator`.
    let abouts: BTreeSet<&str> = report.gauges.iter().map(|gauge| gauge.about.as_str()).collect();
    for about in abouts {
        if let Some(label) =
            about.strip_suffix(GENERATOR).and_then(|prefix| prefix.strip_suffix('/'))
        {
            all.push((label, process(report, about)));
        }
    }
    // Machines that agents monitor: `db1/machine`, and servers there: `db1/server`.
    for agent in monitoring_agents(report) {
        all.extend(of_machine(agent, &format!("{agent}/{MACHINE}")));
        all.push(("", process(report, &format!("{agent}/server"))));
    }
    all.extend([("server", process(report, "server")), ("database", database(report))]);
    let shown = all.into_iter().filter(|(_, words)| !words.is_empty());
    shown.map(|(label, words)| (label.to_owned(), words)).collect()
}

/// Returns the names of the agents that monitored their machines, such as `db1` for the gauges of
/// `db1/machine`.
fn monitoring_agents(report: &Report) -> BTreeSet<&str> {
    let abouts = report.gauges.iter().map(|gauge| gauge.about.as_str());
    abouts.filter_map(|about| about.strip_suffix(MACHINE)?.strip_suffix('/')).collect()
}

/// Prefixes of the names of gauges of single threads, with titles.
const OF_THREAD: [(&str, &str); 4] = [
    ("thread_cpu/", "CPU %"),
    ("thread_switches_voluntary/", "voluntary switches/s"),
    ("thread_switches_involuntary/", "involuntary switches/s"),
    ("thread_migrations/", "migrations/s"),
];

/// Returns the folded table of the busiest threads of server and generator, with CPU time, context
/// switches and migrations; `None` if no such threads were read.
fn threads(report: &Report) -> Option<Block> {
    let (prefix, _) = OF_THREAD[0];
    let busy = |gauge: &GaugeReport| gauge.name.strip_prefix(prefix).map(str::to_owned);
    let mut all: Vec<(&GaugeReport, String)> =
        report.gauges.iter().filter_map(|gauge| Some((gauge, busy(gauge)?))).collect();
    let has_switches = |(gauge, name): &(&GaugeReport, String)| {
        mean(report, &gauge.about, &format!("{}{name}", OF_THREAD[1].0)).is_some()
    };
    all.retain(has_switches);
    all.first()?;
    all.sort_by(|(a, _), (b, _)| {
        let by_load = || b.mean.unwrap_or(0.0).total_cmp(&a.mean.unwrap_or(0.0));
        // The server's threads first, as in other tables.
        b.about.cmp(&a.about).then_with(by_load)
    });
    let mut table = Table::new(
        [Column::new("of", Align::Left), Column::new("thread", Align::Left)]
            .into_iter()
            .chain(OF_THREAD.map(|(_, title)| Column::new(title, Align::Right)))
            .collect::<Vec<_>>(),
    );
    for (gauge, name) in &all {
        let number = |(prefix, _): (&str, &str)| {
            let value = mean(report, &gauge.about, &format!("{prefix}{name}"));
            value.map_or(Cell::None, |value| Cell::said(significant(value, 3), Some(value)))
        };
        let named = [Cell::from(gauge.about.as_str()), Cell::from(name.as_str())];
        table.row(named.into_iter().chain(OF_THREAD.map(number)));
    }
    let title = format!("The {} busiest threads", all.len());
    Some(Block::details(title, Length::Short, vec![Block::Table(table)]))
}

/// Returns the folded table of all gauges (system and database metrics); `None` if there are none.
fn all(report: &Report) -> Option<Block> {
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
            let words = value.map_or_else(|| NONE.to_owned(), |value| amount(value, &gauge.unit));
            Cell::said(words, value)
        };
        table.row([
            Cell::from(gauge.about.as_str()),
            gauge.name.as_str().into(),
            number(gauge.mean),
            number(gauge.min),
            number(gauge.max),
            gauge.help.as_str().into(),
        ]);
    }
    let title = format!("All {} gauges, over the measured phase", report.gauges.len());
    Some(Block::details(title, Length::Long, vec![Block::Table(table)]))
}

/// Subject of the gauges of the generator's machine.
const MACHINE: &str = "machine";
/// Subject of the gauges of the generator's main process.
const GENERATOR: &str = "generator";

fn find<'r>(report: &'r Report, about: &str, name: &str) -> Option<&'r GaugeReport> {
    report.gauges.iter().find(|gauge| gauge.about == about && gauge.name == name)
}

fn mean(report: &Report, about: &str, name: &str) -> Option<f64> {
    find(report, about, name)?.mean
}

/// Formats mean and maximum of a gauge: `12.3 % (40.1 %)`; `None` if it was not read.
fn mean_and_most(gauge: &GaugeReport) -> Option<String> {
    let (mean, max) = (gauge.mean?, gauge.max?);
    Some(format!("{} ({})", amount(mean, &gauge.unit), amount(max, &gauge.unit)))
}

/// Formats mean and maximum of the gauge `name` of the subject `about`, followed by `words`; `None`
/// if it was not read.
fn shown(report: &Report, about: &str, name: &str, words: &str) -> Option<String> {
    Some(format!("{} {words}", mean_and_most(find(report, about, name)?)?))
}

fn joined(parts: impl IntoIterator<Item = Option<String>>) -> String {
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn machine(report: &Report, about: &str) -> String {
    // Kinds of CPU time that readers regard as one.
    let kinds: [(&str, &[&str]); 6] = [
        ("user and nice", &["cpu_user", "cpu_nice"]),
        ("system", &["cpu_system"]),
        ("irq", &["cpu_irq", "cpu_softirq"]),
        ("iowait", &["cpu_iowait"]),
        ("steal", &["cpu_steal"]),
        ("idle", &["cpu_idle"]),
    ];
    let share = |(word, names): (&str, &[&str])| {
        let known: Vec<f64> = names.iter().filter_map(|name| mean(report, about, name)).collect();
        (!known.is_empty()).then(|| {
            let sum: f64 = known.iter().sum();
            format!("{} % {word}", significant(sum, 2))
        })
    };
    let cpu = joined(kinds.map(share));
    let cpu = (!cpu.is_empty()).then(|| format!("CPU {cpu}"));
    let least = find(report, about, "memory_available").and_then(|gauge| gauge.min);
    let memory = least.map(|least| format!("min. available memory {}", amount(least, "B")));
    let running = shown(report, about, "processes_running", "runnable");
    joined([cpu, running, memory])
}

fn pressure(report: &Report, about: &str) -> String {
    let kinds = [
        ("pressure_cpu_some", "CPU"),
        ("pressure_io_some", "I/O"),
        ("pressure_memory_some", "memory"),
    ];
    let to_words = |(name, word): (&str, &str)| {
        Some(format!("{word} {}", mean_and_most(find(report, about, name)?)?))
    };
    let words = joined(kinds.map(to_words));
    if words.is_empty() { words } else { format!("pressure: {words}") }
}

/// Describes the busiest disks, each with its busy time, bytes and latency.
fn disks(report: &Report, about: &str) -> String {
    let is_busy = |gauge: &&GaugeReport| {
        gauge.about == about
            && gauge.name.starts_with("disk_busy/")
            && gauge.max.is_some_and(|max| max > NOTHING)
    };
    let mut busy: Vec<&GaugeReport> = report.gauges.iter().filter(is_busy).collect();
    busy.sort_by(|a, b| b.mean.unwrap_or(0.0).total_cmp(&a.mean.unwrap_or(0.0)));
    let to_words = |gauge: &&GaugeReport| {
        let device = gauge.name.trim_start_matches("disk_busy/");
        let named =
            |name: &str, words: &str| shown(report, about, &format!("{name}/{device}"), words);
        let parts = [
            mean_and_most(gauge).map(|busy| format!("{busy} busy")),
            named("disk_written", "written"),
            named("disk_read", "read"),
            named("disk_latency", "per request"),
        ];
        format!("disk {device}: {}", joined(parts))
    };
    busy.iter().take(DISKS_MOST).map(to_words).collect::<Vec<_>>().join("; ")
}

/// Returns the subject of the gauges of the server's machine: `db1/machine` if the agent `db1`
/// monitored it.
fn server_machine(report: &Report) -> String {
    let agent = report.fact("monitor_agents", "server");
    agent.map_or_else(|| MACHINE.to_owned(), |agent| format!("{agent}/{MACHINE}"))
}

fn process(report: &Report, about: &str) -> String {
    let cpu = mean(report, about, "cpu_user").zip(mean(report, about, "cpu_system"));
    let cpu = cpu.map(|(user, system)| {
        let sum = significant(user + system, 3);
        format!("CPU {sum} % of one core ({} % in the kernel)", significant(system, 2))
    });
    let memory = find(report, about, "memory").and_then(|gauge| gauge.max);
    let memory = memory.map(|bytes| format!("{} of memory", amount(bytes, "B")));
    let delay = shown(report, about, "run_delay", "waiting for a CPU");
    let written = mean(report, about, "disk_written");
    // The kernel may count far more for a process than the disks receive.
    let of_machine = server_machine(report);
    let of_disks = mean(report, &of_machine, "disk_written").unwrap_or(f64::INFINITY);
    let written = written
        .filter(|bytes| about == "server" && *bytes > NOTHING && *bytes <= of_disks)
        .map(|bytes| format!("{} written", amount(bytes, "B/s")));
    joined([cpu, memory, delay, written])
}

/// Describes the database's gauges that were not 0, in the driver's order, at most
/// [`COUNTERS_MOST`].
fn database(report: &Report) -> String {
    let moved = report.gauges.iter().filter(|gauge| {
        gauge.about == "database" && gauge.mean.is_some_and(|mean| mean.abs() > NOTHING)
    });
    let idle = find(report, MACHINE, "cpu_idle").and_then(|gauge| gauge.mean);
    let busy = idle.filter(|percent| *percent < IDLE_LEAST_PERCENT);
    let to_words = |gauge: &GaugeReport| {
        // A probe waits for a CPU as everything else does.
        let waits = busy.filter(|_| gauge.name == "round_trip").map(|idle| {
            let idle = amount(idle, "%");
            format!(", with waits for a CPU: the host was {idle} idle")
        });
        Some(format!("{} {}{}", gauge.name, mean_and_most(gauge)?, waits.unwrap_or_default()))
    };
    let shown: Vec<&GaugeReport> = moved.take(COUNTERS_MOST).collect();
    let seconds = shown.first().and_then(|gauge| read_in(report, gauge));
    joined(shown.into_iter().map(to_words).chain([seconds]))
}

/// Describes in how many seconds of the measured phase a gauge was read: `read in 40 of 45 s`;
/// `None` if at most one reading is missing, or all are.
fn read_in(report: &Report, gauge: &GaugeReport) -> Option<String> {
    let whole = report.measured_seconds.floor() as usize;
    let read = gauge.points.iter().filter(|(second, _)| *second >= 0).count();
    (read > 0 && read + 1 < whole).then(|| format!("read in {read} of {whole} s"))
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use analysis::report::Report;
    use model::{Event, Gauge, Readings};

    use super::*;
    use crate::terminal::{Style, text};

    fn page(report: &Report) -> String {
        let sections = vec![section(report, &crate::charts::of_run(report))];
        text(&crate::Document { sections, ..crate::Document::default() }, &Style::default())
    }

    /// Returns a run with gauges, each with subject, name, unit, and two values that alternate by
    /// second.
    fn made(gauges: &[(&str, &str, &str, [f64; 2])]) -> Report {
        let mut made = Made::closed();
        let declared = gauges.iter().map(|(about, name, unit, _)| Gauge {
            about: (*about).to_owned(),
            name: (*name).to_owned(),
            unit: (*unit).to_owned(),
            help: String::new(),
        });
        made.more.push(Event::Gauges { gauges: declared.collect() });
        for second in 0..4 {
            let values = gauges.iter().map(|(_, _, _, values)| values[second % 2]);
            let values = (0..).zip(values).collect();
            made.more.push(Event::Readings(Readings { second: second as i64, values }));
        }
        Report::from_tally(&made.tally())
    }

    #[test]
    fn a_few_lines_show_system_and_database_metrics() {
        let report = made(&[
            ("machine", "cpu_user", "%", [50.0, 60.0]),
            ("machine", "cpu_nice", "%", [0.0, 1.0]),
            ("machine", "cpu_system", "%", [20.0, 22.0]),
            ("machine", "cpu_softirq", "%", [1.0, 1.0]),
            ("machine", "cpu_iowait", "%", [3.0, 0.0]),
            ("machine", "cpu_steal", "%", [0.5, 0.0]),
            ("machine", "cpu_idle", "%", [25.5, 16.0]),
            ("machine", "processes_running", "", [3.0, 9.0]),
            ("machine", "memory_available", "B", [4e9, 3e9]),
            ("machine", "pressure_cpu_some", "%", [40.0, 44.0]),
            ("machine", "pressure_io_some", "%", [3.0, 12.0]),
            ("machine", "disk_busy/vda", "%", [40.0, 44.0]),
            ("machine", "disk_written/vda", "B/s", [1e7, 3e7]),
            ("machine", "disk_latency/vda", "ms", [0.8, 1.2]),
            ("machine", "disk_busy/vdb", "%", [0.0, 0.0]),
            ("generator", "cpu_user", "%", [50.0, 60.0]),
            ("generator", "cpu_system", "%", [30.0, 30.0]),
            ("generator", "memory", "B", [3e7, 4e7]),
            ("generator", "run_delay", "ms/s", [12.0, 30.0]),
            ("server", "cpu_user", "%", [80.0, 90.0]),
            ("server", "cpu_system", "%", [20.0, 20.0]),
            ("server", "memory", "B", [3e8, 4e8]),
            ("server", "disk_written", "B/s", [1e6, 1e6]),
            ("database", "Questions", "1/s", [12_000.0, 13_000.0]),
            ("database", "Innodb_row_lock_waits", "1/s", [0.0, 0.0]),
            ("database", "Threads_running", "", [9.0, 8.0]),
        ]);
        insta::assert_snapshot!(page(&report), @r"
        System and database metrics: means over the measured phase, maxima in brackets
        machine     CPU 56 % user and nice, 21 % system, 1.0 % irq, 1.5 % iowait, 0.25 % steal, 21 %
                    idle, 6 (9) runnable, min. available memory 2.79 GiB
                    pressure: CPU 42.0 % (44.0 %), I/O 7.50 % (12.0 %)
                    disk vda: 42.0 % (44.0 %) busy, 19.1 MiB/s (28.6 MiB/s) written, 1.00 ms (1.20 ms)
                    per request
        generator   CPU 85.0 % of one core (30 % in the kernel), 38.1 MiB of memory, 21.0 ms/s (30.0
                    ms/s) waiting for a CPU
        server      CPU 105 % of one core (20 % in the kernel), 381 MiB of memory, 977 KiB/s written
        database    Questions 12,500/s (13,000/s), Threads_running 8.50 (9), read in 4 of 60 s
        ");
    }

    #[test]
    fn a_run_that_was_not_monitored_has_no_such_lines() {
        let report = Report::from_tally(&Made::closed().tally());
        assert_eq!(page(&report).trim(), "");
    }
}
