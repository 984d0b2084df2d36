//! Brief help (`-h`): the options that most users need, one per line; `--help` lists all of them.
//!
//! Not here: descriptions of options (their commands).

use clap::{Arg, Command};
use model::numbers::wrap;

/// Maximum columns of a line of help; longer descriptions are cut.
pub(crate) const WIDTH: usize = 80;

/// Options that the brief help (`-h`) of `run` and `build` lists, in this order. Some are
/// parameters of workloads; no workload has all of them.
const CHOSEN: [(&str, &[&str]); 3] = [
    (
        "run",
        &[
            "target",
            "ask_password",
            "warehouses",
            "scale",
            "tables",
            "table_size",
            "mode",
            "clients",
            "duration",
            "ramp_up",
            "rate",
            "vary",
            "repeat",
            "require",
            "label",
            "full",
            "quiet",
            "no_store",
            "output",
            "store",
        ],
    ),
    (
        "tune",
        &[
            "target",
            "ask_password",
            "warehouses",
            "scale",
            "tables",
            "table_size",
            "clients",
            "duration",
            "ramp_up",
            "vary",
            "maximize",
            "minimize",
            "limits",
            "trials",
            "confirm_pairs",
            "strategy",
            "label",
            "quiet",
            "output",
            "store",
        ],
    ),
    (
        "build",
        &["target", "ask_password", "warehouses", "scale", "tables", "table_size", "loaders"],
    ),
];

/// Largest number of lines of a brief help.
const LINES_MOST: usize = 30;

/// Returns the brief help of the command at the end of `path`, such as `dbdyno runs list`.
pub(crate) fn page(command: &Command, path: &str) -> String {
    let name = path.split(' ').nth(1).unwrap_or_default();
    let chosen = CHOSEN.iter().find(|(listed, _)| *listed == name).map(|(_, names)| *names);
    let mut lines: Vec<String> = command.get_about().map(ToString::to_string).into_iter().collect();
    lines.extend([String::new(), format!("Usage: {}", usage(command, path)), String::new()]);
    let subcommands =
        command.get_subcommands().filter(|subcommand| subcommand.get_name() != "help");
    let rows = subcommands
        .map(|subcommand| (subcommand.get_name().to_owned(), about(subcommand)))
        .collect();
    lines.extend(aligned(rows, 0));
    let options: Vec<&Arg> = match chosen {
        Some(names) => names.iter().filter_map(|name| option(command, name)).collect(),
        None => command.get_arguments().filter(|arg| !arg.is_hide_set() && is_own(arg)).collect(),
    };
    let rows: Vec<(String, String)> = options.into_iter().map(row).collect();
    // An empty line and the last one follow.
    let spare = LINES_MOST.saturating_sub(lines.len() + rows.len() + 2);
    lines.extend(aligned(rows, spare));
    lines.push(String::new());
    let workloads =
        if ["run", "tune"].contains(&name) { "Workloads: dbdyno list workloads. " } else { "" };
    lines.push(format!("{workloads}All options, with examples: {path} --help"));
    lines.join("\n") + "\n"
}

/// Returns the brief help of the program: the commands by section, with descriptions except in the
/// last section.
pub(crate) fn of_program(command: &Command, sections: &[(&str, &[&str])]) -> String {
    let mut lines: Vec<String> = command.get_about().map(ToString::to_string).into_iter().collect();
    lines.extend([String::new(), "Usage: dbdyno <COMMAND> [OPTIONS]".to_owned()]);
    let (last, shown) = sections.split_last().expect("there are sections");
    for (title, names) in shown {
        lines.extend([String::new(), format!("{title}:")]);
        let entry = |name: &&str| Some(((*name).to_owned(), about(command.find_subcommand(name)?)));
        lines.extend(aligned(names.iter().filter_map(entry).collect(), 0));
    }
    let is_shown = |name: &&&str| {
        command.find_subcommand(name).is_some() && !["completions", "man"].contains(*name)
    };
    let more: Vec<&str> = last.1.iter().filter(is_shown).copied().collect();
    lines.extend([String::new(), format!("More commands: {}", more.join(", "))]);
    lines.push("Begin with: dbdyno run tpcc, then dbdyno web. All of it: dbdyno --help".to_owned());
    lines.join("\n") + "\n"
}

fn about(command: &Command) -> String {
    command.get_about().map(ToString::to_string).unwrap_or_default()
}

/// Returns true if an argument is the command's own, unlike `--help`, `--version`, or an option of
/// all commands.
fn is_own(arg: &Arg) -> bool {
    !matches!(arg.get_id().as_str(), "help" | "version" | "store" | "output")
}

fn option<'c>(command: &'c Command, name: &str) -> Option<&'c Arg> {
    command.get_arguments().find(|arg| arg.get_id() == name && !arg.is_hide_set())
}

fn usage(command: &Command, path: &str) -> String {
    let argument = |arg: &Arg| match arg.is_required_set() {
        true => format!(" <{}>", value_of(arg)),
        false => format!(" [{}]", value_of(arg)),
    };
    let given: String = command.get_positionals().map(argument).collect();
    match command.has_subcommands() {
        true if command.is_subcommand_required_set() => format!("{path} <COMMAND> [OPTIONS]"),
        true => format!("{path} [COMMAND] [OPTIONS]"),
        false => format!("{path}{given} [OPTIONS]"),
    }
}

/// Returns the placeholder for an argument's value: the name of the value, or the argument's id in
/// capitals if that name is a long list of choices.
fn value_of(arg: &Arg) -> String {
    const LETTERS_MOST: usize = 20;
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<&str> = names.iter().map(clap::builder::Str::as_str).collect();
    let names = names.join(" ");
    match names.is_empty() || names.len() > LETTERS_MOST && !arg.is_positional() {
        true => arg.get_id().as_str().to_uppercase(),
        false => names,
    }
}

/// Returns the syntax of an argument, such as `-o, --output <FORMAT>`, and its description. A set
/// of choices replaces the part of the description after the colon.
fn row(arg: &Arg) -> (String, String) {
    let takes = arg.get_action().takes_values() && !arg.is_positional();
    let value = if takes { format!(" <{}>", value_of(arg)) } else { String::new() };
    let written = match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long}{value}"),
        (None, Some(long)) => format!("    --{long}{value}"),
        (Some(short), None) => format!("-{short}{value}"),
        (None, None) => format!("<{}>", value_of(arg)),
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let values = arg.get_value_names().unwrap_or_default().first().map(|name| name.as_str());
    // The values of a choice are shorter than their description.
    let described = help.split_once(": ").filter(|(what, _)| !what.contains(" ["));
    match (described, values.filter(|values| values.contains('|'))) {
        (Some((what, _)), Some(values)) => (written, format!("{what}: {values}")),
        _ => (written, help),
    }
}

/// Formats pairs of name and description as lines with aligned descriptions, which are cut to fit
/// at the end of a clause or word. An argument's, or one that is cut within a clause, takes further
/// lines instead, of which there are `spare`.
fn aligned(rows: Vec<(String, String)>, mut spare: usize) -> Vec<String> {
    const NAMES_MOST: usize = 30;
    let lengths = rows.iter().map(|(name, _)| name.chars().count());
    let width = lengths.filter(|length| *length <= NAMES_MOST).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (name, help) in &rows {
        let used = 4 + width.max(name.chars().count());
        let room = WIDTH.saturating_sub(used);
        let short = cut(help, room);
        // What stands for the value must be said as a whole.
        let is_whole = name.starts_with('<') || short.ends_with('…');
        let first = help.lines().next().unwrap_or_default();
        let whole = wrap(first, room);
        let shown = match is_whole && whole.len() <= spare + 1 {
            true => whole,
            false => vec![short],
        };
        spare -= shown.len() - 1;
        for (nth, text) in shown.iter().enumerate() {
            let name = if nth == 0 { name } else { "" };
            lines.push(format!("  {name:<width$}  {text}").trim_end().to_owned());
        }
    }
    lines
}

/// Returns the start of a text's first line, as long as fits into `width` columns: up to the end of
/// a clause, or else of a word, with an ellipsis.
fn cut(text: &str, width: usize) -> String {
    let text = text.lines().next().unwrap_or_default();
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let head: String = text.chars().take(width).collect();
    let brackets = [" (", " ["];
    // Do not cut within brackets.
    let opened = brackets.iter().filter_map(|mark| head.rfind(mark)).max();
    if let Some(at) = opened.filter(|at| !head[*at..].contains([')', ']'])) {
        return head[..at].to_owned();
    }
    let rest = &text[head.len()..];
    if brackets.iter().any(|mark| rest.starts_with(mark)) {
        return head;
    }
    // Part of a list looks like all of it.
    if let Some(at) = head.rfind(": ").filter(|at| head[*at..].contains(", ")) {
        return head[..at].to_owned();
    }
    let clauses = [": ", "; ", ", "];
    let end = clauses.iter().filter_map(|mark| head.rfind(mark)).max();
    // At least half a line.
    // A single word behind a semicolon, such as a value, says nothing without its meaning.
    let is_bare = |from: usize, end: usize| !head[from + "; ".len()..end].contains(' ');
    let end = end.map(|end| match head[..end].rfind("; ") {
        Some(from) if is_bare(from, end) => from,
        _ => end,
    });
    match end.filter(|end| *end > width / 2) {
        Some(end) => head[..end].to_owned(),
        // The ellipsis and its blank must fit.
        None => match text.chars().take(width - 1).collect::<String>().rsplit_once(' ') {
            Some((words, _)) => format!("{words} …"),
            None => head,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::{SECTIONS, command};
    use super::*;

    #[test]
    fn what_an_argument_stands_for_is_said_as_a_whole_and_no_clause_is_cut() {
        let words = ["dbdyno".to_owned()];
        let whole = command(&words).unwrap();
        let page_of = |path: &[&str]| {
            let mut at = &whole;
            for name in path {
                at = at.find_subcommand(name).expect("a command");
            }
            page(at, &format!("dbdyno {}", path.join(" ")))
        };
        let show = page_of(&["runs", "show"]);
        assert!(show.contains("or 'last' (the newest run)"), "{show}");
        assert!(show.contains("[default: fail]\n"), "{show}");
        let drop = page_of(&["drop"]);
        assert!(!show.contains('…') && !drop.contains('…'), "{show}{drop}");
        let build = page_of(&["build"]);
        assert!(build.contains("where supported\n"), "{build}");
    }

    fn check(page: &str, path: &str) {
        let n_lines = page.lines().count();
        assert!(n_lines <= LINES_MOST, "{path} -h has {n_lines} lines:\n{page}");
        let widest = page.lines().map(|line| line.chars().count()).max();
        assert!(widest <= Some(WIDTH), "{path} -h: {widest:?}\n{page}");
    }

    fn walk(command: &Command, path: &str) {
        check(&page(command, path), path);
        for sub in command.get_subcommands() {
            walk(sub, &format!("{path} {}", sub.get_name()));
        }
    }

    #[test]
    fn each_brief_help_fits_a_screen() {
        for workload in std::iter::once("-").chain(workloads::all().map(|entry| entry.name)) {
            for verb in ["run", "build"] {
                let words = ["dbdyno", verb, workload].map(str::to_owned);
                let all = command(&words).expect("a command");
                check(&of_program(&all, SECTIONS), "dbdyno");
                for sub in all.get_subcommands() {
                    walk(sub, &format!("dbdyno {}", sub.get_name()));
                }
            }
        }
    }

    #[test]
    fn what_is_chosen_exists() {
        for (name, options) in CHOSEN {
            let load_command =
                |workload: &str| command(&["dbdyno", name, workload].map(str::to_owned));
            let known = ["tpcc", "tpcb", "oltp-read-write"]
                .map(|workload| load_command(workload).expect(name));
            for option_name in options {
                let has = |all: &Command| {
                    let sub = all.find_subcommand(name).expect("a command");
                    option(sub, option_name).is_some() || option(all, option_name).is_some()
                };
                assert!(known.iter().any(has), "{name}: {option_name}");
            }
        }
    }
}
