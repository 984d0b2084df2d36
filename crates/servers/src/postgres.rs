//! Private servers of PostgreSQL: initial data, command line, readiness probe.

use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::credentials::{DATABASE, USER};
use crate::instance::Instance;
use crate::{ServerError, ServerErrorKind};

/// Time limit of one readiness probe. A server that accepts connections answers at once; otherwise
/// the probe is repeated.
const ANSWER_LIMIT: Duration = Duration::from_secs(1);
/// Limit on the bytes of an answer that a readiness probe reads; the rest is ignored. The error for
/// which the probe looks is shorter.
const ANSWER_MAX: u64 = 16 * 1024;

/// Parses the version from `shown`, the output of `--version`, such as `postgres (PostgreSQL) 15.18
/// (Debian 15.18-0+deb12u1)`. Fails if the program is not PostgreSQL; `exe` is its path, for the
/// error.
pub(crate) fn version(exe: &Path, shown: &str) -> Result<String, ServerError> {
    let mut words = shown.split_whitespace().skip_while(|word| *word != "(PostgreSQL)").skip(1);
    words.next().map(str::to_owned).ok_or_else(|| {
        let text =
            format!("{} is not PostgreSQL: name the server's folder with ?bin=", exe.display());
        ServerError::new(ServerErrorKind::NotInstalled, text)
    })
}

pub(crate) fn socket(dir: &Path, port: u16) -> PathBuf {
    dir.join(format!("run/.s.PGSQL.{port}"))
}

pub(crate) fn arguments(server: &Instance) -> Vec<OsString> {
    let dir = server.folder();
    let mut arguments = vec![OsString::from("-D"), dir.join("data").into_os_string()];
    let mut folder = OsString::from("unix_socket_directories=");
    folder.push(dir.join("run"));
    arguments.extend([OsString::from("-c"), folder]);
    let mut set = |name: &str, value: &str| {
        arguments.extend([OsString::from("-c"), OsString::from(format!("{name}={value}"))]);
    };
    set("listen_addresses", "127.0.0.1");
    set("port", &server.port.number().to_string());
    // Shown on the command line of every process of the server, which identifies them.
    set("cluster_name", server.dir.name());
    server.settings.iter().for_each(|setting| set(&setting.name, &setting.value));
    arguments
}

/// Creates the server's initial data with dbdyno's user and database. The collation is `C`, which
/// exists in every version and on every machine.
pub(crate) fn prepare(server: &Instance) -> Result<(), ServerError> {
    let dir = server.folder();
    let initdb = server.program.beside("initdb");
    if !initdb.is_file() {
        let text = format!(
            "there is no {}: name the folder of a complete PostgreSQL with ?bin=",
            initdb.display()
        );
        return Err(ServerError::new(ServerErrorKind::NotInstalled, text));
    }
    let mut pgdata = OsString::from("--pgdata=");
    pgdata.push(dir.join("data"));
    let mut password = OsString::from("--pwfile=");
    password.push(server.write("password", server.password.reveal().as_bytes())?);
    let mut command = server.command(&initdb);
    command.args([pgdata, password]).args([
        format!("--username={USER}").as_str(),
        "--auth=scram-sha-256",
        "--encoding=UTF8",
        "--locale=C",
        // The server is private and temporary, so its data need not survive a crash of the machine.
        "--no-sync",
    ]);
    let made = server.run_to_end("creating the data directory", command, b"");
    server.unwrite("password")?;
    made?;
    // In single-user mode, which needs no password; `createdb` is not in every package.
    let mut command = server.command(&server.program.exe);
    command.arg("--single").args(arguments(server)).arg("postgres");
    let sql = format!("CREATE DATABASE {DATABASE}\n");
    server.run_to_end("creating the database", command, sql.as_bytes())
}

/// Part of the server's error "the database system is starting up": its SQLSTATE, 57P03
/// (`cannot_connect_now` in PostgreSQL's errcodes.txt).
const STARTING_UP: &[u8] = b"C57P03\0";

/// Whether the server in the folder `dir` handles sign-ins: it answers a startup message by asking
/// for the password (`R`), or with an error (`E`) other than that it is starting.
pub(crate) fn greets(dir: &Path, port: u16) -> io::Result<bool> {
    let mut stream = UnixStream::connect(socket(dir, port))?;
    stream.set_read_timeout(Some(ANSWER_LIMIT))?;
    let words = format!("user\0{USER}\0database\0{DATABASE}\0\0");
    let length = u32::try_from(8 + words.len()).expect("a short packet");
    let protocol: u32 = 3 << 16;
    let packet = [&length.to_be_bytes(), &protocol.to_be_bytes(), words.as_bytes()].concat();
    stream.write_all(&packet)?;
    // Each message has a type byte, a length that includes itself, and a body.
    let mut head = [0u8; 5];
    stream.read_exact(&mut head)?;
    let length = u32::from_be_bytes([head[1], head[2], head[3], head[4]]);
    let mut body = Vec::new();
    stream.take(u64::from(length.saturating_sub(4)).min(ANSWER_MAX)).read_to_end(&mut body)?;
    let starting = body.windows(STARTING_UP.len()).any(|window| window == STARTING_UP);
    Ok(head[0] == b'R' || (head[0] == b'E' && !starting))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_tells_which_product_it_is() {
        let version = |shown| version(Path::new("/x/postgres"), shown);
        let debian = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n";
        assert_eq!(version(debian).as_deref(), Ok("15.18"));
        assert!(version("hello").expect_err("none").text.contains("/x/postgres is not PostgreSQL"));
    }
}
