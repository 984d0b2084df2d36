//! Tests of `dbdyno web` from the view of attackers and programs: authentication, allowed changes,
//! errors.
//!
//! Not here: pages and clicks (browser).

use std::fs;
use std::os::unix::fs::PermissionsExt;

use servers::for_tests::POSTGRES;

use crate::home::{Home, at};
use crate::http::{Answer, Web};
use crate::real::{url, url_and_password};

/// Runs a minute in virtual time, which takes hardly any real time; returns the id of the run.
fn simulated(home: &Home, workload: &str, more: &[&str]) -> String {
    let run = ["run", workload, "--target=sim:?service=exponential:2ms&servers=4"];
    let how = ["--placement=simulated", "--duration=60s", "--ramp-up=0s", "--quiet"];
    let report = home.report_with_code(0, &[&run[..], &how, more].concat());
    at(&report, "run_id").as_str().expect("a run has an id").to_owned()
}

/// Returns all addresses of the web service, for a store with a run, an experiment and a label
/// `build`.
fn addresses(run: &str, experiment: &str) -> Vec<String> {
    let of_run = [
        "",
        "/latency",
        "/intervals",
        "/disturbances",
        "/errors",
        "/clients",
        "/counter?every=5",
        "/config",
        "/live?after=x",
    ]
    .map(|what| format!("/runs/{run}{what}"));
    let data = ["", "/plan.toml", "/seconds.csv", "/timing.csv", "/timing.json", "/clients.csv"]
        .into_iter()
        .chain(["/latency.csv", "/intervals.json", "/disturbances.csv", "/errors.csv"])
        .chain(["/counter.csv", "/config.json", "/settings.csv", "/charts"])
        .map(|what| format!("/api/runs/{run}{what}"));
    let of_experiment =
        ["", "/live?after=x"].map(|what| format!("/experiments/{experiment}{what}"));
    let sides = format!("?side={run}&side=build=2");
    let rest = [
        "/".to_owned(),
        "/?q=a&where=tps>1&sort=-tps&workload=empty&label=build&status=completed".to_owned(),
        "/live".to_owned(),
        "/experiments".to_owned(),
        format!("/compare{sides}"),
        "/history?by=build".to_owned(),
        "/api/runs".to_owned(),
        "/api/runs.csv".to_owned(),
        "/api/experiments".to_owned(),
        "/api/experiments.csv".to_owned(),
        format!("/api/experiments/{experiment}/points.csv"),
        format!("/api/experiments/{experiment}/points.json"),
        format!("/api/experiments/{experiment}"),
        format!("/api/experiments/{experiment}/charts"),
        format!("/api/compare{sides}"),
        format!("/api/compare.csv{sides}"),
        format!("/api/compare/charts{sides}"),
        "/api/history?by=build".to_owned(),
        "/api/history.csv?by=build".to_owned(),
        "/api/history/charts?by=build".to_owned(),
        "/assets/web.js".to_owned(),
        "/assets/web.css".to_owned(),
    ];
    of_run.into_iter().chain(data).chain(of_experiment).chain(rest).collect()
}

#[test]
fn stretches_of_the_counter_are_whole_seconds_or_refused() {
    let home = Home::new();
    let run = simulated(&home, "empty", &[]);
    let web = Web::start(&home, &[]);
    for every in ["-1", "abc", "0", "1.5", "10s", "99999999999"] {
        for path in ["counter.csv", "counter.json"] {
            let answer = web.get(&format!("/api/runs/{run}/{path}?every={every}"));
            assert_eq!(answer.status, 400, "{every}: {}", answer.body);
            let says = format!("{{\"error\":\"'{every}' is not a number of seconds: ");
            assert!(answer.body.starts_with(&says), "{}", answer.body);
        }
        assert_eq!(web.get(&format!("/runs/{run}/counter?every={every}")).status, 400);
    }
    // The field of the page may be left empty.
    for query in ["", "?every=", "?every=1", "?every=3600"] {
        assert_eq!(web.get(&format!("/api/runs/{run}/counter.csv{query}")).status, 200, "{query}");
    }
}

#[test]
fn pages_of_other_hosts_and_sites_get_nothing_and_links_may_be_followed() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let asked = |headers: &[(&str, &str)]| web.ask("GET", "/api/runs", headers, "").status;
    assert_eq!(asked(&[]), 200);
    assert_eq!(asked(&[("Host", "localhost:9000")]), 200);
    assert_eq!(asked(&[("Host", "evil.example")]), 421);
    assert_eq!(asked(&[("Host", "127.0.0.1.evil.example:8421")]), 421);
    assert_eq!(asked(&[("Host", &web.host()), ("Host", "evil.example")]), 400);
    assert_eq!(asked(&[("Origin", "https://evil.example")]), 403);
    assert_eq!(asked(&[("Sec-Fetch-Site", "cross-site")]), 403);
    assert_eq!(asked(&[("Sec-Fetch-Site", "same-site")]), 403);
    let followed = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
        ("Sec-Fetch-Dest", "document"),
    ];
    assert_eq!(web.ask("GET", "/", &followed, "").status, 200);
    let whole = web.ask("GET", "http://evil.example/api/runs", &[], "");
    assert_eq!(whole.status, 421, "{}", whole.body);
}

#[test]
fn every_answer_keeps_a_browser_within() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    for path in ["/", "/nowhere", "/api/runs", "/api/runs/nobody", "/assets/web.js"] {
        let answer = web.get(path);
        let policy = answer.header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"), "{path}: {policy}");
        assert!(policy.contains("frame-ancestors 'none'"), "{path}: {policy}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        assert_eq!(answer.header("referrer-policy"), "same-origin");
    }
    assert_eq!(web.get("/nowhere").status, 404);
    assert_eq!(web.json("/api/runs")["schema"], "dbdyno.runs/1");
    assert!(web.get("/api/runs/nobody").body.starts_with("{\"error\":"));
    let long = "x".repeat(20_000);
    assert_eq!(web.post("/runs/last/label", &long).status, 413);
}

#[test]
fn reading_changes_nothing() {
    let home = Home::new();
    let run = simulated(&home, "empty", &[]);
    home.run(&["runs", "label", &run, "build=1"]).good();
    let other = simulated(&home, "empty", &["--seed=2"]);
    home.run(&["runs", "label", &other, "build=2"]).good();
    let vary = ["--vary=clients=1,2", "--target=sim:?service=constant:1ms"];
    let how = ["--placement=simulated", "--duration=10s", "--ramp-up=0s", "--quiet"];
    let made = home.json(&[&["run", "empty"], &vary[..], &how].concat());
    let experiment = at(&made, "id").as_str().expect("an experiment has an id");
    let web = Web::start(&home, &[]);
    let kept = || (home.json(&["runs", "list"]), home.json(&["runs", "show", &run]));
    let before = kept();
    for path in addresses(&run, experiment) {
        let answer = web.get(&path.replace('>', "%3E"));
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let charts: Option<serde_json::Value> = serde_json::from_str(&answer.body).ok();
        let charts = charts.filter(|_| path.contains("/charts")).unwrap_or_default();
        for chart in charts["charts"].as_array().into_iter().flatten() {
            let id = chart["id"].as_str().expect("a chart has an id");
            let (path, query) = path.split_once('?').unwrap_or((&path, ""));
            assert!(web.json(&format!("{path}/{id}?{query}"))["traces"].is_array(), "{path} {id}");
            assert!(web.page(&format!("{path}/{id}.csv?{query}")).starts_with("trace,"));
        }
    }
    for path in ["label?label=a=b", "label?remove=build", "remove?sure=yes"] {
        assert_eq!(web.get(&format!("/runs/{run}/{path}")).status, 405, "{path}");
    }
    let stranger = [("Origin", "http://evil.example"), ("Sec-Fetch-Site", "cross-site")];
    for headers in [&stranger[..], &[]] {
        for (path, form) in [("label", "label=a=b"), ("remove", "sure=yes")] {
            let answer = web.ask("POST", &format!("/runs/{run}/{path}"), headers, form);
            assert_eq!(answer.status, 403, "{}", answer.body);
        }
    }
    assert_eq!(kept(), before);
}

#[test]
fn labels_are_set_and_taken_off_and_runs_removed_by_our_own_pages() {
    let home = Home::new();
    let run = simulated(&home, "empty", &[]);
    let web = Web::start(&home, &[]);
    let labels = || at(&home.json(&["runs", "list"]), "runs.0.labels").clone();
    let answer = web.post(&format!("/runs/{run}/label"), "label=build%3D1.2");
    assert_eq!((answer.status, answer.header("location")), (303, &*format!("/runs/{run}")));
    let answer = web.get("/runs/last?zoom=2..6&at=4");
    assert_eq!(answer.header("location"), format!("/runs/{run}?zoom=2..6&at=4"));
    assert_eq!(labels(), serde_json::json!({"build": "1.2"}));
    assert_eq!(web.post(&format!("/runs/{run}/label"), "label=nonsense").status, 400);
    assert_eq!(web.post(&format!("/runs/{run}/label"), "lable=build%3D1").status, 400);
    let json = [("Origin", web.base.as_str()), ("Content-Type", "application/json")];
    assert_eq!(web.ask("POST", &format!("/runs/{run}/label"), &json, "{}").status, 415);
    web.post(&format!("/runs/{run}/label"), "remove=build");
    assert_eq!(labels(), serde_json::json!({}));
    assert_eq!(web.post(&format!("/runs/{run}/remove"), "").status, 400);
    assert_eq!(web.post(&format!("/runs/{run}/remove"), "sure=yes").status, 303);
    assert_eq!(web.get(&format!("/runs/{run}")).status, 404);
    assert!(web.page("/").contains("There is no run yet"));
}

#[test]
fn an_address_reads_no_file() {
    let home = Home::new();
    std::fs::write(home.path("own.toml"), "[[group]]\nworkload = \"tpcb\"\n").expect("room");
    let web = Web::start(&home, &[]);
    assert_eq!(web.get("/new?workload=tpcb").status, 200);
    for name in ["own.toml", &home.path("own.toml").display().to_string(), "-"] {
        let answer = web.get(&format!("/new?workload={name}"));
        assert_eq!(answer.status, 400, "{name}");
        assert!(answer.body.contains("a page knows no workload"), "{name}: {}", answer.body);
    }
}

#[test]
fn what_cannot_be_given_is_reported_with_its_status() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    for path in ["/compare?side=a=1&side=b=2", "/?where=bogus", "/history?min_effect=-5"] {
        let answer = web.get(path);
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.body.contains("class=\"trouble\""), "{path}: {}", answer.body);
    }
    // Invalid, incomplete and unknown requests, for pages and their data.
    let asked = [
        (400, "side=1a2b3c4d"),
        (400, "by=clients"),
        (400, "min_effect=-5"),
        (400, "side=a%3D1&side=b%3D2"),
        (400, "side=%00"),
        (404, "side=1a2b3c4d&side=5e6f7a8b"),
        (404, "side=1a2b3c4d&by=clients"),
        (404, "side=%00&side=1a2b%00c4d"),
    ];
    for (status, query) in asked {
        let page = web.get(&format!("/compare?{query}"));
        assert_eq!(page.status, status, "{query}");
        assert!(page.body.contains("class=\"trouble\""), "{query}: {}", page.body);
        assert_eq!(web.get(&format!("/api/compare?{query}")).status, status, "{query}");
    }
    // A run's page links to the form with itself as the first side.
    simulated(&home, "empty", &[]);
    let begun = web.get("/compare?side=last");
    assert_eq!((begun.status, begun.body.contains("class=\"trouble\"")), (200, false));
    assert!(begun.body.contains("What is it compared with?") && !begun.body.contains("?side="));
    assert_eq!(web.get("/compare?side=last&min_effect=-5").status, 400);
    assert_eq!(web.get("/api/compare?side=last").status, 400);
    for path in ["/compare", "/compare?side=&side=&by=&figure=&min_effect="] {
        let page = web.get(path);
        assert!(page.status == 200 && !page.body.contains("class=\"trouble\""), "{path}");
    }
    let posted = web.post("/api/runs", "");
    assert_eq!((posted.status, posted.header("allow")), (405, "GET,HEAD"));
    assert!(posted.body.starts_with("{\"error\":"), "{}", posted.body);
    let unreadable = web.get("/api/runs/%FF");
    assert_eq!(unreadable.status, 400);
    assert!(unreadable.body.starts_with("{\"error\":"), "{}", unreadable.body);
}

#[test]
fn ticked_runs_of_a_label_are_one_side_unless_each_is_asked_for() {
    let home = Home::new();
    let mut ids = Vec::new();
    for (seed, build) in [("1", "1.1"), ("2", "1.1"), ("3", "1.2"), ("4", "1.2")] {
        let label = format!("--label=build={build}");
        ids.push(simulated(&home, "empty", &[&format!("--seed={seed}"), &label]));
    }
    let web = Web::start(&home, &[]);
    // In the order of the list: newest first.
    let selected: Vec<String> = ids.iter().rev().map(|id| format!("side={id}")).collect();
    let address = format!("compare?{}", selected.join("&"));
    let names = |query: &str| {
        let printed = web.json(&format!("/api/{address}{query}"));
        let sides = printed["sides"].as_array().cloned().unwrap_or_default();
        sides.iter().map(|side| side["name"].as_str().unwrap_or("").to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(""), ["build=1.1", "build=1.2"]);
    assert_eq!(names("&group=run").len(), 4);
    let page = web.page(&format!("/{address}"));
    assert!(page.contains("<b>by label build</b>") && page.contains(">each run</a>"), "{page}");
    assert!(page.contains("<label>Baseline <input"), "{page}");
}

#[test]
fn a_damaged_trial_is_left_out_and_reported() {
    let home = Home::new();
    let vary = ["--vary=clients=1,2", "--repeat=2", "--target=sim:?service=constant:1ms"];
    let how = ["--placement=simulated", "--duration=10s", "--ramp-up=0s", "--quiet"];
    let made = home.json(&[&["run", "empty"], &vary[..], &how].concat());
    let experiment = at(&made, "id").as_str().expect("an experiment has an id");
    let run = at(&made, "points.0.runs.0").as_str().expect("a run has an id").to_owned();
    let store = rusqlite::Connection::open(home.path("data/dbdyno/runs.sqlite")).expect("a store");
    let broken = "UPDATE run SET report = '{broken' WHERE id = ?";
    assert_eq!(store.execute(broken, [&run]).expect("it is written"), 1);
    let web = Web::start(&home, &[]);
    for path in
        [format!("/experiments/{experiment}"), format!("/compare?side={experiment}&by=clients")]
    {
        let page = web.page(&path);
        assert!(page.contains("runs rm") && page.contains(&run), "{path}: {page}");
    }
    home.run(&["experiments", "show", experiment]).good().says(&["Left out: 1 run", &run]);
}

#[test]
fn a_run_that_goes_on_is_not_removed() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let slow = ["--target=sim:?service=constant:20ms", "--duration=1h", "--ramp-up=0s"];
    let run = home.start(&[&["run", "empty", "--quiet"], &slow[..]].concat());
    web.wait_for_a_run();
    let answer = web.post("/runs/last/remove", "sure=yes");
    assert_eq!(answer.status, 409, "{}", answer.body);
    run.interrupt();
    run.end().code(130);
}

#[test]
fn silent_connections_keep_nobody_out() {
    let home = Home::new();
    let web = Web::start(&home, &[]);
    let silent = web.silent(400);
    assert_eq!(web.get("/api/runs").status, 200);
    drop(silent);
}

#[test]
fn pages_are_compressed_for_whoever_takes_that_but_the_one_that_asks_for_a_password() {
    let home = Home::new();
    home.run(&[
        "run",
        "empty",
        "--target=sim:?service=constant:1ms",
        "--placement=simulated",
        "--quiet",
    ])
    .good();
    let web = Web::start(&home, &[]);
    let run = web.json("/api/runs")["runs"][0]["run_id"].as_str().expect("an id").to_owned();
    let path = format!("/runs/{run}");
    let length = |answer: &Answer| answer.header("content-length").parse::<usize>().expect("it");
    let plain = web.get(&path);
    assert_eq!(plain.header("content-encoding"), "");
    let packed = web.ask("GET", &path, &[("Accept-Encoding", "gzip")], "");
    assert_eq!((packed.status, packed.header("content-encoding")), (200, "gzip"));
    assert!(length(&packed) < length(&plain) / 3, "{} {}", length(&packed), length(&plain));
    assert!(length(&packed) < 80_000, "the weight of a page: {}", length(&packed));
    let login = web.ask("GET", "/login", &[("Accept-Encoding", "gzip")], "");
    assert_eq!(login.header("content-encoding"), "");
    let chart = web.get(&format!("/api/runs/{run}/charts/throughput.svg"));
    assert!(
        chart.header("content-type").starts_with("image/svg+xml") && chart.body.contains("<svg")
    );
    assert!(web.page(&format!("/runs/{run}/charts/throughput")).contains("Its data"));
}

#[test]
fn a_stretch_of_a_chart_is_drawn_and_what_cannot_be_is_refused_in_a_sentence() {
    let home = Home::new();
    simulated(&home, "empty", &[]);
    let web = Web::start(&home, &[]);
    let chart = |rest: &str| web.get(&format!("/api/runs/last/charts/throughput{rest}"));
    // Without a suffix it is dbdyno's own format, as with `.json`.
    assert_eq!(chart("").body, chart(".json").body);
    let points = |rest: &str| {
        let chart: serde_json::Value = serde_json::from_str(&chart(rest).body).expect("JSON");
        chart["traces"][0]["points"].as_array().map(Vec::len)
    };
    assert_eq!((points(""), points("?from=10&to=20")), (Some(60), Some(12)));
    for kind in ["svg", "wide.svg", "narrow.svg", "low.svg"] {
        let drawn = chart(&format!(".{kind}?from=10&to=20.5"));
        assert_eq!(drawn.status, 200, "{kind}");
        assert!(drawn.header("content-type").starts_with("image/svg+xml"), "{kind}");
        for word in ["data-from=\"10\"", "data-to=\"20.5\"", "data-log=\"\"", "<style>"] {
            assert!(drawn.body.contains(word), "{kind} {word}: {}", drawn.body);
        }
        // For a page it has the page's colours.
        let drawn = chart(&format!(".{kind}?in=page&y=turned")).body;
        assert!(drawn.contains("data-log=\"y\"") && !drawn.contains("<style>"), "{drawn}");
    }
    for (bad, words) in [
        ("from=10", "from and to are two numbers"),
        ("from=x&to=20", "from and to are two numbers"),
        ("from=20&to=10", "the lower first"),
        ("from=10&to=inf", "from and to are two numbers"),
        ("from=NaN&to=NaN", "from and to are two numbers"),
        ("y=up", "y=turned"),
    ] {
        for kind in ["", ".json", ".csv", ".svg", ".wide.svg"] {
            let refused = chart(&format!("{kind}?{bad}"));
            assert_eq!(refused.status, 400, "{kind} {bad}");
            assert!(refused.body.contains(words), "{kind} {bad}: {}", refused.body);
        }
    }
}

#[test]
fn script_in_a_label_or_a_plan_is_shown_as_text() {
    let home = Home::new();
    let evil = "<script>alert(1)</script><img src=x onerror=alert(2)>";
    let plan = format!(
        "name = \"{evil}\"\n[target]\nurl = \"sim:?service=constant:1ms\"\n[phases]\n\
         ramp_up = \"0s\"\nmeasure = \"10s\"\n[[group]]\nname = \"group\"\nworkload = \"empty\"\n\
         clients = 1\n"
    );
    let file = home.write("evil.toml", plan);
    home.run(&["run", &file, "--placement=simulated", "--quiet"]).good();
    let web = Web::start(&home, &[]);
    let form = "label=%3Cscript%3Ealert(1)%3C/script%3E=%22%3E%3Cscript%3Ealert(3)%3C/script%3E";
    assert_eq!(web.post("/runs/last/label", form).status, 400);
    let form = "label=evil=%22%3E%3Cscript%3Ealert(3)%3C/script%3E";
    assert_eq!(web.post("/runs/last/label", form).status, 303);
    let run = web.json("/api/runs")["runs"][0]["run_id"].as_str().expect("an id").to_owned();
    let found = "/?q=%22%3E%3Cscript%3Ealert(4)%3C/script%3E";
    let pages =
        ["/", found, "/?where=%3Cscript%3E", &format!("/runs/{run}"), "/history?by=%3Cb%3E"]
            .map(|path| web.get(path).body);
    for page in &pages {
        for bad in ["<script>", "<img src=x", "\"><script", "<b>&lt;"] {
            assert!(!page.contains(bad), "{bad}: {page}");
        }
    }
    assert!(pages[0].contains("&lt;script&gt;alert(1)") || pages[0].contains("&#60;script&#62;"));
}

#[test]
fn the_password_of_a_target_is_on_no_page() {
    let home = Home::new();
    let (url, (_, secret)) = (url(POSTGRES.shared()), url_and_password(POSTGRES.shared()));
    let target = format!("--target={url}");
    let quick = ["--rate=20", "--duration=1s", "--ramp-up=0s", "--quiet"];
    home.run(&[&["run", "empty", &target], &quick[..]].concat()).good();
    let vary = ["run", "empty", &target, "--vary=clients=1,2"];
    home.run(&[&vary[..], &quick].concat()).good();
    home.run(&["runs", "label", "last", "build=1"]).good();
    let web = Web::start(&home, &[]);
    let runs = web.json("/api/runs");
    let run = runs["runs"][2]["run_id"].as_str().expect("three runs").to_owned();
    let made = web.json("/api/experiments");
    let experiment = made["experiments"][0]["id"].as_str().expect("one experiment");
    for path in addresses(&run, experiment) {
        let answer = web.get(&path.replace('>', "%3E"));
        assert!(!answer.body.contains(&secret), "{path}");
    }
    web.process.interrupt();
    let ran = web.process.end().good();
    assert!(!ran.err.contains(&secret) && !ran.out.contains(&secret));
}

#[test]
fn where_others_can_reach_it_it_takes_a_password() {
    let home = Home::new();
    let refused = |args: &[&str]| home.run(&[&["web", "--listen=0.0.0.0:0"], args].concat());
    refused(&[]).code(2).warns(&["it needs a password", "DBDYNO_WEB_PASSWORD"]);
    let short = home.write("short", "1234567\n");
    refused(&["--password-file", &short]).code(2).warns(&["fewer than 8 characters"]);
}

#[test]
fn with_a_password_only_who_knows_it_sees_anything_and_all_of_it_goes_over_tls() {
    let home = Home::new();
    simulated(&home, "empty", &[]);
    let file = home.write("password", "correct horse\n");
    let web = Web::start(&home, &["--password-file", &file]);
    assert!(web.base.starts_with("https://"), "{}", web.base);
    let key = fs::metadata(home.path("data/dbdyno/runs.sqlite-web.key")).expect("it was made");
    assert_eq!(key.permissions().mode() & 0o777, 0o600);
    let plain = web.plainly("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(!plain.contains("dbdyno") && !plain.contains("200"), "{plain}");
    assert!(plain.starts_with("HTTP/1.1 400 ") && plain.contains("use https://"), "{plain}");

    let closed = web.get("/runs/last?x=1");
    assert_eq!(closed.status, 303);
    assert_eq!(closed.header("location"), "/login?next=%2Fruns%2Flast%3Fx%3D1");
    let api = web.get("/api/runs");
    assert_eq!((api.status, api.header("www-authenticate")), (401, "Basic realm=\"dbdyno\""));
    assert!(!api.body.contains("sim:"), "{}", api.body);
    assert_eq!(web.post("/runs/last/label", "label=a=b").status, 401);

    let cookie = signed_in(&web.post("/login", "password=correct+horse&next=/runs/last"));
    let with = |path| web.ask("GET", path, &[("Cookie", &cookie)], "");
    assert_eq!(with("/").status, 200);
    assert_eq!(with("/api/runs").status, 200);
    let own = [("Cookie", cookie.as_str()), ("Origin", &web.base)];
    assert_eq!(web.ask("POST", "/logout", &own, "").status, 303);
    assert_eq!(with("/").status, 303);

    // Basic, for programs: base64 of "anybody:correct horse" and of "anybody:guess".
    let basic = |text| web.ask("GET", "/api/runs", &[("Authorization", text)], "").status;
    assert_eq!(basic("Basic YW55Ym9keTpjb3JyZWN0IGhvcnNl"), 200);
    for _ in 0..2 {
        let wrong = web.post("/login", "password=guess");
        assert_eq!((wrong.status, wrong.header("set-cookie")), (401, ""));
    }
    assert_eq!(basic("Basic YW55Ym9keTpndWVzcw=="), 401);
    let late = web.post("/login", "password=correct+horse");
    assert_eq!(late.status, 429, "whoever guesses waits");
    assert!(late.header("retry-after").parse::<u64>().is_ok_and(|seconds| seconds >= 1));
    web.process.interrupt();
    let said = web.process.end().good().err;
    assert_eq!(said.matches("a wrong password from 127.0.0.1").count(), 3, "{said}");
}

#[track_caller]
fn signed_in(answer: &Answer) -> String {
    assert_eq!((answer.status, answer.header("location")), (303, "/runs/last"));
    let cookie = answer.header("set-cookie");
    for part in ["HttpOnly", "Secure", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "no {part} in {cookie}");
    }
    cookie.split(';').next().expect("it begins with its value").to_owned()
}

/// Ends the background service of a home folder when this value is dropped.
struct Ended<'h>(&'h Home);

impl Drop for Ended<'_> {
    fn drop(&mut self) {
        self.0.run(&["web", "stop"]);
    }
}

#[test]
fn in_the_background_it_is_started_once_reported_and_ended() {
    let home = Home::new();
    let _ended = Ended(&home);
    home.run(&["web", "status"]).code(1).says(&["nothing serves this store"]);
    let began = home.run(&["web", "start", "--listen=127.0.0.1:0"]).good();
    assert!(began.out.starts_with("http://127.0.0.1:"), "{}", began.out);
    let again = home.run(&["web", "start"]).good();
    let address = began.out.split(' ').next().expect("it begins with the address");
    assert!(again.out.starts_with(address), "{}", again.out);
    let elsewhere = home.run(&["web", "start", "--listen=127.0.0.2:9"]).code(1);
    assert!(elsewhere.err.contains("is served already"), "{}", elsewhere.err);
    home.run(&["web", "status"]).good().says(&[address]);
    home.run(&["web"]).code(1).warns(&["serves this store already", "dbdyno web stop"]);
    home.run(&["web", "stop"]).good().says(&["ended"]);
    home.run(&["web", "status"]).code(1);
    home.run(&["web", "stop"]).good().says(&["nothing serves this store"]);
}

#[test]
fn how_a_service_is_ended_is_reported_with_the_store_that_it_is_of() {
    let home = Home::new();
    let store = home.path("other.sqlite");
    let store_flag = format!("--store={}", store.display());
    let began = home.run(&["web", "start", "--listen=127.0.0.1:0", &store_flag]).good();
    let end = format!("dbdyno web stop --store {}", store.display());
    let refused = home.run(&["web", &store_flag]).code(1);
    home.run(&["web", "stop", &store_flag]).good().says(&["ended"]);
    assert!(began.err.contains(&end), "{}", began.err);
    assert!(refused.err.contains(&end), "{}", refused.err);
}

#[test]
fn a_password_given_in_the_background_is_in_no_list_of_processes_and_no_log() {
    let home = Home::new();
    let _ended = Ended(&home);
    let mut command = home.dbdyno(&["web", "start", "--listen=127.0.0.1:0"]);
    command.env("DBDYNO_WEB_PASSWORD", "correct horse battery");
    let began = crate::waiting::Started::new(command).end().good();
    assert!(began.out.starts_with("https://"), "{}", began.out);
    let fingerprint = began.out.lines().last().expect("it tells its certificate");
    assert_eq!(fingerprint.split(':').count(), 32, "{fingerprint}");
    let printed = fs::read(home.path("data/dbdyno/runs.sqlite-web.json")).expect("it is there");
    let printed: serde_json::Value = serde_json::from_slice(&printed).expect("it is JSON");
    let pid = at(&printed, "process.pid");
    for what in ["cmdline", "environ"] {
        let shown = fs::read(format!("/proc/{pid}/{what}")).expect("it lives");
        assert!(!String::from_utf8_lossy(&shown).contains("horse"), "{what}");
    }
    let log = fs::read_to_string(home.path("data/dbdyno/runs.sqlite-web.log")).expect("a log");
    assert!(!log.contains("horse"), "{log}");
}

#[test]
fn a_port_that_is_taken_is_reported_with_another() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let port = taken.local_addr().expect("it is bound").port();
    let home = Home::new();
    let listen = format!("--listen=127.0.0.1:{port}");
    home.run(&["web", &listen]).code(1).warns(&["is taken by another program", "--listen"]);
    let failed = home.run(&["web", "start", &listen]).code(1);
    assert!(failed.err.contains("is taken by another program"), "{}", failed.err);
    home.run(&["web", "--listen=nowhere:1"]).code(2).warns(&["write an address"]);
}
