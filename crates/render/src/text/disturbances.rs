//! What disturbances did, on the page: a line and three rows for each.

use analysis::report::{DisturbanceReport, Latency, Report, WindowReport};
use model::format_count;
use model::numbers::{self, NONE, ms, rate, significant, wrap};

use super::sections;
use crate::table::{Align, Column, Table};
use crate::terminal::{Emphasis, Style};

/// Disturbances told one by one; the JSON has all of them.
const SHOWN_MOST: usize = 8;

/// The last lines of an output that are shown.
const OUTPUT_LINES_MOST: usize = 3;

pub(super) fn disturbances(report: &Report, style: &Style) -> Vec<String> {
    let all = &report.disturbances;
    if all.is_empty() {
        return Vec::new();
    }
    let words =
        "disturbances, and the seconds around them (during: also what began a second before)";
    let mut lines = vec![style.emphasize(Emphasis::Bold, words)];
    for one in all.iter().take(SHOWN_MOST) {
        lines.extend(wrap(&sentence(one), style.width));
        let output: Vec<&str> = one.output.lines().collect();
        let from = output.len().saturating_sub(OUTPUT_LINES_MOST);
        lines.extend(output[from..].iter().map(|line| format!("  > {line}")));
        lines.extend(table(one).map_or_else(Vec::new, |table| table.lines(style.width)));
    }
    if all.len() > SHOWN_MOST {
        lines.push(format!("and {} more: see the JSON", all.len() - SHOWN_MOST));
    }
    lines
}

/// `at 30 s: DROP TABLE big: done in 1.2 s; TPS fell below 90 % of before and was back after 3 s`.
pub(crate) fn sentence(one: &DisturbanceReport) -> String {
    let mut text = format!("at {}: {}", numbers::seconds(one.began_s), one.name);
    if one.name != one.what {
        text += &format!(" ({})", one.what);
    }
    let took = one.ended_s.map(|ended_s| seconds(ended_s - one.began_s));
    let why = || one.why.as_deref().unwrap_or_default();
    text += &match (one.outcome.as_str(), took) {
        ("done", Some(took)) => format!(": done in {took}"),
        ("failed", Some(took)) => format!(": FAILED after {took}: {}", why()),
        ("cut_off", Some(took)) => format!(": cut off after {took}: {}", why()),
        ("skipped", _) => return text + &format!(": not begun: {}", why()),
        _ => ": under way".to_owned(),
    };
    text += &match (one.fell, one.recovery_s) {
        (Some(true), Some(back)) => format!(
            "; TPS fell below 90 % of before, and was back {} after it began",
            numbers::seconds(back)
        ),
        (Some(true), None) => {
            "; TPS fell below 90 % of before, and was not back there within the run".to_owned()
        }
        (Some(false), _) => {
            "; no second had fewer commits than the scatter of those before explains".to_owned()
        }
        // Why nobody can say.
        (None, _) => match one.recovery_s_reason.as_deref() {
            Some(why) => format!("; {why}"),
            None => String::new(),
        },
    };
    if !one.overlaps.is_empty() {
        text += &format!("; in the same seconds: {}", one.overlaps.join(", "));
    }
    text
}

fn seconds(value: f64) -> String {
    match value {
        ..1.0 => format!("{} ms", significant(value * 1e3, 3)),
        _ => numbers::seconds(value),
    }
}

/// The windows around a disturbance as a table; none of one that has none.
pub(crate) fn table(one: &DisturbanceReport) -> Option<Table> {
    let windows = [("before", &one.before), ("during", &one.during), ("after", &one.after)];
    if windows.iter().all(|(_, window)| window.is_none()) {
        return None;
    }
    let mut table = Table::new([
        Column::new("", Align::Left),
        Column::new("seconds", Align::Right),
        Column::new("offered", Align::Right),
        Column::spare("failed", Align::Right, 1),
        Column::new("TPS", Align::Right),
        Column::new("p50 ms (95 %)", Align::Right),
        Column::new("p99 ms (95 %)", Align::Right),
        Column::spare("max", Align::Right, 2),
    ]);
    for (name, window) in windows {
        let name = format!("  {name}");
        match window {
            Some(window) => table.row(row(name, window)),
            None => table.row([vec![name], vec![NONE.to_owned(); 7]].concat()),
        }
    }
    Some(table)
}

fn row(name: String, of: &WindowReport) -> Vec<String> {
    let tps = match (of.tps, &of.tps_ci95) {
        (Some(tps), Some(ci95)) => numbers::with_error(tps, ci95.half_width),
        (tps, _) => rate(tps),
    };
    vec![
        name,
        format!("{} to {}", of.from_s, of.to_s),
        format_count(of.counts.offered),
        format_count(of.counts.failed),
        tps,
        quantile(&of.response_ms, "p50"),
        quantile(&of.response_ms, "p99"),
        ms(of.response_ms.max),
    ]
}

fn quantile(of: &Latency, name: &str) -> String {
    match (of.get(name), of.intervals.get(name)) {
        (Some(value), Some(ends)) => {
            format!("{} ({})", significant(value, 3), sections::interval(*ends))
        }
        (value, _) => ms(value),
    }
}

#[cfg(test)]
mod tests {
    use analysis::fixtures::Made;
    use model::Disturbed;

    use super::*;

    #[test]
    fn a_disturbance_is_a_line_and_three_rows() {
        let mut made = Made::closed();
        made.disturbance(42_000, Some(42_300), Disturbed::Done);
        let page = disturbances(&Report::of(&made.tally()), &Style::default());
        insta::assert_snapshot!(page.join("\n"), @r"
        disturbances, and the seconds around them (during: also what began a second before)
        at 42 s: drop (DROP TABLE big): done in 300 ms; TPS fell below 90 % of before, and was back 1 s
        after it began
                   seconds  offered  failed          TPS  p50 ms (95 %)  p99 ms (95 %)  max
          before  36 to 41    2,311       0  460.2 ± 9.5           13.6           93.0  366
          during  42 to 43      751       0        307.0           13.4           86.1  130
          after   43 to 48    2,296       0     457 ± 11           14.0           92.4  177
        ");
        assert!(page.iter().all(|line| line.chars().count() <= Style::default().width));
    }
}
