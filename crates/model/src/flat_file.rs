//! Flat files with a table's rows, and their import with the server's own client.
//!
//! Not here: writing the rows (app).

/// The format of a flat file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Tabs between columns, `\N` for null, backslash escapes, no header: the default format of
    /// LOAD DATA and COPY.
    Tsv,
    /// Commas between columns, text in `"`, `NULL` for null, and a header with the column names.
    Csv,
}

impl FileFormat {
    /// Returns the file name extension.
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
    /// Name of the table.
    pub table: String,
    /// Columns in the order of the file, separated by commas.
    pub columns: String,
    /// Path, without quotes, backslashes and line breaks.
    pub path: String,
    /// Format of the file.
    pub format: FileFormat,
}

/// Commands to import flat files with a server's own client, filled in by a driver.
#[derive(Clone, Copy, Debug)]
pub struct ClientLoad {
    /// Names of the servers to which this applies, as their makers write them.
    pub servers: &'static str,
    /// Command that starts the client.
    pub client: &'static str,
    /// Returns the client's command that executes the statements in a file.
    pub run_file: fn(path: &str) -> String,
    /// Returns the command that loads a file into its table.
    pub load: fn(file: &FlatFile) -> String,
    /// Returns the statement to run after the load of all tables, given their names separated by
    /// commas. It gathers statistics, without which the first queries may get bad plans.
    pub finish: fn(tables: &str) -> String,
}
