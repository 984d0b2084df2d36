//! Tests of reports: single-file pages, single charts, and rejections.

use std::fs;

use crate::home::{Home, at};

const SIM: &str = "sim:?service=exponential:2ms&servers=4";

fn run(home: &Home, name: &str) -> String {
    let target = format!("--target={SIM}");
    let words = ["run", "empty", &target, "--placement=simulated", "--duration=12s"];
    let name = format!("--name={name}");
    let report =
        home.report_with_code(0, &[&words[..], &["--ramp-up=2s", "--clients=6", &name]].concat());
    at(&report, "run_id").as_str().expect("a text").to_owned()
}

fn read(home: &Home, name: &str) -> String {
    fs::read_to_string(home.path(name)).expect("it was written")
}

#[test]
fn a_run_is_a_page_in_one_file_that_loads_nothing() {
    let home = Home::new();
    let id = run(&home, "<script>alert(1)</script>");
    home.write("run.html", "what was there before");
    home.run(&["report", &id, "-o", "run.html"]).good();
    let page = read(&home, "run.html");
    for word in ["<!DOCTYPE html>", "chart-throughput", "chart-response", "id=\"findings\""] {
        assert!(page.contains(word), "no {word}");
    }
    for word in ["http:", "https:", "src=", "<link", "<script"] {
        assert!(!page.contains(word), "{word}");
    }
    assert!(page.contains("&#60;script&#62;") || page.contains("&lt;script&gt;"));
    home.run(&["report", "last", "-o", "-"]).good().says(&["<!DOCTYPE html>"]);
    home.run(&["report", &id, "-o", "live.html", "--interactive"]).good();
    let page = read(&home, "live.html");
    assert!(page.contains("dbdynoCharts") && page.contains("type=\"application/json\""));
    for word in ["src=", "<link", "<script>alert"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn a_chart_alone_is_what_its_file_is_named() {
    let home = Home::new();
    let id = run(&home, "charts");
    home.run(&["report", &id, "--charts"]).good().says(&["throughput", "response", "Throughput"]);
    let write = |file: &str| home.run(&["report", &id, "--chart=throughput", "-o", file]);
    for file in ["a.svg", "a.png", "a.html", "a.csv", "a.json"] {
        write(file).good();
    }
    assert!(read(&home, "a.svg").starts_with("<svg xmlns="));
    assert!(fs::read(home.path("a.png")).expect("a file").starts_with(b"\x89PNG"));
    assert!(read(&home, "a.html").contains("<figure"));
    // Two seconds of ramp-up, twelve measured, and the two ends of the mean.
    assert_eq!(read(&home, "a.csv").lines().count(), 1 + 14 + 2);
    // The same as that of the web pages.
    let chart: serde_json::Value = serde_json::from_str(&read(&home, "a.json")).expect("JSON");
    assert_eq!((&chart["id"], &chart["x"]["unit"]), (&"throughput".into(), &"s".into()));
    assert_eq!(chart["traces"][0]["points"].as_array().map(Vec::len), Some(14), "{chart}");
    write("a.gif").code(2).warns(&["-o a.gif: a chart is an svg, png"]);
    let other = home.run(&["report", &id, "--chart=no", "-o", "a.svg"]);
    let words = ["--chart no: choose one of throughput, response", " others (--charts lists them)"];
    let other = other.code(2).warns(&words);
    assert!(other.err.len() < 200, "{}", other.err);
}

#[test]
fn experiments_and_comparisons_are_pages_too() {
    let home = Home::new();
    let targets = "--vary=target=sim:?service=exponential:2ms&servers=4,\
                   sim:?service=exponential:3ms&servers=4";
    let words = ["run", "empty", targets, "--vary=clients=2,4,8,16", "--repeat=4"];
    let more = ["--placement=simulated", "--duration=2s", "--ramp-up=0s"];
    let shown = home.json(&[&words[..], &more[..]].concat());
    let id = at(&shown, "id").as_str().expect("a text");
    home.run(&["report", id, "-o", "experiment.html"]).good();
    let page = read(&home, "experiment.html");
    assert!(page.contains("Curves") && page.contains("chart-curves-clients-tps"));
    home.run(&["report", id, "--by=target", "-o", "comparison.html"]).good();
    let page = read(&home, "comparison.html");
    let place = |word: &str| page.find(word).unwrap_or_else(|| panic!("no {word}"));
    assert!(
        place("Worse, with caution.") < place("Result") && place("Result") < place("What changed")
    );
    assert!(page.contains("chart-ratios") && page.contains("chart-sides-tps"));
}

#[test]
fn a_report_that_cannot_be_written_is_refused_in_a_sentence() {
    let home = Home::new();
    let id = run(&home, "refused");
    let report = |words: &[&str]| home.run(&[&["report"], words].concat());
    let whole =
        format!("dbdyno: the output file is missing: 'dbdyno report {id} -o report.html'\n");
    report(&[&id]).code(2).warns(&[&whole]);
    report(&[&id, "-o", "a.png"]).code(2).warns(&["--chart"]);
    report(&[&id, "-o", "a.unknown"]).code(2).warns(&["-o a.unknown: a report is HTML"]);
    report(&[&id, "-o", "."]).code(1).warns(&[". cannot be written"]);
    report(&[&id, "-o", "a.html", "--output=json"]).code(2).warns(&["name its file with -o"]);
    report(&["nobody", "-o", "a.html"]).code(2).warns(&["nobody"]);
    report(&[&id, "--chart=throughput", "-o", "a.svg", "--size=9x9"]).code(2).warns(&["960x480"]);
}

#[test]
fn what_is_written_replaces_files_and_never_a_store() {
    let home = Home::new();
    let id = run(&home, "kept");
    let store = home.store();
    let name = store.display().to_string();
    std::os::unix::fs::symlink(&store, home.path("link.html")).expect("a link");
    let other = rusqlite::Connection::open(home.path("other.json")).expect("a database");
    other.execute_batch("CREATE TABLE precious (x)").expect("a table");
    let before = home.json(&["runs", "export", "last"]);
    let (log, index) = (format!("{name}-wal"), format!("{name}-shm"));
    for file in [&name, &log, &index, "link.html", "other.json"] {
        let export = ["runs", "export", "last", "--format=json", "-o", file];
        let chart = ["report", &id, "--chart=throughput", "-o", file];
        for words in [
            &export[..],
            &["report", &id, "-o", file],
            &chart,
            &["report", &id, "-o", file, "--interactive"],
        ] {
            home.run(words).code(2).warns(&[file, "name another file"]).is_a_sentence();
        }
    }
    assert_eq!(home.json(&["runs", "export", "last"]), before);
    other.execute("INSERT INTO precious VALUES (1)", ()).expect("it is whole");
    let unknown = home.run(&["runs", "export", "last", "-o", "a.unknown"]).code(2);
    unknown.warns(&["-o a.unknown: ", "--format", "json, csv, hlog, dbdyno"]).is_a_sentence();
    home.write("a.JSON", "old");
    for file in ["a.JSON", "b"] {
        home.run(&["runs", "export", "last", "-o", file]).good();
        assert!(read(&home, file).starts_with("{\n"));
    }
}
