//! What bodies of pages are made of: verdicts and figures at their head, then sections of blocks.

use askama::Template;
use model::Finding;

use super::body::{
    BlockView, BodyView, SectionView, TileView, VerdictView, class_and_word, of_text, rendered,
};
use super::{Medium, figure};
use crate::Table;
use crate::charts::Chart;

/// A body under way.
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
    /// A class, a title, and HTML that is seen when asked for.
    Folded(&'static str, String, String),
}

/// A finding in a list.
pub(super) struct Told {
    class: &'static str,
    word: &'static str,
    text: String,
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
        Block::Safe(rendered(BlockView::Charts(figures.join("\n"))))
    }

    /// Findings with their severity.
    pub(super) fn findings(findings: &[Finding]) -> Block {
        let told = |finding: &Finding| {
            let (class, word) = class_and_word(finding.severity);
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
        Block::folded_as("", title, blocks)
    }

    /// Blocks that are seen when asked for, and not on paper: what a machine has written at length.
    pub(super) fn long(title: impl Into<String>, blocks: &[Block]) -> Block {
        Block::folded_as("long", title, blocks)
    }

    fn folded_as(class: &'static str, title: impl Into<String>, blocks: &[Block]) -> Block {
        let html: Vec<String> = blocks.iter().map(Block::html).collect();
        Block::Folded(class, title.into(), html.join("\n"))
    }

    fn html(&self) -> String {
        let words = |words: &String| of_text(&words.as_str().into(), Medium::File);
        rendered(match self {
            Block::Safe(html) => return html.clone(),
            Block::Words(all) => BlockView::Paragraphs(all.iter().map(words).collect()),
            Block::Pairs(pairs) => {
                let pairs = pairs.iter().map(|(label, text)| (label.as_str(), words(text)));
                BlockView::Pairs(pairs.collect())
            }
            Block::Text(text) => BlockView::Verbatim(text),
            Block::Findings(all) => {
                let remark = |told: &Told| (told.class, told.word, words(&told.text));
                BlockView::Remarks(all.iter().map(remark).collect())
            }
            Block::Folded(class, title, html) => BlockView::Details(class, title, html.clone()),
        })
    }

    fn is_empty(&self) -> bool {
        match self {
            Block::Words(all) => all.is_empty(),
            Block::Safe(text) | Block::Text(text) => text.is_empty(),
            Block::Pairs(pairs) => pairs.is_empty(),
            Block::Findings(findings) => findings.is_empty(),
            Block::Folded(_, _, html) => html.trim().is_empty(),
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
        let verdicts = self.verdicts.iter().map(|of| VerdictView {
            class: of.class,
            word: &of.word,
            headline: of_text(&of.text.as_str().into(), Medium::File),
            details: Vec::new(),
        });
        let tiles = self.tiles.iter().map(|of| TileView {
            name: &of.name,
            value: of.value.clone(),
            beside: of.error.clone(),
        });
        let sections = self.sections.iter().map(|of| SectionView {
            id: of.id,
            title: &of.title,
            note: String::new(),
            html: of.blocks.join("\n"),
        });
        let view = BodyView {
            kind: &self.what,
            title: &self.title,
            question: &self.asked,
            verdicts: verdicts.collect(),
            tiles: tiles.collect(),
            sections: sections.collect(),
        };
        view.render().expect("memory takes everything")
    }
}

/// Charts whose ids begin with one of these names.
pub(super) fn named<'c>(charts: &'c [Chart], names: &[&str]) -> Vec<&'c Chart> {
    let is_of = |chart: &Chart, name: &str| {
        chart.id.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    charts.iter().filter(|chart| names.iter().any(|name| is_of(chart, name))).collect()
}
