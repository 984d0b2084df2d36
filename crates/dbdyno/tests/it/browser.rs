//! Tests of the web pages in a real browser with real clicks.
//!
//! Not here: authentication (web).

use std::time::Duration;

use serde_json::json;

use crate::devtools::Tab;
use crate::home::{Home, at, number};
use crate::http::Web;

/// Runs a simulated database in virtual time, with this mean service time, under this name.
fn simulated(home: &Home, name: &str, service_ms: u32) {
    let target = format!("--target=sim:?service=exponential:{service_ms}ms&servers=4");
    let name = format!("--name={name}");
    let how = ["--placement=simulated", "--duration=60s", "--ramp-up=0s", "--quiet"];
    home.report_with_code(0, &[&["run", "empty", &target, &name], &how[..]].concat());
}

/// Time for which a link or button is held: longer than the interval at which a live page requests
/// new figures.
const HELD: Duration = Duration::from_millis(3500);

/// JavaScript expression for the number of a page's charts whose values are loaded.
const DRAWN: &str = "[...document.querySelectorAll('figure')].filter((of) => of.chart).length";
/// CSS selector of the chart of throughput on a wide page.
const THROUGHPUT: &str = "#chart-throughput .on-wide svg";

#[test]
fn runs_are_found_followed_zoomed_and_compared_without_a_complaint() {
    let home = Home::new();
    simulated(&home, "quick", 2);
    simulated(&home, "slow", 3);
    simulated(&home, "slow", 4);
    let web = Web::start(&home, &[]);
    let mut tab = Tab::open();
    listed_and_filtered(&mut tab, &web);
    opened_and_zoomed(&mut tab);
    compared(&mut tab, &web);
    live(&mut tab, &home, &web);
    grown(&mut tab, &home, &web);
    narrow(&mut tab, &web);
    dark(&mut tab, &web);
    assert_eq!(tab.complaints(), Vec::<String>::new());
    let own = format!("{}/", web.base);
    let elsewhere: Vec<String> =
        tab.requests().into_iter().filter(|address| !address.starts_with(&own)).collect();
    assert_eq!(elsewhere, Vec::<String>::new());
}

fn listed_and_filtered(tab: &mut Tab, web: &Web) {
    let rows = "document.querySelectorAll('.runs tbody tr').length";
    tab.go(&web.base);
    assert_eq!(tab.value(rows), 3);
    // The badge of a run has its worst finding as a tooltip.
    let told = "[...document.querySelectorAll('.runs .badge.warning, .runs .badge.invalid')]
        .every((badge) => badge.title.length > 20)";
    assert_eq!(tab.value(told), true);
    tab.follow(".runs th a[href*=tps]");
    let sorted = "document.querySelector('th[aria-sort=descending]').innerText";
    assert_eq!(tab.value(sorted), "TPS");
    tab.click("input[name=q]");
    tab.type_and_enter("quick");
    assert_eq!(tab.value(rows), 1);
    let address = tab.value("location.search").to_string();
    assert!(address.contains("q=quick") && !address.contains("workload="), "{address}");
}

/// Checks the page on a phone: a list scrolls in its box, and the page stays within its width.
fn narrow(tab: &mut Tab, web: &Web) {
    let size = json!({"width": 420, "height": 800, "deviceScaleFactor": 1, "mobile": false});
    tab.call("Emulation.setDeviceMetricsOverride", size);
    for path in ["/", "/experiments", "/runs/last"] {
        tab.go(&format!("{}{path}", web.base));
        // Menus are not cut off, since a scrollable bar is not recognizable.
        let cut = "[...document.querySelectorAll('.top nav, .contents')]
            .filter((menu) => menu.scrollWidth > menu.clientWidth).length";
        assert_eq!(tab.value(cut), 0, "{path}");
        let reach = tab.value("document.documentElement.scrollWidth");
        assert!(reach.as_f64().is_some_and(|reach| reach <= 420.0), "{path}: {reach}");
    }
    tab.call("Emulation.clearDeviceMetricsOverride", json!({}));
}

fn opened_and_zoomed(tab: &mut Tab) {
    tab.follow(".runs .name a");
    assert!(tab.value("location.pathname").to_string().contains("/runs/"));
    // The first charts are in the page; the zoomable version is loaded on demand.
    let is_seen = "document.querySelector('#chart-throughput .dc').getBoundingClientRect().bottom";
    assert!(tab.value(is_seen).as_f64().is_some_and(|bottom| bottom < 900.0));
    let is_asked = |tab: &Tab| tab.requests().iter().any(|address| address.contains("in=page"));
    assert!(!is_asked(tab), "{:?}", tab.requests());
    tab.click(&format!("{THROUGHPUT} .title"));
    tab.until(&format!("{DRAWN} > 1"));
    assert!(is_asked(tab));
    let before = tab.value(&range_of(THROUGHPUT));
    tab.drag_over(THROUGHPUT);
    tab.until(&format!("{} !== {}", range_of(THROUGHPUT), json!(before)));
    // The address contains the zoom.
    tab.until("new URLSearchParams(location.search).get('zoom') !== null");
    let zoomed = tab.value(&range_of(THROUGHPUT));
    let address = tab.value("location.href");
    tab.go(address.as_str().expect("an address"));
    tab.until(&format!("{} !== {}", range_of(THROUGHPUT), json!(before)));
    let (shared, own) = (ends(&tab.value(&range_of(THROUGHPUT))), ends(&zoomed));
    assert!((0..2).all(|end| (shared[end] - own[end]).abs() < 0.1), "{shared:?} {own:?}");
    pointed_and_pinned(tab);
    // All charts over time show the same range, including those that come into view later.
    let ranges = "new Set([...document.querySelectorAll('svg[data-axis=time]')]
        .filter((of) => of.closest('figure').chart)
        .map((of) => `${of.dataset.from}..${of.dataset.to}`))";
    tab.until(&format!("{DRAWN} > 1 && {ranges}.size === 1"));
    tab.double_click(THROUGHPUT);
    tab.until(&format!("{} === {} && {ranges}.size === 1", range_of(THROUGHPUT), json!(before)));
    tab.until("new URLSearchParams(location.search).get('zoom') === null");
    hidden_and_turned(tab);
    printed(tab);
    assert!(tab.value("document.querySelector('main').innerText").to_string().contains("TPS"));
}

/// Returns a JavaScript expression for the ends of a chart's horizontal axis, as `from..to`.
fn range_of(chart: &str) -> String {
    let dataset = format!("document.querySelector('{chart}')?.dataset");
    format!("`${{{dataset}?.from}}..${{{dataset}?.to}}`")
}

fn ends(range: &serde_json::Value) -> [f64; 2] {
    let text = range.as_str().expect("a text");
    let (from, to) = text.split_once("..").expect("two ends");
    [from, to].map(|end| end.parse().expect("a number"))
}

/// Checks that pointing at a chart shows the values at an instant, and a line in all charts over
/// time. A click pins the instant, also right after a zoom, and another click releases it; a double
/// click pins nothing.
fn pointed_and_pinned(tab: &mut Tab) {
    tab.until(&format!("{DRAWN} > 1"));
    tab.point(THROUGHPUT);
    let told = "document.querySelector('.values:not([hidden])')?.innerText";
    tab.until(&format!("/ s\\n/.test({told}) && /commits.s/.test({told})"));
    let lines = "document.querySelectorAll('svg[data-axis=time] > .cross').length";
    tab.until(&format!("{lines} > 2"));
    let pinned = "new URLSearchParams(location.search).get('at')";
    tab.click(THROUGHPUT);
    tab.until(&format!("{pinned} !== null"));
    // The pinned position stays when the pointer leaves.
    tab.point("h1");
    tab.until(&format!("{told} === undefined"));
    assert!(tab.value(lines).as_f64().is_some_and(|lines| lines > 2.0));
    tab.click(THROUGHPUT);
    tab.until(&format!("{pinned} === null"));
    tab.click(THROUGHPUT);
    tab.click(THROUGHPUT);
    tab.value("new Promise((done) => setTimeout(done, 500))");
    assert_eq!(tab.value(pinned), json!(null));
}

/// Checks that a click on a name in a chart's legend hides its line, and that a click on the axis
/// switches between linear and logarithmic.
fn hidden_and_turned(tab: &mut Tab) {
    let shown = "document.querySelectorAll('#chart-response .on-wide .trace:not([hidden])').length";
    tab.until("!!document.querySelector('#chart-response').chart");
    let n_traces = tab.value(shown).as_u64().expect("a number");
    for expect in [n_traces - 1, n_traces] {
        tab.click("#chart-response .on-wide .key[data-trace]");
        assert_eq!(tab.value(shown), expect);
    }
    // The axis title says that a scale is logarithmic.
    let titled = "document.querySelector('#chart-throughput .on-wide .unit').textContent";
    tab.value("document.querySelector('#chart-throughput').focus()");
    for is_log in [true, false] {
        tab.type_key("l");
        tab.until(&format!("{titled}.includes('log') === {is_log}"));
    }
    // Keys zoom too.
    let before = tab.value(&range_of(THROUGHPUT));
    for (key, is_whole) in [("+", false), ("0", true)] {
        tab.type_key(key);
        tab.until(&format!("({} === {}) === {is_whole}", range_of(THROUGHPUT), json!(before)));
    }
}

/// Checks that a page can be printed at once: all charts are in the page, also those that were
/// never seen.
fn printed(tab: &mut Tab) {
    tab.call("Emulation.setEmulatedMedia", json!({"media": "print"}));
    let seen = "[...document.querySelectorAll('figure')].filter((figure) =>
        figure.querySelector('.drawing').getBoundingClientRect().height > 50).length";
    let n_figures = tab.value("document.querySelectorAll('figure').length");
    assert_eq!(tab.value(seen), n_figures);
    tab.call("Emulation.setEmulatedMedia", json!({"media": ""}));
}

fn compared(tab: &mut Tab, web: &Web) {
    tab.go(&format!("{}/?q=slow", web.base));
    assert_eq!(tab.value("document.getElementById('compare').disabled"), true);
    let button = "document.getElementById('compare').innerText";
    tab.click(".runs tbody:nth-of-type(1) input");
    assert!(tab.value(button).to_string().contains("1 run is selected"));
    // The selection is shown at the bottom of the window, even for a long list.
    let place = "getComputedStyle(document.querySelector('.actions')).position";
    assert_eq!(tab.value(place), "sticky");
    tab.click(".runs tbody:nth-of-type(2) input");
    assert!(tab.value(button).to_string().contains("Compare 2 selected runs"));
    assert_eq!(tab.value("document.getElementById('compare').disabled"), false);
    tab.follow("#compare");
    assert!(tab.value("location.search").to_string().matches("side=").count() == 2);
    assert_eq!(tab.value("document.querySelector('.trouble')"), json!(null));
    let shown = tab.value("document.querySelector('main').innerText").to_string();
    assert!(shown.to_lowercase().contains("cannot"), "one run a side judges nothing: {shown}");
    // Rows are vertical, and values horizontal, logarithmic or linear.
    tab.click("#chart-ratios .drawing");
    tab.until("!!document.querySelector('#chart-ratios').chart");
    tab.value("document.querySelector('#chart-ratios').focus()");
    let dataset = "document.querySelector('#chart-ratios .on-wide svg').dataset";
    for scale in ["", "x"] {
        tab.type_key("l");
        tab.until(&format!("{dataset}.log === '{scale}' && {dataset}.axis === 'rows'"));
    }
    tab.point("#chart-ratios .drawing");
    tab.until("!!document.querySelector('.values:not([hidden]) b')?.innerText");
}

fn live(tab: &mut Tab, home: &Home, web: &Web) {
    tab.go(&web.base);
    let slow = ["--target=sim:?service=constant:20ms", "--duration=1h", "--ramp-up=0s"];
    let run = home.start(&[&["run", "empty", "--quiet"], &slow[..]].concat());
    // The list shows the run without a reload.
    tab.until("document.querySelector('.runs tr.running .name a')");
    // A click works even if the list is updated before the button is released.
    tab.follow_slowly(".runs tr.running .name a", HELD);
    let shown = "document.querySelector('.verdict').innerText";
    tab.until(&format!("{shown}.includes('Provisional')"));
    tab.click(&format!("{THROUGHPUT} .title"));
    tab.until("!!document.querySelector('#chart-throughput').chart");
    let progress = "document.querySelector('.now p b')?.innerText";
    let values = "document.querySelector('#chart-throughput').chart.traces
        .flatMap((of) => of.points).filter((of) => of.y !== null)";
    let last = format!("Math.max(...{values}.map((of) => of.x))");
    let (first, drawn) = (tab.value(progress), tab.value(&last));
    tab.until(&format!("{progress} !== {}", json!(first)));
    tab.until(&format!("{last} > {drawn}"));
    // A drag over a chart completes, although newer figures arrive meanwhile, and the zoom stays as
    // data are added.
    let before = tab.value(&range_of(THROUGHPUT));
    tab.drag_slowly_over(THROUGHPUT, HELD);
    let zoom = "new URLSearchParams(location.search).get('zoom')";
    tab.until(&format!("{zoom} !== null && {} !== {}", range_of(THROUGHPUT), json!(before)));
    // There is room for future data.
    let shown = format!(
        "{zoom} === (({{from, to}}) => [from, to].map((end) =>
            Number(Number(end).toFixed(2))).join('..'))(document.querySelector('{THROUGHPUT}').dataset)"
    );
    tab.until(&shown);
    tab.value("document.querySelector('#chart-throughput').focus()");
    while ends(&tab.value(zoom))[1] < 600.0 {
        let now = tab.value(zoom);
        // The chart keeps the keyboard focus during updates.
        tab.until("document.activeElement?.id === 'chart-throughput'");
        tab.type_key("-");
        tab.until(&format!("{zoom} !== {now}"));
        tab.until(&shown);
    }
    let (zoomed, drawn) = (tab.value(zoom), tab.value(&last));
    tab.until(&format!("{last} > {drawn} + 1"));
    tab.until(&shown);
    assert_eq!(tab.value(zoom), zoomed);
    run.interrupt();
    run.end().code(130);
    tab.until("document.querySelector('.standing .badge').innerText === 'interrupted'");
}

/// Checks the tables of top statements and waits. During the run they cover the last seconds, on
/// the page and in the JSON; at the end they cover the whole run.
#[test]
fn top_statements_and_waits_are_shown_while_the_run_goes_on() {
    let (home, mut tab) = (Home::new(), Tab::open());
    let web = Web::start(&home, &[]);
    let target = "--target=managed:mariadb?performance_schema=ON&statements=text";
    let args = ["run", "oltp-point-select", target, "--duration=1h", "--ramp-up=0s", "--quiet"];
    let light = ["--tables=1", "--table-size=500", "--clients=2", "--rate=50", "--instruments=on"];
    let run = home.start(&[&args[..], &light].concat());
    tab.go(&web.base);
    tab.until("document.querySelector('.runs tr.running .name a')");
    tab.follow(".runs tr.running .name a");
    let table = |words: &str| {
        format!("[...document.querySelectorAll('#why details')].find((of) => {words})")
    };
    let so_far = |title: &str| {
        let last = "/, last \\d+ s\\)$/.test(of.firstChild.innerText)";
        table(&format!("of.firstChild.innerText.startsWith('{title}') && {last}"))
    };
    let statements = so_far("Top statements of the server");
    tab.until(&statements);
    tab.until(&so_far("Waits that the server counts"));
    tab.until(&so_far("What the server's sessions did").replace("r's", "r\\'s"));
    let text = format!("{statements}?.textContent");
    let shown = tab.value(&text);
    assert!(shown.as_str().is_some_and(|text| text.contains("sbtest1")), "{shown}");
    tab.until(&format!("{text} !== {shown}"));
    let report = web.json("/api/runs/last");
    let server = at(&report, "server").as_array().expect("a list");
    let statements = server.iter().find(|one| one["of"] == "statements").expect("statements");
    let from_ns = number(statements, "from_ns");
    run.interrupt();
    run.end().code(130);
    tab.until("document.querySelector('.standing .badge').innerText === 'interrupted'");
    let whole = "/\\(performance_schema.*, \\d+ s\\)$/.test(of.firstChild.innerText)";
    let whole = format!("of.firstChild.innerText.startsWith('Top statements') && {whole}");
    tab.until(&table(&format!("{whole} && !/last/.test(of.firstChild.innerText)")));
    let report = home.json(&["runs", "show", "last"]);
    let server = at(&report, "server").as_array().expect("a list");
    let statements: Vec<_> = server.iter().filter(|one| one["of"] == "statements").collect();
    assert_eq!(statements.len(), 1, "{statements:#?}");
    assert!(number(statements[0], "from_ns") < from_ns, "{statements:#?}");
}

/// Checks that the page of a running experiment is updated.
fn grown(tab: &mut Tab, home: &Home, web: &Web) {
    let vary = ["--vary=clients=1,2,3", "--duration=10s", "--ramp-up=0s"];
    let target = "--target=sim:?service=constant:5ms";
    let experiment = home.start(&[&["run", "empty", "--quiet", target], &vary[..]].concat());
    tab.go(&format!("{}/experiments", web.base));
    let link = "document.querySelector('.runs .name a')";
    while tab.value(&format!("{link} === null")) == true {
        tab.go(&format!("{}/experiments", web.base));
    }
    tab.follow(".runs .name a");
    assert!(tab.value("location.pathname").to_string().contains("/experiments/"));
    let done = "document.querySelector('.standing progress').value";
    let first = tab.value(done).as_f64().expect("a number");
    assert!(first < 3.0, "it was looked at before its end");
    // A mark on the window survives, so the page was not reloaded.
    tab.value("window.isTheSame = true");
    // A completed experiment has no progress bar.
    tab.until("document.querySelector('.standing') === null");
    let shown = tab.value("document.querySelector('main').innerText").to_string();
    assert!(shown.contains("3 of 3 trials"), "{shown}");
    tab.until("document.querySelector('figure[data-chart] .dc') !== null");
    assert_eq!(tab.value("window.isTheSame"), true);
    experiment.end().good();
}

/// Checks a file with interactive charts: zooming stretches the values in the file, and loads
/// nothing.
#[test]
fn charts_of_an_interactive_file_show_values_and_zoom() {
    let home = Home::new();
    simulated(&home, "kept", 2);
    home.run(&["report", "last", "--interactive", "-o", "page.html"]).good();
    let mut tab = Tab::open();
    let file = format!("file://{}", home.path("page.html").display());
    tab.go(&file);
    tab.point(THROUGHPUT);
    tab.until("document.querySelector('.values b')?.innerText.endsWith('commits/s')");
    let whole = tab.value(&range_of(THROUGHPUT));
    let [begin, end] = ends(&whole);
    tab.drag_over(THROUGHPUT);
    tab.until(&format!("{} !== {whole}", range_of(THROUGHPUT)));
    // The middle half of the chart is about the middle half of the time.
    let [from, to] = ends(&tab.value(&range_of(THROUGHPUT)));
    assert!(begin < from && to < end && to - from > (end - begin) * 0.4, "{from}..{to}");
    // Content beyond the chart is clipped, axis labels are inside, and all charts over time zoom
    // along.
    let cut = format!("getComputedStyle(document.querySelector('{THROUGHPUT} > svg')).overflow");
    assert_eq!(tab.value(&cut), "hidden");
    let numbers = format!(
        "[...document.querySelectorAll('{THROUGHPUT} .ticks text')]
            .map((of) => Number(of.textContent))"
    );
    let numbers: Vec<f64> = serde_json::from_value(tab.value(&numbers)).expect("numbers");
    assert!(numbers.len() > 2 && numbers.iter().all(|at| (from..=to).contains(at)), "{numbers:?}");
    let ranges = "new Set([...document.querySelectorAll('svg[data-axis=time]')]
        .map((of) => `${of.dataset.from}..${of.dataset.to}`)).size";
    assert_eq!(tab.value(ranges), 1);
    // Its values are at the same positions.
    tab.point(THROUGHPUT);
    let middle = "parseFloat(document.querySelector('.values').firstChild.textContent)";
    let at = tab.value(middle).as_f64().expect("a number");
    assert!((at - (from + to) / 2.0).abs() < (to - from) * 0.1, "{at} of {from}..{to}");
    tab.double_click(THROUGHPUT);
    tab.until(&format!("{} === {whole}", range_of(THROUGHPUT)));
    tab.type_key("+");
    tab.until(&format!("{} !== {whole}", range_of(THROUGHPUT)));
    // Zooming out stops at the whole range.
    for _ in 0..3 {
        tab.type_key("-");
    }
    assert_eq!(tab.value(&range_of(THROUGHPUT)), whole);
    assert_eq!(tab.complaints(), Vec::<String>::new());
    assert_eq!(tab.requests(), [file]);
}

fn dark(tab: &mut Tab, web: &Web) {
    let paper = "getComputedStyle(document.body).backgroundColor";
    tab.go(&web.base);
    tab.prefer("light");
    let light = tab.value(paper);
    tab.prefer("dark");
    tab.until(&format!("{paper} !== {}", json!(light)));
}

/// JavaScript expression that is true if a chart is drawn in the page of a single chart.
const CHART_SHOWN: &str = "!!document.querySelector('.drawing svg')";

/// Fills the form with settings of a short run with few clients, and with these fields.
fn fill(tab: &mut Tab, fields: &[(&str, &str)]) {
    for (field, text) in fields {
        tab.click(&format!("[name='{field}']"));
        tab.type_text(text);
    }
}

/// Waits until the page of a job shows this status.
fn job_is(tab: &mut Tab, status: &str) {
    tab.until_at_last(&format!("!!document.querySelector('.job .badge.{status}')"));
}

/// Follows the link from the page of a job to its run, once there is one.
fn to_result(tab: &mut Tab) {
    tab.until_at_last("!!document.querySelector('a.result')");
    tab.follow("a.result");
}

#[test]
fn from_a_fresh_store_everything_is_done_by_clicks_and_by_keys() {
    let home = Home::new();
    let file = home.write("password", "correct horse\n");
    let web = Web::start(&home, &["--password-file", &file]);
    let mut tab = Tab::open();
    tab.go(&web.base);
    tab.type_and_enter("correct horse");
    // Build, on a server that is started for it.
    tab.follow("nav a[href='/new']");
    let quick =
        [("plan.target", "managed:mariadb"), ("plan.ramp_up", "1s"), ("plan.duration", "8s")];
    fill(&mut tab, &quick);
    fill(&mut tab, &[("group.0.clients", "2")]);
    tab.follow("#check-plan");
    let toml = tab.value("document.getElementById('toml').value").to_string();
    assert!(toml.contains("duration = \\\"8s\\\"") && toml.contains("clients = 2"), "{toml}");
    let command = tab.value("document.querySelector('.command code').innerText").to_string();
    assert!(command.contains("dbdyno run tpcc"), "{command}");
    tab.follow("#build-data");
    job_is(&mut tab, "done");
    assert_eq!(tab.value("document.querySelector('a.result').innerText"), "Open the run");
    // Run, and watch the run.
    tab.follow("a[href^='/new?job=']");
    tab.follow("#run-plan");
    to_result(&mut tab);
    tab.until("!!document.querySelector('.standing .badge.running')");
    tab.until_at_last(CHART_SHOWN);
    tab.until_at_last("!document.querySelector('.standing .badge.running')");
    let run = tab.value("location.pathname").to_string();
    // Stop another one early with the keyboard only: one without data to build.
    tab.go(&format!("{}/new?workload=empty", web.base));
    for (field, text) in [("plan.target", "managed:mariadb"), ("plan.duration", "10m")] {
        tab.tab_to(&format!("[name='{field}']"));
        tab.type_text(text);
    }
    tab.enter();
    tab.tab_to("#run-plan");
    tab.enter();
    tab.until_at_last("!!document.querySelector('a.result')");
    tab.tab_to("a.result");
    tab.enter();
    tab.until_at_last(CHART_SHOWN);
    tab.tab_to("#stop");
    tab.enter();
    tab.until_at_last("!!document.querySelector('.standing .badge.interrupted')");
    // Vary clients, and compare.
    tab.tab_to("#again");
    tab.enter();
    tab.tab_to("[name='plan.duration']");
    tab.type_text("2s");
    fill(&mut tab, &[("vary", "clients=1,2")]);
    tab.follow("#run-plan");
    job_ended(&mut tab);
    to_result(&mut tab);
    assert!(tab.value("location.pathname").to_string().contains("/experiments/"));
    tab.follow(".acts a[href*='by=clients']");
    tab.until("document.body.innerText.includes('clients=2') || !!document.querySelector('table')");
    // Label and remove.
    tab.go(&format!("{}{}", web.base, run.trim_matches('"')));
    tab.click(".menu summary");
    tab.click("#label");
    tab.type_and_enter("build=1");
    assert_eq!(tab.value("document.querySelector('.labels.seen a.label').innerText"), "build=1");
    tab.click(".menu summary");
    tab.click(".menu input[name=sure]");
    tab.follow(".menu .remove button");
    assert_eq!(tab.value("location.pathname"), "/");
    // Actions are stored, and visible everywhere.
    tab.go(&format!("{}/jobs", web.base));
    let done = tab.value("document.body.innerText").to_string();
    for what in ["signed in", "started build tpcc", "started experiment empty", "removed run"] {
        assert!(done.contains(what), "{what}: {done}");
    }
    assert_eq!(tab.complaints(), Vec::<String>::new());
    let own = format!("{}/", web.base);
    let elsewhere: Vec<String> =
        tab.requests().into_iter().filter(|address| !address.starts_with(&own)).collect();
    assert_eq!(elsewhere, Vec::<String>::new());
}

/// Waits until the page of a job shows an end. An experiment of short runs is not valid, so it may
/// fail.
fn job_ended(tab: &mut Tab) {
    tab.until_at_last("!!document.querySelector('.job .badge:is(.done, .failed)')");
}
