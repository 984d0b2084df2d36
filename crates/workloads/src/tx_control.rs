//! Execution of BEGIN, COMMIT and ROLLBACK for transactions that send their statements one by one.
//!
//! Not here: the statements in between (each workload).

use model::{DbError, Done, Request, Session, query};

/// Sends a BEGIN, COMMIT or ROLLBACK, given as `request`, and waits for its reply.
pub async fn control(session: &mut dyn Session, request: Request<'_>) -> Result<(), DbError> {
    query(session, request, &mut |_| Ok(())).await.map(|_| ())
}

/// Ends a transaction with a commit or a rollback, as `said`, the result of its statements,
/// demands. After a database error in `said`, rolls back and returns that error.
pub async fn end(session: &mut dyn Session, said: Result<Done, DbError>) -> Result<Done, DbError> {
    let ended = match said {
        Ok(Done::Committed) => control(session, Request::Commit).await.and(said),
        Ok(Done::RolledBack) => control(session, Request::Rollback).await.and(said),
        Ok(Done::Over) | Err(_) => said,
    };
    taken_back(session, ended).await
}

/// Rolls back if `ended`, the result of a transaction, is a database error that leaves the session
/// usable. Returns `ended`.
pub async fn taken_back(
    session: &mut dyn Session,
    ended: Result<Done, DbError>,
) -> Result<Done, DbError> {
    if let Err(db_error) = &ended
        && !db_error.kind.breaks_session()
    {
        // If the database has rolled back already, this is rejected or does nothing; either way the
        // first database error is reported.
        control(session, Request::Rollback).await.ok();
    }
    ended
}
