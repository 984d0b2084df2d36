//! Real servers for these tests: where they are, and how dbdyno is told.

use model::{Secret, Target};
use servers::Server;

/// The URL of a server without its password, and the password.
pub(crate) fn url_and_password(server: &Server) -> (String, String) {
    let target = server.target();
    let password = target.password.as_ref().map_or("", Secret::reveal).to_owned();
    (target.to_string(), password)
}

/// The URL of a server with the password in it.
pub(crate) fn url(server: &Server) -> String {
    with_password(&server.target())
}

/// The same with a database of its own; building makes it.
pub(crate) fn url_of(server: &Server, database: &str) -> String {
    with_password(&Target { path: database.to_owned(), ..server.target() })
}

/// A target as somebody writes it who puts the password into the URL.
pub(crate) fn with_password(target: &Target) -> String {
    let password = target.password.as_ref().map_or("", Secret::reveal);
    target.to_string().replacen('@', &format!(":{password}@"), 1)
}
