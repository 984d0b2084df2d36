//! `tpcc`: a workload derived from TPC-C, written from its standard specification, revision 5.11.
//!
//! Five transactions of a wholesale supplier over nine tables, with every update and check of the
//! specification. Not here: terminals, deferred deliveries, pricing, and other rules of an official
//! TPC result; `notes` lists what is left out. TPC-C is a trademark of the Transaction Processing
//! Performance Council.

mod batched;
mod checks;
mod delivery;
mod inputs;
mod new_order;
mod order_status;
mod parameters;
mod payment;
mod population;
mod procedures;
mod random;
mod requirements;
mod schema;
mod statements;
mod stock_level;
mod tx;

use std::sync::Arc;

use model::{
    BadParameter, Check, Client, Clock, Conversation, Crosscheck, CustomMetric, CustomMetricKind,
    DbError, Dialect, Direction, Done, Identity, Kind, KindIndex, NeedsTransactions, Number,
    Places, Population, PrimaryMetric, PrimaryOf, ROLLED_BACK, Request, Routine, SMALLER_DATA,
    Sent, Settings, Standard, Statement, TxContext, Workload,
};

use crate::tx_control::{control, end};
use crate::{Entry, Make};
use inputs::{Deck, Inputs};
use parameters::{Decided, Mode};
use tx::{Tx, Words};

pub(crate) static ENTRY: Entry = Entry {
    name: "tpcc",
    data: "tpcc",
    summary: "orders of a wholesale supplier, derived from TPC-C 5.11: five transaction types, \
              nine tables",
    parameters: parameters::PARAMETERS,
    roles: &[],
    make,
    source: None,
};

/// Names of the five transaction types, in the order of their indices.
const KINDS: [&str; parameters::N_KINDS] =
    ["new_order", "payment", "order_status", "delivery", "stock_level"];

/// Index of the custom metric `order_lines` in [`CUSTOM_METRICS`].
const ORDER_LINES: u16 = 0;
const BRAND_LINES: u16 = 1;
const ORDER_TOTAL: u16 = 2;
const ORDERS_DELIVERED: u16 = 3;
const DELIVERIES_SKIPPED: u16 = 4;
const LINES_ENTERED: u16 = 5;
const REMOTE_LINES: u16 = 6;
const REMOTE_PAYMENTS: u16 = 7;
const PAYMENTS_BY_NAME: u16 = 8;
const ORDER_STATUSES_BY_NAME: u16 = 9;
const SHORT_DELIVERIES: u16 = 10;

/// Custom metrics of `tpcc`, in the order of their index constants, such as [`ORDER_LINES`].
static CUSTOM_METRICS: [CustomMetric; 11] = [
    counter("order_lines", "rows"),
    counter("brand_lines", "rows"),
    counter("order_total", "cents"),
    counter("orders_delivered", "orders"),
    fault("deliveries_skipped", "districts"),
    counter("lines_entered", "rows"),
    counter("remote_lines", "rows"),
    counter("remote_payments", "payments"),
    counter("payments_by_name", "payments"),
    counter("order_statuses_by_name", "order statuses"),
    fault("short_deliveries", "deliveries"),
];

const fn counter(name: &'static str, unit: &'static str) -> CustomMetric {
    CustomMetric { name, unit, kind: CustomMetricKind::Counter, better: Direction::Higher }
}

const fn fault(name: &'static str, unit: &'static str) -> CustomMetric {
    CustomMetric { better: Direction::Lower, ..counter(name, unit) }
}

const NS_PER_MINUTE: u64 = 60_000_000_000;

struct Tpcc {
    decided: Arc<Decided>,
    kinds: Vec<Kind>,
    rows: population::Rows,
    notes: Vec<String>,
}

fn make(make: &Make<'_>) -> Result<Arc<dyn Workload>, BadParameter> {
    let decided = Arc::new(Decided::new(make)?);
    let kind = |(index, name): (usize, &&'static str)| Kind {
        name,
        weight: decided.weights[index],
        keying_ns: decided.keying_ns[index],
        thinking_ns: decided.thinking_ns[index],
    };
    let kinds = KINDS.iter().enumerate().map(kind).collect();
    let rows = population::Rows::new(decided.data);
    let notes = notes(make.settings, &decided);
    Ok(Arc::new(Tpcc { decided, kinds, rows, notes }))
}

impl Workload for Tpcc {
    fn identity(&self) -> Identity {
        self.decided.data.identity()
    }

    fn kinds(&self) -> &[Kind] {
        &self.kinds
    }

    fn custom_metrics(&self) -> &[CustomMetric] {
        &CUSTOM_METRICS
    }

    fn primary_metrics(&self) -> Vec<PrimaryMetric> {
        let primary = |name, title, kinds: std::ops::Range<KindIndex>| PrimaryMetric {
            name,
            title,
            of: PrimaryOf::Rate { kinds: kinds.collect(), metric: None, per_ns: NS_PER_MINUTE },
            better: Direction::Higher,
        };
        let n_kinds = KINDS.len() as KindIndex;
        vec![primary("nopm", "NOPM", 0..1), primary("tpm", "TPM", 0..n_kinds)]
    }

    fn standard(&self) -> Option<Standard> {
        Some(requirements::standard(&self.decided))
    }

    fn rolled_back_share(&self, kind: KindIndex) -> f64 {
        let share = self.decided.rollback as f64 / parameters::CHANCE_UNIT as f64;
        if kind == inputs::NEW_ORDER { share } else { 0.0 }
    }

    fn rate_cap(&self) -> Option<&'static str> {
        Some("the specification caps a warehouse, with its ten terminals, at 12.86 NOPM")
    }

    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn statements(&self, dialect: &Dialect) -> Vec<Statement> {
        match self.decided.mode {
            Mode::Procedures => procedures::declare(dialect),
            Mode::Batched => batched::declare(dialect),
            Mode::Prepared => statements::declare(dialect, Sent::Prepared),
            Mode::Text => statements::declare(dialect, Sent::Text),
        }
    }

    fn routines(&self, dialect: &Dialect) -> Vec<Routine> {
        match self.decided.mode {
            Mode::Procedures => procedures::routines(dialect),
            Mode::Prepared | Mode::Batched | Mode::Text => Vec::new(),
        }
    }

    fn routines_ever(&self, dialect: &Dialect) -> Vec<Routine> {
        procedures::routines(dialect)
    }

    fn refuses(&self, dialect: &Dialect) -> Option<String> {
        let name = dialect.name;
        if self.decided.mode == Mode::Procedures && dialect.routines.is_none() {
            return Some(format!(
                "mode: {name} has no stored procedures; choose prepared, batched or text"
            ));
        }
        if self.decided.data.partitions > 0 && dialect.partitioning.is_none() {
            return Some(format!("partitions: {name} does not support them; leave it out"));
        }
        None
    }

    fn places(&self) -> Places {
        Places::ALL
    }

    fn kind_of(&self, number: Number) -> KindIndex {
        Deck::new().kind(&self.decided, number)
    }

    fn client(&self, _client: u32) -> Box<dyn Client> {
        Box::new(Terminal {
            decided: Arc::clone(&self.decided),
            deck: Deck::new(),
            inputs: None,
            words: Words::default(),
        })
    }

    fn population(&self) -> Option<&dyn Population> {
        Some(&self.rows)
    }

    fn checks(&self, _dialect: &Dialect) -> Vec<Check> {
        checks::checks(&self.decided.data)
    }

    fn crosscheck(&self, _dialect: &Dialect) -> Option<Crosscheck> {
        let sql = "SELECT SUM(d_next_o_id) FROM district".to_owned();
        Some(Crosscheck { sql, kind: inputs::NEW_ORDER, per_commit: 1 })
    }

    fn needs_transactions(&self) -> NeedsTransactions {
        NeedsTransactions { checks: &checks::NEED_TRANSACTIONS, crosscheck: true }
    }
}

/// Returns notes in sentences that readers need in order to compare a result with others. They name
/// each parameter that differs from the specification.
fn notes(settings: &Settings, decided: &Decided) -> Vec<String> {
    let mut all: Vec<String> = [
        "Derived from TPC-C, a trademark of the TPC; not a TPC-C result and not comparable to one.",
        "Delivery is executed at once and in one database transaction, not deferred through a \
         queue (2.7.2); districts without an undelivered order are skipped and counted (2.7.4.2).",
        "Think times are exponential and truncated at ten times their mean (5.2.5.4).",
        "No terminals: there are no screens, menus or their response times (2.2, 5.2.5); keying \
         and thinking times are kept in key/think load only.",
        "No foreign keys are declared; w_ytd and d_ytd have 16 digits instead of 12 (1.3.1).",
        "Each transaction runs at the database's default isolation level (3.4.1 requires more if \
         that is weaker); rows are locked if an update depends on them.",
        "New-Order and Payment update contended rows first, before any plain read.",
        "Dates are not the time of day: loaded data have one fixed date, and a run adds the time \
         since its start.",
        "After runs, condition 3.3.2.11 includes the deliveries since the data were loaded.",
    ]
    .map(str::to_owned)
    .to_vec();
    let parameters::Constants { c_load, c_last, .. } = &decided.constants;
    all.push(format!(
        "Last names are drawn around an offset that the standard requires to change between load \
         and run: {c_load} when the data were loaded, {c_last} in this run (C-Load and C-Run of \
         2.1.6.1)."
    ));
    if decided.rollback > 0 {
        let percent = 100.0 * decided.rollback as f64 / parameters::CHANCE_UNIT as f64;
        all.push(format!("{ROLLED_BACK}{percent} % of new_order, TPC-C 2.4.1.4."));
    }
    if decided.data.warehouses == 1 {
        all.push("One warehouse: there are no remote lines and no remote customers.".to_owned());
    }
    if decided.data.shrink > 1 {
        all.push(format!(
            "{SMALLER_DATA}: each warehouse has {} items and each district {} customers and orders, a part in {} \
             of what 1.2 and 4.3.3.1 require: less to read, and other hot rows.",
            decided.data.items(),
            decided.data.customers(),
            decided.data.shrink
        ));
    }
    if decided.data.partitions > 0 {
        let count = decided.data.partitions;
        all.push(format!("Tables have {count} partitions by the hash of their warehouse."));
    }
    all.extend(decided.mode.note().map(str::to_owned));
    let others = parameters::PARAMETERS.iter().filter(|row| row.name != "mode");
    for row in others.filter(|row| !row.shapes_data) {
        let written = settings.written().find(|(name, _)| *name == row.name);
        if let Some((name, text)) = written
            && row.parse(text) != row.parse(row.default)
        {
            all.push(format!("{name} is {text}, not the specification's {}.", row.default));
        }
    }
    all
}

/// Client of `tpcc`, which simulates a terminal of clause 2.4.1.1 without its screen.
struct Terminal {
    decided: Arc<Decided>,
    deck: Deck,
    inputs: Option<Inputs>,
    words: Words,
}

impl Client for Terminal {
    fn inputs(&mut self, number: Number) -> KindIndex {
        let kind = self.deck.kind(&self.decided, number);
        self.inputs = Some(Inputs::draw(&self.decided, number, kind));
        kind
    }

    fn converse<'a>(&'a mut self, context: &'a mut TxContext<'_>) -> Conversation<'a> {
        // Boxed per mode: one future for all modes would be as large as the largest, in each of ten
        // thousand clients.
        match self.decided.mode {
            Mode::Procedures => Box::pin(self.have(context, procedures::transact)),
            Mode::Batched => Box::pin(self.have(context, batched::transact)),
            Mode::Prepared | Mode::Text => Box::pin(self.have(context, transact)),
        }
    }
}

impl Terminal {
    /// Runs a transaction by the function `transact`, and adds what it counted to the custom
    /// metrics; adds nothing after a database error.
    async fn have(
        &mut self,
        context: &mut TxContext<'_>,
        transact: impl AsyncFnOnce(&mut Tx<'_>, &Inputs) -> Result<Done, DbError>,
    ) -> Result<Done, DbError> {
        let inputs = self.inputs.as_ref().expect("the engine decides inputs first");
        let date_us = self.decided.data.loaded_at_us + run_time_us(context.clock);
        let measured_before = context.measured.len();
        let mut tx = Tx {
            session: context.sessions.own(),
            date_us,
            words: &mut self.words,
            measured: context.measured,
        };
        let said = transact(&mut tx, inputs).await;
        match said {
            Ok(_) => count_inputs(inputs, tx.measured),
            Err(_) => tx.measured.truncate(measured_before),
        }
        said
    }
}

/// Adds custom metrics for those inputs whose shares the standard limits (clauses 5.5.1.5 and
/// 5.5.1.6), such as remote lines. Orders that are rolled back count too.
fn count_inputs(inputs: &Inputs, measured: &mut Vec<(u16, u64)>) {
    match inputs {
        Inputs::NewOrder(order) => {
            let is_remote = |line: &&inputs::Line| line.supply_warehouse != order.warehouse;
            let n_remote = order.lines().iter().filter(is_remote).count();
            measured.push((LINES_ENTERED, order.n_lines as u64));
            measured.push((REMOTE_LINES, n_remote as u64));
        }
        Inputs::Payment(payment) => {
            let is_remote = payment.customer_warehouse != payment.warehouse;
            measured.push((REMOTE_PAYMENTS, is_remote.into()));
            measured.push((PAYMENTS_BY_NAME, payment.who.is_by_name().into()));
        }
        Inputs::OrderStatus(asked) => {
            measured.push((ORDER_STATUSES_BY_NAME, asked.who.is_by_name().into()));
        }
        Inputs::Delivery(_) => {
            let skipped =
                measured.iter().any(|(metric, count)| *metric == DELIVERIES_SKIPPED && *count > 0);
            measured.push((SHORT_DELIVERIES, skipped.into()));
        }
        Inputs::StockLevel(_) => {}
    }
}

fn run_time_us(clock: &dyn Clock) -> i64 {
    (clock.now() / 1_000) as i64
}

/// Runs a transaction with one statement per round trip, from BEGIN to COMMIT or ROLLBACK. Rolls
/// back after a database error.
async fn transact(tx: &mut Tx<'_>, inputs: &Inputs) -> Result<Done, DbError> {
    let begin = match inputs {
        Inputs::OrderStatus(_) | Inputs::StockLevel(_) => Request::BeginReadOnly,
        _ => Request::Begin,
    };
    control(tx.session, begin).await?;
    let said = match inputs {
        Inputs::NewOrder(order) => new_order::converse(tx, order).await,
        Inputs::Payment(payment) => payment::converse(tx, payment).await,
        Inputs::OrderStatus(asked) => order_status::converse(tx, asked).await,
        Inputs::Delivery(delivery) => delivery::converse(tx, delivery).await,
        Inputs::StockLevel(asked) => stock_level::converse(tx, asked).await,
    };
    end(tx.session, said).await
}

#[cfg(test)]
mod tests {
    use super::*;

    fn make_with(written: &[(&str, &str)]) -> Arc<dyn Workload> {
        let settings = Settings::decide("tpcc", ENTRY.parameters, written.iter().copied());
        let settings = settings.expect("valid");
        make(&Make { settings: &settings, seed: 1, data: None, source: None }).expect("valid")
    }

    #[test]
    fn what_leaves_the_specification_is_declared() {
        let usual = make_with(&[("warehouses", "2")]).notes();
        let offset = usual.iter().find(|words| words.contains("C-Load and C-Run of 2.1.6.1"));
        let numbers = |words: &str| -> Vec<i64> {
            let first = words.split("(C-Load").next().expect("there is a first part");
            first.split(' ').filter_map(|word| word.parse().ok()).collect()
        };
        let numbers = numbers(offset.expect("it is shown"));
        assert!(matches!(&numbers[..], [load, run] if (65..=119).contains(&(load - run).abs())));
        assert!(usual[0].contains("Derived from TPC-C"));
        let rolled_back = "Rolled back by design: 1 % of new_order, TPC-C 2.4.1.4.".to_owned();
        assert!(usual.contains(&rolled_back), "{usual:#?}");
        let same = [("warehouses", "2"), ("weights", "10,10,1,1,1"), ("home", "fixed")];
        assert_eq!(make_with(&same).notes(), usual);
        let check = |name, value, expect: &str| {
            let all = make_with(&[("warehouses", "2"), (name, value)]).notes();
            let no_rollback = usize::from(name == "rollback_percent");
            assert_eq!(all.len(), usual.len() + 1 - no_rollback);
            assert_eq!(all.last().map(String::as_str), Some(expect));
        };
        check("home", "all", "home is all, not the specification's fixed.");
        check("rollback_percent", "0", "rollback_percent is 0, not the specification's 1.");
        check("partitions", "7", "Tables have 7 partitions by the hash of their warehouse.");
        let small = "Smaller data: each warehouse has 10000 items and each district 300 customers and orders, a \
                     part in 10 of what 1.2 and 4.3.3.1 require: less to read, and other hot rows.";
        check("shrink", "10", small);
        check("mode", "text", "Each statement is sent as text with its values in it.");
        check(
            "warehouses",
            "1",
            "One warehouse: there are no remote lines and no remote customers.",
        );
    }

    #[test]
    fn kinds_and_measures_stand_in_their_places() {
        let workload = make_with(&[]);
        let kinds: Vec<_> = workload.kinds().iter().map(|kind| (kind.name, kind.weight)).collect();
        assert_eq!(kinds[usize::from(inputs::NEW_ORDER)], ("new_order", 10));
        assert_eq!(kinds[usize::from(inputs::DELIVERY)], ("delivery", 1));
        let names: Vec<_> = workload.custom_metrics().iter().map(|metric| metric.name).collect();
        assert_eq!(names[usize::from(ORDER_TOTAL)], "order_total");
        assert_eq!(names[usize::from(DELIVERIES_SKIPPED)], "deliveries_skipped");
        let primary_metrics = workload.primary_metrics();
        let counted = |metric: &PrimaryMetric| match &metric.of {
            PrimaryOf::Rate { kinds, .. } => (metric.title, kinds.clone()),
            PrimaryOf::Computed => panic!("{} is a rate", metric.title),
        };
        let counted: Vec<_> = primary_metrics.iter().map(counted).collect();
        assert_eq!(counted, [("NOPM", vec![0]), ("TPM", vec![0, 1, 2, 3, 4])]);
    }
}
