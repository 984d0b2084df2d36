//! Which tables a database has: asked of each table of a few, read as one list for many.
//!
//! Not here: what is in the tables.

use std::collections::HashSet;

use model::{Administration, DbError, Row};

use crate::admin_session::AdminSession;

/// Number of tables from which on the database's list is read once, instead of asking for each, and
/// a build shows how many are left.
pub(crate) const MANY: usize = 100;

/// The tables that exist, as they were when the list was read.
pub(crate) struct TableList {
    /// Names of all tables in lower case; `None` if each table is asked for.
    names: Option<HashSet<String>>,
}

impl TableList {
    /// Reads the list of tables if `n_asked`, the number of tables that will be asked for, is large
    /// and the database has a list.
    pub(crate) fn read(
        session: &mut AdminSession,
        administration: &Administration,
        n_asked: usize,
    ) -> Result<TableList, DbError> {
        let Some(sql) = administration.list_tables.filter(|_| n_asked >= MANY) else {
            return Ok(TableList { names: None });
        };
        let mut names = HashSet::new();
        session.read(sql, &mut |row: &dyn Row| {
            names.insert(row.text(0)?.to_ascii_lowercase());
            Ok(())
        })?;
        Ok(TableList { names: Some(names) })
    }

    /// Returns true if the table exists.
    pub(crate) fn has(&self, session: &mut AdminSession, table: &str) -> Result<bool, DbError> {
        match &self.names {
            Some(names) => Ok(names.contains(&table.to_ascii_lowercase())),
            None => session.has_table(table),
        }
    }
}

#[cfg(test)]
mod tests {
    use model::Target;

    use super::*;

    #[test]
    fn a_list_says_what_each_table_says() {
        let target = Target::parse("sqlite::memory:").expect("a target");
        let database = crate::open::open(&target, 1, true).expect("it opens");
        let mut session = AdminSession::at(database.as_ref()).expect("it lets us in");
        session.write("CREATE TABLE Here (a INT)").expect("created");
        for n_asked in [1, MANY] {
            let list = TableList::read(&mut session, database.administration(), n_asked);
            let list = list.expect("read");
            assert_eq!(list.names.is_some(), n_asked == MANY);
            assert_eq!(list.has(&mut session, "here"), Ok(true));
            assert_eq!(list.has(&mut session, "gone"), Ok(false));
        }
    }
}
