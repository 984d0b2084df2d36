//! A document as the body of an HTML page: everything between header and footer.

use askama::Template;
use model::Severity;
use model::numbers::{capital, count};

use super::{Medium, figures};
use crate::document::{
    Block, Details, Document, Length, Link, Place, Remark, Section, Span, Text, Tile, Tone,
    Validity, Verdict,
};
use crate::flame_graph::{FlameGraph, FlameUse};
use crate::spark::spark_svg;

#[derive(Template)]
#[template(path = "document.html")]
pub(super) struct BodyView<'d> {
    pub(super) kind: &'d str,
    pub(super) title: &'d str,
    pub(super) question: &'d [String],
    pub(super) below_head: &'d str,
    pub(super) verdicts: Vec<VerdictView<'d>>,
    pub(super) tiles: Vec<TileView<'d>>,
    pub(super) sections: Vec<SectionView<'d>>,
}

pub(super) struct VerdictView<'d> {
    pub(super) class: &'static str,
    pub(super) word: &'d str,
    pub(super) headline: String,
    pub(super) details: Vec<String>,
}

pub(super) struct TileView<'d> {
    pub(super) name: &'d str,
    pub(super) value: String,
    pub(super) beside: String,
    /// The tile's small curve over time as SVG; may be empty.
    pub(super) trend: String,
}

pub(super) struct SectionView<'d> {
    pub(super) id: &'static str,
    pub(super) title: &'d str,
    pub(super) note: String,
    pub(super) html: String,
}

/// Template of a block of a page. Its fields with HTML contain text that is already escaped.
#[derive(Template)]
#[template(path = "piece.html")]
struct PieceView<'b> {
    piece: BlockView<'b>,
}

pub(super) enum BlockView<'b> {
    Paragraphs(Vec<String>),
    Verbatim(&'b str),
    Pairs(Vec<(&'b str, String)>),
    Remarks(Vec<(&'static str, &'static str, String)>),
    Charts(String),
    FlameGraph(String),
    FlameLink(String, String),
    Part(&'b str, String),
    Details(&'static str, &'b str, String),
}

#[derive(Template)]
#[template(path = "text.html")]
struct TextView<'t> {
    spans: Vec<SpanView<'t>>,
}

enum SpanView<'t> {
    Words(std::borrow::Cow<'t, str>),
    Strong(&'t str),
    Code(std::borrow::Cow<'t, str>),
    Link(String, String),
}

/// Largest number of findings, of those that are warnings or worse, that are shown unfolded; the
/// others are folded.
const OPEN_MOST: usize = 3;

/// Returns the HTML body of a page: verdicts, remarks, first charts, and the other sections. On a
/// page with tiles (a run's), the first charts come before the remarks.
pub fn body(document: &Document, medium: Medium<'_>) -> String {
    body_with(document, "", medium)
}

/// Returns the same HTML as [`body`], with the HTML `below_head`, such as the live view of a run,
/// inserted after the title and question.
pub fn body_with(document: &Document, below_head: &str, medium: Medium<'_>) -> String {
    let mut sections: Vec<&Section> = document.sections.iter().collect();
    sections.sort_by_key(|section| section.where_drawn);
    let n_first = sections.iter().filter(|section| section.where_drawn == Place::First).count();
    let rest = sections.split_off(n_first);
    // If no section is first, the first charts are those of any section.
    let below = if n_first == 0 { medium } else { medium.below() };
    let first = sections.into_iter().filter_map(|section| of_section(section, medium));
    let validity = document.validity.iter().map(|validity| of_validity(document, validity, medium));
    let rest = rest.into_iter().chain(&document.repeat);
    let rest = rest.filter_map(|section| of_section(section, below));
    let question = [&document.question[..], &document.scene].concat();
    let has_tiles = !document.tiles.is_empty();
    let verdicts = document.verdicts.iter().map(|verdict| of_verdict(document, verdict, medium));
    let banner = document.validity.iter().filter_map(|validity| banner(document, validity));
    // The tiles of a run follow its most severe remark, and are followed by its charts.
    let (mut begin, validity): (Vec<_>, Vec<_>) = (first.collect(), validity.collect());
    let findings_at = if has_tiles { begin.len() } else { 0 };
    begin.splice(findings_at..findings_at, validity);
    let body = BodyView {
        kind: &document.kind,
        title: &document.title,
        question: &question,
        below_head,
        verdicts: verdicts.chain(banner).collect(),
        tiles: document.tiles.iter().map(of_tile).collect(),
        sections: begin.into_iter().chain(rest).collect(),
    };
    body.render().expect("memory takes everything")
}

/// Removes the page's title from the beginning of a headline; `None` if nothing is left.
fn without_title(headline: &Text, title: &str) -> Option<Text> {
    let mut shown = headline.clone();
    let Some(Span::Words(words)) = shown.0.first_mut().filter(|_| !title.is_empty()) else {
        return Some(shown);
    };
    let Some(rest) = words.strip_prefix(title) else { return Some(shown) };
    match rest.strip_prefix(": ") {
        Some(rest) => {
            // A name, such as that of a setting, stays as it is.
            let first = rest.split(' ').next().unwrap_or_default();
            *words = match first.contains(['.', '_', '=']) {
                true => rest.to_owned(),
                false => capital(rest),
            };
            Some(shown)
        }
        None if headline.plain() == title => None,
        None => Some(shown),
    }
}

/// Returns the HTML parts of a verdict. On a page with tiles, which show the figures of the first
/// headline, only the word of the first verdict is shown. The page's title is not repeated.
fn of_verdict<'d>(
    document: &Document,
    verdict: &'d Verdict,
    medium: Medium<'_>,
) -> VerdictView<'d> {
    let class = match verdict.tone {
        Tone::Good => "good",
        Tone::Plain => "",
        Tone::Warning => "warn",
        Tone::Bad => "bad",
    };
    let details = verdict.details.iter().map(|text| of_text(text, medium)).collect();
    let is_first = document.verdicts.first().is_some_and(|first| std::ptr::eq(first, verdict));
    let is_in_tiles = is_first && !document.tiles.is_empty();
    let headline = match without_title(&verdict.headline, &document.title) {
        _ if is_in_tiles && !verdict.word.is_empty() => String::new(),
        None if verdict.word.is_empty() => of_text(&verdict.headline, medium),
        None => String::new(),
        Some(rest) => of_text(&rest, medium),
    };
    VerdictView { class, word: &verdict.word, headline, details }
}

/// Returns a banner with the sentence on validity, if a remark is a warning or worse and no verdict
/// or tile says so; else `None`.
fn banner<'d>(document: &'d Document, validity: &'d Validity) -> Option<VerdictView<'d>> {
    let is_said = document.verdicts.iter().any(|verdict| verdict.word == validity.answer);
    let class = match validity.remarks.iter().map(|remark| remark.severity).max()? {
        Severity::Invalid => "bad",
        Severity::Warning => "warn",
        _ => return None,
    };
    // The verdict of a run is its validity, and its figures are tiles.
    (!is_said && document.tiles.is_empty()).then(|| VerdictView {
        class,
        word: &validity.answer,
        headline: String::new(),
        details: Vec::new(),
    })
}

fn of_tile(tile: &Tile) -> TileView<'_> {
    let parts = [tile.value.error(), tile.note.clone()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    TileView {
        name: &tile.name,
        value: tile.value.value(),
        beside: parts.join(" "),
        trend: spark_svg(&tile.trend),
    }
}

fn of_validity<'d>(
    document: &Document,
    validity: &'d Validity,
    medium: Medium<'_>,
) -> SectionView<'d> {
    let remark = |remark: &Remark| {
        let (class, word) = class_and_word(remark.severity);
        (class, word, of_text(&remark.text, medium))
    };
    // The most severe come first; a few of them are not folded.
    let mut shown: Vec<_> = validity.remarks.iter().map(remark).collect();
    let is_grave = |remark: &&Remark| remark.severity > Severity::Note;
    let n_open = validity.remarks.iter().filter(is_grave).count().min(OPEN_MOST);
    let folded = shown.split_off(n_open.min(shown.len()));
    let list =
        |remarks: Vec<_>| (!remarks.is_empty()).then(|| rendered(BlockView::Remarks(remarks)));
    let n_folded = folded.len() as u64;
    let title = match shown.is_empty() {
        true => count(n_folded, "finding"),
        false => count(n_folded, "more finding"),
    };
    let open = list(shown);
    let rest = list(folded).map(|html| rendered(BlockView::Details("", &title, html)));
    let html: String = open.into_iter().chain(rest).collect();
    // The head of the page has the same answer, unless all is good.
    let answer = validity.answer.trim_end_matches('.');
    let is_said = document.verdicts.iter().any(|verdict| verdict.word.starts_with(answer))
        || banner(document, validity).is_some();
    let note = if is_said { String::new() } else { validity.answer.clone() };
    SectionView { id: "findings", title: "Findings", note, html }
}

/// Returns the CSS class for a severity, and the word printed before remarks of it, such as
/// `warning`.
pub(super) fn class_and_word(severity: Severity) -> (&'static str, &'static str) {
    match severity {
        Severity::Invalid => ("invalid", "INVALID"),
        Severity::Warning => ("warning", "Warning"),
        Severity::Note => ("note", "Note"),
    }
}

/// Returns the view of a section; `None` if it is empty.
fn of_section<'d>(section: &'d Section, medium: Medium<'_>) -> Option<SectionView<'d>> {
    let html = of_blocks(&section.blocks, medium);
    let note = match section.note.is_empty() {
        true => String::new(),
        false => format!("{}.", capital(&section.note)),
    };
    let view = SectionView { id: section.id, title: &section.title, note, html };
    (!view.html.is_empty()).then_some(view)
}

fn of_blocks(blocks: &[Block], medium: Medium<'_>) -> String {
    let all = blocks.iter().filter_map(|block| of_block(block, medium));
    all.collect::<Vec<String>>().join("\n")
}

/// Returns the HTML of a block; `None` if it is empty.
pub(super) fn of_block(block: &Block, medium: Medium<'_>) -> Option<String> {
    let view = match block {
        Block::Paragraphs(all) if all.is_empty() => return None,
        Block::Pairs(pairs) if pairs.is_empty() => return None,
        Block::Verbatim(text) if text.is_empty() => return None,
        Block::Charts(charts) if charts.is_empty() => return None,
        Block::Paragraphs(all) => {
            BlockView::Paragraphs(all.iter().map(|text| of_text(text, medium)).collect())
        }
        Block::Verbatim(text) => BlockView::Verbatim(text),
        Block::Pairs(pairs) => {
            let shown = pairs.iter().filter(|(_, text)| !text.is_empty());
            BlockView::Pairs(
                shown.map(|(label, text)| (label.as_str(), of_text(text, medium))).collect(),
            )
        }
        Block::Table(table) => match table.nothing() {
            Some(words) => BlockView::Paragraphs(vec![of_text(&words.into(), medium)]),
            None => return Some(table.html()),
        },
        Block::Charts(charts) => BlockView::Charts(figures(charts, medium)),
        Block::FlameGraph(graph) if graph.stacks.is_empty() => return None,
        Block::FlameGraph(graph) => flame_graph(graph, medium),
        // A page in a browser has buttons and links instead.
        Block::Sketch(_) | Block::Next(_) => return None,
        Block::Part(title, blocks) => {
            let html = of_blocks(blocks, medium);
            if html.is_empty() {
                return None;
            }
            BlockView::Part(title, html)
        }
        Block::Details(Details { title, blocks, length, .. }) => {
            let html = of_blocks(blocks, medium);
            if html.is_empty() {
                return None;
            }
            let class = if *length == Length::Long { "long" } else { "" };
            BlockView::Details(class, title, html)
        }
    };
    Some(rendered(view))
}

/// Draws a flame graph; in the web interface it is a link to a page of its own.
fn flame_graph(graph: &FlameGraph, medium: Medium<'_>) -> BlockView<'static> {
    match medium {
        Medium::File => BlockView::FlameGraph(graph.svg(FlameUse::Static)),
        Medium::InteractiveFile => BlockView::FlameGraph(graph.svg(FlameUse::InPage)),
        Medium::Web { runs, .. } => {
            let address = format!("{runs}{}/flame/{}.svg", encoded(&graph.run), graph.side);
            BlockView::FlameLink(address, graph.title.clone())
        }
    }
}

pub(super) fn rendered(piece: BlockView<'_>) -> String {
    PieceView { piece }.render().expect("memory takes everything")
}

pub(super) fn of_text(text: &Text, medium: Medium<'_>) -> String {
    let spans = text.0.iter().map(|span| of_span(span, medium)).collect();
    TextView { spans }.render().expect("memory takes everything")
}

fn of_span<'t>(span: &'t Span, medium: Medium<'_>) -> SpanView<'t> {
    match span {
        Span::Words(words) => SpanView::Words(words.into()),
        Span::Strong(words) => SpanView::Strong(words),
        Span::Code(words) => SpanView::Code(words.into()),
        Span::Quantity(quantity) => SpanView::Words(quantity.to_string().into()),
        Span::Link(link) => match (address(link, medium), link) {
            (Some(address), Link::Run(id)) => SpanView::Link(address, id.clone()),
            (Some(address), Link::Comparison { baseline, side, .. }) => {
                SpanView::Link(address, format!("Compare {baseline} with {side}"))
            }
            (None, Link::Run(id)) => SpanView::Words(id.into()),
            (None, Link::Comparison { .. }) => SpanView::Code(link.plain().into()),
        },
    }
}

/// Returns the URL of a link; `None` outside of the web interface.
fn address(link: &Link, medium: Medium<'_>) -> Option<String> {
    let Medium::Web { runs, .. } = medium else { return None };
    Some(match link {
        Link::Run(id) => format!("{runs}{id}"),
        Link::Comparison { by, baseline, side } => {
            let [baseline, side] =
                [baseline, side].map(|name| format!("side={}", encoded(&format!("{by}={name}"))));
            format!("/compare?{baseline}&{side}")
        }
    })
}

/// Percent-encodes text for a URL (RFC 3986, 2.3).
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}
