//! How scripts are read: pieces become commands, conditions become jumps.
//!
//! Not here: the scanner of pieces (scan), and single meta-commands (commands).

use super::command::{Command, Script, What};
use super::commands::{self, Meta};
use super::error::Error;
use super::expression::Expression;
use super::pipelines;
use super::scan::{Piece, Scanner, Text};
use super::sql::{self, Sql, Store};
use super::variables::Names;

/// Message about a script with nothing in it.
pub const NO_COMMANDS: &str = "the script has no commands";

/// Reads a script. The names of its variables are added to those of other scripts.
///
/// # Errors
///
/// The first error in the script.
pub fn parse(text: &str, names: &mut Names) -> Result<Script, Error> {
    // Editors of some systems begin files with a byte order mark.
    let mut scanner = Scanner::new(text.strip_prefix('\u{feff}').unwrap_or(text));
    let mut builder = Builder::default();
    while let Some(piece) = scanner.next()? {
        match piece {
            Piece::Sql(text) => builder.push_sql(text, names)?,
            Piece::Meta { line, text } => {
                let at_line = |error: Error| Error::at(line, error.message);
                if let Some(meta) = commands::parse(text, names).map_err(at_line)? {
                    builder.push_meta(line, meta).map_err(at_line)?;
                }
            }
        }
    }
    builder.finish()
}

/// Condition whose `\endif` was not read yet.
struct OpenIf {
    line: u32,
    /// Index of the jump of the last `\if` or `\elif`; `None` after `\else`.
    unless: Option<usize>,
    /// Indexes of the jumps to the end.
    jumps: Vec<usize>,
}

/// Commands read so far.
#[derive(Default)]
struct Builder {
    commands: Vec<Command>,
    n_commands: u32,
    open: Vec<OpenIf>,
    /// Whether the command that was read last is the last one of `commands`, and SQL.
    is_after_sql: bool,
}

impl Builder {
    fn push(&mut self, line: u32, what: What) {
        self.commands.push(Command { line, number: self.n_commands, what });
    }

    fn push_sql(&mut self, text: Text, names: &mut Names) -> Result<(), Error> {
        if sql::is_comment(&text.text) {
            return Ok(());
        }
        let line = text.line;
        let sql = Sql::new(&text, names).map_err(|error| Error::at(line, error.message))?;
        self.n_commands += 1;
        self.push(line, What::Sql(sql));
        self.is_after_sql = true;
        Ok(())
    }

    fn push_meta(&mut self, line: u32, meta: Meta) -> Result<(), Error> {
        if let Meta::Store(store) = meta {
            return self.store(store);
        }
        self.is_after_sql = false;
        self.n_commands += 1;
        match meta {
            Meta::Store(_) => unreachable!("handled above"),
            Meta::If(condition) => {
                self.open.push(OpenIf { line, unless: None, jumps: Vec::new() });
                self.push_condition(line, condition);
            }
            Meta::Elif(condition) => {
                self.end_branch(line, "elif")?;
                self.push_condition(line, condition);
            }
            Meta::Else => self.end_branch(line, "else")?,
            Meta::EndIf => {
                let end = self.commands.len();
                let open = self.open.pop().ok_or_else(|| Error::new("\\endif without \\if"))?;
                for jump in open.jumps.into_iter().chain(open.unless) {
                    self.set_target(jump, end);
                }
            }
            Meta::Set { variable, expression } => {
                self.push(line, What::Set { variable, expression })
            }
            Meta::SetRandom(set) => self.push(line, What::SetRandom(set)),
            Meta::SetShell { variable, words } => {
                self.push(line, What::SetShell { variable, words });
            }
            Meta::Shell { words } => self.push(line, What::Shell { words }),
            Meta::Sleep { n, unit_ns } => self.push(line, What::Sleep { n, unit_ns }),
            Meta::StartPipeline => self.push(line, What::StartPipeline),
            Meta::SyncPipeline => self.push(line, What::SyncPipeline),
            Meta::EndPipeline => self.push(line, What::EndPipeline),
        }
        Ok(())
    }

    /// Adds a `\gset` or `\aset` to the SQL command before it.
    fn store(&mut self, store: Store) -> Result<(), Error> {
        let last = self.commands.last_mut().filter(|_| self.is_after_sql);
        match last.map(|command| &mut command.what) {
            Some(What::Sql(sql)) if sql.store == Store::Nothing => {
                sql.store = store;
                Ok(())
            }
            _ => Err(Error::new("\\gset and \\aset must follow an SQL command")),
        }
    }

    fn push_condition(&mut self, line: u32, condition: Expression) {
        let index = self.commands.len();
        self.push(line, What::JumpUnless { condition, to: 0 });
        self.open.last_mut().expect("a condition is open").unless = Some(index);
    }

    /// Ends the commands after a condition with a jump to the end; if the condition does not hold,
    /// those after the jump follow.
    fn end_branch(&mut self, line: u32, name: &str) -> Result<(), Error> {
        let index = self.commands.len();
        let Some(open) = self.open.last_mut() else {
            return Err(Error::new(format!("\\{name} without \\if")));
        };
        let Some(unless) = open.unless.take() else {
            return Err(Error::new(format!("\\{name} after \\else")));
        };
        open.jumps.push(index);
        self.push(line, What::Jump { to: 0 });
        self.set_target(unless, index + 1);
        Ok(())
    }

    fn set_target(&mut self, jump: usize, target: usize) {
        match &mut self.commands[jump].what {
            What::JumpUnless { to, .. } | What::Jump { to } => *to = target,
            _ => unreachable!("jumps alone have targets"),
        }
    }

    fn finish(self) -> Result<Script, Error> {
        if let Some(open) = self.open.last() {
            return Err(Error::at(open.line, "\\if without \\endif"));
        }
        if self.n_commands == 0 {
            return Err(Error::at(1, NO_COMMANDS));
        }
        pipelines::check(&self.commands)?;
        Ok(Script { commands: self.commands })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::script::pgbench::{Prng, Value, Variables, sleep_ns};

    /// Writes a script as its commands were read, one a line, or the error.
    fn read(text: &str) -> String {
        match parse(text, &mut Names::new()) {
            Ok(script) => script.commands.iter().map(written).collect::<Vec<_>>().join("\n"),
            Err(error) => error.to_string(),
        }
    }

    fn written(command: &Command) -> String {
        let text = match &command.what {
            What::Sql(sql) => match &sql.store {
                Store::Nothing => format!("{:?}", sql.written()),
                store => format!("{:?} {store:?}", sql.written()),
            },
            What::Set { .. } => "set".to_owned(),
            What::JumpUnless { to, .. } => format!("unless {to}"),
            What::Jump { to } => format!("jump {to}"),
            What::Sleep { n, unit_ns } => format!("sleep {n:?} {unit_ns}"),
            What::SetShell { words, .. } | What::Shell { words } => format!("shell {words:?}"),
            other => format!("{other:?}"),
        };
        format!("{}. {text}", command.line)
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(read(text), expected, "{text:?}");
    }

    fn parsed(text: &str) -> (Script, Names) {
        let mut names = Names::new();
        let script = parse(text, &mut names).expect("the script is valid");
        (script, names)
    }

    fn sql(script: &Script) -> &Sql {
        match &script.commands[0].what {
            What::Sql(sql) => sql,
            other => panic!("{other:?}"),
        }
    }

    /// The texts are those that a server logged when pgbench 18.6 sent them.
    #[test]
    fn statements_are_sent_as_pgbench_sends_them() {
        check("SELECT 1", r#"1. "SELECT 1""#);
        let text = "-- a\n  SELECT 1 -- b\n, 2;;\n-- c\n";
        check(text, "2. \"SELECT 1 -- b\\n, 2;\"\n3. \";\"");
        check("/* x */ SELECT 1;", r#"1. "/* x */ SELECT 1;""#);
        check("SELECT 1 \\set x 1\n", "1. \"SELECT 1 \"\n1. set");
        check("SELECT 1\n\\;  SELECT 2\\;\n;", r#"1. "SELECT 1\n;  SELECT 2;\n;""#);
        check("SELECT 'a' -- c\n 'b';", r#"1. "SELECT 'a' -- c\n 'b';""#);
        let text = "SELECT 1\r\n;\r\nSELECT 2;\r\n";
        check(text, "1. \"SELECT 1\\r\\n;\"\n3. \"SELECT 2;\"");
        check("\\\nSELECT 7;", r#"2. "SELECT 7;""#);
        check("\\ set x 5", "1. set");
    }

    #[test]
    fn byte_order_marks_and_lone_comments_are_not_sent() {
        check("\u{feff}SELECT 1;", r#"1. "SELECT 1;""#);
        check("SELECT 1; /* end */\n", r#"1. "SELECT 1;""#);
        check("/* one */", "line 1: the script has no commands");
        check("/*!50000 SELECT 1 */", r#"1. "/*!50000 SELECT 1 */""#);
    }

    #[test]
    fn semicolons_within_other_things_do_not_end_statements() {
        for text in [
            r#"SELECT ';', ";", $$;$$, $a$ $$;$b$; $a$, E'\';', ''';', $1;"#,
            "SELECT /* ; /* ; */ ; */ 1;",
            "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2);",
            "create function f() returns int begin atomic select case when true then 2 end; end;",
            "CREATE OR REPLACE PROCEDURE p() BEGIN ATOMIC SELECT 1; SELECT 2; END;",
            "SELECT E'a'\n'\\';';",
            "SELECT a$b$c;",
            r"SELECT name'\';",
            r"SELECT 1e'\';",
            "SELECT 1$a$;$a$;",
            "SELECT 1 -- ;\n;",
        ] {
            check(text, &format!("1. {text:?}"));
        }
        check("BEGIN; END;", "1. \"BEGIN;\"\n1. \"END;\"");
        let text = "SELECT CASE WHEN true THEN 1 END; END;";
        check(text, "1. \"SELECT CASE WHEN true THEN 1 END;\"\n1. \"END;\"");
    }

    #[test]
    fn what_is_not_closed_is_an_error() {
        check("\nSELECT 'a;\n", "line 2: a quoted string is not closed");
        check(r"SELECT E'\'", "line 1: a quoted string is not closed");
        check("SELECT $a$ $b$", "line 1: a quoted string is not closed");
        check("SELECT \"a", "line 1: a quoted name is not closed");
        check("SELECT 1;\n/* /* */", "line 2: a comment is not closed");
        check("SELECT (1;\nSELECT 2;", "line 1: a parenthesis is not closed");
        check("SELECT (1 \\gset", "line 1: a parenthesis is not closed");
    }

    #[test]
    fn conditions_become_jumps() {
        let script = "\\if 1\nA;\n\\elif 2\nB;\n\\elif 3\n\\else\nC;\n\\endif\nD;";
        let expected = [
            "1. unless 3",
            "2. \"A;\"",
            "3. jump 9",
            "3. unless 6",
            "4. \"B;\"",
            "5. jump 9",
            "5. unless 8",
            "6. jump 9",
            "7. \"C;\"",
            "9. \"D;\"",
        ];
        check(script, &expected.join("\n"));
    }

    #[test]
    fn commands_are_numbered_as_pgbench_numbers_them() {
        let (script, _) = parsed("\\if 1\n\\elif 1\n\\endif\nSELECT 1 \\gset\nSELECT 2;");
        let numbers: Vec<u32> = script.commands.iter().map(|command| command.number).collect();
        assert_eq!(numbers, [1, 2, 2, 4, 5]);
    }

    #[test]
    fn misplaced_commands_are_errors() {
        check("\\if 1", "line 1: \\if without \\endif");
        check("\\elif 1", "line 1: \\elif without \\if");
        check("\\else", "line 1: \\else without \\if");
        check("\\endif", "line 1: \\endif without \\if");
        check("\\if 1\n\\else\n\\elif 1\n\\endif", "line 3: \\elif after \\else");
        check("\\if 1\n\\else\n\\else\n\\endif", "line 3: \\else after \\else");
        let gset = "\\gset and \\aset must follow an SQL command";
        check("\\gset", &format!("line 1: {gset}"));
        check("A;\n\\set x 1\n\\gset", &format!("line 3: {gset}"));
        check("\\if 1\nA;\n\\endif\n\\aset", &format!("line 4: {gset}"));
        check("A \\gset\n\\gset", &format!("line 2: {gset}"));
        check("", "line 1: the script has no commands");
        check("-- a", "line 1: the script has no commands");
    }

    #[test]
    fn misuse_of_pipelines_is_found_where_it_is_certain() {
        let start = "\\startpipeline\n";
        check(&format!("{start}{start}"), "line 2: \\startpipeline within a pipeline");
        check("A;\n\\endpipeline", "line 2: \\endpipeline without \\startpipeline");
        check("\\syncpipeline", "line 1: \\syncpipeline without \\startpipeline");
        let text = format!("{start}A \\gset\n\\endpipeline");
        check(&text, "line 2: \\gset and \\aset cannot be used within a pipeline");
        let text = format!("{start}A;");
        check(&text, "line 2: \\endpipeline is missing at the end of the script");
        let either = format!("\\if 1\n{start}\\else\n{start}\\endif\n");
        let expected = [
            "1. unless 3",
            "2. StartPipeline",
            "3. jump 4",
            "4. StartPipeline",
            "6. SyncPipeline",
            "7. EndPipeline",
        ];
        check(&format!("{either}\\syncpipeline\n\\endpipeline"), &expected.join("\n"));
    }

    #[test]
    fn arguments_are_checked() {
        let fails = |text: &str, expected: &str| check(text, &format!("line 1: {expected}"));
        fails("\\sett x 1", "there is no command \\sett (did you mean 'set'?)");
        fails("\\set", "\\set: the name of a variable is missing");
        fails("\\set x", "\\set: the expression is missing");
        fails("\\set 1x 5", "\\set: '1x' cannot be the name of a variable");
        fails("\\set x 1 +", "\\set: the expression ends too early");
        fails("\\if", "\\if: the expression is missing");
        fails("\\if 1\n", "\\if without \\endif");
        fails("\\endif 1", "\\endif: takes no argument such as '1'");
        fails("A \\gset a b", "\\gset: takes a prefix at most, not 2 arguments");
        fails("A \\gset 1", "\\gset: '1' cannot begin the name of a variable");
        fails("\\sleep", "\\sleep: the time is missing");
        fails("\\sleep 1 h", "\\sleep: 'h' is none of the units us, ms and s");
        fails("\\sleep x", "\\sleep: 'x' is not an integer");
        fails("\\sleep 1 s s", "\\sleep: unexpected argument 's'");
        fails("\\shell", "\\shell: the shell command is missing");
        fails("\\setshell x", "\\setshell: the shell command is missing");
        let text = "\\setrandom: takes a variable, the lowest and the highest number";
        fails("\\setrandom x 1", text);
    }

    #[test]
    fn arguments_are_constants_or_variables() {
        check("\\SLEEP 10ms", "1. sleep Constant(10) 1000000");
        check("\\sleep 5", "1. sleep Constant(5) 1000000000");
        let text = r#"1. sleep Variable { id: VariableId(0), name: "n" } 1000"#;
        check("\\sleep :n \\\n us", text);
        let variable = r#"Variable { id: VariableId(1), name: "b" }"#;
        let text = format!(r#"1. shell [Constant("echo"), Constant(":a"), {variable}]"#);
        check("\\setshell x\\\n  echo ::a :b", &text);
        check("SELECT 1 AS a \\gset p_", r#"1. "SELECT 1 AS a " Gset { prefix: "p_" }"#);
        check("SELECT 1;\n\\aset", r#"1. "SELECT 1;" Aset { prefix: "" }"#);
    }

    #[test]
    fn sleeps_read_variables_as_far_as_they_are_integers() {
        let (script, names) = parsed("\\sleep :n ms");
        let What::Sleep { n, unit_ns } = &script.commands[0].what else { panic!("{script:?}") };
        let mut variables = Variables::new(names.len());
        let id = names.lookup("n").unwrap();
        assert!(sleep_ns(n, *unit_ns, &variables).is_err());
        for (text, expected) in [("3", 3_000_000), ("2.9", 2_000_000), ("-1", 0)] {
            variables.set_text(id, text);
            assert_eq!(sleep_ns(n, *unit_ns, &variables), Ok(expected));
        }
        variables.set_text(id, "x");
        let text = "variable 'n' is no such number: 'x'";
        assert_eq!(sleep_ns(n, *unit_ns, &variables), Err(Error::new(text)));
    }

    #[test]
    fn setrandom_draws_within_its_range() {
        let (script, names) = parsed(
            "\\setrandom x 5 :n\n\\setrandom x 1 9 gaussian 2.5\n\\setrandom x 1 9 exponential :p",
        );
        let mut variables = Variables::new(names.len());
        variables.set_value(names.lookup("n").unwrap(), Value::Int(7));
        variables.set_value(names.lookup("p").unwrap(), Value::Double(2.5));
        let mut prng = Prng::new(1);
        for (command, range) in script.commands.iter().zip([5..=7, 1..=9, 1..=9]) {
            let What::SetRandom(set) = &command.what else { panic!("{command:?}") };
            for _ in 0..100 {
                assert!(range.contains(&set.draw(&variables, &mut prng).unwrap()));
            }
        }
    }

    #[test]
    fn variables_are_replaced_even_within_quotes() {
        let (script, names) = parsed("SELECT :a, ':b', a::int, ::a, :c:a, : a, :1, /* :a */ :a;");
        let mut variables = Variables::new(names.len());
        variables.set_text(names.lookup("a").unwrap(), "x y");
        variables.set_value(names.lookup("b").unwrap(), Value::Int(-7));
        let mut text = String::new();
        sql(&script).text_into(&variables, &mut text);
        assert_eq!(text, "SELECT x y, '-7', a::int, ::a, :cx y, : a, :1, /* x y */ x y;");
        let (text, marks) = sql(&script).with_marks(&mut |index| format!("${}", index + 1));
        assert_eq!(text, "SELECT $1, '$2', a::int, ::a, $3$4, : a, :1, /* $5 */ $6;");
        let marks: Vec<&str> = marks.iter().map(|id| names.name_of(*id)).collect();
        assert_eq!(marks, ["a", "b", "c", "a", "a", "a"]);
    }

    #[test]
    fn statements_are_counted_and_classified() {
        let check = |text: &str, n_statements: u16, word: &str| {
            let (script, _) = parsed(text);
            let sql = sql(&script);
            assert_eq!((sql.n_statements, sql.first_word()), (n_statements, word), "{text}");
        };
        check("SELECT 1;", 1, "select");
        check("\\; \\; SELECT 0 \\; SELECT 5 \\; \\; \\gset", 2, "select");
        check(";", 0, "");
        check("/* a */ ((With a AS (SELECT 1) SELECT 2));", 1, "with");
        check(":x;", 1, "");
    }

    #[test]
    fn prepared_statements_have_a_limit_of_variables() {
        let (script, _) = parsed(&format!("SELECT {}1;", ":a,".repeat(256)));
        let text = "line 1: a prepared statement has at most 255 variables";
        assert_eq!(script.check_marks().unwrap_err().to_string(), text);
        let (script, _) = parsed(&format!("SELECT {}1;", ":a,".repeat(255)));
        assert_eq!(script.check_marks(), Ok(()));
    }

    proptest! {
        #[test]
        fn no_script_makes_the_parser_panic(text in any::<String>()) {
            read(&text);
        }

        #[test]
        fn no_list_of_pieces_makes_the_parser_panic(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "\\", "\n", "\r\n", ";", "'", "\"", "$", "$a$", "E'", "/*", "*/", "--", "(", ")",
                ":", "a", "é", "1", " ", "set", "\\set ", "\\if ", "\\elif 1", "\\else", "\\endif",
                "\\gset", "\\sleep ", "\\setshell ", "\\setrandom ", "\\startpipeline\n",
                "\\endpipeline\n", "select", "create", "function", "begin", "end", "case",
            ]), 0..30),
        ) {
            read(&pieces.concat());
        }
    }
}
