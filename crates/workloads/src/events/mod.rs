//! `events`: writers insert records with time stamps, readers fetch the newest records and measure
//! their age.
//!
//! Derived from the event measurement benchmark (EMB) of "Measuring MySQL Server Performance for
//! Sensor Data Stream Processing" (J. Nikom, MIT Lincoln Laboratory, 2006): its query, its tables
//! and result tables. Writers and readers are groups of one run. Not here: writers alone (record).

mod account;
mod checks;
mod parameters;
mod reader;
mod seen;
mod tables;
mod writer;

use std::sync::Arc;

use model::{
    BadParameter, Check, Client, Crosscheck, CustomMetric, CustomMetricKind, Dialect, Direction,
    Fact, Identity, Kind, KindIndex, NS_PER_S, Number, Places, Population, PrimaryMetric,
    PrimaryOf, Producer, ProducerContext, ProducerTask, Producing, Signal, Statement, Stored,
    Workload, until,
};

use self::account::Account;
use self::parameters::{Data, NAME, PARAMETERS, Reading, Role};
use self::reader::Reader;
use self::tables::{Rows, records};
use self::writer::Writer;
use crate::{Entry, GroupRole, Make};
use model::MEGABYTE;

pub(crate) static ENTRY: Entry = Entry {
    name: NAME,
    data: NAME,
    summary: "Writers insert records, readers fetch the newest: measures the age of a record when \
              it is first read",
    parameters: PARAMETERS,
    roles: &[
        GroupRole {
            name: "writers",
            default: "3",
            help: "Clients that insert time-stamped records, each into its own table",
            values: &[("rate", "2MB/s")],
            parameters: &[("role", "writer")],
            flags: &[],
            count_parameter: Some("tables"),
        },
        GroupRole {
            name: "readers",
            default: "6",
            help: "Clients that fetch the newest records; readers are assigned to the tables in \
                   turn",
            values: &[],
            parameters: &[("role", "reader")],
            flags: &["processes"],
            count_parameter: None,
        },
    ],
    make,
    source: None,
};

/// Custom metrics of writers, in the order of their index constants in the module `writer`.
static WRITER_MEASURES: [CustomMetric; 2] = [
    CustomMetric {
        name: "records",
        unit: "records",
        kind: CustomMetricKind::Counter,
        better: Direction::Higher,
    },
    CustomMetric {
        name: "bytes",
        unit: "B",
        kind: CustomMetricKind::Counter,
        better: Direction::Higher,
    },
];

/// Custom metrics of readers, in the order of their index constants in the module `reader`.
static READER_MEASURES: [CustomMetric; 7] = [
    CustomMetric {
        name: "age",
        unit: "ns",
        kind: CustomMetricKind::Histogram,
        better: Direction::Lower,
    },
    CustomMetric {
        name: "time_between_reads",
        unit: "ns",
        kind: CustomMetricKind::Histogram,
        better: Direction::Lower,
    },
    CustomMetric {
        name: "window_query",
        unit: "ns",
        kind: CustomMetricKind::Histogram,
        better: Direction::Lower,
    },
    CustomMetric {
        name: "plain_query",
        unit: "ns",
        kind: CustomMetricKind::Histogram,
        better: Direction::Lower,
    },
    CustomMetric {
        name: "records_read",
        unit: "records",
        kind: CustomMetricKind::Counter,
        better: Direction::Higher,
    },
    CustomMetric {
        name: "missed",
        unit: "records",
        kind: CustomMetricKind::Counter,
        better: Direction::Lower,
    },
    CustomMetric {
        name: "duplicates",
        unit: "records",
        kind: CustomMetricKind::Counter,
        better: Direction::Lower,
    },
];

const fn kind(name: &'static str) -> Kind {
    Kind { name, weight: 1, keying_ns: 0, thinking_ns: 0 }
}

static WRITER_KINDS: [Kind; 1] = [kind("insert")];
static READER_KINDS: [Kind; 3] = [kind("read"), kind("read_plain"), kind("history")];

/// Settings and state that all clients of a group share.
struct Shared {
    data: Data,
    reading: Reading,
    records_per_insert: usize,
    seed: u64,
    account: Account,
    /// Signal that is raised at the start of each read interval.
    ticks: Arc<Signal>,
}

struct Events {
    role: Role,
    shared: Arc<Shared>,
    rows: Rows,
    /// Signal for producers that wait for room in a queue. It is never raised, because the producer
    /// of `events` does not wait.
    no_room: Arc<Signal>,
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let data = Data::new(make)?;
    let shared = Shared {
        data,
        reading: Reading::new(make.settings)?,
        records_per_insert: make.settings.count("records_per_insert") as usize,
        seed: make.seed,
        account: Account::default(),
        ticks: Arc::default(),
    };
    Ok(Arc::new(Events {
        role: make.settings.chosen("role"),
        shared: Arc::new(shared),
        rows: Rows::new(data),
        no_room: Arc::default(),
    }))
}

impl Events {
    fn of_writers(&self) -> Vec<String> {
        let Shared { data, records_per_insert, .. } = self.shared.as_ref();
        let plural = if *records_per_insert == 1 { "record" } else { "records" };
        let mut all = vec![format!(
            "A writer's transaction is one INSERT of {records_per_insert} {plural} of {} bytes \
             into the writer's own table. The time stamp is the intended start of the transaction \
             (in open load, the arrival).",
            data.record_size
        )];
        let engine = data.engine.asked();
        all.extend(engine.map(|name| format!("The tables are made in the storage engine {name}.")));
        all
    }

    fn of_readers(&self) -> Vec<String> {
        let Reading { window, has_results, .. } = self.shared.reading;
        let mut all = vec![
            format!(
                "A read fetches the newest {window} records of a table through a derived table; \
                 the condition on column1 selects all of them."
            ),
            "The age of a record is the time from its stamp to the end of the reply with which a \
             reader read it first. Records that were in the table before a reader's first read are \
             not counted."
                .to_owned(),
        ];
        if has_results {
            let words = "A read that finds new records writes them into the result tables; its \
                         response time includes the writing, window_query does not.";
            all.push(words.to_owned());
        }
        all
    }
}

impl Workload for Events {
    fn identity(&self) -> Identity {
        self.shared.data.identity()
    }

    fn kinds(&self) -> &[Kind] {
        match self.role {
            Role::Writer => &WRITER_KINDS,
            Role::Reader => &READER_KINDS,
        }
    }

    fn custom_metrics(&self) -> &[CustomMetric] {
        match self.role {
            Role::Writer => &WRITER_MEASURES,
            Role::Reader => &READER_MEASURES,
        }
    }

    /// Declares the primary metrics: rates of committed records and of their bytes, for writers
    /// only.
    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        if self.role == Role::Reader {
            return Vec::new();
        }
        let records = self.shared.records_per_insert as u64;
        let bytes = records * self.shared.data.record_size;
        let primary = |name, title, per_ns| PrimaryMetric {
            name,
            title,
            of: PrimaryOf::Rate { kinds: vec![0], metric: None, per_ns },
            better: Direction::Higher,
        };
        vec![
            primary("records_per_s", "records/s", NS_PER_S * records),
            primary("mb_per_s", "MB/s", NS_PER_S / MEGABYTE * bytes),
        ]
    }

    fn notes(&self) -> Vec<String> {
        match self.role {
            Role::Writer => self.of_writers(),
            Role::Reader => self.of_readers(),
        }
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        match self.role {
            Role::Writer => writer::statements(&self.shared, dialect),
            Role::Reader => reader::statements(&self.shared, dialect),
        }
    }

    fn transaction_stores(&self) -> Option<Stored> {
        let records = self.shared.records_per_insert as u64;
        let bytes = records * self.shared.data.record_size;
        (self.role == Role::Writer).then_some(Stored { records, bytes })
    }

    fn refuses_clients(&self, clients: u32) -> Option<String> {
        let tables = self.shared.data.tables;
        let are_too_many = self.role == Role::Writer && clients as usize > tables;
        are_too_many.then(|| {
            format!(
                "clients: {clients} writers need {clients} tables, and there are {tables}: use \
                 fewer writers, or build the data with --tables {clients}"
            )
        })
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        match self.role {
            Role::Writer => 0,
            Role::Reader => reader::kind_of(&self.shared, number.nth()),
        }
    }

    fn client(&self, client: u32) -> Box<dyn Client> {
        self.client_of_group(client, client)
    }

    fn client_of_group(&self, client: u32, nth: u32) -> Box<dyn Client> {
        let shared = Arc::clone(&self.shared);
        match self.role {
            Role::Writer => Box::new(Writer::new(shared, client)),
            Role::Reader => Box::new(Reader::new(shared, client, nth + 1)),
        }
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.rows)
    }

    fn producer(&self) -> Option<&dyn Producer> {
        Some(self)
    }

    /// Whether this group can run on a database that stores no data. Writers can, since they begin
    /// with the first number then; readers would have nothing to read.
    fn is_blind(&self) -> bool {
        self.role == Role::Writer
    }

    /// Whether no other run may use the tables at the same time. True for writers, because a table
    /// with two writers would have gaps in the numbers of its records.
    fn needs_tables_alone(&self) -> bool {
        self.role == Role::Writer
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        checks::checks(&self.shared.data)
    }

    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        if self.role == Role::Reader {
            return None;
        }
        let count = |place: usize| format!("(SELECT COUNT(*) FROM {})", records(place));
        let counts: Vec<String> = (0..self.shared.data.tables).map(count).collect();
        let per_commit = self.shared.records_per_insert as u64;
        Some(Crosscheck { sql: format!("SELECT {}", counts.join(" + ")), kind: 0, per_commit })
    }
}

/// Producer that generates no input: it signals the start of each read interval, and reports the
/// counts of records.
impl Producer for Events {
    fn begin(&self) -> Vec<Box<dyn ProducerTask>> {
        self.shared.account.begin();
        let interval_ns = self.shared.reading.interval_ns;
        match self.role == Role::Reader && interval_ns > 0 {
            true => vec![Box::new(Ticker { interval_ns, ticks: Arc::clone(&self.shared.ticks) })],
            false => Vec::new(),
        }
    }

    fn is_limited(&self) -> bool {
        false
    }

    fn for_clients(&self) -> Arc<Signal> {
        Arc::clone(&self.shared.ticks)
    }

    fn for_tasks(&self) -> Arc<Signal> {
        Arc::clone(&self.no_room)
    }

    fn account(&self) -> Vec<Fact> {
        self.shared.account.facts()
    }
}

/// Task that raises the signal `ticks` at the start of each read interval.
struct Ticker {
    interval_ns: u64,
    ticks: Arc<Signal>,
}

impl ProducerTask for Ticker {
    fn name(&self) -> String {
        "read-interval".to_owned()
    }

    fn produce<'a>(&'a mut self, context: &'a ProducerContext<'_>) -> Producing<'a> {
        Box::pin(async move {
            let mut due_ns = context.clock.now();
            while !(context.is_over)() {
                self.ticks.raise();
                due_ns += self.interval_ns;
                until(context.clock, due_ns).await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use model::Settings;

    use super::*;

    /// Builds the workload `events` with these parameters, for tests.
    pub(super) fn made(written: &[(&str, &str)]) -> Result<Arc<dyn Workload>, BadParameter> {
        let settings = Settings::decide(NAME, PARAMETERS, written.iter().copied())?;
        make(&Make { settings: &settings, seed: 7, data: None, source: None })
    }

    #[test]
    fn a_rate_in_bytes_or_records_is_one_of_writers_by_what_an_insert_stores() {
        let stores = |written: &[(&str, &str)]| made(written).expect("valid").transaction_stores();
        assert_eq!(stores(&[]), Some(Stored { records: 1, bytes: 1_000 }));
        let four = [("record_size", "250"), ("records_per_insert", "4")];
        assert_eq!(stores(&four), Some(Stored { records: 4, bytes: 1_000 }));
        assert_eq!(stores(&[("role", "reader")]), None);
    }

    #[test]
    fn there_are_no_more_writers_than_tables() {
        let refuses =
            |role, clients| made(&[("role", role)]).expect("valid").refuses_clients(clients);
        assert_eq!((refuses("writer", 3), refuses("reader", 300)), (None, None));
        let why = refuses("writer", 4).expect("refused");
        assert!(why.contains("there are 3") && why.contains("--tables 4"), "{why}");
    }
}
