//! Output for GitHub Actions: an annotation for each verdict, and the page as the summary of the
//! job. The format is that of its workflow commands (`::error`) and `GITHUB_STEP_SUMMARY`.
//!
//! Not here: the exit code.

use std::fs::OpenOptions;
use std::io::Write;

use clap::ArgMatches;
use render::Document;
use render::document::{Tone, Verdict};

use super::Outcome;
use super::flags::{self, Output};
use crate::shell::Shell;

/// Environment variable with the path of the file for the summary of a job's step.
const SUMMARY: &str = "GITHUB_STEP_SUMMARY";

/// Prints the verdicts of a document as GitHub annotations, and appends the page to the summary of
/// the job. Prints the page too if there is no job or the summary cannot be written.
pub(super) fn print(document: &Document, shell: &Shell) -> Outcome {
    let (annotations, page) = (annotations(document), render::markdown::markdown(document));
    let Some(path) = shell.variable(SUMMARY) else {
        return shell.print(&(annotations + &page));
    };
    let file = OpenOptions::new().create(true).append(true).open(&path);
    match file.and_then(|mut file| file.write_all(page.as_bytes())) {
        Ok(()) => shell.print(&annotations),
        // A failure to write the summary must not hide the verdict.
        Err(error) => {
            shell.say(&format!("warning: {SUMMARY}: {path}: {error}"));
            shell.print(&(annotations + &page))
        }
    }
}

/// Prints a text as a GitHub annotation of the level `error`, `warning` or `notice`.
pub(super) fn annotate(level: &str, text: &str, shell: &Shell) {
    // If stdout is closed, the exit code still has the result.
    let _ = shell.print(&format!("::{level} title=dbdyno::{}\n", message(text)));
}

/// Turns bad verdicts into warnings if the output is for GitHub, where only a verdict that fails
/// the job should be an error.
pub(super) fn soften(verdicts: &mut [Verdict], matches: &ArgMatches) {
    if flags::output_of(matches) != Output::Github {
        return;
    }
    for verdict in verdicts.iter_mut().filter(|verdict| verdict.tone == Tone::Bad) {
        verdict.tone = Tone::Warning;
    }
}

/// Prints a warning or an error on stderr, and with `--output github` as an annotation too.
pub(super) fn say(level: &str, text: &str, matches: &ArgMatches, shell: &Shell) {
    shell.say(text);
    if flags::output_of(matches) == Output::Github {
        // The level and the title say these already.
        let text = text.trim_start_matches("dbdyno: ").trim_start_matches("warning: ");
        annotate(level, text, shell);
    }
}

/// Formats the verdicts of a document as annotations, one per line.
fn annotations(document: &Document) -> String {
    let one = |verdict: &Verdict| {
        let level = match verdict.tone {
            Tone::Bad => "error",
            Tone::Warning => "warning",
            Tone::Good | Tone::Plain => "notice",
        };
        let title = property(verdict.word.trim_end_matches('.'));
        let title = if title.is_empty() { "dbdyno".to_owned() } else { format!("dbdyno {title}") };
        format!("::{level} title={title}::{}\n", message(&verdict.headline.plain()))
    };
    document.verdicts.iter().map(one).collect()
}

/// Escapes percent signs and line breaks in the message of an annotation.
fn message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes a property of an annotation, such as its title: like a message, and also colons and
/// commas.
fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use render::document::Text;

    use super::*;

    #[test]
    fn each_verdict_is_a_line_that_nothing_in_it_can_end() {
        let verdict = |tone, word: &str, headline: &str| Verdict {
            tone,
            word: word.to_owned(),
            headline: Text::from(headline.to_owned()),
            details: Vec::new(),
        };
        let verdicts = vec![
            verdict(Tone::Bad, "Limit", "FAILED tps<-5% at\nnew"),
            verdict(Tone::Warning, "Better, with caution.", "TPS +4 %"),
            verdict(Tone::Plain, "", "No evidence"),
        ];
        let page = Document { verdicts, ..Document::default() };
        assert_eq!(
            annotations(&page),
            "::error title=dbdyno Limit::FAILED tps<-5%25 at%0Anew\n\
             ::warning title=dbdyno Better%2C with caution::TPS +4 %25\n\
             ::notice title=dbdyno::No evidence\n"
        );
    }
}
