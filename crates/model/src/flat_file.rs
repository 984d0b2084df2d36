//! Flat files of a table's rows, and how a server's own client loads them.
//!
//! Not here: writing the rows (app).

/// How a flat file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Tabs between columns, `\N` for null, a backslash before what has a meaning; no header. What
    /// LOAD DATA and COPY read without options.
    Tsv,
    /// Commas, text in `"`, `NULL` for null, and a first line with the names of the columns.
    Csv,
}

impl FileFormat {
    /// The ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            FileFormat::Tsv => "tsv",
            FileFormat::Csv => "csv",
        }
    }
}

/// A file with the rows of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatFile {
    /// Its table.
    pub table: String,
    /// The table's columns, in the file's order, with commas between.
    pub columns: String,
    /// Where it is: without quotes, backslashes and new lines.
    pub path: String,
    /// How it is written.
    pub format: FileFormat,
}

/// How people load flat files with a server's own client: a capability that a driver fills.
#[derive(Clone, Copy, Debug)]
pub struct ClientLoad {
    /// The servers that it is for, as their makers write them.
    pub servers: &'static str,
    /// How the client is started.
    pub client: &'static str,
    /// The client's command that carries out the statements in a file.
    pub run_file: fn(path: &str) -> String,
    /// The command that loads a file into its table.
    pub load: fn(file: &FlatFile) -> String,
    /// What is said when all tables are loaded; their names have commas between. Without
    /// statistics the first queries may go the wrong way.
    pub finish: fn(tables: &str) -> String,
}
