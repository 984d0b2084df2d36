//! Flat files that contain the rows of a table, and their import with the server's own client.
//!
//! Not here: writing the rows (app).

/// The format of a file with the rows of a table: TSV, CSV or TBL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Tab-separated values: `\N` for null, backslash escapes, no header. This is the default
    /// format of LOAD DATA and COPY.
    Tsv,
    /// Comma-separated values: text in `"`, `NULL` for null, and a header with the column names.
    Csv,
    /// Values that each end with `|`, also the last one of a row; else as [`FileFormat::Tsv`]. The
    /// generators of TPC benchmarks write such files.
    Tbl,
}

impl FileFormat {
    /// Returns the name of the format, which is also the extension of its files.
    pub fn name(self) -> &'static str {
        match self {
            FileFormat::Tsv => "tsv",
            FileFormat::Csv => "csv",
            FileFormat::Tbl => "tbl",
        }
    }
}

/// A file that contains the rows of one table, to be loaded by the server's own client.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlatFile {
    /// Name of the table into which the file is loaded.
    pub table: String,
    /// Names of the table's columns in the order of the file, separated by commas.
    pub columns: String,
    /// Path of the file, without quotes, backslashes and line breaks.
    pub path: String,
    /// Format of the file: TSV, CSV or TBL.
    pub format: FileFormat,
}

/// Shell commands that import flat files with a server's own command-line client. Each driver
/// declares those of its product.
#[derive(Clone, Copy, Debug)]
pub struct ClientLoad {
    /// Names of the servers whose client understands these commands, for messages to the user:
    /// `MariaDB and MySQL`.
    pub servers: &'static str,
    /// Shell command that starts the server's command-line client, such as `psql`.
    pub client: &'static str,
    /// Returns the client's command that executes the statements of a file, such as `SOURCE path`.
    pub run_file: fn(path: &str) -> String,
    /// Returns the client's command that loads a flat file into its table.
    pub load: fn(file: &FlatFile) -> String,
    /// Returns the statement to execute after all tables are loaded, given their names separated by
    /// commas. The statement gathers statistics, because without them the first queries may get bad
    /// plans.
    pub finish: fn(tables: &str) -> String,
}
