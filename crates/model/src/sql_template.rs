//! SQL templates of workloads, translated into the dialect of a database: `?` stands for a value,
//! and words in braces for what databases spell differently.
//!
//! | in braces | meaning | where |
//! | --- | --- | --- |
//! | `{for update}` | the SELECT locks its rows | at its end |
//! | `{lock hint}` | locks the rows, in dialects with a hint for it | after a table's name |
//! | `{limit 5}` | the SELECT returns at most 5 rows | at its end, before `{for update}` |
//! | `{top 5}` | the SELECT returns at most 5 rows, in dialects with TOP | after the word SELECT |
//! | `{date 1995-03-15}` | a date | |
//! | `{add 3 months to X}` | a date some days, months or years later | |
//! | `{year of X}` | the year of a date, as a whole number | |
//! | `{first 2 letters of X}` | the first 2 characters of a text | |
//! | `{decimal X}` | a number among decimals with two digits, such as `0.06` | |
//! | `{divide X by Y}` | the quotient of two decimals, which is no whole number | |
//! | `{from nothing}` | the SELECT reads no table | in place of its FROM |
//!
//! The first four and the last expand to text with a leading blank, or to nothing. Quoted text,
//! comments and other words in braces stay as they are. Not here: values (drivers).

use crate::{DateUnit, Dialect, RowLimit, RowLock};

impl Dialect {
    /// Translates an SQL template of a workload into this dialect. Each `?` becomes a placeholder,
    /// and words in braces become the dialect's own (`{limit 1}`, `{for update}`, `{lock hint}`,
    /// `{top 1}`, `{date 1995-03-15}`, `{add 3 months to X}`, `{year of X}`,
    /// `{first 2 letters of X}`, `{decimal X}`, `{divide X by Y}`, `{from nothing}`). Quoted text,
    /// comments and other words in braces stay as they are.
    pub fn sql(&self, text: &str) -> String {
        let mut speller = Speller { dialect: self, n_marks: 0, sql: String::new() };
        speller.put(text);
        speller.sql
    }
}

struct Speller<'d> {
    dialect: &'d Dialect,
    n_marks: usize,
    sql: String,
}

impl Speller<'_> {
    fn put(&mut self, mut text: &str) {
        while let Some(at) = text.find(['?', '{', '\'', '"', '`', '/', '-']) {
            let (before, rest) = text.split_at(at);
            self.sql.push_str(before);
            text = self.put_next(rest);
        }
        self.sql.push_str(text);
    }

    /// Translates the first element of `rest`, the untranslated end of a template: a placeholder,
    /// words in braces, quoted text, a comment or a character. Returns the text after it.
    fn put_next<'t>(&mut self, rest: &'t str) -> &'t str {
        if let Some(behind) = rest.strip_prefix('?') {
            self.n_marks += 1;
            let mark = self.dialect.placeholder.mark(self.n_marks);
            self.sql.push_str(&mark);
            return behind;
        }
        if let Some((word, behind)) = braced(rest)
            && self.put_word(word).is_some()
        {
            return behind;
        }
        let (kept, behind) = rest.split_at(n_kept_bytes(rest));
        self.sql.push_str(kept);
        behind
    }

    /// Translates the words in a pair of braces, such as `limit 1`. Returns `None`, and appends
    /// nothing, if the words are not those of a template.
    fn put_word(&mut self, word: &str) -> Option<()> {
        let dialect = self.dialect;
        let written = match word.split_once(' ')? {
            ("for", "update") => dialect.row_lock.clause().to_owned(),
            ("lock", "hint") => dialect.row_lock.hint().to_owned(),
            ("from", "nothing") => dialect.from_nothing.to_owned(),
            ("limit", n) => dialect.row_limit.clause(n.parse().ok()?),
            ("top", n) => dialect.row_limit.top(n.parse().ok()?),
            ("date", day) => (dialect.date)(day),
            ("year", rest) => (dialect.year_of)(&self.inner(rest.strip_prefix("of ")?)),
            ("add", rest) => {
                let (length, date) = rest.split_once(" to ")?;
                let (n, unit) = length.split_once(' ')?;
                let (n, unit) = (n.parse().ok()?, DateUnit::named(unit)?);
                (dialect.later)(&self.inner(date), n, unit)
            }
            ("first", rest) => {
                let (n, text) = rest.split_once(" letters of ")?;
                (dialect.first_letters)(&self.inner(text), n.parse().ok()?)
            }
            ("decimal", number) => dialect.decimals.number(&self.inner(number)),
            ("divide", rest) => {
                let (dividend, divisor) = rest.split_once(" by ")?;
                let (dividend, divisor) = (self.inner(dividend), self.inner(divisor));
                dialect.decimals.quotient(&dividend, &divisor)
            }
            _ => return None,
        };
        self.sql.push_str(&written);
        Some(())
    }

    /// Translates an expression within braces. Its placeholders are numbered together with those of
    /// the whole template.
    fn inner(&mut self, text: &str) -> String {
        let before = std::mem::take(&mut self.sql);
        self.put(text);
        std::mem::replace(&mut self.sql, before)
    }
}

/// Splits a text that begins with a brace into the content of the braces, which may be nested, and
/// the rest. `None` if it does not begin with a brace, or the brace is not closed.
fn braced(text: &str) -> Option<(&str, &str)> {
    let mut depth = 0;
    for (at, letter) in text.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then(|| (&text[1..at], &text[at + 1..]));
        }
    }
    None
}

/// Returns the length in bytes of the quoted text or comment with which a text begins, otherwise
/// that of its first character.
fn n_kept_bytes(text: &str) -> usize {
    let until = |start: usize, end: &str| {
        text[start..].find(end).map_or(text.len(), |at| start + at + end.len())
    };
    match text.as_bytes() {
        // A doubled quote ends one text and begins another: both stay.
        [quote @ (b'\'' | b'"' | b'`'), ..] => until(1, &char::from(*quote).to_string()),
        [b'/', b'*', ..] => until(2, "*/"),
        [b'-', b'-', ..] => until(2, "\n"),
        _ => text.chars().next().map_or(0, char::len_utf8),
    }
}

impl RowLock {
    fn clause(self) -> &'static str {
        match self {
            RowLock::Clause(clause) => clause,
            RowLock::None | RowLock::Hint(_) => "",
        }
    }

    fn hint(self) -> &'static str {
        match self {
            RowLock::Hint(hint) => hint,
            RowLock::None | RowLock::Clause(_) => "",
        }
    }
}

impl RowLimit {
    fn clause(self, n_rows: u64) -> String {
        match self {
            RowLimit::Limit => format!(" LIMIT {n_rows}"),
            RowLimit::FetchFirst => format!(" FETCH FIRST {n_rows} ROWS ONLY"),
            RowLimit::Top => String::new(),
        }
    }

    fn top(self, n_rows: u64) -> String {
        match self {
            RowLimit::Top => format!(" TOP ({n_rows})"),
            RowLimit::Limit | RowLimit::FetchFirst => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Placeholder;

    /// A dialect like that of SQL Server, for tests.
    const T_SQL: Dialect = Dialect {
        placeholder: Placeholder::At,
        row_lock: RowLock::Hint(" WITH (UPDLOCK)"),
        row_limit: RowLimit::Top,
        date: |day| format!("CAST('{day}' AS DATE)"),
        year_of: |date| format!("YEAR({date})"),
        later: |date, n, unit| format!("DATEADD({}, {n}, {date})", unit.name()),
        ..Dialect::PLAIN
    };

    /// A dialect like that of Oracle, for tests.
    const ORACLE: Dialect = Dialect {
        placeholder: Placeholder::Colon,
        row_lock: RowLock::Clause(" FOR UPDATE"),
        row_limit: RowLimit::FetchFirst,
        from_nothing: " FROM DUAL",
        ..Dialect::PLAIN
    };

    #[test]
    fn values_are_marked_as_the_dialect_marks_them() {
        let check = |placeholder, expect: &str| {
            let dialect = Dialect { placeholder, ..Dialect::PLAIN };
            assert_eq!(dialect.sql("a = ? AND b IN (?, ?)"), expect);
        };
        check(Placeholder::Question, "a = ? AND b IN (?, ?)");
        check(Placeholder::Dollar, "a = $1 AND b IN ($2, $3)");
        check(Placeholder::At, "a = @P1 AND b IN (@P2, @P3)");
        check(Placeholder::Colon, "a = :1 AND b IN (:2, :3)");
    }

    #[test]
    fn quotes_and_comments_stay_as_they_are() {
        let check = |text: &str, expect: &str| assert_eq!(T_SQL.sql(text), expect);
        check("'?' /* ? {limit 1} */ ?", "'?' /* ? {limit 1} */ @P1");
        check("'it''s ?' ?", "'it''s ?' @P1");
        check("\"?\" `?` ? -- ?\n?", "\"?\" `?` @P1 -- ?\n@P2");
        check("'open ?", "'open ?");
        check("/* open ?", "/* open ?");
        check("a - ? / ?", "a - @P1 / @P2");
        check("ż = ? {", "ż = @P1 {");
    }

    #[test]
    fn rows_are_locked_where_the_dialect_says_it() {
        let text = "SELECT v FROM t{lock hint} WHERE id = ?{for update}";
        assert_eq!(T_SQL.sql(text), "SELECT v FROM t WITH (UPDLOCK) WHERE id = @P1");
        assert_eq!(ORACLE.sql(text), "SELECT v FROM t WHERE id = :1 FOR UPDATE");
        assert_eq!(Dialect::PLAIN.sql(text), "SELECT v FROM t WHERE id = ?");
    }

    #[test]
    fn rows_are_limited_where_the_dialect_says_it() {
        let text = "SELECT{top 10} v FROM t ORDER BY v{limit 10}{for update}";
        assert_eq!(T_SQL.sql(text), "SELECT TOP (10) v FROM t ORDER BY v");
        let fetched = "SELECT v FROM t ORDER BY v FETCH FIRST 10 ROWS ONLY FOR UPDATE";
        assert_eq!(ORACLE.sql(text), fetched);
        assert_eq!(Dialect::PLAIN.sql(text), "SELECT v FROM t ORDER BY v LIMIT 10");
    }

    #[test]
    fn dates_are_written_and_counted_with_in_the_words_of_the_dialect() {
        let text = "{year of d} FROM t WHERE d < {add -3 months to {date 1995-03-15}} AND x = ?";
        let standard = "EXTRACT(YEAR FROM d) FROM t \
                        WHERE d < (DATE '1995-03-15' + INTERVAL '-3' MONTH) AND x = ?";
        assert_eq!(Dialect::PLAIN.sql(text), standard);
        let t_sql = "YEAR(d) FROM t \
                     WHERE d < DATEADD(MONTH, -3, CAST('1995-03-15' AS DATE)) AND x = @P1";
        assert_eq!(T_SQL.sql(text), t_sql);
        let marked = T_SQL.sql("a = ? AND d > {add 1 day to ?} AND b = ?");
        assert_eq!(marked, "a = @P1 AND d > DATEADD(DAY, 1, @P2) AND b = @P3");
        assert_eq!(ORACLE.sql("SELECT 1{from nothing}"), "SELECT 1 FROM DUAL");
    }

    #[test]
    fn decimals_are_numbers_of_the_smallest_unit_where_they_are_stored_so() {
        const SCALED: Dialect =
            Dialect { decimals: crate::Decimals::ScaledInteger, ..Dialect::PLAIN };
        let check = |text: &str, expect: &str, scaled: &str| {
            assert_eq!([Dialect::PLAIN.sql(text), SCALED.sql(text)], [expect, scaled]);
        };
        check("{decimal 1} - a", "1 - a", "100 - a");
        check("{decimal 0.06}", "0.06", "6");
        check("{decimal 300}", "300", "30000");
        check("{decimal 0.5}", "0.5", "50");
        check("{decimal 0.00}", "0.00", "0");
        check("{decimal n}", "n", "(n * 100)");
        check("{decimal 0.005}", "0.005", "(0.005 * 100)");
        check("{divide SUM(a) by SUM(b)}", "SUM(a) / SUM(b)", "CAST(SUM(a) AS REAL) / SUM(b)");
    }

    #[test]
    fn a_text_is_cut_in_the_words_of_the_dialect() {
        let cut = Dialect::PLAIN.sql("{first 2 letters of phone}");
        assert_eq!(cut, "SUBSTRING(phone FROM 1 FOR 2)");
    }

    #[test]
    fn other_words_in_braces_stay() {
        for text in ["{orders}", "{limit x}", "{add 3 moons to d}", "{}", "{limit 1", "'{limit 1}'"]
        {
            assert_eq!(ORACLE.sql(text), text);
        }
    }
}
