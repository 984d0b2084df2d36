//! `dbdyno config`: shows and changes the user's lasting defaults. Not here: which there are
//! (`crate::settings`).

use app::Error;
use clap::{Arg, ArgMatches, Command};
use render::document::Block;
use render::terminal::PAGE_WIDTH;
use render::{Column, Document, Table};
use serde_json::{Map, Value};

use super::{DONE, Outcome, flags, print_document};
use crate::settings::{SETTINGS, by_name, file, write};
use crate::shell::Shell;

pub(crate) fn command() -> Command {
    let name = || {
        Arg::new("name")
            .required(true)
            .value_name("NAME")
            .help("Setting, such as store ('dbdyno config' lists all)")
    };
    Command::new("config")
        .about("Shows or sets lasting defaults, such as the target or the store")
        .after_help(
            "What a flag, a plan or an environment variable says goes before these defaults.",
        )
        .subcommand(
            Command::new("set").about("Sets a default").arg(name()).arg(
                Arg::new("value")
                    .required(true)
                    .value_name("VALUE")
                    .allow_hyphen_values(true)
                    .help("Its value"),
            ),
        )
        .subcommand(Command::new("unset").about("Removes a default").arg(name()))
}

pub(crate) fn config(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let file = file(&|name| shell.variable(name)).ok_or_else(|| {
        let why = "neither XDG_CONFIG_HOME nor HOME is set: there is no place for settings";
        Error::Usage(why.to_owned())
    })?;
    let text = |matches: &ArgMatches, name| matches.get_one::<String>(name).cloned();
    let (sub, value) = match matches.subcommand() {
        None => return show(&file.display().to_string(), matches, shell),
        Some(("set", sub)) => (sub, text(sub, "value")),
        Some((_, sub)) => (sub, None),
    };
    let setting = by_name(&text(sub, "name").unwrap_or_default())?;
    write(&file, setting, value.as_deref())?;
    let said = match value {
        Some(value) => format!("{} is {value} from now on ({})", setting.name, file.display()),
        None => format!("{} is again {} ({})", setting.name, setting.default, file.display()),
    };
    shell.say(&said);
    Ok(DONE)
}

/// Prints each of the user's lasting defaults with its value, and the path of the file that keeps
/// them.
fn show(file: &str, matches: &ArgMatches, shell: &Shell) -> Outcome {
    if flags::is_json(matches) {
        let all = SETTINGS.iter().map(|setting| {
            let value = shell.setting(setting.name).map_or(Value::Null, Value::from);
            (setting.name.to_owned(), value)
        });
        return shell.print(&format!("{:#}\n", Value::Object(all.collect::<Map<_, _>>())));
    }
    let columns = [
        Column::words("name", "name"),
        Column::sentences("value").key("value"),
        Column::words("values", "may be"),
        Column::sentences("what it is").key("help"),
    ];
    let row = |setting: &crate::settings::Setting| {
        let value = match shell.setting(setting.name) {
            Some(value) => value.to_owned(),
            None => format!("{} (default)", setting.default),
        };
        vec![setting.name.into(), value.into(), setting.values.into(), setting.help.into()]
    };
    let table = Table::filled("config", "", columns, SETTINGS.iter().map(row).collect());
    let mut page = Document::new("Lasting defaults", "Lasting defaults");
    let place = format!("kept in {file}; dbdyno config set NAME VALUE sets one");
    page.section("config", "", vec![Block::Table(table), Block::paragraphs([place])]);
    print_document(&page, PAGE_WIDTH, matches, shell)
}
