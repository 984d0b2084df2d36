//! Recognizes scripts of other tools where a workload or plan is expected, and says which command
//! takes them, or which workload is nearest.
//!
//! Not here: options of other tools (`habits`), and running a script.

use std::io::Read as _;

/// Maximum bytes of a plan file; a larger one is rejected.
pub(super) const PLAN_BYTES_MAX: u64 = 1 << 20;

/// Page of the documentation that compares other tools with dbdyno.
const PAGE: &str = "docs/how-to/from-other-tools.md";

/// Kind of file that is recognized by its text, mostly a script of another tool.
struct Kind {
    /// Description of the kind within a sentence, such as `a script of pgbench`.
    what: &'static str,
    /// Texts that only files of this kind contain, each at the start of a line, or anywhere if it
    /// begins with `*`.
    marks: &'static [&'static str],
    /// Text that says what to write in dbdyno; `FILE` stands for the name of the file.
    instead: &'static str,
}

/// What to write instead of a file that is neither run nor translated.
const NOT_RUN: &str = "which is not run; take a workload of 'dbdyno list workloads', or a plan";

/// Kinds of files in the order in which a text is tested for them; the first that matches counts.
const KINDS: [Kind; 10] = [
    Kind {
        what: "a plan",
        marks: &["[[group]]", "[experiment]", "[experiment.vary]"],
        instead: "give it a name that ends with .toml, or write dbdyno run - < FILE",
    },
    Kind {
        what: "a Lua script of sysbench",
        marks: &[
            "function event",
            "*sysbench.",
            "*require(\"oltp_common\")",
            "function thread_init",
        ],
        instead: "give it a name that ends with .lua, and dbdyno run takes it",
    },
    Kind {
        what: "a script of pgbench",
        marks: &["\\set", "\\sleep", "\\startpipeline", "\\gset", "\\if "],
        instead: "write dbdyno run -f FILE, or dbdyno pgbench -f FILE",
    },
    Kind {
        what: "a program that calls HammerDB",
        marks: &["dbset", "diset", "vuset", "*buildschema", "*vurun", "*hammerdb"],
        instead: "give HammerDB's own script to dbdyno translate, or write dbdyno run tpcc",
    },
    Kind {
        what: "a file of BenchBase",
        marks: &["*<parameters>", "*<works>", "*<benchmark>", "*benchbase"],
        instead: "give its configuration to dbdyno translate, or write dbdyno run tpcc",
    },
    Kind { what: "a test plan of JMeter", marks: &["*<jmeterTestPlan"], instead: NOT_RUN },
    Kind {
        what: "a workload of YCSB",
        marks: &["recordcount=", "operationcount=", "workload=site.ycsb"],
        instead: "which is not run; the nearest: dbdyno run oltp-point-select",
    },
    Kind {
        what: "a script of SQL",
        marks: &["select ", "insert into ", "update ", "delete from ", "create table ", "begin;"],
        instead: "write dbdyno run -f FILE",
    },
    Kind {
        what: "a program",
        marks: &["#!", "import ", "<?xml", "---", "version:", "services:"],
        instead: NOT_RUN,
    },
    Kind { what: "a program", marks: &["def ", "for i in ", "set -e", "proc "], instead: NOT_RUN },
];

/// Returns a sentence for a text that is the script of another tool, with what to write in dbdyno.
/// `None` if the text is not recognized. `name` is that of its file.
pub(crate) fn sentence_of_text(name: &str, text: &str) -> Option<String> {
    let has = |mark: &&str| match mark.strip_prefix('*') {
        Some(within) => text.contains(within),
        None => text.lines().any(|line| begins(line.trim_start(), mark)),
    };
    let file = if name == "stdin" { "FILE" } else { name };
    let kind = KINDS.iter().find(|kind| kind.marks.iter().any(has))?;
    let is_plan = kind.what == "a plan";
    if let Some(kind) = plan::translate::kind_of(text).filter(|_| !is_plan) {
        let what = kind.what();
        return Some(format!(
            "{name} is {what}: write dbdyno translate {file} > plan.toml, then dbdyno run \
             plan.toml ({PAGE})"
        ));
    }
    let Kind { what, instead, .. } = kind;
    let instead = match instead.strip_prefix("which is not run") {
        Some(_) => workload_of(name).unwrap_or_else(|| (*instead).to_owned()),
        None => instead.replace("FILE", file),
    };
    Some(format!("{name} is {what} by what is in it: {instead} ({PAGE})"))
}

fn begins(line: &str, mark: &str) -> bool {
    line.get(..mark.len()).is_some_and(|start| start.eq_ignore_ascii_case(mark))
}

/// Returns the command for the workload that has the name of a script, such as
/// `oltp_read_only.lua`; `None` if there is no such workload.
fn workload_of(name: &str) -> Option<String> {
    let last = name.rsplit('/').next()?;
    let stem = last.split('.').next()?.replace('_', "-").to_ascii_lowercase();
    let entry = workloads::by_name(&stem).ok()?;
    Some(format!("dbdyno run {}", entry.name))
}

/// Returns a sentence for the file that the OLTP scripts of sysbench share, whose name resembles
/// workloads of dbdyno; `None` for another name. The file need not exist.
pub(super) fn sentence_of_library(name: &str) -> Option<String> {
    let last = name.rsplit('/').next()?.to_ascii_lowercase().replace('_', "-");
    let is_library = ["oltp-common", "oltp-common.lua"].contains(&last.as_str());
    is_library.then(|| {
        format!(
            "{name} is the library of sysbench's OLTP scripts and no workload: write dbdyno run \
             oltp-read-write, or another workload oltp-... ({PAGE})"
        )
    })
}

/// Returns the sentence of [`sentence_of_text`] for the beginning of a file; `None` if it cannot be
/// read.
pub(crate) fn sentence_of_file(name: &str) -> Option<String> {
    if !std::fs::metadata(name).is_ok_and(|there| there.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(name).ok()?.take(PLAN_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    sentence_of_text(name, &String::from_utf8_lossy(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::draft_from_args::no_workload;

    #[test]
    fn a_script_is_recognised_by_what_is_in_it_whatever_its_name_is() {
        let check = |name: &str, text: &str, words: &[&str]| {
            let said = sentence_of_text(name, text).unwrap_or_default();
            words.iter().for_each(|word| assert!(said.contains(word), "{name}: {said}"));
        };
        let lua = "-- a comment\nfunction event()\n  con:query(\"SELECT 1\")\nend\n";
        for name in ["x", "x.txt", "x.bench", "stdin"] {
            check(name, lua, &["sysbench", "give it a name that ends with .lua"]);
        }
        check(
            "new_order.pgbench",
            "\\set w random(1, 10)\nBEGIN;\n",
            &["pgbench", "dbdyno run -f new_order.pgbench"],
        );
        let to_plan = "dbdyno translate a > plan.toml, then dbdyno run plan.toml";
        check("a", "#!/bin/tclsh\ndbset('db','pg')\n", &["a script of HammerDB", to_plan]);
        check("a", "dbset db pg\nvuset vu 4\nvurun\n", &["a script of HammerDB", to_plan]);
        check("stdin", "dbset db pg\n", &["dbdyno translate FILE > plan.toml"]);
        let shell = "#!/bin/bash\ncat > x.tcl <<END\ndbset db pg\nEND\n";
        check("go.sh", shell, &["HammerDB's own script to dbdyno translate"]);
        let works = "<?xml version=\"1.0\"?>\n<parameters>\n<type>X</type><works></works>\n";
        check("a", works, &["a configuration of BenchBase", to_plan]);
        check("c.xml", "<?xml version=\"1.0\"?>\n<parameters>\n", &["BenchBase"]);
        check("w", "recordcount=1000\n", &["YCSB"]);
        check("q.txt", "\n  Select 1;\n", &["SQL", "dbdyno run -f q.txt"]);
        check("go", "#!/bin/sh\nmysql -e 'x'\n", &["a program"]);
        let plan = "[[group]]\nworkload = 'tpcc'\n";
        check("mine", plan, &["is a plan", "ends with .toml", "dbdyno run - <"]);
        assert_eq!(sentence_of_text("x", "nothing that anybody knows\n"), None);
    }

    #[test]
    fn the_library_of_sysbench_is_no_workload() {
        for name in ["oltp_common.lua", "oltp-common", "/usr/share/sysbench/oltp_common.lua"] {
            let said = no_workload(name, &"there is no workload").to_string();
            assert!(said.contains("library of sysbench's OLTP scripts and no workload"), "{said}");
            assert!(!said.contains("oltp-complex"), "{said}");
        }
        assert_eq!(sentence_of_library("oltp_read_only.lua"), None);
    }
}
