//! Tests of the web service's addresses, and that text of users is escaped.

use askama::Template;
use model::{RunId, Status};
use store::RunRow;

use super::list::RowView;
use super::query::{Pairs, query};

/// Makes a row of the list for a run with this id, in which almost all else is empty.
pub(super) fn row(id: &str) -> RunRow {
    RunRow {
        run: RunId(id.to_owned()),
        started_unix_ms: 0,
        ended_unix_ms: None,
        status: Status::Completed,
        name: String::new(),
        workload: "tpcc".to_owned(),
        target: String::new(),
        database: String::new(),
        clients: 1,
        tps: None,
        primary: None,
        p99_ms: None,
        measured_ns: None,
        worst_finding: None,
        events_lost: 0,
        dbdyno: String::new(),
        labels: Vec::new(),
        point: Vec::new(),
        experiment: None,
        figures: Vec::new(),
    }
}

#[test]
fn an_address_is_read_leniently_and_written_exactly() {
    let pairs = Pairs::parse("side=a%26b&side=&x=1&side=c+d&x=2");
    assert_eq!(pairs.all("side").collect::<Vec<_>>(), ["a&b", "c d"]);
    assert_eq!(pairs.get("x"), Some("2"));
    assert_eq!(pairs.with("x", "ü=ü"), "?side=a%26b&side=c+d&x=%C3%BC%3D%C3%BC");
    assert_eq!(Pairs::parse("%zz&&=&a").get("a"), None);
    assert_eq!(Pairs::parse("").text(), "");
    assert_eq!(query(&[("next", "/runs/a?b=c&d")]), "?next=%2Fruns%2Fa%3Fb%3Dc%26d");
}

#[test]
fn what_people_wrote_is_shown_as_text() {
    #[derive(Template)]
    #[template(
        source = "{{ row.name }} {% for label in row.labels %}{{ label.text }} {{ label.href }}\
                  {% endfor %} {{ row.target }}",
        ext = "html"
    )]
    struct Part {
        row: RowView,
    }
    let evil = "<script>alert('1')</script>\"&";
    let row = RunRow {
        name: evil.to_owned(),
        target: evil.to_owned(),
        database: evil.to_owned(),
        labels: vec![(evil.to_owned(), evil.to_owned())],
        ..row("01a1ffb6-0000-7000-8000-000000000001")
    };
    let html = Part { row: RowView::plain(&row) }.render().unwrap();
    assert!(!html.contains('<') && !html.contains('"') && !html.contains('\''), "{html}");
}
