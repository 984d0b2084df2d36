//! The statements that a PostgreSQL connection knows. Each is prepared when it is first executed.
//!
//! The first execution of a statement is sent together with its preparation, so that this needs no
//! further round trip. The parameter types are not known then, so its values are sent as text,
//! which the server parses by the expected type. Later executions send binary values.

use std::sync::Arc;

use bytes::BytesMut;
use fallible_iterator::FallibleIterator;
use model::{
    Call, DbError, DbErrorKind, Sent, SentStatement, Statement, StatementId, StatementKind, Value,
};
use postgres_protocol::message::backend;

use super::db_errors::garbled;
use super::messages::{self, EXECUTE, Message};
use super::row::Column;
use super::sql::BEGIN;
use super::template::Template;
use super::types::Type;
use super::{Way, binary, text};
use crate::kept::Kept;

/// Limit of the protocol on the number of parameters of a prepared statement. Executing a statement
/// with more parameters fails.
const VALUES_MAX: usize = u16::MAX as usize;
/// Last bytes of a Bind message, which request all result columns in binary format.
const BINARY_RESULT: &[u8] = &[0, 1, 0, 1];
/// Encoded Bind message for the unnamed statement without parameters, with its result in binary
/// format.
const BIND_NOTHING: &[u8] = b"B\0\0\0\x0e\0\0\0\0\0\0\0\x01\0\x01";

pub(super) struct Statements {
    way: Way,
    /// Number in the names of this connection's prepared statements, which makes them different
    /// from those of other connections. A connection pooler may assign two of them to one server
    /// connection, where equal names would execute the wrong statement.
    connection: i32,
    declared: Arc<[Statement]>,
    late: Vec<Statement>,
    /// The statements that are prepared, or are to be.
    prepared: Kept<Prepared>,
    /// Indexes of statements that are prepared on the server and not kept or not used any more.
    /// They are closed before the next one is prepared.
    to_close: Vec<usize>,
    /// Buffer for the SQL text of a statement with its values as literals.
    sql: Vec<u8>,
    /// IDs of the statements that begin a transaction, begin a read-only one, and commit within a
    /// batch; `None` before the first use of each.
    controls: [Option<StatementId>; 3],
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// The statement is not prepared, or the server may have forgotten it.
    #[default]
    Unknown,
    /// The messages that prepare the statement were sent, and the reply is awaited.
    Asked,
    /// The server has prepared the statement and reported the types of its parameters and columns.
    Ready,
}

#[derive(Default)]
pub(super) struct Prepared {
    /// Index of the statement in its session.
    index: usize,
    state: State,
    parameters: Vec<Type>,
    /// Encoded start of the statement's Bind message, before the first value.
    head: Vec<u8>,
    pub(super) columns: Vec<Column>,
    /// Whether the statement returns a result set, which may be empty.
    pub(super) has_rows: bool,
    /// SQL text of the statement, split at its placeholders; `None` before the statement is first
    /// sent as text.
    template: Option<Template>,
}

impl Statements {
    pub(super) fn new(
        way: Way,
        (declared, n_kept): (Arc<[Statement]>, usize),
        connection: i32,
    ) -> Statements {
        let prepared = Kept::new(declared.len(), n_kept);
        let (late, to_close) = (Vec::new(), Vec::new());
        let (sql, controls) = (Vec::new(), [None; 3]);
        Statements { way, connection, declared, late, prepared, to_close, sql, controls }
    }

    pub(super) fn add(&mut self, statement: Statement) -> Result<StatementId, DbError> {
        let id = StatementId::numbered(self.prepared.n_known())?;
        self.late.push(statement);
        self.prepared.add();
        Ok(id)
    }

    /// Whether the statement at `index` is the COMMIT that dbdyno adds for batches that end their
    /// transaction.
    pub(super) fn is_commit(&self, index: usize) -> bool {
        let [_, _, commit] = self.controls;
        commit.is_some_and(|commit| commit.index() == index)
    }

    /// Returns the ID of the statement to execute. An ID that means BEGIN or COMMIT within a batch
    /// gets a statement at its first use; any other ID is returned unchanged.
    #[inline]
    pub(super) fn resolve(&mut self, id: StatementId) -> Result<StatementId, DbError> {
        if id.is_control() { self.control(id) } else { Ok(id) }
    }

    fn control(&mut self, id: StatementId) -> Result<StatementId, DbError> {
        let place = (u32::MAX - id.0) as usize;
        if let Some(known) = self.controls[place] {
            return Ok(known);
        }
        let sql = [BEGIN.writes, BEGIN.reads, "COMMIT"][place];
        let known = self.add(Statement::new(sql, StatementKind::Other, sql))?;
        self.controls[place] = Some(known);
        Ok(known)
    }

    pub(super) fn statement(&self, index: usize) -> &Statement {
        match self.declared.get(index) {
            Some(statement) => statement,
            None => &self.late[index - self.declared.len()],
        }
    }

    pub(super) fn name(&self, index: usize) -> &'static str {
        self.statement(index).name
    }

    /// Returns the name under which the statement is prepared on the server; empty for the unnamed
    /// statement.
    fn server_name(&self, index: usize) -> String {
        match self.way {
            Way::Named => format!("s{index}_{:x}", self.connection),
            Way::Unnamed | Way::Simple => String::new(),
        }
    }

    pub(super) fn get(&self, index: usize) -> &Prepared {
        &self.prepared[index]
    }

    /// Returns the kind (such as read or write) with which the statement was declared. Fails if no
    /// statement has this ID.
    #[inline]
    pub(super) fn kind(&self, id: StatementId) -> Result<StatementKind, DbError> {
        let index = id.index();
        if index >= self.prepared.n_known() {
            return Err(self.unknown(index));
        }
        Ok(self.statement(index).kind)
    }

    #[cold]
    fn unknown(&self, index: usize) -> DbError {
        let message = format!(
            "this session has {} statements and no number {index}; statements prepared at run time \
             are lost when their connection ends",
            self.prepared.n_known()
        );
        DbError::new(DbErrorKind::Missing, message)
    }

    /// Whether the statement with the ID `id`, which must be known, is sent as text, because it is
    /// declared so or the target's option demands it.
    #[inline]
    pub(super) fn is_text(&self, id: StatementId) -> bool {
        self.way == Way::Simple || self.statement(id.index()).sent == Sent::Text
    }

    /// Appends the messages that execute a prepared statement, and before them those that prepare
    /// it if necessary. Returns whether it must be prepared. Fails if the number of values is
    /// wrong. `is_needed` names the statements of the same request by their indexes.
    #[inline]
    pub(super) fn put_call(
        &mut self,
        call: &Call<'_>,
        out: &mut Vec<u8>,
        is_needed: impl Fn(usize) -> bool,
    ) -> Result<bool, DbError> {
        let index = call.statement.index();
        let state = self.keep(index, is_needed).state;
        let asks = match state {
            State::Ready if self.way == Way::Named => false,
            State::Asked if self.way == Way::Named => false,
            _ => {
                self.ask(index, call.values.len(), out)?;
                true
            }
        };
        let prepared = &self.prepared[index];
        if call.values.len() != prepared.parameters.len() {
            return Err(self.miscounted(index, call.values.len(), prepared.parameters.len()));
        }
        if !prepared.put_bind(call.values, out) {
            return Err(self.too_long(index));
        }
        out.extend_from_slice(EXECUTE);
        Ok(asks)
    }

    /// Appends the messages that only prepare a statement. Returns false if it is prepared already,
    /// or is prepared only to be executed, and appends nothing then.
    pub(super) fn put_preparation(
        &mut self,
        id: StatementId,
        out: &mut Vec<u8>,
    ) -> Result<bool, DbError> {
        let index = id.index();
        let is_needless = self.way != Way::Named
            || self.is_text(id)
            || self.keep(index, |_| false).state == State::Ready;
        if !is_needless {
            // The server says how many parameters there are.
            self.ask(index, 0, out)?;
        }
        Ok(!is_needless)
    }

    /// Closes a statement, if the server has prepared it, before it or another one is prepared.
    pub(super) fn close(&mut self, index: usize) {
        let way = self.way;
        if let Some(prepared) = self.prepared.used(index) {
            if prepared.state == State::Ready && way == Way::Named {
                self.to_close.push(index);
            }
            prepared.state = State::Unknown;
        }
    }

    /// Returns what is kept about the statement at `index`, in place of the least recently used
    /// statement if there is no room.
    #[inline]
    fn keep(&mut self, index: usize, is_needed: impl Fn(usize) -> bool) -> &mut Prepared {
        if self.prepared.used(index).is_none() {
            let left = self.prepared.put(index, Prepared::new(index), is_needed);
            let left = left.filter(|left| left.state == State::Ready && self.way == Way::Named);
            self.to_close.extend(left.map(|left| left.index));
        }
        &mut self.prepared[index]
    }

    /// Appends the messages that prepare the statement at `index`. Its parameter types are unknown
    /// until they are answered, so values are sent as text.
    #[cold]
    fn ask(&mut self, index: usize, n_values: usize, out: &mut Vec<u8>) -> Result<(), DbError> {
        if n_values > VALUES_MAX {
            return Err(self.miscounted(index, n_values, VALUES_MAX));
        }
        for left in std::mem::take(&mut self.to_close) {
            messages::put_close(out, &self.server_name(left));
        }
        let name = self.server_name(index);
        let sql = &self.statement(index).sql;
        messages::put_prepare(out, &name, sql)?;
        let prepared = &mut self.prepared[index];
        prepared.state = State::Asked;
        prepared.set_parameters(&name, std::iter::repeat_n(Type::Other, n_values));
        Ok(())
    }

    /// Appends messages that execute a statement with its values as literals, within a batch that
    /// also has prepared statements. The text is prepared without a name at each execution, so that
    /// one Sync ends the whole batch.
    #[cold]
    pub(super) fn put_parsed(
        &mut self,
        call: &Call<'_>,
        out: &mut Vec<u8>,
        is_needed: impl Fn(usize) -> bool,
    ) -> Result<(), DbError> {
        let mut sql = std::mem::take(&mut self.sql);
        sql.clear();
        self.put_text(call, &mut sql, is_needed)?;
        let text = str::from_utf8(&sql).expect("literals of bytes are in hexadecimal");
        messages::put_prepare(out, "", text)
            .map_err(|no| no.during(self.name(call.statement.index())))?;
        self.sql = sql;
        out.extend_from_slice(BIND_NOTHING);
        out.extend_from_slice(EXECUTE);
        Ok(())
    }

    /// Appends the SQL text of a statement with the call's values as literals. Fails if there are
    /// more or fewer values than placeholders.
    pub(super) fn put_text(
        &mut self,
        call: &Call<'_>,
        out: &mut Vec<u8>,
        is_needed: impl Fn(usize) -> bool,
    ) -> Result<(), DbError> {
        let index = call.statement.index();
        if self.keep(index, is_needed).template.is_none() {
            let template = Template::parse(&self.statement(index).sql);
            self.prepared[index].template = Some(template);
        }
        let template = self.prepared[index].template.as_ref().expect("it was just made");
        if call.values.len() != template.n_values {
            return Err(self.miscounted(index, call.values.len(), template.n_values));
        }
        template.fill(call.values, out);
        Ok(())
    }

    /// Returns the statement as it would be sent for a call, to be shown to users: as text with
    /// literals, or as prepared statement with its values. `None` if the call's statement is
    /// unknown.
    pub(super) fn sent(&mut self, call: &Call<'_>) -> Option<SentStatement> {
        let index = call.statement.index();
        (index < self.prepared.n_known()).then(|| {
            let mut text = Vec::new();
            let is_filled =
                self.is_text(call.statement) && self.put_text(call, &mut text, |_| false).is_ok();
            let (name, sql) = (self.name(index), &self.statement(index).sql);
            match is_filled {
                true => SentStatement::text(&String::from_utf8_lossy(&text)).named(name),
                false => SentStatement::prepared(name, sql, call.values),
            }
        })
    }

    #[cold]
    fn miscounted(&self, index: usize, n_given: usize, n_expected: usize) -> DbError {
        let message = format!("{n_given} values were given, {n_expected} are expected");
        DbError::new(DbErrorKind::Shape, message).during(self.name(index))
    }

    #[cold]
    fn too_long(&self, index: usize) -> DbError {
        let message = "its values exceed 2 GiB, the limit of a message";
        DbError::new(DbErrorKind::Unsupported, message).during(self.name(index))
    }

    /// Stores the parameter types of the statement at `index`, from the server's message
    /// ParameterDescription.
    pub(super) fn learn_parameters(
        &mut self,
        index: usize,
        message: Message<'_>,
    ) -> Result<(), DbError> {
        let parameters = read_parameters(message)?;
        let name = self.server_name(index);
        self.prepared[index].set_parameters(&name, parameters.into_iter());
        Ok(())
    }

    /// Stores the result columns of the statement at `index` from a RowDescription message, and
    /// marks the statement as prepared. `message` is `None` if the statement returns no rows.
    pub(super) fn learn_columns(
        &mut self,
        index: usize,
        message: Option<Message<'_>>,
    ) -> Result<(), DbError> {
        let prepared = &mut self.prepared[index];
        prepared.columns.clear();
        prepared.has_rows = message.is_some();
        if let Some(message) = message {
            read_columns(message, &mut prepared.columns)?;
        }
        prepared.state = State::Ready;
        Ok(())
    }

    /// Marks the statement at `index` as not prepared if its preparation was sent but not answered.
    pub(super) fn give_up(&mut self, index: usize) {
        let asked = self.prepared.used(index).filter(|prepared| prepared.state == State::Asked);
        if let Some(prepared) = asked {
            prepared.state = State::Unknown;
        }
    }

    /// Marks the statement at `index` as not prepared, because the server does not know it any more
    /// or its result columns have changed.
    pub(super) fn forget(&mut self, index: usize) {
        if let Some(prepared) = self.prepared.used(index) {
            prepared.state = State::Unknown;
        }
    }
}

impl Prepared {
    fn new(index: usize) -> Prepared {
        Prepared { index, ..Prepared::default() }
    }

    fn set_parameters(&mut self, name: &str, parameters: impl Iterator<Item = Type>) {
        self.parameters.clear();
        self.parameters.extend(parameters);
        let count = (self.parameters.len() as u16).to_be_bytes();
        self.head.clear();
        self.head.extend_from_slice(b"B\0\0\0\0\0");
        self.head.extend_from_slice(name.as_bytes());
        self.head.push(0);
        self.head.extend_from_slice(&count);
        self.parameters.iter().for_each(|_| self.head.extend_from_slice(&[0, 1]));
        self.head.extend_from_slice(&count);
    }

    #[inline]
    fn put_bind(&self, values: &[Value<'_>], out: &mut Vec<u8>) -> bool {
        let start = out.len();
        out.extend_from_slice(&self.head);
        // The formats end where the second count of two bytes begins.
        let formats = out.len() - 2 - 2 * values.len();
        for (index, (value, kind)) in values.iter().zip(&self.parameters).enumerate() {
            if !binary::put(out, *kind, value) {
                out[formats + 2 * index + 1] = 0;
                if !put_as_text(value, out) {
                    return false;
                }
            }
        }
        out.extend_from_slice(BINARY_RESULT);
        messages::close(out, start)
    }
}

fn put_as_text(value: &Value<'_>, out: &mut Vec<u8>) -> bool {
    let start = out.len();
    out.extend_from_slice(&[0; 4]);
    text::put(out, value);
    let Ok(n_bytes) = i32::try_from(out.len() - start - 4) else { return false };
    out[start..start + 4].copy_from_slice(&n_bytes.to_be_bytes());
    true
}

fn parse(message: Message<'_>) -> Result<backend::Message, DbError> {
    let parsed = backend::Message::parse(&mut BytesMut::from(message.whole));
    let parsed = parsed.map_err(|error| garbled(&error))?;
    parsed.ok_or_else(|| garbled(&"a truncated message"))
}

fn read_parameters(message: Message<'_>) -> Result<Vec<Type>, DbError> {
    let backend::Message::ParameterDescription(body) = parse(message)? else {
        return Err(garbled(&"the description of the parameters is missing"));
    };
    body.parameters().map(|oid| Ok(Type::from_oid(oid))).collect().map_err(|error| garbled(&error))
}

/// Parses a RowDescription message, and appends its columns to `columns`.
pub(super) fn read_columns(message: Message<'_>, columns: &mut Vec<Column>) -> Result<(), DbError> {
    let backend::Message::RowDescription(body) = parse(message)? else {
        return Err(garbled(&"the description of the columns is missing"));
    };
    let mut fields = body.fields();
    while let Some(field) = fields.next().map_err(|error| garbled(&error))? {
        let kind = Type::from_oid(field.type_oid());
        columns.push(Column { name: field.name().to_owned(), kind });
    }
    Ok(())
}
