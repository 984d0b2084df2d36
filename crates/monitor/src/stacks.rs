//! Folding of sampled call stacks, as printed by `perf script`: equal stacks become one line of
//! frames with a count.
//!
//! Not here: sampling (cpu_profiler).

use std::collections::HashMap;

use model::{FRAME_SEPARATOR, KERNEL_FRAME};

/// Limit on the distinct stacks that are kept in a profile; rarer ones would be invisible in a
/// graph.
const STACKS_MAX: usize = 5_000;

/// Limit on the bytes of all stacks kept in a profile; the store compresses them to a tenth or
/// less.
const BYTES_MAX: usize = 4 << 20;

/// Limit on the distinct stacks in memory. Samples of further stacks are counted as left out.
const DISTINCT_MAX: usize = 200_000;

/// Limit on the characters that are kept of a function's name: those of templates may be longer
/// than a screen.
const LETTERS_MAX: usize = 160;

/// Limit on the frames that are kept of a stack, starting at the function that was running; further
/// callers are left out.
const FRAMES_MAX: usize = 128;

/// Counter of equal call stacks in the output of `perf script`, which is passed line by line.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    /// Name of the thread of the current sample; `None` before the first line of a sample.
    thread: Option<String>,
    /// Functions on the stack of the current sample, innermost first.
    frames: Vec<String>,
    counts: HashMap<String, u64>,
    samples: u64,
    /// Number of samples that were left out, because [`DISTINCT_MAX`] other stacks were in memory.
    overflow: u64,
}

/// Folded call stacks of a CPU profile, each with its number of samples.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folded {
    pub(crate) samples: u64,
    pub(crate) stacks: Vec<(String, u64)>,
    pub(crate) stacks_cut: u64,
    pub(crate) samples_cut: u64,
}

impl Folder {
    /// Adds a line of the output of `perf script -F comm,event,ip,sym,dso`. A sample is a line with
    /// its thread, a line for each frame, and an empty line.
    pub(crate) fn line(&mut self, line: &str) {
        let is_frame = line.starts_with('\t');
        if line.trim().is_empty() {
            self.end_sample();
        } else if is_frame {
            if self.thread.is_some() && self.frames.len() < FRAMES_MAX {
                self.frames.extend(frame(line));
            }
        } else {
            // A sample without frames ends at the next one.
            self.end_sample();
            self.thread = thread(line);
        }
    }

    fn end_sample(&mut self) {
        let Some(thread) = self.thread.take() else { return };
        self.samples += 1;
        let mut stack = thread;
        for frame in self.frames.drain(..).rev() {
            stack.push(FRAME_SEPARATOR);
            stack.push_str(&frame);
        }
        let is_full = self.counts.len() >= DISTINCT_MAX;
        match self.counts.get_mut(&stack) {
            Some(count) => *count += 1,
            None if is_full => self.overflow += 1,
            None => drop(self.counts.insert(stack, 1)),
        }
    }

    /// Returns the most frequent stacks, sorted by their text, and the numbers of stacks and
    /// samples left out.
    pub(crate) fn end(self) -> Folded {
        self.end_within(STACKS_MAX, BYTES_MAX)
    }

    fn end_within(mut self, stacks_max: usize, bytes_max: usize) -> Folded {
        self.end_sample();
        let mut stacks: Vec<(String, u64)> = self.counts.into_iter().collect();
        stacks.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        let mut bytes = 0;
        let fits = |(stack, _): &&(String, u64)| {
            bytes += stack.len();
            bytes <= bytes_max
        };
        let n_kept = stacks.iter().take(stacks_max).take_while(fits).count();
        let cut = stacks.split_off(n_kept);
        stacks.sort();
        Folded {
            samples: self.samples,
            stacks,
            stacks_cut: cut.len() as u64 + self.overflow,
            samples_cut: cut.iter().map(|(_, count)| count).sum::<u64>() + self.overflow,
        }
    }
}

/// Returns the thread's name from the first line of a sample: the text before the last word, which
/// is the event. A number at the end of the name is dropped, so that threads of a pool share a
/// name.
fn thread(line: &str) -> Option<String> {
    let (name, _event) = line.trim().trim_end_matches(':').rsplit_once(char::is_whitespace)?;
    let name = name.trim();
    let family = name.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let family = family.trim_end_matches(['-', '_', ' ']);
    Some(kept(if family.is_empty() { name } else { family }))
}

/// Returns the function in the line of a frame, which has an address, the function, and the file in
/// parentheses. `None` if it is malformed.
fn frame(line: &str) -> Option<String> {
    let (_address, rest) = line.trim().split_once(' ')?;
    let (function, file) = match rest.rsplit_once(" (") {
        Some((function, file)) => (function, file.trim_end_matches(')')),
        None => (rest, ""),
    };
    let is_kernel = file.starts_with('[') && !["[vdso]", "[unknown]"].contains(&file);
    Some(match function.trim() {
        "[unknown]" | "" => {
            let name = file.rsplit('/').next().unwrap_or(file).trim_matches(['[', ']']);
            kept(&format!("[{}]", if name.is_empty() { "unknown" } else { name }))
        }
        function if is_kernel => kept(function) + KERNEL_FRAME,
        function => kept(without_arguments(without_hash(function))),
    })
}

/// Cuts the name of a function or thread after [`LETTERS_MAX`] characters, and replaces the
/// character that separates frames in folded stacks, and control characters, by `:`.
fn kept(name: &str) -> String {
    name.chars()
        .take(LETTERS_MAX)
        .map(|letter| if letter == FRAME_SEPARATOR || letter.is_control() { ':' } else { letter })
        .collect()
}

/// Removes the hash from the path of a Rust function: `::h` and 16 hexadecimal digits.
fn without_hash(function: &str) -> &str {
    match function.rsplit_once("::h") {
        Some((path, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            path
        }
        _ => function,
    }
}

/// Removes the argument list from the name of a C++ function.
fn without_arguments(function: &str) -> &str {
    let whole = function.split(" [clone").next().unwrap_or(function).trim_end();
    let head = whole.strip_suffix(" const").unwrap_or(whole);
    if !head.ends_with(')') {
        return whole;
    }
    let mut depth = 0_usize;
    for (place, letter) in head.char_indices().rev() {
        match letter {
            ')' => depth += 1,
            '(' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return if place == 0 { whole } else { head[..place].trim_end() };
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sample output of `perf script -F comm,event,ip,sym,dso`, written for these tests.
    const TEXT: &str = "client-7 cpu-clock: \n\
        \tffffffff81a0 tcp_sendmsg ([kernel.kallsyms])\n\
        \t    7f10a0 __libc_send (/usr/lib/libc.so.6)\n\
        \t      5010 work::step::h0123456789abcdef (/opt/a b/program)\n\
        \t      4000 main (/opt/a b/program)\n\
        \n\
        client-12 cpu-clock: \n\
        \tffffffff81a0 tcp_sendmsg ([kernel.kallsyms])\n\
        \t    7f10a0 __libc_send (/usr/lib/libc.so.6)\n\
        \t      5020 work::step::h0123456789abcdef (/opt/a b/program)\n\
        \t      4000 main (/opt/a b/program)\n\
        \n\
        one connection cpu-clock: \n\
        \t      9000 Table::read(int, std::function<void (int)> const&) const (/usr/sbin/server)\n\
        \t         0 [unknown] (/usr/sbin/server)\n\
        \t         0 [unknown] ([unknown])\n\
        \n\
        idle cpu-clock: \n\
        \n";

    fn folder(text: &str) -> Folder {
        let mut folder = Folder::default();
        text.lines().for_each(|line| folder.line(line));
        folder
    }

    #[test]
    fn equal_stacks_are_one_from_the_thread_to_the_function_that_ran() {
        let folded = folder(TEXT).end();
        let stacks: Vec<(&str, u64)> =
            folded.stacks.iter().map(|(stack, count)| (stack.as_str(), *count)).collect();
        let expected = [
            ("client;main;work::step;__libc_send;tcp_sendmsg_[k]", 2),
            ("idle", 1),
            ("one connection;[unknown];[server];Table::read", 1),
        ];
        assert_eq!(stacks, expected);
        assert_eq!((folded.samples, folded.stacks_cut, folded.samples_cut), (4, 0, 0));
    }

    #[test]
    fn the_rarest_stacks_are_left_out_and_counted() {
        let folded = folder(TEXT).end_within(2, 1 << 20);
        let kept: Vec<u64> = folded.stacks.iter().map(|(_, count)| *count).collect();
        assert_eq!((kept, folded.stacks_cut, folded.samples_cut), (vec![2, 1], 1, 1));
        let folded = folder(TEXT).end_within(9, 60);
        assert_eq!((folded.stacks.len(), folded.samples, folded.samples_cut), (2, 4, 1));
        assert_eq!(folder("").end(), Folded::default());
        assert_eq!(folder("\tno sample\n\n\n x").end().samples, 0);
    }

    #[test]
    fn functions_have_names_without_arguments_and_hashes() {
        for (function, expected) in [
            ("main", "main"),
            ("a::b(int, (anonymous namespace)::c*)", "a::b"),
            ("(anonymous namespace)::f()", "(anonymous namespace)::f"),
            ("g(int) [clone .isra.0]", "g"),
            (
                "std::function<void (int)>::operator()(int) const",
                "std::function<void (int)>::operator()",
            ),
            ("<T as core::ops::Fn>::call", "<T as core::ops::Fn>::call"),
            ("()", "()"),
            ("))", "))"),
        ] {
            assert_eq!(without_arguments(function), expected);
        }
        assert_eq!(without_hash("a::h0123456789abcde"), "a::h0123456789abcde");
        assert_eq!(kept("a;b\nc"), "a:b:c");
        assert_eq!(frame("\t 0 x;y (a)").as_deref(), Some("x:y"));
        assert_eq!(frame("nothing"), None);
    }
}
