//! The tables of `arm`, and the rows in each of them that the measurements in a buffer become.

use model::{Column, ColumnType, RowSource, Settings, Table, Value};

use super::claim::Claim;
use super::measurement::{Buffer, Measurement, Reader};
use super::parameters::{CONTEXTS_MAX, Contexts};

/// Layout of the tables of `arm`, which follows from the workload's parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) contexts: Contexts,
    pub(super) context_bytes: u16,
    pub(super) has_keys: bool,
}

/// Index in [`Layout::tables`] of the table of measurements.
pub(super) const MEASUREMENT: usize = 0;
pub(super) const METRIC: usize = 1;
pub(super) const BUFFER: usize = 2;
pub(super) const CONTEXT: usize = 3;

/// Code of the metric type gauge, which ARM 4.0 defines as a value that goes up and down. Code 1 is
/// a counter, 3 a number without an order.
pub(super) const GAUGE: i64 = 2;

/// Names of the columns for context values, from the first to the last value of a measurement.
pub(super) static CONTEXT_COLUMNS: [&str; CONTEXTS_MAX as usize] = [
    "context_1",
    "context_2",
    "context_3",
    "context_4",
    "context_5",
    "context_6",
    "context_7",
    "context_8",
    "context_9",
    "context_10",
    "context_11",
    "context_12",
    "context_13",
    "context_14",
    "context_15",
    "context_16",
    "context_17",
    "context_18",
    "context_19",
    "context_20",
];

impl Layout {
    pub(super) fn from_settings(settings: &Settings) -> Layout {
        Layout {
            contexts: settings.chosen("contexts"),
            context_bytes: settings.count("context_bytes") as u16,
            has_keys: settings.switch("keys"),
        }
    }

    /// Declares the tables of `arm`, in the order of their indices.
    pub(super) fn tables(&self) -> Vec<Table> {
        let column = |name, column_type| Column { name, of: column_type, nullable: false };
        let optional = |name, column_type| Column { name, of: column_type, nullable: true };
        let table = |name: &'static str, columns, primary_key: Vec<&'static str>| Table {
            name: name.into(),
            columns,
            primary_key: if self.has_keys { primary_key } else { Vec::new() },
            indexes: Vec::new(),
        };
        use ColumnType::{BigInt, SmallInt, VarChar};
        let mut measurement = vec![
            column("id", BigInt),
            column("class", SmallInt),
            column("start_ns", BigInt),
            column("stop_ns", BigInt),
            column("response_ns", BigInt),
            column("status", SmallInt),
            optional("correlator", BigInt),
            optional("parent_correlator", BigInt),
            optional("diagnostic", VarChar(255)),
        ];
        match self.contexts {
            Contexts::Rows => {}
            Contexts::Columns => {
                let value_type = VarChar(self.context_bytes);
                measurement.extend(CONTEXT_COLUMNS.map(|name| optional(name, value_type)));
            }
            Contexts::Json => {
                let n_most = CONTEXTS_MAX as u16 * (self.context_bytes + JSON_BYTES) + 2;
                measurement.push(optional("contexts", VarChar(n_most)));
            }
        }
        let slots = |value| vec![column("measurement", BigInt), column("slot", SmallInt), value];
        let mut metric = slots(column("value", BigInt));
        metric.insert(2, column("kind", SmallInt));
        let ledger = vec![
            column("id", BigInt),
            column("class", SmallInt),
            column("class_name", VarChar(100)),
            column("measurements", BigInt),
            column("metrics", BigInt),
            column("contexts", BigInt),
            column("last_id", BigInt),
            column("checksum", BigInt),
            column("metrics_checksum", BigInt),
            column("contexts_checksum", BigInt),
        ];
        let mut tables = vec![
            table("arm_measurement", measurement, vec!["id"]),
            table("arm_metric", metric, vec!["measurement", "slot"]),
            Table { primary_key: vec!["id", "class"], ..table("arm_buffer", ledger, Vec::new()) },
        ];
        if self.contexts == Contexts::Rows {
            let value = column("value", VarChar(self.context_bytes));
            tables.push(table("arm_context", slots(value), vec!["measurement", "slot"]));
        }
        tables
    }

    /// Returns the indices of those tables that contain measurements, without the table that lists
    /// the buffers.
    pub(super) fn written(&self) -> &'static [usize] {
        match self.contexts {
            Contexts::Rows => &[MEASUREMENT, METRIC, CONTEXT],
            Contexts::Columns | Contexts::Json => &[MEASUREMENT, METRIC],
        }
    }
}

impl Layout {
    /// Returns the number of rows that the measurements of `buffer` become in the table with index
    /// `table`.
    pub(super) fn n_rows(&self, table: usize, buffer: &Buffer) -> u64 {
        let rows = |measurement: Measurement<'_>| match table {
            MEASUREMENT => 1,
            METRIC => u64::from(measurement.head.n_metrics),
            _ => u64::from(measurement.head.n_contexts),
        };
        buffer.read(usize::from(self.context_bytes)).map(rows).sum()
    }
}

/// Maximum number of characters that JSON adds to a context value: `"context_20":"",`.
const JSON_BYTES: u16 = 16;

/// Iterator over the rows of a buffer for one table.
pub(super) struct Rows<'a> {
    layout: Layout,
    table: usize,
    claim: &'a Claim,
    rest: Reader<'a>,
    /// Measurement whose metrics or context values are being returned, with the index of the last
    /// one returned; `None` before the first.
    current: Option<(Measurement<'a>, usize)>,
    json: String,
}

impl<'a> Rows<'a> {
    pub(super) fn new(
        layout: Layout,
        table: usize,
        claim: &'a Claim,
        buffer: &'a Buffer,
    ) -> Rows<'a> {
        let rest = buffer.read(usize::from(layout.context_bytes));
        Rows { layout, table, claim, rest, current: None, json: String::new() }
    }

    fn measurement(&mut self, measurement: &Measurement<'_>, emit: &mut dyn FnMut(&[Value<'_>])) {
        let head = &measurement.head;
        let id = self.claim.id(head.number);
        let int = |yes: bool, value: i64| if yes { Value::Int(value) } else { Value::Null };
        let mut row = [Value::Null; 9 + CONTEXTS_MAX as usize];
        row[..9].copy_from_slice(&[
            Value::Int(id),
            Value::Int(self.claim.class(head)),
            Value::Int(head.start_ns as i64),
            Value::Int(head.stop_ns as i64),
            Value::Int((head.stop_ns - head.start_ns) as i64),
            Value::Int(head.status as i64),
            int(head.has_correlator, id),
            int(head.parent > 0, self.claim.id(head.parent)),
            measurement.diagnostic().map_or(Value::Null, Value::Text),
        ]);
        let width = match self.layout.contexts {
            Contexts::Rows => 9,
            Contexts::Columns => {
                for (place, value) in row[9..].iter_mut().zip(measurement.contexts()) {
                    *place = Value::Text(value);
                }
                row.len()
            }
            Contexts::Json => {
                self.json.clear();
                for (slot, value) in measurement.contexts().enumerate() {
                    self.json.push(if slot == 0 { '{' } else { ',' });
                    for part in ["\"", CONTEXT_COLUMNS[slot], "\":\"", value, "\""] {
                        self.json.push_str(part);
                    }
                }
                if head.n_contexts > 0 {
                    self.json.push('}');
                    row[9] = Value::Text(&self.json);
                }
                10
            }
        };
        emit(&row[..width]);
    }

    /// Returns the next metric or context value, given as a measurement and the index of the value
    /// in that measurement; `None` at the end of the buffer.
    fn slot(&mut self) -> Option<(Measurement<'a>, usize)> {
        let n_slots = |measurement: &Measurement<'_>| match self.table {
            METRIC => usize::from(measurement.head.n_metrics),
            _ => usize::from(measurement.head.n_contexts),
        };
        let mut next = self.current.map(|(measurement, slot)| (measurement, slot + 1));
        loop {
            match next {
                Some((measurement, slot)) if slot < n_slots(&measurement) => break,
                _ => next = Some((self.rest.next()?, 0)),
            }
        }
        self.current = next;
        next
    }
}

impl RowSource for Rows<'_> {
    fn next(&mut self, emit: &mut dyn FnMut(&[Value<'_>])) -> bool {
        if self.table == MEASUREMENT {
            let Some(measurement) = self.rest.next() else { return false };
            self.measurement(&measurement, emit);
            return true;
        }
        let Some((measurement, slot)) = self.slot() else { return false };
        let id = Value::Int(self.claim.id(measurement.head.number));
        let number = Value::Int(slot as i64 + 1);
        match self.table {
            METRIC => {
                let value = measurement.metrics().nth(slot).expect("it has the slot");
                emit(&[id, number, Value::Int(GAUGE), Value::Int(value)]);
            }
            _ => {
                let value = measurement.contexts().nth(slot).expect("it has the slot");
                emit(&[id, number, Value::Text(value)]);
            }
        }
        true
    }
}
