//! What only PostgreSQL does. The laws of all drivers are held on a real server, which
//! `DBDYNO_TEST_POSTGRES_URL` names.

mod pgbouncer;
mod server;
mod transcripts;
