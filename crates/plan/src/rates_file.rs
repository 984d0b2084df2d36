//! Files of arrival rates, as exported from spreadsheets or monitoring systems: each line has a
//! second and the rate from then on.

use model::{ArrivalRate, NS_PER_S};

/// Largest accepted size of a file of arrival rates, in bytes: about four times that of a line per
/// minute for a year.
const BYTES_MAX: u64 = 64 << 20;

/// Reads a file of `second,rate` lines; a header, empty lines and lines that begin with `#` are
/// skipped. Each rate applies until the second of the next line, and the last one to the end. An
/// error has the line and the reason.
pub(crate) fn read(path: &str) -> Result<ArrivalRate, String> {
    let text = files::read_text(path, BYTES_MAX)
        .map_err(|error| format!("the file of rates '{path}' cannot be read: {error}"))?;
    from_lines(&text).map_err(|(line, why)| format!("{path}:{line}: {why}"))
}

fn from_lines(text: &str) -> Result<ArrivalRate, (usize, String)> {
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut last_line = 1;
    for (index, line) in text.lines().enumerate() {
        let line_number = index + 1;
        let bad = |why: &str| (line_number, why.to_owned());
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let fields: Vec<&str> = line.split([',', ';', '\t']).map(str::trim).collect();
        let &[second, rate] = &fields[..] else {
            return Err(bad("a line is a second and a rate, such as 30,1500"));
        };
        let (Ok(second), Ok(rate)) = (second.parse::<f64>(), rate.parse::<f64>()) else {
            if points.is_empty() && index == 0 {
                continue;
            }
            return Err(bad("a line is a second and a rate, such as 30,1500"));
        };
        let is_first = points.is_empty();
        if !second.is_finite() || !rate.is_finite() || rate < 0.0 {
            return Err(bad("second and rate are numbers, and the rate is not below zero"));
        }
        if is_first && second != 0.0 {
            return Err(bad("the first line is for second 0"));
        }
        if points.last().is_some_and(|before| before.0 >= second) {
            return Err(bad("the seconds must rise from line to line"));
        }
        points.push((second, rate));
        last_line = line_number;
    }
    if points.is_empty() {
        return Err((last_line, "it has no line of a second and a rate".to_owned()));
    }
    let until = |index: usize| points.get(index + 1).map_or(0.0, |next| next.0 - points[index].0);
    let step = |(index, point): (usize, &(f64, f64))| {
        (point.1, (until(index) * NS_PER_S as f64).round() as u64)
    };
    let steps = points.iter().enumerate().map(step).collect();
    ArrivalRate::Steps(steps).checked().map_err(|why| (last_line, why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_steps() {
        let rate = from_lines("second,rate\n# night\n0,100\n30.5,2000\n\n60;500\n").unwrap();
        assert_eq!(rate.to_string(), "steps 100 for 30.5s, 2000 for 29.5s, 500");
    }

    #[test]
    fn a_line_that_is_none_is_named() {
        for (text, line, why) in [
            ("", 1, "no line"),
            ("0,100\n30", 2, "a second and a rate"),
            ("0,100\nx,5", 2, "a second and a rate"),
            ("5,100", 1, "second 0"),
            ("0,1\n9,1\n9,2", 3, "rise"),
            ("0,-1", 1, "below zero"),
            ("0,0\n5,0", 2, "the rate is never above zero"),
        ] {
            let (at, said) = from_lines(text).expect_err(text);
            assert!(at == line && said.contains(why), "{text:?}: {at}: {said}");
        }
    }
}
