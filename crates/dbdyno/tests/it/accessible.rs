//! Tests of the accessibility of the web pages by the rules of axe-core
//! (github.com/dequelabs/axe-core), which check names, roles, contrast and order by the Web Content
//! Accessibility Guidelines.
//!
//! Not here: use with the keyboard only (browser).

use std::fs;

use serde_json::{Value, json};
use servers::for_tests::fetched;

use crate::devtools::Tab;
use crate::home::Home;
use crate::http::Web;

/// JavaScript expression that runs axe-core on the page: violations of the levels A and AA, and of
/// its best practices, each with its rule, text and elements.
const JUDGED: &str = "axe.run(document, {resultTypes: ['violations']}).then((found) =>
    found.violations.map((rule) => ({
        rule: rule.id, impact: rule.impact, says: rule.help,
        at: rule.nodes.slice(0, 4).map((node) => node.html.slice(0, 160) + ' ' +
            (node.any[0]?.message ?? '')),
    })))";

fn wrong_with(tab: &mut Tab, rules: &str) -> Vec<Value> {
    tab.value(rules);
    tab.value(JUDGED).as_array().cloned().expect("it is a list")
}

#[test]
fn no_page_breaks_a_rule_of_accessibility_whether_light_dark_wide_or_narrow() {
    let home = Home::new();
    let simulated = ["--target=sim:?service=exponential:2ms", "--placement=simulated", "--quiet"];
    let lasts = ["--duration=1h", "--ramp-up=0s"];
    let run = |more: &[&str]| {
        home.report_with_code(0, &[&["run", "empty"], &simulated[..], &lasts[..], more].concat())
    };
    run(&["--name=one", "--label=build=1"]);
    let report = run(&["--name=two", "--label=build=2", "--rate=900/s"]);
    let of_run = format!("/runs/{}", report["run_id"].as_str().expect("it is kept"));
    run(&["--vary=clients=1,2", "--repeat=2"]);
    let web = Web::start(&home, &[]);
    let experiments = web.json("/api/experiments");
    let experiment = experiments["experiments"][0]["id"].as_str().expect("it is kept").to_owned();
    let rules = fs::read_to_string(fetched("axe-core-4.14/axe.min.js")).expect("it is read");
    let pages = [
        "/".to_owned(),
        "/experiments".to_owned(),
        format!("/experiments/{experiment}"),
        of_run.clone(),
        format!("{of_run}/charts/throughput"),
        format!("{of_run}/seconds"),
        format!("/compare?experiment={experiment}&by=clients"),
        "/history".to_owned(),
        "/new".to_owned(),
        "/jobs".to_owned(),
        "/no-such-page".to_owned(),
    ];
    let mut tab = Tab::open();
    let mut wrong = Vec::new();
    for (scheme, width) in [("light", 1300), ("dark", 420)] {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        tab.call("Emulation.setDeviceMetricsOverride", size);
        tab.prefer(scheme);
        for page in &pages {
            tab.go(&format!("{}{page}", web.base));
            for found in wrong_with(&mut tab, &rules) {
                wrong.push(format!("{page} ({scheme}, {width} px): {found:#}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
