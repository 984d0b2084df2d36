//! What bodies of pages are made of: verdicts and figures at their head, then sections of blocks.

use askama::Template;
use model::{Finding, Severity};

use super::{Medium, figure};
use crate::Table;
use crate::charts::Chart;

/// A body under way.
#[derive(Template)]
#[template(path = "body.html")]
pub(super) struct Body {
    /// What kind of page it is, and of what.
    pub(super) what: String,
    /// Its name.
    pub(super) title: String,
    /// What was asked, in sentences.
    pub(super) asked: Vec<String>,
    /// The answer.
    pub(super) verdicts: Vec<Verdict>,
    /// The figures that are asked for first.
    pub(super) tiles: Vec<Tile>,
    sections: Vec<Section>,
}

/// A verdict at the head of a page.
pub(super) struct Verdict {
    /// `good`, `warn`, `bad`, or nothing.
    pub(super) class: &'static str,
    /// In a word.
    pub(super) word: String,
    /// In a sentence.
    pub(super) text: String,
}

/// A figure at the head of a page.
pub(super) struct Tile {
    /// What.
    pub(super) name: String,
    /// How much, with its unit.
    pub(super) value: String,
    /// Its error, or what else belongs to it; or nothing.
    pub(super) error: String,
}

struct Section {
    id: &'static str,
    title: String,
    blocks: Vec<String>,
}

/// A piece of a section.
pub(super) enum Block {
    /// Paragraphs.
    Words(Vec<String>),
    /// HTML that was made of escaped pieces.
    Safe(String),
    /// Labels and words.
    Pairs(Vec<(String, String)>),
    /// Text as it stands.
    Text(String),
    /// Findings.
    Findings(Vec<Told>),
    /// A title, and HTML that is seen when asked for.
    Folded(String, String),
}

/// A finding in a list.
pub(super) struct Told {
    class: &'static str,
    word: &'static str,
    text: String,
}

#[derive(Template)]
#[template(path = "block.html")]
struct BlockView<'b> {
    piece: &'b Block,
}

impl Block {
    /// A table.
    pub(super) fn table(table: &Table) -> Block {
        Block::Safe(table.html())
    }

    /// Charts beside each other, or below where the page is narrow.
    pub(super) fn charts(charts: &[&Chart], medium: Medium<'_>) -> Block {
        if charts.is_empty() {
            return Block::Safe(String::new());
        }
        let figures: Vec<String> = charts.iter().map(|chart| figure(chart, medium)).collect();
        Block::Safe(format!("<div class=\"charts\">\n{}\n</div>", figures.join("\n")))
    }

    /// Findings with their severity.
    pub(super) fn findings(findings: &[Finding]) -> Block {
        let told = |finding: &Finding| {
            let (class, word) = match finding.severity {
                Severity::Invalid => ("invalid", "INVALID"),
                Severity::Warning => ("warning", "Warning"),
                Severity::Note => ("note", "Note"),
            };
            Told { class, word, text: finding.text.clone() }
        };
        Block::Findings(findings.iter().map(told).collect())
    }

    /// What speaks against a result, in sentences: warnings, and what else is to be known.
    pub(super) fn told(warnings: Vec<String>, doubts: Vec<String>) -> Block {
        let warning = |text| Told { class: "warning", word: "Warning", text };
        let doubt = |text| Told { class: "note", word: "", text };
        let warnings = warnings.into_iter().map(warning);
        Block::Findings(warnings.chain(doubts.into_iter().map(doubt)).collect())
    }

    /// Blocks that are seen when asked for.
    pub(super) fn folded(title: impl Into<String>, blocks: &[Block]) -> Block {
        let html: Vec<String> = blocks.iter().map(Block::html).collect();
        Block::Folded(title.into(), html.join("\n"))
    }

    fn html(&self) -> String {
        BlockView { piece: self }.render().expect("memory takes everything")
    }

    fn is_empty(&self) -> bool {
        match self {
            Block::Words(all) => all.is_empty(),
            Block::Safe(text) | Block::Text(text) => text.is_empty(),
            Block::Pairs(pairs) => pairs.is_empty(),
            Block::Findings(findings) => findings.is_empty(),
            Block::Folded(_, html) => html.trim().is_empty(),
        }
    }
}

impl Body {
    pub(super) fn new(what: impl Into<String>, title: impl Into<String>) -> Body {
        Body {
            what: what.into(),
            title: title.into(),
            asked: Vec::new(),
            verdicts: Vec::new(),
            tiles: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// A section; one without anything is left out.
    pub(super) fn section(&mut self, id: &'static str, title: impl Into<String>, blocks: &[Block]) {
        let shown: Vec<String> =
            blocks.iter().filter(|block| !block.is_empty()).map(Block::html).collect();
        if !shown.is_empty() {
            self.sections.push(Section { id, title: title.into(), blocks: shown });
        }
    }

    pub(super) fn html(&self) -> String {
        self.render().expect("memory takes everything")
    }
}

/// Charts whose ids begin with one of these names.
pub(super) fn named<'c>(charts: &'c [Chart], names: &[&str]) -> Vec<&'c Chart> {
    let is_of = |chart: &Chart, name: &str| {
        chart.id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    charts.iter().filter(|chart| names.iter().any(|name| is_of(chart, name))).collect()
}
