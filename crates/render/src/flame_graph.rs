//! Flame graphs of sampled call stacks as SVG: a bar per function, as wide as its samples and above
//! the bar of its caller.
//!
//! Own code instead of the crate `inferno`, which would add 11 packages. Not here: sampling and
//! choice of stacks (analysis), and the place of a graph on a page (html).

use std::fmt::Write;

use model::numbers::{count, significant};
use model::{FRAME_SEPARATOR, KERNEL_FRAME};

/// Width of the drawing, in SVG units.
const WIDTH: f64 = 1200.0;
const ROW: f64 = 17.0;
/// Height of the head with title and search field, in SVG units.
const HEAD: f64 = 30.0;
/// Width of a letter in the style sheet's font, in SVG units.
const LETTER: f64 = 6.65;
/// Smallest share of the samples for which a bar is drawn: half an SVG unit wide. Narrower bars are
/// left out.
const SHARE_MIN: f64 = 0.5 / WIDTH;
/// Number of shades per colour, so that neighbouring bars can be distinguished.
const SHADES: u32 = 4;

const CSS: &str = include_str!("../templates/flame.css");

/// Script for zooming and searching in flame graphs, included by pages and files that have any.
pub const FLAME_JS: &str = include_str!("../templates/flame.js");

/// Data of a flame graph of one process.
#[derive(Clone, Debug, PartialEq)]
pub struct FlameGraph {
    /// Id of the run in which the samples were taken.
    pub run: String,
    /// Process that was sampled: `server` or `generator` (the load generator, dbdyno itself).
    pub side: String,
    pub title: String,
    /// Number of samples, including those of rare stacks that are left out.
    pub samples: u64,
    /// Sampled stacks with their numbers of samples, sorted as text. A stack has function names
    /// from the outermost caller on, joined by a separator.
    pub stacks: Vec<(String, u64)>,
}

/// Kind of document in which a flame graph is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlameUse {
    /// A page without scripts, where the browser shows names as tooltips.
    Static,
    /// A page that includes [`FLAME_JS`].
    InPage,
    /// A file of its own, which includes the script [`FLAME_JS`].
    Alone,
}

/// A bar of the flame graph: a function, called through one chain of callers.
#[derive(Debug, Default)]
struct Bar<'s> {
    name: &'s str,
    depth: usize,
    /// Number of samples to the left of the bar, which determines its horizontal position.
    from: u64,
    samples: u64,
}

/// Returns the bars of sorted stacks, callers before callees, for a total of `all` samples.
/// Neighbouring stacks share the bars of their common beginning.
fn bars(stacks: &[(String, u64)], all: u64) -> Vec<Bar<'_>> {
    let kept: u64 = stacks.iter().map(|(_, count)| count).sum();
    let all = all.max(kept);
    let mut bars = vec![Bar { name: "all", depth: 0, from: 0, samples: all }];
    // Indices of the bars of the last stack, by depth.
    let mut open: Vec<usize> = Vec::new();
    let mut from = 0;
    for (stack, samples) in stacks {
        let frames: Vec<&str> = stack.split(FRAME_SEPARATOR).collect();
        let is_same = |(index, frame): &(&usize, &&str)| bars[**index].name == **frame;
        let n_same = open.iter().zip(&frames).take_while(is_same).count();
        open.truncate(n_same);
        open.iter().for_each(|index| bars[*index].samples += samples);
        for (depth, name) in frames.iter().enumerate().skip(n_same) {
            open.push(bars.len());
            bars.push(Bar { name, depth: depth + 1, from, samples: *samples });
        }
        from += samples;
    }
    if kept < all {
        bars.push(Bar { name: "(rare stacks left out)", depth: 1, from, samples: all - kept });
    }
    bars
}

impl FlameGraph {
    /// Draws the flame graph as SVG, which scales to any width, for the kind of document `with`.
    pub fn svg(&self, with: FlameUse) -> String {
        let all = bars(&self.stacks, self.samples);
        let total = all[0].samples.max(1) as f64;
        let is_drawn = |bar: &&Bar<'_>| bar.samples as f64 / total >= SHARE_MIN;
        let rows = 1 + all.iter().filter(is_drawn).map(|bar| bar.depth).max().unwrap_or(0);
        let height = HEAD + rows as f64 * ROW + 4.0;
        let mut svg = String::new();
        let mut put =
            |text: std::fmt::Arguments<'_>| svg.write_fmt(text).expect("memory is enough");
        put(format_args!(
            "<svg{namespace} class=\"flame\" viewBox=\"0 0 {WIDTH} \
             {height}\" data-width=\"{WIDTH}\" data-letter=\"{LETTER}\" role=\"img\" \
             aria-label=\"{title}\"><style>{CSS}</style><text x=\"3\" y=\"18\">{title}, {n}</text>",
            // A page declares the namespace, and a file of its own must do so itself.
            namespace = match with {
                FlameUse::Alone => " xmlns=\"http://www.w3.org/2000/svg\"",
                FlameUse::InPage | FlameUse::Static => "",
            },
            title = escaped(&self.title),
            n = count(all[0].samples, "sample"),
        ));
        if with != FlameUse::Static {
            put(format_args!(
                "<text class=\"matches\" x=\"820\" y=\"18\"></text><foreignObject x=\"970\" \
                 y=\"3\" width=\"228\" height=\"24\"><input xmlns=\"http://www.w3.org/1999/xhtml\" \
                 type=\"search\" placeholder=\"Search functions\" \
                 aria-label=\"Search functions\"/></foreignObject>"
            ));
        }
        for bar in all.iter().filter(is_drawn) {
            let share = bar.samples as f64 / total;
            let (x, width) = (bar.from as f64 / total * WIDTH, share * WIDTH);
            let y = HEAD + (rows - 1 - bar.depth) as f64 * ROW;
            let name = escaped(bar.name);
            put(format_args!(
                "<g class=\"bar {class}\" data-name=\"{name}\" data-from=\"{from}\" \
                 data-count=\"{n}\"><title>{name}: {samples}, {percent} %</title><rect \
                 x=\"{x:.2}\" y=\"{y:.0}\" width=\"{width:.2}\" height=\"{ROW:.0}\"/><text \
                 x=\"{at:.2}\" y=\"{base:.0}\">{fitted}</text></g>",
                class = class(bar.name),
                from = bar.from,
                n = bar.samples,
                samples = count(bar.samples, "sample"),
                percent = significant(100.0 * share, 3),
                at = x + 3.0,
                base = y + 12.0,
                fitted = escaped(&fitted(bar.name, width)),
            ));
        }
        if with == FlameUse::Alone {
            put(format_args!("<script>{FLAME_JS}</script>"));
        }
        svg + "</svg>"
    }
}

/// Returns the CSS class of a function: kernel, without a name, or other, with a shade derived from
/// its name.
fn class(name: &str) -> String {
    let kind = match name {
        name if name.ends_with(KERNEL_FRAME) => 'k',
        name if name.starts_with(['[', '(']) && name.ends_with([']', ')']) => 'x',
        _ => 'n',
    };
    let sum = name.bytes().fold(0_u32, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
    format!("{kind}{}", sum % SHADES)
}

/// Cuts a function's name to the width of its bar; empty if fewer than three letters fit.
fn fitted(name: &str, room: f64) -> String {
    let letters = ((room - 4.0) / LETTER).max(0.0) as usize;
    match name.chars().count() {
        _ if letters < 3 => String::new(),
        n if n <= letters => name.to_owned(),
        _ => name.chars().take(letters - 1).chain(['…']).collect(),
    }
}

/// Escapes text for an XML element or attribute (XML 1.0, 2.4).
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(stacks: &[(&str, u64)], samples: u64) -> FlameGraph {
        FlameGraph {
            run: "7".to_owned(),
            side: "server".to_owned(),
            title: "the <server>".to_owned(),
            samples,
            stacks: stacks.iter().map(|(stack, n)| ((*stack).to_owned(), *n)).collect(),
        }
    }

    #[test]
    fn a_bar_is_as_wide_as_its_samples_and_stands_on_its_caller() {
        let graph = graph(&[("a;f", 1), ("a;f;g_[k]", 2), ("a;h", 3), ("b;f", 4)], 12);
        let shown: Vec<String> = bars(&graph.stacks, graph.samples)
            .iter()
            .map(|bar| format!("{} {} {}+{}", bar.depth, bar.name, bar.from, bar.samples))
            .collect();
        let expected = [
            "0 all 0+12",
            "1 a 0+6",
            "2 f 0+3",
            "3 g_[k] 1+2",
            "2 h 3+3",
            "1 b 6+4",
            "2 f 6+4",
            "1 (rare stacks left out) 10+2",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_graph_is_whole_xml_whatever_functions_are_called() {
        let hostile = "f<script>alert(1)</script>\"&";
        let graph = graph(&[(hostile, 5), ("a;[lib]", 5)], 10);
        for with in [FlameUse::Static, FlameUse::InPage, FlameUse::Alone] {
            let svg = graph.svg(with);
            assert!(!svg.contains("<script>alert"), "{svg}");
            assert_eq!(svg.contains("<script>"), with == FlameUse::Alone);
            let parsed = roxmltree::Document::parse(&svg).expect("XML");
            let bars = parsed.descendants().filter(|node| node.attribute("data-name").is_some());
            assert_eq!(bars.count(), 4);
            assert_eq!(svg.contains("<input"), with != FlameUse::Static);
        }
    }

    #[test]
    fn the_script_is_xml_text() {
        // The script is part of an SVG without escaping.
        assert!(!FLAME_JS.contains(['&', '<']));
    }

    #[test]
    fn names_are_cut_to_their_bars() {
        assert_eq!(fitted("abcdefgh", 30.0), "ab…");
        assert_eq!(fitted("abc", 30.0), "abc");
        assert_eq!(fitted("abc", 5.0), "");
        assert_eq!(class("[libc.so]").chars().next(), Some('x'));
        assert_eq!(class("read_[k]").chars().next(), Some('k'));
    }
}
