-- What scripts of sysbench find beside Lua's own libraries: options, commands, modules, errors,
-- histograms. Not here: connections and statements (sql.lua), and names of version 0.5 (old.lua).

local rust = ...

ffi = require("ffi")
local real_ffi = ffi
local running, raw_resume = coroutine.running, coroutine.resume
local yield, isyieldable = coroutine.yield, coroutine.isyieldable

-- Requests to Rust ---------------------------------------------------------------------------

-- The coroutine in which Rust runs the script; every request ends up there.
local main
-- Marks a request that a coroutine of the script's own passes on to the one that resumed it.
local PASSED_ON = {}

function rust.ask(...)
  local here = running()
  if here == nil then
    error("a connection can be used only within functions that sysbench calls", 3)
  end
  if not isyieldable() then
    error("a connection cannot be used within a function that " ..
      "Lua's own functions call, such as an error handler: use it before or after that", 3)
  end
  if here == main then return yield(...) end
  return yield(PASSED_ON, ...)
end

local function passed_on(thread, ok, first, ...)
  if ok and first == PASSED_ON then
    return passed_on(thread, raw_resume(thread, rust.ask(...)))
  end
  return ok, first, ...
end

function coroutine.resume(thread, ...)
  return passed_on(thread, raw_resume(thread, ...))
end

local function returned(ok, ...)
  if not ok then error((...), 0) end
  return ...
end

function coroutine.wrap(body)
  local thread = coroutine.create(body)
  return function(...) return returned(coroutine.resume(thread, ...)) end
end

-- Lua's own functions of these names call the script's functions from C, where no request can wait.

-- Sorts with an order of the script: merges halves, so each pair is compared as it stands.
local raw_sort = table.sort
function table.sort(list, is_before)
  if is_before == nil then return raw_sort(list) end
  local from, to, n = list, {}, #list
  local width = 1
  while width < n do
    for first = 1, n, 2 * width do
      local left, right = first, math.min(first + width, n + 1)
      local left_end, right_end = right, math.min(first + 2 * width, n + 1)
      for place = first, right_end - 1 do
        if left < left_end and (right >= right_end or not is_before(from[right], from[left])) then
          to[place], left = from[left], left + 1
        else
          to[place], right = from[right], right + 1
        end
      end
    end
    from, to, width = to, from == list and {} or from, 2 * width
  end
  for place = 1, from == list and 0 or n do list[place] = from[place] end
end

local raw_gsub, find, sub = string.gsub, string.find, string.sub
local type, select = type, select

-- Returns what a function puts in place of a match, which is kept if that is nil or false.
local function put_in_place(replace, text, first, last, ...)
  local new
  if select("#", ...) == 0 then new = replace(sub(text, first, last)) else new = replace(...) end
  if not new then return sub(text, first, last) end
  if type(new) == "string" or type(new) == "number" then return new end
  error("invalid replacement value (a " .. type(new) .. ")", 3)
end

local function next_match(replace, text, first, last, ...)
  if not first then return end
  return first, last, put_in_place(replace, text, first, last, ...)
end

function string.gsub(text, pattern, replace, most)
  if type(replace) ~= "function" then return raw_gsub(text, pattern, replace, most) end
  text = tostring(text)
  local out, n, at, is_anchored = {}, 0, 1, sub(pattern, 1, 1) == "^"
  while n < (most or math.huge) and at <= #text + 1 do
    local first, last, new = next_match(replace, text, find(text, pattern, at))
    if not first then break end
    n = n + 1
    out[#out + 1] = sub(text, at, first - 1)
    out[#out + 1] = new
    at = last + 1
    if last < first then
      -- An empty match keeps the letter behind it.
      out[#out + 1] = sub(text, first, first)
      at = first + 1
    end
    if is_anchored then break end
  end
  out[#out + 1] = sub(text, at)
  return table.concat(out), n
end

-- What a script prints goes to the error output, because results go to the standard output, unless
-- it replaces a script that sysbench runs.
if rust.prints_to_stdout then
  -- Lines stay in order with those that Rust prints.
  io.stdout:setvbuf("line")
else
  io.stdout = io.stderr
  io.output(io.stderr)
end

local function put(text)
  if not rust.is_silent then io.stdout:write(text) end
end

function print(...)
  local words = {}
  for place = 1, select("#", ...) do words[place] = tostring((select(place, ...))) end
  put(table.concat(words, "\t") .. "\n")
end

local raw_write = io.write
function io.write(...)
  if io.output() ~= io.stdout then return raw_write(...) end
  for place = 1, select("#", ...) do put(tostring((select(place, ...)))) end
  return io.stdout
end

-- What os.exit raises if it tells of success: the act that called it has ended, and its client.
local EXITED = setmetatable({}, { __tostring = function() return "the script called os.exit(0)" end })

function os.exit(code)
  if code == nil or code == 0 or code == true then error(EXITED, 0) end
  error("the script called os.exit(" .. tostring(code) .. ")", 2)
end

-- Returns the level, for `error`, of the nearest function of the script among those that called
-- the caller of this function.
local getinfo = debug.getinfo
function rust.level_of_script()
  local level = 3
  while true do
    local info = getinfo(level, "S")
    if not info then return 1 end
    if info.source:sub(1, 1) == "@" then return level - 1 end
    level = level + 1
  end
end

-- Modules --------------------------------------------------------------------------------------

local chunks = {}
rust.chunks = chunks

-- Loads a file that Rust read or recorded. Returns nil if there is none.
local function recorded(path)
  local text = rust.open(path)
  if text == nil then return nil end
  local chunk, message = loadstring(text, "@" .. path)
  if chunk then chunks[#chunks + 1] = chunk end
  return chunk, message
end

local raw_loadfile = loadfile
function loadfile(path, ...)
  local chunk, message = path and recorded(path)
  if chunk or message then return chunk, message end
  chunk, message = raw_loadfile(path, ...)
  if chunk then chunks[#chunks + 1] = chunk end
  return chunk, message
end

function dofile(path)
  local chunk, message = loadfile(path)
  if not chunk then error(message, 2) end
  return chunk()
end

local folder = rust.script_path:match("^(.*/)") or "./"
package.path = folder .. "?.lua;" .. package.path .. ";./?/init.lua;"
  .. "/usr/local/share/sysbench/?.lua;/usr/share/sysbench/?.lua"

table.insert(package.loaders, 2, function(name)
  local file = name:gsub("%.", "/")
  for template in package.path:gmatch("[^;]+") do
    local chunk, message = recorded((template:gsub("%?", (file:gsub("%%", "%%%%")))))
    if message then error(message, 0) end
    if chunk then return chunk end
  end
  return "\n\tno such file was read with the script"
end)

-- Tables -----------------------------------------------------------------------------------------

sysbench = {
  tid = 0,
  version = "1.0.20",
  version_string = "sysbench 1.0.20",
  error = { NONE = 0, RESTART_EVENT = 1 },
  hooks = {},
  opt = {},
  cmdline = {
    argv = { [0] = "sysbench", rust.script_path },
    script_path = rust.script_path,
    command = "run",
    options = nil,
    commands = nil,
    PARALLEL_COMMAND = true,
    ARG_NULL = 0, ARG_BOOL = 1, ARG_INT = 2, ARG_SIZE = 3, ARG_DOUBLE = 4, ARG_STRING = 5,
    ARG_LIST = 6, ARG_FILE = 7, ARG_MAX = 8,
  },
}

local cmdline = sysbench.cmdline
function cmdline.read_cmdline_options() end
function cmdline.print_test_options() end
function cmdline.command_defined(name)
  return type(cmdline.commands) == "table" and cmdline.commands[name] ~= nil
end
function cmdline.command_parallel(name)
  return cmdline.command_defined(name) and cmdline.commands[name][2] == true
end
function cmdline.call_command(name) return cmdline.commands[name][1]() end

-- Random numbers ---------------------------------------------------------------------------------

local shared = real_ffi.cast("void *", rust.shared)

-- Returns the function that draws a number from a range with this distribution.
local function draws(distribution)
  local draw = real_ffi.cast("double (*)(void *, double, double)", rust.draws[distribution])
  -- A text that is a number is one, too.
  return function(low, high) return draw(shared, low + 0, high + 0) end
end

sysbench.rand = {
  default = draws("default"),
  uniform = draws("uniform"),
  gaussian = draws("gaussian"),
  special = draws("special"),
  pareto = draws("pareto"),
  zipfian = draws("zipfian"),
  unique = rust.rand_unique,
  string = rust.rand_string,
  varstring = rust.rand_varstring,
  uniform_double = rust.rand_double,
}

function sysbench.rand.uniform_uint64()
  local high, low = rust.rand_bits()
  return real_ffi.new("uint64_t", high) * 4294967296ULL + low
end

-- Histograms -------------------------------------------------------------------------------------

sysbench.histogram = {}
local histogram = {}
histogram.__index = histogram
histogram.__tostring = function() return "<sb_histogram>" end

-- Makes a histogram of buckets whose widths grow by the same factor, as sysbench's do.
function sysbench.histogram.new(size, low, high)
  local one = { size = size, low = low, high = high, counts = {}, total = 0 }
  one.step = (math.log(high) - math.log(low)) / (size - 1)
  for place = 0, size - 1 do one.counts[place] = 0 end
  return setmetatable(one, histogram)
end

function histogram:update(value)
  local clamped = math.max(self.low, math.min(self.high, value))
  local place = math.floor((math.log(clamped) - math.log(self.low)) / self.step + 0.5)
  place = math.min(place, self.size - 1)
  self.counts[place] = self.counts[place] + 1
  self.total = self.total + 1
end

function histogram:print()
  local most = 0
  for place = 0, self.size - 1 do most = math.max(most, self.counts[place]) end
  print("       value  ------------- distribution ------------- count")
  for place = 0, self.size - 1 do
    local count = self.counts[place]
    if count > 0 then
      local value = math.exp(math.log(self.low) + place * self.step)
      local bar = ("*"):rep(math.floor(count * 40 / most + 0.5))
      print(("%12.3f |%-40s %d"):format(value, bar, count))
    end
  end
end

-- Functions that scripts call in C ---------------------------------------------------------------

real_ffi.cdef[[
typedef enum {
  SB_CNT_OTHER, SB_CNT_READ, SB_CNT_WRITE, SB_CNT_EVENT, SB_CNT_ERROR, SB_CNT_RECONNECT,
  SB_CNT_BYTES_READ, SB_CNT_BYTES_WRITTEN, SB_CNT_MAX
} sb_counter_type;
int usleep(unsigned int);
unsigned int sleep(unsigned int);
]]

local counters = {}
local rand = sysbench.rand
local proxy = {
  SB_CNT_OTHER = 0, SB_CNT_READ = 1, SB_CNT_WRITE = 2, SB_CNT_EVENT = 3, SB_CNT_TRX = 3,
  SB_CNT_ERROR = 4, SB_CNT_RECONNECT = 5, SB_CNT_BYTES_READ = 6, SB_CNT_BYTES_WRITTEN = 7,
  SB_CNT_MAX = 8,
}
local function number(value) return tonumber(value) or 0 end

function proxy.sb_counter_add(_, counter, value)
  local place = number(counter)
  counters[place] = (counters[place] or 0) + number(value)
  -- Reports have them beside the script's statements.
  rust.count(place, number(value))
end
function proxy.sb_counter_inc(thread, counter) proxy.sb_counter_add(thread, counter, 1) end
function proxy.sb_counter_val(_, counter) return counters[number(counter)] or 0 end
function proxy.sb_more_events() return not rust.is_over end
function proxy.sb_event_start() end
-- The event of a script with a loop of its own ends here, and the next one begins.
function proxy.sb_event_stop() rust.ask(rust.DONE, true) end
function proxy.sb_rand_default(low, high) return rand.default(number(low), number(high)) end
function proxy.sb_rand_uniform(low, high) return rand.uniform(number(low), number(high)) end
function proxy.sb_rand_gaussian(low, high) return rand.gaussian(number(low), number(high)) end
function proxy.sb_rand_special(low, high) return rand.special(number(low), number(high)) end
function proxy.sb_rand_pareto(low, high) return rand.pareto(number(low), number(high)) end
function proxy.sb_rand_zipfian(low, high) return rand.zipfian(number(low), number(high)) end
function proxy.sb_rand_unique() return rust.rand_unique() end
function proxy.sb_rand_uniform_double() return rust.rand_double() end
function proxy.sb_rand_uniform_uint64() return sysbench.rand.uniform_uint64() end
-- A pause of the script must not keep other clients of the thread waiting.
function proxy.usleep(us) rust.ask(rust.SLEEP, number(us) * 1e3) return 0 end
function proxy.sleep(s) rust.ask(rust.SLEEP, number(s) * 1e9) return 0 end

setmetatable(proxy, { __index = function(_, name) return real_ffi.C[name] end,
  __newindex = function(_, name, value) real_ffi.C[name] = value end })
ffi = setmetatable({ C = proxy }, { __index = real_ffi })
package.loaded.ffi = ffi

-- The script -------------------------------------------------------------------------------------

local own_names = {}

-- Runs the body of the script. Returns the error if it fails.
function rust.run_body(text)
  for name in pairs(_G) do own_names[name] = true end
  -- These have defaults, and are options.
  own_names.mysql_table_engine, own_names.myisam_max_rows = nil, nil
  local chunk, message = loadstring(text, "@" .. rust.script_path)
  if not chunk then return message end
  chunks[#chunks + 1] = chunk
  rust.is_in_body = true
  local ok, failure = pcall(chunk)
  rust.is_in_body = false
  if not ok then return tostring(failure) end
  return nil
end

-- Lists the options that the script declares: name, description, kind and default of each.
function rust.declared()
  local found = {}
  if type(cmdline.options) ~= "table" then return found end
  for name, row in pairs(cmdline.options) do
    if type(row) ~= "table" then row = { "", row } end
    local default, kind = row[2], row[3]
    if kind == nil then
      kind = ({ boolean = cmdline.ARG_BOOL, number = cmdline.ARG_DOUBLE,
        table = cmdline.ARG_LIST })[type(default)] or cmdline.ARG_STRING
    end
    if type(default) == "table" then
      local words = {}
      for place, word in ipairs(default) do words[place] = tostring(word) end
      default = table.concat(words, ",")
    elseif type(default) == "number" then
      default = ("%.14g"):format(default)
    elseif default ~= nil then
      default = tostring(default)
    end
    found[#found + 1] = { tostring(name), tostring(row[1] or ""), kind, default }
  end
  return found
end

-- Lists the commands of the script, with true for those that run in all threads.
function rust.commands()
  local found = {}
  for _, name in ipairs({ "prepare", "cleanup", "help" }) do
    if type(rawget(_G, name)) == "function" then found[name] = false end
  end
  if type(cmdline.commands) == "table" then
    for name, row in pairs(cmdline.commands) do found[name] = row[2] == true end
  end
  return found
end

-- Returns a function's global names, if `operation` is the byte code that reads or writes one.
local function global_names(chunk, operation, names)
  local jit_util = require("jit.util")
  local info = jit_util.funcinfo(chunk)
  for place = 1, info.bytecodes - 1 do
    local code = jit_util.funcbc(chunk, place)
    if bit.band(code, 0xff) == operation then
      names[jit_util.funck(chunk, -bit.rshift(code, 16) - 1)] = true
    end
  end
  for place = 1, info.gcconsts do
    local constant = jit_util.funck(chunk, -place)
    if type(constant) == "proto" then global_names(constant, operation, names) end
  end
end

-- Lists the global names that the script reads and neither Lua nor the script defines as a
-- function or table: options of a script that declares none.
function rust.free_names()
  local reads = bit.band(require("jit.util").funcbc(loadstring("return x"), 1), 0xff)
  local names, found = {}, {}
  for _, chunk in ipairs(chunks) do global_names(chunk, reads, names) end
  for name in pairs(names) do
    local value = rawget(_G, name)
    local is_plain = type(value) ~= "function" and type(value) ~= "table"
    if not own_names[name] and is_plain then found[#found + 1] = name end
  end
  table.sort(found)
  return found
end

-- What the loop below does for Rust; each returns what ended it.
local acts = {}

function acts.thread_init()
  rust.forget_connections()
  if type(rawget(_G, "thread_init")) == "function" then thread_init(sysbench.tid) end
end

function acts.thread_done()
  if type(rawget(_G, "thread_done")) ~= "function" then return end
  local ok, problem = pcall(thread_done, sysbench.tid)
  if ok then return end
  -- The load is over, so this line is all that says it.
  if rust.prints_to_stdout and type(problem) == "string" then
    put("FATAL: `thread_done' function failed: " .. problem .. "\n")
  end
  error(problem, 0)
end

-- What the script does once, in a state that runs no events.
function acts.init() init() end
function acts.done() done() end

function rust.has_function(name) return type(rawget(_G, name)) == "function" end

function acts.event()
  if type(rawget(_G, "event")) ~= "function" then
    error(rust.script_path .. " has no function event", 0)
  end
  return event(sysbench.tid)
end

function acts.thread_run()
  thread_run(sysbench.tid)
  return true
end

-- Returns true if the script has events, or functions that may define them.
function rust.has_load()
  for _, name in ipairs({ "event", "thread_run", "thread_init", "init" }) do
    if type(rawget(_G, name)) == "function" then return true end
  end
  return getmetatable(_G) ~= nil
end

function rust.has_own_loop() return type(rawget(_G, "thread_run")) == "function" end

-- Notes which options the script reads from now on; returns their names.
local function options_read()
  local values, read = {}, {}
  for name, value in pairs(sysbench.opt) do values[name] = value end
  for name in pairs(values) do sysbench.opt[name] = nil end
  setmetatable(sysbench.opt, {
    __index = function(_, name) read[name] = true return values[name] end,
    __newindex = values,
  })
  local raw_pairs, raw_next = pairs, next
  function pairs(list) return raw_pairs(list == sysbench.opt and values or list) end
  function next(list, key) return raw_next(list == sysbench.opt and values or list, key) end
  return read
end

-- Runs a command; a command that returns false has failed.
function acts.command(name)
  cmdline.command = name
  rust.options_read = options_read()
  local result
  if cmdline.command_defined(name) then
    result = cmdline.commands[name][1]()
  else
    result = _G[name]()
  end
  -- sysbench says nothing of it.
  local message = rust.prints_to_stdout and "" or "the command " .. name .. " failed"
  if result == false then error(message, 0) end
end

-- Calls a hook for reports with the figures that Rust has set.
function acts.report(hook) sysbench.hooks[hook](rust.figures) end

-- What a failed act leaves: whether sysbench would run the event again, and a message.
local function failure(problem)
  if type(problem) == "table" and problem.errcode == sysbench.error.RESTART_EVENT then
    local hook = sysbench.hooks.before_restart_event
    if hook then
      local ok, message = pcall(hook, problem)
      if not ok then return false, tostring(message) end
    end
    return true, tostring(problem.sql_errmsg)
  end
  if type(problem) == "table" and problem.sql_errmsg then
    return false, tostring(problem.sql_errmsg)
  end
  return false, tostring(problem)
end

local function ended(ok, result)
  if ok then return true, result end
  if result == EXITED then return true, true end
  return false, failure(result)
end

for place, name in ipairs(rust.acts) do acts[place] = acts[name] end
local DONE = rust.DONE

-- The loop that Rust resumes: an act, then DONE with what became of it, and again.
function rust.loop(act, argument)
  main = running()
  act, argument = yield(DONE)
  while true do
    local ok, result, message = ended(pcall(acts[act], argument))
    act, argument = yield(DONE, ok, result, message)
  end
end
