//! How a transaction that goes statement by statement begins, ends and is taken back.
//!
//! Not here: what is asked in between (each workload).

use model::{DbError, Done, Request, Session, query};

/// Says BEGIN, COMMIT or ROLLBACK.
pub async fn control(session: &mut dyn Session, request: Request<'_>) -> Result<(), DbError> {
    query(session, request, &mut |_| Ok(())).await.map(|_| ())
}

/// Ends the transaction under way as its conversation asks for.
pub async fn end(session: &mut dyn Session, said: Result<Done, DbError>) -> Result<Done, DbError> {
    let ended = match said {
        Ok(Done::Committed) => control(session, Request::Commit).await.and(said),
        Ok(Done::RolledBack) => control(session, Request::Rollback).await.and(said),
        Err(db_error) => Err(db_error),
    };
    taken_back(session, ended).await
}

/// Takes back what a refused transaction has done so far.
pub async fn taken_back(
    session: &mut dyn Session,
    ended: Result<Done, DbError>,
) -> Result<Done, DbError> {
    if let Err(db_error) = &ended
        && !db_error.kind.breaks_session()
    {
        // Where the database has rolled back already this is refused or does nothing; either way
        // the first database error is the one to tell.
        control(session, Request::Rollback).await.ok();
    }
    ended
}
