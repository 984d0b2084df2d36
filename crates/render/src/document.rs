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
use crate::flame_graph::FlameGraph;
use crate::table::{Cell, Table};

/// So many findings are named in the answer of several runs.
const NAMED_MOST: usize = 3;

/// A page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    /// What kind of page it is, and of what.
    pub kind: String,
    /// Its name.
    pub title: String,
    /// What was asked, in sentences.
    pub question: Vec<String>,
    /// What was measured, on what and when, in sentences: for a page that is read alone.
    pub scene: Vec<String>,
    /// The answers, the most important first.
    pub verdicts: Vec<Verdict>,
    /// The figures that are asked for first; the headline of a verdict has them in words, and is
    /// left out where tiles are drawn.
    pub tiles: Vec<Tile>,
    /// The same in lines, for a first page on a terminal; or nothing.
    pub summary: Vec<Block>,
    /// Whether the result is valid.
    pub validity: Option<Validity>,
    /// What there is to read, in its order.
    pub sections: Vec<Section>,
    /// So many of these have the answer in figures: where nothing is drawn they stand before what
    /// speaks against it.
    pub n_answering: usize,
    /// Which one this is, and how to make it again: the end of the page.
    pub repeat: Option<Section>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// How it is to be taken.
    pub tone: Tone,
    /// The same in a word or two, for pages that have colours; or nothing.
    pub word: String,
    /// The answer.
    pub headline: Text,
    /// What else is known of it.
    pub details: Vec<Text>,
}

/// The section that says how to make the same again.
pub const REPEAT: &str = "repeat";

/// How something is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// As good news.
    Good,
    /// As it is.
    Plain,
    /// With care.
    Warning,
    /// As bad news.
    Bad,
}

/// A figure at the head of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tile {
    /// What.
    pub name: String,
    /// How much.
    pub value: Quantity,
    /// What belongs to it; or nothing.
    pub note: String,
    /// How it went over time, at equal distances; or nothing.
    pub trend: Vec<f64>,
}

/// How much, how surely, in which unit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Quantity {
    /// How much.
    pub value: Value,
    /// How surely.
    pub error: Uncertainty,
    /// In which unit; empty where it has none.
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
    /// It is known.
    Known(f64),
    /// It is at least this.
    AtLeast(f64),
    /// It is infinite, since work was lost.
    Infinite,
}

/// Significant digits of a bound in a table.
const BOUND_DIGITS: usize = 3;

/// Significant digits of what is not known to one.
const CLIPPED_DIGITS: usize = 2;

/// How surely a number is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Uncertainty {
    /// Nobody can say.
    #[default]
    Unknown,
    /// By so much more or less.
    HalfWidth(f64),
    /// Between these; an upper end among lost work is infinite.
    Interval(f64, Option<f64>),
}

/// Whether a result is valid.
#[derive(Clone, Debug, PartialEq)]
pub struct Validity {
    /// The answer in a sentence.
    pub answer: String,
    /// What was found.
    pub remarks: Vec<Remark>,
}

/// What is to be thought of a result.
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    /// How grave it is.
    pub severity: Severity,
    /// What it is.
    pub text: Text,
}

/// Where a section stands on a page that draws charts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Place {
    /// Before the others: its charts are looked for first.
    First,
    /// Before those in order: why a result is as it is.
    Early,
    /// Where it stands in the document.
    #[default]
    InOrder,
    /// Behind the others: it is long where everything folded stands.
    Last,
}

/// A part of a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// Its name in addresses.
    pub id: &'static str,
    /// Its title.
    pub title: String,
    /// What its figures are; or nothing.
    pub note: String,
    /// What stands in it.
    pub blocks: Vec<Block>,
    /// Where it stands on a page that draws charts.
    pub where_drawn: Place,
}

/// A piece of a section.
#[derive(Clone, Debug, PartialEq)]
pub enum Block {
    /// Paragraphs.
    Paragraphs(Vec<Text>),
    /// Text as it stands: commands, plans, output.
    Verbatim(String),
    /// Commands to go on with, and what each is for, where there is room to say it.
    Next(Vec<(String, String)>),
    /// Labels, and what belongs to them; a label that goes on is empty.
    Pairs(Vec<(String, Text)>),
    /// A table.
    Table(Table),
    /// Charts, where there is room to draw them.
    Charts(Vec<Chart>),
    /// Sampled stacks, where there is room to draw them.
    FlameGraph(FlameGraph),
    /// A curve in one line, where there is none.
    Sketch(Sketch),
    /// Blocks with a title of their own.
    Part(String, Vec<Block>),
    /// Blocks that are seen when asked for.
    Details(Details),
}

/// A curve in one line of blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct Sketch {
    /// What it shows.
    pub title: String,
    /// Its values, at equal distances.
    pub values: Vec<f64>,
    /// Indexes of values that are marked.
    pub marks: Vec<usize>,
}

/// What is folded where a page can fold.
#[derive(Clone, Debug, PartialEq)]
pub struct Details {
    /// What it is.
    pub title: String,
    /// All of it.
    pub blocks: Vec<Block>,
    /// Whether it is printed on paper.
    pub length: Length,
    /// What stands for it on a page that cannot fold.
    pub otherwise: Vec<Block>,
}

/// How long details are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Length {
    /// Paper has room for them.
    Short,
    /// A machine has written them at length: they are not printed.
    Long,
}

/// Inline text.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Text(pub Vec<Span>);

/// A piece of inline text.
#[derive(Clone, Debug, PartialEq)]
pub enum Span {
    /// Words.
    Words(String),
    /// Words that matter more.
    Strong(String),
    /// What is typed into a shell.
    Code(String),
    /// How much.
    Quantity(Quantity),
    /// Another page, where pages have addresses.
    Link(Link),
}

/// Another page.
#[derive(Clone, Debug, PartialEq)]
pub enum Link {
    /// That of a run, by its id.
    Run(String),
    /// That of a comparison of two values of a label.
    Comparison {
        /// The label.
        by: String,
        /// Its value of the baseline.
        baseline: String,
        /// Its value of the other side.
        side: String,
    },
}

/// The section of commands to go on with.
pub fn next(commands: &[(String, String)]) -> Section {
    Section::new("next", "Next", vec![Block::Next(commands.to_vec())])
}

/// Replaces `dbdyno` by `program` in the block's suggested commands.
fn called(block: Block, program: &str) -> Block {
    match block {
        Block::Next(commands) => {
            let called = |command: String| match command.strip_prefix("dbdyno ") {
                Some(words) => format!("{program} {words}"),
                None => command,
            };
            Block::Next(commands.into_iter().map(|(command, why)| (called(command), why)).collect())
        }
        Block::Part(title, blocks) => {
            Block::Part(title, blocks.into_iter().map(|block| called(block, program)).collect())
        }
        other => other,
    }
}

impl Document {
    /// Replaces `dbdyno` by `program`, a path, in all suggested commands.
    pub fn called(mut self, program: &str) -> Document {
        for section in self.sections.iter_mut().chain(&mut self.repeat) {
            let blocks = std::mem::take(&mut section.blocks);
            section.blocks = blocks.into_iter().map(|block| called(block, program)).collect();
        }
        self
    }

    /// An empty page.
    pub fn new(kind: impl Into<String>, title: impl Into<String>) -> Document {
        Document { kind: kind.into(), title: title.into(), ..Document::default() }
    }

    /// Adds a section.
    pub fn section(&mut self, id: &'static str, title: impl Into<String>, blocks: Vec<Block>) {
        self.sections.push(Section::new(id, title, blocks));
    }

    /// All tables, in the order of the page, folded ones too.
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
    /// A section without a note.
    pub fn new(id: &'static str, title: impl Into<String>, blocks: Vec<Block>) -> Section {
        Section { id, title: title.into(), blocks, ..Section::default() }
    }
}

impl Block {
    /// Paragraphs.
    pub fn paragraphs<T: Into<Text>>(all: impl IntoIterator<Item = T>) -> Block {
        Block::Paragraphs(all.into_iter().map(Into::into).collect())
    }

    /// Labels with words.
    pub fn pairs<L: Into<String>, T: Into<Text>>(all: impl IntoIterator<Item = (L, T)>) -> Block {
        let pair = |(label, text): (L, T)| (label.into(), text.into());
        Block::Pairs(all.into_iter().map(pair).collect())
    }

    /// Runs by what they are of.
    pub fn runs<'r, L: Into<String>>(all: impl IntoIterator<Item = (L, &'r [String])>) -> Block {
        Block::pairs(all.into_iter().map(|(label, runs)| (label, Text::runs(runs))))
    }

    /// What is folded, and left out where a page cannot fold.
    pub fn details(title: impl Into<String>, length: Length, blocks: Vec<Block>) -> Block {
        Block::Details(Details { title: title.into(), blocks, length, otherwise: Vec::new() })
    }
}

impl Validity {
    /// Findings, with a sentence that sums them up.
    pub fn of(answer: impl Into<String>, findings: &[Finding]) -> Validity {
        Validity { answer: answer.into(), remarks: findings.iter().map(Remark::of).collect() }
    }

    /// Remarks of several runs, summed up by how grave they are; nothing where there are none.
    pub fn of_remarks(remarks: Vec<Remark>) -> Option<Validity> {
        let mut validity = Validity { answer: String::new(), remarks };
        let (n_warnings, names) = (validity.count(Severity::Warning), validity.named());
        // One more name takes no more room than an ellipsis.
        let n_shown = if names.len() > NAMED_MOST + 1 { NAMED_MOST } else { names.len() };
        let more = if names.len() > n_shown { ", ..." } else { "" };
        let named = match &names[..n_shown] {
            [] => String::new(),
            shown => format!(" ({}{more})", shown.join(", ")),
        };
        validity.answer = match (validity.count(Severity::Invalid), n_warnings) {
            (1.., _) => "NOT VALID.".to_owned(),
            (0, 0) => "Valid, with notes.".to_owned(),
            // A remark on several runs names several.
            (0, n) => {
                let n = n.max(names.len()) as u64;
                format!("Valid, with {}{named}.", count(n, "warning"))
            }
        };
        (!validity.remarks.is_empty()).then_some(validity)
    }

    /// Which findings the warnings name, in their order: `other_cpu_load`.
    fn named(&self) -> Vec<String> {
        let warnings = self.remarks.iter().filter(|of| of.severity == Severity::Warning);
        let texts: Vec<String> = warnings.map(|of| of.text.plain()).collect();
        let place = |id: &str| {
            let (begins, ends) = (format!("{id} ("), format!("({id})"));
            texts.iter().position(|text| text.starts_with(&begins) || text.contains(&ends))
        };
        let named = CATALOG.iter().filter_map(|of| Some((place(of.id)?, of.id.to_owned())));
        let mut all: Vec<(usize, String)> = named.collect();
        all.sort_by_key(|(place, _)| *place);
        all.into_iter().map(|(_, id)| id).collect()
    }

    /// How many remarks are as grave.
    pub fn count(&self, severity: Severity) -> usize {
        self.remarks.iter().filter(|remark| remark.severity == severity).count()
    }
}

impl Remark {
    /// Something, and how grave it is.
    pub fn new(severity: Severity, text: impl Into<Text>) -> Remark {
        Remark { severity, text: text.into() }
    }

    /// A finding.
    pub fn of(finding: &Finding) -> Remark {
        Remark::new(finding.severity, finding.text.as_str())
    }
}

impl Quantity {
    /// What cannot be negative, such as a rate, with half the width of its interval where that is
    /// known: an interval that would begin below 0 begins there.
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

    /// A number alone, to so many digits.
    pub fn number(value: f64, digits: usize, unit: &'static str) -> Quantity {
        Quantity { value: Value::Known(value), error: Uncertainty::Unknown, unit, digits }
    }

    /// The value with its unit.
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

    /// Its error; nothing where that is not known.
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
    /// `451.8 TPS ± 6.8`, `84.4 ms (81.9 to 88.0)`.
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
    /// Ids of runs, with commas between.
    pub fn runs(runs: &[String]) -> Text {
        let mut text = Text::default();
        for (index, run) in runs.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            text = text.and(comma).and(Span::Link(Link::Run(run.clone())));
        }
        text
    }

    /// The same with something behind it.
    pub fn and(mut self, more: impl Into<Span>) -> Text {
        match (self.0.last_mut(), more.into()) {
            (Some(Span::Words(words)), Span::Words(more)) => words.push_str(&more),
            (_, Span::Words(more)) if more.is_empty() => {}
            (_, more) => self.0.push(more),
        }
        self
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The same in words alone.
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
    /// What leads there from a shell.
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
