//! Reads a file with settings of a server and lists of their values, as the program hammerpost has
//! it (`params.json`): `{"shared_buffers": ["512MB", "1GB"], "wal_buffers": ["32MB", "64MB"]}`.
//!
//! Not here: the values themselves, which are checked as those of `--vary`.

use app::Error;
use clap::Arg;
use plan::{From, VaryDraft};
use serde_json::{Map, Value};

/// Name of the flag for the file.
pub(super) const NAME: &str = "params";
/// Largest size of the file, in bytes.
const BYTES_MAX: u64 = 1 << 20;

pub(super) fn flag() -> Arg {
    Arg::new(NAME).long(NAME).value_name("FILE").help(
        "Vary the server settings in this file of JSON, as hammerpost's params.json \
         ({\"shared_buffers\": [\"512MB\", \"1GB\"]})",
    )
}

/// Returns the settings in a file as parameters to vary, in the order of their names. The first
/// value of each is the baseline.
pub(super) fn read(path: &str) -> Result<Vec<VaryDraft>, Error> {
    let bad = |why: String| Error::Usage(format!("--{NAME}: {path}: {why}"));
    let text = files::read_text(path, BYTES_MAX).map_err(|error| bad(error.to_string()))?;
    let all: Map<String, Value> = serde_json::from_str(&text).map_err(|error| {
        bad(format!(
            "{error}: it has settings with lists of values, {{\"work_mem\": [\"4MB\", ...]}}"
        ))
    })?;
    if all.is_empty() {
        return Err(bad("it has no settings".to_owned()));
    }
    let axis = |(name, values): (String, Value)| {
        let values = match values {
            Value::Array(values) => values,
            one => vec![one],
        };
        let texts: Option<Vec<String>> = values.iter().map(text_of).collect();
        match texts.filter(|texts| !texts.is_empty()) {
            Some(values) => Ok(VaryDraft {
                name: format!("server.{name}"),
                values,
                from: From::Flag(NAME.to_owned()),
            }),
            None => Err(bad(format!("{name}: write a list of values, [\"4MB\", \"8MB\"]"))),
        }
    };
    all.into_iter().map(axis).collect()
}

/// Returns a value as it is written in a configuration; `None` for a list, an object or null.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(is_on) => Some(if *is_on { "on" } else { "off" }.to_owned()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_text(text: &str) -> Result<Vec<(String, Vec<String>)>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("params.json");
        std::fs::write(&path, text).expect("the folder is ours");
        let read = read(path.to_str().expect("UTF-8")).map_err(|error| error.to_string());
        Ok(read?.into_iter().map(|axis| (axis.name, axis.values)).collect())
    }

    #[test]
    fn the_file_of_hammerpost_is_read_as_it_is() {
        let posted = r#"{
            "shared_buffers": ["512MB", "1GB"],
            "wal_buffers": ["32MB", "64MB"]
        }"#;
        let axis = |name: &str, values: [&str; 2]| {
            (format!("server.{name}"), values.map(str::to_owned).to_vec())
        };
        let both =
            vec![axis("shared_buffers", ["512MB", "1GB"]), axis("wal_buffers", ["32MB", "64MB"])];
        assert_eq!(read_text(posted), Ok(both));
        let plain = r#"{"fsync": [true, false], "max_connections": [100, 200.5]}"#;
        let both = vec![axis("fsync", ["on", "off"]), axis("max_connections", ["100", "200.5"])];
        assert_eq!(read_text(plain), Ok(both));
    }

    #[test]
    fn a_file_of_something_else_is_refused_with_its_name() {
        for (text, why) in [
            ("", "it has settings with lists of values"),
            ("[1, 2]", "it has settings with lists of values"),
            ("{}", "it has no settings"),
            (r#"{"a": []}"#, "a: write a list of values"),
            (r#"{"a": [["x"]]}"#, "a: write a list of values"),
            (r#"{"a": null}"#, "a: write a list of values"),
        ] {
            let refused = read_text(text).expect_err(text);
            assert!(refused.contains(why) && refused.contains("params.json"), "{refused}");
        }
        assert!(read("/nowhere/params.json").is_err());
    }
}
