//! Pieces of long pages: headings within a section, lists of runs, what stays folded on paper.

use askama::Template;

use super::Medium;
use super::blocks::Block;

#[derive(Template)]
#[template(path = "long.html")]
struct Long {
    title: String,
    html: String,
}

#[derive(Template)]
#[template(path = "heading.html")]
struct Heading<'h> {
    title: &'h str,
}

#[derive(Template)]
#[template(path = "runs.html")]
struct Runs<'r> {
    points: &'r [(String, &'r [String])],
    place: Option<&'r str>,
}

/// Runs by what they are of, as links where their pages are.
pub(super) fn runs(points: &[(String, &[String])], medium: Medium<'_>) -> Block {
    let place = match medium {
        Medium::Web { runs, .. } => Some(runs),
        _ => None,
    };
    Block::Safe(Runs { points, place }.render().expect("memory takes everything"))
}

/// Blocks that are seen when asked for, and not on paper: what a machine has told at length.
pub(super) fn long(title: impl Into<String>, blocks: &[Block]) -> Block {
    match Block::folded(title, blocks) {
        Block::Folded(_, html) if html.trim().is_empty() => Block::Safe(String::new()),
        Block::Folded(title, html) => {
            Block::Safe(Long { title, html }.render().expect("memory takes everything"))
        }
        other => other,
    }
}

/// A heading within a section.
pub(super) fn heading(title: &str) -> Block {
    Block::Safe(Heading { title }.render().expect("memory takes everything"))
}
