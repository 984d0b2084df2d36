//! Formatting of suggested shell commands as lines that can be pasted.
//!
//! Not here: which commands are suggested.

/// Formats commands as lines to paste into a shell, each unbroken. The purpose (second text) is a
/// shell comment after the command, or in a line above it if `width` leaves no room.
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
            false if why.is_empty() => vec![command.clone()],
            false => vec![format!("{}{why}", MARK.trim_start()), command.clone()],
        }
    };
    commands.iter().flat_map(lines).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_purpose_is_a_comment_and_no_command_is_broken() {
        let all = [
            ("dbdyno runs show last --full", "all metrics"),
            ("dbdyno web", "charts"),
            ("dbdyno run tpcc --target=mariadb://user@host/db", "a server"),
            ("dbdyno runs", ""),
        ];
        let all = all.map(|(command, why)| (command.to_owned(), why.to_owned()));
        insta::assert_snapshot!(command_lines(&all, 46).join("\n"), @r"
        dbdyno runs show last --full  # all metrics
        dbdyno web                    # charts
        # a server
        dbdyno run tpcc --target=mariadb://user@host/db
        dbdyno runs
        ");
        assert_eq!(command_lines(&all, usize::MAX).len(), all.len());
    }
}
