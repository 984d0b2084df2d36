//! Examples of each command, appended to its help. Not here: the commands.

use clap::Command;

use super::brief::WIDTH;

/// Path of a command, such as `runs list`, and examples of it, all without the word `dbdyno`. The
/// path is empty for the program itself.
type Examples = (&'static str, &'static [&'static str]);

/// Example that shows which of two servers is faster.
const TWO_SERVERS: &str = "run tpcc --vary target=managed:mariadb,managed:postgres --repeat 6";
/// Example that shows which of two values of a setting is better.
const TWO_SETTINGS: &str = "run tpcc --target managed:postgres \
                            --vary server.synchronous_commit=on,off --repeat 6";

const EXAMPLES: &[Examples] = &[
    ("", &["run tpcc", "runs show last", TWO_SERVERS, "compare last", "web"]),
    (
        "run",
        &[
            "run tpcc --warehouses 4 --clients 8 --duration 60s",
            "run tpcc --load open --rate 500 --queue 10000",
            "run tpcc --target postgres://bench@127.0.0.1/bench --ask-password",
            TWO_SERVERS,
            TWO_SETTINGS,
            "run plan.toml --no-store",
        ],
    ),
    (
        "tune",
        &[
            "tune tpcc --target managed:postgres --vary server.shared_buffers=128MB..2GB \
             --vary server.wal_buffers=1MB,16MB,64MB --maximize nopm",
            "tune tpcc --vary clients=1..64 --maximize tps --limits 'p99<50ms' --trials 40",
            "tune plan.toml --strategy model",
        ],
    ),
    (
        "build",
        &[
            "build tpcc --warehouses 10",
            "build oltp-read-write --tables 4 --table-size 1000000",
            "build tpcc --target mariadb://bench@127.0.0.1/bench --ask-password --settle",
        ],
    ),
    ("check", &["check tpcc", "check tpcc --checksums", "check tpcb --target sqlite:big.db"]),
    (
        "settle",
        &[
            "settle tpcc",
            "settle tpcc --target mariadb://bench@127.0.0.1/bench --ask-password",
            "settle tpcc --settle-limit 30m",
        ],
    ),
    (
        "drop",
        &[
            "drop tpcc",
            "drop tpcc --target sqlite:big.db",
            "drop tpcc --target postgres://bench@127.0.0.1/bench --force --confirm bench",
        ],
    ),
    (
        "translate",
        &[
            "translate run.tcl",
            "translate sample_tpcc_config.xml",
            "translate run.py --output json",
        ],
    ),
    (
        "datagen",
        &[
            "datagen tpcc --output-dir rows",
            "datagen tpcc --warehouses 10 --format csv --output-dir rows",
            "datagen tpcb --seed 7 --output-dir rows",
        ],
    ),
    (
        "show",
        &[
            "show tpcc",
            "show tpcc --transaction new_order --mode procedures",
            "show tpcb --target postgres://bench@127.0.0.1/bench",
        ],
    ),
    ("runs", &["runs", "runs show last", "runs label last kernel=6.12"]),
    (
        "runs list",
        &[
            "runs list --where 'workload=tpcc and nopm>50000 and label.build=12' --sort -nopm",
            "runs list --where 'started>-7d and (p99>20ms or finding=stalled)'",
            "runs list --status completed --limit 0 --output csv",
        ],
    ),
    (
        "runs show",
        &[
            "runs show last",
            "runs show last --timing --counter --every 10s",
            "runs show last --plan",
        ],
    ),
    (
        "runs export",
        &[
            "runs export last -o seconds.csv",
            "runs export last -o times.hlog",
            "runs export 1a2b3c4d 5e6f7a8b -o for-a-colleague.dbdyno",
        ],
    ),
    (
        "runs import",
        &[
            "runs import from-a-colleague.dbdyno",
            "runs import other-runs.sqlite",
            "runs import runs.dbdyno --store new.sqlite",
        ],
    ),
    (
        "runs push",
        &[
            "runs push https://bench.example:8421",
            "runs push https://bench.example:8421 last",
            "runs push https://bench.example:8421 build=1.2.7",
        ],
    ),
    ("runs rm", &["runs rm last", "runs rm 1a2b3c4d 5e6f7a8b", "runs rm last --store old.sqlite"]),
    ("runs label", &["runs label last build=1.2.7", "runs label last build=", "runs label last"]),
    ("experiments", &["experiments", "experiments show last", "experiments resume last"]),
    (
        "experiments list",
        &[
            "experiments list",
            "experiments list --where 'workload=tpcc and axis=clients' --sort -done",
            "experiments list --where 'started>-7d' --output csv",
        ],
    ),
    (
        "experiments show",
        &[
            "experiments show last",
            "experiments show last --figure p99",
            "experiments show last --rows clients --columns mode",
        ],
    ),
    (
        "experiments resume",
        &[
            "experiments resume last",
            "experiments resume last --quiet",
            "experiments resume 1a2b3c4d --plan plan.toml",
        ],
    ),
    (
        "experiments rm",
        &[
            "experiments rm last",
            "experiments rm 1a2b3c4d",
            "experiments rm last --store old.sqlite",
        ],
    ),
    (
        "restore",
        &[
            "restore --dry-run",
            "restore",
            "restore --target mariadb://root@127.0.0.1 --ask-password",
        ],
    ),
    (
        "compare",
        &[
            TWO_SERVERS,
            TWO_SETTINGS,
            "compare last",
            "compare build=1.1 build=1.2",
            "compare last --by clients --figure p99",
            "compare build=1.1 build=1.2 --fail-if 'p99>+5%'",
        ],
    ),
    (
        "history",
        &[
            "history",
            "history --by kernel --figure p99",
            "history --fail-on-regression --output markdown",
        ],
    ),
    (
        "history ack",
        &["history ack 1.2 --reason 'checks more'", "history ack --list", "history ack 1.2 --undo"],
    ),
    ("history baseline", &["history baseline 1.0", "history baseline", "history baseline --clear"]),
    (
        "history import",
        &[
            "history import old.csv --name before",
            "history import --list",
            "history import --remove before",
        ],
    ),
    (
        "report",
        &[
            "report last -o run.html",
            "report build=1.1 build=1.2 -o compared.html",
            "report last --chart throughput -o throughput.svg",
        ],
    ),
    ("selfcheck", &["selfcheck", "selfcheck --output json", "selfcheck intervals"]),
    (
        "sysbench",
        &[
            "sysbench oltp_read_write --tables=4 --table-size=10000 prepare",
            "sysbench oltp_read_write --tables=4 --table-size=10000 --threads=8 --time=60 run",
            "sysbench my.lua --mysql-socket=/run/mysqld/mysqld.sock --report-interval=1 run",
        ],
    ),
    (
        "pgbench",
        &[
            "pgbench -i -s 10 bench",
            "pgbench -c 8 -j 2 -T 60 -P 5 bench",
            "pgbench -f read.sql@9 -f pay.sql@1 -M prepared -c 8 -T 60 bench",
        ],
    ),
    (
        "selfcheck intervals",
        &[
            "selfcheck intervals",
            "selfcheck intervals --output json",
            "selfcheck intervals --output markdown",
        ],
    ),
    ("list", &["list workloads", "list targets", "list findings --output markdown"]),
    ("hub", &["hub", "hub --listen 0.0.0.0", "hub --listen 0.0.0.0 --address nats://bench1:4222"]),
    (
        "agent",
        &[
            "agent join nats://bench1:4222 --allow db1:5432",
            "agent check nats://bench1:4222 --allow db1:5432",
            "agent manifest systemd nats://bench1:4222 --allow db1:5432",
        ],
    ),
    (
        "agent join",
        &[
            "agent join nats://bench1:4222 --allow db1:5432",
            "agent join bench1 --name gen2 --allow db1:3306 --allow db2:3306",
            "agent join bench1 --allow db1:5432 --allow /etc/ssl/db1.pem --allow scripts",
            "agent join bench1 --allow control --restart-command 'sudo systemctl restart postgresql'",
        ],
    ),
    (
        "agent check",
        &[
            "agent check nats://bench1:4222",
            "agent check bench1 --allow db1:5432",
            "agent check bench1 --name gen2 --allow scripts",
        ],
    ),
    (
        "agent manifest",
        &[
            "agent manifest systemd nats://bench1:4222 --allow db1:5432",
            "agent manifest ssh bench1 --host gen1 --host gen2 --allow db1:3306",
            "agent manifest kubernetes nats://bench1:4222 --count 8 --allow db1:5432",
        ],
    ),
    ("agents", &["agents", "agents --output json", "agents --hub /srv/hub"]),
    ("web", &["web", "web start", "web --listen 127.0.0.1:9000"]),
    (
        "web start",
        &["web start", "web start --listen 127.0.0.1:9000", "web start --store big.sqlite"],
    ),
    ("web stop", &["web stop", "web stop --store big.sqlite", "web stop --output json"]),
    (
        "web writer",
        &["web writer add ci", "web writer list", "web writer remove ci --store big.sqlite"],
    ),
    (
        "web writer add",
        &[
            "web writer add ci",
            "web writer add ann --store big.sqlite",
            "web writer add ci --tls-cert web.pem --tls-key web.key",
        ],
    ),
    (
        "web writer remove",
        &[
            "web writer remove ci",
            "web writer remove ann",
            "web writer remove ann --store big.sqlite",
        ],
    ),
    (
        "web writer list",
        &[
            "web writer list",
            "web writer list --store big.sqlite",
            "web writer list --store /srv/bench/runs.sqlite",
        ],
    ),
    ("web status", &["web status", "web status --store big.sqlite", "web status --output json"]),
    (
        "config",
        &["config", "config set store off", "config set target mariadb://bench@127.0.0.1/bench"],
    ),
    (
        "config set",
        &["config set store off", "config set report-interval 1s", "config set color off"],
    ),
    (
        "config unset",
        &["config unset store", "config unset target", "config unset report-interval"],
    ),
    (
        "completions",
        &[
            "completions bash > /etc/bash_completion.d/dbdyno",
            "completions zsh > ~/.zfunc/_dbdyno",
            "completions fish > ~/.config/fish/completions/dbdyno.fish",
        ],
    ),
    ("man", &["man > dbdyno.1", "man run | man -l -", "man runs list > dbdyno-runs-list.1"]),
];

/// Returns an example of a command that names the newest run or experiment (`last`). `None` if
/// there is none, or if the command removes what it names. `path` begins with the program's name.
pub(crate) fn of_newest(path: &str) -> Option<String> {
    let (program, path) = path.split_once(' ')?;
    let (_, examples) =
        EXAMPLES.iter().find(|(listed, _)| *listed == path && !listed.ends_with("rm"))?;
    let names_last = |line: &&&str| line.split(' ').any(|word| word == "last");
    examples.iter().find(names_last).map(|line| format!("{program} {line}"))
}

/// Adds examples to the help of a command and of all its subcommands.
pub(crate) fn added(command: Command) -> Command {
    below(command, "")
}

fn below(mut command: Command, path: &str) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        let path = format!("{path} {name}").trim_start().to_owned();
        command = command.mut_subcommand(name, |sub| below(sub, &path));
    }
    let Some((_, examples)) = EXAMPLES.iter().find(|(listed, _)| *listed == path) else {
        return command;
    };
    let lines: Vec<String> = examples.iter().map(|line| example_lines(line)).collect();
    let examples = format!("Examples:\n{}", lines.join("\n"));
    let help = match command.get_after_help() {
        Some(help) => format!("{help}\n\n{examples}"),
        None => examples,
    };
    command.after_help(help)
}

/// Formats an example for a shell. One that is too long for a line is broken before an option,
/// after a backslash, so that it can be pasted.
fn example_lines(line: &str) -> String {
    const MARK: &str = " \\";
    let mut lines = vec!["  dbdyno".to_owned()];
    let options = line.split(" --").enumerate();
    let parts =
        options.map(|(nth, part)| if nth == 0 { part.to_owned() } else { format!("--{part}") });
    for part in parts {
        let last = lines.last_mut().expect("there is a first line");
        match last.len() + 1 + part.len() + MARK.len() <= WIDTH {
            true => *last += &format!(" {part}"),
            false => {
                last.push_str(MARK);
                lines.push(format!("    {part}"));
            }
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a shell line into arguments, the program's name first, up to a redirection, a comment
    /// or another command.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec!["dbdyno".to_owned(), String::new()];
        let (mut quote, mut is_open) = (None, false);
        for letter in line.chars().chain([' ']) {
            let word = words.last_mut().expect("one is always open");
            match (quote, letter) {
                (None, '\'' | '"') => (quote, is_open) = (Some(letter), true),
                (Some(by), _) if by == letter => quote = None,
                (None, '>' | '|' | '&' | '#') if !is_open => break,
                (None, ';') => break,
                (None, ' ') if is_open => {
                    words.push(String::new());
                    is_open = false;
                }
                (None, ' ') => {}
                _ => {
                    word.push(letter);
                    is_open = true;
                }
            }
        }
        words.pop_if(|word| word.is_empty());
        words
    }

    fn takes(line: &str) -> Result<(), String> {
        let words = words(line);
        let mut command = super::super::command(&words).map_err(|no| no.to_string())?;
        let parsed = command.try_get_matches_from_mut(&words);
        parsed.map(drop).map_err(|no| no.to_string())
    }

    /// Checks that the parser accepts each command in the shell blocks of the documentation.
    #[test]
    fn our_parser_takes_each_command_of_the_documents() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let folders = ["tutorial", "how-to", "reference", "explanation"]
            .map(|folder| root.join("docs").join(folder));
        let pages = folders.into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
        let pages = pages
            .map(|page| page.unwrap().path())
            .chain([root.join("README.md"), root.join("CONTRIBUTING.md")]);
        let mut n_lines = 0;
        for page in pages.filter(|page| page.extension().is_some_and(|kind| kind == "md")) {
            let text = std::fs::read_to_string(&page).unwrap().replace("\\\n", " ");
            for block in text.split("```sh\n").skip(1) {
                let lines = block.lines().take_while(|line| !line.starts_with("```"));
                for (before, line) in lines.filter_map(|line| line.split_once("dbdyno ")) {
                    let is_ours = matches!(before, "" | "./" | "target/release/" | "nohup ");
                    // Skip abbreviated lines.
                    if !is_ours || line.contains('…') || line.contains("...") {
                        continue;
                    }
                    // Scripts are files of the reader.
                    let is_script = |word: &String| workloads::language_of(word).is_some();
                    if words(line).iter().any(is_script) {
                        continue;
                    }
                    n_lines += 1;
                    let taken = takes(line);
                    assert!(taken.is_ok(), "{}: dbdyno {line}: {taken:?}", page.display());
                }
            }
        }
        assert!(n_lines > 100, "{n_lines}");
    }

    #[test]
    fn each_command_has_three_examples_that_our_parser_takes() {
        fn paths(command: &Command, path: &str, all: &mut Vec<String>) {
            all.push(path.to_owned());
            let visible = command.get_subcommands().filter(|sub| !sub.is_hide_set());
            for sub in visible.filter(|sub| sub.get_name() != "help") {
                paths(sub, format!("{path} {}", sub.get_name()).trim_start(), all);
            }
        }
        let command = super::super::command(&["dbdyno".to_owned()]).unwrap();
        let mut all = Vec::new();
        paths(&command, "", &mut all);
        for path in all {
            let found = EXAMPLES.iter().find(|(listed, _)| *listed == path);
            let (_, examples) = found.unwrap_or_else(|| panic!("no examples of '{path}'"));
            assert!(examples.len() >= 3, "{path}");
            for example in *examples {
                let words = words(example);
                // Runs come before their comparison.
                let is_before = path == "compare" && words[1] == "run";
                let is_of = path.is_empty() || words[1..].join(" ").starts_with(&path);
                assert!(is_of || is_before, "{path}: {example}");
                let taken = takes(example);
                assert!(taken.is_ok(), "{example}: {taken:?}");
            }
        }
    }

    #[test]
    fn long_examples_are_broken_where_a_shell_reads_on() {
        for line in EXAMPLES.iter().flat_map(|(_, lines)| lines.iter()) {
            let broken = example_lines(line);
            assert!(broken.lines().all(|line| line.len() <= WIDTH), "{broken}");
            let joined = broken.replace(" \\\n    ", " ");
            assert_eq!(joined, format!("  dbdyno {line}"));
        }
    }

    #[test]
    fn no_line_of_help_is_wider_than_a_terminal() {
        fn check(command: &mut Command, path: &str) {
            let help = command.render_long_help().to_string();
            let wide = |line: &&str| line.chars().count() > WIDTH;
            assert_eq!(help.lines().find(wide), None, "{path} --help");
            for sub in command.get_subcommands_mut() {
                let path = format!("{path} {}", sub.get_name());
                check(sub, &path);
            }
        }
        check(&mut super::super::command(&["dbdyno".to_owned()]).unwrap(), "dbdyno");
    }
}
