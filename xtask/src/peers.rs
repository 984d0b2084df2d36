//! `cargo xtask peers`: compares sysbench and pgbench (the peers) with dbdyno on the same servers
//! and tables.
//!
//! Each case has a number of rounds; a round runs the peer and dbdyno one after the other, in
//! alternating order. The program reports its throughput, and the operating system the CPU time and
//! memory of the finished process. Ratios are computed within a round, so that effects of the
//! machine on both cancel. Not here: expected figures.

mod cases;
mod measure;
mod table;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use servers::Server;

use crate::cargo;
use cases::{CASES, Case, Where};
use measure::{Measured, Program};
use table::Row;

/// Options of the command line of `cargo xtask peers`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Asked {
    /// Number of rounds in which each case is run.
    rounds: usize,
    /// Duration of each run of a program, in seconds.
    seconds: u32,
    /// Text that the line of a case must contain for the case to run; `None` runs all cases.
    only: Option<String>,
    /// Placements of dbdyno's clients (threads or event loops), each a separate variant in every
    /// round.
    placements: Vec<String>,
    /// Numbers of clients for every case; empty for each case's own.
    clients: Vec<u32>,
    /// True to run the minimal client (example `bare` of `drivers`) too, for cases that it
    /// supports.
    bare: bool,
    /// Paths of dbdyno programs to measure, each a separate variant in every round. If empty, one
    /// is built.
    dbdyno: Vec<PathBuf>,
}

/// A way to run dbdyno: a program, with a placement of its clients. Each variant is run in every
/// round.
struct Variant<'a> {
    program: &'a Path,
    /// True if the program is the minimal client, not dbdyno.
    is_bare: bool,
    placement: &'a str,
    /// Name of the variant in the table of results, which tells it from the other variants.
    name: String,
}

/// Compares sysbench and pgbench with dbdyno in the selected cases, and prints the table of
/// results.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Result<bool> {
    let mut asked = Asked::read(arguments)?;
    for (program, package) in [("sysbench", "sysbench"), ("pgbench", "postgresql")] {
        if Command::new(program).arg("--version").stdout(Stdio::null()).status().is_err() {
            bail!("{program} is not there: apt-get install {package}");
        }
    }
    if asked.dbdyno.is_empty() {
        asked.dbdyno.push(cargo::build(root, &["--release", "--package", "dbdyno"])?);
    }
    let bare = match asked.bare {
        true => {
            Some(cargo::build(root, &["--release", "--package", "drivers", "--example", "bare"])?)
        }
        false => None,
    };
    let (variants, dbdyno) = (asked.variants(bare.as_deref()), &asked.dbdyno[0]);
    let mut rows = Vec::new();
    for place in Where::ALL {
        let wanted: Vec<(&Case, u32)> = asked.cases(*place).collect();
        if wanted.is_empty() {
            continue;
        }
        let server = place.start()?;
        eprintln!("{} {}", place.title(), server.version());
        let mut built = Vec::new();
        for (case, clients) in wanted {
            for data in case.data {
                if !built.contains(data) {
                    data.make(dbdyno, &server)?;
                    built.push(*data);
                }
            }
            rows.extend(compare(&asked, &variants, &server, case, clients)?);
        }
    }
    if rows.is_empty() {
        bail!("no case is named so; 'cargo xtask peers --list' names them all");
    }
    println!("{}", table::head(&asked, dbdyno)?);
    println!("{}", table::markdown(&rows));
    if variants.len() > 1 {
        println!("\n{}", table::among_ours(&rows));
    }
    Ok(true)
}

/// Prints the names of the compared cases, one per line.
pub(crate) fn list() {
    for case in CASES {
        for clients in case.clients {
            println!("{}", case.line(*clients));
        }
    }
}

/// Runs a case in all rounds; returns a row for each variant, compared with the peer.
fn compare(
    asked: &Asked,
    variants: &[Variant<'_>],
    server: &Server,
    case: &'static Case,
    clients: u32,
) -> Result<Vec<Row>> {
    let mut programs = vec![case.peer.program(server, clients, asked.seconds)];
    let variants: Vec<&Variant<'_>> =
        variants.iter().filter(|variant| !variant.is_bare || case.has_bare_client()).collect();
    for Variant { program, is_bare, placement, .. } in &variants {
        let load = (clients, asked.seconds);
        programs.push(match is_bare {
            true => Program::bare(program, server, load, placement),
            false => Program::ours(program, server, case.workload, load, placement),
        });
    }
    let mut rounds: Vec<Vec<Measured>> = Vec::new();
    for round in 0..asked.rounds {
        let mut measured = vec![None; programs.len()];
        for index in order(programs.len(), round) {
            measured[index] = Some(programs[index].measure().with_context(|| case.line(clients))?);
        }
        let measured: Vec<Measured> = measured.into_iter().flatten().collect();
        let rates: Vec<String> =
            measured.iter().map(|one| format!("{:.0}", one.queries_per_s())).collect();
        let rates = rates.join(", ");
        eprintln!("  {} round {}: {rates} queries/s", case.line(clients), round + 1);
        rounds.push(measured);
    }
    let rows = variants.iter().enumerate().map(|(index, variant)| Row {
        case,
        clients,
        ours: variant.name.clone(),
        server: server.version().to_owned(),
        rounds: rounds.iter().map(|round| [round[0], round[index + 1]]).collect(),
    });
    Ok(rows.collect())
}

/// Returns the order of the programs in a round. The order moves on by one program every two
/// rounds, and every second round is reversed.
fn order(n_programs: usize, round: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_programs).collect();
    order.rotate_left(round / 2 % n_programs);
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

impl Asked {
    fn read(arguments: &[&str]) -> Result<Asked> {
        let mut asked = Asked {
            rounds: 10,
            seconds: 5,
            only: None,
            placements: vec!["auto".to_owned()],
            clients: Vec::new(),
            bare: false,
            dbdyno: Vec::new(),
        };
        let mut left = arguments.iter();
        while let Some(name) = left.next() {
            let mut value = || left.next().with_context(|| format!("{name} needs a value"));
            match *name {
                "--rounds" => asked.rounds = number(name, value()?)?,
                "--seconds" => asked.seconds = number(name, value()?)?,
                "--only" => asked.only = Some((*value()?).to_owned()),
                "--placements" => asked.placements = placements(value()?)?,
                "--clients" => {
                    let numbers = value()?.split(',').map(|text| number(name, text));
                    asked.clients = numbers.collect::<Result<_>>()?;
                }
                "--bare" => asked.bare = true,
                "--dbdyno" => asked.dbdyno = value()?.split(',').map(PathBuf::from).collect(),
                _ => bail!(
                    "there is no option {name}; there are --rounds N, --seconds N, --only TEXT, \
                     --placements thread,loop,auto, --clients N,N, --bare, --dbdyno PROGRAM,PROGRAM \
                     and --list"
                ),
            }
        }
        Ok(asked)
    }

    /// Returns all variants: each dbdyno program with each placement of clients, and the minimal
    /// client `bare`, if given, with those placements that it supports.
    fn variants<'a>(&'a self, bare: Option<&'a Path>) -> Vec<Variant<'a>> {
        let mut variants = Vec::new();
        for (index, program) in self.dbdyno.iter().enumerate() {
            for placement in &self.placements {
                let name = match self.dbdyno.len() {
                    1 => placement.clone(),
                    _ => format!("{placement}, program {}", index + 1),
                };
                variants.push(Variant { program, is_bare: false, placement, name });
            }
        }
        for placement in self.placements.iter().filter(|placement| *placement != "auto") {
            let name = format!("{placement}, bare client");
            variants.extend(bare.map(|program| Variant {
                program,
                is_bare: true,
                placement,
                name,
            }));
        }
        variants
    }

    fn cases(&self, place: Where) -> impl Iterator<Item = (&'static Case, u32)> {
        let here = CASES.iter().filter(move |case| case.place == place);
        let numbers = |case: &'static Case| match self.clients.is_empty() {
            true => case.clients.to_vec(),
            false => self.clients.clone(),
        };
        let all = here.flat_map(move |case| numbers(case).into_iter().map(move |n| (case, n)));
        all.filter(|(case, clients)| {
            self.only.as_ref().is_none_or(|only| case.line(*clients).contains(only.as_str()))
        })
    }
}

/// Parses names of placements (threads or event loops) separated by commas. Fails if one is unknown
/// or repeated.
fn placements(text: &str) -> Result<Vec<String>> {
    let mut placements: Vec<String> = Vec::new();
    for name in text.split(',') {
        if !["thread", "loop", "auto"].contains(&name)
            || placements.iter().any(|known| known == name)
        {
            bail!("--placements {text}: some of thread, loop and auto are expected, each once");
        }
        placements.push(name.to_owned());
    }
    Ok(placements)
}

fn number<T: std::str::FromStr + PartialOrd + From<u8>>(name: &str, text: &str) -> Result<T> {
    let number = text.parse().ok().filter(|number| *number >= T::from(1));
    number.with_context(|| format!("{name} {text}: a number from 1 is expected"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read_or_named() {
        let asked = Asked::read(&["--rounds", "3", "--only", "point"]).expect("valid");
        assert_eq!((asked.rounds, asked.seconds, asked.only.as_deref()), (3, 5, Some("point")));
        let asked = Asked::read(&["--placements", "thread,loop", "--clients", "1,64"]);
        let asked = asked.expect("valid");
        assert_eq!((asked.placements.len(), asked.clients.as_slice()), (2, &[1, 64][..]));
        assert!(asked.cases(Where::MySql).map(|(_, clients)| clients).eq([1, 64]));
        let asked = Asked::read(&["--placements", "thread,loop", "--dbdyno", "a,b"]);
        let asked = asked.expect("valid");
        let names: Vec<String> = asked.variants(None).into_iter().map(|it| it.name).collect();
        let expect =
            ["thread, program 1", "loop, program 1", "thread, program 2", "loop, program 2"];
        assert_eq!(names, expect);
        for (wrong, expect) in [
            (["--rounds", "0"], "a number from 1"),
            (["--clients", "8,0"], "a number from 1"),
            (["--placements", "loop,loop"], "each once"),
            (["--placements", "simulated"], "some of thread, loop and auto"),
            (["--users", "8"], "no option --users"),
        ] {
            let error = Asked::read(&wrong).expect_err("wrong");
            assert!(error.to_string().contains(expect), "{error}");
        }
        assert!(Asked::read(&["--seconds"]).is_err());
    }

    #[test]
    fn every_program_runs_once_a_round_and_begins_as_often_as_the_others() {
        for n_programs in 2..5 {
            let mut begun = vec![0; n_programs];
            for round in 0..4 * n_programs {
                let order = order(n_programs, round);
                begun[order[0]] += 1;
                let unique: std::collections::BTreeSet<usize> = order.into_iter().collect();
                assert_eq!(unique.len(), n_programs);
            }
            assert!(begun.iter().all(|n| *n == 4), "{begun:?}");
        }
    }

    #[test]
    fn every_case_has_a_line_of_its_own() {
        let lines = |case: &'static Case| case.clients.iter().map(|n| case.line(*n));
        let all: Vec<String> = CASES.iter().flat_map(lines).collect();
        let unique: std::collections::BTreeSet<&String> = all.iter().collect();
        assert_eq!(all.len(), unique.len());
    }
}
