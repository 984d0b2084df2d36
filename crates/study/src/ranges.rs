//! Merging of sentences from several runs that differ only in their numbers: one sentence, with a
//! range for each number.
//!
//! Not here: the sentences themselves (analysis).

use model::ns_of_unit;

/// Words before a number that identifies something, as in `process 1`. Such a number cannot be
/// merged into a range.
const NAMED: [&str; 4] = ["loop", "process", "client", "thread"];

/// Merges texts that differ only in numbers into one with ranges, such as
/// `Programs took 41 to 72 % of the CPU time.` Sentences that some texts lack are left out. Returns
/// `None` without texts, or if they do not agree on the first sentence.
pub fn in_ranges<'s>(texts: impl IntoIterator<Item = &'s str>) -> Option<String> {
    let all: Vec<Vec<Vec<Piece<'_>>>> = texts.into_iter().map(sentences).collect();
    let (first, others) = all.split_first()?;
    let of_all = |sentence: &Vec<Piece<'s>>| {
        others.iter().try_fold(sentence.clone(), |known, other| {
            other.iter().find_map(|sentence| merged(&known, sentence))
        })
    };
    let found: Vec<Option<Vec<Piece<'_>>>> = first.iter().map(of_all).collect();
    found.first()?.as_ref()?;
    let text =
        |pieces: &Vec<Piece<'_>>| pieces.iter().map(Piece::text).collect::<Vec<_>>().join(" ");
    Some(found.iter().flatten().map(text).collect::<Vec<_>>().join(" "))
}

/// Returns the text whose first number is the highest, or the first text if none has a number.
/// `None` without texts.
pub fn highest<'s>(texts: impl IntoIterator<Item = &'s str>) -> Option<&'s str> {
    let number = |text: &str| {
        let all = sentences(text);
        let found = all.iter().flatten().find_map(|piece| match piece {
            Piece::Range { high, .. } => Some(high.value),
            Piece::Word(_) => None,
        });
        found.unwrap_or(f64::NEG_INFINITY)
    };
    let higher = |known: &'s str, text| if number(text) > number(known) { text } else { known };
    texts.into_iter().reduce(higher)
}

/// Splits a text into sentences, each into pieces. A full stop followed by a blank ends a sentence.
fn sentences(text: &str) -> Vec<Vec<Piece<'_>>> {
    text.split_inclusive(". ").map(|sentence| pieces(sentence.trim_end())).collect()
}

/// Merges two sentences into one with a range for each number; `None` if they differ in more than
/// numbers.
fn merged<'s>(one: &[Piece<'s>], other: &[Piece<'s>]) -> Option<Vec<Piece<'s>>> {
    if one.len() != other.len() {
        return None;
    }
    one.iter().zip(other).map(|(one, other)| one.merged(other)).collect()
}

/// A piece of a sentence: a word, or a number as a range, whose ends are equal for a single number.
#[derive(Clone, Debug, PartialEq)]
enum Piece<'s> {
    Word(&'s str),
    Range { before: &'s str, low: End<'s>, high: End<'s>, after: &'s str },
}

/// One end of a range of numbers. A unit of time is read with the number, and `value` is in seconds
/// then; any other unit belongs to the text after the number, and `unit` is empty.
#[derive(Clone, Copy, Debug, PartialEq)]
struct End<'s> {
    value: f64,
    text: &'s str,
    unit: &'s str,
}

impl<'s> Piece<'s> {
    fn merged(&self, other: &Piece<'s>) -> Option<Piece<'s>> {
        use Piece::Range;
        match (self, other) {
            (
                Range { before, low, high, after },
                Range {
                    before: other_before,
                    low: other_low,
                    high: other_high,
                    after: other_after,
                },
            ) if before == other_before && after == other_after => Some(Range {
                before,
                low: if other_low.value < low.value { *other_low } else { *low },
                high: if other_high.value > high.value { *other_high } else { *high },
                after,
            }),
            (Piece::Word(one), Piece::Word(two)) if is_plural(one, two) => Some(self.clone()),
            (Piece::Word(one), Piece::Word(two)) if is_plural(two, one) => Some(other.clone()),
            _ => (self == other).then(|| self.clone()),
        }
    }

    fn text(&self) -> String {
        match self {
            Piece::Word(word) => (*word).to_owned(),
            Piece::Range { before, low, high, after } => {
                let with_unit = |end: &End<'_>| match end.unit {
                    "" => end.text.to_owned(),
                    unit => format!("{} {unit}", end.text),
                };
                let low = match (low.value == high.value, low.unit == high.unit) {
                    (true, _) => String::new(),
                    (false, true) => format!("{} to ", low.text),
                    (false, false) => format!("{} to ", with_unit(low)),
                };
                format!("{before}{low}{}{after}", with_unit(high))
            }
        }
    }
}

fn pieces(sentence: &str) -> Vec<Piece<'_>> {
    let words: Vec<&str> = sentence.split(' ').collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let is_name = at > 0 && NAMED.contains(&words[at - 1]);
        let range = if is_name { None } else { range(&words[at..]) };
        let (piece, n_words) = range.unwrap_or((Piece::Word(words[at]), 1));
        found.push(piece);
        at += n_words;
    }
    found
}

/// Reads the number or range at the beginning of the words. Returns it with the number of words
/// read; `None` if there is no number.
fn range<'s>(words: &[&'s str]) -> Option<(Piece<'s>, usize)> {
    let before = &words[0][..words[0].len() - words[0].trim_start_matches('(').len()];
    let (mut low, after, n_words) = end(words)?;
    let is_range = after.is_empty() && words.get(n_words) == Some(&"to");
    match words.get(n_words + 1..).filter(|_| is_range).and_then(end) {
        Some((high, after, n_more)) => {
            if low.unit.is_empty() {
                low = End { value: low.value * seconds(high.unit), unit: high.unit, ..low };
            }
            Some((Piece::Range { before, low, high, after }, n_words + 1 + n_more))
        }
        None => Some((Piece::Range { before, low, high: low, after }, n_words)),
    }
}

/// Reads the number at the beginning of the words, with a unit of time if one follows. Returns it
/// with the punctuation that follows and the number of words read; `None` if there is no number.
fn end<'s>(words: &[&'s str]) -> Option<(End<'s>, &'s str, usize)> {
    let (text, after) = bare(words.first()?);
    let is_number = text.starts_with(|first: char| first.is_ascii_digit());
    let value = text.replace(',', "").parse::<f64>().ok().filter(|_| is_number)?;
    let unit = words.get(1).filter(|_| after.is_empty()).map(|word| bare(word));
    match unit.filter(|(unit, _)| ns_of_unit(unit).is_some()) {
        Some((unit, after)) => Some((End { value: value * seconds(unit), text, unit }, after, 2)),
        None => Some((End { value, text, unit: "" }, after, 1)),
    }
}

/// Strips brackets and punctuation from a word. Also returns the punctuation that followed it.
fn bare(word: &str) -> (&str, &str) {
    let word = word.trim_start_matches('(');
    let bare = word.trim_end_matches(['.', ',', ';', ':', ')']);
    (bare, &word[bare.len()..])
}

/// Returns true if the first word is the plural of the second, which follows the number 1.
fn is_plural(word: &str, singular: &str) -> bool {
    let ((word, after), (singular, other)) = (bare(word), bare(singular));
    after == other && word.strip_suffix('s') == Some(singular)
}

fn seconds(unit: &str) -> f64 {
    ns_of_unit(unit).map_or(1.0, |ns| ns / 1e9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_differ_in_numbers_become_one_with_ranges() {
        let check = |sentences: &[&str], expect: Option<&str>| {
            assert_eq!(in_ranges(sentences.iter().copied()).as_deref(), expect, "{sentences:?}");
        };
        check(
            &["Busy for 90.5 %.", "Busy for 93 %.", "Busy for 9 %."],
            Some("Busy for 9 to 93 %."),
        );
        let cpu = ["took 72 % (1.4 of 2 processors).", "took 7 % (0.14 of 2 processors)."];
        check(&cpu, Some("took 7 to 72 % (0.14 to 1.4 of 2 processors)."));
        let waits = ["waited 1.16 ms, on average", "waited 260 µs, on average"];
        check(&waits, Some("waited 260 µs to 1.16 ms, on average"));
        check(&["at 1,000 s.", "at 4.1 s."], Some("at 4.1 to 1,000 s."));
        // A text that already has ranges can be merged again.
        check(&["took 260 to 300 µs", "took 1 ms"], Some("took 260 µs to 1 ms"));
        check(&["the same 5 times"; 2], Some("the same 5 times"));
        check(&["one 5 s"], Some("one 5 s"));
        // A sentence that only some texts have is left out, unless it comes first.
        let some = ["Late by 5 ms. Far off. Measure again.", "Late by 7 ms. Measure again."];
        check(&some, Some("Late by 5 to 7 ms. Measure again."));
        check(&["Far off. Late by 5 ms.", "Late by 7 ms."], None);
        // Other words mean other things, and so do numbers of processes.
        check(&["1 stall in all", "1 pause in all"], None);
        check(&["1 stall, in all", "2 stalls, in all"], Some("1 to 2 stalls, in all"));
        check(&["The clock of process 1 was", "The clock of process 2 was"], None);
        check(&[], None);
    }

    #[test]
    fn of_sentences_that_differ_in_words_the_one_with_the_highest_number_is_told() {
        let all = ["The disk took 7 ms.", "A file took 1.2 s, of 900.", "The network took 80 ms."];
        assert_eq!(highest(all), Some(all[1]));
        assert_eq!(highest(["without", "any"]), Some("without"));
        assert_eq!(highest([]), None);
    }
}
