//! Tests of the SVG and PNG pictures of every chart.

use analysis::fixtures::subjects;
use study::fixtures::studies;

use super::*;
use crate::charts::{of_comparison, of_experiment, of_history, of_run, of_seek};

fn everything() -> Vec<Chart> {
    let (experiment, trials) = studies::experiment();
    let mut all = of_run(&subjects::closed());
    all.extend(of_run(&subjects::open()));
    all.extend(of_run(&subjects::hostile()));
    all.extend(subjects::odd().iter().flat_map(of_run));
    all.extend(of_experiment(&experiment, &trials));
    all.extend(of_seek(&studies::seek()));
    all.extend(of_comparison(&studies::comparison()));
    all.extend(of_history(&studies::history()));
    all
}

#[test]
fn an_svg_is_well_formed_and_has_no_script() {
    for chart in everything() {
        for drawn in [Drawn::WIDE, Drawn::NARROW, Drawn::ALONE] {
            let svg = chart.to_svg(drawn);
            let read = roxmltree::Document::parse(&svg);
            let document = read.unwrap_or_else(|error| panic!("{}: {error}", chart.id));
            let known = ["svg", "style", "rect", "text", "path", "circle", "title", "g"];
            for node in document.descendants().filter(|node| node.is_element()) {
                assert!(known.contains(&node.tag_name().name()), "{node:?}");
                for attribute in node.attributes() {
                    assert!(!attribute.name().starts_with("on"), "{attribute:?}");
                    assert!(!attribute.value().contains("NaN"), "{}: {attribute:?}", chart.id);
                }
            }
            let title = document.descendants().find(|n| n.attribute("class") == Some("title"));
            let title = title.and_then(|node| node.text()).expect("it has a title");
            // Only a title wider than the picture is cut, and shows that.
            if let Some(kept) = title.strip_suffix('…') {
                assert!(chart.title.starts_with(kept) && kept.len() >= 30, "{title}");
            } else {
                assert_eq!(title, chart.title);
            }
        }
    }
}

/// Returns a chart cut to the middle half of its horizontal axis; `None` if it cannot be cut.
fn middle(chart: &Chart) -> Option<Chart> {
    let places = chart.traces.iter().flat_map(|trace| &trace.points).map(|point| point.x);
    let (low, high) =
        places.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    let step = (high - low) / 4.0;
    (step > 0.0).then(|| chart.between(low + step, high - step))
}

#[test]
fn everything_is_drawn_within_the_picture() {
    let stretches = everything().iter().filter_map(middle).collect::<Vec<Chart>>();
    assert!(stretches.len() > 20, "{}", stretches.len());
    let turned = everything().iter().map(Chart::turned).collect::<Vec<Chart>>();
    for chart in everything().into_iter().chain(stretches).chain(turned) {
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
fn a_script_finds_the_plot_area_its_ends_and_each_trace() {
    let (mut n_keys, mut axes) = (0, std::collections::BTreeSet::new());
    for chart in everything() {
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let root = document.root_element();
        let number = |name: &str| -> f64 {
            let text = root.attribute(format!("data-{name}").as_str());
            text.and_then(|text| text.parse().ok())
                .unwrap_or_else(|| panic!("{}: {name}", chart.id))
        };
        assert!(number("left") < number("right") && number("right") <= 680.0, "{}", chart.id);
        assert!(number("top") < number("bottom"), "{}", chart.id);
        assert!(number("from") < number("to"), "{}", chart.id);
        let is_upwards = number("low") < number("high");
        assert_eq!(is_upwards, !chart.is_forest, "{}", chart.id);
        axes.insert(root.attribute("data-axis").expect("it is named").to_owned());
        let of_class = |class: &'static str| {
            let is_of = move |node: &roxmltree::Node<'_, '_>| {
                node.has_tag_name("g") && node.attribute("class") == Some(class)
            };
            let to_index =
                |node: roxmltree::Node<'_, '_>| node.attribute("data-trace")?.parse().ok();
            document.descendants().filter(is_of).filter_map(to_index).collect::<Vec<usize>>()
        };
        let all: Vec<usize> = (0..chart.traces.len()).collect();
        assert_eq!(of_class("trace"), all, "{}", chart.id);
        // A legend that is too long is cut; a single trace has none.
        let keys = of_class("key");
        assert!(all.starts_with(&keys), "{}: {keys:?}", chart.id);
        n_keys += keys.len();
        // All elements of a trace are in its group.
        let loose = root.children().find(|node| {
            let class = node.attribute("class").unwrap_or_default();
            ["line", "area", "whisker", "d-"].iter().any(|start| class.starts_with(start))
        });
        assert_eq!(loose, None, "{}", chart.id);
    }
    assert!(n_keys > 20, "{n_keys}");
    assert_eq!(axes.into_iter().collect::<Vec<_>>(), ["names", "numbers", "rows", "time"]);
}

#[test]
fn the_same_chart_is_drawn_the_same() {
    for chart in of_run(&subjects::closed()) {
        assert_eq!(chart.to_svg(Drawn::WIDE), chart.to_svg(Drawn::WIDE));
    }
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
    // The same picture except for its title: a missing font would draw none.
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
    // A page has fewer values than the run, and the worst is among them.
    let shown = chart.thinned();
    let kept = &shown.traces[0].points;
    assert!(kept.len() <= 2_000 && kept.iter().any(|point| point.y == Some(1.0)));
    assert_eq!(shown.traces[0].name, chart.traces[0].name);
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
    // Two pieces, each along its high ends to the right and along its low ones back.
    let areas = |chart: &Chart| -> Vec<Vec<(f64, f64)>> {
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let is_area = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|class| class.starts_with("area"))
        };
        let corner = |pair: &str| -> (f64, f64) {
            let (x, y) = pair.trim_end_matches('Z').split_once(' ').expect("two numbers");
            (x.parse().expect("a number"), y.parse().expect("a number"))
        };
        let corners = |node: roxmltree::Node<'_, '_>| {
            let path = node.attribute("d").expect("a path");
            path.split(['M', 'L']).filter(|pair| !pair.is_empty()).map(corner).collect()
        };
        document.descendants().filter(is_area).map(corners).collect()
    };
    for scale in [crate::charts::Scale::FromZero, crate::charts::Scale::Log] {
        chart.y.scale = scale;
        let areas = areas(&chart);
        assert_eq!(areas.iter().map(Vec::len).collect::<Vec<_>>(), [4, 4], "{areas:?}");
        for area in areas {
            assert!(area[0].0 == area[3].0 && area[1].0 == area[2].0, "{area:?}");
            // A value without a place on a logarithmic axis is drawn at its end, as 0 is.
            assert!(area[2].1 == area[3].1 && area[2].1 > area[0].1, "{area:?}");
        }
    }
}

/// Returns the ticks of one axis of a chart's SVG: pixel and label.
fn ticks_of(chart: &Chart, along: Along) -> Vec<(f64, String)> {
    let svg = chart.to_svg(Drawn::WIDE);
    let document = roxmltree::Document::parse(&svg).unwrap();
    let is_below = |node: &roxmltree::Node<'_, '_>| {
        node.parent().is_some_and(|parent| parent.attribute("class") == Some("ticks"))
    };
    let root = document.root_element();
    let number = |name: &str| -> f64 { root.attribute(name).unwrap().parse().unwrap() };
    let (names, place) = match along {
        Along::X => (["left", "right", "from", "to"], "x"),
        Along::Y => (["bottom", "top", "low", "high"], "y"),
    };
    let [start, end, low, high] = names.map(|name| number(&format!("data-{name}")));
    let is_log = root.attribute("data-log").unwrap().contains(place);
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    let of_axis = texts.filter(|node| match along {
        Along::X => is_below(node),
        Along::Y => !is_below(node) && node.attribute("text-anchor") == Some("end"),
    });
    let read = |node: roxmltree::Node<'_, '_>| {
        let at: f64 = node.attribute(place)?.parse().ok()?;
        // On a vertical axis the middle of a label is at its place, four pixels above its foot.
        let share = (at - if along == Along::Y { 4.0 } else { 0.0 } - start) / (end - start);
        let value = match is_log {
            true => low * (high / low).powf(share),
            false => low + share * (high - low),
        };
        let is_title = node.attribute("class") == Some("unit");
        (!is_title).then(|| (value, node.text().unwrap_or_default().to_owned()))
    };
    of_axis.filter_map(read).collect()
}

#[test]
fn each_number_along_an_axis_stands_at_its_place() {
    let mut n_axes = 0;
    for chart in everything() {
        let level = if chart.is_forest { (&chart.y, &chart.x) } else { (&chart.x, &chart.y) };
        for (along, axis) in [(Along::X, level.0), (Along::Y, level.1)] {
            if axis.scale != crate::charts::Scale::Log {
                continue;
            }
            let ticks = ticks_of(&chart, along);
            assert!(!ticks.is_empty(), "{} {along:?}", chart.id);
            for (value, text) in ticks {
                let number = |text: &str| text.replace(',', "").parse::<f64>().expect("a number");
                // A percentile is at the number N of which one is beyond it.
                let read = match text.strip_prefix('p') {
                    Some(percent) => 100.0 / (100.0 - number(percent)),
                    None => number(&text),
                };
                // A pixel is some hundredths of a number where powers of ten are close.
                let is_there = (read / value - 1.0).abs() <= 0.05;
                assert!(is_there, "{} {along:?}: {text} stands at {value}", chart.id);
            }
            n_axes += 1;
        }
    }
    assert!(n_axes > 5, "{n_axes}");
}

#[test]
fn what_was_varied_stands_along_the_axis() {
    let (experiment, trials) = studies::experiment();
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
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let below = document.descendants().filter(|n| n.attribute("text-anchor") == Some("middle"));
        let below: Vec<&str> = below.filter_map(|node| node.text()).collect();
        assert_eq!(below.join(" "), expect);
    }
}

/// Makes a chart of two lines with intervals at the same x values on a logarithmic axis. One
/// interval goes down to `low`.
fn whiskered(low: f64) -> Chart {
    let (experiment, trials) = studies::two_axes();
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
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let lowest: f64 = document.root_element().attribute("data-low").unwrap().parse().unwrap();
        assert!(lowest >= 0.5 - 1e-9, "{lowest}");
        // The whisker ends where the axis does.
        let is = |class: &'static str| {
            let has_class = move |node: &roxmltree::Node<'_, '_>| {
                node.attribute("class").is_some_and(|name| name.starts_with(class))
            };
            document.descendants().filter(has_class).filter_map(|node| node.attribute("d"))
        };
        let y = |path: &str| -> f64 {
            let y = path.split(['M', ' ', 'V', 'H', 'L']).nth(2).unwrap();
            y.parse().unwrap()
        };
        assert_eq!(is("axis").map(y).next(), is("whisker").map(y).next());
    }
}

#[test]
fn an_interval_beyond_the_axis_has_an_arrow_head_there_and_words_that_say_so() {
    let whiskers = |chart: &Chart| -> Vec<String> {
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let is_whisker = |node: &roxmltree::Node<'_, '_>| {
            node.attribute("class").is_some_and(|name| name.starts_with("whisker"))
        };
        let paths = document.descendants().filter(is_whisker);
        paths.filter_map(|node| node.attribute("d").map(str::to_owned)).collect()
    };
    // An arrow head has two strokes, a cap one.
    let n_heads = |chart: &Chart| {
        let strokes = whiskers(chart).iter().map(|path| path.matches('L').count() - 3).sum();
        let strokes: usize = strokes;
        strokes
    };
    let inside = whiskered(1.5);
    assert_eq!((n_heads(&inside), inside.beyond()), (0, None));
    let mut both = whiskered(0.001);
    assert_eq!(n_heads(&both), 1);
    both.traces[0].points[0].band = Some((0.001, f64::INFINITY));
    assert_eq!(n_heads(&both), 2);
    assert!(both.caption().is_some_and(|words| words.ends_with("goes on beyond the axis.")));
    assert!(both.summary().ends_with("goes on beyond the axis."));
    // In a forest plot, arrow heads point to the left and to the right.
    let charts = of_comparison(&studies::comparison());
    let mut forest = charts.into_iter().find(|chart| chart.id == "ratios").expect("it is made");
    assert_eq!(forest.beyond(), None);
    forest.traces.truncate(1);
    forest.traces[0].points.truncate(1);
    forest.traces[0].points[0].band = Some((0.0, f64::INFINITY));
    let path = whiskers(&forest).remove(0);
    let numbers = |part: &str| -> Vec<(f64, f64)> {
        let two = |at: &str| {
            let (x, y) = at.split_once(' ').expect("two numbers");
            (x.parse().expect("a number"), y.parse().expect("a number"))
        };
        part.split('L').map(two).collect()
    };
    let parts: Vec<Vec<(f64, f64)>> = path.split('M').skip(1).map(numbers).collect();
    let [whole, low, high] = parts.as_slice() else { panic!("{path}") };
    assert_eq!((low[1], high[1]), (whole[0], whole[1]));
    assert!(low[0].0 > low[1].0 && high[0].0 < high[1].0, "{path}");
}

#[test]
fn intervals_at_the_same_number_stand_beside_each_other() {
    let chart = whiskered(1.5);
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
fn rows_of_a_forest_plot_stand_below_each_other_with_values_from_left_to_right() {
    let charts = of_comparison(&studies::comparison());
    let ratios = charts.iter().find(|chart| chart.id == "ratios").expect("it is made");
    assert!(ratios.is_forest);
    let names = &ratios.x.categories;
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
    let charts = of_comparison(&studies::comparison());
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
    let texts_of = |chart: &Chart| -> Vec<String> {
        let svg = chart.to_svg(Drawn::WIDE);
        let document = roxmltree::Document::parse(&svg).unwrap();
        let words = document.descendants().filter_map(|node| node.text().map(str::to_owned));
        words.collect()
    };
    let has = |chart: &Chart, words: &[&str]| {
        let all = texts_of(chart);
        words.iter().all(|word| all.iter().any(|text| text == word))
    };
    assert!(has(&chart, &["time in the measured phase (s)"]));
    for (to, words) in [
        (1_200.0, ["0:00", "0:05", "0:10", "time in the measured phase (h:min)"]),
        (28_800.0, ["0:00", "2:00", "4:00", "time in the measured phase (h:min)"]),
    ] {
        chart.x.range = Some((-10.0, to));
        assert!(has(&chart, &words), "{:?}", texts_of(&chart));
    }
}
