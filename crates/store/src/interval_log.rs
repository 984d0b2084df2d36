//! The response times of a run, second by second, as HdrHistogram's interval log, the format of its
//! HistogramLogAnalyzer and HistogramLogProcessor (hdrhistogram.org, format 1.3).
//!
//! Values are nanoseconds. A line without a tag covers a whole second; lines with a tag are its
//! transaction types, as `group.kind` if there are several groups. Only the measured phase is
//! included, since tools sum all lines. Not here: failed and lost transactions, which have no
//! response time (see the report's `offered_ms`).

use std::collections::BTreeMap;
use std::time::{Duration, UNIX_EPOCH};

use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriter, IntervalLogWriterBuilder, Tag};
use model::{Description, Event, NS_PER_MS, NS_PER_S, RunId, Second};
use stats::Histogram;

use crate::{Store, StoreError};

/// First line of an HdrHistogram interval log, after its `#`.
const VERSION: &str = "[Histogram log format version 1.3]";

/// Line with the column names of an interval log, above the first interval.
const LEGEND: &str = "\"StartTimestamp\",\"Interval_Length\",\"Interval_Max\",\
                      \"Interval_Compressed_Histogram\"\n";

/// Nanoseconds per unit of the maxima in an interval log: milliseconds, as in HdrHistogram's own
/// writer.
const NS_PER_MAX: f64 = NS_PER_MS as f64;

/// Significant decimal digits of the written histograms, as in dbdyno's own.
const DIGITS: u8 = 3;

/// Returns the response times of a run's measured phase, second by second, as the text of an
/// HdrHistogram interval log. Values are in nanoseconds.
pub fn interval_log(store: &Store, run: &RunId) -> Result<String, StoreError> {
    let Event::Begun { description, .. } = store.begun(run)? else {
        unreachable!("a beginning is what was asked for");
    };
    let measured_ns = store.row(run)?.and_then(|row| row.measured_ns);
    let shown = store.fact(run, "client", "measured_from_unix_ms")?;
    let started_ms = shown.and_then(|ms| ms.integer()).unwrap_or_else(|| planned_ms(&description));
    let mut log = Log::begin(run, &description, started_ms, measured_ns);
    store.seconds(run, &mut |second| log.put(second))?;
    Ok(log.end())
}

/// Returns the planned start of the measured phase, in milliseconds since 1970, for a run that did
/// not record when the phase started.
fn planned_ms(description: &Description) -> i64 {
    description.started_unix_ms + (description.phases.ramp_up_ns / NS_PER_MS) as i64
}

/// An interval log under construction. Holds the second whose parts are being added up.
struct Log<'a> {
    description: &'a Description,
    measured_ns: Option<u64>,
    text: Vec<u8>,
    serializer: V2DeflateSerializer,
    open: Option<Open>,
}

/// Response times of the second that is being added up: of all groups together, and by tag
/// (transaction type).
struct Open {
    second: i64,
    all: Histogram,
    by_tag: BTreeMap<String, Histogram>,
}

impl<'a> Log<'a> {
    fn begin(
        run: &RunId,
        description: &'a Description,
        started_ms: i64,
        measured_ns: Option<u64>,
    ) -> Log<'a> {
        let mut log = Log {
            description,
            measured_ns,
            text: Vec::new(),
            serializer: V2DeflateSerializer::new(),
            open: None,
        };
        let started = Duration::from_millis(u64::try_from(started_ms).unwrap_or(0));
        let Description { dbdyno, database, .. } = description;
        let header = IntervalLogWriterBuilder::new()
            .add_comment(&format!("[Logged by dbdyno {dbdyno}, run {run}]").replace('\n', " "))
            .add_comment(VERSION)
            .add_comment(&format!("[Response times in ns on {database}]").replace('\n', " "))
            .with_start_time(UNIX_EPOCH + started)
            .begin_log_with(&mut log.text, &mut log.serializer)
            .map(drop);
        header.expect("memory takes everything");
        log.text.extend(LEGEND.as_bytes());
        log
    }

    fn put(&mut self, part: Second) {
        let end = self.measured_ns.map(|ns| ns.div_ceil(NS_PER_S) as i64);
        if part.second < 0 || end.is_some_and(|end| part.second >= end) {
            return;
        }
        let next = self.open.as_ref().map_or(0, |open| open.second + 1);
        if self.open.as_ref().is_none_or(|open| open.second != part.second) {
            self.close();
            // Seconds without any end of a transaction are written too: they are what one looks
            // for.
            for second in next..part.second {
                self.open = Some(Open::new(second));
                self.close();
            }
            self.open = Some(Open::new(part.second));
        }
        let open = self.open.as_mut().expect("it was just opened");
        for kind in &part.kinds {
            let Some(response) = &kind.response else { continue };
            open.all.add(response);
            let tag = tag(self.description, part.group, kind.kind);
            open.by_tag.entry(tag).or_default().add(response);
        }
    }

    fn close(&mut self) {
        let Some(Open { second, all, by_tag }) = self.open.take() else { return };
        let start = Duration::from_secs(u64::try_from(second).unwrap_or(0));
        let left_ns = self.measured_ns.map(|ns| ns.saturating_sub(start.as_nanos() as u64));
        let length = Duration::from_nanos(left_ns.unwrap_or(NS_PER_S).min(NS_PER_S));
        let mut builder = IntervalLogWriterBuilder::new();
        builder.with_max_value_divisor(NS_PER_MAX);
        let n_before = self.text.len();
        let writer = builder.begin_log_with(&mut self.text, &mut self.serializer);
        let mut writer = writer.expect("memory takes everything");
        put_line(&mut writer, &all, start, length, None);
        for (tag, histogram) in &by_tag {
            put_line(&mut writer, histogram, start, length, Tag::new(tag));
        }
        // The encoder writes a header for a divisor, which is allowed only at the start of the log.
        let header = self.text[n_before..].iter().position(|byte| *byte == b'\n');
        let is_header = self.text.get(n_before) == Some(&b'#');
        if let Some(end) = header.filter(|_| is_header) {
            self.text.drain(n_before..=n_before + end);
        }
    }

    fn end(mut self) -> String {
        self.close();
        String::from_utf8(self.text).expect("only text was put in")
    }
}

impl Open {
    fn new(second: i64) -> Open {
        Open { second, all: Histogram::default(), by_tag: BTreeMap::new() }
    }
}

fn put_line(
    writer: &mut IntervalLogWriter<'_, '_, Vec<u8>, V2DeflateSerializer>,
    histogram: &Histogram,
    start: Duration,
    length: Duration,
    tag: Option<Tag<'_>>,
) {
    let written = writer.write_histogram(&plain(histogram), start, length, tag);
    written.expect("memory takes everything, and counts fit into 64 bits");
}

/// Converts dbdyno's histogram to one of the library `hdrhistogram`; values above the library's
/// range count as its maximum.
fn plain(histogram: &Histogram) -> hdrhistogram::Histogram<u64> {
    let highest = histogram.range().highest_ns.max(histogram.max());
    let made = hdrhistogram::Histogram::new_with_bounds(1, highest, DIGITS);
    let mut plain = made.expect("ranges are from 2 up, and digits are 3");
    for (value_ns, n) in histogram.recorded() {
        plain.record_n(value_ns, n).expect("its range reaches our maximum");
    }
    plain
}

/// Returns the tag of a transaction type in an interval log: its name, after that of its group if
/// there are several. Blanks and commas, which tags cannot have, become `_`.
fn tag(description: &Description, group: u16, kind: u16) -> String {
    let shown = description.groups.get(usize::from(group));
    let name = shown.and_then(|shown| shown.kinds.get(usize::from(kind)));
    let name = name.map_or_else(|| format!("kind_{kind}"), |kind| kind.name.clone());
    let name = match shown {
        Some(shown) if description.groups.len() > 1 => format!("{}.{name}", shown.name),
        _ => name,
    };
    name.replace([' ', ',', '\r', '\n'], "_")
}

#[cfg(test)]
mod tests;
