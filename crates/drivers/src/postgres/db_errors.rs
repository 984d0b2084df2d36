//! Conversion of PostgreSQL's errors to database errors, classified by SQLSTATE, with advice for
//! the user.
//!
//! The codes are those of <https://www.postgresql.org/docs/current/errcodes-appendix.html>.

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use model::{DbError, DbErrorKind};
use postgres_protocol::message::backend::Message;

/// Limit on the length of each text (such as message or hint) that is kept of a server's error, in
/// bytes. The rest is cut off.
const WORDS_BYTES_MAX: usize = 2_000;

/// An error that the server sent, and whether the server closes the connection after it.
pub(super) struct ServerError {
    pub(super) db_error: DbError,
    pub(super) is_fatal: bool,
}

/// Parses an ErrorResponse. `message` begins with its tag and length. Fails if it is malformed.
#[cold]
pub(super) fn read_error(message: &[u8]) -> Result<ServerError, DbError> {
    let parsed = Message::parse(&mut BytesMut::from(message)).map_err(|error| garbled(&error))?;
    let Some(Message::ErrorResponse(body)) = parsed else {
        return Err(garbled(&"an invalid error message"));
    };
    let mut fields = body.fields();
    let (mut severity, mut sqlstate, mut words) = (String::new(), String::new(), String::new());
    let (mut detail, mut hint) = (String::new(), String::new());
    while let Some(field) = fields.next().map_err(|error| garbled(&error))? {
        let value = || cut(&String::from_utf8_lossy(field.value_bytes()));
        match field.type_() {
            // 'V' is never translated; servers before 9.6 have only 'S'.
            b'V' => severity = value(),
            b'S' if severity.is_empty() => severity = value(),
            b'C' => sqlstate = value(),
            b'M' => words = value(),
            b'D' => detail = value(),
            b'H' => hint = value(),
            _ => {}
        }
    }
    let (kind, remedy) = match of_pooler(&sqlstate, &words) {
        Some(said) => said,
        None => (kind(&sqlstate, &words), remedy(&sqlstate, &words)),
    };
    let mut message = words;
    for (before, part) in [("; ", detail.as_str()), ("; ", &hint), ("; ", remedy)] {
        if !part.is_empty() {
            message.push_str(before);
            message.push_str(part);
        }
    }
    let is_fatal = matches!(severity.as_str(), "FATAL" | "PANIC");
    Ok(ServerError { db_error: DbError { kind, code: 0, sqlstate, message }, is_fatal })
}

/// Returns the error for a server that violates the protocol. The error breaks the connection.
/// `what` describes the violation, such as `a truncated row`.
#[cold]
pub(super) fn garbled(what: &dyn std::fmt::Display) -> DbError {
    let message =
        format!("PostgreSQL protocol error: {what}; check that the target is a PostgreSQL server");
    DbError::new(DbErrorKind::ConnectionLost, message)
}

fn cut(words: &str) -> String {
    match words.char_indices().find(|(at, _)| *at >= WORDS_BYTES_MAX) {
        None => words.to_owned(),
        Some((at, _)) => format!("{}...", &words[..at]),
    }
}

fn kind(sqlstate: &str, words: &str) -> DbErrorKind {
    match sqlstate {
        "40P01" => DbErrorKind::Deadlock,
        "55P03" => DbErrorKind::LockTimeout,
        "40001" => DbErrorKind::Serialization,
        "40003" => DbErrorKind::UnknownCommit,
        "23505" | "23P01" => DbErrorKind::Duplicate,
        "25006" => DbErrorKind::ReadOnly,
        "42501" => DbErrorKind::Denied,
        // Missing database, schema, table, column, function, object or statement.
        "3D000" | "3F000" | "42P01" | "42703" | "42883" | "42704" | "26000" => DbErrorKind::Missing,
        // Existing database, table or index, constraint or trigger, function.
        "42P04" | "42P07" | "42710" | "42723" => DbErrorKind::Exists,
        "53100" => DbErrorKind::DiskFull,
        "53300" => DbErrorKind::TooManyConnections,
        "08P01" if is_no_database(words) => DbErrorKind::Missing,
        // The wrong number of values for a statement. Poolers use this code for other errors.
        "08P01" if words.starts_with("bind message") => DbErrorKind::Shape,
        // Only the message tells who cancelled. In other languages it counts as a time limit; our
        // own cancels are known without it.
        "57014" if words.contains("user request") => DbErrorKind::Cancelled,
        "57014" | "25P03" | "25P04" => DbErrorKind::Timeout,
        "57P01" | "57P02" | "57P03" | "57P04" | "57P05" => DbErrorKind::ConnectionLost,
        "XX001" | "XX002" => DbErrorKind::Corrupt,
        _ => match sqlstate.get(..2) {
            Some("08") => DbErrorKind::ConnectionLost,
            // Transaction rollback.
            Some("40") => DbErrorKind::Serialization,
            Some("23") | Some("44") => DbErrorKind::Constraint,
            Some("28") => DbErrorKind::Denied,
            _ => DbErrorKind::Other,
        },
    }
}

/// Classifies the error of a connection pooler by its English message, and returns its kind and
/// advice; `None` for any other error. PgBouncer reports nearly all errors as a protocol error
/// (`src/objects.c`, `src/client.c`, `src/janitor.c` of 1.18 to 1.24), and other poolers use the
/// server's codes.
fn of_pooler(sqlstate: &str, words: &str) -> Option<(DbErrorKind, &'static str)> {
    const SAID: &[(&str, DbErrorKind, &str)] = &[
        (
            "no more connections allowed",
            DbErrorKind::TooManyConnections,
            "use fewer clients, or raise max_client_conn of PgBouncer (or the limit that is named)",
        ),
        (
            "client connections exceeded",
            DbErrorKind::TooManyConnections,
            "use fewer clients, or raise max_db_client_connections or \
             max_user_client_connections of PgBouncer",
        ),
        (
            "query_wait_timeout",
            DbErrorKind::TooManyConnections,
            "no connection of PgBouncer's pool was free in time: use fewer clients, or raise \
             default_pool_size or query_wait_timeout",
        ),
        (
            "unsupported startup parameter",
            DbErrorKind::Unsupported,
            "add it to ignore_startup_parameters of PgBouncer, or leave it out of the target's URL \
             and set it for the user (ALTER ROLE ... SET)",
        ),
        (
            "client_login_timeout",
            DbErrorKind::ConnectionLost,
            "PgBouncer got no connection to the server in time",
        ),
        (
            "client_idle_timeout",
            DbErrorKind::ConnectionLost,
            "raise client_idle_timeout of PgBouncer above the longest pause of a client",
        ),
        (
            "idle transaction timeout",
            DbErrorKind::ConnectionLost,
            "raise idle_transaction_timeout of PgBouncer",
        ),
        ("query timeout", DbErrorKind::ConnectionLost, "raise query_timeout of PgBouncer"),
        ("no such user", DbErrorKind::Denied, KNOWN_TO_POOLER),
        ("authentication failed", DbErrorKind::Denied, KNOWN_TO_POOLER),
        (
            "Timed-out waiting to acquire database connection",
            DbErrorKind::TooManyConnections,
            "use fewer clients, or raise MaxConnectionsPercent or ConnectionBorrowTimeout of RDS \
             Proxy",
        ),
        (
            "could not get connection from the pool",
            DbErrorKind::TooManyConnections,
            "use fewer clients, or raise pool_size or connect_timeout of PgCat",
        ),
        (
            "max clients reached",
            DbErrorKind::TooManyConnections,
            "use fewer clients, or the transaction mode of Supavisor",
        ),
    ];
    if !["08", "58", "XX"].iter().any(|class| sqlstate.starts_with(class)) {
        return None;
    }
    let said = SAID.iter().find(|(known, ..)| words.contains(known))?;
    Some((said.1, said.2))
}

const KNOWN_TO_POOLER: &str = "check user and password of the target (--ask-password); the pooler \
                               must know them too (auth_file or auth_query of PgBouncer)";

/// Whether `words`, the message of an error with the SQLSTATE of a protocol violation, says that
/// the database does not exist. PgBouncer reports every failed sign-in with this SQLSTATE.
fn is_no_database(words: &str) -> bool {
    let is_of_server = words.starts_with("database \"") && words.ends_with("does not exist");
    is_of_server || words.starts_with("no such database")
}

const NAME_ANOTHER: &str = "name another database in the target, or create it with CREATE DATABASE";

/// Returns advice for the user, to be appended to the server's error message; empty if there is
/// none for this error.
fn remedy(sqlstate: &str, words: &str) -> &'static str {
    match sqlstate {
        "28000" if words.contains("not permitted to log in") => {
            "ALTER ROLE ... LOGIN on the server"
        }
        "53300" if words.contains("for role") => {
            "use fewer clients, or raise it with ALTER ROLE ... CONNECTION LIMIT"
        }
        "53300" if words.contains("for database") => {
            "use fewer clients, or raise it with ALTER DATABASE ... CONNECTION LIMIT"
        }
        "28000" if words.contains("certificate") => {
            "the server demands a certificate of the client for this user (clientcert or cert in \
             pg_hba.conf): tls_cert=FILE and tls_key=FILE"
        }
        "57014" if words.contains("statement timeout") => {
            "statement_timeout limits it (of the server, the database, the user, or the target's \
             URL): ALTER ROLE ... SET statement_timeout = 0"
        }
        "55P03" if words.contains("lock timeout") => {
            "lock_timeout limits it (of the server, the database or the user): ALTER ROLE ... SET \
             lock_timeout = 0"
        }
        "25P03" | "25P04" | "57P05" => {
            "a time limit of the server, the database or the user ended the session: see \
             idle_in_transaction_session_timeout, transaction_timeout and idle_session_timeout"
        }
        "28P01" => "check user and password of the target (--ask-password)",
        "28000" => {
            "check pg_hba.conf on the server: which user may connect from which host, with or \
             without TLS"
        }
        "3D000" => NAME_ANOTHER,
        "08P01" if is_no_database(words) => NAME_ANOTHER,
        "53100" => "free disk space for the server's data",
        "53300" => "use fewer clients, or raise max_connections and restart the server",
        "57P03" => "try again when the server is up",
        "25P02" => "roll back first",
        "25006" => {
            "if this is not intended: the server is a standby (name the primary), or \
             default_transaction_read_only is on for the server, the database or the user"
        }
        // Errors about roles and views of the server, and its settings: the caller adds the remedy.
        "42501" if words.contains("pg_") || words.contains(" parameter ") => "",
        "42501" => {
            "give the user this privilege (GRANT ... ON a table, GRANT CREATE ON SCHEMA public, \
             ALTER ROLE ... CREATEDB), or name a user that has it"
        }
        // Our statements are prepared before their use, and their names are not reused.
        "26000" | "42P05" => {
            "a pooler that hands out connections by transaction (PgBouncer) loses prepared \
             statements: put ?statements=unnamed into the target's URL"
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_become_kinds() {
        let check = |sqlstate: &str, expect: DbErrorKind| {
            assert_eq!(kind(sqlstate, ""), expect, "{sqlstate}");
        };
        check("40P01", DbErrorKind::Deadlock);
        check("55P03", DbErrorKind::LockTimeout);
        check("40001", DbErrorKind::Serialization);
        check("40000", DbErrorKind::Serialization);
        check("40002", DbErrorKind::Serialization);
        check("40003", DbErrorKind::UnknownCommit);
        check("23505", DbErrorKind::Duplicate);
        check("23503", DbErrorKind::Constraint);
        check("23514", DbErrorKind::Constraint);
        check("28P01", DbErrorKind::Denied);
        check("28000", DbErrorKind::Denied);
        check("42501", DbErrorKind::Denied);
        check("3D000", DbErrorKind::Missing);
        check("42P01", DbErrorKind::Missing);
        check("42P07", DbErrorKind::Exists);
        check("42710", DbErrorKind::Exists);
        check("42723", DbErrorKind::Exists);
        check("25006", DbErrorKind::ReadOnly);
        check("53100", DbErrorKind::DiskFull);
        check("53300", DbErrorKind::TooManyConnections);
        check("57P01", DbErrorKind::ConnectionLost);
        check("08006", DbErrorKind::ConnectionLost);
        check("42601", DbErrorKind::Other);
        check("", DbErrorKind::Other);
        check("Ä", DbErrorKind::Other);
    }

    #[test]
    fn a_pooler_says_in_words_that_a_database_is_not_there() {
        let check = |words: &str, expect: DbErrorKind| {
            assert_eq!(kind("08P01", words), expect, "{words}");
        };
        check("database \"shop\" does not exist", DbErrorKind::Missing);
        check("no such database: shop", DbErrorKind::Missing);
        check("bind message supplies 1 parameters", DbErrorKind::Shape);
    }

    #[test]
    fn what_a_pooler_says_is_told_from_a_mistake_in_the_protocol() {
        let check = |sqlstate: &str, words: &str, kind: DbErrorKind, advice: &str| {
            let body = format!("SFATAL\0VFATAL\0C{sqlstate}\0M{words}\0\0");
            let length = (body.len() as u32 + 4).to_be_bytes();
            let message = [&b"E"[..], &length, body.as_bytes()].concat();
            let ServerError { db_error, .. } = read_error(&message).expect("well formed");
            assert_eq!(db_error.kind, kind, "{words}");
            assert!(db_error.message.contains(advice), "{}", db_error.message);
        };
        let full = "no more connections allowed (max_client_conn)";
        check("08P01", full, DbErrorKind::TooManyConnections, "raise max_client_conn");
        let waited = "query_wait_timeout";
        check("08P01", waited, DbErrorKind::TooManyConnections, "raise default_pool_size");
        let startup = "unsupported startup parameter: statement_timeout";
        check("08P01", startup, DbErrorKind::Unsupported, "ignore_startup_parameters");
        check("08P01", "no such user", DbErrorKind::Denied, "auth_file");
        check("08P01", "SASL authentication failed", DbErrorKind::Denied, "auth_file");
        check("08P01", "server conn crashed?", DbErrorKind::ConnectionLost, "");
        let login = "server login has been failing, try again later (server_login_retry)";
        check("08P01", login, DbErrorKind::ConnectionLost, "");
        // The server's own words of the same kind have another code.
        check("22000", "query timeout", DbErrorKind::Other, "");
    }

    #[test]
    fn a_cancel_and_a_time_limit_are_told_apart() {
        let request = "canceling statement due to user request";
        assert_eq!(kind("57014", request), DbErrorKind::Cancelled);
        let timeout = "canceling statement due to statement timeout";
        assert_eq!(kind("57014", timeout), DbErrorKind::Timeout);
    }

    #[test]
    fn an_error_has_its_detail_and_hint() {
        let body = b"SFEHLER\0VERROR\0C23505\0Mtwice\0Dthe key\0Ha hint\0\0";
        let message = [&b"E"[..], &(body.len() as u32 + 4).to_be_bytes(), body].concat();
        let ServerError { db_error, is_fatal } = read_error(&message).expect("well formed");
        assert_eq!(db_error.message, "twice; the key; a hint");
        assert_eq!((db_error.kind, db_error.sqlstate.as_str()), (DbErrorKind::Duplicate, "23505"));
        assert!(!is_fatal);
    }
}
