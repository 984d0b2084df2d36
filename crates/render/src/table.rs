//! A table with typed cells, which can be printed as text, Markdown, HTML, CSV or JSON. People get
//! rounded numbers, programs all digits.
//!
//! Not here: borders, colours, and the contents of tables.

#[cfg(feature = "pages")]
mod html;

use std::borrow::Cow;

use model::format_count;
use model::numbers::{INFINITE, NONE, percent, significant, wrap};
use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr;

/// Alignment of the cells in a column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Cells that begin at the left edge of the column, for words.
    Left,
    /// Cells that end at the right edge of the column, for whole numbers.
    Right,
    /// Cells with their decimal points below each other, for numbers with decimals.
    Point,
}

/// Rounding of the numbers in a column of a table, as people see them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digits {
    /// Numbers are rounded to this number of significant digits.
    Significant(usize),
    Tenth,
}

/// A column of a table for people, for programs (CSV and JSON), or for both. Without a title it is
/// for programs only, without a key for people only.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    pub(crate) key: Cow<'static, str>,
    title: Cow<'static, str>,
    is_data: bool,
    align: Align,
    digits: Digits,
    spare: u8,
    /// Width to which a page too narrow for all columns may shorten the cells; `None` if they are
    /// never shortened.
    least: Option<usize>,
    is_wrapped: bool,
    is_head: bool,
}

impl Column {
    /// Creates a column for people only, which pages of any width show.
    pub fn new(title: impl Into<Cow<'static, str>>, align: Align) -> Column {
        Column {
            key: "".into(),
            title: title.into(),
            is_data: false,
            align,
            digits: Digits::Significant(4),
            spare: 0,
            least: None,
            is_wrapped: false,
            is_head: false,
        }
    }

    /// Creates a column for people that a page too narrow for all columns leaves out. Columns of
    /// the highest `rank` are left out first.
    pub fn spare(title: impl Into<Cow<'static, str>>, align: Align, rank: u8) -> Column {
        Column { spare: rank, ..Column::new(title, align) }
    }

    /// Lets a page that is too narrow for all columns shorten the cells to `least` columns of the
    /// terminal, in their middles. It does so before it leaves out a spare column of rank 1.
    pub fn shortened(self, least: usize) -> Column {
        Column { least: Some(least), ..self }
    }

    /// Makes a column of sentences for people, which are wrapped on a narrow page.
    pub fn sentences(title: impl Into<Cow<'static, str>>) -> Column {
        Column { is_wrapped: true, ..Column::new(title, Align::Left) }
    }

    /// Marks the column as one that identifies the row, such as a name at the left. If a narrow
    /// page divides the table into parts below each other, each of them repeats this column.
    pub fn head(self) -> Column {
        Column { is_head: true, ..self }
    }

    /// Creates a column of words, for people and programs.
    pub fn words(key: impl Into<Cow<'static, str>>, title: &'static str) -> Column {
        Column::new(title, Align::Left).key(key)
    }

    /// Creates a column of whole numbers, for people and programs.
    pub fn count(key: impl Into<Cow<'static, str>>, title: &'static str) -> Column {
        Column::new(title, Align::Right).key(key)
    }

    /// Creates a column of numbers: people see `digits` significant digits, programs read all.
    pub fn number(
        key: impl Into<Cow<'static, str>>,
        title: impl Into<Cow<'static, str>>,
        digits: usize,
    ) -> Column {
        Column::new(title, Align::Point).key(key).digits(digits)
    }

    /// Creates a column of percentages: people see tenths, programs read all digits.
    pub fn percent(key: &'static str, title: &'static str) -> Column {
        Column::new(title, Align::Point).key(key).tenths()
    }

    /// Sets the number of significant digits to which people see the column's numbers rounded.
    pub fn digits(self, digits: usize) -> Column {
        Column { digits: Digits::Significant(digits), ..self }
    }

    /// Sets that people see the column's numbers rounded to a tenth.
    pub fn tenths(self) -> Column {
        Column { digits: Digits::Tenth, ..self }
    }

    /// Creates a column that only programs (CSV and JSON) read, under the name `key`.
    pub fn data(key: impl Into<Cow<'static, str>>) -> Column {
        Column { is_data: true, ..Column::new("", Align::Left).key(key) }
    }

    /// Adds a name for programs, so that CSV and JSON have the column, too. It includes the unit,
    /// as in `p99_ms`.
    pub fn key(self, key: impl Into<Cow<'static, str>>) -> Column {
        Column { key: key.into(), ..self }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    None,
    Words(String),
    Count(i64),
    Number(f64),
    /// A time that is infinite because transactions were lost.
    Infinite,
    /// Text for people and the same as a number for programs, such as a number with its error.
    /// Without a number, programs get an empty cell.
    Said(String, Option<f64>),
    /// Text with code between backticks, as in Markdown.
    Marked(String),
}

impl Cell {
    /// Creates a text cell in which the parts of `words` between backticks are shown as code.
    pub fn marked(words: impl Into<String>) -> Cell {
        Cell::Marked(words.into())
    }

    /// Creates a cell with text for people and a number for programs.
    pub fn said(words: impl Into<String>, number: Option<f64>) -> Cell {
        Cell::Said(words.into(), number)
    }

    /// Formats the cell for people, rounded as its column says.
    fn shown(&self, column: &Column) -> String {
        match (self, column.digits) {
            (Cell::None, _) if column.align == Align::Left => String::new(),
            (Cell::None, _) => NONE.to_owned(),
            (Cell::Words(words) | Cell::Said(words, _), _) => words.clone(),
            (Cell::Marked(words), _) => words.replace('`', ""),
            (Cell::Count(count), _) => {
                let sign = if *count < 0 { "-" } else { "" };
                format!("{sign}{}", format_count(count.unsigned_abs()))
            }
            (Cell::Infinite, _) => INFINITE.to_owned(),
            (Cell::Number(number), Digits::Significant(digits)) => significant(*number, digits),
            (Cell::Number(number), Digits::Tenth) => percent(Some(*number)),
        }
    }

    /// Formats the cell for CSV, with all digits of a number.
    fn exact(&self) -> String {
        match self {
            Cell::None => String::new(),
            Cell::Words(words) => words.clone(),
            Cell::Marked(words) => words.replace('`', ""),
            Cell::Count(count) => count.to_string(),
            Cell::Number(number) => number.to_string(),
            Cell::Said(_, number) => Cell::from(*number).exact(),
            Cell::Infinite => f64::INFINITY.to_string(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Cell::None => Value::Null,
            Cell::Words(words) => json!(words),
            Cell::Marked(words) => json!(words.replace('`', "")),
            Cell::Count(count) => json!(count),
            Cell::Number(number) => json!(number),
            Cell::Said(_, number) => Cell::from(*number).json(),
            Cell::Infinite => json!(f64::INFINITY.to_string()),
        }
    }
}

impl From<String> for Cell {
    fn from(words: String) -> Cell {
        Cell::Words(words)
    }
}

impl From<&str> for Cell {
    fn from(words: &str) -> Cell {
        Cell::Words(words.to_owned())
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Cell {
        Cell::Count(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<usize> for Cell {
    fn from(count: usize) -> Cell {
        Cell::Count(i64::try_from(count).unwrap_or(i64::MAX))
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        match number {
            f64::INFINITY => Cell::Infinite,
            number if number.is_finite() => Cell::Number(number),
            _ => Cell::None,
        }
    }
}

impl From<Option<f64>> for Cell {
    fn from(number: Option<f64>) -> Cell {
        number.map_or(Cell::None, Cell::from)
    }
}

/// A text that HTML shows folded at the end of a row of a table.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Fold {
    /// Title that unfolds the text.
    pub(crate) title: String,
    /// Lines of the text; empty if the row has none.
    pub(crate) lines: String,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// Name of the table for programs, such as `timing`; may be empty.
    pub name: &'static str,
    /// Title of the table for people; may be empty.
    pub title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
    shown_max: Option<(usize, String)>,
    /// A text for each row, which HTML shows folded at its end; empty for none.
    folded: Vec<Fold>,
    nothing: Option<&'static str>,
}

fn only_kept<T>(all: Vec<T>, kept: &[bool]) -> Vec<T> {
    all.into_iter().zip(kept).filter(|(_, is_kept)| **is_kept).map(|(one, _)| one).collect()
}

/// Smallest width to which a column of sentences is wrapped, in columns of the terminal.
const WRAPPED_LEAST: usize = 20;

/// Gap between two columns of a table as text.
const GAP: &str = "  ";

impl Table {
    pub fn new(columns: impl Into<Vec<Column>>) -> Table {
        Table { columns: columns.into(), ..Table::default() }
    }

    /// Creates a table with all its rows. Panics if a row has not exactly one cell for each column.
    pub fn filled(
        name: &'static str,
        title: impl Into<String>,
        columns: impl Into<Vec<Column>>,
        rows: Vec<Vec<Cell>>,
    ) -> Table {
        let mut table = Table { name, title: title.into(), ..Table::new(columns) };
        rows.into_iter().for_each(|row| table.row(row));
        table
    }

    /// Adds a row. Panics if it has not exactly one cell for each column.
    pub fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        let cells: Vec<Cell> = cells.into_iter().map(Into::into).collect();
        assert_eq!(cells.len(), self.columns.len(), "a cell for each column");
        self.rows.push(cells);
    }

    /// Limits the number of rows in text and Markdown. Below them, the others are counted: with
    /// `what` = "errors", `and 12 more errors`. HTML, CSV and JSON have all rows.
    pub fn shown_max(self, rows: usize, what: impl Into<String>) -> Table {
        Table { shown_max: Some((rows, what.into())), ..self }
    }

    /// Sets a text for each row, in the order of the rows. HTML shows it folded at the end of the
    /// row; text, Markdown, CSV and JSON do not have it.
    pub(crate) fn folded(self, folded: Vec<Fold>) -> Table {
        assert_eq!(folded.len(), self.rows.len(), "a text for each row");
        Table { folded, ..self }
    }

    /// Removes the columns whose titles are among `titles`.
    pub(crate) fn without(self, titles: &[&str]) -> Table {
        let is_kept = |column: &Column| !titles.contains(&&*column.title);
        let kept: Vec<bool> = self.columns.iter().map(is_kept).collect();
        let rows = self.rows.into_iter().map(|row| only_kept(row, &kept)).collect();
        Table { columns: only_kept(self.columns, &kept), rows, ..self }
    }

    /// Sets the text that replaces a table without rows, such as "no runs".
    pub fn or_words(self, words: &'static str) -> Table {
        Table { nothing: Some(words), ..self }
    }

    /// Returns the text to print instead of a table without rows, as set by [`Table::or_words`];
    /// `None` if there are rows or no text was set.
    pub(crate) fn nothing(&self) -> Option<&'static str> {
        self.nothing.filter(|_| self.is_empty())
    }

    /// Returns true if the table has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Counts the rows that text and Markdown leave out: `and 12 more errors`. `None` if none are
    /// left out.
    pub(crate) fn rest(&self) -> Option<String> {
        let (max, what) = self.shown_max.as_ref()?;
        let rest = self.rows.len().checked_sub(*max).filter(|rest| *rest > 0)?;
        Some(format!("and {} more {what}", format_count(rest as u64)))
    }

    /// Returns the rows that text and Markdown show: at most as many as [`Table::shown_max`]
    /// allows.
    fn shown_rows(&self) -> &[Vec<Cell>] {
        let max = self.shown_max.as_ref().map_or(usize::MAX, |(max, _)| *max);
        &self.rows[..self.rows.len().min(max)]
    }

    /// Formats the table as lines of at most `width` columns. If the table is too wide, it loses
    /// spare columns first, and shortens cells before it loses the last ones; then sentences are
    /// wrapped; then the columns that do not fit are printed below the others, with the identifying
    /// ones repeated.
    pub fn lines(&self, width: usize) -> Vec<String> {
        self.bands(width).join(&String::new())
    }

    /// Returns the table as parts to print below each other, each a list of lines. A part has as
    /// many columns as fit `width`, and begins with their titles.
    pub(crate) fn bands(&self, width: usize) -> Vec<Vec<String>> {
        let columns = self.fitting(width);
        let rooms = rooms(&columns, width);
        let band = |places: &Vec<usize>| {
            let row = |row: usize| {
                let cells = places.iter().map(|at| in_room(&columns[*at].1[row], rooms[*at]));
                let rooms: Vec<_> = places.iter().map(|at| rooms[*at]).collect();
                beside(&cells.collect::<Vec<_>>(), &rooms)
            };
            (0..=self.shown_rows().len()).flat_map(row).collect()
        };
        in_bands(&columns, &rooms, width).iter().map(band).collect()
    }

    /// Returns the titles of the spare columns that do not fit a page of `width` columns.
    pub(crate) fn left_out(&self, width: usize) -> Vec<&str> {
        let kept: Vec<&Column> =
            self.fitting(width).into_iter().map(|(column, _)| column).collect();
        let is_kept = |column: &Column| kept.iter().any(|kept| std::ptr::eq(*kept, column));
        let left = self.shown().map(|(_, column)| column).filter(|column| !is_kept(column));
        left.map(|column| column.title.as_ref()).collect()
    }

    /// Returns the width of the whole table as text, in columns of the terminal.
    pub(crate) fn width(&self) -> usize {
        total(&self.shown().map(|(place, column)| (column, self.column(place))).collect::<Vec<_>>())
    }

    /// Returns the columns to print for people, with title and cells padded. Spare columns that do
    /// not fit `width` are left out, unless even the others have to be divided into parts.
    fn fitting(&self, width: usize) -> Vec<(&Column, Vec<String>)> {
        let all: Vec<(&Column, Vec<String>)> =
            self.shown().map(|(place, column)| (column, self.column(place))).collect();
        let mut columns = all.clone();
        while total(&columns) > width {
            let most = columns.iter().map(|(column, _)| column.spare).max().unwrap_or(0);
            if most <= 1 {
                shorten(&mut columns, width);
            }
            if most == 0 || total(&columns) <= width {
                break;
            }
            columns.retain(|(column, _)| column.spare != most);
        }
        let is_same =
            |a: &(&Column, Vec<String>), b: &(&Column, Vec<String>)| std::ptr::eq(a.0, b.0);
        // A narrow column that was left out may fit where a wide one did not.
        let mut left: Vec<usize> = (0..all.len())
            .filter(|at| !columns.iter().any(|kept| is_same(kept, &all[*at])))
            .collect();
        left.sort_by_key(|at| all[*at].0.spare);
        for at in left {
            let place = all[..at]
                .iter()
                .filter(|earlier| columns.iter().any(|c| is_same(c, earlier)))
                .count();
            columns.insert(place, all[at].clone());
            if total(&columns) > width {
                columns.remove(place);
            }
        }
        let rooms = rooms(&columns, width);
        if in_bands(&columns, &rooms, width).len() > 1 { all } else { columns }
    }

    /// Formats the columns for people as a Markdown table (GitHub Flavored Markdown).
    pub fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let mut text = line(self.shown().map(|(_, column)| escaped(&column.title)).collect());
        let rule = self.shown().map(|(_, column)| match column.align {
            Align::Left => "---".to_owned(),
            Align::Right | Align::Point => "---:".to_owned(),
        });
        text += &line(rule.collect());
        for row in self.shown_rows() {
            let cells = self.shown().map(|(place, column)| match &row[place] {
                Cell::Marked(words) => marked(words),
                cell => escaped(&cell.shown(column)),
            });
            text += &line(cells.collect());
        }
        text
    }

    /// Returns the names of the columns for programs, such as `p99_ms`.
    pub fn keys(&self) -> Vec<String> {
        self.read().map(|(_, column)| column.key.to_string()).collect()
    }

    /// Returns the rows for programs: the cells of columns with a key, with all digits.
    pub fn exact_rows(&self) -> Vec<Vec<String>> {
        let row = |row: &Vec<Cell>| self.read().map(|(place, _)| row[place].exact()).collect();
        self.rows.iter().map(row).collect()
    }

    /// Returns each row as a JSON object, with the keys of the columns for programs.
    pub fn json(&self) -> Value {
        let row = |row: &Vec<Cell>| {
            let cells = self.read();
            let cells = cells.map(|(place, column)| (column.key.to_string(), row[place].json()));
            Value::Object(cells.collect::<Map<String, Value>>())
        };
        Value::Array(self.rows.iter().map(row).collect())
    }

    /// Returns the columns for people, each with its index in the table.
    fn shown(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(|(_, column)| !column.is_data)
    }

    /// Returns the columns for programs, each with its index in the table.
    fn read(&self) -> impl Iterator<Item = (usize, &Column)> {
        self.columns.iter().enumerate().filter(|(_, column)| !column.key.is_empty())
    }

    fn shown_cells(&self, rows: &[Vec<Cell>], place: usize) -> Vec<String> {
        rows.iter().map(|row| row[place].shown(&self.columns[place])).collect()
    }

    /// Returns title and cells of the column at index `place` as text, padded to the same width.
    fn column(&self, place: usize) -> Vec<String> {
        let Column { title, align, .. } = &self.columns[place];
        let cells = self.shown_cells(self.shown_rows(), place);
        let fraction = cells.iter().map(|cell| fraction_of(cell)).max().unwrap_or(0);
        let mut column = vec![title.to_string()];
        column.extend(cells.into_iter().map(|cell| match align {
            Align::Point => format!("{cell}{}", " ".repeat(fraction - fraction_of(&cell))),
            Align::Left | Align::Right => cell,
        }));
        let width = column.iter().map(|cell| length(cell)).max().unwrap_or(0);
        for cell in &mut column {
            let pad = " ".repeat(width - length(cell));
            *cell = match align {
                Align::Left => format!("{cell}{pad}"),
                Align::Right | Align::Point => format!("{pad}{cell}"),
            };
        }
        column
    }
}

/// Shortens the cells of columns that allow it, the widest first, until the table fits `width` or
/// none may become shorter. If it cannot fit, all cells stay whole.
fn shorten(columns: &mut [(&Column, Vec<String>)], width: usize) {
    let mut rooms: Vec<usize> = columns.iter().map(|(_, cells)| length(&cells[0])).collect();
    let mut excess = total(columns).saturating_sub(width);
    while excess > 0 {
        let may = |at: &usize| columns[*at].0.least.is_some_and(|least| rooms[*at] > least);
        let Some(widest) = (0..rooms.len()).filter(may).max_by_key(|at| rooms[*at]) else { return };
        rooms[widest] -= 1;
        excess -= 1;
    }
    for ((_, cells), room) in columns.iter_mut().zip(rooms) {
        for cell in cells.iter_mut().filter(|cell| length(cell) > room) {
            let short = without_middle(cell.trim_end(), room);
            *cell = format!("{short}{}", " ".repeat(room - length(&short)));
        }
    }
}

/// Replaces the middle of a text by `…`, so that it has at most `room` columns of the terminal: the
/// names of runs often differ at their ends.
fn without_middle(text: &str, room: usize) -> String {
    if length(text) <= room {
        return text.to_owned();
    }
    let tail = room.saturating_sub(1) / 2;
    let fits = |part: &&str, room: usize| length(part) <= room;
    let cuts = || text.char_indices().map(|(at, _)| at);
    let head = room.saturating_sub(1 + tail);
    let begin =
        cuts().rev().map(|at| &text[..at]).find(|part| fits(part, head)).unwrap_or_default();
    let end = cuts().map(|at| &text[at..]).find(|part| fits(part, tail)).unwrap_or_default();
    format!("{begin}…{end}")
}

/// Returns for each column the width to which its sentences are wrapped, so that the table fits
/// `width` if possible; `None` for a column that is not wrapped.
fn rooms(columns: &[(&Column, Vec<String>)], width: usize) -> Vec<Option<usize>> {
    let mut rooms = vec![None; columns.len()];
    let excess = total(columns).saturating_sub(width);
    if excess == 0 {
        return rooms;
    }
    let own = |at: usize| length(&columns[at].1[0]);
    let mut wrapped: Vec<usize> =
        (0..columns.len()).filter(|at| columns[*at].0.is_wrapped).collect();
    wrapped.sort_by_key(|at| own(*at));
    let mut left = wrapped.iter().map(|at| own(*at)).sum::<usize>().saturating_sub(excess);
    for (index, at) in wrapped.iter().enumerate() {
        let words = columns[*at].1.iter().flat_map(|cell| cell.split_whitespace());
        // A wider word would extend into the next column.
        let least = words.map(length).max().unwrap_or(0).max(WRAPPED_LEAST);
        let room = (left / (wrapped.len() - index)).max(least).min(own(*at));
        rooms[*at] = Some(room);
        left = left.saturating_sub(room);
    }
    rooms
}

/// Divides columns into parts that fit `width`, each a list of column indices; one part if all fit.
/// Further parts begin with the identifying columns, or at least the first one, if there is room.
fn in_bands(
    columns: &[(&Column, Vec<String>)],
    rooms: &[Option<usize>],
    width: usize,
) -> Vec<Vec<usize>> {
    let taken = |at: usize| rooms[at].unwrap_or_else(|| length(&columns[at].1[0])) + GAP.len();
    let width = width.saturating_add(GAP.len());
    let n_heads = columns.iter().take_while(|(column, _)| column.is_head).count();
    let heads = [n_heads.max(1), 1, 0].map(|n| (n, (0..n).map(taken).sum::<usize>()));
    let mut bands = vec![Vec::new()];
    let mut used = 0;
    for at in 0..columns.len() {
        if used > 0 && used + taken(at) > width {
            let fits = |(_, room): &&(usize, usize)| room + taken(at) <= width;
            let (n, room) = heads.iter().find(fits).copied().unwrap_or_default();
            bands.push((0..n).collect());
            used = room;
        }
        bands.last_mut().expect("there is always one").push(at);
        used += taken(at);
    }
    bands
}

/// Wraps a cell to `room` columns of the terminal; `None` leaves it as one line.
fn in_room(cell: &str, room: Option<usize>) -> Vec<String> {
    match room {
        Some(room) if length(cell.trim_end()) > room => wrap(cell, room),
        Some(_) => vec![cell.trim_end().to_owned()],
        None => vec![cell.to_owned()],
    }
}

/// Joins the cells of a row, each of several wrapped lines, to lines of the table. `rooms` has the
/// widths of wrapped columns.
fn beside(cells: &[Vec<String>], rooms: &[Option<usize>]) -> Vec<String> {
    let n_lines = cells.iter().map(Vec::len).max().unwrap_or(0);
    let part = |cell: &Vec<String>, room: Option<usize>, line: usize| {
        let text = cell.get(line).cloned().unwrap_or_default();
        let width = room.unwrap_or_else(|| length(&cell[0]));
        let pad = width.saturating_sub(length(&text));
        text + &" ".repeat(pad)
    };
    let line = |line: usize| {
        let parts = cells.iter().zip(rooms).map(|(cell, room)| part(cell, *room, line));
        parts.collect::<Vec<String>>().join(GAP).trim_end().to_owned()
    };
    (0..n_lines).map(line).collect()
}

/// Returns the number of characters from a cell's decimal point to its end; 0 if it has none.
fn fraction_of(cell: &str) -> usize {
    cell.find('.').map_or(0, |at| length(&cell[at..]))
}

/// Returns the width of text on a terminal, in columns (Unicode Standard Annex 11).
fn length(text: &str) -> usize {
    text.width()
}

fn total(columns: &[(&Column, Vec<String>)]) -> usize {
    let cells: usize = columns.iter().map(|(_, cells)| length(&cells[0])).sum();
    cells + GAP.len() * columns.len().saturating_sub(1)
}

/// Converts text with code between backticks to Markdown for a cell.
fn marked(words: &str) -> String {
    let part = |(index, part): (usize, &str)| match index % 2 {
        0 => escaped(part),
        _ => format!("`{}`", part.replace('|', "\\|")),
    };
    words.split('`').enumerate().map(part).collect()
}

/// Escapes characters that have a meaning in Markdown.
pub(super) fn escaped(text: &str) -> String {
    let is_mark = |letter: char| matches!(letter, '\\' | '|' | '*' | '_' | '<' | '&' | '`' | '[');
    text.chars().fold(String::new(), |mut shown, letter| {
        if is_mark(letter) {
            shown.push('\\');
        }
        shown.push(letter);
        shown
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let columns = [
            Column::new("kind", Align::Left),
            Column::spare("calls", Align::Right, 1),
            Column::spare("trips", Align::Right, 2),
            Column::new("p99", Align::Point),
        ];
        let mut table = Table::new(columns);
        for (kind, p99) in [("new_order", "4.21"), ("pay", "123"), ("x", "12.3"), ("y", "–")] {
            table.row([kind, "1,000", "7", p99]);
        }
        table
    }

    #[test]
    fn cells_are_shortened_in_their_middle_before_the_last_spare_column_goes() {
        let columns = [
            Column::new("name", Align::Left).shortened(9),
            Column::spare("database", Align::Left, 1),
            Column::spare("clients", Align::Right, 2),
        ];
        let mut table = Table::new(columns);
        table.row(["a-long-name, 4 runs", "SQLite 3.54", "4"]);
        table.row(["tpcc", "SQLite 3.54", "4"]);
        assert_eq!(table.lines(41)[1], "a-long-name, 4 runs  SQLite 3.54        4");
        assert_eq!(
            table.lines(40)[1..],
            ["a-long-name, 4 runs  SQLite 3.54", "tpcc                 SQLite 3.54"]
        );
        assert_eq!(
            table.lines(28)[1..],
            ["a-long-… 4 runs  SQLite 3.54", "tpcc             SQLite 3.54"]
        );
        assert_eq!(table.left_out(28), ["clients"]);
        assert_eq!(table.lines(21)[1..], ["a-long-name, 4 runs", "tpcc"]);
    }

    #[test]
    fn points_stand_below_each_other() {
        insta::assert_snapshot!(table().lines(80).join("\n"), @r"
        kind       calls  trips     p99
        new_order  1,000      7    4.21
        pay        1,000      7  123
        x          1,000      7   12.3
        y          1,000      7    –
        ");
    }

    #[test]
    fn code_in_a_cell_is_code_in_markdown_and_words_elsewhere() {
        let mut table = Table::new([Column::words("key", "key")]);
        table.row([Cell::marked("a_b, `a|b_c` and *")]);
        assert_eq!(table.lines(80)[1], "a_b, a|b_c and *");
        assert_eq!(table.exact_rows(), [["a_b, a|b_c and *"]]);
        let markdown = table.markdown();
        assert_eq!(markdown.lines().last(), Some(r"| a\_b, `a\|b_c` and \* |"));
    }

    #[test]
    fn a_narrow_page_has_fewer_columns() {
        assert!(table().lines(27)[0].contains("calls") && !table().lines(27)[0].contains("trips"));
        assert_eq!(table().left_out(27), ["trips"]);
        assert_eq!(table().left_out(17), ["calls", "trips"]);
        assert!(table().left_out(80).is_empty());
    }

    #[test]
    fn sentences_are_broken_where_the_page_is_narrow() {
        let mut table = Table::new([Column::new("n", Align::Right), Column::sentences("what")]);
        table.row([Cell::Count(15), "the database is locked by somebody else".into()]);
        table.row([Cell::Count(2), "short".into()]);
        insta::assert_snapshot!(table.lines(30).join("\n"), @r"
         n  what
        15  the database is locked by
            somebody else
         2  short
        ");
        assert_eq!(table.lines(80).len(), 3);
    }

    #[test]
    fn a_word_that_cannot_be_broken_keeps_the_columns_apart() {
        let url = "mariadb://bench@127.0.0.1/bench";
        let mut table = Table::new([Column::sentences("url"), Column::sentences("what")]);
        table.row([url, "it is another server"]);
        table.row(["none", "no server"]);
        insta::assert_snapshot!(table.lines(54).join("\n"), @r"
        url                              what
        mariadb://bench@127.0.0.1/bench  it is another server
        none                             no server
        ");
    }

    #[test]
    fn columns_that_do_not_fit_stand_below_behind_the_first() {
        let columns = ["id", "name", "started", "TPS"].map(|title| Column::new(title, Align::Left));
        let mut table = Table::new(columns);
        table.row(["45834e53", "a-plan-with-a-long-name", "2026-11-24 17:14:53", "1573.0"]);
        table.row(["45834e54", "another", "2026-11-24 17:15:53", "12.5"]);
        insta::assert_snapshot!(table.lines(40).join("\n"), @r"
        id        name
        45834e53  a-plan-with-a-long-name
        45834e54  another

        id        started              TPS
        45834e53  2026-11-24 17:14:53  1573.0
        45834e54  2026-11-24 17:15:53  12.5
        ");
        assert_eq!(table.lines(80).len(), 3);
    }

    #[test]
    fn letters_that_are_two_columns_wide_take_two() {
        let mut table =
            Table::new([Column::new("name", Align::Left), Column::new("n", Align::Right)]);
        table.row(["数据库", "1"]);
        table.row(["plain", "2"]);
        assert_eq!(table.lines(80), ["name    n", "数据库  1", "plain   2"]);
    }

    #[test]
    fn programs_read_bare_numbers_of_the_same_cells() {
        let columns =
            [Column::words("side", "side"), Column::number("ratio", "ratio", 3), Column::data("p")];
        let mut table = Table::new(columns);
        let ratio = Cell::said("1.23 (1.1 to 1.4)", Some(1.2345));
        table.row([Cell::from("new"), ratio, Cell::Number(0.25)]);
        table.row([Cell::from("old"), f64::INFINITY.into(), Cell::None]);
        assert_eq!(table.lines(80)[1], "new   1.23 (1.1 to 1.4)");
        assert_eq!(table.keys(), ["side", "ratio", "p"]);
        assert_eq!(table.exact_rows(), [["new", "1.2345", "0.25"], ["old", "inf", ""]]);
        assert_eq!(table.json()[1]["ratio"], "inf");
    }
}
