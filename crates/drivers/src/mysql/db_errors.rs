//! Conversion of MySQL's and MariaDB's error numbers to database errors, with advice for the user.
//!
//! The numbers are from MariaDB's and MySQL's lists of error codes. A number that means something
//! else in each of them is classified for both.

use model::{DbError, DbErrorKind};

use super::packets::ServerError;

/// Converts an error packet of the server to dbdyno's error, and appends advice for the user to its
/// message if there is any.
#[cold]
pub(super) fn db_error(error: ServerError) -> DbError {
    let ServerError { code, sqlstate, message } = error;
    // Galera: a commit that could not be replicated, and is rolled back. Servers do not translate
    // this message.
    let has_left = code == 1180 && message.contains("Not connected to Primary Component");
    let said = of_middleware(code, &message).or_else(|| of_user_limit(code, &message));
    let kind = match said {
        _ if has_left => DbErrorKind::ConnectionLost,
        Some((kind, _)) => kind,
        None => kind(code, &sqlstate),
    };
    let message = match said.map(|(_, advice)| advice).or_else(|| advice(code, &message)) {
        Some(advice) => format!("{message}; {advice}"),
        None => message,
    };
    DbError { kind, code: i64::from(code), sqlstate, message }
}

/// Whether the server closes the connection after an error with this number.
pub(super) fn ends_connection(code: u16) -> bool {
    // Shutdown, wait timeouts, KILL, a Galera node that left, forced close, and 1153, which is sent
    // before a packet is read to its end.
    matches!(code, 1040 | 1053 | 1080 | 1152..=1161 | 1184 | 1203 | 1927 | 3169 | 4031)
}

/// Whether an error that closes the connection comes from the database server itself, which then
/// has not executed the statement. False if it may come from a proxy that lost its server, since
/// proxies use some of the same numbers.
pub(super) fn is_answer(no: &DbError) -> bool {
    !["MaxScale", "backend", "Lost connection"].iter().any(|words| no.message.contains(words))
}

/// Whether an error number belongs to MySQL's client library (2000 to 2999). Proxies use such
/// numbers for errors of their own connection to the server.
pub(super) fn is_of_client(code: u16) -> bool {
    matches!(code, 2000..=2999)
}

/// Classifies an error that a proxy such as ProxySQL reports, and returns its kind and advice;
/// `None` for any other error. Proxies reuse numbers of other errors, so only the message
/// distinguishes them. Sources: ProxySQL's `MySQL_Session.cpp`, and "Troubleshooting for RDS
/// Proxy".
fn of_middleware(code: u16, message: &str) -> Option<(DbErrorKind, &'static str)> {
    let has = |words: &str| message.contains(words);
    Some(match code {
        _ if has("Timed-out waiting to acquire database connection") => (
            DbErrorKind::TooManyConnections,
            "use fewer clients, or raise MaxConnectionsPercent or ConnectionBorrowTimeout of RDS \
             Proxy",
        ),
        9001 if has("hostgroup") => (
            DbErrorKind::ConnectionLost,
            "no server of this hostgroup of ProxySQL can be reached, or all its connections are in \
             use (max_connections in mysql_servers)",
        ),
        9006 if has("hostgroup") => (
            DbErrorKind::Unsupported,
            "ProxySQL keeps a session with state of its own at one hostgroup: SET \
             mysql-set_query_lock_on_hostgroup=0, or send all of this user to one hostgroup",
        ),
        2000..=2999 => (
            DbErrorKind::ConnectionLost,
            "the proxy lost its connection to the server, or gets none",
        ),
        _ => return None,
    })
}

/// Classifies the error that the user has exceeded an hourly resource limit, and returns its kind
/// and advice; `None` for any other error. A limit on concurrent connections is classified
/// elsewhere, since connections soon become free.
fn of_user_limit(code: u16, message: &str) -> Option<(DbErrorKind, &'static str)> {
    let is_of_connections = message.contains("connections");
    (code == 1226 && !is_of_connections).then_some((
        DbErrorKind::Denied,
        "it holds for an hour: raise this limit of the user, or set it to 0",
    ))
}

fn kind(code: u16, sqlstate: &str) -> DbErrorKind {
    match code {
        // 1614 is a branch of an XA transaction, rolled back because of a deadlock.
        1213 | 1614 | 3058 | 3132 => DbErrorKind::Deadlock,
        1205 | 3572 => DbErrorKind::LockTimeout,
        // 1297 is a temporary error of NDB; the others are conflicts of TiDB ("Error Codes and
        // Troubleshooting"): in optimistic and pessimistic transactions, and with a changed schema.
        1020 | 1297 | 8002 | 8005 | 8022 | 8028 | 9007 => DbErrorKind::Serialization,
        1022 | 1062 | 1169 | 1586 | 1859 => DbErrorKind::Duplicate,
        1048 | 1216 | 1217 | 1364 | 1451 | 1452 | 1557 | 1761 | 1762 | 3819 | 4025 => {
            DbErrorKind::Constraint
        }
        // Values that do not fit their column in strict mode.
        1264 | 1265 | 1292 | 1366 | 1406 | 3140 => DbErrorKind::Constraint,
        1044 | 1045 | 1095 | 1130 | 1142 | 1143 | 1227 | 1370 | 1396 | 1410 | 1524 | 1698
        | 1820 | 1862 | 3118 | 3159 | 4150 | 4151 => DbErrorKind::Denied,
        1008 | 1046 | 1049 | 1051 | 1054 | 1072 | 1091 | 1109 | 1146 | 1176 | 1305 => {
            DbErrorKind::Missing
        }
        1007 | 1050 | 1061 | 1304 => DbErrorKind::Exists,
        1036 | 1223 | 1288 | 1290 | 1471 | 1792 | 1836 => DbErrorKind::ReadOnly,
        1317 | 3169 => DbErrorKind::Cancelled,
        1907 | 1969 | 3024 => DbErrorKind::Timeout,
        1021 | 1114 | 1878 => DbErrorKind::DiskFull,
        126 | 127 | 145 | 1034 | 1194 | 1195 | 1712 | 1877 => DbErrorKind::Corrupt,
        1235 | 1148 | 1295 | 3948 | 4166 => DbErrorKind::Unsupported,
        // Limits on connections: in total, of this user, and of this user per hour.
        1040 | 1203 | 1226 => DbErrorKind::TooManyConnections,
        1047 | 1053 | 1080 | 1152..=1161 | 1184 | 1927 | 4031 => DbErrorKind::ConnectionLost,
        _ if sqlstate.starts_with("08") => DbErrorKind::ConnectionLost,
        // Class 40 is "transaction rollback" (ISO/IEC 9075-2, 24.1).
        _ if sqlstate.starts_with("40") => DbErrorKind::Serialization,
        _ if sqlstate.starts_with("23") => DbErrorKind::Constraint,
        _ => DbErrorKind::Other,
    }
}

/// Returns advice for the user, to be appended to the server's error message; `None` if there is
/// no advice for this error.
fn advice(code: u16, message: &str) -> Option<&'static str> {
    // A server installed with mysql_install_db has such users for its own host.
    let is_anonymous = message.contains("user ''@");
    Some(match code {
        1044 | 1045 | 1698 if is_anonymous => {
            "the server took this for its anonymous user, which goes before others on its own \
             host: CREATE USER for 'localhost' too, and name the user in the target's URL"
        }
        1040 => "use fewer clients, or raise max_connections of the server",
        1044 => "GRANT the user ALL on this database (including CREATE ROUTINE)",
        1142 | 1143 | 1227 | 1370 => "GRANT this privilege to the user, or name a user that has it",
        1045 if message.contains("using password: NO") => {
            "no password was given: use --ask-password, --password-file or DBDYNO_PASSWORD, or \
             check the user of the target"
        }
        1045 if message.contains("@'localhost'") => {
            "check user and password of the target (--ask-password); if they are right, an \
             anonymous user of the server may match first: create yours for 'localhost' too"
        }
        1045 | 1698 => "check user and password of the target (--ask-password)",
        1049 => "create it with CREATE DATABASE, or name another in the target's URL",
        1130 => "CREATE USER and GRANT for the host that the client connects from",
        1148 | 3948 | 4166 => {
            "SET GLOBAL local_infile = 1 on the server, or load with INSERTs \
             (--load-method insert)"
        }
        1021 | 1114 | 1878 => "free disk space for the server's data and temporary files",
        1153 => "raise max_allowed_packet of the server",
        1193 if message.contains("max_statement_time")
            || message.contains("max_execution_time") =>
        {
            "this server is too old for statement_timeout: leave it out of the target's URL"
        }
        1203 | 1226 => "use fewer clients, or raise the limit of this user",
        1290 => "SET GLOBAL read_only = 0 on the server, or name its primary in the target's URL",
        1792 => {
            "if this is not intended, SET GLOBAL transaction_read_only = 0 on the server \
             (tx_read_only before MariaDB 11.1 and MySQL 5.7.20)"
        }
        3159 => "connect with tls=require, or over a Unix socket",
        1969 | 3024 => {
            "a limit of the server, of the user or of the target stopped it: raise \
             max_statement_time (max_execution_time of MySQL, statement_timeout of the target)"
        }
        1104 => "SET GLOBAL sql_big_selects = 1 on the server, or raise its max_join_size",
        1175 => "SET GLOBAL sql_safe_updates = 0 on the server; its init_connect may set it too",
        1173 | 3750 => {
            "tables without a key that have a counter of their own cannot be built here: choose \
             tables with a key (without --secondary), or switch off innodb_force_primary_key or \
             sql_require_primary_key for the build"
        }
        3098 => {
            "group replication demands a primary key of each table and InnoDB: drop the data and \
             build them here, where dbdyno adds the keys"
        }
        1665 => "SET GLOBAL binlog_format = 'ROW' on the server (or MIXED), and connect again",
        1461 => "raise max_prepared_stmt_count of the server, or use statements=text",
        1820 | 1862 => "set a new password for this user with ALTER USER",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_become_kinds() {
        let check = |code: u16, expect| assert_eq!(kind(code, ""), expect, "{code}");
        check(1213, DbErrorKind::Deadlock);
        // Galera: a node that has left its cluster.
        check(1047, DbErrorKind::ConnectionLost);
        check(1205, DbErrorKind::LockTimeout);
        check(1020, DbErrorKind::Serialization);
        check(1062, DbErrorKind::Duplicate);
        check(1452, DbErrorKind::Constraint);
        check(4025, DbErrorKind::Constraint);
        check(1045, DbErrorKind::Denied);
        check(1049, DbErrorKind::Missing);
        check(1050, DbErrorKind::Exists);
        check(1061, DbErrorKind::Exists);
        check(1304, DbErrorKind::Exists);
        check(1792, DbErrorKind::ReadOnly);
        check(1317, DbErrorKind::Cancelled);
        check(1969, DbErrorKind::Timeout);
        check(3024, DbErrorKind::Timeout);
        check(1114, DbErrorKind::DiskFull);
        check(1927, DbErrorKind::ConnectionLost);
        check(1040, DbErrorKind::TooManyConnections);
        check(1203, DbErrorKind::TooManyConnections);
        check(1226, DbErrorKind::TooManyConnections);
        check(1064, DbErrorKind::Other);
        for conflict in [1297, 8002, 8022, 8028, 9007] {
            check(conflict, DbErrorKind::Serialization);
        }
        check(1614, DbErrorKind::Deadlock);
        for sqlstate in ["40001", "40000", "40002"] {
            assert_eq!(kind(3101, sqlstate), DbErrorKind::Serialization, "{sqlstate}");
        }
        assert_eq!(kind(9999, "08S01"), DbErrorKind::ConnectionLost);
    }

    #[test]
    fn a_node_that_has_left_its_cluster_is_left_too() {
        let check = |message: &str, expect| {
            let message = message.to_owned();
            let error = ServerError { code: 1180, sqlstate: "HY000".to_owned(), message };
            assert_eq!(db_error(error).kind, expect);
        };
        check(
            "Error while appending streaming replication fragment(provider status: Not connected \
             to Primary Component)",
            DbErrorKind::ConnectionLost,
        );
        check("Got error 28 during COMMIT", DbErrorKind::Other);
    }

    #[test]
    fn what_a_proxy_says_is_told_from_the_same_number_of_another_product() {
        let error = |code, message: &str| {
            let (sqlstate, message) = ("HY000".to_owned(), message.to_owned());
            db_error(ServerError { code, sqlstate, message })
        };
        let check = |code, message: &str, kind, advice: &str| {
            let no = error(code, message);
            assert_eq!(no.kind, kind, "{message}");
            assert!(no.message.contains(advice), "{}", no.message);
        };
        let locked = "ProxySQL Error: connection is locked to hostgroup 1 but trying to reach \
                      hostgroup 2";
        check(9006, locked, DbErrorKind::Unsupported, "mysql-set_query_lock_on_hostgroup=0");
        let slow = "Max connect timeout reached while reaching hostgroup 1 after 10000ms";
        check(9001, slow, DbErrorKind::ConnectionLost, "mysql_servers");
        check(9001, "PD server timeout", DbErrorKind::Other, "PD server timeout");
        let borrowed = "Timed-out waiting to acquire database connection";
        check(9501, borrowed, DbErrorKind::TooManyConnections, "MaxConnectionsPercent");
        let lost = "Lost connection to MySQL server during query";
        check(2013, lost, DbErrorKind::ConnectionLost, "the proxy lost its connection");
    }

    #[test]
    fn a_format_of_the_log_that_allows_no_writes_is_advised() {
        let message = "Cannot execute statement: impossible to write to binary log since \
                       BINLOG_FORMAT = STATEMENT and at least one table uses a storage engine \
                       limited to row-based logging";
        let (sqlstate, message) = ("HY000".to_owned(), message.to_owned());
        let no = db_error(ServerError { code: 1665, sqlstate, message });
        assert!(no.message.contains("; SET GLOBAL binlog_format = 'ROW'"), "{}", no.message);
    }

    #[test]
    fn a_limit_of_an_hour_is_not_waited_for() {
        let check = |resource: &str, expect| {
            let message = format!("User 'me' has exceeded the '{resource}' resource");
            let no = ServerError { code: 1226, sqlstate: "42000".to_owned(), message };
            assert_eq!(db_error(no).kind, expect, "{resource}");
        };
        check("max_user_connections", DbErrorKind::TooManyConnections);
        check("max_questions", DbErrorKind::Denied);
        check("max_updates_per_hour", DbErrorKind::Denied);
    }

    #[test]
    fn a_password_that_is_wrong_is_told_from_none() {
        let no = |host: &str, using: &str| {
            let message = format!("Access denied for user 'me'@'{host}' (using password: {using})");
            db_error(ServerError { code: 1045, sqlstate: "28000".to_owned(), message }).message
        };
        for host in ["localhost", "db1"] {
            assert!(no(host, "YES").contains("check user and password"), "{}", no(host, "YES"));
            assert!(no(host, "NO").contains("no password was given: use --ask-password"));
        }
        // The advice on the anonymous user is given for localhost only.
        let names_anonymous = |host: &str| no(host, "YES").contains("anonymous");
        assert!(names_anonymous("localhost") && !names_anonymous("db1"));
    }

    #[test]
    fn a_no_names_the_remedy() {
        let error = ServerError {
            code: 1040,
            sqlstate: "08004".to_owned(),
            message: "Too many connections".to_owned(),
        };
        let no = db_error(error);
        assert_eq!(
            no.to_string(),
            "Too many connections; use fewer clients, or raise max_connections of the server \
             (error 1040)"
        );
    }
}
