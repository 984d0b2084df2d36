//! Installs a workload's stored routines if they are missing or differ from those of this version,
//! and drops them with the data.
//!
//! The database's own catalogue tells which routines exist, since a dump may restore data without
//! routines. Not here: the routines' bodies (workloads).

use model::{Database, DbErrorKind, Routine, Row};

use crate::admin_session::AdminSession;
use crate::build_lock::{A_WHILE, HeldLock};
use crate::error::Error;
use crate::open::Opened;

/// Installs those of the workload's routines that are missing, or differ from those of this
/// version. Returns how many were installed.
pub fn install(opened: &Opened) -> Result<usize, Error> {
    let database = opened.database.as_ref();
    let routines = opened.workload.routines(database.dialect());
    if routines.is_empty()
        || missing(&mut AdminSession::at(database)?, database, &routines)?.is_empty()
    {
        return Ok(0);
    }
    let mut lock = HeldLock::of_build(database, A_WHILE, &|| false)?;
    let (mut session, _) = lock.session_beside(database)?;
    // Another process may have installed them while we waited.
    let missing = missing(&mut session, database, &routines)?;
    for routine in &missing {
        let made = match session.write(&routine.create) {
            Err(no) if no.kind == DbErrorKind::Exists => {
                session.write(&routine.drop).and_then(|_| session.write(&routine.create))
            }
            made => made,
        };
        made.map_err(|no| no.during(format_args!("routine {}", routine.name)))?;
    }
    Ok(missing.len())
}

fn missing<'r>(
    session: &mut AdminSession,
    database: &dyn Database,
    routines: &'r [Routine],
) -> Result<Vec<&'r Routine>, Error> {
    let there = list(session, database)?;
    let is_there = |routine: &&Routine| {
        there.iter().any(|(name, text)| name == routine.name && text.contains(&routine.mark))
    };
    Ok(routines.iter().filter(|routine| !is_there(routine)).collect())
}

/// Drops those of the workload's routines that exist, since dropping a missing one may need a
/// privilege that the user lacks.
pub(crate) fn drop_all(session: &mut AdminSession, opened: &Opened) -> Result<(), Error> {
    let database = opened.database.as_ref();
    let there = list(session, database)?;
    for routine in opened.workload.routines_ever(database.dialect()) {
        if there.iter().any(|(name, _)| name == routine.name) {
            session.write(&routine.drop)?;
        }
    }
    Ok(())
}

/// Reads name and text of all stored routines in the database. The text of those installed by
/// dbdyno contains a mark of their version.
fn list(
    session: &mut AdminSession,
    database: &dyn Database,
) -> Result<Vec<(String, String)>, Error> {
    let mut there = Vec::new();
    let sql = database.administration().list_routines;
    if !sql.is_empty() {
        session.read(sql, &mut |row: &dyn Row| {
            there.push((row.text(0)?.to_owned(), row.text(1)?.to_owned()));
            Ok(())
        })?;
    }
    Ok(there)
}
