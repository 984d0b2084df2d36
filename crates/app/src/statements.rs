//! Statements that a user asks for outside of any load: one number, or changes of the tables.

use model::{DbErrorKind, Row, Target};

use crate::admin_session::AdminSession;
use crate::error::Error;
use crate::meta::{self, Found};
use crate::open::open;

/// Executes statements one after the other on a session of their own.
///
/// # Errors
///
/// A database that cannot be opened, or the first statement that fails.
pub fn execute(target: &Target, statements: &[&str]) -> Result<(), Error> {
    let database = open(target, 0, false)?;
    let mut session = AdminSession::at(database.as_ref())?;
    for sql in statements {
        session.write(sql)?;
    }
    Ok(())
}

/// Removes what dbdyno knows of a build of a workload's data, if it knows anything.
///
/// # Errors
///
/// A database that cannot be opened, or a statement that fails.
pub fn forget_data(target: &Target, workload: &str) -> Result<(), Error> {
    let database = open(target, 0, false)?;
    let mut session = AdminSession::at(database.as_ref())?;
    if !matches!(meta::read(&mut session, workload)?, Found::Nothing) {
        meta::forget(&mut session, workload, &[])?;
    }
    Ok(())
}

/// Returns the integer in the first column of a query's first row; `None` if there is no row, or
/// the table does not exist.
///
/// # Errors
///
/// A database that cannot be opened, or a query that fails.
pub fn number(target: &Target, sql: &str) -> Result<Option<i64>, Error> {
    let database = open(target, 0, false)?;
    let mut session = AdminSession::at(database.as_ref())?;
    let mut number = None;
    let read = session.read(sql, &mut |row: &dyn Row| {
        number = row.optional_int(0)?;
        Ok(())
    });
    match read {
        Ok(_) => Ok(number),
        Err(db_error) if db_error.kind == DbErrorKind::Missing => Ok(None),
        Err(db_error) => Err(db_error.into()),
    }
}
