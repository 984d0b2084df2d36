//! A page as a value: headline, verdicts, tiles, validity, sections of paragraphs, tables and
//! charts, and commands to repeat the run.
//!
//! For each kind of report a function builds a [`Document`]; terminal, HTML, Markdown and CSV are
//! printers of it ([`crate::terminal`], [`crate::html`], [`crate::markdown`], [`crate::csv`]). Not
//! here: how a page looks.

use model::finding_catalog::{CATALOG, label};
use model::numbers::{INFINITE, NONE, count, significant, value_and_error};
use model::{Finding, Severity};

use crate::charts::Chart;
use crate::commands::command_lines;
use crate::flame_graph::FlameGraph;
use crate::table::{Cell, Table};

/// Number of findings that the sentence on the validity of several runs names before `...`. If only
/// one more would follow, it is named too.
const NAMED_MOST: usize = 3;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// Kind of the page with status and start: `Run, interrupted, started 2026-11-28 02:10:52 UTC`.
    pub kind: String,
    pub title: String,
    /// The question that the page answers, such as which of two builds is faster, in sentences.
    pub question: Vec<String>,
    /// Sentences on workload, database, clients and machine, for readers who see nothing but this
    /// page.
    pub scene: Vec<String>,
    /// Answers to the question of the page (the results in words), the most important one first.
    pub verdicts: Vec<Verdict>,
    /// Key figures, drawn at the head of HTML pages instead of the verdict's headline.
    pub tiles: Vec<Tile>,
    /// Labelled lines with the main figures, which only first pages on a terminal have; else empty.
    pub summary: Vec<Block>,
    /// Validity of the result, with warnings and notes; `None` if there are no remarks on it.
    pub validity: Option<Validity>,
    pub sections: Vec<Section>,
    /// Number of sections, at the beginning, that answer the page's question. Text for a terminal
    /// has them before the warnings, and the other sections after these.
    pub n_answering: usize,
    /// Last section: id of the run or experiment, and commands that repeat it. `None` if the page
    /// has no such section.
    pub repeat: Option<Section>,
}

/// Answer to the question of a page: a result in words, such as `Better: TPS +12 %`.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub tone: Tone,
    /// The verdict in short, such as `Better.`, for pages that colour it by tone; may be empty.
    pub word: String,
    pub headline: Text,
    /// Further sentences on the verdict, printed below its headline.
    pub details: Vec<Text>,
}

/// Id of the section with the commands to repeat a run, experiment or comparison.
pub const REPEAT: &str = "repeat";

/// Tone of a verdict (good, plain, warning or bad), which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Good,
    Plain,
    Warning,
    Bad,
}

/// A key figure, drawn at the head of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    pub name: String,
    pub value: Quantity,
    /// Remark that a tile shows next to its value; may be empty.
    pub note: String,
    /// Values of the figure over time, at equal distances, drawn as a small curve; may be empty.
    pub trend: Vec<f64>,
}

/// A number with its error and unit, formatted for people.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantity {
    pub value: Value,
    pub error: Uncertainty,
    /// Unit of value and error; may be empty.
    pub unit: &'static str,
    /// Significant digits of the value. If half the width of a symmetric interval is known, that
    /// determines the digits instead.
    pub digits: usize,
}

/// A number that may be unknown, a lower bound or infinite.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Value {
    /// A number that is not known.
    #[default]
    Unknown,
    Known(f64),
    AtLeast(f64),
    /// The number is infinite, because too many transactions were lost.
    Infinite,
}

/// Significant digits of a lower bound in a table.
const BOUND_DIGITS: usize = 3;

/// Significant digits of a number whose error (half the width of its interval) is larger than
/// itself.
const UNSURE_DIGITS: usize = 2;

/// Words in place of an interval that says nothing, of which half the width is larger than the
/// value.
pub(crate) const NO_USABLE_CI: &str = "no usable CI";

/// The error of a number, as a confidence interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Uncertainty {
    /// No confidence interval is known.
    #[default]
    Unknown,
    /// Half the width of a symmetric confidence interval.
    HalfWidth(f64),
    /// Lower and upper end of a confidence interval. An upper end of `None` is infinite, because
    /// transactions were lost.
    Interval(f64, Option<f64>),
}

/// Validity of the result of one or several runs, with remarks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Validity {
    /// The validity in a sentence, such as `Valid, with 2 warnings.`
    pub answer: String,
    /// Findings and other remarks on the result.
    pub remarks: Vec<Remark>,
}

/// A remark on a result, such as a warning.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    pub severity: Severity,
    pub text: Text,
}

/// Position of a section on a page that draws charts. Pages without charts keep the document's
/// order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Place before all other sections, for the most important charts.
    First,
    /// Place before the sections in document order, for explanations of the result.
    Early,
    /// Place in the order of the document.
    #[default]
    InOrder,
    /// Place after all other sections, for long sections.
    Last,
}

/// A titled part of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Anchor of the section in URLs.
    pub id: &'static str,
    pub title: String,
    /// Explanation of the section's figures; may be empty.
    pub note: String,
    pub blocks: Vec<Block>,
    /// Position of the section on a page that draws charts.
    pub where_drawn: Place,
}

/// A part of a section: text, table, chart or nested blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    Paragraphs(Vec<Text>),
    /// Preformatted text, such as commands, plans and output.
    Verbatim(String),
    /// Suggested commands, each with its purpose; left out in browsers.
    Next(Vec<(String, String)>),
    /// Labels with texts. An empty label continues the text above.
    Pairs(Vec<(String, Text)>),
    Table(Table),
    /// Charts, which printers that cannot draw leave out.
    Charts(Vec<Chart>),
    /// Flame graph of sampled call stacks, which printers that cannot draw leave out.
    FlameGraph(FlameGraph),
    /// A curve in one line of text, for printers that cannot draw charts.
    Sketch(Sketch),
    /// Nested blocks below a title, which may be empty.
    Part(String, Vec<Block>),
    /// Blocks that HTML folds until the reader opens them. Text and Markdown show
    /// [`Details::otherwise`] instead.
    Details(Details),
}

/// A curve drawn as one line of block characters, such as `▁▃█▆`.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    pub title: String,
    /// Values of the curve, at equal distances.
    pub values: Vec<f64>,
    /// Indices of the values that have a mark below them, such as the beginnings of disturbances.
    pub marks: Vec<usize>,
}

/// Blocks that HTML folds until the reader opens them, and that text and Markdown replace.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    pub title: String,
    pub blocks: Vec<Block>,
    /// Length of the folded blocks. Long ones stay folded when HTML is printed on paper.
    pub length: Length,
    /// Blocks in text and Markdown, which cannot fold, instead of the folded ones; may be empty.
    pub otherwise: Vec<Block>,
}

/// Length of blocks that HTML folds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Blocks short enough to be printed on paper.
    Short,
    /// Blocks too long for paper, such as machine output.
    Long,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(pub Vec<Span>);

/// A piece of text within a line, with one style.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    Words(String),
    Strong(String),
    /// A command or other code.
    Code(String),
    Quantity(Quantity),
    /// A link to another page. Where pages have no URLs, as in text, it is written as the id of a
    /// run or a command.
    Link(Link),
}

#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// Link to the page of the run with this id.
    Run(String),
    /// Link to the comparison of runs with two values of a label, such as two builds.
    Comparison {
        by: String,
        /// Value of the label whose runs are the baseline.
        baseline: String,
        /// Value of the same label whose runs are compared with the baseline.
        side: String,
    },
}

/// Returns the section of suggested commands, each with its purpose.
pub fn next(commands: &[(String, String)]) -> Section {
    Section::new("next", "Next", vec![Block::Next(commands.to_vec())])
}

/// Replaces `dbdyno` in a block's commands by `program`, where a command begins: at the beginning
/// of a line, and after `|` or `&&`.
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
    /// Replaces `dbdyno` in all commands of the page by `program`, the path with which the user
    /// started it.
    pub fn called(mut self, program: &str) -> Document {
        for section in self.sections.iter_mut().chain(&mut self.repeat) {
            let blocks = std::mem::take(&mut section.blocks);
            section.blocks = blocks.into_iter().map(|block| called(block, program)).collect();
        }
        self
    }

    /// Creates a page with a kind and a title, and nothing else.
    pub fn new(kind: impl Into<String>, title: impl Into<String>) -> Document {
        Document { kind: kind.into(), title: title.into(), ..Document::default() }
    }

    pub fn section(&mut self, id: &'static str, title: impl Into<String>, blocks: Vec<Block>) {
        self.sections.push(Section::new(id, title, blocks));
    }

    /// Divides a page into what is not its result, and the result: verdicts, summary and validity.
    /// Of the remarks on it, the result has those for which `is_result` returns true.
    pub fn with_result_last(self, is_result: impl Fn(&Remark) -> bool) -> [Document; 2] {
        let validity = self.validity.unwrap_or_default();
        let (of_result, others) = validity.remarks.into_iter().partition(is_result);
        let result = Document {
            verdicts: self.verdicts,
            summary: self.summary,
            validity: Some(Validity { remarks: of_result, ..validity }),
            ..Document::default()
        };
        let rest = Document {
            verdicts: Vec::new(),
            summary: Vec::new(),
            validity: Some(Validity { remarks: others, ..Validity::default() }),
            ..self
        };
        [rest, result]
    }

    /// Returns all tables in the order of the page, including those in folded blocks.
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
    /// Creates a section without a note, at its place in document order.
    pub fn new(id: &'static str, title: impl Into<String>, blocks: Vec<Block>) -> Section {
        Section { id, title: title.into(), blocks, ..Section::default() }
    }
}

impl Block {
    pub fn paragraphs<T: Into<Text>>(all: impl IntoIterator<Item = T>) -> Block {
        Block::Paragraphs(all.into_iter().map(Into::into).collect())
    }

    /// Creates a block of labels, each with a text beside it.
    pub fn pairs<L: Into<String>, T: Into<Text>>(all: impl IntoIterator<Item = (L, T)>) -> Block {
        let pair = |(label, text): (L, T)| (label.into(), text.into());
        Block::Pairs(all.into_iter().map(pair).collect())
    }

    /// Creates a block of labels, such as points, each with the ids of its runs as links.
    pub fn runs<'r, L: Into<String>>(all: impl IntoIterator<Item = (L, &'r [String])>) -> Block {
        Block::pairs(all.into_iter().map(|(label, runs)| (label, Text::runs(runs))))
    }

    /// Creates a block of commands with their purposes as shell comments, which every printer
    /// shows. Each line can be pasted into a shell.
    pub fn commands(all: &[(String, String)]) -> Block {
        Block::Verbatim(command_lines(all, usize::MAX).join("\n"))
    }

    /// Creates blocks that are folded in HTML and left out in text and Markdown.
    pub fn details(title: impl Into<String>, length: Length, blocks: Vec<Block>) -> Block {
        Block::Details(Details { title: title.into(), blocks, length, otherwise: Vec::new() })
    }
}

impl Validity {
    /// Creates the validity of one run from its findings, with `answer` as the sentence.
    pub fn from_findings(answer: impl Into<String>, findings: &[Finding]) -> Validity {
        Validity {
            answer: answer.into(),
            remarks: findings.iter().map(Remark::from_finding).collect(),
        }
    }

    /// Creates the validity of several runs from remarks on them, with a sentence such as `Valid,
    /// with 2 warnings (debug build).` `None` if there are no remarks.
    pub fn of_remarks(remarks: Vec<Remark>) -> Option<Validity> {
        Validity::with_word("Valid", remarks)
    }

    /// Creates the validity of several runs from remarks on them. The sentence begins with `word`,
    /// such as `Interrupted`, or is `NOT VALID.` if a remark says so. `None` if there are no
    /// remarks.
    pub fn with_word(word: &str, remarks: Vec<Remark>) -> Option<Validity> {
        let mut validity = Validity { answer: String::new(), remarks };
        let (n_warnings, names) = (validity.count(Severity::Warning), validity.named());
        // One more name is no longer than an ellipsis.
        let n_shown = if names.len() > NAMED_MOST + 1 { NAMED_MOST } else { names.len() };
        let more = match n_warnings.saturating_sub(names.len()) {
            _ if names.len() > n_shown => ", ...".to_owned(),
            0 => String::new(),
            unnamed => format!(", {unnamed} more"),
        };
        let named = match &names[..n_shown] {
            [] => String::new(),
            shown => format!(" ({}{more})", shown.join(", ")),
        };
        validity.answer = match (validity.count(Severity::Invalid), n_warnings) {
            (1.., _) => "NOT VALID.".to_owned(),
            (0, 0) => format!("{word}, with notes."),
            // A remark on several runs may name several findings.
            (0, n) => {
                let n = n.max(names.len()) as u64;
                format!("{word}, with {}{named}.", count(n, "warning"))
            }
        };
        (!validity.remarks.is_empty()).then_some(validity)
    }

    /// Returns the sentence and the reasons of an invalid result, without warnings and notes;
    /// `None` if the result is not invalid.
    pub fn if_invalid(mut self) -> Option<Validity> {
        self.remarks.retain(|remark| remark.severity == Severity::Invalid);
        (!self.remarks.is_empty()).then_some(self)
    }

    /// Returns the names of the findings that the warnings mention, such as `other CPU load`, in
    /// the order of the warnings.
    fn named(&self) -> Vec<String> {
        let warnings = self.remarks.iter().filter(|remark| remark.severity == Severity::Warning);
        let texts: Vec<String> = warnings.map(|remark| remark.text.plain()).collect();
        let place = |id: &str| {
            let name = label(id);
            let (begins, ends) = (format!("{name} ("), format!("({name})"));
            texts.iter().position(|text| text.starts_with(&begins) || text.contains(&ends))
        };
        let named = CATALOG.iter().filter_map(|entry| Some((place(entry.id)?, label(entry.id))));
        let mut all: Vec<(usize, String)> = named.collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// Returns the number of remarks of the given severity.
    pub fn count(&self, severity: Severity) -> usize {
        self.remarks.iter().filter(|remark| remark.severity == severity).count()
    }
}

impl Remark {
    pub fn new(severity: Severity, text: impl Into<Text>) -> Remark {
        Remark { severity, text: text.into() }
    }

    /// Creates a remark from a finding of a run.
    pub fn from_finding(finding: &Finding) -> Remark {
        Remark::new(finding.severity, finding.text.as_str())
    }
}

impl Sketch {
    /// Makes a sketch that is scaled from the lowest to the highest value, both of which its title
    /// names, because differences between large values are too small to see on a scale from 0.
    pub fn from_lowest(values: &[f64]) -> Sketch {
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // The lowest bar is visible too.
        let base = (highest - lowest) / 8.0;
        let bar = |value: f64| if base > 0.0 { value - lowest + base } else { 1.0 };
        let [low, high] = [lowest, highest].map(|value| significant(value, 4));
        let title = match base > 0.0 {
            true => format!("lowest bar {low}, highest {high}"),
            false => format!("all bars {low}"),
        };
        Sketch { title, values: values.iter().copied().map(bar).collect(), marks: Vec::new() }
    }
}

impl Quantity {
    /// Creates a quantity such as a rate; `None` is an unknown value. `half_width` is half the
    /// width of its confidence interval, if known.
    pub fn rate(value: Option<f64>, half_width: Option<f64>) -> Quantity {
        let error = half_width.map_or(Uncertainty::Unknown, Uncertainty::HalfWidth);
        let value = value.map_or(Value::Unknown, Value::Known);
        Quantity { value, error, unit: "", digits: 4 }
    }

    /// Returns true if half the width of the confidence interval is larger than the value: such an
    /// interval says nothing, so that pages have [`NO_USABLE_CI`] in its place.
    pub fn is_unusable(&self) -> bool {
        self.relative_error() > 1.0
    }

    /// Returns half the width of the confidence interval, as a share of the value; 0 if value or
    /// interval are not known, or have no end.
    pub fn relative_error(&self) -> f64 {
        let (Value::Known(value), error) = (self.value, self.error) else { return 0.0 };
        let half_width = match error {
            Uncertainty::HalfWidth(half_width) => half_width,
            Uncertainty::Interval(low, Some(high)) => (high - low) / 2.0,
            Uncertainty::Interval(_, None) | Uncertainty::Unknown => return 0.0,
        };
        if value == 0.0 { 0.0 } else { half_width / value.abs() }
    }

    /// Makes a quantity without an error, with `digits` significant digits.
    pub fn number(value: f64, digits: usize, unit: &'static str) -> Quantity {
        Quantity { value: Value::Known(value), error: Uncertainty::Unknown, unit, digits }
    }

    /// Formats the value with its unit.
    pub fn value(&self) -> String {
        let unit = if self.unit.is_empty() { String::new() } else { format!(" {}", self.unit) };
        match (self.value, self.error) {
            (Value::Unknown, _) => NONE.to_owned(),
            (Value::Infinite, _) => INFINITE.to_owned(),
            (Value::Known(value), _) if self.is_unusable() => {
                significant(value, UNSURE_DIGITS.min(self.digits)) + &unit
            }
            (Value::Known(value), Uncertainty::HalfWidth(half_width)) => {
                value_and_error(value, half_width).0 + &unit
            }
            (Value::Known(value), _) => significant(value, self.digits) + &unit,
            (Value::AtLeast(value), _) => format!("≥ {}{unit}", significant(value, self.digits)),
        }
    }

    /// Formats the confidence interval: `± 6.8` or `81.9 to 88.0`, or `no usable CI`. Empty if
    /// there is none.
    pub fn error(&self) -> String {
        if self.is_unusable() {
            return NO_USABLE_CI.to_owned();
        }
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
    /// Writes value and error: `451.8 TPS ± 6.8` or `84.4 ms (81.9 to 88.0)`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (value, error) = (self.value(), self.error());
        match self.error {
            _ if error.is_empty() => f.write_str(&value),
            Uncertainty::HalfWidth(_) if !self.is_unusable() => write!(f, "{value} {error}"),
            _ => write!(f, "{value} ({error})"),
        }
    }
}

impl Text {
    /// Lists the ids of runs as links, with commas between them.
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

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the text without styles. A link to a run becomes the run's id, and a link to a
    /// comparison the command that prints it.
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
    /// Returns the link as text: the id of a run, or the command for a comparison.
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
