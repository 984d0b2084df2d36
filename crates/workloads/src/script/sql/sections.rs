//! Division of a script file into sections: transaction types, checks, and scripts that build and
//! remove the data.
//!
//! A section begins with a comment that other programs ignore. A file without such a comment is one
//! transaction type.
//!
//! ```text
//! -- dbdyno: parameter accounts 1000 Number of accounts
//! -- dbdyno: build
//! -- dbdyno: build times :accounts
//! -- dbdyno: start client
//! -- dbdyno: transaction transfer weight 3 may fail 1062,23505
//! -- dbdyno: check no negative balance
//! -- dbdyno: drop
//! ```
//!
//! Not here: what is in the sections.

use model::BadParameter;

/// Start of a line that begins a section, without the hyphens of the comment.
const MARK: &str = "dbdyno:";

/// A part of a script file, up to the next section.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Section<'a> {
    pub(super) of: Of<'a>,
    /// Text of the section, without the line that begins it.
    pub(super) text: &'a str,
    /// Position of the section in the file that the user wrote.
    pub(super) place: Place<'a>,
}

/// Position of a section: file and number of the line before its first one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place<'a> {
    pub(super) file: &'a str,
    pub(super) lines_before: u32,
}

impl Place<'_> {
    /// Returns the position of a line of the section, counted from 1, as `bank.sql:7`.
    pub(super) fn line(&self, line: u32) -> String {
        format!("{}:{}", self.file, self.lines_before + line)
    }
}

/// Purpose of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of<'a> {
    /// A transaction type with its name, its relative frequency, and the errors that are expected,
    /// such as `1062,23505`.
    Transaction { name: &'a str, weight: u64, may_fail: &'a str },
    /// Commands that each client executes on its connection before its first transaction.
    StartClient,
    /// A query whose rows violate a condition, with the condition in words.
    Check { title: &'a str },
    /// Statements that create tables and rows, executed once; or, if there is a number of times,
    /// as often, each time with another value of the variable [`super::ROW`].
    Build { times: Option<&'a str> },
    /// Statements that remove what [`Of::Build`] has created.
    Drop,
}

/// A variable that a script file declares, with its default and its help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Declared<'a> {
    pub(super) name: &'a str,
    pub(super) default: &'a str,
    pub(super) help: &'a str,
}

/// Returns the variables that a script file declares, by lines such as `-- dbdyno: parameter
/// accounts 1000 Number of accounts`.
///
/// # Errors
///
/// A declaration without name or default.
pub(super) fn declared<'a>(file: &str, text: &'a str) -> Result<Vec<Declared<'a>>, BadParameter> {
    let mut all = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let Some(rest) = header(line).and_then(parameter) else { continue };
        let mut words = rest.splitn(3, char::is_whitespace);
        let (Some(name), Some(default)) = (words.next(), words.next()) else {
            return Err(BadParameter::new(format!(
                "{file}:{}: a parameter needs a name and a default: -- dbdyno: parameter accounts \
                 1000 Number of accounts",
                index + 1
            )));
        };
        let help = words.next().unwrap_or("Variable of the script").trim();
        all.push(Declared { name, default, help });
    }
    Ok(all)
}

/// Returns what follows the word `parameter`; `None` if the words declare none.
fn parameter(words: &str) -> Option<&str> {
    let rest = words.strip_prefix("parameter")?;
    (rest.is_empty() || rest.starts_with(char::is_whitespace)).then(|| rest.trim())
}

/// Divides the text of `file` into its sections. A file without any is one transaction type with
/// the name `stem`.
///
/// # Errors
///
/// A line that begins a section of an unknown kind, or statements before the first section.
pub(super) fn divide<'a>(
    file: &'a str,
    stem: &'a str,
    text: &'a str,
) -> Result<Vec<Section<'a>>, BadParameter> {
    let mut sections: Vec<Section<'a>> = Vec::new();
    let mut starts = Vec::new();
    let mut offset = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        // The declaration of a parameter is a comment of the section around it.
        if let Some(words) = header(line).filter(|words| parameter(words).is_none()) {
            starts.push((offset, offset + line.len(), index as u32 + 1, words));
        }
        offset += line.len();
    }
    let Some(&(first, ..)) = starts.first() else {
        let of = Of::Transaction { name: stem, weight: 1, may_fail: "" };
        return Ok(vec![Section { of, text, place: Place { file, lines_before: 0 } }]);
    };
    if let Some(line) = text[..first].lines().position(is_statement) {
        return Err(BadParameter::new(format!(
            "{file}:{}: this is in no section: write -- dbdyno: transaction NAME above it",
            line + 1
        )));
    }
    for (nth, &(_, begins, line, words)) in starts.iter().enumerate() {
        let ends = starts.get(nth + 1).map_or(text.len(), |next| next.0);
        let place = Place { file, lines_before: line };
        let (of, place) = purpose(words, place)
            .map_err(|why| BadParameter::new(format!("{file}:{line}: {why}")))?;
        sections.push(Section { of, text: &text[begins..ends], place });
    }
    Ok(sections)
}

/// Returns the line that begins a section of a composed script: a transaction type that is read
/// from `file`.
pub(super) fn header_of(name: &str, weight: u64, file: &str) -> String {
    format!("-- {MARK} transaction {name} weight {weight} file {file}\n")
}

/// Returns the words of a line that begins a section; `None` for another line.
fn header(line: &str) -> Option<&str> {
    Some(line.trim().strip_prefix("--")?.trim_start().strip_prefix(MARK)?.trim())
}

fn is_statement(line: &str) -> bool {
    let line = line.trim_start_matches('\u{feff}').trim();
    !line.is_empty() && !line.starts_with("--")
}

fn purpose<'a>(words: &'a str, place: Place<'a>) -> Result<(Of<'a>, Place<'a>), String> {
    let (kind, rest) = words.split_once(char::is_whitespace).unwrap_or((words, ""));
    let rest = rest.trim();
    match kind {
        "transaction" => transaction(rest, place),
        "check" if rest.is_empty() => {
            Err("a check needs a title: -- dbdyno: check no negative balance".to_owned())
        }
        "check" => Ok((Of::Check { title: rest }, place)),
        "build" if rest.is_empty() => Ok((Of::Build { times: None }, place)),
        "build" => match rest.strip_prefix("times ") {
            Some(times) => Ok((Of::Build { times: Some(times.trim()) }, place)),
            None => Err(format!("'{rest}' after build: write build, or build times 1000")),
        },
        "drop" => Ok((Of::Drop, place)),
        "start" if rest == "client" => Ok((Of::StartClient, place)),
        other => Err(format!(
            "there is no section '{other}': write transaction NAME, start client, check TITLE, \
             build, drop or parameter NAME DEFAULT"
        )),
    }
}

/// Reads `NAME [weight N] [may fail CODES] [file FILE]`. Lines of a section with a file are counted
/// in that file.
fn transaction<'a>(words: &'a str, place: Place<'a>) -> Result<(Of<'a>, Place<'a>), String> {
    let (words, place) = match words.split_once(" file ") {
        Some((words, file)) => (words, Place { file: file.trim(), lines_before: 0 }),
        None => (words, place),
    };
    let (words, may_fail) = words.split_once(" may fail ").unwrap_or((words, ""));
    let (name, weight) = match words.split_once(" weight ") {
        Some((name, weight)) => {
            let number = weight.trim().parse::<u64>().ok();
            (name, number.ok_or_else(|| format!("'{}' is no weight", weight.trim()))?)
        }
        None => (words, 1),
    };
    let name = name.trim();
    let is_name = |letter: char| letter.is_alphanumeric() || "_-.".contains(letter);
    match !name.is_empty() && name.chars().all(is_name) {
        true => Ok((Of::Transaction { name, weight, may_fail: may_fail.trim() }, place)),
        false => {
            Err(format!("'{name}' is no name of a transaction type: use letters, digits, - and _"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn divided(text: &str) -> Result<Vec<Section<'_>>, String> {
        divide("bank.sql", "bank", text).map_err(|bad| bad.to_string())
    }

    #[test]
    fn a_file_without_sections_is_one_transaction_type() {
        let sections = divided("-- a comment\nSELECT 1;\n").expect("it is a script");
        assert_eq!(sections[0].of, Of::Transaction { name: "bank", weight: 1, may_fail: "" });
        assert_eq!(sections[0].place.line(2), "bank.sql:2");
    }

    #[test]
    fn sections_keep_their_lines() {
        let text = "\n-- dbdyno: build\nCREATE TABLE t (i int);\n\
                    --dbdyno: transaction pay weight 3\nSELECT 1;\nSELECT 2;\n\
                    -- dbdyno: check no negative balance\nSELECT 3;\n-- dbdyno: drop\n";
        let sections = divided(text).expect("it has sections");
        let of: Vec<Of<'_>> = sections.iter().map(|section| section.of).collect();
        let pay = Of::Transaction { name: "pay", weight: 3, may_fail: "" };
        let build = Of::Build { times: None };
        assert_eq!(of, [build, pay, Of::Check { title: "no negative balance" }, Of::Drop]);
        assert_eq!(sections[1].text, "SELECT 1;\nSELECT 2;\n");
        assert_eq!(sections[1].place.line(2), "bank.sql:6");
    }

    #[test]
    fn parameters_are_declared_within_any_section() {
        let text = "-- dbdyno: parameter n 7 Number of rows\n-- dbdyno: build times :n * 2\n\
                    INSERT INTO t VALUES (:row);\n-- dbdyno: parameter name x\n";
        let declared = declared("bank.sql", text).expect("two");
        let n = Declared { name: "n", default: "7", help: "Number of rows" };
        let name = Declared { name: "name", default: "x", help: "Variable of the script" };
        assert_eq!(declared, [n, name]);
        let sections = divided(text).expect("one");
        assert_eq!(sections[0].of, Of::Build { times: Some(":n * 2") });
        assert!(super::declared("bank.sql", "-- dbdyno: parameter n\n").is_err());
    }

    #[test]
    fn a_composed_script_counts_the_lines_of_its_files() {
        let text = header_of("read", 7, "a/read me.sql") + "SELECT 1;\n";
        let sections = divided(&text).expect("it is composed");
        assert_eq!(sections[0].of, Of::Transaction { name: "read", weight: 7, may_fail: "" });
        assert_eq!(sections[0].place.line(1), "a/read me.sql:1");
    }

    #[test]
    fn a_transaction_may_fail_and_a_client_has_a_start() {
        let text = "-- dbdyno: start client\nSELECT 1;\n\
                    -- dbdyno: transaction a weight 2 may fail 1062, 23505\nSELECT 1;\n\
                    -- dbdyno: transaction b may fail 1062\nSELECT 1;\n";
        let of: Vec<Of<'_>> = divided(text).expect("three").iter().map(|one| one.of).collect();
        let a = Of::Transaction { name: "a", weight: 2, may_fail: "1062, 23505" };
        assert_eq!(
            of,
            [Of::StartClient, a, Of::Transaction { name: "b", weight: 1, may_fail: "1062" }]
        );
    }

    #[test]
    fn what_is_no_section_is_refused_with_its_line() {
        let check = |text: &str, expect: &str| {
            let why = divided(text).expect_err(text);
            assert!(why.contains(expect), "{why}");
        };
        check("\n-- dbdyno: transition x\n", "bank.sql:2: there is no section 'transition'");
        check("SELECT 1;\n-- dbdyno: build\n", "bank.sql:1: this is in no section");
        check("-- dbdyno: transaction a b\n", "'a b' is no name");
        check("-- dbdyno: transaction a weight x\n", "'x' is no weight");
        check("-- dbdyno: check\n", "needs a title");
    }
}
