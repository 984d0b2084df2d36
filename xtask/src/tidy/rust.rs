//! Scans Rust source: separates code from comments, literals and tests.
//!
//! A scanner, not a parser: it knows which text is not code, and matches braces.

use super::{line_at, places_of_word};
use crate::tree::{File, Tree};

/// A source file, with variants of its text in which some parts are blank. All variants have the
/// same lines.
#[derive(Clone, Debug)]
pub(super) struct Source<'a> {
    pub(super) path: &'a str,
    /// Text of the source file as written.
    pub(super) text: &'a str,
    /// Text in which comments and the contents of literals are blank.
    pub(super) code: String,
    /// Text in which comments, literals and tests are blank; all of it is blank in a file of tests.
    pub(super) product: String,
}

/// Scans all Rust sources of the tree.
pub(super) fn sources(tree: &Tree) -> Vec<Source<'_>> {
    let mut sources: Vec<Source<'_>> = tree.ending("rs").map(Source::from_file).collect();
    let test_modules: Vec<String> =
        sources.iter().flat_map(|source| test_modules(source.path, &source.code)).collect();
    for source in &mut sources {
        let stem = source.path.trim_end_matches(".rs");
        let within = |module: &String| {
            stem.strip_prefix(module.as_str())
                .is_some_and(|rest| matches!(rest.get(..1), None | Some("/")))
        };
        if is_test_by_name(source.path) || test_modules.iter().any(within) {
            source.product = blank(&source.code);
        }
    }
    sources
}

impl<'a> Source<'a> {
    /// Scans the text of a file.
    pub(super) fn from_file(file: &'a File) -> Source<'a> {
        let code = without_comments_and_literals(&file.text);
        let product = without_tests(&code);
        Source { path: &file.path, text: &file.text, code, product }
    }
}

fn is_test_by_name(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.contains("/tests/") || path.contains("/examples/")
}

/// Replaces all characters of a text by blanks, and keeps its line ends.
fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { ' ' }).collect()
}

fn without_comments_and_literals(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let joined = code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => comment_length(rest),
            '"' => 1 + string_length(&rest[1..]),
            '\'' => character_length(rest),
            'r' | 'b' | 'c' if !joined => raw_string_length(rest),
            _ => 0,
        };
        if length == 0 {
            code.push(first);
            rest = &rest[first.len_utf8()..];
            continue;
        }
        // A literal keeps its quotes, so that code beside it stays separate.
        let quote = if rest.starts_with('/') { ' ' } else { '"' };
        let inside = blank(&rest[..length]);
        let mut letters: Vec<char> = inside.chars().collect();
        if let [first, .., last] = letters.as_mut_slice() {
            (*first, *last) = (quote, quote);
        }
        code.extend(letters);
        rest = &rest[length..];
    }
    code
}

/// Returns the length in bytes of a block comment, nested ones included.
fn comment_length(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let (step, change) = match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        at += step;
        depth += change;
        if depth == 0 {
            return at;
        }
    }
    text.len()
}

/// Returns the length in bytes of a string after its opening quote, the closing one included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices() {
        match letter {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length in bytes of a character such as `'a'` or `'\n'`; 0 for the name of a
/// lifetime.
fn character_length(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1);
    match letters.next() {
        Some((_, '\\')) => {
            letters.next();
            let after = text.get(3..).and_then(|rest| rest.find('\''));
            after.map_or(0, |at| 3 + at + 1)
        }
        Some(_) => match letters.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

/// Returns the length in bytes of `r"..."`, `br#"..."#` and similar; 0 for anything else. The
/// prefix of `b"..."` counts as code, and its string follows.
fn raw_string_length(text: &str) -> usize {
    let prefix = text.len() - text.trim_start_matches(['b', 'c']).len();
    let Some(after) = text[prefix..].strip_prefix('r') else { return 0 };
    let fences = after.len() - after.trim_start_matches('#').len();
    if prefix > 1 || !after[fences..].starts_with('"') {
        return 0;
    }
    let start = prefix + 1 + fences + 1;
    let end = format!("\"{}", "#".repeat(fences));
    text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
}

/// Attributes of items that exist for tests only, each as its beginning.
const TEST_ATTRIBUTES: &[&str] =
    &["#[cfg(test)]", "#[cfg(all(test", "#[cfg(any(test,", "#[test]", "#[tokio::test"];

fn without_tests(code: &str) -> String {
    if code.contains("#![cfg(test)]") {
        return blank(code);
    }
    let mut product = code.to_owned();
    for attribute in TEST_ATTRIBUTES {
        while let Some(start) = product.find(attribute) {
            let end = start + item_length(&product[start..]);
            product.replace_range(start..end, &blank(&product[start..end]));
        }
    }
    product
}

/// Returns the length in bytes of an item with its attributes: to its matching brace, or its
/// semicolon.
fn item_length(code: &str) -> usize {
    let mut depth = 0_u32;
    for (at, letter) in code.char_indices() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' if depth > 0 => depth -= 1,
            '{' if depth == 0 => return at + block_length(&code[at..]),
            ';' if depth == 0 => return at + 1,
            // End of the enclosing item: a field or an arm.
            ')' | ']' | '}' if depth == 0 => return at,
            _ => {}
        }
    }
    code.len()
}

/// Returns the length in bytes of a block, from its opening brace to the matching one.
pub(super) fn block_length(code: &str) -> usize {
    let mut depth = 0_u32;
    for (at, letter) in code.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    code.len()
}

/// Returns the paths, without `.rs`, of modules that a file declares for tests only, as by
/// `#[cfg(test)] mod suite;`.
fn test_modules(path: &str, code: &str) -> Vec<String> {
    let folder = match path.strip_suffix(".rs") {
        Some(stem) => {
            let (folder, name) = stem.rsplit_once('/').unwrap_or(("", stem));
            if ["lib", "main", "mod"].contains(&name) { folder } else { stem }
        }
        None => return Vec::new(),
    };
    let mut modules = Vec::new();
    let attributes = ["#[cfg(test)]", "#[cfg(any(test,"];
    for (at, _) in attributes.iter().flat_map(|attribute| code.match_indices(attribute)) {
        let Some((_, rest)) = code[at..].split_once(']') else { continue };
        let rest = ["pub(crate)", "pub "].iter().fold(rest.trim_start(), |rest, prefix| {
            rest.strip_prefix(prefix).unwrap_or(rest).trim_start()
        });
        let declared = rest.strip_prefix("mod ").and_then(|rest| rest.split_once(';'));
        if let Some((name, _)) = declared.filter(|(name, _)| !name.contains('{')) {
            modules.push(format!("{folder}/{}", name.trim()));
        }
    }
    modules
}

/// A function with a body in a source, from its name to its closing brace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) n_lines: usize,
}

/// Returns the functions with a body in `code`, including nested ones.
pub(super) fn functions(code: &str) -> Vec<Function> {
    let function = |at: usize| {
        let signature = code[at..].strip_prefix("fn ")?;
        let end = signature.find(|c: char| !(c.is_alphanumeric() || c == '_'))?;
        // A type such as `fn (u64) -> u64` has no name, and a trait's function may have no body.
        let name = signature[..end].to_owned();
        let length = item_length(&code[at..]);
        let has_body = !name.is_empty() && code[at..at + length].ends_with('}');
        let line = line_at(code, at);
        has_body.then(|| Function { name, line, n_lines: line_at(code, at + length) - line + 1 })
    };
    places_of_word(code, "fn").into_iter().filter_map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_not_code() {
        let check = |text: &str, expect: &str| {
            let code = without_comments_and_literals(text);
            assert_eq!(code.split_whitespace().collect::<Vec<_>>().join(" "), expect, "{text}");
            assert_eq!(code.chars().count(), text.chars().count(), "{text}");
        };
        check("a // todo!()\nb", "a b");
        check("a /* x /* y */ z */ b", "a b");
        check("say(\"todo!() \\\" {\") + 1", "say(\" \") + 1");
        check("say(r#\"a \" {\"#) + 1", "say(\" \") + 1");
        check("say(b\"{\", br\"{\", c\"{\")", "say(b\" \", \" \", c\" \")");
        check("match c { '{' => 1, '\\'' => 2, '\\u{7b}' => 3, 'é' => 4 }", {
            "match c { \" \" => 1, \" \" => 2, \" \" => 3, \" \" => 4 }"
        });
        check("fn f<'a>(x: &'a str, r#type: u8) {}", "fn f<'a>(x: &'a str, r#type: u8) {}");
        check("let variable = 1;", "let variable = 1;");
    }

    #[test]
    fn tests_are_not_product() {
        let check = |text: &str, expect: &str| {
            let product = without_tests(&without_comments_and_literals(text));
            assert_eq!(product.split_whitespace().collect::<Vec<_>>().join(" "), expect, "{text}");
        };
        check("a(); #[cfg(test)] mod tests { fn f() { x() } } b();", "a(); b();");
        check("#[cfg(test)]\nuse x::y; a();", "a();");
        check("#[cfg(test)] const N: [u8; 2] = [1, 2]; a();", "a();");
        check("#[test]\n#[should_panic]\nfn f(a: [u8; 2]) { x() } a();", "a();");
        check("#[cfg(any(test, feature = \"fixtures\"))] pub mod fixtures; a();", "a();");
        check("#![cfg(test)] a();", "");
        check("struct S { #[cfg(test)] seen: u64 } a();", "struct S { } a();");
    }

    #[test]
    fn modules_for_tests_are_known_by_their_declaration() {
        let tree = Tree::from_files(&[
            (
                "a/src/lib.rs",
                "#[cfg(test)]\nmod suite;\nmod real;\n\
                 #[cfg(any(test, feature = \"fixtures\"))]\npub mod made;",
            ),
            ("a/src/made.rs", "x();"),
            ("a/src/suite.rs", "x();"),
            ("a/src/suite/part.rs", "x();"),
            ("a/src/suited.rs", "x();"),
            ("a/src/real.rs", "#[cfg(test)] mod cases;"),
            ("a/src/real/cases.rs", "x();"),
            ("a/tests/end_to_end.rs", "x();"),
        ]);
        let product: Vec<&str> = sources(&tree)
            .iter()
            .filter(|source| !source.product.trim().is_empty())
            .map(|source| source.path)
            .collect();
        assert_eq!(product, ["a/src/lib.rs", "a/src/suited.rs"]);
    }

    #[test]
    fn functions_are_measured_from_name_to_closing_brace() {
        let code = "trait T {\n fn none(&self);\n}\nfn two(f: fn (u64) -> u64) -> [u8; 2] {\n}\n";
        let found = functions(code);
        assert_eq!(found, [Function { name: "two".to_owned(), line: 4, n_lines: 2 }]);
    }
}
