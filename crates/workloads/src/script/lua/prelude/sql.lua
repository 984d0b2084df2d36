-- Connections, statements and results of scripts. Not here: how a request is sent (Rust).

local rust = ...
local ask = rust.ask
local QUERY, EXECUTE, CONNECT, DISCONNECT, RECONNECT =
  rust.QUERY, rust.EXECUTE, rust.CONNECT, rust.DISCONNECT, rust.RECONNECT

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
    message, errno, state), 3)
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

function drivers:connect()
  if rust.is_in_body then
    local connection = setmetatable({ driver = self, error = 0, sql_errno = 0, sql_state = "",
      sql_errmsg = "" }, deferred_class)
    deferred[#deferred + 1] = connection
    return connection
  end
  local handle, errno, state, message = ask(CONNECT)
  if not handle then raise_connect(errno, state, message) end
  return setmetatable({ handle = handle, driver = self, error = 0, sql_errno = 0, sql_state = "",
    sql_errmsg = "" }, connection_class)
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

-- Raises the error of a request, at the line of the script that made it.
local function raise(connection, query, errno, state, message)
  connection.sql_errno, connection.sql_state, connection.sql_errmsg = errno, state, message
  local problem = { connection = connection, query = query, sql_errno = errno, sql_state = state,
    sql_errmsg = message }
  local hook = sysbench.hooks.sql_error_ignorable
  if is_in_list(problem) or (hook and hook(problem)) then
    connection.error = sql.error.IGNORABLE
    if rust.driver_name() == "pgsql" then ask(QUERY, connection.handle, "ROLLBACK") end
    problem.errcode = sysbench.error.RESTART_EVENT
    error(problem, 0)
  end
  connection.error = sql.error.FATAL
  rust.note_fatal()
  error(("SQL error, errno = %d, state = '%s': %s"):format(errno, state, message), 4)
end

local function result_of(connection, statement, rows, columns, generation)
  if rows == nil then return NOTHING end
  return setmetatable({ connection = connection, statement = statement, nrows = rows,
    nfields = columns, generation = generation, at = 0 }, result_class)
end

local function said(connection, statement, query, ok, a, b, c, d)
  if not ok then raise(connection, query, a, b, c) end
  connection.error, connection.affected, connection.last_result = sql.error.NONE, d, nil
  if a == nil then return NOTHING end
  return result_of(connection, statement, a, b, c)
end

function connections:query(text)
  local result = said(self, nil, text, ask(QUERY, self.handle, text))
  return result
end

function connections:query_row(text)
  local result = said(self, nil, text, ask(QUERY, self.handle, text))
  if result == nil or result.nrows == 0 then return nil end
  return unpack(result:fetch_row(), 1, result.nfields)
end

function connections:check_error() end

function connections:disconnect()
  ask(DISCONNECT, self.handle)
end

function connections:reconnect()
  local ok, errno, state, message = ask(RECONNECT, self.handle)
  if not ok then raise_connect(errno, state, message) end
end

function connections:more_results()
  local last = self.last_result or 0
  return last + 1 < rust.result_sets(self.handle)
end

function connections:next_result()
  if not self:more_results() then return NOTHING end
  self.last_result = (self.last_result or 0) + 1
  local rows, columns, generation = rust.use_result(self.handle, self.last_result)
  return result_of(self, nil, rows, columns, generation)
end

function connections:bulk_insert_init(head)
  self.bulk = { head = head, rows = {}, n = 0, bytes = #head }
end

local function flush(connection, bulk)
  if bulk.n == 0 then return end
  local text = bulk.head .. " " .. table.concat(bulk.rows, ", ", 1, bulk.n)
  bulk.n, bulk.bytes = 0, #bulk.head
  said(connection, nil, text, ask(QUERY, connection.handle, text))
end

function connections:bulk_insert_next(row)
  local bulk = self.bulk
  if bulk.bytes + #row + 2 > PACKET_BYTES then flush(self, bulk) end
  bulk.n = bulk.n + 1
  bulk.rows[bulk.n] = row
  bulk.bytes = bulk.bytes + #row + 2
end

function connections:bulk_insert_done()
  if self.bulk then flush(self, self.bulk) end
  self.bulk = nil
end

function connections:prepare(text)
  local place = rust.prepare(self.handle, text)
  return setmetatable({ connection = self, place = place, text = text, bound = {}, n = 0 },
    statement_class)
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
  self.bound, self.n = { ... }, select("#", ...)
  local kinds = {}
  for place = 1, self.n do kinds[place] = self.bound[place].is_float and "f" or "-" end
  rust.bind(self.place, table.concat(kinds))
end

local function execute(self)
  local bound, n = self.bound, self.n
  if n == 0 then return ask(EXECUTE, self.place) end
  if n == 1 then return ask(EXECUTE, self.place, bound[1].value) end
  if n == 2 then return ask(EXECUTE, self.place, bound[1].value, bound[2].value) end
  local values = {}
  for place = 1, n do values[place] = bound[place].value end
  return ask(EXECUTE, self.place, unpack(values, 1, n))
end

function statements:execute()
  local connection = self.connection
  local result = said(connection, self, "<prepared statement>", execute(self))
  return result
end

function statements:next_result() return self.connection:next_result() end
function statements:close() end

function results:fetch_row()
  if self.at >= self.nrows then return nil end
  self.at = self.at + 1
  return rust.row(self.connection.handle, self.generation, self.at)
end

function results:free() end
