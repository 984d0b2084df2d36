-- The names of sysbench 0.5, which version 1.0 keeps for old scripts.

local rust = ...

test = rust.script_path
thread_id = sysbench.tid
DB_ERROR_NONE, DB_ERROR_RESTART_TRANSACTION, DB_ERROR_FAILED = 0, 1, 2

-- Scripts of sysbench's package before 1.0 read these without a default of their own.
mysql_table_engine, myisam_max_rows = "innodb", 1000000

local connection

function db_connect()
  connection = sysbench.sql.driver():connect()
end

local function connected()
  if not connection then db_connect() end
  return connection
end

function db_disconnect()
  if connection then connection:disconnect() end
  connection = nil
end

function rust.forget_connection() connection = nil end

function db_query(text)
  local result = connected():query(text)
  return result
end

function db_bulk_insert_init(head) connected():bulk_insert_init(head) end

-- Calls a method whose errors from the database are counted, and not seen by the script.
local function tolerated(method, ...)
  local connection = connected()
  rust.tolerates = true
  local ok, problem = pcall(connection[method], connection, ...)
  rust.tolerates = false
  local is_counted = type(problem) == "table" and problem.errcode == sysbench.error.RESTART_EVENT
  if not ok and not is_counted then error(problem, 0) end
end

function db_bulk_insert_next(row) tolerated("bulk_insert_next", row) end
function db_bulk_insert_done() tolerated("bulk_insert_done") end

function db_prepare(text) return connected():prepare(text) end

-- Binds the tables or numbers that the script keeps its values in; they are read when executed.
function db_bind_param(statement, values)
  statement.old_values = values
end

function db_bind_result(statement, values) statement.old_results = values end

function db_execute(statement)
  local bound = {}
  for place, value in ipairs(statement.old_values or {}) do
    local kind = type(value) == "string" and sysbench.sql.type.VARCHAR or sysbench.sql.type.BIGINT
    if type(value) == "number" and value % 1 ~= 0 then kind = sysbench.sql.type.DOUBLE end
    bound[place] = statement:bind_create(kind)
    bound[place]:set(value)
  end
  statement:bind_param(unpack(bound))
  local result = statement:execute()
  statement.old_result = result
  return result
end

function db_store_results(statement) return statement.old_result end
function db_free_results() end
function db_close(statement) statement:close() end

sb_rand = sysbench.rand.default
sb_rand_uniform = sysbench.rand.uniform
sb_rand_gaussian = sysbench.rand.gaussian
sb_rand_special = sysbench.rand.special
sb_rand_str = rust.rand_string
function sb_rnd() return sysbench.rand.uniform(0, 4294967295) end

-- Draws from a range without repetition. A small range, which would take long, may repeat.
function sb_rand_uniq(low, high)
  low, high = tonumber(low) or 0, tonumber(high) or 4294967295
  local width = high - low + 1
  if width < 100000 then return low + rust.rand_unique() % width end
  local drawn
  repeat drawn = rust.rand_unique() until drawn >= low and drawn <= high
  return drawn
end
