//! A page as a value: headline, verdicts, tiles and sections of paragraphs, tables and charts,
//! whether the result is valid, and how to make it again.
//!
//! A kind of report is one function that builds a [`Document`]; terminal, HTML, Markdown and CSV
//! are four printers of it ([`crate::terminal`], [`crate::html`], [`crate::markdown`],
//! [`crate::csv`]). Not here: how anything looks.

use model::finding_catalog::CATALOG;
use model::numbers::{INFINITE, NONE, count, significant, value_and_error};
use model::{Finding, Severity};

use crate::charts::Chart;
use crate::commands::command_lines;
use crate::flame_graph::FlameGraph;
use crate::table::{Cell, Table};

/// Largest number of findings that the summary of several runs names.
const NAMED_MOST: usize = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Kind of the page and its subject.
    pub kind: String,
    pub title: String,
    /// The question that the page answers, in sentences.
    pub question: Vec<String>,
    /// The environment of the measurements, in sentences, for a page that is read alone.
    pub scene: Vec<String>,
    /// The answers, the most important first.
    pub verdicts: Vec<Verdict>,
    /// Key figures. The headline of a verdict has them in words, and is left out if tiles are
    /// drawn.
    pub tiles: Vec<Tile>,
    /// Summary in lines, for a first page on a terminal; may be empty.
    pub summary: Vec<Block>,
    /// Validity of the result.
    pub validity: Option<Validity>,
    pub sections: Vec<Section>,
    /// Number of leading sections that answer the question: where nothing is drawn they come before
    /// the remarks.
    pub n_answering: usize,
    /// The last section: identity of the page's subject, and the commands to repeat it.
    pub repeat: Option<Section>,
}

/// An answer to the question of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub tone: Tone,
    /// The verdict in a word or two, for pages that have colours; may be empty.
    pub word: String,
    pub headline: Text,
    /// Further sentences below the headline.
    pub details: Vec<Text>,
}

/// Id of the section with the commands to repeat a run.
pub const REPEAT: &str = "repeat";

/// The tone of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Plain,
    Warning,
    Bad,
}

/// A figure at the head of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    pub name: String,
    pub value: Quantity,
    /// A remark; may be empty.
    pub note: String,
    /// Course over time, at equal distances; may be empty.
    pub trend: Vec<f64>,
}

/// A number with its error and unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantity {
    pub value: Value,
    pub error: Uncertainty,
    /// The unit; empty if it has none.
    pub unit: &'static str,
    /// Significant digits of a value without a half-width.
    pub digits: usize,
}

/// A number, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Value {
    /// It is not known.
    #[default]
    Unknown,
    Known(f64),
    AtLeast(f64),
    /// Infinite, because transactions were lost.
    Infinite,
}

/// Significant digits of a bound in a table.
const BOUND_DIGITS: usize = 3;

/// Significant digits of a number whose error exceeds it.
const CLIPPED_DIGITS: usize = 2;

/// The error of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Uncertainty {
    /// No error is known.
    #[default]
    Unknown,
    /// Half the width of a symmetric interval.
    HalfWidth(f64),
    /// Lower and upper end; `None` is infinite, among lost transactions.
    Interval(f64, Option<f64>),
}

/// The validity of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Validity {
    /// The answer in a sentence.
    pub answer: String,
    /// Findings and other remarks.
    pub remarks: Vec<Remark>,
}

/// A remark on a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    pub severity: Severity,
    pub text: Text,
}

/// The place of a section on a page that draws charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Before the others: its charts are the most important ones.
    First,
    /// Before those in order: it explains the result.
    Early,
    /// In the order of the document.
    #[default]
    InOrder,
    /// After the others: it is long.
    Last,
}

/// A part of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Anchor of the section in addresses.
    pub id: &'static str,
    pub title: String,
    /// Description of its figures; may be empty.
    pub note: String,
    pub blocks: Vec<Block>,
    /// Place on a page that draws charts.
    pub where_drawn: Place,
}

/// A part of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Paragraphs(Vec<Text>),
    /// Preformatted text: commands, plans, output.
    Verbatim(String),
    /// Suggested commands, each with its purpose.
    Next(Vec<(String, String)>),
    /// Labels with texts; the label of a continuation is empty.
    Pairs(Vec<(String, Text)>),
    Table(Table),
    /// Charts, for media that can draw them.
    Charts(Vec<Chart>),
    /// Sampled stacks, for media that can draw them.
    FlameGraph(FlameGraph),
    /// A curve in one line, for media that cannot draw charts.
    Sketch(Sketch),
    /// Blocks with a title of their own.
    Part(String, Vec<Block>),
    /// Blocks that are folded until the reader opens them.
    Details(Details),
}

/// A curve in one line of block characters.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    pub title: String,
    /// Values, at equal distances.
    pub values: Vec<f64>,
    /// Indices of values that are marked.
    pub marks: Vec<usize>,
}

/// Blocks that are folded where a page can fold.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    pub title: String,
    pub blocks: Vec<Block>,
    /// Length, which decides whether it is printed.
    pub length: Length,
    /// Blocks that replace it on a page that cannot fold.
    pub otherwise: Vec<Block>,
}

/// The length of details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Short enough for paper.
    Short,
    /// Long machine output, which is not printed.
    Long,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(pub Vec<Span>);

/// A part of inline text.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    Words(String),
    Strong(String),
    /// Text that is typed into a shell.
    Code(String),
    Quantity(Quantity),
    /// A link to another page, in media that have addresses.
    Link(Link),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// The page of a run, by its id.
    Run(String),
    /// The comparison of two values of a label.
    Comparison {
        by: String,
        /// The label's value of the baseline.
        baseline: String,
        /// The label's value of the other side.
        side: String,
    },
}

/// Makes the section of suggested commands.
pub fn next(commands: &[(String, String)]) -> Section {
    Section::new("next", "Next", vec![Block::Next(commands.to_vec())])
}

/// Replaces `dbdyno` by `program` in the block's commands.
fn called(block: Block, program: &str) -> Block {
    let command = |line: &str| {
        let words = line.trim_start();
        match words.strip_prefix("dbdyno ") {
            Some(rest) => {
                let indent = &line[..line.len() - words.len()];
                let further = |line: String, joint: &str| {
                    line.replace(&format!("{joint} dbdyno "), &format!("{joint} {program} "))
                };
                let rest = ["|", "&&"].into_iter().fold(rest.to_owned(), further);
                format!("{indent}{program} {rest}")
            }
            None => line.to_owned(),
        }
    };
    let in_text = |text: Text| {
        let of_span = |span| match span {
            Span::Code(words) => Span::Code(command(&words)),
            other => other,
        };
        Text(text.0.into_iter().map(of_span).collect())
    };
    match block {
        Block::Next(all) => {
            Block::Next(all.into_iter().map(|(line, why)| (command(&line), why)).collect())
        }
        Block::Verbatim(text) => {
            Block::Verbatim(text.lines().map(command).collect::<Vec<_>>().join("\n"))
        }
        Block::Paragraphs(all) => Block::Paragraphs(all.into_iter().map(in_text).collect()),
        Block::Pairs(all) => {
            Block::Pairs(all.into_iter().map(|(label, text)| (label, in_text(text))).collect())
        }
        Block::Part(title, blocks) => {
            Block::Part(title, blocks.into_iter().map(|block| called(block, program)).collect())
        }
        other => other,
    }
}

impl Document {
    /// Replaces `dbdyno` by `program`, a path, in all commands.
    pub fn called(mut self, program: &str) -> Document {
        for section in self.sections.iter_mut().chain(&mut self.repeat) {
            let blocks = std::mem::take(&mut section.blocks);
            section.blocks = blocks.into_iter().map(|block| called(block, program)).collect();
        }
        self
    }

    /// Makes an empty page.
    pub fn new(kind: impl Into<String>, title: impl Into<String>) -> Document {
        Document { kind: kind.into(), title: title.into(), ..Document::default() }
    }

    pub fn section(&mut self, id: &'static str, title: impl Into<String>, blocks: Vec<Block>) {
        self.sections.push(Section::new(id, title, blocks));
    }

    /// Returns all tables, in the order of the page, including folded ones.
    pub fn tables(&self) -> Vec<&Table> {
        let sections = self.sections.iter().chain(&self.repeat);
        sections.flat_map(|section| tables_of(&section.blocks)).collect()
    }
}

impl From<Vec<Table>> for Document {
    fn from(tables: Vec<Table>) -> Document {
        let mut document = Document::default();
        for table in tables {
            document.section(table.name, "", vec![Block::Table(table)]);
        }
        document
    }
}

fn tables_of(blocks: &[Block]) -> Vec<&Table> {
    let mut tables = Vec::new();
    for block in blocks {
        match block {
            Block::Table(table) => tables.push(table),
            Block::Part(_, blocks) => tables.extend(tables_of(blocks)),
            Block::Details(details) => tables.extend(tables_of(&details.blocks)),
            _ => {}
        }
    }
    tables
}

impl Section {
    /// Makes a section without a note.
    pub fn new(id: &'static str, title: impl Into<String>, blocks: Vec<Block>) -> Section {
        Section { id, title: title.into(), blocks, ..Section::default() }
    }
}

impl Block {
    /// Makes a block of paragraphs.
    pub fn paragraphs<T: Into<Text>>(all: impl IntoIterator<Item = T>) -> Block {
        Block::Paragraphs(all.into_iter().map(Into::into).collect())
    }

    /// Makes a block of labelled texts.
    pub fn pairs<L: Into<String>, T: Into<Text>>(all: impl IntoIterator<Item = (L, T)>) -> Block {
        let pair = |(label, text): (L, T)| (label.into(), text.into());
        Block::Pairs(all.into_iter().map(pair).collect())
    }

    /// Makes a block of runs by labels.
    pub fn runs<'r, L: Into<String>>(all: impl IntoIterator<Item = (L, &'r [String])>) -> Block {
        Block::pairs(all.into_iter().map(|(label, runs)| (label, Text::runs(runs))))
    }

    /// Makes a block of commands, each with its purpose, that every page shows. Each line can be
    /// pasted into a shell.
    pub fn commands(all: &[(String, String)]) -> Block {
        Block::Verbatim(command_lines(all, usize::MAX).join("\n"))
    }

    /// Makes folded blocks, which are left out where a page cannot fold.
    pub fn details(title: impl Into<String>, length: Length, blocks: Vec<Block>) -> Block {
        Block::Details(Details { title: title.into(), blocks, length, otherwise: Vec::new() })
    }
}

impl Validity {
    /// Makes the validity from findings, with a summary.
    pub fn from_findings(answer: impl Into<String>, findings: &[Finding]) -> Validity {
        Validity {
            answer: answer.into(),
            remarks: findings.iter().map(Remark::from_finding).collect(),
        }
    }

    /// Makes the validity from remarks on several runs, with a summary by severity; `None` if there
    /// are none.
    pub fn of_remarks(remarks: Vec<Remark>) -> Option<Validity> {
        Validity::with_word("Valid", remarks)
    }

    /// Makes the same for a result that is not simply valid: `word` says what it is, such as
    /// `Interrupted`.
    pub fn with_word(word: &str, remarks: Vec<Remark>) -> Option<Validity> {
        let mut validity = Validity { answer: String::new(), remarks };
        let (n_warnings, names) = (validity.count(Severity::Warning), validity.named());
        // One more name is no longer than an ellipsis.
        let n_shown = if names.len() > NAMED_MOST + 1 { NAMED_MOST } else { names.len() };
        let more = if names.len() > n_shown { ", ..." } else { "" };
        let named = match &names[..n_shown] {
            [] => String::new(),
            shown => format!(" ({}{more})", shown.join(", ")),
        };
        validity.answer = match (validity.count(Severity::Invalid), n_warnings) {
            (1.., _) => "NOT VALID.".to_owned(),
            (0, 0) => format!("{word}, with notes."),
            // A remark on several runs names several findings.
            (0, n) => {
                let n = n.max(names.len()) as u64;
                format!("{word}, with {}{named}.", count(n, "warning"))
            }
        };
        (!validity.remarks.is_empty()).then_some(validity)
    }

    /// Returns the findings that the warnings name, in their order: `other cpu load`.
    fn named(&self) -> Vec<String> {
        let warnings = self.remarks.iter().filter(|of| of.severity == Severity::Warning);
        let texts: Vec<String> = warnings.map(|of| of.text.plain()).collect();
        let place = |id: &str| {
            let (begins, ends) = (format!("{id} ("), format!("({id})"));
            texts.iter().position(|text| text.starts_with(&begins) || text.contains(&ends))
        };
        let named = CATALOG.iter().filter_map(|of| Some((place(of.id)?, of.id.replace('_', " "))));
        let mut all: Vec<(usize, String)> = named.collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns the number of remarks of a severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.remarks.iter().filter(|remark| remark.severity == severity).count()
    }
}

impl Remark {
    /// Makes a remark of a severity.
    pub fn new(severity: Severity, text: impl Into<Text>) -> Remark {
        Remark { severity, text: text.into() }
    }

    /// Makes a remark of a finding.
    pub fn from_finding(finding: &Finding) -> Remark {
        Remark::new(finding.severity, finding.text.as_str())
    }
}

impl Quantity {
    /// Makes a quantity that cannot be negative, such as a rate, with half the width of its
    /// interval if it is known: the interval is cut at 0.
    pub fn at_least_zero(value: Option<f64>, half_width: Option<f64>) -> Quantity {
        let (error, digits) = match (value, half_width) {
            (Some(value), Some(half_width)) if half_width > value => {
                (Uncertainty::Interval(0.0, Some(value + half_width)), CLIPPED_DIGITS)
            }
            (_, Some(half_width)) => (Uncertainty::HalfWidth(half_width), 4),
            (_, None) => (Uncertainty::Unknown, 4),
        };
        Quantity { value: value.map_or(Value::Unknown, Value::Known), error, unit: "", digits }
    }

    /// Makes a number without an error, with `digits` significant digits.
    pub fn number(value: f64, digits: usize, unit: &'static str) -> Quantity {
        Quantity { value: Value::Known(value), error: Uncertainty::Unknown, unit, digits }
    }

    /// Returns the value with its unit.
    pub fn value(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match (self.value, self.error) {
            (Value::Unknown, _) => NONE.to_owned(),
            (Value::Infinite, _) => INFINITE.to_owned(),
            (Value::Known(value), Uncertainty::HalfWidth(half_width)) => {
                value_and_error(value, half_width).0 + &unit
            }
            (Value::Known(value), _) => significant(value, self.digits) + &unit,
            (Value::AtLeast(value), _) => format!("≥ {}{unit}", significant(value, self.digits)),
        }
    }

    /// Returns the error as text; empty if it is not known.
    pub fn error(&self) -> String {
        match (self.value, self.error) {
            (Value::Known(value), Uncertainty::HalfWidth(half_width)) => {
                format!("± {}", value_and_error(value, half_width).1)
            }
            (_, Uncertainty::Interval(low, high)) => {
                let high =
                    high.map_or_else(|| INFINITE.to_owned(), |n| significant(n, self.digits));
                format!("{} to {high}", significant(low, self.digits))
            }
            _ => String::new(),
        }
    }
}

impl From<Value> for Cell {
    fn from(value: Value) -> Cell {
        match value {
            Value::Unknown => Cell::None,
            Value::Known(value) => value.into(),
            Value::AtLeast(least) => {
                Cell::said(format!("≥ {}", significant(least, BOUND_DIGITS)), None)
            }
            Value::Infinite => Cell::Infinite,
        }
    }
}

impl std::fmt::Display for Quantity {
    /// Writes `451.8 TPS ± 6.8` or `84.4 ms (81.9 to 88.0)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (value, error) = (self.value(), self.error());
        match self.error {
            _ if error.is_empty() => f.write_str(&value),
            Uncertainty::Interval(..) => write!(f, "{value} ({error})"),
            _ => write!(f, "{value} {error}"),
        }
    }
}

impl Text {
    /// Lists ids of runs, separated by commas.
    pub fn runs(runs: &[String]) -> Text {
        let mut text = Text::default();
        for (index, run) in runs.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            text = text.and(comma).and(Span::Link(Link::Run(run.clone())));
        }
        text
    }

    pub fn and(mut self, more: impl Into<Span>) -> Text {
        match (self.0.last_mut(), more.into()) {
            (Some(Span::Words(words)), Span::Words(more)) => words.push_str(&more),
            (_, Span::Words(more)) if more.is_empty() => {}
            (_, more) => self.0.push(more),
        }
        self
    }

    /// Returns true if the text is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text in plain words.
    pub fn plain(&self) -> String {
        let span = |span: &Span| match span {
            Span::Words(words) | Span::Strong(words) | Span::Code(words) => words.clone(),
            Span::Quantity(quantity) => quantity.to_string(),
            Span::Link(link) => link.plain(),
        };
        self.0.iter().map(span).collect()
    }
}

impl Link {
    /// Returns a command or an id that shows the target in a shell.
    pub fn plain(&self) -> String {
        match self {
            Link::Run(id) => id.clone(),
            Link::Comparison { by, baseline, side } => {
                let words = [baseline, side].map(|name| crate::for_shell(&format!("{by}={name}")));
                format!("dbdyno compare {}", words.join(" "))
            }
        }
    }
}

impl From<String> for Text {
    fn from(words: String) -> Text {
        Text::default().and(words)
    }
}

impl From<&str> for Text {
    fn from(words: &str) -> Text {
        words.to_owned().into()
    }
}

impl From<String> for Span {
    fn from(words: String) -> Span {
        Span::Words(words)
    }
}

impl From<&str> for Span {
    fn from(words: &str) -> Span {
        Span::Words(words.to_owned())
    }
}

impl From<Quantity> for Span {
    fn from(quantity: Quantity) -> Span {
        Span::Quantity(quantity)
    }
}

impl From<Link> for Span {
    fn from(link: Link) -> Span {
        Span::Link(link)
    }
}
