//! Documents as text for a terminal: verdicts, validity with its reasons, sections, and notes last.
//!
//! Charts and folded blocks are left out. Not here: the terminal itself (dbdyno).

use model::Severity;
use model::numbers::wrap;

use crate::commands::command_lines;
use crate::document::{Block, Document, Remark, Section, Sketch, Text, Validity, Verdict};
use crate::spark::{marks, sparkline};
use crate::table::Table;

/// Settings with which a document is formatted as text: colours and width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True if text has ANSI colours.
    pub color: bool,
    /// Width in columns, which should be at least 60.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { color: false, width: PAGE_WIDTH }
    }
}

/// Default width of a page if there is no terminal, in columns.
pub const PAGE_WIDTH: usize = 96;

/// Default width of a list if there is no terminal, in columns.
pub const LIST_WIDTH: usize = 120;

/// Width of the labels, such as `latency`, to the left of texts, in columns.
const LABEL: usize = 12;

/// Colour or weight of text on a terminal (ECMA-48, SGR).
#[derive(Clone, Copy)]
pub(crate) enum Emphasis {
    Bold,
    Dim,
    Red,
    Yellow,
}

impl Style {
    pub(crate) fn emphasize(&self, emphasis: Emphasis, text: &str) -> String {
        if !self.color {
            return text.to_owned();
        }
        let code = match emphasis {
            Emphasis::Bold => 1,
            Emphasis::Dim => 2,
            Emphasis::Red => 31,
            Emphasis::Yellow => 33,
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// Returns a document as text for a terminal.
pub fn text(document: &Document, style: &Style) -> String {
    let mut parts: Vec<Vec<String>> = Vec::new();
    parts.push(head(&document.verdicts, style));
    parts.push(of_blocks(&document.summary, style));
    let (answering, others) = document.sections.split_at(document.n_answering);
    let of_sections = |all: &[Section]| -> Vec<Vec<String>> {
        all.iter().map(|section| of_section(section, style)).collect()
    };
    // An invalid result says so, with the reason, before any figure.
    let is_invalid = |validity: &Validity| validity.count(Severity::Invalid) > 0;
    let is_early = answering.is_empty() || document.validity.as_ref().is_some_and(is_invalid);
    let of_validity = |lines: fn(&Validity, &Style) -> Vec<String>| {
        document.validity.as_ref().map(|validity| lines(validity, style)).unwrap_or_default()
    };
    let (mut answer, mut grave) = (of_validity(of_answer), of_validity(of_grave));
    if is_early {
        answer.append(&mut grave);
    }
    parts.push(answer);
    parts.extend(of_sections(answering));
    parts.push(grave);
    parts.extend(of_sections(others));
    parts.push(document.scene.iter().flat_map(|words| wrap(words, style.width)).collect());
    parts.extend(document.validity.iter().map(|validity| notes(validity, style)));
    parts.extend(document.repeat.iter().map(|section| of_section(section, style)));
    let shown = parts.into_iter().filter(|lines| !lines.is_empty());
    let parts: Vec<String> = shown.map(|lines| lines.join("\n") + "\n").collect();
    parts.join("\n")
}

/// Writes a document as text for a terminal of `rows` lines. If the page is longer than that, the
/// result, with which it begins, goes to its end: its beginning is out of sight.
pub fn text_on(document: &Document, style: &Style, rows: usize) -> String {
    let page = text(document, style);
    if page.lines().count() < rows {
        return page;
    }
    let is_grave: fn(&Remark) -> bool = |remark| remark.severity > Severity::Note;
    let divided = [is_grave, |_| false].into_iter().map(|is_result| {
        document.clone().with_result_last(is_result).map(|part| text(&part, style))
    });
    // Without an empty line and the prompt, a result that fits is in sight as a whole.
    let fits = |parts: &[String; 2]| parts[1].lines().count() + 1 < rows;
    let found = divided.filter(|parts| parts.iter().all(|part| !part.trim().is_empty())).find(fits);
    found.map_or(page, |[rest, result]| format!("{rest}\n{result}"))
}

/// Writes the headlines of verdicts in bold, each with its details. An empty line separates
/// verdicts with details.
fn head(verdicts: &[Verdict], style: &Style) -> Vec<String> {
    let mut lines = Vec::new();
    for (index, verdict) in verdicts.iter().enumerate() {
        let is_apart = index > 0 && !verdicts[index - 1].details.is_empty();
        lines.extend(is_apart.then(String::new));
        let headline = wrap(&verdict.headline.plain(), style.width);
        lines.extend(headline.iter().map(|line| style.emphasize(Emphasis::Bold, line)));
        lines.extend(paragraphs(&verdict.details, style));
    }
    lines
}

/// Returns the sentence on the validity of a result as lines, in red if it is invalid, else in
/// bold.
fn of_answer(validity: &Validity, style: &Style) -> Vec<String> {
    let emphasis =
        if validity.count(Severity::Invalid) > 0 { Emphasis::Red } else { Emphasis::Bold };
    if validity.answer.is_empty() {
        return Vec::new();
    }
    let title = wrap(&validity.answer, style.width);
    title.iter().map(|line| style.emphasize(emphasis, line)).collect()
}

/// Returns lines with those remarks on a result that are more severe than notes: warnings, and
/// reasons why it is invalid.
fn of_grave(validity: &Validity, style: &Style) -> Vec<String> {
    let grave = validity.remarks.iter().filter(|remark| remark.severity > Severity::Note);
    grave.flat_map(|remark| of_remark(remark, style)).collect()
}

/// Returns lines with those remarks on a result that are notes, the mildest severity.
fn notes(validity: &Validity, style: &Style) -> Vec<String> {
    let notes = validity.remarks.iter().filter(|remark| remark.severity == Severity::Note);
    notes.flat_map(|remark| of_remark(remark, style)).collect()
}

fn of_remark(remark: &Remark, style: &Style) -> Vec<String> {
    let (word, emphasis) = match remark.severity {
        Severity::Invalid => ("INVALID", Emphasis::Red),
        Severity::Warning => ("warning", Emphasis::Yellow),
        Severity::Note => ("note", Emphasis::Dim),
    };
    // A remark with lines of a log keeps their line breaks.
    let words = remark.text.plain();
    let labels = std::iter::once(word).chain(std::iter::repeat(""));
    let mut lines: Vec<String> =
        labels.zip(words.lines()).flat_map(|(label, line)| labelled(label, line, style)).collect();
    if let Some(first) = lines.first_mut() {
        *first = first.replacen(word, &style.emphasize(emphasis, word), 1);
    }
    lines
}

/// Returns true if a section would print nothing as text, such as one that has only charts.
pub fn is_blank(section: &Section) -> bool {
    let style = Style { color: false, width: 80 };
    of_section(section, &style).iter().all(|line| line.trim().is_empty())
}

/// Returns the lines of a section as text. Its title is among them only if it has a note.
fn of_section(section: &Section, style: &Style) -> Vec<String> {
    let mut lines = of_blocks(&section.blocks, style);
    if !lines.is_empty() && !section.note.is_empty() {
        let title = wrap(&format!("{}: {}", section.title, section.note), style.width);
        let title = title.iter().map(|line| style.emphasize(Emphasis::Bold, line));
        lines.splice(0..0, title);
    }
    lines
}

fn of_blocks(blocks: &[Block], style: &Style) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for block in blocks {
        let more = of_block(block, style);
        if let Block::Part(title, _) = block
            && !more.is_empty()
        {
            lines.extend((!lines.is_empty()).then(String::new));
            lines.extend((!title.is_empty()).then(|| style.emphasize(Emphasis::Bold, title)));
        }
        lines.extend(more);
    }
    lines
}

fn of_block(block: &Block, style: &Style) -> Vec<String> {
    match block {
        Block::Paragraphs(all) => paragraphs(all, style),
        Block::Verbatim(text) => text.lines().map(str::to_owned).collect(),
        Block::Next(commands) => of_commands(commands, style),
        Block::Pairs(pairs) => {
            let lines = |(label, text): &(String, Text)| labelled(label, &text.plain(), style);
            pairs.iter().flat_map(lines).collect()
        }
        Block::Table(table) => of_table(table, style),
        Block::Sketch(sketch) => of_sketch(sketch, style),
        Block::Part(_, blocks) => of_blocks(blocks, style),
        Block::Details(details) => of_blocks(&details.otherwise, style),
        Block::Charts(_) | Block::FlameGraph(_) => Vec::new(),
    }
}

/// Returns suggested commands as lines below `Next:`, each command unbroken so that it can be
/// pasted into a shell.
fn of_commands(commands: &[(String, String)], style: &Style) -> Vec<String> {
    let lines = command_lines(commands, style.width.saturating_sub(COMMAND_INDENT.len()));
    let lines = lines.into_iter().map(|line| format!("{COMMAND_INDENT}{line}"));
    std::iter::once("Next:".to_owned()).chain(lines).collect()
}

/// Indentation of each suggested command below the word `Next:`.
const COMMAND_INDENT: &str = "  ";

fn paragraphs(all: &[Text], style: &Style) -> Vec<String> {
    all.iter().flat_map(|text| wrap(&text.plain(), style.width)).collect()
}

/// Returns a table as lines: title, column titles in bold, rows, and the names of columns that are
/// hidden for lack of width. A table without rows becomes the text set for that.
pub fn of_table(table: &Table, style: &Style) -> Vec<String> {
    if let Some(words) = table.nothing() {
        return vec![words.to_owned()];
    }
    let mut bands = table.bands(style.width);
    for band in &mut bands {
        band[0] = style.emphasize(Emphasis::Bold, &band[0]);
    }
    let mut lines = bands.join(&String::new());
    if !table.title.is_empty() {
        let title = wrap(&table.title, style.width);
        lines.splice(0..0, title.into_iter().chain([String::new()]));
    }
    lines.extend(table.rest());
    let left_out = table.left_out(style.width);
    if !left_out.is_empty() {
        let columns = if left_out.len() == 1 { "column" } else { "columns" };
        let (names, width) = (left_out.join(", "), table.width());
        let words = format!("{columns} hidden, too narrow: {names} (COLUMNS={width} shows all)");
        let words = wrap(&words, style.width);
        lines.extend(words.iter().map(|line| style.emphasize(Emphasis::Dim, line)));
    }
    lines
}

fn of_sketch(sketch: &Sketch, style: &Style) -> Vec<String> {
    let Sketch { title, values, marks: at } = sketch;
    let is_narrow = values.len() > style.width;
    let title = match (title.is_empty(), is_narrow) {
        (false, true) => format!("{title}; each block shows the worst of its values"),
        (true, true) => "Each block shows the worst of its values:".to_owned(),
        (_, false) => title.clone(),
    };
    let mut lines = Vec::new();
    if !title.is_empty() {
        lines.push(style.emphasize(Emphasis::Bold, &title));
    }
    lines.push(sparkline(values, style.width));
    if !at.is_empty() {
        lines.push(marks(at, values.len(), style.width));
    }
    lines
}

/// Returns a label and the wrapped text beside it as lines. Texts begin at the same column for all
/// labels. Empty if there is no text.
pub(crate) fn labelled(label: &str, words: &str, style: &Style) -> Vec<String> {
    match words.is_empty() {
        true => Vec::new(),
        false => hanging(label, words, LABEL, style.width),
    }
}

/// Returns a label and a wrapped text as lines of at most `width` columns. The text begins at
/// column `indent` in each.
pub(crate) fn hanging(label: &str, words: &str, indent: usize, width: usize) -> Vec<String> {
    let lines = wrap(words, width.saturating_sub(indent).max(20));
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let line = |(label, line): (&str, String)| {
        let is_full = label.chars().count() >= indent;
        let gap = if is_full && !label.is_empty() && !label.ends_with(' ') { " " } else { "" };
        format!("{label:<indent$}{gap}{line}")
    };
    labels.zip(lines).map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Tone;

    fn remark(severity: Severity, text: &str) -> Remark {
        Remark { severity, text: Text::from(text) }
    }

    #[test]
    fn a_page_longer_than_the_terminal_ends_with_its_result_and_prints_nothing_twice() {
        let mut page = Document::new("run", "tpcc");
        page.verdicts = vec![Verdict {
            tone: Tone::Good,
            word: String::new(),
            headline: Text::from("tpcc, 4 clients"),
            details: Vec::new(),
        }];
        page.summary = vec![Block::pairs(vec![("throughput", "900 TPS".to_owned())])];
        let remarks = [remark(Severity::Warning, "uneven"), remark(Severity::Note, "closed")];
        let answer = "Valid, with 1 warning.".to_owned();
        page.validity = Some(Validity { answer, remarks: remarks.to_vec() });
        page.section("next", "", vec![Block::paragraphs(["stored as 1".to_owned()])]);
        let style = Style::default();
        let whole = text(&page, &style);
        let n_lines = whole.lines().count();
        assert_eq!(text_on(&page, &style, n_lines + 1), whole);
        let check = |rows: usize, expect: &[&str]| {
            let shown = text_on(&page, &style, rows);
            let lines: Vec<&str> = shown.lines().filter(|line| !line.is_empty()).collect();
            assert_eq!(lines, expect, "{rows}");
        };
        let result = ["tpcc, 4 clients", "throughput  900 TPS", "Valid, with 1 warning."];
        let others = ["stored as 1", "note        closed"];
        let warning = ["warning     uneven"];
        check(n_lines, &[&others[..], &result, &warning].concat());
        // A warning for which there is no room stands above.
        check(7, &[&warning[..], &others, &result].concat());
        check(5, &[&result[..], &warning, &others].concat());
    }
}
