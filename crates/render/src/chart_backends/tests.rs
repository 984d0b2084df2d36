//! What SVG and the values for plotly.js must be, whatever is drawn.

use analysis::fixtures::subjects;
use serde_json::json;

use super::*;
use crate::charts::{of_comparison, of_experiment, of_history, of_run, of_seek};

fn everything() -> Vec<Chart> {
    let (experiment, trials) = subjects::experiment();
    let mut all = of_run(&subjects::closed());
    all.extend(of_run(&subjects::open()));
    all.extend(of_run(&subjects::hostile()));
    all.extend(subjects::odd().iter().flat_map(of_run));
    all.extend(of_experiment(&experiment, &trials));
    all.extend(of_seek(&subjects::seek()));
    all.extend(of_comparison(&subjects::comparison()));
    all.extend(of_history(&subjects::history()));
    all
}

#[test]
fn an_svg_is_well_formed_and_has_no_script() {
    for chart in everything() {
        for drawn in [Drawn::WIDE, Drawn::NARROW, Drawn::ALONE] {
            let svg = chart.to_svg(drawn);
            let read = roxmltree::Document::parse(&svg);
            let document = read.unwrap_or_else(|error| panic!("{}: {error}", chart.id));
            let known = ["svg", "style", "rect", "text", "path", "circle", "title"];
            for node in document.descendants().filter(|node| node.is_element()) {
                assert!(known.contains(&node.tag_name().name()), "{node:?}");
                for attribute in node.attributes() {
                    assert!(!attribute.name().starts_with("on"), "{attribute:?}");
                    assert!(!attribute.value().contains("NaN"), "{}: {attribute:?}", chart.id);
                }
            }
            let title = document.descendants().find(|n| n.attribute("class") == Some("title"));
            let title = title.and_then(|node| node.text()).expect("it has a title");
            // Only what is wider than the picture is cut, and shows that.
            if let Some(kept) = title.strip_suffix('…') {
                assert!(chart.title.starts_with(kept) && kept.len() >= 30, "{title}");
            } else {
                assert_eq!(title, chart.title);
            }
        }
    }
}

#[test]
fn everything_is_drawn_within_the_picture() {
    for chart in everything() {
        for drawn in [Drawn::WIDE, Drawn::NARROW] {
            let svg = chart.to_svg(drawn);
            let document = roxmltree::Document::parse(&svg).unwrap();
            let (width, height) = (f64::from(drawn.width), f64::from(drawn.height));
            for node in document.descendants() {
                let number = |name: &str| node.attribute(name).and_then(|v| v.parse::<f64>().ok());
                for (names, most) in [(["x", "cx"], width), (["y", "cy"], height)] {
                    for at in names.iter().filter_map(|name| number(name)) {
                        assert!((-0.1..=most + 0.1).contains(&at), "{}: {node:?}", chart.id);
                    }
                }
                let Some(path) = node.attribute("d") else { continue };
                let pairs = path.split(['M', 'L']).filter_map(|pair| pair.split_once(' '));
                for (x, y) in pairs {
                    let y: f64 = y.split(['H', 'V', 'Z', 'v']).next().unwrap().parse().unwrap();
                    let x: f64 = x.parse().unwrap();
                    let fits = (-0.1..=width + 0.1).contains(&x) && (-0.1..=height).contains(&y);
                    assert!(fits, "{}: {x} {y} of {path}", chart.id);
                }
            }
        }
    }
}

#[test]
fn labels_of_an_axis_do_not_meet() {
    for chart in everything() {
        for drawn in [Drawn::WIDE, Drawn::NARROW] {
            let svg = chart.to_svg(drawn);
            let document = roxmltree::Document::parse(&svg).unwrap();
            let below = document
                .descendants()
                .filter(|node| node.attribute("text-anchor") == Some("middle"));
            let mut end = f64::NEG_INFINITY;
            for node in below {
                let at: f64 = node.attribute("x").unwrap().parse().unwrap();
                let half = 12.0 * 0.5 * node.text().unwrap_or("").chars().count() as f64 / 2.0;
                assert!(at - half >= end, "{}: {:?}", chart.id, node.text());
                end = at + half;
            }
        }
    }
}

#[test]
fn the_same_chart_is_drawn_the_same() {
    for chart in of_run(&subjects::closed()) {
        assert_eq!(chart.to_svg(Drawn::WIDE), chart.to_svg(Drawn::WIDE));
        assert_eq!(chart.to_plotly(), chart.to_plotly());
    }
}

#[test]
fn what_plotly_takes_for_marks_is_escaped() {
    let mut n_hostile = 0;
    for chart in of_run(&subjects::hostile()) {
        let mut shown = chart.to_plotly();
        // Not for plotly.js: whoever shows it escapes it.
        shown["note"].take();
        let text = shown.to_string();
        assert!(!text.contains("<script") && !text.contains("<b>"), "{text}");
        n_hostile += usize::from(text.contains("&lt;script&gt;"));
    }
    assert!(n_hostile > 3);
}

#[cfg(feature = "pictures")]
#[test]
fn a_png_has_words() {
    let charts = of_run(&subjects::closed());
    let drawn = Drawn { width: 400, height: 300, theme: Theme::Light };
    let with = charts[0].to_png(drawn, 1.0).expect("it is drawn");
    assert!(with.starts_with(b"\x89PNG"));
    let mut wordless = charts[0].clone();
    wordless.title.clear();
    // The same picture but for its title: a font that is missing would draw none.
    assert_ne!(with, wordless.to_png(drawn, 1.0).expect("it is drawn"));
}

#[test]
fn the_worst_second_of_a_long_run_is_drawn() {
    let mut chart = of_run(&subjects::closed()).remove(0);
    let point = |x: usize| crate::charts::Point {
        x: x as f64,
        y: Some(if x == 12_345 { 1.0 } else { 1_000.0 }),
        ..Default::default()
    };
    chart.traces.truncate(1);
    chart.traces[0].points = (0..86_400).map(point).collect();
    chart.marks.clear();
    let shown = chart.to_plotly();
    let drawn = shown["data"][0]["y"].as_array().unwrap();
    assert!(drawn.len() <= 2_000 && drawn.iter().any(|y| y == 1.0));
    assert!(chart.to_svg(Drawn::WIDE).len() < 40_000);
}

#[test]
fn an_area_is_closed_around_each_stretch_without_gaps() {
    let mut chart = of_run(&subjects::closed()).into_iter().find(|c| c.id == "response").unwrap();
    let point = |x: u32| {
        let band = (x != 3).then_some((0.0, 10.0 + f64::from(x)));
        crate::charts::Point { x: f64::from(x), y: band.map(|_| 5.0), band, label: None }
    };
    chart.traces.truncate(1);
    chart.traces[0].points = (1..=5).map(point).collect();
    chart.y.scale = crate::charts::Scale::Linear;
    let area = |chart: &Chart| chart.to_plotly()["data"][0].clone();
    let shown = area(&chart);
    assert_eq!(shown["fill"], "toself");
    assert_eq!(shown["x"].to_string(), "[1.0,2.0,2.0,1.0,null,4.0,5.0,5.0,4.0,null]");
    assert_eq!(shown["y"].to_string(), "[11.0,12.0,0.0,0.0,null,14.0,15.0,0.0,0.0,null]");
    // What has no place among ratios lies at the lowest that has one.
    chart.y.scale = crate::charts::Scale::Log;
    assert_eq!(area(&chart)["y"].to_string(), "[11.0,12.0,5.0,5.0,null,14.0,15.0,5.0,5.0,null]");
}

#[cfg(feature = "pages")]
#[test]
fn the_library_is_plotly_alone() {
    let js = plotly_js();
    assert!(js.len() > 1_000_000, "{}", js.len());
    assert!(!js.contains("<script") || !js.trim_start().starts_with('<'));
}

/// The names of numbers along an axis for plotly.js and where they stand, if these are reported.
fn reported_ticks(axis: &serde_json::Value) -> Option<Vec<(f64, String)>> {
    let texts = axis["ticktext"].as_array()?.iter().map(|text| text.as_str().map(str::to_owned));
    let values = axis["tickvals"].as_array()?.iter().map(serde_json::Value::as_f64);
    values.zip(texts).map(|(value, text)| Some((value?, text?))).collect()
}

#[test]
fn each_number_along_an_axis_of_ratios_is_reported_whole() {
    let mut n_axes = 0;
    for chart in everything() {
        let shown = chart.to_plotly();
        let level = if chart.is_forest { (&chart.y, &chart.x) } else { (&chart.x, &chart.y) };
        for (name, axis) in [("xaxis", level.0), ("yaxis", level.1)] {
            let layout = &shown["layout"][name];
            assert!(layout["dtick"].is_null(), "{} {name}: {layout}", chart.id);
            let ticks = reported_ticks(layout);
            if axis.scale != crate::charts::Scale::Log {
                continue;
            }
            let ticks = ticks.unwrap_or_else(|| panic!("{} {name}: {layout}", chart.id));
            assert!(!ticks.is_empty(), "{} {name}", chart.id);
            for (value, text) in ticks {
                let number = |text: &str| text.replace(',', "").parse::<f64>().expect("a number");
                // A percentile stands where one in so many is beyond it.
                let read = match text.strip_prefix('p') {
                    Some(percent) => 100.0 / (100.0 - number(percent)),
                    None => number(&text),
                };
                let is_whole = (read - value).abs() <= value.abs() * 1e-3;
                assert!(is_whole, "{} {name}: {text} stands at {value}", chart.id);
            }
            n_axes += 1;
        }
    }
    assert!(n_axes > 5, "{n_axes}");
}

#[test]
fn what_was_varied_stands_along_the_axis_in_each_ink() {
    let (experiment, trials) = subjects::experiment();
    let curves = of_experiment(&experiment, &trials);
    let mut chart = curves.into_iter().find(|chart| chart.id.starts_with("curves")).unwrap();
    for (scale, places, expect) in [
        (crate::charts::Scale::Log, vec![1.0, 8.0, 32.0], "1 8 32"),
        (crate::charts::Scale::Linear, vec![1.0, 2.0], "1 2"),
        (crate::charts::Scale::Linear, vec![0.5, 1.0, 1.5], "0.5 1 1.5"),
        (crate::charts::Scale::Log, vec![200.0, 1_000.0, 16_384.0], "200 1,000 16,384"),
    ] {
        chart.x.scale = scale;
        let point = |x: &f64| crate::charts::Point { x: *x, y: Some(1.0), ..Default::default() };
        chart.traces.truncate(1);
        chart.traces[0].points = places.iter().map(point).collect();
        let shown = reported_ticks(&chart.to_plotly()["layout"]["xaxis"]).expect("numbers");
        let (at, labels): (Vec<f64>, Vec<String>) = shown.into_iter().unzip();
        assert_eq!((labels.join(" ").as_str(), &at), (expect, &places));
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let below = document.descendants().filter(|n| n.attribute("text-anchor") == Some("middle"));
        let below: Vec<&str> = below.filter_map(|node| node.text()).collect();
        assert_eq!(below.join(" "), expect);
    }
}

/// Two lines with intervals over the same numbers on an axis of ratios, one of which goes down to
/// `low`.
fn whiskered(low: f64) -> Chart {
    let (experiment, trials) = subjects::two_axes();
    let charts = of_experiment(&experiment, &trials);
    let mut chart = charts.into_iter().find(|chart| chart.id.ends_with("p50-ms")).unwrap();
    chart.y.scale = crate::charts::Scale::Log;
    chart.traces[0].points[0].y = Some(2.1);
    chart.traces[0].points[0].band = Some((low, 4.2));
    chart
}

#[test]
fn an_interval_down_to_nothing_does_not_stretch_an_axis_of_ratios() {
    for low in [0.0, 0.001] {
        let chart = whiskered(low);
        let shown = chart.to_plotly();
        let range: Vec<f64> =
            serde_json::from_value(shown["layout"]["yaxis"]["range"].clone()).expect("a range");
        assert!(range[0] >= 0.5_f64.log10() - 1e-9, "{range:?}");
        // Its whisker ends where the axis does.
        let minus = shown["data"][0]["error_y"]["arrayminus"][0].as_f64().expect("a number");
        assert!((2.1 - minus - 10_f64.powf(range[0])).abs() < 1e-9, "{minus}");
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let is = |class: &'static str| {
            let of = move |node: &roxmltree::Node<'_, '_>| {
                node.attribute("class").is_some_and(|name| name.starts_with(class))
            };
            document.descendants().filter(of).filter_map(|node| node.attribute("d"))
        };
        let y = |path: &str| -> f64 {
            let y = path.split(['M', ' ', 'V', 'H', 'L']).nth(2).unwrap();
            y.parse().unwrap()
        };
        assert_eq!(is("axis").map(y).next(), is("whisker").map(y).next());
    }
    // One that is in proportion is seen whole.
    assert!(whiskered(1.5).to_plotly()["layout"]["yaxis"]["range"].is_null());
}

#[test]
fn intervals_at_the_same_number_stand_beside_each_other() {
    let chart = whiskered(1.5);
    let shown = chart.to_plotly();
    let x = |trace: usize| shown["data"][trace]["x"][1].as_f64().expect("a number");
    assert!(x(0) < 2.0 && x(1) > 2.0 && x(1) - x(0) < 0.5, "{} {}", x(0), x(1));
    // What is reported of a point is where it was measured.
    assert_eq!(shown["data"][0]["customdata"][1], "2");
    assert!(shown["data"][0]["hovertemplate"].as_str().unwrap().starts_with("%{customdata}"));
    let svg = chart.to_svg(Drawn::WIDE);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let dots = document.descendants().filter(|node| node.tag_name().name() == "circle");
    let at = |node: roxmltree::Node<'_, '_>| node.attribute("cx").map(str::to_owned);
    let mut all: Vec<String> = dots.filter(|node| node.has_children()).filter_map(at).collect();
    let n_all = all.len();
    all.sort();
    all.dedup();
    assert_eq!((n_all, all.len()), (10, 10));
}

#[test]
fn what_is_marked_is_seen_over_the_grid_and_however_thin_it_is() {
    let charts = of_comparison(&subjects::comparison());
    let ratios = charts.iter().find(|chart| chart.id == "ratios").expect("it is made");
    let shown = ratios.to_plotly();
    let shapes = shown["layout"]["shapes"].as_array().expect("shapes");
    assert_eq!(shapes.len(), 2);
    for shape in shapes {
        assert_eq!(shape["layer"], "between");
        assert!(shape["line"]["width"].as_f64().is_some_and(|width| width >= 1.0), "{shape}");
    }
}

#[test]
fn rows_of_a_forest_plot_stand_below_each_other_with_values_from_left_to_right() {
    let charts = of_comparison(&subjects::comparison());
    let ratios = charts.iter().find(|chart| chart.id == "ratios").expect("it is made");
    assert!(ratios.is_forest);
    let names = &ratios.x.categories;
    let shown = ratios.to_plotly();
    let layout = &shown["layout"];
    assert_eq!(layout["meta"]["rows"], names.len());
    assert_eq!(layout["yaxis"]["ticktext"], json!(names));
    // From above: the first name has the lowest number.
    assert_eq!(layout["yaxis"]["range"], json!([names.len() as f64 - 0.5, -0.5]));
    assert_eq!(layout["xaxis"]["type"], "log");
    assert!(layout["shapes"][0]["xref"] == "x" && layout["shapes"][0]["x0"] == 1.0, "{layout}");
    for trace in shown["data"].as_array().expect("traces") {
        assert!(trace["error_y"].is_null(), "{trace}");
    }
    for drawn in [Drawn::WIDE, Drawn::NARROW] {
        let svg = ratios.to_svg(drawn);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let number = |node: &roxmltree::Node<'_, '_>, name: &str| -> f64 {
            node.attribute(name).and_then(|text| text.parse().ok()).expect("a number")
        };
        let all = || document.descendants();
        let at_left = all().filter(|node| node.attribute("text-anchor") == Some("end"));
        let rows: Vec<(f64, &str)> =
            at_left.filter_map(|node| Some((number(&node, "y"), node.text()?))).collect();
        assert!(rows[..names.len()].is_sorted_by(|a, b| a.0 < b.0), "{rows:?}");
        let dots: Vec<f64> = all()
            .filter(|node| node.tag_name().name() == "circle" && node.has_children())
            .map(|node| number(&node, "cx"))
            .collect();
        let points = || ratios.traces.iter().flat_map(|trace| &trace.points);
        let mut pairs: Vec<(f64, f64)> = points().filter_map(|point| point.y).zip(dots).collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        assert!(!pairs.is_empty() && pairs.is_sorted_by(|a, b| a.1 <= b.1), "{pairs:?}");
    }
}

#[test]
fn a_forest_plot_grows_with_its_rows() {
    let charts = of_comparison(&subjects::comparison());
    let mut ratios = charts.into_iter().find(|chart| chart.id == "ratios").expect("it is made");
    let height = |chart: &Chart| -> f64 {
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        document.root_element().attribute("height").unwrap().parse().unwrap()
    };
    assert!(height(&ratios) < 340.0, "{}", height(&ratios));
    ratios.x.categories = (0..100).map(|nth| format!("clients {nth}")).collect();
    assert!(height(&ratios) >= 1_700.0, "{}", height(&ratios));
}

#[test]
fn over_much_time_hours_and_minutes_stand_along_the_axis() {
    let charts = of_run(&subjects::closed());
    let mut chart = charts.into_iter().find(|chart| chart.id == "throughput").expect("it is made");
    let shown = |chart: &Chart| -> Vec<String> {
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let words = document.descendants().filter_map(|node| node.text().map(str::to_owned));
        words.collect()
    };
    let has = |chart: &Chart, words: &[&str]| {
        let all = shown(chart);
        words.iter().all(|word| all.iter().any(|text| text == word))
    };
    assert!(has(&chart, &["time in the measured phase (s)"]));
    for (to, words) in [
        (1_200.0, ["0:00", "0:05", "0:10", "time in the measured phase (h:min)"]),
        (28_800.0, ["0:00", "2:00", "4:00", "time in the measured phase (h:min)"]),
    ] {
        chart.x.range = Some((-10.0, to));
        assert!(has(&chart, &words), "{:?}", shown(&chart));
    }
}
