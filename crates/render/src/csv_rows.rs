//! Encoding of rows as CSV (RFC 4180). Not here: the contents of the rows.

use std::borrow::Cow;

/// Returns rows as CSV below the titles of columns. Each row must have as many cells as there are
/// titles. Cells that a spreadsheet would take for formulas are escaped, since names and messages
/// come from plans and servers.
pub(crate) fn of_rows(titles: Vec<String>, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = csv::Writer::from_writer(Vec::new());
    let mut put = |cells: &[String]| {
        let cells = cells.iter().map(|cell| not_a_formula(cell));
        let cells: Vec<Cow<'_, str>> = cells.collect();
        let written = text.write_record(cells.iter().map(|cell| cell.as_bytes()));
        written.expect("all rows have as many cells, and memory takes them");
    };
    put(&titles);
    rows.for_each(|row| put(&row));
    let bytes = text.into_inner().expect("memory takes everything");
    String::from_utf8(bytes).expect("only text was put in")
}

/// Returns rows as CSV, as [`of_rows`] does, for tables whose number of columns `N` is fixed.
pub(crate) fn of_arrays<const N: usize>(
    titles: [&str; N],
    rows: impl Iterator<Item = [String; N]>,
) -> String {
    of_rows(titles.map(str::to_owned).to_vec(), rows.map(Vec::from))
}

/// Escapes a cell that a spreadsheet would take for a formula by a `'` before it (OWASP, "CSV
/// Injection"). Numbers are unchanged.
fn not_a_formula(cell: &str) -> Cow<'_, str> {
    let begins = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'];
    match cell.starts_with(begins) && cell.parse::<f64>().is_err() {
        true => Cow::Owned(format!("'{cell}")),
        false => Cow::Borrowed(cell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_of_csv_is_a_formula_and_numbers_stay_numbers() {
        let check = |cell: &str, expect: &str| {
            let csv = of_rows(vec!["=title".to_owned()], [vec![cell.to_owned()]].into_iter());
            assert_eq!(csv, format!("'=title\n{expect}\n"));
        };
        check("=1+1", "'=1+1");
        check("+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0");
        check("-2+3", "'-2+3");
        check("@SUM(A1)", "'@SUM(A1)");
        check("\t=1", "'\t=1");
        check("\r=1", "\"'\r=1\"");
        check("\n=1", "\"'\n=1\"");
        check("＝1", "'＝1");
        check("=HYPERLINK(\"x\",1)", "\"'=HYPERLINK(\"\"x\"\",1)\"");
        for plain in ["-1.5", "-1e-7", "+3", "-inf", "1-2", "tps=5", "a@b", "–", "'=1", " x"] {
            check(plain, plain);
        }
    }
}
