//! Plans of queries as lines of text. DuckDB draws them as boxes, or writes them as YAML or JSON.
//!
//! Not here: when a query is explained (app).

use std::fmt::Write;

use model::{Explain, Row};

/// Reader of the plan that is chosen for a query.
pub(super) const CHOSEN: Explain = Explain {
    // Versions before YAML draw boxes.
    begin: &["EXPLAIN (FORMAT YAML) ", "EXPLAIN "],
    shape: |row| chosen(row.text(1).unwrap_or_default()),
};

/// Reader of the plan of a query that is executed.
pub(super) const EXECUTED: Explain = Explain {
    begin: &["EXPLAIN (ANALYZE, FORMAT JSON) ", "EXPLAIN ANALYZE "],
    shape: |row: &dyn Row| executed(row.text(1).unwrap_or_default()),
};

/// Key of the estimated number of rows, which varies with each sample of statistics.
const ESTIMATE: &str = "Estimated Cardinality";

/// Returns a plan in YAML as indented lines: an operator each, followed by its properties. Of a
/// plan in boxes, the lines that estimate rows are left out.
fn chosen(plan: &str) -> String {
    if !plan.trim_start().starts_with("- name:") {
        let is_shape = |line: &&str| !(line.contains('~') && line.to_lowercase().contains("row"));
        return plan.lines().filter(is_shape).collect::<Vec<&str>>().join("\n");
    }
    let mut lines: Vec<String> = Vec::new();
    let mut is_estimate = false;
    for line in plan.lines() {
        let (text, indent) = (line.trim(), line.len() - line.trim_start().len());
        if let Some(name) = text.strip_prefix("- name: ") {
            // An operator is 4 columns farther in than its parent.
            lines.push(format!("{}{}", "  ".repeat(indent / 4), bare(name)));
        } else if let Some(item) = text.strip_prefix("- ") {
            if let Some(last) = lines.last_mut().filter(|_| !is_estimate) {
                let joint = if last.ends_with(':') { " " } else { ", " };
                let _ = write!(last, "{joint}{}", bare(item));
            }
        } else if let Some((key, value)) = text.split_once("\":").filter(|_| text.starts_with('"'))
        {
            let key = &key[1..];
            is_estimate = key == ESTIMATE;
            if !is_estimate {
                let depth = "  ".repeat(indent / 4 + 1);
                let line = format!("{depth}  {key}: {}", bare(value.trim()));
                lines.push(line.trim_end().to_owned());
            }
        }
    }
    lines.join("\n")
}

/// Returns a profile in JSON as indented lines: the sums of the query, then each operator with its
/// number of rows and its time. Other texts are returned as they are.
fn executed(profile: &str) -> String {
    if !profile.trim_start().starts_with('{') {
        return profile.to_owned();
    }
    let [mut cpu_s, mut latency_s, mut spilled, mut scanned] = [0.0; 4];
    let mut operators: Vec<(usize, f64, u64, String)> = Vec::new();
    for line in profile.lines() {
        let (text, indent) =
            (line.trim().trim_end_matches(','), line.len() - line.trim_start().len());
        let Some((key, value)) = text.split_once("\": ") else { continue };
        let number = value.parse::<f64>().unwrap_or(0.0);
        let is_whole = operators.is_empty();
        match (key.trim_start_matches('"'), operators.last_mut()) {
            ("cpu_time", _) if is_whole => cpu_s = number,
            ("latency", _) if is_whole => latency_s = number,
            ("system_peak_temp_dir_size", _) if is_whole => spilled = number,
            ("cumulative_rows_scanned", _) if is_whole => scanned = number,
            // An object is 8 columns farther in than its parent.
            ("operator_timing", _) => {
                operators.push((indent.saturating_sub(12) / 8, number, 0, String::new()));
            }
            ("operator_cardinality", Some(last)) => last.2 = number as u64,
            ("operator_name", Some(last)) => last.3 = bare(value).trim().to_owned(),
            _ => {}
        }
    }
    let mut lines = vec![format!(
        "{:.1} ms, CPU {:.1} ms, {scanned} rows scanned, {spilled} bytes of temporary files",
        latency_s * 1e3,
        cpu_s * 1e3
    )];
    lines.extend(operators.into_iter().map(|(depth, took_s, rows, name)| {
        format!("{}{name}  {rows} rows, {:.2} ms", "  ".repeat(depth), took_s * 1e3)
    }));
    lines.join("\n")
}

/// Returns a quoted text without its quotes.
fn bare(text: &str) -> String {
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    inner.replace("\\\"", "\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_an_operator_a_line_with_its_properties_and_without_estimates() {
        let yaml = r#"- name: "TOP_N"
  "Top": "3"
  children: 
    - name: "HASH_JOIN"
      "Conditions": "a = b"
      "Estimated Cardinality": "3051"
      children: 
        - name: "SEQ_SCAN"
          "Projections":
            - "a"
            - "c"
          "Estimated Cardinality": "3051"
"#;
        let expect = "TOP_N\n    Top: 3\n  HASH_JOIN\n      Conditions: a = b\n    SEQ_SCAN\n        \
                      Projections: a, c";
        assert_eq!(chosen(yaml), expect);
        assert_eq!(chosen("│ SEQ_SCAN │\n│ ~3051 rows │"), "│ SEQ_SCAN │");
    }

    #[test]
    fn a_profile_has_the_rows_and_times_of_operators_and_the_sums_of_the_query() {
        let json = r#"{
    "system_peak_temp_dir_size": 4096,
    "cpu_time": 0.0456,
    "cumulative_rows_scanned": 16499,
    "latency": 0.0723,
    "children": [
        {
            "operator_timing": 4.66e-7,
            "cpu_time": 0.9,
            "operator_cardinality": 0,
            "operator_name": "EXPLAIN_ANALYZE",
            "children": [
                {
                    "operator_timing": 0.00014,
                    "operator_cardinality": 3,
                    "operator_name": "TOP_N",
                    "children": []
                }
            ]
        }
    ]
}"#;
        let expect = "72.3 ms, CPU 45.6 ms, 16499 rows scanned, 4096 bytes of temporary files\n\
                      EXPLAIN_ANALYZE  0 rows, 0.00 ms\n  TOP_N  3 rows, 0.14 ms";
        assert_eq!(executed(json), expect);
    }
}
