//! A database with an SQL dialect of its own: SQLite with a dialect that marks parameters by number
//! and name, and locks rows with a hint after the table's name. SQLite reads the marks, and takes
//! the hint for a comment.

use std::path::PathBuf;
use std::sync::Arc;

use drivers::{Entry, Opened, Opening};
use model::{
    BadParameter, Connecting, Database, DbError, Dialect, Fact, Place, Placeholder, Places,
    Product, RowLock, Statement, Target,
};

/// Entry of this database in the program's list of databases.
pub(crate) static ENTRY: Entry = Entry {
    name: "hinted",
    schemes: &["hinted"],
    summary: "SQLite with lock hints and named placeholders",
    example: "hinted:/path/file.db",
    parameters: &[],
    verified: Err("it is made up"),
    file,
    is_over_network: |_| false,
    local_server: None,
    product: &PRODUCT,
    check,
    open,
};

static PRODUCT: Product = {
    let sqlite = drivers::EMBEDDED.product;
    let dialect = Dialect {
        name: "hinted",
        placeholder: Placeholder::At,
        row_lock: RowLock::Hint(" /* UPDLOCK */"),
        ..sqlite.dialect
    };
    Product { dialect, ..*sqlite }
};

/// A database that stores its data in SQLite, with the dialect of this module.
struct Hinted(Arc<dyn Database>);

/// Converts a target of the database `hinted` to one of SQLite.
fn sqlite(target: &Target) -> Target {
    Target { scheme: drivers::EMBEDDED.schemes[0].to_owned(), ..target.clone() }
}

fn file(target: &Target) -> Option<PathBuf> {
    drivers::file_of(&sqlite(target))
}

fn check(target: &Target) -> Result<(), BadParameter> {
    drivers::check(&sqlite(target))
}

fn open(target: &Target, opening: Opening) -> Opened {
    let database = drivers::open(&sqlite(target), opening)?;
    Ok(Arc::new(Hinted(database)))
}

impl Database for Hinted {
    fn product(&self) -> &Product {
        &PRODUCT
    }

    fn places(&self) -> Places {
        self.0.places()
    }

    fn connect<'a>(&'a self, place: Place, statements: Arc<[Statement]>) -> Connecting<'a> {
        self.0.connect(place, statements)
    }

    fn facts(&self) -> Result<Vec<Fact>, DbError> {
        self.0.facts()
    }

    fn counted(&self) -> Vec<(&'static str, f64)> {
        self.0.counted()
    }
}
