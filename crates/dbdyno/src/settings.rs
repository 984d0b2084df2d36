//! Lasting defaults of the user (`dbdyno config`), in a file below `$XDG_CONFIG_HOME` (XDG Base
//! Directory Specification). Flags, plans and environment variables override them.
//!
//! Not here: what each default does, which is where it is used.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use app::Error;
use files::write_whole;
use model::Target;
use toml::{Table, Value};

/// Default that the user can set for all later commands.
pub(crate) struct Setting {
    pub(crate) name: &'static str,
    /// Possible values, as the help shows them, such as `FILE|off`.
    pub(crate) values: &'static str,
    /// Text that the help shows for the default while the user has set none.
    pub(crate) default: &'static str,
    pub(crate) help: &'static str,
    check: fn(&str) -> Result<(), String>,
}

pub(crate) const SETTINGS: &[Setting] = &[
    Setting {
        name: "store",
        values: "FILE|off",
        default: "~/.local/share/dbdyno/runs.sqlite",
        help: "File that stores the runs, or off: single runs and builds are not stored",
        check: |value| match value == "off" || Path::new(value).is_absolute() {
            true => Ok(()),
            false => Err("write the whole path from /, or off".to_owned()),
        },
    },
    Setting {
        name: "target",
        values: "URL",
        default: "an embedded database file of the workload",
        help: "Database of commands without --target",
        check: |value| match Target::parse(value) {
            Ok(target) if target.password.is_some() => Err("leave the password out of it: use \
                                                            --ask-password, --password-file or \
                                                            DBDYNO_PASSWORD"
                .to_owned()),
            Ok(target) if plan::managed::is_managed(&target) => {
                plan::managed::read(&target).map(drop).map_err(|bad| bad.to_string())
            }
            Ok(target) => drivers::check(&target).map_err(|bad| bad.to_string()),
            Err(bad) => Err(bad.to_string()),
        },
    },
    Setting {
        name: "report-interval",
        values: "DURATION",
        default: "10s",
        help: "Interval of the report's table, and of the lines of a run without a terminal",
        check: |value| match model::parse_duration(value) {
            Ok(ns) if ns > 0 && ns % model::NS_PER_S == 0 => Ok(()),
            Ok(_) => Err("write whole seconds, such as 5s".to_owned()),
            Err(bad) => Err(bad.to_string()),
        },
    },
    Setting {
        name: "live",
        values: "on|off",
        default: "on",
        help: "Live view and progress; off is --quiet",
        check: is_switch,
    },
    Setting {
        name: "color",
        values: "auto|off",
        default: "auto",
        help: "Colours on a terminal; NO_COLOR turns them off too",
        check: |value| match value {
            "auto" | "off" => Ok(()),
            _ => Err("write auto or off".to_owned()),
        },
    },
];

fn is_switch(value: &str) -> Result<(), String> {
    match value {
        "on" | "off" => Ok(()),
        _ => Err("write on or off".to_owned()),
    }
}

/// Finds a lasting default by name. The error lists the names of all of them.
pub(crate) fn by_name(name: &str) -> Result<&'static Setting, Error> {
    let name = name.replace('_', "-");
    SETTINGS.iter().find(|setting| setting.name == name).ok_or_else(|| {
        let names: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
        Error::Usage(format!("there is no setting '{name}': there are {}", names.join(", ")))
    })
}

/// Returns the path of the file with the user's lasting defaults; `None` if neither XDG_CONFIG_HOME
/// nor HOME names a folder.
pub(crate) fn file(variable: &dyn Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let path = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let config = path("XDG_CONFIG_HOME").or_else(|| path("HOME").map(|home| home.join(".config")));
    config.map(|config| config.join("dbdyno/config.toml"))
}

/// Maximum bytes of the file with the user's lasting defaults, which take about a kilobyte; a
/// larger file is rejected.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// Reads the lasting defaults in a file, by name; empty if the file does not exist. Fails if a name
/// is unknown or a value is invalid.
pub(crate) fn read(file: &Path) -> Result<BTreeMap<String, String>, Error> {
    let bad = |why: &dyn std::fmt::Display| {
        let file = file.display();
        Error::Usage(format!("the settings in {file} cannot be read: {why}: mend or remove it"))
    };
    let text = match files::read_text(file, FILE_BYTES_MAX) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(BTreeMap::new());
        }
        Err(error) => return Err(bad(&error)),
    };
    let table: Table = text.parse().map_err(|error: toml::de::Error| bad(&error.message()))?;
    let mut settings = BTreeMap::new();
    for (name, value) in table {
        let Value::String(value) = value else {
            return Err(bad(&format!("{name} is no text: write {name} = \"...\"")));
        };
        let setting = by_name(&name).map_err(|error| bad(&error))?;
        (setting.check)(&value).map_err(|why| bad(&format!("{name}: {why}")))?;
        settings.insert(setting.name.to_owned(), value);
    }
    Ok(settings)
}

/// Sets a lasting default in a file, or removes it if `value` is `None`; the others stay.
pub(crate) fn write(file: &Path, setting: &Setting, value: Option<&str>) -> Result<(), Error> {
    let mut settings = read(file)?;
    match value {
        Some(value) => {
            let bad = |why| Error::Usage(format!("{} '{value}': {why}", setting.name));
            (setting.check)(value).map_err(bad)?;
            settings.insert(setting.name.to_owned(), value.to_owned());
        }
        None => drop(settings.remove(setting.name)),
    }
    let lines = settings.iter().map(|(name, value)| {
        let value = Value::String(value.clone());
        format!("{name} = {value}\n")
    });
    let failed = |error: std::io::Error| {
        Error::Failed(format!("the settings in {} cannot be written: {error}", file.display()))
    };
    let folder = file.parent().expect("a file of ours has a folder");
    fs::create_dir_all(folder).map_err(failed)?;
    write_whole(file, 0o600, lines.collect::<String>().as_bytes()).map_err(failed)
}
