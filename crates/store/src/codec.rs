//! Encodes events as bytes and text that all later versions can read, and decodes them. Not here:
//! their storage.
//!
//! Seconds, moments and readings are CBOR maps with the field names of `model`, deflated: names
//! repeat in every second and histograms are half zeros, so compression saves most of it. Their
//! rows contain the number of the format. All other events are JSON text.

use std::fmt;
use std::io::{BufRead, BufReader, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use model::Event;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Number of the format of blobs: CBOR, deflated (RFC 8949, RFC 1951). A different format gets
/// another number.
pub(super) const CBOR_DEFLATED: i64 = 1;

/// Maximum bytes of an inflated blob; a larger blob is rejected, since it is damaged or was not
/// written by dbdyno: 64 transaction types with five histograms of the largest size (0.5 MB) are
/// 160 MB.
const INFLATED_BYTES_MAX: u64 = 256 << 20;

/// Reason why stored data cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// The data were written in a form that only a newer dbdyno knows; the text names the form.
    Newer(String),
    Damaged(String),
}

fn damaged(error: impl fmt::Display) -> Unreadable {
    Unreadable::Damaged(error.to_string())
}

/// Encodes a value as a blob of format [`CBOR_DEFLATED`].
pub(super) fn to_blob<T: Serialize>(value: &T) -> Result<Vec<u8>, String> {
    let mut plain = Vec::new();
    ciborium::into_writer(value, &mut plain).map_err(|error| error.to_string())?;
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(&plain).map_err(|error| error.to_string())?;
    encoder.finish().map_err(|error| error.to_string())
}

/// Decodes a value from a blob of format `format`. Fails if the format is unknown or the blob is
/// damaged.
pub(super) fn from_blob<T: DeserializeOwned>(format: i64, blob: &[u8]) -> Result<T, Unreadable> {
    if format != CBOR_DEFLATED {
        return Err(Unreadable::Newer(format!("a blob of format {format}")));
    }
    // Trailing data are not inflated: they could be huge.
    let mut decoder = BufReader::new(DeflateDecoder::new(blob).take(INFLATED_BYTES_MAX));
    let value = ciborium::from_reader(&mut decoder).map_err(damaged)?;
    if !decoder.fill_buf().map_err(damaged)?.is_empty() {
        return Err(damaged("bytes are left over"));
    }
    let n_read = decoder.into_inner().into_inner().total_in();
    match n_read == blob.len() as u64 {
        true => Ok(value),
        false => Err(damaged("bytes are left over")),
    }
}

pub(super) fn to_json<T: Serialize>(value: &T) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

pub(super) fn from_json<T: DeserializeOwned>(text: &str) -> Result<T, Unreadable> {
    serde_json::from_str(text).map_err(damaged)
}

/// Kinds of events that are stored as JSON text. A kind in stored text that is not in this list was
/// written by a newer version.
const KINDS: [&str; 13] = [
    "phase",
    "connected",
    "heartbeats",
    "executions",
    "query_plans",
    "ended",
    "checked",
    "crosschecked",
    "computed",
    "disturbance",
    "gauges",
    "summary",
    "output",
];

/// Returns the kind (its serde tag) of an event that is stored as JSON text; `None` if it is stored
/// otherwise.
pub(super) fn kind_of(event: &Event) -> Option<&'static str> {
    match event {
        Event::Phase { .. } => Some("phase"),
        Event::Connected { .. } => Some("connected"),
        Event::Heartbeats { .. } => Some("heartbeats"),
        Event::Executions { .. } => Some("executions"),
        Event::QueryPlans { .. } => Some("query_plans"),
        Event::Ended { .. } => Some("ended"),
        Event::Checked { .. } => Some("checked"),
        Event::Crosschecked { .. } => Some("crosschecked"),
        Event::Computed { .. } => Some("computed"),
        Event::Disturbance(_) => Some("disturbance"),
        Event::Gauges { .. } => Some("gauges"),
        Event::Summary(_) => Some("summary"),
        Event::Output { .. } => Some("output"),
        Event::Begun { .. }
        | Event::Settings { .. }
        | Event::Readings(_)
        | Event::SummarySoFar(_)
        | Event::CpuProfile(_)
        | Event::Fact(_)
        | Event::Second(_)
        | Event::Clients { .. }
        | Event::Finding(_) => None,
    }
}

/// Decodes an event of kind `kind` from JSON text. Fails if the kind is unknown or the text is
/// damaged.
pub(super) fn event_from_json(kind: &str, text: &str) -> Result<Event, Unreadable> {
    if !KINDS.contains(&kind) {
        return Err(Unreadable::Newer(format!("an event '{kind}'")));
    }
    from_json(text)
}

/// Kind of the event with readings of gauges, whose body is a blob in the table `around`.
pub(super) const READINGS: &str = "readings";
pub(super) const SETTINGS: &str = "settings";
pub(super) const SUMMARY_SO_FAR: &str = "summary_so_far";
pub(super) const CPU_PROFILE: &str = "cpu_profile";

/// Decodes an event of kind `kind` from a blob of format `format`.
pub(super) fn event_from_blob(kind: &str, format: i64, blob: &[u8]) -> Result<Event, Unreadable> {
    match kind {
        READINGS => from_blob(format, blob).map(Event::Readings),
        SETTINGS => from_blob(format, blob).map(|settings| Event::Settings { settings }),
        SUMMARY_SO_FAR => from_blob(format, blob).map(Event::SummarySoFar),
        CPU_PROFILE => from_blob(format, blob).map(Event::CpuProfile),
        kind => Err(Unreadable::Newer(format!("an event '{kind}'"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_blob_of_another_format_or_damaged_is_told_apart() {
        let blob = to_blob(&vec![1_u32, 2, 3]).expect("numbers can be written");
        assert_eq!(from_blob::<Vec<u32>>(CBOR_DEFLATED, &blob), Ok(vec![1, 2, 3]));
        assert!(matches!(from_blob::<Vec<u32>>(2, &blob), Err(Unreadable::Newer(_))));
        let mut plain = Vec::new();
        DeflateDecoder::new(blob.as_slice()).read_to_end(&mut plain).expect("it was deflated");
        plain.resize(1 << 20, 0);
        let mut longer = DeflateEncoder::new(Vec::new(), Compression::fast());
        longer.write_all(&plain).expect("memory takes everything");
        let longer = longer.finish().expect("memory takes everything");
        let behind = [&blob[..], &[0]].concat();
        for bad in [&blob[..blob.len() - 1], &longer, &behind] {
            let read = from_blob::<Vec<u32>>(CBOR_DEFLATED, bad);
            assert!(matches!(read, Err(Unreadable::Damaged(_))), "{read:?}");
        }
    }

    #[test]
    fn an_event_of_the_future_is_not_taken_for_damage() {
        let read = event_from_json("moved", "{}");
        assert!(matches!(read, Err(Unreadable::Newer(_))), "{read:?}");
        let read = event_from_json("phase", "{}");
        assert!(matches!(read, Err(Unreadable::Damaged(_))), "{read:?}");
    }
}
