//! Formatting of suggested shell commands as lines that can be pasted.
//!
//! Not here: which commands are suggested.

use model::numbers::wrap;

/// Formats commands as lines to paste into a shell. A command that is longer than `width` is broken
/// after `&&`, where a shell reads on, and nowhere else. The purpose (second text) is a shell
/// comment after the command, or in lines above it if `width` leaves no room.
pub(crate) fn command_lines(commands: &[(String, String)], width: usize) -> Vec<String> {
    const MARK: &str = "  # ";
    let length = |text: &str| text.chars().count();
    let has_room = |(command, why): &&(String, String)| {
        length(command) + MARK.len() + length(why) <= width && !why.is_empty()
    };
    let beside = || commands.iter().filter(has_room);
    let purposes = beside().map(|(_, why)| length(why)).max().unwrap_or(0);
    // Where the longest leaves no room for another's purpose, each has its own column.
    let longest = beside().map(|(command, _)| length(command)).max().unwrap_or(0);
    let column = if longest + MARK.len() + purposes <= width { longest } else { 0 };
    let lines = |one: &(String, String)| {
        let (command, why) = one;
        match has_room(&one) {
            true => vec![format!("{command:<column$}{MARK}{why}")],
            false => {
                let mark = MARK.trim_start();
                let why = wrap(why, width.saturating_sub(mark.len())).into_iter();
                let why = why.filter(|line| !line.is_empty()).map(|line| format!("{mark}{line}"));
                why.chain(broken(command, width)).collect()
            }
        }
    };
    commands.iter().flat_map(lines).collect()
}

/// Returns the command that runs a plan, with the plan in it, so that no file or store is needed.
pub(crate) fn run_of_plan(plan: &str) -> String {
    format!("dbdyno run - <<'PLAN'\n{}\nPLAN", plan.trim_end())
}

/// Breaks a command that is longer than `width` after each `&&`.
fn broken(command: &str, width: usize) -> Vec<String> {
    const AND: &str = "&& ";
    match command.chars().count() > width {
        true => command.split_inclusive(AND).map(|part| part.trim_end().to_owned()).collect(),
        false => vec![command.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_a_comment_and_commands_are_broken_only_where_a_shell_reads_on() {
        let all = [
            ("dbdyno runs show last --full", "all metrics"),
            ("dbdyno web", "charts"),
            ("dbdyno run tpcc --target=mariadb://user@host/db", "a server"),
            ("dbdyno runs", ""),
            ("dbdyno show --plan > plan.toml && dbdyno run plan.toml", "again, on a quieter host"),
            ("dbdyno run plan.toml", "30 repeats of 8 s or more may not decide 1 % on this host"),
        ];
        let all = all.map(|(command, why)| (command.to_owned(), why.to_owned()));
        insta::assert_snapshot!(command_lines(&all, 46).join("\n"), @r"
        dbdyno runs show last --full  # all metrics
        dbdyno web                    # charts
        # a server
        dbdyno run tpcc --target=mariadb://user@host/db
        dbdyno runs
        # again, on a quieter host
        dbdyno show --plan > plan.toml &&
        dbdyno run plan.toml
        # 30 repeats of 8 s or more may not decide 1 %
        # on this host
        dbdyno run plan.toml
        ");
        assert_eq!(command_lines(&all, usize::MAX).len(), all.len());
    }
}
