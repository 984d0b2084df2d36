//! Tests of the answers to words of other benchmark programs.

use std::io::Write;
use std::sync::{Arc, Mutex};

use super::*;
use crate::shell::Shell;

#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Write for Said {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Runs a command line; returns its exit code and all that it printed.
fn answer(words: &[&str]) -> (u8, String) {
    let said = Said::default();
    let words: Vec<String> =
        ["dbdyno"].iter().chain(words).map(|word| (*word).to_owned()).collect();
    let code = super::super::run(&words, &Shell::new(said.clone(), said.clone(), |_| None));
    let text = String::from_utf8(said.0.lock().unwrap().clone()).unwrap();
    (code, text)
}

/// Checks that dbdyno's parser rejects every word of other programs in each of its commands, and
/// answers with one sentence.
#[test]
fn each_habit_is_answered_with_our_word_for_it() {
    let mut n_words = 0;
    for habit in HABITS {
        for word in habit.words {
            n_words += 1;
            let lines: &[&[&str]] = match habit.at {
                Place::Command if word.starts_with('-') => &[&["run", "tpcc"]],
                Place::Command => &[&[], &["run", "tpcc"]],
                Place::Build => &[&["build", "tpcc"]],
                // Each word is unknown to at least one workload.
                Place::Load => &[&["run", "empty"]],
                Place::In(name) => &[&[name]],
            };
            for line in lines {
                let (code, said) = answer(&[*line, &[word]].concat());
                let instead = with_value(habit.instead, "");
                let instead = instead.strip_prefix("nothing: ").unwrap_or(&instead);
                assert!(said.contains(instead), "{line:?} {word}: {said}");
                let is_owned = habit.program == SEVERAL || said.contains(habit.program);
                assert!(is_owned, "{line:?} {word}: {said}");
                assert_eq!((code, said.lines().count()), (2, 1), "{line:?} {word}: {said}");
            }
        }
    }
    assert!(n_words >= 60, "{n_words}");
}

#[test]
fn a_letter_of_two_meanings_is_told_by_its_value() {
    let (_, said) = answer(&["run", "tpcc", "-d", "30s"]);
    assert!(said.contains("'-d' here: write --duration 30s"), "{said}");
    let (_, said) = answer(&["run", "tpcc", "-d", "test"]);
    assert!(said.contains("'-d' here: write --target"), "{said}");
}

/// Checks that the suggested options and commands exist.
#[test]
fn what_is_answered_exists() {
    let line = |words: &[&str]| {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        super::super::command(&words).unwrap()
    };
    let command = [
        line(&["dbdyno", "run", "tpcc"]),
        line(&["dbdyno", "run", "tpcb"]),
        line(&["dbdyno", "run", "oltp-read-write"]),
        line(&["dbdyno", "build", "tpcc"]),
    ];
    let is_flag = |word: &str| {
        let all = command.iter().flat_map(|command| command.get_subcommands());
        let all = all.flat_map(|sub| {
            let nested = sub.get_subcommands().flat_map(|sub| sub.get_arguments());
            sub.get_arguments().chain(nested)
        });
        let mut all = all.chain(command[0].get_arguments());
        all.any(|arg| arg.get_long() == word.strip_prefix("--"))
    };
    let is_command = |word: &str| command[0].find_subcommand(word).is_some();
    for habit in HABITS {
        let words: Vec<&str> = habit.instead.split([' ', ',', ';', '(', ')']).collect();
        for (place, word) in words.iter().enumerate() {
            if word.starts_with("--") && *word != "--help" {
                assert!(is_flag(word), "{word}: {}", habit.instead);
            }
            if *word == "dbdyno" {
                assert!(is_command(words[place + 1]), "{}", habit.instead);
            }
        }
    }
}

#[test]
fn a_value_that_is_a_number_is_kept() {
    let check = |words: &[&str], expect: &str| {
        let (code, said) = answer(words);
        assert!(code == 2 && said.contains(expect), "{words:?}: {said}");
    };
    check(&["run", "tpcc", "--threads=16"], "write --clients 16;");
    check(&["run", "tpcc", "-c", "16"], "write --clients 16;");
    check(&["build", "tpcc", "--threads", "8"], "write --loaders 8;");
    check(&["run", "tpcc", "--mysql-host=db"], "write --target 'mariadb://");
    check(&["run", "tpcc", "--pgsql-password=secret"], "write --ask-password");
    check(&["run", "tpcc", "--maria_count_ware=5"], "write --warehouses 5;");
    check(&["run", "tpcc", "--scale=10"], "--warehouses for tpcc");
    check(&["run", "tpcb", "--table-size=10"], "write --scale for tpcb");
    check(&["run", "oltp-bulk-insert", "--table-size=9"], "write --tables for oltp-bulk-insert");
    check(&["run", "tpcc", "--events=0"], "leave it out: without --transactions");
    check(&["run", "tpcc", "--events=9"], "write --transactions 9;");
    check(&["run", "tpcc", "-t", "60"], "write --transactions '60 per client';");
    check(&["run", "tpcc", "-c10"], "write --clients 10;");
    check(&["run", "tpcc", "--time=90"], "write --duration 90s;");
    check(&["run", "tpcc", "--maria_rampup", "5"], "write --ramp-up 5m;");
    check(&["run", "tpcc", "--rampup=2m"], "write --ramp-up 2m;");
    check(&["run", "tpcc", "--warmup", "3s"], "write --ramp-up 3s;");
    check(&["-c", "4", "-T", "10"], "write dbdyno run WORKLOAD with --clients 4;");
    check(&["runs", "-n", "5"], "write --limit 5;");
    check(&["run", "tpcc", "--pg_duration=secret"], "write --duration 2m;");
    check(&["run", "tpcc", "--rand-type=pareto"], "such as dbdyno run oltp-read-write");
    check(&["run", "tpcc", "-h", "127.0.0.1", "-p", "3306"], "--target 'mariadb://");
    check(&["oltp_read_write", "--threads=4", "prepare"], "write dbdyno build oltp-read-write");
    check(&["oltp_read_only.lua"], "write dbdyno run oltp-read-only");
    check(&["TPCC"], "write dbdyno run tpcc");
}

#[test]
fn words_of_ours_and_of_nobody_have_no_other_meaning() {
    for (command, word) in [("runs", "--threads"), ("run", "--warehuoses"), ("", "frobnicate")] {
        assert!(found(word, command).is_none(), "{command} {word}");
    }
}
