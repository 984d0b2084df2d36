//! Documents as Markdown (GitHub Flavored Markdown), for pull requests and wikis.
//!
//! Not here: charts and folded blocks, which only HTML has.

use model::Severity;

use crate::commands::command_lines;
use crate::document::{Block, Document, Remark, Section, Span, Text, Validity, Verdict};
use crate::spark::sparkline;
use crate::table::{Table, escaped};
use crate::terminal::PAGE_WIDTH;

/// Width of a sketched curve, in columns.
const SKETCH_WIDTH: usize = 60;

/// Returns a document as Markdown. Titles of sections are headings of level 3.
pub fn markdown(document: &Document) -> String {
    below(document, 2)
}

/// Returns a document as Markdown to be put below headings of `levels` levels: titles of sections
/// have one level more.
pub fn below(document: &Document, levels: usize) -> String {
    let heading = "#".repeat(levels + 1);
    let mut parts: Vec<String> = document.verdicts.iter().flat_map(of_verdict).collect();
    for section in &document.sections {
        parts.extend(of_section(section, &heading));
    }
    parts.extend(document.scene.iter().map(|words| escaped(words)));
    parts.extend(document.validity.iter().flat_map(|validity| of_validity(validity, &heading)));
    parts.extend(document.repeat.iter().flat_map(|section| of_section(section, &heading)));
    let parts: Vec<&str> = parts.iter().map(|part| part.trim_end()).collect();
    parts.join("\n\n") + "\n"
}

fn of_verdict(verdict: &Verdict) -> Vec<String> {
    let headline = format!("**{}**", escaped(&verdict.headline.plain()));
    std::iter::once(headline).chain(verdict.details.iter().map(text)).collect()
}

fn of_section(section: &Section, heading: &str) -> Vec<String> {
    let blocks = of_blocks(&section.blocks);
    if blocks.is_empty() {
        return Vec::new();
    }
    let (title, note) = (&section.title, &section.note);
    let title = (!title.is_empty()).then(|| format!("{heading} {}", escaped(title)));
    let note = (!note.is_empty()).then(|| format!("{}.", escaped(&model::numbers::capital(note))));
    title.into_iter().chain(note).chain(blocks).collect()
}

fn of_blocks(blocks: &[Block]) -> Vec<String> {
    blocks.iter().flat_map(of_block).collect()
}

fn of_block(block: &Block) -> Vec<String> {
    match block {
        Block::Paragraphs(all) => all.iter().map(text).collect(),
        Block::Verbatim(text) => vec![format!("```\n{}\n```", text.trim_end())],
        Block::Next(commands) => {
            vec![format!("```\n{}\n```", command_lines(commands, PAGE_WIDTH).join("\n"))]
        }
        Block::Pairs(pairs) => {
            let line = |(label, words): &(String, Text)| match label.is_empty() {
                _ if words.is_empty() => String::new(),
                true => format!("  {}\n", text(words)),
                false => format!("- **{}** {}\n", escaped(label), text(words)),
            };
            let list: String = pairs.iter().map(line).collect();
            if list.is_empty() { Vec::new() } else { vec![list] }
        }
        Block::Table(table) => of_table(table),
        Block::Sketch(sketch) => {
            let title = match sketch.title.is_empty() {
                true => String::new(),
                false => format!("{}: ", escaped(&sketch.title)),
            };
            vec![format!("{title}`{}`", sparkline(&sketch.values, SKETCH_WIDTH))]
        }
        Block::Part(title, blocks) => {
            let blocks = of_blocks(blocks);
            let has_title = !title.is_empty() && !blocks.is_empty();
            let title = has_title.then(|| format!("**{}**", escaped(title)));
            title.into_iter().chain(blocks).collect()
        }
        Block::Details(details) => of_blocks(&details.otherwise),
        Block::Charts(_) | Block::FlameGraph(_) => Vec::new(),
    }
}

/// Returns the title and rows of a table as Markdown. A table without rows becomes the text that
/// was set for that, such as "no runs".
pub fn of_table(table: &Table) -> Vec<String> {
    if let Some(words) = table.nothing() {
        return vec![escaped(words)];
    }
    let title = (!table.title.is_empty()).then(|| format!("**{}**", escaped(&table.title)));
    let rest = table.rest().map(|rest| escaped(&rest));
    title.into_iter().chain([table.markdown()]).chain(rest).collect()
}

fn of_validity(validity: &Validity, heading: &str) -> Vec<String> {
    let remark = |remark: &Remark| {
        let word = match remark.severity {
            Severity::Invalid => "INVALID",
            Severity::Warning => "Warning",
            Severity::Note => "Note",
        };
        // Two trailing blanks keep line breaks of a log.
        format!("- **{word}** {}\n", text(&remark.text).replace('\n', "  \n  "))
    };
    let list: String = validity.remarks.iter().map(remark).collect();
    let title = format!("{heading} {}", escaped(&validity.answer));
    [title, list].into_iter().filter(|part| !part.is_empty()).collect()
}

fn text(text: &Text) -> String {
    let code = |words: &str| format!("`{}`", words.replace('`', "'"));
    let span = |span: &Span| match span {
        Span::Words(words) => escaped(words),
        Span::Strong(words) => format!("**{}**", escaped(words)),
        Span::Code(words) => code(words),
        Span::Quantity(quantity) => escaped(&quantity.to_string()),
        Span::Link(link) => code(&link.plain()),
    };
    text.0.iter().map(span).collect()
}
