-- Connections, statements and results of scripts. Not here: how a request is sent (Rust).

local rust = ...
local ask = rust.ask
local DONE, CONNECT, DISCONNECT, RECONNECT =
  rust.DONE, rust.CONNECT, rust.DISCONNECT, rust.RECONNECT
local NULL, NUMBER, FLOAT, TEXT = rust.NULL, rust.NUMBER, rust.FLOAT, rust.TEXT

-- Functions in Rust, which LuaJIT compiles calls of. They return what has to be asked next.
ffi.cdef("typedef struct { double rows, columns, generation, affected; } dbdyno_figures;")
local shared = ffi.cast("void *", rust.shared)
local figures = ffi.cast("dbdyno_figures *", rust.figures_of_reply)
local send = ffi.cast("int (*)(void *, double, const char *, double)", rust.send)
local execute = ffi.cast("int (*)(void *, double, const double *, double)", rust.execute)
local prepare_now = ffi.cast("int (*)(void *, double)", rust.prepare_now)
local close = ffi.cast("int (*)(void *, double)", rust.close)

-- A pointer that equals nil and is true, as sysbench returns it where there is no result set.
local NOTHING = ffi.cast("void *", 0)
-- Most bytes of an INSERT that bulk_insert_next puts together.
local PACKET_BYTES = 512 * 1024

local sql = {
  type = { NONE = 0, TINYINT = 1, SMALLINT = 2, INT = 3, BIGINT = 4, FLOAT = 5, DOUBLE = 6,
    TIME = 7, DATE = 8, DATETIME = 9, TIMESTAMP = 10, CHAR = 11, VARCHAR = 12 },
  error = { NONE = 0, IGNORABLE = 1, FATAL = 2 },
}
sysbench.sql = sql
local NONE = sql.error.NONE

local function class(name)
  local methods = {}
  return methods, { __index = methods, __tostring = function() return "<" .. name .. ">" end }
end
local drivers, driver_class = class("sql_driver")
local connections, connection_class = class("sql_connection")
local statements, statement_class = class("sql_statement")
local results, result_class = class("sql_result")
local parameters, parameter_class = class("sql_param")

function sql.driver(name)
  return setmetatable({ known_as = name }, driver_class)
end

function drivers:name() return rust.driver_name() end

local function raise_connect(errno, state, message)
  error(("connection creation failed: %s (errno = %d, state = '%s')"):format(
    message, errno, state), rust.level_of_script())
end

-- Connections that the body of the script asked for, where there is no database yet: each is made
-- when it is first used.
local deferred = {}
local deferred_class = { __tostring = connection_class.__tostring }

function deferred_class.__index(connection, key)
  if key ~= "handle" then return connections[key] end
  if rust.is_in_body then
    error("a connection can be used only within functions that sysbench calls", 3)
  end
  local handle, errno, state, message = ask(CONNECT)
  if not handle then raise_connect(errno, state, message) end
  connection.handle = handle
  return handle
end

-- Makes connections of the body again, because the client has lost all of its own.
function rust.forget_connections()
  for _, connection in ipairs(deferred) do connection.handle = nil end
end

-- What a text of C is that is not there.
local NO_TEXT = ffi.cast("const char *", 0)

local function new_connection(driver)
  return { driver = driver, error = 0, sql_errno = 0, sql_state = NO_TEXT, sql_errmsg = NO_TEXT,
    last_result = 0, affected = 0, is_closed = false }
end

function drivers:connect()
  if rust.is_in_body then
    local connection = setmetatable(new_connection(self), deferred_class)
    deferred[#deferred + 1] = connection
    return connection
  end
  local handle, errno, state, message = ask(CONNECT)
  if not handle then raise_connect(errno, state, message) end
  local connection = setmetatable(new_connection(self), connection_class)
  connection.handle = handle
  return connection
end

-- Errors that sysbench ignores: by number where the script names its dialect so, else by state.
local function is_in_list(problem)
  if rust.driver_name() == "pgsql" then
    local state = problem.sql_state
    return state == "40P01" or state == "23505" or state == "40001"
  end
  for _, code in ipairs(rust.ignored_errors) do
    if code == "all" or tonumber(code) == problem.sql_errno then return true end
  end
  return false
end

-- Prints a line as the log of sysbench does, if the script runs in its place. One that is repeated
-- is counted.
local print = print
local last_line, n_repeated = nil, 0
local function log(level, line)
  if not rust.prints_to_stdout then return end
  line = level .. ": " .. line
  if line == last_line then
    n_repeated = n_repeated + 1
    return
  end
  if n_repeated > 0 then print(("(last message repeated %d times)"):format(n_repeated)) end
  last_line, n_repeated = line, 0
  print(line)
end
local function tell(line) log("FATAL", line) end
local function alert(line) log("ALERT", line) end

-- Tells an error that ends the run as the drivers of sysbench do.
local function tell_fatal(statement, query, errno, message)
  local is_prepared = statement ~= nil
  if is_prepared then query = statement.text end
  if rust.driver_name() == "pgsql" then
    tell(("%s() failed: 7 %s"):format(is_prepared and "PQexecPrepared" or "PQexec", message))
    if not is_prepared then tell("failed query was: " .. query) end
  else
    tell(("%s() returned error %d (%s) for query '%s'"):format(
      is_prepared and "mysql_stmt_execute" or "mysql_drv_query", errno, message, query))
  end
end

-- Raises the error of a call that sends no statement, at the line of the script that made it. In
-- place of sysbench it has said why, and its error does not.
local function raise_api(message)
  if rust.prints_to_stdout then message = "SQL API error" end
  error(message, rust.level_of_script())
end

local function raise_sql(errno, state, message)
  raise_api(("SQL error, errno = %d, state = '%s': %s"):format(errno, state, message))
end

local CLOSED_CONNECTION = "attempt to use an already closed connection"
local CLOSED_STATEMENT = "attempt to use an already closed statement"

local function check_open(connection)
  if not connection.is_closed then return end
  alert(CLOSED_CONNECTION)
  raise_api("the script has closed this connection: connect again")
end

-- A statement that is closed ends sysbench without a message.
local function check_usable(statement)
  check_open(statement.connection)
  if not statement.is_closed then return end
  alert(CLOSED_STATEMENT)
  raise_api("the script has closed this statement: prepare it again")
end

-- Raises the error of a request, at the line of the script that made it.
local function raise(connection, statement, query, errno, state, message)
  connection.sql_errno, connection.sql_state, connection.sql_errmsg = errno, state, message
  local problem = { connection = connection, query = query, sql_errno = errno, sql_state = state,
    sql_errmsg = message }
  local hook = sysbench.hooks.sql_error_ignorable
  local is_ignored = is_in_list(problem)
  -- sysbench has told the error when it asks the hook.
  if not is_ignored then tell_fatal(statement, query, errno, message) end
  if is_ignored or (hook and hook(problem)) then
    connection.error = sql.error.IGNORABLE
    if rust.driver_name() == "pgsql" then
      local next = send(shared, connection.handle, "ROLLBACK", 8)
      if next ~= DONE then ask(next) end
    end
    problem.errcode = sysbench.error.RESTART_EVENT
    error(problem, 0)
  end
  connection.error = sql.error.FATAL
  if rust.tolerates then
    problem.errcode = sysbench.error.RESTART_EVENT
    error(problem, 0)
  end
  rust.note_fatal()
  error(("SQL error, errno = %d, state = '%s': %s"):format(errno, state, message),
    rust.level_of_script())
end

-- Returns the connection's result, of which there is one, as in sysbench.
local function result_of(connection, statement)
  local rows = figures.rows
  if rows < 0 then return NOTHING end
  local result = connection.result
  if not result then
    result = setmetatable({ connection = connection, statement = false, nrows = 0, nfields = 0,
      generation = 0, at = 0 }, result_class)
    connection.result = result
  end
  result.statement, result.nrows, result.nfields = statement, rows, figures.columns
  result.generation, result.at = figures.generation, 0
  return result
end

local function said(connection, statement, query, next)
  if next ~= DONE then
    local ok, errno, state, message = ask(next)
    if not ok then raise(connection, statement, query, errno, state, message) end
  end
  connection.error, connection.affected, connection.last_result = NONE, figures.affected, 0
  return result_of(connection, statement)
end

function connections:query(text)
  if self.is_closed then check_open(self) end
  local result = said(self, nil, text, send(shared, self.handle, text, #text))
  return result
end

function connections:query_row(text)
  if self.is_closed then check_open(self) end
  local result = said(self, nil, text, send(shared, self.handle, text, #text))
  if result == nil or result.nrows == 0 then return nil end
  return unpack(result:fetch_row(), 1, result.nfields)
end

function connections:check_error() end

function connections:disconnect()
  if self.is_closed then return alert("attempt to close an already closed connection") end
  ask(DISCONNECT, self.handle)
  self.is_closed = true
end

function connections:reconnect()
  check_open(self)
  local ok, errno, state, message = ask(RECONNECT, self.handle)
  if not ok then raise_connect(errno, state, message) end
end

function connections:more_results()
  return self.last_result + 1 < rust.result_sets(self.handle)
end

function connections:next_result()
  if not self:more_results() then return NOTHING end
  self.last_result = self.last_result + 1
  figures.rows, figures.columns, figures.generation =
    rust.use_result(self.handle, self.last_result)
  return result_of(self, nil)
end

function connections:bulk_insert_init(head)
  self.bulk = { head = head, rows = {}, n = 0, bytes = #head }
end

local function flush(connection, bulk)
  if bulk.n == 0 then return end
  check_open(connection)
  local text = bulk.head .. table.concat(bulk.rows, ",", 1, bulk.n)
  bulk.n, bulk.bytes = 0, #bulk.head
  said(connection, nil, text, send(shared, connection.handle, text, #text))
end

function connections:bulk_insert_next(row)
  local bulk = self.bulk
  -- A comma precedes each row but the first, and a zero ends the packet.
  if bulk.bytes + #row + (bulk.n > 0 and 2 or 1) > PACKET_BYTES then flush(self, bulk) end
  bulk.bytes = bulk.bytes + #row + (bulk.n > 0 and 1 or 0)
  bulk.n = bulk.n + 1
  bulk.rows[bulk.n] = row
end

function connections:bulk_insert_done()
  if self.bulk then flush(self, self.bulk) end
  self.bulk = nil
end

-- Raises the error of a statement that cannot be prepared.
local function raise_prepare(connection, errno, state, message)
  connection.error = sql.error.FATAL
  connection.sql_errno, connection.sql_state, connection.sql_errmsg = errno, state, message
  rust.note_fatal()
  if rust.driver_name() == "pgsql" then
    tell("PQprepare() failed: " .. message)
  else
    tell("mysql_stmt_prepare() failed")
    tell(('MySQL error: %d "%s"'):format(errno, message))
  end
  raise_sql(errno, state, message)
end

-- Has the server prepare a statement, as the drivers of sysbench do.
local function prepare(statement)
  local next = prepare_now(shared, statement.place)
  if next == DONE then return end
  local ok, errno, state, message = ask(next)
  if not ok then raise_prepare(statement.connection, errno, state, message) end
end

function connections:prepare(text)
  check_open(self)
  local place = rust.prepare(self.handle, text)
  -- The types of parameters decide on the statement where placeholders are $1.
  local is_later = rust.driver_name() == "pgsql" and text:find("?", 1, true) ~= nil
  local statement = setmetatable({ connection = self, place = place, text = text, bound = {}, n = 0,
    is_later = is_later, is_closed = false }, statement_class)
  if not is_later then prepare(statement) end
  return statement
end

local WHOLE = { [1] = true, [2] = true, [3] = true, [4] = true }

function statements:bind_create(kind, max_length)
  local is_whole, is_float = WHOLE[kind], kind == 5 or kind == 6
  if not is_whole and not is_float and kind ~= 11 and kind ~= 12 then
    error("Unsupported argument type: " .. tostring(kind), 2)
  end
  return setmetatable({ type = kind, max_len = max_length, is_whole = is_whole,
    is_float = is_float }, parameter_class)
end

local floor, ceil = math.floor, math.ceil

function parameters:set(value)
  if value == nil then
    self.value = nil
  elseif self.is_whole then
    local plain = tonumber(value) or 0
    self.value = plain < 0 and ceil(plain) or floor(plain)
  elseif self.is_float then
    self.value = tonumber(value) or 0
  else
    value = tostring(value)
    if self.max_len and #value > self.max_len then value = value:sub(1, self.max_len) end
    self.value = value
  end
end

function parameters:set_rand_str(format)
  self:set(rust.rand_string(format))
end

function statements:bind_param(...)
  check_usable(self)
  self.bound, self.n = { ... }, select("#", ...)
  local places = rust.bind(self.place, self.n)
  self.numbers, self.texts = ffi.cast("double *", places), ffi.cast("const char **", places)
  if self.is_later then
    self.is_later = false
    prepare(self)
  end
end

-- Puts the value of a parameter into a place, which has a kind, a number and a text.
local function put(statement, place)
  local parameter, at = statement.bound[place + 1], place * 3
  local value, numbers = parameter.value, statement.numbers
  if type(value) == "number" then
    numbers[at], numbers[at + 1] = parameter.is_float and FLOAT or NUMBER, value
  elseif value == nil then
    numbers[at] = NULL
  else
    statement.texts[at + 2] = value
    numbers[at], numbers[at + 1] = TEXT, #value
  end
end

-- Most statements have so few parameters that a loop over them would be in the way of LuaJIT.
local function put_all(statement, n)
  put(statement, 0)
  if n == 1 then return end
  put(statement, 1)
  for place = 2, n - 1 do put(statement, place) end
end

function statements:execute()
  local connection, n = self.connection, self.n
  if self.is_closed or connection.is_closed then check_usable(self) end
  if n > 0 then put_all(self, n) end
  local result = said(connection, self, "<prepared statement>",
    execute(shared, self.place, self.numbers, n))
  return result
end

function statements:next_result() return self.connection:next_result() end

function statements:close()
  if self.is_closed then return end
  self.is_closed = true
  local connection = self.connection
  if connection.is_closed then return alert(CLOSED_CONNECTION) end
  local next = close(shared, self.place)
  if next ~= DONE then ask(next) end
end

function results:fetch_row()
  if self.at >= self.nrows then return nil end
  self.at = self.at + 1
  return rust.row(self.connection.handle, self.generation, self.at)
end

function results:free() end
