//! `dbdyno history`: a figure over the builds of what is measured.

use clap::{Arg, ArgAction, ArgMatches, Command};
use lab::compare::history as hold;
use results::render::{as_json, history as page, history_csv, history_markdown};

use super::compare::{judge, judged};
use super::runs::store;
use super::{DONE, FAILED, Outcome, flags, print};

pub(crate) fn command() -> Command {
    Command::new("history")
        .about("Shows a figure over builds, and where its level has changed")
        .after_help("Builds are the values of a label, in the order of versions: dbdyno runs label RUN build=1.2")
        .arg(
            Arg::new("by")
                .long("by")
                .value_name("LABEL")
                .default_value("build")
                .help("The label whose values are the builds"),
        )
        .args(judged())
        .arg(
            Arg::new("fail_on_regression")
                .long("fail-on-regression")
                .action(ArgAction::SetTrue)
                .help("End with exit code 1 if the last build is worse"),
        )
}

pub(crate) fn history(matches: &ArgMatches) -> Outcome {
    let by = matches.get_one::<String>("by").expect("it has a default");
    let report = hold(&store(matches)?, by, &judge(matches)?)?;
    match flags::output_of(matches) {
        "json" => print(&as_json(&report)),
        "markdown" => print(&history_markdown(&report)),
        "csv" => print(&history_csv(&report)),
        _ => print(&page(&report)),
    }?;
    Ok(if report.has_regressed() && matches.get_flag("fail_on_regression") { FAILED } else { DONE })
}
