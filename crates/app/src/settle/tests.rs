//! Tests of settling: its sentence and facts, and the estimated time left.

use super::*;

#[test]
fn what_was_reached_is_a_sentence_and_facts_by_step() {
    let settled = Settled {
        seconds: 12.3456,
        commits: Some(7),
        written_bytes: Some(3_000_000),
        steps: vec![
            StepDone { name: "purge", seconds: 10.0, level: Some(("history_list", 12_345, 3)) },
            StepDone { name: "checkpoint", seconds: 2.0, level: None },
        ],
        incomplete: vec![Incomplete::new(
            "history list 3".to_owned(),
            "The history list stayed at 3".to_owned(),
            "Open transactions may hold it.",
        )],
        is_interrupted: false,
    };
    let begins = "not settled within 12.346s: history list 3; purge 10s (history list 12,345 \
                  to 3), checkpoint 2s, ";
    assert!(settled.sentence().starts_with(begins), "{}", settled.sentence());
    let at_rest = Settled { incomplete: Vec::new(), ..settled.clone() };
    let begins = "settled in 12.346s, purge 10s (history list 12,345 to 3), ";
    assert!(at_rest.sentence().starts_with(begins), "{}", at_rest.sentence());
    let events = settled.events("settle_before", "before the load");
    let Some(Event::Finding(finding)) = events.last() else { panic!("it is not settled") };
    let begins = "Not at rest before the load: The history list stayed at 3. Open";
    assert!(finding.text.starts_with(begins) && !finding.text.contains("grant"), "{finding:?}");
    let shown: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            Event::Fact(fact) => Some(format!("{} {}", fact.name, fact.value)),
            _ => None,
        })
        .collect();
    assert_eq!(
        shown,
        [
            "took_s 12.346",
            "commits 7",
            "written_bytes 3000000",
            "purge_took_s 10.000",
            "history_list_before 12345",
            "history_list_after 3",
            "checkpoint_took_s 2.000",
        ]
    );
}

#[test]
fn the_time_left_is_that_of_the_pace_of_the_last_looks() {
    let left = |looks: &[(u64, i64)], since_fell| {
        let looks = looks.iter().map(|(ms, level)| (Duration::from_millis(*ms), *level));
        time_left(&looks.collect(), Duration::from_secs(since_fell))
    };
    assert_eq!(left(&[(1_000, 100), (3_000, 60)], 0), ", about 3s left");
    assert_eq!(left(&[(1_000, 100), (1_250, 60)], 0), "", "too soon");
    assert_eq!(left(&[(1_000, 60), (3_000, 60)], 2), "");
    assert_eq!(left(&[(1_000, 60), (4_000, 60)], 4), ", not falling: given up in 6s");
}
