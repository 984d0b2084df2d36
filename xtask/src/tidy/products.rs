//! Rule for literals with names of products. Knowledge of a product belongs to its driver, so no
//! other crate decides by its name.
//!
//! Not here: names within sentences and examples (help, errors), which decide nothing, and tests.

use super::Trouble;
use super::rust::sources;
use crate::tree::Tree;

/// Names and URL schemes of products, which literals outside of drivers must not equal. A colon may
/// follow the name.
const PRODUCTS: &[&str] = &[
    "duckdb",
    "mariadb",
    "mysql",
    "pgsql",
    "postgres",
    "postgresql",
    "sim",
    "sqlite",
    "DuckDB",
    "MariaDB",
    "SQLite",
];

/// Beginnings of the paths of files that may contain literals with names of products.
const ALLOWED: &[&str] = &[
    "crates/drivers/",
    "crates/servers/",
    // Servers that can be started, which drivers do not know.
    "crates/model/src/managed.rs",
    // The selfcheck uses its own server, which implements one protocol.
    "crates/selfcheck/",
    // Names that another program gives its drivers, which its scripts compare.
    "crates/workloads/src/script/lua/names.rs",
    // Names that other programs give products in their options.
    "crates/dbdyno/src/cli/drop_in/",
    // The same of files and variables in which other programs keep their databases.
    "crates/dbdyno/src/cli/target_from.rs",
    // The same of programs whose files are translated.
    "crates/plan/src/translate/databases.rs",
    // Chores know the servers of the tests.
    "xtask/",
];

/// Finds literals that are the name of a product, alone or as a scheme.
pub(super) fn products_are_named_by_drivers(tree: &Tree) -> Vec<Trouble> {
    let mut troubles = Vec::new();
    for source in sources(tree) {
        if ALLOWED.iter().any(|start| source.path.starts_with(start)) {
            continue;
        }
        for (index, (line, product)) in source.text.lines().zip(source.product.lines()).enumerate()
        {
            let named = literals(line, product)
                .find(|literal| PRODUCTS.contains(&literal.strip_suffix(':').unwrap_or(literal)));
            if let Some(name) = named {
                let text = format!(
                    "'{name}' is a product: ask its driver, by a capability of model::Product"
                );
                troubles.push(Trouble::new(source.path, index + 1, text));
            }
        }
    }
    troubles
}

/// Returns the contents of the string literals that begin and end in a line. `code` is the line
/// with literals blanked.
fn literals<'l>(line: &'l str, code: &str) -> impl Iterator<Item = &'l str> {
    // Blanks replace characters one by one, so positions are in characters.
    let quotes = code.chars().enumerate().filter(|(_, letter)| *letter == '"');
    let at: Vec<usize> = quotes.map(|(at, _)| at).collect();
    let byte = |nth: usize| line.char_indices().nth(nth).map_or(line.len(), |(byte, _)| byte);
    let inside = |pair: [usize; 2]| &line[byte(pair[0] + 1)..byte(pair[1])];
    at.as_chunks::<2>().0.iter().copied().map(inside).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_that_decides_outside_of_drivers_is_reported() {
        let check = |path: &str, text: &str, expect: &[usize]| {
            let tree = Tree::from_files(&[(path, text)]);
            let found: Vec<usize> =
                products_are_named_by_drivers(&tree).iter().map(|trouble| trouble.line).collect();
            assert_eq!(found, expect, "{path}: {text}");
        };
        let plan = "crates/plan/src/a.rs";
        check(plan, "\nif target.scheme == \"sqlite\" {", &[2]);
        check(plan, "match name { \"mysql\" => 1, _ => 2 }", &[1]);
        check(plan, "[\"ß\", \"sim\"].contains(&x)", &[1]);
        check(plan, "target.starts_with(\"sim:\")", &[1]);
        check(plan, "say(\"such as managed:mariadb\")", &[]);
        check(plan, "say(\"write \\\"sqlite\\\" there\")", &[]);
        check(plan, "// \"sqlite\"\n/// `\"mysql\"`", &[]);
        check(plan, "let x = ','; let y = \"mysql\";", &[1]);
        check(plan, "#[cfg(test)]\nmod tests { fn f() { open(\"sqlite\") } }", &[]);
        check("crates/plan/tests/a.rs", "open(\"sqlite\")", &[]);
        check("crates/drivers/src/mysql/sql.rs", "name: \"mysql\"", &[]);
        check("crates/model/src/managed.rs", "Kind::Postgres => \"postgres\"", &[]);
    }
}
