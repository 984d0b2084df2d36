//! `dbdyno list`: workloads, targets, parameters and findings, from the tables that own them.

use analysis::figures::{OF_PARTS, OF_RUN, direction};
use clap::{Arg, ArgMatches, Command};
use model::Parameter;
use model::finding_catalog::{CATALOG, CatalogEntry};
use plan::managed;
use plan::{AT, EXPERIMENT, GROUP, PLAN, group_flags};
use render::{Align, Column, Table};
use serde_json::{Value, json};

use super::Outcome;
use super::flags::{self, Output};
use crate::shell::Shell;

pub(crate) fn command() -> Command {
    Command::new("list").about("Lists workloads, targets, parameters, findings or figures").arg(
        Arg::new("what")
            .required(true)
            .value_name("workloads|targets|parameters|findings|figures")
            .value_parser(["workloads", "targets", "parameters", "findings", "figures"]),
    )
}

pub(crate) fn list(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let what = matches.get_one::<String>("what").map(String::as_str);
    if flags::is_json(matches) {
        let value = match what {
            Some("workloads") => workloads::all().map(workload_json).collect(),
            Some("targets") => {
                drivers::ALL.iter().map(|e| target_json(e)).chain([managed_json()]).collect()
            }
            Some("findings") => CATALOG.iter().map(finding_json).collect(),
            Some("figures") => figure_rows().map(FigureRow::json).collect(),
            _ => sections().into_iter().map(|section| section.json()).collect::<Value>(),
        };
        return shell.print(&format!("{value:#}\n"));
    }
    if flags::output_of(matches) == Output::Markdown {
        return shell.print(&markdown_of(what.unwrap_or_default()));
    }
    shell.print(&match what {
        Some("workloads") => workloads::all().map(workload_text).collect(),
        Some("targets") => {
            drivers::ALL.iter().map(|e| target_text(e)).collect::<String>() + &managed_text()
        }
        Some("figures") => figure_rows().map(FigureRow::text).collect(),
        Some("findings") => CATALOG.iter().map(finding_text).collect(),
        _ => sections().iter().map(Section::text).collect(),
    })
}

/// A list as a page of docs/.
fn markdown_of(what: &str) -> String {
    match what {
        "findings" => markdown_of_findings(),
        "figures" => markdown_of_figures(),
        _ => markdown_of_parameters(&sections()),
    }
}

/// Whether what is asked for is a list that is written as Markdown too.
pub(crate) fn is_markdown_too(matches: &ArgMatches) -> bool {
    let what = matches.get_one::<String>("what");
    what.is_some_and(|what| matches!(what.as_str(), "parameters" | "findings" | "figures"))
}

fn finding_text(entry: &CatalogEntry) -> String {
    let CatalogEntry { id, severity, raised, advice } = entry;
    format!("{id} ({severity})\n    {raised}\n    {advice}\n")
}

fn finding_json(entry: &CatalogEntry) -> Value {
    let severities: Vec<&str> = entry.severity.split(", ").collect();
    json!({
        "id": entry.id,
        "severity": severities,
        "raised": entry.raised,
        "advice": entry.advice,
    })
}

/// A figure as it is listed.
struct FigureRow {
    name: &'static str,
    unit: &'static str,
    better: &'static str,
    help: &'static str,
}

fn figure_rows() -> impl Iterator<Item = FigureRow> {
    let of_run = OF_RUN.iter().map(|of| FigureRow {
        name: of.name,
        unit: of.unit,
        better: of.direction.name(),
        help: of.help,
    });
    let of_parts = OF_PARTS.iter().map(|of| FigureRow {
        name: of.name,
        unit: of.unit,
        better: direction(of.name).name(),
        help: of.help,
    });
    of_run.chain(of_parts)
}

impl FigureRow {
    fn text(self) -> String {
        let FigureRow { name, unit, better, help } = self;
        format!("{name:<29} {unit:<6} {better:<8} {help}\n")
    }

    fn json(self) -> Value {
        json!({"name": self.name, "unit": self.unit, "better": self.better, "help": self.help})
    }
}

fn markdown_of_figures() -> String {
    let columns = ["name", "unit", "better", "what it is"];
    let mut table = Table::new(columns.map(|title| Column::new(title, Align::Left)));
    for FigureRow { name, unit, better, help } in figure_rows() {
        table.row([format!("`{name}`"), unit.to_owned(), better.to_owned(), help.to_owned()]);
    }
    format!(
        "# Figures\n\n<!-- Written by 'cargo xtask docs'. -->\n\nA figure is a number of a run \
         that has a name. `dbdyno compare --figure NAME`, `dbdyno history --figure NAME`, \
         `dbdyno experiments show ID --figure NAME`, `--fail-if 'NAME<-5%'` and `--require \
         'NAME<300'` take any of them, `dbdyno report ID --figure NAME` draws it over an \
         experiment's axes, and `dbdyno runs list --where 'NAME>1000' --sort -NAME` finds runs by \
         it; `dbdyno runs show ID --figures` shows those of a run with their values. A bound may \
         have a unit: `p99<300ms`, `rows>1000/min`, `rows>50 rows/s`, \
         `server.disk_written<2MB/s`, `reads>2k`. A share below a bound is a figure too, for any \
         bound of two digits, and may be written with brackets: `below(20ms)>99%`, \
         `new_order.below(2.5s)`. *Better* is the direction in which a figure is judged: for \
         *neither*, a comparison reports higher or lower, and a history refuses the figure. A \
         time may be written without its unit (`p99`), a custom metric without `per_second` \
         (`rows`; not in `--where`). [measuring.md](measuring.md) defines each figure.\n\n{}",
        table.markdown_of_markdown()
    )
}

fn markdown_of_findings() -> String {
    let columns = ["id", "severity", "raised when", "what to do"];
    let mut table = Table::new(columns.map(|title| Column::new(title, Align::Left)));
    for CatalogEntry { id, severity, raised, advice } in CATALOG {
        table.row([
            format!("`{id}`"),
            (*severity).to_owned(),
            (*raised).to_owned(),
            (*advice).to_owned(),
        ]);
    }
    format!(
        "# Findings\n\n<!-- Written by 'cargo xtask docs'. -->\n\nA finding says \
         whether a result is valid and how reliable it is. The report shows it with the figure \
         that raised it and what to do about it. An *invalid* one makes the exit code 1, and an \
         experiment repeats the trial (except for `queue_full`, which would happen again). How \
         each is judged is in \
         [measuring.md](measuring.md#findings); `dbdyno list findings` prints the same table, \
         and `dbdyno runs list --where 'finding=stalled'` lists the runs that have one.\n\n{}",
        table.markdown_of_markdown()
    )
}

fn workload_text(entry: &workloads::Entry) -> String {
    format!("{:<22} {}\n", entry.name, entry.summary)
}

fn workload_json(entry: &workloads::Entry) -> Value {
    let parameters: Vec<Value> = entry.parameters.iter().map(parameter_json).collect();
    json!({"name": entry.name, "summary": entry.summary, "parameters": parameters})
}

fn target_text(entry: &drivers::Entry) -> String {
    let verified = match entry.verified {
        Ok(on) => format!("verified on {on}"),
        Err(why) => format!("not verified on a server: {why}"),
    };
    let schemes: Vec<String> = entry.schemes.iter().map(|scheme| format!("{scheme}:")).collect();
    let (name, summary, example) = (entry.name, entry.summary, entry.example);
    let schemes = schemes.join(", ");
    format!("{name:<10} {summary}\n{:10} {schemes} such as {example}; {verified}\n", "")
}

fn target_json(entry: &drivers::Entry) -> Value {
    let parameters: Vec<Value> = entry.parameters.iter().map(parameter_json).collect();
    json!({
        "name": entry.name,
        "summary": entry.summary,
        "schemes": entry.schemes,
        "example": entry.example,
        "verified": entry.verified.is_ok(),
        "verified_on": entry.verified.ok(),
        "options": parameters,
    })
}

fn managed_text() -> String {
    let (name, example) = (managed::NAME, managed::EXAMPLE);
    format!("{name:<10} {}\n{:10} {name}: such as {example}\n", managed::SUMMARY, "")
}

fn managed_json() -> Value {
    let parameters: Vec<Value> = managed::PARAMETERS.iter().map(parameter_json).collect();
    json!({
        "name": managed::NAME,
        "summary": managed::SUMMARY,
        "schemes": [managed::NAME],
        "example": managed::EXAMPLE,
        "options": parameters,
    })
}

fn parameter_json(parameter: &Parameter) -> Value {
    json!({
        "name": parameter.name,
        "takes": parameter.kind.placeholder(),
        "default": (!parameter.default.is_empty()).then_some(parameter.default),
        "help": parameter.help,
        "shapes_data": parameter.shapes_data,
    })
}

/// One owner's table: how a row is written, and the row.
struct Section {
    title: String,
    intro: String,
    rows: Vec<(String, &'static Parameter)>,
}

fn sections() -> Vec<Section> {
    let key = |row: &'static Parameter| (format!("`{}`", row.name), row);
    let both = |row: &'static Parameter| (format!("`{}`, `--{}`", row.name, row.flag()), row);
    let has_flag = |row: &Parameter| group_flags().any(|flag| flag.name == row.name);
    let mut sections = vec![
        Section {
            title: "A plan".to_owned(),
            intro: "Keys of a plan file, and flags of `dbdyno run`.".to_owned(),
            rows: PLAN.iter().map(|row| both(&row.parameter)).collect(),
        },
        Section {
            title: "A group of clients".to_owned(),
            intro: "Keys of a `[[group]]`, and flags of `dbdyno run`.".to_owned(),
            rows: GROUP
                .iter()
                .map(|row| &row.parameter)
                .map(|row| if has_flag(row) { both(row) } else { key(row) })
                .collect(),
        },
        Section {
            title: "An experiment".to_owned(),
            intro: "Keys of `[experiment]`, and flags of `dbdyno run`.".to_owned(),
            rows: EXPERIMENT.iter().map(|row| both(&row.parameter)).collect(),
        },
        Section {
            title: "A disturbance".to_owned(),
            intro: "Keys of an `[[at]]`. One of `sql`, `command`, `server` and `hosts` is the \
                    action."
                .to_owned(),
            rows: AT.iter().map(|row| key(&row.parameter)).collect(),
        },
    ];
    for entry in workloads::all() {
        sections.push(Section {
            title: format!("Workload {}", entry.name),
            intro: format!("{}. Keys of `parameters` in a group, and flags.", entry.summary),
            rows: entry.parameters.iter().map(both).collect(),
        });
    }
    for entry in drivers::ALL {
        let key = |row: &'static Parameter| (format!("`?{}=`", row.name), row);
        sections.push(Section {
            title: format!("Target {}", entry.name),
            intro: format!("{}. Options of URLs such as `{}`.", entry.summary, entry.example),
            rows: entry.parameters.iter().map(key).collect(),
        });
    }
    let key = |row: &'static Parameter| (format!("`?{}=`", row.name), row);
    let (summary, example) = (managed::SUMMARY, managed::EXAMPLE);
    sections.push(Section {
        title: format!("Target {}", managed::NAME),
        intro: format!("{summary}. Options of URLs such as `{example}`."),
        rows: managed::PARAMETERS.iter().map(key).collect(),
    });
    sections
}

impl Section {
    fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|(_, row)| parameter_json(row)).collect();
        json!({"title": self.title, "parameters": rows})
    }

    fn text(&self) -> String {
        let mut text = format!("{}\n", self.title);
        for (written, row) in &self.rows {
            let written = written.replace('`', "");
            let default = shown_default(row);
            text += &format!("  {written:<44} {}{default}\n", row.help);
        }
        text + "\n"
    }
}

fn shown_default(row: &Parameter) -> String {
    match row.default {
        "" => String::new(),
        default => format!(" [{default}]"),
    }
}

fn markdown_of_parameters(sections: &[Section]) -> String {
    let mut text =
        "# Parameters\n\nWritten by `cargo xtask docs` from the tables in the code.\n".to_owned();
    for section in sections {
        text += &format!("\n## {}\n\n{}\n\n", section.title, section.intro);
        let titles = ["written", "takes", "default", "what it is"];
        let mut table = Table::new(titles.map(|title| Column::new(title, Align::Left)));
        for (written, row) in &section.rows {
            let takes = row.kind.placeholder();
            let cells = [written.as_str(), &takes, row.default, row.help];
            table.row(cells.map(str::to_owned));
        }
        text += &table.markdown_of_markdown();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_docs_are_what_is_listed() {
        for what in ["parameters", "findings", "figures"] {
            let page = format!("docs/{what}.md");
            let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
            let written = std::fs::read_to_string(path).unwrap();
            let listed = markdown_of(what);
            let same = written.lines().zip(listed.lines()).take_while(|(a, b)| a == b).count();
            let stale = "not what dbdyno lists: run 'cargo xtask docs'";
            assert!(written == listed, "{page}:{}: {stale}", same + 1);
        }
    }
}
