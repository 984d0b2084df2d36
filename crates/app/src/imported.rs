//! Reads figures that were measured by other programs from CSV into the store (`history import`).
//!
//! Each line is one measured value. The columns `figure` and `value` are required, `unit`, `error`,
//! `count` and `time` optional; all other columns are conditions or a version. A line that begins
//! with `#` is a comment; a comment in the first line names the source. Not here: the evaluation
//! (study).

use std::fmt::Display;
use std::path::Path;

use analysis::figures::{known, unit};
use csv::{ReaderBuilder, StringRecord, Trim};
use model::{Imported, ImportedValue, Reference, is_control_char};
use store::{IfKnown, Store};

use crate::error::Error;

/// Columns of an imported CSV file that describe the measured value. All other columns are
/// conditions, such as the number of clients.
const OF_VALUES: [&str; 6] = ["figure", "value", "unit", "error", "count", "time"];
/// Largest number of values in an imported CSV file; a file with more is rejected.
const VALUES_MAX: usize = 100_000;
/// Largest size of a file of figures in bytes: 100,000 lines of 640 bytes. A larger file is
/// rejected.
pub const FILE_BYTES_MAX: u64 = 64 << 20;
/// Largest number of columns of an imported CSV file that hold conditions; a file with more is
/// rejected.
const COLUMNS_MAX: usize = 20;
/// Largest size of a cell of an imported CSV file, in bytes; a file with a longer one is rejected.
const CELL_BYTES_MAX: usize = 200;
/// Largest size of the text that names the source of imported figures, in bytes; an import with a
/// longer one is rejected.
const SOURCE_BYTES_MAX: usize = 500;

/// Parses the text of a CSV file into figures called `name`. Without `source`, a comment in the
/// first line is the source. The error names the line.
pub fn read(name: &str, source: Option<&str>, text: &str) -> Result<Imported, Error> {
    is_name(name)?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let comment = text.lines().next().and_then(|line| line.strip_prefix('#'));
    let source = source.or(comment).unwrap_or_default().trim();
    if source.len() > SOURCE_BYTES_MAX || source.chars().any(is_control_char) {
        let why = format!("the source is one line of at most {SOURCE_BYTES_MAX} bytes");
        return Err(Error::Usage(why));
    }
    parsed(name, source, text).map_err(Error::Usage)
}

/// Reads the CSV file of reference figures that an experiment names. The figures get the name of
/// the file, without extension.
pub fn read_reference(file: &Path) -> Result<Reference, Error> {
    let named = file.display().to_string();
    let bad = |why: &dyn Display| Error::Usage(format!("reference: {named}: {why}"));
    let text = contents(file).map_err(|error| bad(&error))?;
    let stem = file.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into());
    let figures = read(&stem, None, &text).map_err(|error| bad(&error))?;
    Ok(Reference { file: named, figures })
}

/// Reads a text file of at most [`FILE_BYTES_MAX`] bytes.
pub fn contents(file: &Path) -> std::io::Result<String> {
    files::read_text(file, FILE_BYTES_MAX)
}

/// Stores imported figures. Fails if figures of the same name exist and `known` does not allow to
/// replace them.
pub fn keep(store: &Store, imported: &Imported, known: IfKnown) -> Result<(), Error> {
    match store.put_imported(imported, known)? {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "{} is imported already: --replace replaces it, --name imports under another name",
            imported.name
        ))),
    }
}

/// Returns the imported figures with these names. Fails if a name is unknown, or named twice.
pub fn named(store: &Store, names: &[String]) -> Result<Vec<Imported>, Error> {
    let mut all: Vec<Imported> = Vec::new();
    for name in names {
        if all.iter().any(|known| known.name == *name) {
            return Err(Error::Usage(format!("the imported {name} is named twice")));
        }
        let Some(imported) = store.imported(name)? else {
            let rows = store.all_imported()?;
            let names: Vec<&str> = rows.iter().map(|row| row.imported.name.as_str()).collect();
            return Err(Error::Usage(match names.is_empty() {
                true => format!(
                    "no figures are imported as {name}: 'dbdyno history import FILE.csv' imports some"
                ),
                false => {
                    format!("no figures are imported as {name}, only as {}", names.join(", "))
                }
            }));
        };
        all.push(imported);
    }
    Ok(all)
}

/// Removes the imported figures called `name`. Fails if there are none.
pub fn remove(store: &Store, name: &str) -> Result<(), Error> {
    match store.remove_imported(name)? {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "nothing is imported as {name}: 'dbdyno history import --list' lists all imports"
        ))),
    }
}

fn is_name(name: &str) -> Result<(), Error> {
    let is_letter = |c: char| c.is_alphanumeric() || "._-".contains(c);
    match !name.is_empty() && name.len() <= CELL_BYTES_MAX && name.chars().all(is_letter) {
        true => Ok(()),
        false => Err(Error::Usage(format!(
            "'{}' is not a name for imported figures: write --name with letters, digits, '.', '_' \
             and '-'",
            name.escape_debug()
        ))),
    }
}

fn parsed(name: &str, source: &str, text: &str) -> Result<Imported, String> {
    let is_data = |(_, line): &(usize, &str)| !line.trim().is_empty() && !line.starts_with('#');
    let mut lines = (1..).zip(text.lines()).filter(is_data);
    let Some((nth, header)) = lines.next() else {
        return Err("it is empty: its header has figure, value and what was varied".to_owned());
    };
    let header = cells(header);
    let columns = Columns::from_header(&header).map_err(|why| format!("line {nth}: {why}"))?;
    if lines.clone().nth(VALUES_MAX).is_some() {
        return Err(format!("it has more than {VALUES_MAX} values: import a part of it"));
    }
    let mut values = Vec::new();
    for (nth, line) in lines {
        let value = columns.value(&cells(line), header.len());
        values.push(value.map_err(|why| format!("line {nth}: {why}"))?);
    }
    if values.is_empty() {
        return Err("it has no values: write one in each line below the header".to_owned());
    }
    let columns = columns.at.into_iter().map(|(name, _)| name).collect();
    Ok(Imported { name: name.to_owned(), source: source.to_owned(), columns, values })
}

/// Splits a line into its cells; no accepted cell contains a line break.
fn cells(line: &str) -> StringRecord {
    let mut one = ReaderBuilder::new();
    one.has_headers(false).flexible(true).trim(Trim::All).buffer_capacity(line.len() + 1);
    let mut cells = StringRecord::new();
    let read = one.from_reader(line.as_bytes()).read_record(&mut cells);
    read.expect("text is read from memory, with as many cells as it has");
    cells
}

/// Positions of the columns in an imported CSV file, found by their names in its header.
struct Columns {
    /// Name and position of each column with a condition.
    at: Vec<(String, usize)>,
    /// Position of each column of [`OF_VALUES`]; `None` if the file does not have it.
    of_values: [Option<usize>; OF_VALUES.len()],
}

impl Columns {
    fn from_header(header: &StringRecord) -> Result<Columns, String> {
        let mut columns = Columns { at: Vec::new(), of_values: [None; OF_VALUES.len()] };
        for (place, name) in header.iter().enumerate() {
            is_cell(name)?;
            let lower = name.to_lowercase();
            if name.is_empty() {
                return Err(format!("column {} has no name", place + 1));
            }
            let known = OF_VALUES.iter().position(|known| *known == lower);
            let is_twice = match known {
                Some(index) => columns.of_values[index].replace(place).is_some(),
                None => columns.at.iter().any(|(known, _)| *known == name),
            };
            if is_twice {
                return Err(format!("there are two columns {name}"));
            }
            if known.is_none() {
                columns.at.push((name.to_owned(), place));
            }
        }
        for (index, name) in [(0, "figure"), (1, "value")] {
            if columns.of_values[index].is_none() {
                let found: Vec<&str> = header.iter().collect();
                return Err(format!(
                    "there is no column {name}, only {}: the header has figure and value, \
                     optionally unit, error, count and time, and what was varied, separated by \
                     commas",
                    found.join(", ")
                ));
            }
        }
        match columns.at.len() > COLUMNS_MAX {
            true => Err(format!("more than {COLUMNS_MAX} columns say what was varied")),
            false => Ok(columns),
        }
    }

    fn value(&self, record: &StringRecord, n_columns: usize) -> Result<ImportedValue, String> {
        if record.len() != n_columns {
            return Err(format!("it has {} cells, and the header {n_columns}", record.len()));
        }
        record.iter().try_for_each(is_cell)?;
        let cell = |index: usize| -> &str {
            self.of_values[index].and_then(|place| record.get(place)).unwrap_or_default()
        };
        let [figure, value, of_unit, error, count, time] = [0, 1, 2, 3, 4, 5].map(cell);
        let at = |(name, place): &(String, usize)| match record.get(*place) {
            None | Some("") => Err(format!("{name} is empty")),
            Some(at) => Ok(at.to_owned()),
        };
        let figure = figure_of(figure)?;
        let half_width = optional(error, |text| number("error", text))?;
        let count = optional(count, |text| {
            let count = text.parse::<u64>().ok().filter(|count| *count > 0);
            count.ok_or_else(|| format!("count {text} is not a number of runs"))
        })?;
        Ok(ImportedValue {
            at: self.at.iter().map(at).collect::<Result<_, String>>()?,
            value: number("value", value)?,
            unit: unit_of(&figure, of_unit)?,
            figure,
            half_width,
            count,
            time: optional(time, instant)?,
        })
    }
}

fn optional<T>(text: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, String> {
    if text.is_empty() { Ok(None) } else { read(text).map(Some) }
}

fn is_cell(cell: &str) -> Result<(), String> {
    match cell {
        long if long.len() > CELL_BYTES_MAX => {
            Err(format!("a cell is longer than {CELL_BYTES_MAX} bytes"))
        }
        cell if cell.chars().any(is_control_char) => {
            Err(format!("'{}' has control characters", cell.escape_debug()))
        }
        _ => Ok(()),
    }
}

/// Translates the name of a figure in the file into the name that runs use. Fails if no figure has
/// it.
fn figure_of(name: &str) -> Result<String, String> {
    match known(name) {
        Ok(Some(figure)) => Ok(figure),
        Ok(None) => Err(format!(
            "no figure is called '{name}': write one of 'dbdyno list figures', such as tps or \
             p99, or that of a custom metric, such as rows.per_second"
        )),
        Err(why) => Err(format!("figure '{name}': {why}")),
    }
}

/// Returns the written unit if the figure has none of its own, and else an empty text. Fails if the
/// figure has another unit, since values are not converted.
fn unit_of(figure: &str, written: &str) -> Result<String, String> {
    let own = unit(figure);
    // `1/s` may be written as `/s`.
    let is_own = written == own || own.strip_prefix('1') == Some(written);
    match written.is_empty() || is_own {
        true => Ok(String::new()),
        false if own.is_empty() => Ok(written.to_owned()),
        false => Err(format!("the unit of {figure} is {own}, not {written}: convert the values")),
    }
}

/// Parses a finite number of at least 0 in a CSV file. `column` is the column's name, for the
/// error.
fn number(column: &str, text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| match text {
        "" => format!("{column} is empty"),
        _ => format!("{column} '{text}' is not a number of at least 0, such as 5102 or 0.25"),
    })
}

/// Parses a time in UTC, such as `2015-06-01` or `2015-06-01T12:00`, and returns it in a form whose
/// alphabetical order is the order of time.
fn instant(text: &str) -> Result<String, String> {
    let written = text.strip_suffix(['Z', 'z']).unwrap_or(text);
    let instant = written.parse::<jiff::civil::DateTime>();
    let bad = |_| format!("'{text}' is not a time: write 2015-06-01 or 2015-06-01T12:00, in UTC");
    instant.map(|instant| instant.to_string()).map_err(bad)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        match read("it", None, text) {
            Err(error) => error.to_string(),
            Ok(read) => panic!("{text}: {read:?}"),
        }
    }

    #[test]
    fn a_line_is_a_value_and_other_columns_say_where() {
        let text = "\u{feff}version, clients,FIGURE,value,unit,error,count,time\r\n\
                    1.2,8,p99,12.5,ms,0.5,3,2015-06-01\r\n\
                    \"1,3\",8,tps,5102,/s,,,2015-06-01T12:30Z\r\n";
        let read = read("arm", Some("a page"), text).expect("it is whole");
        assert_eq!((read.name.as_str(), read.source.as_str()), ("arm", "a page"));
        assert_eq!(read.columns, ["version", "clients"]);
        assert_eq!(read.figures(), ["p99_ms", "tps"]);
        let [first, second] = &read.values[..] else { panic!("{read:?}") };
        assert_eq!((first.value, first.half_width, first.count), (12.5, Some(0.5), Some(3)));
        assert_eq!(first.time.as_deref(), Some("2015-06-01T00:00:00"));
        assert_eq!((second.at.join(" "), second.half_width), ("1,3 8".to_owned(), None));
        assert_eq!(second.time.as_deref(), Some("2015-06-01T12:30:00"));
        // Only a figure without its own unit keeps the written one.
        assert_eq!((first.unit.as_str(), second.unit.as_str()), ("", ""));
        let metric = "# a report,\n#\nfigure,value,unit\n# rows\nrows.per_second,1,rows/s\n";
        let metric = super::read("it", None, metric).expect("it is whole");
        assert_eq!(
            (metric.values[0].unit.as_str(), metric.source.as_str()),
            ("rows/s", "a report,")
        );
    }

    #[test]
    fn what_is_wrong_is_reported_with_its_line() {
        let check = |text: &str, expect: &str| {
            let why = refused(text);
            assert!(why.contains(expect), "{why}");
        };
        check("", "it is empty");
        check("# a page\n", "it is empty");
        check("tps,1\n", "line 1: there is no column figure, only tps, 1");
        check("version;figure;value\n", "no column figure, only version;figure;value");
        check("figure,tps\n", "there is no column value");
        check("figure,value,Value\n", "two columns Value");
        check("a,a,figure,value\n", "two columns a");
        check("a,,figure,value\n", "column 2 has no name");
        check("figure,value\n", "it has no values");
        check("figure,value\ntps,1\n\ntps,x\n", "line 4: value 'x' is not a number");
        check("# a page\nfigure,value\ntps,x\n", "line 3: value 'x'");
        check("figure,value\ntps,-1\n", "line 2: value '-1' is not a number of at least 0");
        check("figure,value\ntps,inf\n", "is not a number");
        check("figure,value\ntps,\n", "line 2: value is empty");
        check("figure,value\ntps,1,2\n", "line 2: it has 3 cells, and the header 2");
        check("figure,value\ntpps,1\n", "no figure is called 'tpps'");
        check("figure,value\n,1\n", "no figure is called ''");
        check("figure,value,unit\ntps,1,1/min\n", "the unit of tps is 1/s, not 1/min");
        check("a,figure,value\n,tps,1\n", "line 2: a is empty");
        check("figure,value,count\ntps,1,0\n", "count 0 is not a number of runs");
        check("figure,value,time\ntps,1,June\n", "'June' is not a time");
        check("a,figure,value\n\u{1b}[2J,tps,1\n", "has control characters");
        let long = format!("a,figure,value\n{},tps,1\n", "x".repeat(201));
        check(&long, "longer than 200 bytes");
        let many = format!("figure,value\n{}", "tps,1\n".repeat(VALUES_MAX + 1));
        check(&many, "more than 100000 values");
        let wide: String = (0..21).map(|n| format!("c{n},")).collect();
        check(&format!("{wide}figure,value\n"), "more than 20 columns");
        assert!(read("a b", None, "figure,value\ntps,1\n").is_err());
        assert!(read("a", Some("\u{1b}"), "figure,value\ntps,1\n").is_err());
    }
}
