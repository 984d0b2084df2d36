-- Reports of a run that scripts make from its figures: hooks, and the formats that sysbench has.
-- Not here: where the figures come from (Rust).

local rust = ...

local function per_second(stat, name) return stat[name] / stat.time_interval end

local function queries(stat) return stat.reads + stat.writes + stat.other end

function sysbench.report_csv(stat)
  print(("%.0f,%u,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f,%4.2f"):format(
    stat.time_total, stat.threads_running, per_second(stat, "events"),
    queries(stat) / stat.time_interval, per_second(stat, "reads"), per_second(stat, "writes"),
    per_second(stat, "other"), stat.latency_pct * 1000, per_second(stat, "errors"),
    per_second(stat, "reconnects")))
end

-- Number of objects in the list that report_json has begun.
local n_objects = 0

function sysbench.report_json(stat)
  io.write(n_objects == 0 and "[\n" or ",\n")
  n_objects = n_objects + 1
  local function line(depth, name, format, value, comma)
    io.write(("  "):rep(depth), '"', name, '": ', format:format(value), comma or ",", "\n")
  end
  io.write("  {\n")
  line(2, "time", "%4.0f", stat.time_total)
  line(2, "threads", "%u", stat.threads_running)
  line(2, "tps", "%4.2f", per_second(stat, "events"))
  io.write('    "qps": {\n')
  line(3, "total", "%4.2f", queries(stat) / stat.time_interval)
  line(3, "reads", "%4.2f", per_second(stat, "reads"))
  line(3, "writes", "%4.2f", per_second(stat, "writes"))
  line(3, "other", "%4.2f", per_second(stat, "other"), "")
  io.write("    },\n")
  line(2, "latency", "%4.2f", stat.latency_pct * 1000)
  line(2, "errors", "%4.2f", per_second(stat, "errors"))
  line(2, "reconnects", "%4.2f", per_second(stat, "reconnects"), "")
  io.write("  }")
end

function sysbench.report_default(stat)
  print(("[ %.0fs ] thds: %u tps: %4.2f qps: %4.2f (r/w/o: %4.2f/%4.2f/%4.2f) "
    .. "lat (ms,%u%%): %4.2f err/s %4.2f reconn/s: %4.2f"):format(
    stat.time_total, stat.threads_running, per_second(stat, "events"),
    queries(stat) / stat.time_interval, per_second(stat, "reads"), per_second(stat, "writes"),
    per_second(stat, "other"), sysbench.opt.percentile, stat.latency_pct * 1000,
    per_second(stat, "errors"), per_second(stat, "reconnects")))
end

function rust.has_report(name) return type(sysbench.hooks[name]) == "function" end

-- Ends what the formats have begun.
function rust.end_reports()
  if n_objects > 0 then io.write("\n]\n") end
  n_objects = 0
end
