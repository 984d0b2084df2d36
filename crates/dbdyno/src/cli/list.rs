//! `dbdyno list`: workloads, targets, parameters, findings and figures, from the tables that own
//! them.

use analysis::figures::{OF_PARTS, OF_RUN, direction};
use clap::{Arg, ArgMatches, Command};
use model::Parameter;
use model::finding_catalog::{CATALOG, CatalogEntry};
use plan::managed;
use plan::{AT, EXPERIMENT, GROUP, PLAN, group_flags};
use render::document::{Block, Document};
use render::terminal::LIST_WIDTH;
use render::{Align, Cell, Column, Table};
use serde_json::{Value, json};

use app::Error;

use super::Outcome;
use super::flags::{self, Output};
use super::print_document;
use crate::shell::Shell;

pub(crate) fn command() -> Command {
    Command::new("list")
        .about("Lists workloads, targets, parameters, findings or figures")
        .arg(
            Arg::new("what")
                .value_name("WHAT")
                .help("workloads, targets, parameters, findings or figures")
                .hide_possible_values(true)
                .value_parser(["workloads", "targets", "parameters", "findings", "figures"]),
        )
        .arg(Arg::new("of").value_name("NAME").help(
            "With parameters: only those of this workload or kind of target, such as tpcc or sim",
        ))
}

/// Returns the lists of parameters, or only those of the workload or target that the user names.
fn sections_asked(matches: &ArgMatches) -> Result<Vec<Section>, Error> {
    let Some(of) = matches.get_one::<String>("of") else { return Ok(sections()) };
    if matches.get_one::<String>("what").is_none_or(|what| what != "parameters") {
        let why = format!("'{of}' is one word too many: only 'list parameters' takes a name");
        return Err(Error::Usage(why));
    }
    // Whole titles, such as `A plan`, are names of their own.
    let name = |title: &str| {
        let bare = ["Workload ", "Target "].iter().find_map(|kind| title.strip_prefix(kind));
        bare.unwrap_or(title).to_owned()
    };
    let (found, others): (Vec<Section>, Vec<Section>) =
        sections().into_iter().partition(|section| name(&section.title).eq_ignore_ascii_case(of));
    if !found.is_empty() {
        return Ok(found);
    }
    let names: Vec<String> = others.iter().map(|section| name(&section.title)).collect();
    let meant = model::did_you_mean(of, names.iter().map(String::as_str));
    Err(Error::Usage(format!(
        "'{of}' is neither a workload nor a kind of target{meant}; 'dbdyno list' has both"
    )))
}

pub(crate) fn list(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let what = matches.get_one::<String>("what").map(String::as_str);
    let asked = sections_asked(matches)?;
    if flags::is_json(matches) {
        let value = match what {
            Some("workloads") => workloads::all().map(workload_json).collect(),
            Some("targets") => drivers::all().map(target_json).chain([managed_json()]).collect(),
            Some("findings") => CATALOG.iter().map(finding_json).collect(),
            Some("figures") => figure_rows().map(FigureRow::json).collect(),
            _ => asked.into_iter().map(|section| section.json()).collect::<Value>(),
        };
        return shell.print(&format!("{value:#}\n"));
    }
    let Some(what) = what else {
        return print_document(&everything(), LIST_WIDTH, matches, shell);
    };
    match flags::output_of(matches) {
        _ if matches.contains_id("of") => {
            print_document(&parameter_document(&asked), LIST_WIDTH, matches, shell)
        }
        Output::Markdown => shell.print(&markdown_of(what)),
        _ => print_document(&document(what), LIST_WIDTH, matches, shell),
    }
}

/// Creates the page of `dbdyno list` without a name: workloads and targets, and the numbers of
/// parameters, figures and findings.
fn everything() -> Document {
    let mut page = Document::from(vec![workload_table(), target_table()]);
    let n_parameters: usize = sections().iter().map(|section| section.rows.len()).sum();
    let more = [
        format!("dbdyno list parameters: {n_parameters} keys of plans and options of workloads"),
        format!("dbdyno list figures: {} kinds of figures", figure_rows().count()),
        format!("dbdyno list findings: {} problems of a result, with advice", CATALOG.len()),
    ];
    page.section("more", "More", vec![Block::paragraphs(more)]);
    page
}

/// Creates the page with one list; `what` is its name on the command line.
fn document(what: &str) -> Document {
    match what {
        "workloads" => Document::from(vec![workload_table()]),
        "targets" => {
            let mut page = Document::from(vec![target_table()]);
            let options = "Options of these URLs, such as those of sim: dbdyno list parameters sim";
            page.section("options", "", vec![Block::paragraphs([options])]);
            page
        }
        "findings" => Document::from(vec![finding_table()]),
        "figures" => Document::from(vec![figure_table()]),
        _ => parameter_document(&sections()),
    }
}

/// Returns the markdown of one list, with the introduction of its page in `docs/reference`.
fn markdown_of(what: &str) -> String {
    let introduction = match what {
        "workloads" => "# Workloads",
        "targets" => "# Targets",
        "findings" => ABOUT_FINDINGS,
        "figures" => ABOUT_FIGURES,
        _ => ABOUT_PARAMETERS,
    };
    format!("{introduction}\n\n{}", render::markdown::below(&document(what), 1))
}

fn finding_table() -> Table {
    let columns = [
        Column::words("id", "id"),
        Column::words("severity", "severity"),
        Column::sentences("raised when").key("raised"),
        Column::sentences("what to do").key("advice"),
    ];
    let row = |entry: &CatalogEntry| {
        let CatalogEntry { id, severity, raised, advice } = entry;
        let (raised, advice) = (Cell::marked(*raised), Cell::marked(*advice));
        vec![Cell::marked(format!("`{id}`")), (*severity).into(), raised, advice]
    };
    Table::filled("findings", "", columns, CATALOG.iter().map(row).collect())
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

/// Row of the list of figures, from the catalog of figures of whole runs or from that of figures of
/// their parts.
struct FigureRow {
    name: &'static str,
    unit: &'static str,
    better: &'static str,
    help: &'static str,
}

fn figure_rows() -> impl Iterator<Item = FigureRow> {
    let of_run = OF_RUN.iter().map(|row| FigureRow {
        name: row.name,
        unit: row.unit,
        better: row.direction.name(),
        help: row.help,
    });
    let of_parts = OF_PARTS.iter().map(|row| FigureRow {
        name: row.name,
        unit: row.unit,
        better: direction(row.name).name(),
        help: row.help,
    });
    of_run.chain(of_parts)
}

impl FigureRow {
    fn json(self) -> Value {
        json!({"name": self.name, "unit": self.unit, "better": self.better, "help": self.help})
    }
}

fn figure_table() -> Table {
    let columns = [
        Column::words("name", "name"),
        Column::words("unit", "unit"),
        Column::words("better", "better"),
        Column::sentences("what it is").key("help"),
    ];
    let row = |FigureRow { name, unit, better, help }: FigureRow| {
        vec![Cell::marked(format!("`{name}`")), unit.into(), better.into(), Cell::marked(help)]
    };
    Table::filled("figures", "", columns, figure_rows().map(row).collect())
}

/// Text before the table of docs/reference/figures.md.
const ABOUT_FIGURES: &str = "# Figures

<!-- Written by 'cargo xtask docs'. -->

A figure is a result of a run with a name, such as `tps` or `new_order.p99_ms`. \
[measuring.md](../explanation/measuring.md) defines each figure.

- **Where names are accepted**: `dbdyno compare --figure NAME`, `dbdyno history --figure NAME`, \
`dbdyno experiments show ID --figure NAME`, `--fail-if 'NAME<-5%'` and `--require 'NAME<300'`; \
`dbdyno report ID --figure NAME` draws a figure over an experiment's axes, and `dbdyno runs \
list --where 'NAME>1000' --sort -NAME` finds runs by it. `dbdyno runs show ID --figures` shows those \
of a run with their values.
- **Bounds** may have a unit: `p99<300ms`, `rows>1000/min`, `rows>50 rows/s`, \
`machine.disk_written<2MB/s`, `reads>2k`.
- **What a workload is known by** is a figure by its own name, such as `records_per_s`.
- **A share below a bound** is a figure, for any bound with two significant digits, and may be \
written with brackets or, as tables have it, with a blank: `below(20ms)>99%`, \
`new_order.below(2.5s)`, `readers.age.below 100ms`.
- **The quotient of two figures** is a figure: `plain_query.p50/window_query.p50`.
- **Short forms**: a time without its unit (`p99`); a rate without `per_second` or `per_s` \
(`bytes`: of `record`, `events` and `arm` the bytes of the stored records, which the result line \
shows; of other workloads, and as `bytes_per_s`, those sent and received); a mere `rate` beside \
its bound (`rate>2MB/s` is `bytes`, `rate>50 records/s` is `records`, `rate>1000/min` is `tps`); a \
mere transaction type for its mean time (`q9<2s`, `new_order`); and a figure that only one group of \
a run has without the group (`age_p90` for `readers.age.p90_ms`).

*Better* is the direction that counts as an improvement; for *neither*, a comparison reports higher \
or lower, and a history rejects the figure.";

/// Text before the table of docs/reference/findings.md.
const ABOUT_FINDINGS: &str = "# Findings\n\n<!-- Written by 'cargo xtask docs'. -->\n\nA finding \
                              is a problem of a result, or a note on it. The report shows it with \
                              the measured figure and what to do about it. An *invalid* finding \
                              means exit code 1, and an experiment repeats the run (except after \
                              `queue_full`, which would happen again). \
                              [measuring.md](../explanation/measuring.md#findings) explains the methods; `dbdyno \
                              list findings` prints the same table, and `dbdyno runs list --where \
                              'finding=stalled'` lists the runs that have a finding.";

/// Text before the tables of docs/reference/parameters.md.
const ABOUT_PARAMETERS: &str =
    "# Parameters\n\nWritten by `cargo xtask docs` from the tables in the code.";

fn workload_table() -> Table {
    let columns = [Column::words("name", "name"), Column::sentences("what it is").key("summary")];
    let row = |entry: &workloads::Entry| {
        vec![Cell::marked(format!("`{}`", entry.name)), Cell::marked(entry.summary)]
    };
    Table::filled("workloads", "", columns, workloads::all().map(row).collect())
}

fn workload_json(entry: &workloads::Entry) -> Value {
    let parameters: Vec<Value> = entry.parameters.iter().map(parameter_json).collect();
    json!({"name": entry.name, "summary": entry.summary, "parameters": parameters})
}

fn target_table() -> Table {
    let columns = [
        Column::words("name", "name"),
        Column::sentences("what it is").key("summary"),
        Column::sentences("verified on").key("verified"),
        Column::sentences("schemes").key("schemes"),
        Column::sentences("such as").key("example"),
    ];
    let row = |entry: &drivers::Entry| {
        let schemes: Vec<String> =
            entry.schemes.iter().map(|scheme| format!("`{scheme}:`")).collect();
        let verified = match entry.verified {
            Ok(on) => on.to_owned(),
            Err(why) => format!("no server: {why}"),
        };
        vec![
            Cell::marked(format!("`{}`", entry.name)),
            Cell::marked(entry.summary),
            verified.into(),
            Cell::marked(schemes.join(", ")),
            Cell::marked(format!("`{}`", entry.example)),
        ]
    };
    let name = format!("`{}`", managed::NAME);
    let (scheme, example) = (format!("`{}:`", managed::NAME), format!("`{}`", managed::EXAMPLE));
    let managed = [name, managed::SUMMARY.to_owned(), String::new(), scheme, example];
    let rows: Vec<Vec<Cell>> = drivers::all().map(row).collect();
    let mut table = Table::filled("targets", "", columns, rows);
    table.row(managed.map(Cell::marked));
    table
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
        "takes": parameter.placeholder(),
        "default": (!parameter.default.is_empty()).then_some(parameter.default),
        "help": parameter.help,
        "shapes_data": parameter.shapes_data,
    })
}

/// Parameters that belong to one owner, such as a workload, as listed by `dbdyno list parameters`:
/// each as users write it (key or flag), with its declaration.
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
            intro: "keys of a plan file, and flags of dbdyno run".to_owned(),
            rows: PLAN.iter().map(|row| both(&row.parameter)).collect(),
        },
        Section {
            title: "A group of clients".to_owned(),
            intro: "keys of a [[group]], and flags of dbdyno run".to_owned(),
            rows: GROUP
                .iter()
                .map(|row| &row.parameter)
                .map(|row| if has_flag(row) { both(row) } else { key(row) })
                .collect(),
        },
        Section {
            title: "An experiment".to_owned(),
            intro: "keys of [experiment], and flags of dbdyno run".to_owned(),
            rows: EXPERIMENT.iter().map(|row| both(&row.parameter)).collect(),
        },
        Section {
            title: "A disturbance".to_owned(),
            intro: "keys of an [[at]]; one of sql, command, server and hosts is the action"
                .to_owned(),
            rows: AT.iter().map(|row| key(&row.parameter)).collect(),
        },
    ];
    for entry in workloads::all() {
        sections.push(Section {
            title: format!("Workload {}", entry.name),
            intro: format!("{}; keys of a [[group]]'s parameters, and flags", entry.summary),
            rows: entry.parameters.iter().map(both).collect(),
        });
    }
    for entry in drivers::all() {
        let key = |row: &'static Parameter| (format!("`?{}=`", row.name), row);
        sections.push(Section {
            title: format!("Target {}", entry.name),
            intro: format!("{}; options of URLs such as {}", entry.summary, entry.example),
            rows: entry.parameters.iter().map(key).collect(),
        });
    }
    let key = |row: &'static Parameter| (format!("`?{}=`", row.name), row);
    let (summary, example) = (managed::SUMMARY, managed::EXAMPLE);
    sections.push(Section {
        title: format!("Target {}", managed::NAME),
        intro: format!("{summary}; options of URLs such as {example}"),
        rows: managed::PARAMETERS.iter().map(key).collect(),
    });
    sections
}

impl Section {
    fn json(&self) -> Value {
        let rows: Vec<Value> = self.rows.iter().map(|(_, row)| parameter_json(row)).collect();
        json!({"title": self.title, "parameters": rows})
    }

    fn table(&self) -> Table {
        let columns = [
            Column::words("written", "written"),
            Column::spare("takes", Align::Left, 1).key("takes"),
            Column::words("default", "default"),
            Column::sentences("what it is").key("help"),
        ];
        let row = |(written, row): &(String, &'static Parameter)| {
            let takes = row.placeholder();
            let (written, help) = (Cell::marked(written.as_str()), Cell::marked(row.help));
            vec![written, takes.into(), row.default.into(), help]
        };
        Table::filled("parameters", "", columns, self.rows.iter().map(row).collect())
    }
}

fn parameter_document(sections: &[Section]) -> Document {
    let mut page = Document::default();
    for section in sections {
        page.sections.push(render::document::Section {
            note: section.intro.clone(),
            ..render::document::Section::new(
                "parameters",
                section.title.as_str(),
                vec![Block::Table(section.table())],
            )
        });
    }
    page
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_of_docs_are_what_is_listed() {
        for what in ["parameters", "findings", "figures"] {
            let page = format!("docs/reference/{what}.md");
            let path = format!("{}/../../{page}", env!("CARGO_MANIFEST_DIR"));
            let written = std::fs::read_to_string(path).unwrap();
            let listed = markdown_of(what);
            let same = written.lines().zip(listed.lines()).take_while(|(a, b)| a == b).count();
            let stale = "not what dbdyno lists: run 'cargo xtask docs'";
            assert!(written == listed, "{page}:{}: {stale}", same + 1);
        }
    }
}
