//! Tests of Lua scripts for sysbench: on SQLite in memory, and on servers with their real drivers.
//!
//! Not here: numbers that sysbench draws from a seed (beside the generator).
#![cfg(feature = "lua")]

mod common;

use std::pin::pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use drivers::Opening;
use drivers::for_tests::{Interceptor, intercept_session};
use model::{
    AfterError, Client, Connecting, Connector, Database, DbError, DbErrorKind, Done, Number, Place,
    Placement, Reply, ReportFigures, ReportOf, Request, ScriptReports, Session, Sessions, Settings,
    Source, Target, TxContext, Visit, Workload,
};
use servers::for_tests::{MARIADB, POSTGRES};
use workloads::Make;

use common::{Ticks, block_on, duckdb_in_memory, of_client};

/// A database with a script that runs on it.
struct Site {
    database: Arc<dyn Database>,
    workload: Arc<dyn Workload>,
}

/// Connector for all sessions of a client.
struct OfClient(Arc<dyn Database>);

impl Connector for OfClient {
    fn connect(&self) -> Connecting<'_> {
        let place =
            Place { placement: Placement::Thread, clock: Rc::new(Ticks::default()), client: 0 };
        self.0.connect(place, Arc::from(Vec::new()))
    }
}

/// Reads a script from its text. Modules are those whose paths and texts are given.
fn read(
    name: &str,
    text: &str,
    modules: &[(&str, &str)],
    options: &[(&str, &str)],
) -> Result<Arc<dyn Workload>, model::BadParameter> {
    let modules = modules.iter().map(|(path, text)| ((*path).to_owned(), (*text).to_owned()));
    let source = Source { modules: modules.collect(), ..Source::new(name, text) };
    let entry = workloads::read(source)?;
    let settings = Settings::decide(entry.name, entry.parameters, options.iter().copied())?;
    (entry.make)(&Make { settings: &settings, seed: 42, data: None, source: entry.source })
}

impl Site {
    fn new(target: &Target, workload: Arc<dyn Workload>) -> Site {
        let opening = Opening { create: true, seed: 42 };
        Site { database: drivers::open(target, opening).expect("it opens"), workload }
    }

    /// A site in SQLite, in a database that all sessions share.
    fn in_memory(name: &str, text: &str) -> Site {
        let target = Target::parse("sqlite::memory:").expect("valid");
        Site::new(&target, read(name, text, &[], &[]).expect("a valid script"))
    }

    fn sessions(&self) -> Sessions {
        let connector = OfClient(Arc::clone(&self.database));
        let own = block_on(connector.connect()).expect("it lets us in");
        Sessions::new(own, Box::new(connector))
    }

    fn command(&self, name: &str) -> Result<(), DbError> {
        let mut client = self
            .workload
            .script()
            .expect("it is one")
            .commander(name, 0, 1)
            .expect("it has commands");
        Active { sessions: self.sessions(), site: self }.converse(client.as_mut()).map(drop)
    }
}

/// A client's sessions at a site.
struct Active<'s> {
    sessions: Sessions,
    site: &'s Site,
}

impl Active<'_> {
    fn with<T>(&mut self, work: impl FnOnce(&mut TxContext<'_>) -> T) -> T {
        work(&mut TxContext {
            sessions: &mut self.sessions,
            clock: &Ticks::default(),
            intended_ns: 0,
            dialect: self.site.database.dialect(),
            measured: &mut Vec::new(),
        })
    }

    fn begin(&mut self, client: &mut dyn Client) -> Result<(), DbError> {
        self.with(|context| block_on(client.begin(context).expect("scripts begin")))
    }

    fn converse(&mut self, client: &mut dyn Client) -> Result<Done, DbError> {
        self.with(|context| block_on(client.converse(context)))
    }

    fn event(&mut self, client: &mut dyn Client, number: Number) -> Result<Done, DbError> {
        client.inputs(number);
        self.converse(client)
    }

    fn end(&mut self, client: &mut dyn Client) -> Result<(), DbError> {
        self.with(|context| client.end(context).map_or(Ok(()), block_on))
    }
}

/// Runs `n` events of a script as one client, and returns the outcome of the last.
fn events(site: &Site, n: u64) -> Result<(), DbError> {
    let mut active = Active { sessions: site.sessions(), site };
    let mut client = site.workload.client(0);
    active.begin(client.as_mut())?;
    for nth in 0..n {
        active.event(client.as_mut(), of_client(0, nth))?;
    }
    active.end(client.as_mut())
}

/// A script in the style of those that people write: it looks at results, of its own connections.
const WILD: &str = r#"
require("helper")
sysbench.cmdline.options = {
  rows = {"Number of rows", 20}, ["skip-it"] = {"Skip", false}, names = {"Names", {"a", "b"}},
  size = {"Size", 1024, sysbench.cmdline.ARG_SIZE}, rate = {"Also a flag of dbdyno", 3},
}
function prepare()
  local con = sysbench.sql.driver():connect()
  con:query("CREATE TABLE wild (id INT PRIMARY KEY, v VARCHAR(40), d DOUBLE PRECISION," ..
    " n NUMERIC(10,2), t TIMESTAMP NULL)")
  con:bulk_insert_init("INSERT INTO wild (id, v, d, n, t) VALUES")
  for i = 1, sysbench.opt.rows do
    con:bulk_insert_next(("(%d,'%s',%g,%d.25,%s)"):format(i, sysbench.rand.string("@@##"), i / 2, i,
      i % 2 == 0 and "NULL" or "'2024-01-02 03:04:05'"))
  end
  con:bulk_insert_done()
end
function cleanup() sysbench.sql.driver():connect():query("DROP TABLE wild") end
function thread_init(tid)
  assert(tid == sysbench.tid and helper == 7)
  drv = sysbench.sql.driver()
  con, other = drv:connect(), drv:connect()
  point = con:prepare("SELECT v, n FROM wild WHERE id = ?")
  id = point:bind_create(sysbench.sql.type.INT)
  point:bind_param(id)
  change = con:prepare("UPDATE wild SET v = ?, d = ? WHERE id = ?")
  v = change:bind_create(sysbench.sql.type.VARCHAR, 10)
  d = change:bind_create(sysbench.sql.type.DOUBLE)
  i = change:bind_create(sysbench.sql.type.BIGINT)
  change:bind_param(v, d, i)
end
function event()
  assert(sysbench.opt.rows == 30 and sysbench.opt.skip_it and sysbench.opt.rate == 3)
  assert(#sysbench.opt.names == 3 and sysbench.opt.size == 2048)
  local rs = con:query("SELECT id, v, d, n, t FROM wild WHERE id <= 3 ORDER BY id")
  assert(rs.nrows == 3 and rs.nfields == 5)
  local first, second = rs:fetch_row(), rs:fetch_row()
  assert(first[1] == "1" and first[3] == "0.5" and first[4] == "1.25", first[3])
  assert(first[5] == "2024-01-02 03:04:05" and second[5] == nil)
  assert(rs:fetch_row() and rs:fetch_row() == nil)
  assert(con:query_row("SELECT id FROM wild WHERE id = -1") == nil)
  assert(con:query("UPDATE wild SET v = v WHERE id = 1") == nil)
  local at = sysbench.rand.uniform(4, sysbench.opt.rows)
  id:set(at)
  assert(point:execute():fetch_row()[2] == at .. ".25")
  v:set_rand_str("@@@@@@@@@@@@@@") d:set(2) i:set(at)
  change:execute()
  assert(#con:query_row("SELECT v FROM wild WHERE id = " .. at) == 10)
  v:set(nil) d:set(nil)
  change:execute()
  other:query("BEGIN")
  assert(other:query_row("SELECT count(*), max(v) FROM wild WHERE id = " .. at) == "1")
  other:query("ROLLBACK")
  local ok, err = pcall(function() con:query("SELECT * FROM no_such_table") end)
  assert(not ok and err:match("wild.lua:%d+: SQL error, errno = "), err)
  local of_its_own = coroutine.wrap(function()
    coroutine.yield(con:query_row("SELECT 41 + 1"))
    return "end"
  end)
  assert(of_its_own() == "42" and of_its_own() == "end")
  ffi.cdef[[ int getpid(void); ]]
  assert(ffi.C.getpid() > 0)
  ffi.C.usleep(10)
  ffi.C.sb_counter_inc(sysbench.tid, ffi.C.SB_CNT_ERROR)
end
function thread_done() con:disconnect() other:disconnect() end
"#;

#[test]
fn a_script_gets_results_values_and_connections_as_from_sysbench() {
    let options = [("rows", "30"), ("skip_it", "on"), ("names", "p,q,r"), ("size", "2K")];
    for server in [MARIADB.start(), POSTGRES.start()] {
        let modules = [("./helper.lua", "helper = 7")];
        let workload = read("wild.lua", WILD, &modules, &options).expect("a valid script");
        let names: Vec<String> = workload
            .script()
            .expect("it is one")
            .commands()
            .expect("it runs")
            .into_iter()
            .map(|one| one.name)
            .collect();
        assert_eq!(names, ["cleanup", "prepare"]);
        let site = Site::new(&server.target(), workload);
        site.command("prepare").expect("prepared");
        events(&site, 5).expect("what the script asserts holds");
        site.command("cleanup").expect("dropped");
    }
}

#[test]
fn a_script_of_0_5_has_its_globals_as_options() {
    const OLD: &str = r#"
function prepare()
  oltp_table_size = tonumber(oltp_table_size) or 10
  db_query("CREATE TABLE old (id INT PRIMARY KEY, v VARCHAR(20))")
  db_bulk_insert_init("INSERT INTO old(id, v) VALUES")
  for j = 1, oltp_table_size do db_bulk_insert_next("(" .. j .. ",'x')") end
  db_bulk_insert_done()
end
function event(thread_id)
  assert(db_driver == "mysql" and mysql_table_engine == "innodb" and myisam_max_rows == 1000000)
  local drawn = sb_rand_uniq(5, 9)
  assert(drawn >= 5 and drawn <= 9)
  local rs = db_query("SELECT count(*) FROM old")
  assert(rs:fetch_row()[1] == oltp_table_size)
  db_query("UPDATE old SET v = '" .. sb_rand_str("@@@") .. "' WHERE id = " ..
    sb_rand(1, oltp_table_size))
end
"#;
    let workload = read("old.lua", OLD, &[], &[("oltp_table_size", "7")]).expect("valid");
    let site = Site::new(&duckdb_in_memory(), workload);
    site.command("prepare").expect("prepared");
    events(&site, 3).expect("seven rows");
    let unknown = read("old.lua", OLD, &[], &[("oltp_tabel_size", "7")]).err().expect("unknown");
    assert!(unknown.to_string().contains("'oltp_table_size'"), "{unknown}");
}

#[test]
fn a_script_of_0_5_ends_by_exit_and_does_not_see_errors_of_bulk_inserts() {
    const OLD: &str = r#"
function prepare()
  db_query("CREATE TABLE twice (id INT PRIMARY KEY)")
  os.exit()
end
function event()
  db_bulk_insert_init("INSERT INTO twice VALUES")
  db_bulk_insert_next("(1)")
  db_bulk_insert_done()
end
"#;
    let server = MARIADB.start();
    let site = Site::new(&server.target(), read("twice.lua", OLD, &[], &[]).expect("valid"));
    site.command("prepare").expect("an exit with success");
    events(&site, 3).expect("a duplicate is counted and not seen");
    let failing = read("failing.lua", "function prepare() os.exit(3) end", &[], &[]);
    let site = Site::new(&server.target(), failing.expect("valid"));
    let no = site.command("prepare").expect_err("an exit with an error");
    assert!(no.message.contains("failing.lua:1: the script called os.exit(3)"), "{no}");
}

/// Delays each reply of a session until it is polled a second time, as on an event loop.
#[derive(Default)]
struct Late {
    is_late: bool,
}

impl Interceptor for Late {
    fn start(&mut self, session: &mut dyn Session, request: Request<'_>) -> Result<(), DbError> {
        self.is_late = true;
        session.start(request)
    }

    fn poll_reply(
        &mut self,
        session: &mut dyn Session,
        context: &mut Context<'_>,
        visit: Visit<'_>,
    ) -> Poll<Result<Reply, DbError>> {
        match std::mem::take(&mut self.is_late) {
            true => Poll::Pending,
            false => session.poll_reply(context, visit),
        }
    }
}

/// Polls a future until it is ready.
fn patiently<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            return output;
        }
    }
}

#[test]
fn parameters_and_results_are_the_same_whether_a_reply_is_late_or_not() {
    const SCRIPT: &str = r#"
local t = sysbench.sql.type
function thread_init()
  con = sysbench.sql.driver():connect()
  many = con:prepare("SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, typeof(?), typeof(?)")
  values = {}
  for place = 1, 11 do values[place] = many:bind_create(place == 11 and t.DOUBLE or t.BIGINT) end
  values[9] = many:bind_create(t.CHAR, 5)
  many:bind_param(unpack(values))
end
function event()
  for place = 1, 11 do values[place]:set(place) end
  values[8]:set(nil) values[9]:set("abcdefg")
  local row = many:execute():fetch_row()
  assert(row[1] == "1" and row[7] == "7" and row[8] == nil and row[9] == "abcde")
  assert(row[10] == "integer" and row[11] == "real")
  -- Statements of one text are one to the database, but not to the script.
  local a, b = con:prepare("SELECT ?"), con:prepare("SELECT ?")
  local x, y = a:bind_create(t.CHAR), b:bind_create(t.FLOAT)
  a:bind_param(x) b:bind_param(y)
  x:set("x" .. sysbench.rand.uniform(1, 9)) y:set(0.5)
  assert(a:execute():fetch_row()[1]:match("^x%d$"))
  assert(b:execute():fetch_row()[1] == "0.5")
  y:set(nil)
  assert(b:execute():fetch_row()[1] == nil)
  -- A connection has one result.
  local first = con:query("SELECT 1 UNION ALL SELECT 2")
  assert(first.nrows == 2 and first:fetch_row()[1] == "1")
  local second = con:query("SELECT 3")
  assert(second.nrows == 1 and first:fetch_row()[1] == "3" and second:fetch_row() == nil)
  local ok, err = pcall(con.query, con, "SELECT * FROM nowhere")
  assert(not ok and err:match("SQL error"), err)
  assert(con:query("BEGIN") == nil and con:query_row("SELECT '5'") == "5")
  con:query("ROLLBACK")
  local of_its_own = coroutine.wrap(function() coroutine.yield(con:query_row("SELECT 41 + 1")) end)
  assert(of_its_own() == "42")
  assert(sysbench.rand.uniform("7", "7") == 7 and not pcall(sysbench.rand.default, 1))
end
"#;
    let site = Site::in_memory("late.lua", SCRIPT);
    events(&site, 200).expect("what the script asserts holds");
    let connector = OfClient(Arc::clone(&site.database));
    let session = block_on(connector.connect()).expect("it lets us in");
    let own = intercept_session(session, Late::default());
    let mut active = Active { sessions: Sessions::new(own, Box::new(connector)), site: &site };
    let mut client = site.workload.client(0);
    active.begin(client.as_mut()).expect("begun");
    for nth in 0..200 {
        client.inputs(of_client(0, nth));
        let done = active.with(|context| patiently(client.converse(context)));
        assert_eq!(done.expect("what the script asserts holds"), Done::Committed);
    }
}

#[test]
fn a_retry_draws_the_same_numbers_and_another_event_draws_others() {
    let site = Site::in_memory(
        "draws.lua",
        "sysbench.cmdline.options = {}\n\
         function event() error(sysbench.rand.uniform(1, 1000000) .. sysbench.rand.string('@@@@')) end",
    );
    let mut active = Active { sessions: site.sessions(), site: &site };
    let mut client = site.workload.client(0);
    active.begin(client.as_mut()).expect("begun");
    let mut drawn = |nth| {
        let no = active.event(client.as_mut(), of_client(0, nth)).expect_err("the script raises");
        no.message
    };
    let (first, again, other, back) = (drawn(1), drawn(1), drawn(2), drawn(1));
    assert_eq!((&first, &first), (&again, &back));
    assert_ne!(first, other);
}

#[test]
fn a_fault_of_a_script_is_reported_with_its_line() {
    let site = Site::in_memory("bug.lua", "function event()\n  local x\n  x.y = 1\nend\n");
    let no = events(&site, 1).expect_err("a fault");
    assert!(no.message.starts_with("bug.lua:3: attempt to index"), "{}", no.message);
    let site = Site::in_memory(
        "sql.lua",
        "function thread_init() con = sysbench.sql.driver():connect() end\n\
         function event()\n  con:query('SELECT 1 FROM none')\nend\n",
    );
    let no = events(&site, 1).expect_err("no such table");
    assert_eq!(no.kind, DbErrorKind::Missing);
    assert!(no.message.starts_with("sql.lua:3: SQL error, errno = "), "{}", no.message);
    let bad = read("syntax.lua", "function event(\n", &[], &[]).err().expect("no Lua");
    assert!(bad.to_string().starts_with("syntax.lua:"), "{bad}");
}

#[test]
fn an_event_that_returns_a_value_is_none_and_ends_its_client() {
    let text = "local n = 0\nfunction event() n = n + 1 if n == 3 then return true end end";
    let site = Site::in_memory("last.lua", text);
    let mut active = Active { sessions: site.sessions(), site: &site };
    let mut client = site.workload.client(0);
    active.begin(client.as_mut()).expect("begun");
    for (nth, done) in [(0, Done::Committed), (1, Done::Committed), (2, Done::Over)] {
        assert_eq!(active.event(client.as_mut(), of_client(0, nth)), Ok(done));
    }
}

#[test]
fn a_loop_over_events_of_a_script_s_own_is_cut_into_events() {
    let text = "function thread_run(tid)\n\
                local con, n = sysbench.sql.driver():connect(), 0\n\
                while ffi.C.sb_more_events(tid) do\n\
                ffi.C.sb_event_start(tid)\n\
                n = n + 1\n\
                if n == 4 then error('the fourth') end\n\
                con:query('SELECT 1')\n\
                ffi.C.sb_event_stop(tid)\n\
                end\nend";
    let site = Site::in_memory("own.lua", text);
    assert_eq!(events(&site, 3), Ok(()));
    let no = events(&site, 4).expect_err("no more than three");
    assert!(no.message.ends_with("the fourth"), "{}", no.message);
}

#[test]
fn code_that_does_not_end_is_ended_from_another_thread() {
    let text = "function event()\n  local n = 0\n  while true do n = n + 1 end\nend";
    let site = Site::in_memory("endless.lua", text);
    let mut active = Active { sessions: site.sessions(), site: &site };
    let mut client = site.workload.client(0);
    active.begin(client.as_mut()).expect("begun");
    let cancel = client.canceller().expect("scripts can be ended");
    // The loop may be compiled or not when it is ended; either way it ends.
    let ended = std::thread::scope(|scope| {
        scope.spawn(move || cancel.cancel());
        active.event(client.as_mut(), of_client(0, 0)).expect_err("it does not end by itself")
    });
    assert_eq!(ended.kind, DbErrorKind::Cancelled);
}

#[test]
fn an_ignorable_error_is_told_to_the_hook_and_the_event_runs_again() {
    let text = "function thread_init() con = sysbench.sql.driver():connect() end\n\
                function prepare()\n\
                local con = sysbench.sql.driver():connect()\n\
                con:query('CREATE TABLE one (id INT PRIMARY KEY)')\n\
                con:query('INSERT INTO one VALUES (1)')\n\
                end\n\
                sysbench.hooks.sql_error_ignorable = function(err) return err.sql_errno == 1062 end\n\
                sysbench.hooks.before_restart_event = function(err)\n\
                assert(err.errcode == sysbench.error.RESTART_EVENT and err.connection == con)\n\
                told = err.sql_state\n\
                end\n\
                function event()\n\
                if told then error('told ' .. told) end\n\
                con:query('INSERT INTO one VALUES (1)')\n\
                end";
    let server = MARIADB.start();
    let site = Site::new(&server.target(), read("hook.lua", text, &[], &[]).expect("valid"));
    site.command("prepare").expect("prepared");
    let mut active = Active { sessions: site.sessions(), site: &site };
    let mut client = site.workload.client(0);
    active.begin(client.as_mut()).expect("begun");
    let no = active.event(client.as_mut(), of_client(0, 0)).expect_err("a duplicate");
    assert_eq!((no.kind, no.code), (DbErrorKind::Duplicate, 1062));
    assert_eq!(client.after_error(), Some(AfterError::Again));
    let told = active.event(client.as_mut(), of_client(0, 1)).expect_err("told");
    assert!(told.message.ends_with("told 23000"), "{}", told.message);
    assert_eq!(client.after_error(), None);
}

#[test]
fn an_error_that_is_not_ignored_ends_the_run_if_the_user_says_so() {
    let text = "function event() error('no') end";
    for (switch, after) in [("off", None), ("on", Some(AfterError::EndRun))] {
        let target = Target::parse("sqlite::memory:").expect("valid");
        let options = [("fatal_errors", switch)];
        let workload = read("fatal.lua", text, &[], &options).expect("a valid script");
        let site = Site::new(&target, workload);
        let mut active = Active { sessions: site.sessions(), site: &site };
        let mut client = site.workload.client(0);
        active.begin(client.as_mut()).expect("begun");
        active.event(client.as_mut(), of_client(0, 0)).expect_err("it fails");
        assert_eq!(client.after_error(), after);
    }
}

/// A report whose parts a script names, with its hooks.
const HOOKS: &str = "sysbench.hooks.report_intermediate = function(stat)\n\
                     assert(stat.threads_running == 2 and stat.time_interval == 1.5)\n\
                     assert(stat.reads == 3 and stat.other == 5 and stat.queue_length == 7)\n\
                     assert(sysbench.sql.driver():connect():query_row('SELECT 7') == '7')\n\
                     assert(stat.latency_min == nil and sysbench.opt.percentile == 99)\n\
                     end\n\
                     sysbench.hooks.report_cumulative = function(stat)\n\
                     error('it took ' .. stat.latency_max)\n\
                     end";

#[test]
fn hooks_get_the_figures_of_a_run() {
    let figures = ReportFigures {
        threads_running: 2,
        interval_s: 1.5,
        statements: [3, 4, 5],
        ..ReportFigures::default()
    };
    let of = ReportOf::Interval { waiting: 7, running: 2 };
    let target = Target::parse("sqlite::memory:").expect("valid");
    let site = Site::new(&target, read("none.lua", "", &[], &[]).expect("valid"));
    let mut active = Active { sessions: site.sessions(), site: &site };
    let reporter = |text: &str| {
        let options = [("sysbench_options", "percentile=99;time=60")];
        let workload = read("hooks.lua", text, &[], &options).expect("a valid script");
        workload.script().expect("it is one").reporter(2).expect("its body runs")
    };
    let mut hooks = reporter(HOOKS).expect("it has two");
    let expect =
        ScriptReports { intervals: true, runs: true, percentile: 99, ..ScriptReports::default() };
    assert_eq!(hooks.reports(), expect);
    let told = active.with(|context| block_on(hooks.report(&figures, of, context)));
    assert_eq!(told, Ok(()));
    let of = ReportOf::Run { min_s: 0.0, max_s: 0.25, mean_s: 0.0, sum_s: 0.0 };
    let told = active.with(|context| block_on(hooks.report(&figures, of, context)));
    let no = told.expect_err("it fails");
    assert!(no.message.ends_with("it took 0.25"), "{}", no.message);
    assert!(reporter("function event() end").is_none());
}

#[test]
fn an_option_of_all_scripts_keeps_its_form_if_a_script_declares_it() {
    let text = "sysbench.cmdline.options = { threads = {'Threads', 'many'} }\n\
                function event() assert(sysbench.opt.threads == 1) end";
    assert_eq!(events(&Site::in_memory("taken.lua", text), 1), Ok(()));
}

#[test]
fn a_connection_of_the_body_is_made_when_it_is_used() {
    let text = "local con = sysbench.sql.driver():connect()\n\
                function event() assert(con:query_row('SELECT 7') == '7') end";
    assert_eq!(events(&Site::in_memory("early.lua", text), 2), Ok(()));
    let text = "sysbench.sql.driver():connect():query('SELECT 1')";
    let bad = read("body.lua", text, &[], &[]).err().expect("no database yet").to_string();
    assert!(bad.contains("body.lua:1: a connection can be used only"), "{bad}");
}

/// Folder of the scripts of an installed sysbench.
const INSTALLED: &str = "/usr/share/sysbench";

/// Scripts of sysbench, with reads, writes and others of an event with default options.
const SCRIPTS: [(&str, [u64; 3]); 11] = [
    ("oltp_point_select", [1, 0, 0]),
    ("oltp_read_only", [14, 0, 2]),
    ("oltp_read_write", [14, 4, 2]),
    ("oltp_write_only", [0, 4, 2]),
    ("oltp_update_index", [0, 1, 0]),
    ("oltp_update_non_index", [0, 1, 0]),
    ("oltp_insert", [0, 1, 0]),
    ("oltp_delete", [0, 1, 0]),
    ("select_random_points", [1, 0, 0]),
    ("select_random_ranges", [1, 0, 0]),
    // Its rows are sent by the last client's end.
    ("bulk_insert", [0, 0, 0]),
];

#[test]
fn the_scripts_of_an_installed_sysbench_run_as_they_are() {
    let open = |path: &str| std::fs::read_to_string(path).ok();
    let is_there = open(&format!("{INSTALLED}/oltp_common.lua")).is_some();
    assert!(
        is_there,
        "this test needs the scripts of sysbench in {INSTALLED}: install its package"
    );
    for server in [MARIADB.start(), POSTGRES.start()] {
        for (name, [reads, writes, others]) in SCRIPTS {
            let path = format!("{INSTALLED}/{name}.lua");
            let source = Source::new(path.as_str(), open(&path).expect("it is installed"));
            let entry = workloads::read_with_modules(source, open).expect("a valid script");
            let has = |option: &str| entry.parameters.iter().any(|row| row.name == option);
            let options = [("table_size", "50"), ("tables", "2")];
            // Two of the scripts take one table only.
            let n_options = if name.starts_with("select") { 1 } else { 2 };
            let options = options.into_iter().take(n_options).filter(|(option, _)| has(option));
            let settings = Settings::decide(entry.name, entry.parameters, options).expect("valid");
            let workload = entry.made(&settings, 42, None).expect("valid");
            let site = Site::new(&server.target(), workload);
            site.command("prepare").expect("prepared");
            let mut active = Active { sessions: site.sessions(), site: &site };
            let mut client = site.workload.client(0);
            active.begin(client.as_mut()).expect("begun");
            let before = active.sessions.traffic();
            for nth in 0..3 {
                active.event(client.as_mut(), of_client(0, nth)).expect("an event");
            }
            let traffic = active.sessions.traffic() - before;
            let sent = [traffic.reads, traffic.writes, traffic.others];
            assert_eq!(sent, [reads, writes, others].map(|n| 3 * n), "{name}");
            active.end(client.as_mut()).expect("ended");
            drop(active);
            site.command("cleanup").expect("dropped");
        }
    }
}

#[test]
fn functions_of_lua_that_call_the_script_s_return_what_lua_s_own_return() {
    let text = r#"
local raw_sort = table.sort
function event()
  local lists = { {}, { 1 }, { 2, 1 }, { 5, 3, 9, 1, 1, 7, 2 }, { "b", "a", "c" } }
  for _, list in ipairs(lists) do
    local other = { unpack(list) }
    table.sort(list, function(a, b) return a > b end)
    table.sort(other)
    for place = 1, #list do assert(list[place] == other[#list + 1 - place]) end
  end
  -- Equal ones keep their order.
  local pairs_of = { { 1, "a" }, { 0, "b" }, { 1, "c" }, { 0, "d" }, { 1, "e" } }
  table.sort(pairs_of, function(a, b) return a[1] < b[1] end)
  local order = ""
  for _, one in ipairs(pairs_of) do order = order .. one[2] end
  assert(order == "bdace", order)
  local function same(text, pattern, most)
    -- A text in place of a match is put in by Lua itself.
    local expect, n = text:gsub(pattern, "<%0>", most)
    local found, m = text:gsub(pattern, function() return nil end, most)
    assert(found == text and m == n, text .. " " .. pattern)
    local of_all = pattern:sub(1, 1) == "^" and "^(" .. pattern:sub(2) .. ")" or "(" .. pattern .. ")"
    -- Parentheses around nothing would capture a position.
    if pattern ~= "" then
      found, m = text:gsub(of_all, function(all) return "<" .. all .. ">" end, most)
      assert(found == expect and m == n, found .. " is not " .. expect)
    end
    found = text:gsub(pattern, function(all) return "<" .. all .. ">" end, most)
    assert(found == expect, found .. " is not " .. expect)
  end
  for _, text in ipairs({ "", "a", "hello world", "aaa", "x1y22z" }) do
    for _, pattern in ipairs({ "a", "o*", "^h", "^a*", "%d+", ".", "", "l+$" }) do
      same(text, pattern)
      same(text, pattern, 1)
      same(text, pattern, 0)
    end
  end
  local swapped = ("k=v, a=b"):gsub("(%w+)=(%w+)", function(k, v) return v .. "=" .. k end)
  assert(swapped == "v=k, b=a" and ("ab"):gsub("()b", function(at) return at end) == "a2")
  assert(not pcall(string.gsub, "a", "a", function() return {} end))
  assert(not pcall(string.gsub, "a", "(", function() return "" end))
end
"#;
    assert_eq!(events(&Site::in_memory("called.lua", text), 1), Ok(()));
}

#[test]
fn a_statement_where_nothing_can_wait_is_refused_in_words() {
    let text = "function event()\n  local con = sysbench.sql.driver():connect()\n  \
                local _, why = xpcall(function() error('first') end, function()\n    \
                local ok, why = pcall(function() con:reconnect() end)\n    return why\n  end)\n  \
                error(why, 0)\nend";
    let no = events(&Site::in_memory("handler.lua", text), 1).expect_err("it fails");
    assert!(no.message.contains("use it before or after that"), "{}", no.message);
}
