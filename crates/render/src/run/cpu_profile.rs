//! The section on CPU profiles: for server and generator a flame graph and the functions with most
//! samples, or the reason why there is none.
//!
//! Not here: drawing of a flame graph (flame_graph).

use analysis::report::Report;
use model::numbers::{count, significant};
use model::{Choice, CpuProfileReport, ProfileSide};

use crate::document::{Block, Section};
use crate::flame_graph::FlameGraph;
use crate::table::{Align, Cell, Column, Table};

/// Subject of the facts in a report that say why a flame graph is missing.
const ABOUT: &str = "cpu_profile";

pub(super) fn section(report: &Report) -> Section {
    let mut blocks = Vec::new();
    for side in [ProfileSide::Server, ProfileSide::Generator] {
        let of_side = |profile: &&CpuProfileReport| profile.side == side;
        if let Some(profile) = report.cpu_profiles.iter().find(of_side) {
            blocks.push(Block::Part(title(side).to_owned(), of_profile(report, profile)));
        } else if let Some(why) = report.facts.get(ABOUT).and_then(|all| all.get(side.name())) {
            blocks.push(Block::paragraphs([format!("No graph of {}: {why}.", words(side))]));
        }
    }
    Section::new("cpu", "CPU flame graphs", blocks)
}

fn words(side: ProfileSide) -> &'static str {
    match side {
        ProfileSide::Server => "the server",
        ProfileSide::Generator => "dbdyno",
    }
}

fn title(side: ProfileSide) -> &'static str {
    match side {
        ProfileSide::Server => "CPU time of the server",
        ProfileSide::Generator => "CPU time of dbdyno",
    }
}

fn of_profile(report: &Report, profile: &CpuProfileReport) -> Vec<Block> {
    let graph = FlameGraph {
        run: report.run_id.clone(),
        side: profile.side.name().to_owned(),
        title: title(profile.side).to_owned(),
        samples: profile.samples,
        stacks: profile.stacks.clone(),
    };
    let mut table = Table::new([
        Column::new("function", Align::Left),
        Column::new("self %", Align::Right),
        Column::new("total %", Align::Right),
    ]);
    for top in &profile.top_functions {
        let percent = |value: f64| Cell::said(significant(value, 2), Some(value));
        table.row([
            Cell::from(top.function.as_str()),
            percent(top.self_percent),
            percent(top.total_percent),
        ]);
    }
    let mut said = format!(
        "{} of {} at {} Hz; perf took {} s of CPU time while it recorded {}, and {} s after the load.",
        count(profile.samples, "sample"),
        profile.event,
        profile.frequency_hz,
        significant(profile.recording_cpu_s, 2),
        if profile.is_system_wide { "both sides" } else { "this side" },
        significant(profile.naming_cpu_s, 2),
    );
    if profile.stacks_cut > 0 {
        said += &format!(
            " The rarest {} with {} are left out.",
            count(profile.stacks_cut, "stack"),
            count(profile.samples_cut, "sample")
        );
    }
    let said = [Some(said), without_symbols(profile)].into_iter().flatten();
    vec![Block::FlameGraph(graph), Block::Table(table), Block::paragraphs(said)]
}

/// Smallest percentage of a process's samples in one file without debug symbols at which the page
/// advises how to get the symbols.
const NAMELESS_MIN: f64 = 10.0;

/// Names the file without debug symbols that has the most samples, and says how to get symbols;
/// `None` if few samples are in such files.
fn without_symbols(profile: &CpuProfileReport) -> Option<String> {
    let nameless = profile.top_functions.iter().filter_map(|top| {
        let file = top.function.strip_prefix('[')?.strip_suffix(']')?;
        (!["unknown", "kernel", "vdso"].contains(&file)).then_some((file, top.self_percent))
    });
    let (file, percent) = nameless.max_by(|a, b| a.1.total_cmp(&b.1))?;
    (percent >= NAMELESS_MIN).then(|| {
        format!(
            "{} % of the samples are in [{file}], whose functions have no names here: install its \
             debug symbols (packages that end with -dbgsym or -debuginfo), or set DEBUGINFOD_URLS.",
            significant(percent, 2)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_symbols_is_named_with_what_gives_them() {
        let top = |function: &str, percent: f64| model::TopFunction {
            function: function.to_owned(),
            self_percent: percent,
            total_percent: percent,
        };
        let mut profile = CpuProfileReport {
            top_functions: vec![top("[unknown]", 50.0), top("[mariadbd]", 41.5), top("f", 9.0)],
            side: ProfileSide::Server,
            is_system_wide: true,
            event: "cycles".to_owned(),
            frequency_hz: 99,
            samples: 1_000,
            n_stacks: 3,
            stacks_cut: 0,
            samples_cut: 0,
            recording_cpu_s: 0.1,
            naming_cpu_s: 0.1,
            stacks: Vec::new(),
        };
        let said = without_symbols(&profile).expect("most have no name");
        assert!(said.contains("42 % of the samples are in [mariadbd]"), "{said}");
        assert!(said.contains("-dbgsym") && said.contains("DEBUGINFOD_URLS"), "{said}");
        profile.top_functions[1].self_percent = 3.0;
        assert_eq!(without_symbols(&profile), None);
    }
}
