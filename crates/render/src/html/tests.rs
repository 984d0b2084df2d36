//! Tests of HTML pages of all kinds: runs, experiments, comparisons, histories and searches.

use analysis::fixtures::subjects;
use model::{JudgedLimit, LimitOutcome, Rng, Stream};
use study::HistoryReport;
use study::comparison::Judge;
use study::fixtures::sides::side;
use study::fixtures::studies;
use study::history::Question;

use super::*;
use crate::document::{Document, Text, Tone, Verdict};

fn run_body(report: &analysis::Report, medium: Medium<'_>) -> String {
    body(&crate::run(report), medium)
}

fn bodies(medium: Medium<'_>) -> Vec<String> {
    let (experiment, trials) = studies::experiment();
    let mut all = vec![
        run_body(&subjects::closed(), medium),
        run_body(&subjects::open(), medium),
        run_body(&subjects::hostile(), medium),
        body(&crate::experiment(&experiment, &trials, None), medium),
        body(&crate::experiment(&experiment, &[], None), medium),
        body(&crate::seek(&studies::seek()), medium),
        body(&crate::comparison(&studies::comparison(), &[]), medium),
        body(&crate::history(&studies::history()), medium),
    ];
    all.extend(subjects::odd().iter().map(|report| run_body(report, medium)));
    all
}

#[test]
fn a_page_loads_nothing() {
    for body in bodies(Medium::File) {
        let page = page("a title", &body, Medium::File);
        for word in ["http:", "https:", "src=", "<link", "<script", "@import", "url("] {
            assert!(!page.contains(word), "{word} in {}", &page[page.find(word).unwrap()..][..60]);
        }
    }
}

#[test]
fn the_runs_of_an_experiment_are_links_where_runs_have_pages() {
    let (experiment, trials) = studies::experiment();
    let medium = Medium::Web { base: "/c/", query: "", runs: "/runs/", first: First::InPage };
    let run = &experiment.points[0].runs[0];
    let link = format!("<a href=\"/runs/{run}\">{run}</a>");
    assert!(body(&crate::experiment(&experiment, &trials, None), medium).contains(&link));
    let file = body(&crate::experiment(&experiment, &trials, None), Medium::File);
    assert!(file.contains(run.as_str()) && !file.contains(&link));
}

#[test]
fn a_history_with_a_recent_change_for_the_worse_is_red() {
    let body = body(&crate::history(&studies::history()), Medium::File);
    assert!(body.contains("<p class=\"verdict bad\">") && body.contains("WORSE"), "{body}");
}

#[test]
fn every_element_of_a_page_is_closed() {
    for body in bodies(Medium::File) {
        // With its void elements closed, and without named character references.
        let page = page("a title", &body, Medium::File);
        let page = page.replace("<!DOCTYPE html>", "");
        let page = page.lines().map(|line| match line.starts_with("<meta") {
            true => line.replace('>', "/>"),
            false => line.to_owned(),
        });
        let page = page.collect::<Vec<String>>().join("\n");
        if let Err(error) = roxmltree::Document::parse(&page) {
            let line = page.lines().nth(error.pos().row as usize - 1).unwrap_or_default();
            panic!("{error}: {}", line.chars().take(300).collect::<String>());
        }
    }
}

#[test]
fn hostile_words_are_shown_and_do_nothing() {
    let query = "?a=1";
    for medium in [
        Medium::File,
        Medium::InteractiveFile,
        Medium::Web { base: "/c/", query, runs: "/runs/", first: First::InPage },
    ] {
        let body = run_body(&subjects::hostile(), medium);
        assert!(!body.contains("<script>alert") && !body.contains("<b>\""), "{medium:?}");
        assert!(body.contains("alert("), "{medium:?}");
    }
}

#[test]
fn a_place_tells_where_its_chart_is() {
    let body = |query, first| {
        let medium = Medium::Web { base: "/api/runs/7/charts/", query, runs: "/runs/", first };
        run_body(&subjects::closed(), medium)
    };
    let linked = body("?at=1", First::Linked);
    for place in [
        "data-chart=\"/api/runs/7/charts/throughput?at=1\"",
        "src=\"/api/runs/7/charts/throughput.wide.svg?at=1\"",
        "srcset=\"/api/runs/7/charts/throughput.narrow.svg?at=1\"",
        "href=\"/api/runs/7/charts/throughput.csv?at=1\"",
        "href=\"/runs/7/charts/throughput?at=1\"",
    ] {
        assert!(linked.contains(place), "{place} in {linked}");
    }
    assert!(!linked.contains("<svg class=\"dc\""));
}

#[test]
fn the_first_charts_are_in_the_page_and_the_others_are_loaded_when_they_are_seen() {
    let medium = Medium::Web { base: "/c/", query: "", runs: "/runs/", first: First::InPage };
    for body in bodies(medium) {
        let n_charts = body.matches("data-chart=").count();
        let n_in_page = body.matches("<div class=\"drawing\"><div class=\"on-wide\">").count();
        let n_lazy = body.matches("loading=\"lazy\" alt=").count();
        assert_eq!(n_in_page + n_lazy, n_charts, "{body}");
        assert!(n_in_page <= 4 && (n_charts == 0 || n_in_page > 0), "{n_in_page} of {n_charts}");
    }
}

#[test]
fn values_beside_a_picture_are_json() {
    let body = run_body(&subjects::hostile(), Medium::InteractiveFile);
    let mut n_read = 0;
    for rest in body.split("<script type=\"application/json\">").skip(1) {
        let json = rest.split("</script>").next().unwrap();
        let chart: serde_json::Value = serde_json::from_str(json).expect("JSON");
        assert!(chart["traces"][0]["points"].is_array());
        n_read += 1;
    }
    assert!(n_read > 5);
}

#[test]
fn a_run_that_failed_or_goes_on_says_so_first() {
    let odd = subjects::odd();
    let head = |index: usize| {
        let body = run_body(&odd[index], Medium::File);
        let verdict = body.split("<p class=\"verdict").nth(1).expect("a verdict").to_owned();
        verdict.split("</p>").next().unwrap_or_default().to_owned()
    };
    assert!(head(0).contains("Interrupted"), "{}", head(0));
    assert!(head(1).contains("Provisional figures"), "{}", head(1));
    assert!(head(2).contains("Failed: the server went away."), "{}", head(2));
}

#[test]
fn a_verdict_does_not_repeat_the_heading() {
    let mut document = Document::new("Experiment", "tpcc over clients");
    document.verdicts = vec![Verdict {
        tone: Tone::Good,
        word: "Valid.".to_owned(),
        headline: Text::from("tpcc over clients: most TPS at clients=2"),
        details: Vec::new(),
    }];
    let body = body(&document, Medium::File);
    assert!(body.contains("Most TPS at clients=2"), "{body}");
    assert_eq!(body.matches("tpcc over clients").count(), 1, "{body}");
}

#[test]
fn a_run_s_page_answers_what_is_asked_of_it() {
    let body = run_body(&subjects::closed(), Medium::File);
    for word in [
        "<h1>quick on SQLite 3.54.1</h1>",
        "tpcc, 8 clients, closed load, measured 60 s",
        "<dt>NOPM</dt>",
        "within this run</small>",
        "transactions offered =",
        "DROP TABLE big",
        "id=\"chart-throughput\"",
        "id=\"chart-distribution\"",
        "Machine: cpu",
        "dbdyno run plan.toml",
        "seed = 7",
        "Derived from TPC-C",
    ] {
        assert!(body.contains(word), "{word}");
    }
}

#[test]
fn system_metrics_stand_by_what_it_is_about() {
    let body = run_body(&subjects::closed(), Medium::File);
    let section = body.split("<section id=\"monitor\">").nth(1).expect("a section");
    let section = section.split("</section>").next().expect("its end");
    let place = |word: &str| section.find(word).unwrap_or_else(|| panic!("no {word}"));
    assert!(place("<h3>Machine</h3>") < place("Machine: disk written, vda"));
    assert!(place("Machine: disk written, vda") < place("<h3>Database</h3>"));
    // Of many only the first are open.
    let mut many = subjects::closed();
    let disk = many.gauges[2].clone();
    many.gauges.extend((0..5).map(|n| {
        let unit = format!("unit {n}");
        analysis::report::GaugeReport { unit, ..disk.clone() }
    }));
    let body = run_body(&many, Medium::File);
    assert!(body.contains("<details><summary>Machine: 5 more charts</summary>"), "{body}");
    assert_eq!(body.matches("<figure id=\"chart-gauges-machine").count(), 7);
}

#[test]
fn a_long_page_begins_with_links_to_its_sections() {
    for body in bodies(Medium::File) {
        let Some(links) = body.split("<nav class=\"contents\"").nth(1) else {
            assert!(body.matches("<section id=").count() <= 4);
            continue;
        };
        let links = links.split("</nav>").next().expect("its end");
        assert_eq!(links.matches("<a href=\"#").count(), body.matches("<section id=").count());
    }
    assert!(
        run_body(&subjects::closed(), Medium::File).contains("<a href=\"#latency\">Latency</a>")
    );
}

#[test]
fn on_paper_parts_are_unfolded_but_those_that_a_machine_has_reported_at_length() {
    assert!(PAGE_CSS.contains("details:not(.long)::details-content{content-visibility:visible"));
    let body = run_body(&subjects::hostile(), Medium::File);
    let is_long = |title: &str| {
        let before = body.split(&format!("<summary>{title}")).next().expect("what is before");
        assert!(before.len() < body.len(), "no {title}");
        before.ends_with("<details class=\"long\">")
    };
    assert!(is_long("All 4 gauges") && is_long("Facts: "));
    assert!(!is_long("The complete plan") && !is_long("Notes on the workload"));
}

#[test]
fn a_comparison_shows_its_result_before_what_changed() {
    let body = body(&crate::comparison(&studies::comparison(), &[]), Medium::File);
    let place = |word: &str| body.find(word).unwrap_or_else(|| panic!("no {word}"));
    assert!(place("verdict good") < place("id=\"changed\""));
    assert!(
        place("id=\"result\"") < place("id=\"changed\"")
            && place("id=\"changed\"") < place("id=\"curves\"")
    );
    assert!(body.contains("<b>Better.</b>"));
}

#[test]
fn findings_and_points_stand_before_charts_and_the_answer_stands_once() {
    let (mut experiment, trials) = studies::experiment();
    let text = "A crash may lose commits.";
    let finding = model::Finding::new("not_durable", model::Severity::Warning, text);
    experiment.findings.push(finding.clone());
    let body_of = |document: &crate::Document| body(document, Medium::File);
    let place =
        |body: &str, word: &str| body.find(word).unwrap_or_else(|| panic!("no {word} in {body}"));
    let page = body_of(&crate::experiment(&experiment, &trials, None));
    let ids = ["findings", "points", "curves", "trials"].map(|id| format!("<section id=\"{id}\""));
    let places = ids.map(|id| place(&page, &id));
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(page.matches("Unfinished, with 1 warning").count(), 1);
    let mut run = subjects::closed();
    run.findings = vec![finding];
    let page = run_body(&run, Medium::File);
    // Its tiles are its figures, and its charts are visible without scrolling.
    assert!(place(&page, "<figure") < place(&page, "id=\"findings\""));
    assert_eq!(page.matches("Valid, with 1 warning").count(), 1);
}

#[test]
fn the_head_of_a_page_has_the_p99_of_the_headline() {
    for report in [subjects::closed(), subjects::open(), two_groups()] {
        let body = run_body(&report, Medium::File);
        let tile =
            body.split("<dt>p99</dt><dd>").nth(1).and_then(|rest| rest.split("</dd>").next());
        let tile = tile.expect("a tile");
        let (value, error) = tile.split_once(" <small>").unwrap_or((tile, ""));
        let headline = crate::run(&report).verdicts[0].headline.plain();
        assert!(headline.contains(&format!("p99 {value}")), "{value} {error}: {headline}");
        if value == "∞" {
            let lost = error.trim_end_matches("</small>");
            assert!(headline.contains(&format!("p99 ∞ ({lost})")), "{lost}: {headline}");
        }
    }
}

#[test]
fn the_interval_beside_a_percentile_is_its_own() {
    // Half of the offered transactions are unfinished: percentiles of all are above those of the
    // other half, whose intervals do not apply to them.
    let mut late = subjects::closed();
    late.block.counts.unfinished = late.block.counts.finished;
    late.block.counts.offered += late.block.counts.unfinished;
    late.block.offered_ms.p95 = Some(1974.47);
    late.block.offered_ms.intervals = analysis::report::Named::default();
    let mut known = late.clone();
    known.block.offered_ms.intervals.push("p95", (1960.0, Some(1990.0)));
    let mut reports =
        vec![subjects::closed(), late.clone(), known.clone(), subjects::open(), two_groups()];
    reports.extend(subjects::odd());
    let tile = |report: &analysis::Report, name: &str| {
        let body = run_body(report, Medium::File);
        let tile = body.split(&format!("<dt>{name}</dt><dd>")).nth(1)?.split("</dd>").next()?;
        let (value, beside) = tile.split_once(" <small>").unwrap_or((tile, ""));
        Some((value.to_owned(), beside.trim_end_matches("</small>").to_owned()))
    };
    let number = |text: &str| text.trim_end_matches(" ms").replace(',', "").parse::<f64>().ok();
    let mut n_intervals = 0;
    for report in &reports {
        for name in ["p50", "p95", "p99"] {
            let (value, beside) = tile(report, name).expect("a tile");
            let Some((low, high)) = beside.split_once(" to ") else { continue };
            let low = number(low).expect("a low end");
            let high =
                if high == "∞" { f64::INFINITY } else { number(high).expect("a high end") };
            let value = number(&value).expect("a value");
            assert!((low..=high).contains(&value), "{name}: {value}, {beside}");
            let counts = report.block.counts;
            let own = report.block.offered_ms.intervals.get(name).is_some();
            assert!(own || counts.offered == counts.finished, "{name}: {value}, {beside}");
            n_intervals += 1;
        }
    }
    assert!(n_intervals > 1, "{n_intervals}");
    let p95 = |report: &analysis::Report| tile(report, "p95").expect("a tile");
    assert_eq!(p95(&late), ("1,974 ms".to_owned(), String::new()));
    assert_eq!(p95(&known), ("1,974 ms".to_owned(), "1,960 to 1,990".to_owned()));
}

/// Makes an overloaded run with a second group of another load, so that no load holds for the whole
/// run.
fn two_groups() -> analysis::Report {
    let mut report = subjects::open();
    report.load = None;
    let mut beside = report.groups[0].clone();
    beside.name = "beside".to_owned();
    beside.load = model::Load::Closed;
    report.groups.push(beside);
    report
}

#[test]
fn a_limit_says_on_the_page_of_a_run_what_was_found() {
    let mut report = subjects::closed();
    let text = "FAILED p99<1ms: 8.2 ms".to_owned();
    let (option, outcome) = ("require".to_owned(), LimitOutcome::Failed);
    report.limits = vec![JudgedLimit { option, outcome, text }];
    let page = run_body(&report, Medium::File);
    assert!(page.contains("FAILED p99&#60;1ms: 8.2 ms"), "{page}");
}

#[test]
fn a_history_is_green_only_where_a_worse_build_would_have_been_seen() {
    let page = |spread: f64, newest: f64| {
        let tps = [1000.0, 1000.0 + spread, 1000.0 - spread, 1000.0, newest];
        let build = |(n, tps): (usize, f64)| side(&format!("1.{n}"), &[("8", &[tps], n)]);
        let builds: Vec<_> = tps.into_iter().enumerate().map(build).collect();
        let mut rng = Rng::new(1, Stream::Order, 0);
        let judge = Judge { primary: None, min_effect: 0.01, also: Vec::new() };
        let report =
            HistoryReport::new(&Question::new("build", judge), &builds, &mut || rng.bits());
        body(&crate::history(&report.expect("they have runs")), Medium::File)
    };
    let quiet = page(5.0, 1002.0);
    assert!(
        quiet.contains(
            "<p class=\"verdict good\"><b>TPS by build clients=8: 5 builds, the last build (1.4) is"
        ),
        "{quiet}"
    );
    let words = "The last build is 0.20 % above the mean of the builds before it; expected: -3.3 % \
                 to +3.5 %";
    assert!(quiet.contains(words), "{quiet}");
    let noisy = page(50.0, 1002.0);
    assert!(
        noisy.contains(
            "<p class=\"verdict \"><b>TPS by build clients=8: 5 builds, too noisy to detect less"
        ),
        "{noisy}"
    );
    assert!(page(5.0, 900.0).contains("<p class=\"verdict bad\">"));
    // A verdict without a word has no element for one.
    assert!(!quiet.contains("<b></b>") && !noisy.contains("<b></b>"));
}

#[test]
fn the_page_of_an_experiment_says_what_ran_in_all_of_its_trials_and_what_may_be_best() {
    let (mut experiment, mut trials) = studies::experiment();
    // The missing trial was made, and is invalid.
    experiment.points[4].runs_not_counted = 1;
    for trial in &mut trials {
        let group = &mut trial.report.groups[0];
        group.clients = trial.report.clients;
        group.load = model::Load::Closed;
        group.parameters = analysis::report::Named::default();
        group.parameters.push("warehouses", "4".to_owned());
        group.parameters.push("keying", trial.point.to_string());
        trial.report.target = format!("sim:{}", trial.point % 2);
        trial.report.modes = vec!["journal=wal".to_owned()];
    }
    let page = body(&crate::experiment(&experiment, &trials, None), Medium::File);
    let ran = page.split("id=\"ran\"").nth(1).expect("a section");
    let ran = ran.split("<details").next().expect("its beginning");
    for word in ["closed", "warehouses=4", "journal=wal", "seed"] {
        assert!(ran.contains(word), "{word}: {ran}");
    }
    for word in ["client", "keying", "sim:"] {
        assert!(!ran.contains(word), "{word}: {ran}");
    }
    let alone = body(&crate::experiment(&experiment, &trials[..1], None), Medium::File);
    let ran = alone.split("id=\"ran\"").nth(1).expect("a section");
    assert!(ran.contains("1 client on a thread, closed") && ran.contains("sim:0"), "{ran}");
    // 454.5 ± 11 at 8 clients, 422 ± 27 of two runs at 16.
    let said = "Most TPS at group.users.clients=8";
    let verdict = page.split(said).nth(1).unwrap_or_else(|| panic!("no {said}"));
    let verdict = verdict.split("</b>").next().expect("its end");
    assert!(verdict.ends_with("; CIs overlap at 16"), "{verdict}");
}
