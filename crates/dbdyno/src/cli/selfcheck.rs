//! `dbdyno selfcheck`: the instrument, measured.

use clap::{Arg, ArgMatches, Command};
use lab::Trouble;
use lab::selfcheck::{Item, Verdict, selfcheck as check};

use super::{DONE, FAILED, Outcome, flags, print};

pub(crate) fn command() -> Command {
    Command::new("selfcheck")
        .about("Checks the instrument itself: exactness, accuracy, cost and lateness")
        .arg(
            Arg::new("seeds")
                .long("seeds")
                .value_name("FIRST..LAST")
                .default_value("1..20")
                .help("Seeds of the runs that are held against the closed form"),
        )
}

pub(crate) fn selfcheck(matches: &ArgMatches) -> Outcome {
    let text = matches.get_one::<String>("seeds").expect("it has a default");
    let seeds = text.split_once("..").and_then(|(first, last)| {
        let last = last.trim_start_matches('=');
        Some((first.parse::<u64>().ok()?, last.parse::<u64>().ok()?))
    });
    let (first, last) = seeds.filter(|(first, last)| first < last).ok_or_else(|| {
        Trouble::Usage(format!("--seeds: '{text}' is not FIRST..LAST, such as 1..20"))
    })?;
    let stop = super::stop_on_signals();
    let is_json = flags::is_json(matches);
    let checked = check(first..=last, &stop, &mut |item| {
        if !is_json {
            // A reader who has left is told nothing more.
            let _ = print(&told(item));
        }
    })?;
    if is_json {
        let value = serde_json::to_value(&checked).expect("figures and words are JSON");
        print(&format!("{value:#}\n"))?;
    } else {
        print(match checked.is_good() {
            true => "the instrument is in order\n",
            false => "the instrument is OUT OF ORDER: do not trust its numbers\n",
        })?;
    }
    Ok(if checked.is_good() { DONE } else { FAILED })
}

fn told(item: &Item) -> String {
    let verdict = match item.verdict {
        Verdict::Good => "good  ",
        Verdict::Missed => "missed",
        Verdict::Broken => "BROKEN",
    };
    let mut text = format!("{verdict}  {}\n", item.what);
    for (name, value) in &item.figures {
        let value = match value.fract() == 0.0 {
            true => model::format_count(*value as u64),
            false => format!("{value:.3}"),
        };
        text += &format!("          {name:<28} {value:>14}\n");
    }
    text + &format!("          target: {}\n", item.target)
}
