//! The parameters of the workload `tpcc`, and the settings made from them.
//!
//! Not here: the values drawn from the settings (population, inputs).

use model::{BadParameter, Choice, Identity, Parameter, ParameterKind, Rng, Stream};

use super::random::{draw_c_load, draw_c_run};
use super::schema::{CUSTOMERS, ITEMS, LAST_NAMES, UNDELIVERED};
use crate::Make;
use crate::storage_engine::{self, StorageEngine};

/// Number of transaction types of TPC-C.
pub(super) const N_KINDS: usize = 5;

/// Largest accepted number of cards in the deck of transaction types, which is the sum of their
/// weights. The limit keeps shuffling cheap, since a deck may be shuffled for each arrival.
const CARDS_MAX: u64 = 1000;

/// Denominator in which probabilities are given; 0.25 percent is exactly 2,500.
pub(super) const CHANCE_UNIT: i64 = 1_000_000;

/// Load time that the rows contain: 2024-01-01T00:00:00Z, in microseconds since 1970. It is the
/// same in all data, so that the same seed gives the same rows, and is stored with the data.
const LOADED_AT_US: i64 = 1_704_067_200_000_000;

pub(super) static PARAMETERS: &[Parameter] = &[
    Parameter {
        name: "warehouses",
        kind: ParameterKind::Count { min: 1, max: 100_000 },
        default: "1",
        help: "Warehouses, of about 100 MB each",
        shapes_data: true,
    },
    Parameter {
        name: "partitions",
        kind: ParameterKind::Count { min: 0, max: 1_000 },
        default: "0",
        help: "Partitions of each table, by warehouse; 0: not partitioned",
        shapes_data: true,
    },
    Parameter {
        name: "shrink",
        kind: ParameterKind::Count { min: 1, max: 100 },
        default: "1",
        help: "Divide the items of each warehouse, and customers and orders of each district: \
               small data for trying and tests, not those of TPC-C",
        shapes_data: true,
    },
    storage_engine::PARAMETER,
    Parameter {
        name: "mode",
        kind: ParameterKind::Choice(&["prepared", "procedures", "batched", "text"]),
        default: "prepared",
        help: "Execution mode: prepared statements, stored procedures, pipelined batches, or text",
        shapes_data: false,
    },
    Parameter {
        name: "weights",
        kind: ParameterKind::Counts(N_KINDS),
        default: "10/10/1/1/1",
        help: "Transaction mix: how many of each round are \
               new_order/payment/order_status/delivery/stock_level; a round is shuffled, and its \
               mix exact",
        shapes_data: false,
    },
    Parameter {
        name: "home",
        kind: ParameterKind::Choice(&["fixed", "all"]),
        default: "fixed",
        help: "Each client keeps one warehouse, or draws one for each transaction",
        shapes_data: false,
    },
    Parameter {
        name: "keying",
        kind: ParameterKind::Durations(N_KINDS),
        default: "18s/3s/2s/2s/2s",
        help: "Keying times in the order of the weights, with --load keythink",
        shapes_data: false,
    },
    Parameter {
        name: "thinking",
        kind: ParameterKind::Durations(N_KINDS),
        default: "12s/12s/10s/5s/5s",
        help: "Mean thinking times in the order of the weights, with --load keythink",
        shapes_data: false,
    },
    Parameter {
        name: "remote_line_percent",
        kind: ParameterKind::Number { min: 0.0, max: 100.0 },
        default: "1",
        help: "Order lines that another warehouse supplies, in percent",
        shapes_data: false,
    },
    Parameter {
        name: "remote_customer_percent",
        kind: ParameterKind::Number { min: 0.0, max: 100.0 },
        default: "15",
        help: "Payments by a customer of another warehouse, in percent",
        shapes_data: false,
    },
    Parameter {
        name: "rollback_percent",
        kind: ParameterKind::Number { min: 0.0, max: 100.0 },
        default: "1",
        help: "New orders that roll back because of an unused item, in percent",
        shapes_data: false,
    },
];

/// Execution mode: how the statements of a transaction reach the database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// One round trip for each statement, which is prepared.
    Prepared,
    /// One round trip for each transaction, by a call of a stored routine.
    Procedures,
    /// Few round trips for each transaction, in which independent statements are sent together.
    Batched,
    /// One round trip for each statement, which is sent as text.
    Text,
}

impl Mode {
    /// Returns a note on how this mode differs from the specification's sample programs; `None` for
    /// prepared statements.
    pub(super) fn note(self) -> Option<&'static str> {
        match self {
            Mode::Prepared => None,
            Mode::Procedures => Some(
                "Each transaction is one call of a stored procedure, which returns all results; \
                 an order's lines are processed in the order of supplying warehouse and item.",
            ),
            Mode::Batched => Some(
                "Independent statements are sent together, BEGIN with the first ones; one \
                 statement handles several rows, and an order's stocks are locked in the order of \
                 supplying warehouse and item.",
            ),
            Mode::Text => Some("Each statement is sent as text with its values in it."),
        }
    }
}

/// The way in which the home warehouse of a transaction is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Home {
    /// Each client has one fixed warehouse, as a terminal of clause 2.4.1.1 does.
    Fixed,
    /// Each transaction draws its warehouse at random.
    All,
}

/// Constants C of the random function NURand (clause 2.1.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Constants {
    /// Constant C of NURand for last names (C_LAST), with which the data were loaded (C-Load).
    pub(super) c_load: i64,
    /// Constant C of NURand for last names (C_LAST) in this run (C-Run).
    pub(super) c_last: i64,
    /// Constant C of NURand for the numbers of customers (C_ID).
    pub(super) c_id: i64,
    /// Constant C of NURand for the items of order lines (OL_I_ID).
    pub(super) ol_i_id: i64,
}

/// Parameters and constants that determine the tables and their rows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Data {
    /// Seed of the random values in the rows.
    pub(super) seed: u64,
    pub(super) warehouses: i64,
    /// Divisor of the numbers of items, customers and orders; 1 for the numbers in the
    /// specification.
    pub(super) shrink: i64,
    /// Number of partitions per table; 0 for tables without partitions.
    pub(super) partitions: u64,
    pub(super) engine: StorageEngine,
    /// Constant C of NURand for last names (C_LAST), with which the data were loaded (C-Load).
    pub(super) c_load: i64,
    /// Load time that the rows contain, in microseconds since 1970.
    pub(super) loaded_at_us: i64,
}

/// Settings of the workload, derived from its parameters and from existing data.
#[derive(Clone, Debug)]
pub(super) struct Decided {
    pub(super) data: Data,
    /// Seed of the random inputs of transactions.
    pub(super) seed: u64,
    pub(super) mode: Mode,
    /// Number of cards of each transaction type in a shuffled deck.
    pub(super) weights: [u64; N_KINDS],
    pub(super) home: Home,
    /// Keying time in nanoseconds, by index of the transaction type.
    pub(super) keying_ns: [u64; N_KINDS],
    /// Mean think time in nanoseconds, by index of the transaction type.
    pub(super) thinking_ns: [u64; N_KINDS],
    /// Probability that another warehouse supplies an order line, in parts of [`CHANCE_UNIT`].
    pub(super) remote_line: i64,
    /// Probability that the customer of a payment belongs to another warehouse, in parts of
    /// [`CHANCE_UNIT`].
    pub(super) remote_customer: i64,
    /// Probability that a new order is rolled back, in parts of [`CHANCE_UNIT`].
    pub(super) rollback: i64,
    pub(super) constants: Constants,
}

impl Decided {
    /// Takes the settings of the workload from its parameters and existing data. Fails if they
    /// contradict each other.
    pub(super) fn new(make: &Make<'_>) -> Result<Decided, BadParameter> {
        let settings = make.settings;
        let data = Data::new(make)?;
        let home = if settings.text("home") == "all" { Home::All } else { Home::Fixed };
        let chance = |name| (settings.number(name) / 100.0 * CHANCE_UNIT as f64).round() as i64;
        Ok(Decided {
            data,
            seed: make.seed,
            mode: match settings.text("mode") {
                "procedures" => Mode::Procedures,
                "batched" => Mode::Batched,
                "text" => Mode::Text,
                _ => Mode::Prepared,
            },
            weights: weights(settings.counts("weights"))?,
            home,
            keying_ns: five(settings.durations_ns("keying")),
            thinking_ns: five(settings.durations_ns("thinking")),
            remote_line: chance("remote_line_percent"),
            remote_customer: chance("remote_customer_percent"),
            rollback: chance("rollback_percent"),
            constants: Constants::draw(make.seed, data.c_load),
        })
    }

    /// Returns the cards of a whole deck before it is shuffled (clause 5.2.4.2), each as the index
    /// of a transaction type.
    pub(super) fn cards(&self) -> impl Iterator<Item = u8> {
        let counted = self.weights.iter().zip(0u8..);
        counted.flat_map(|(n_cards, kind)| std::iter::repeat_n(kind, *n_cards as usize))
    }
}

impl Data {
    fn new(make: &Make<'_>) -> Result<Data, BadParameter> {
        let settings = make.settings;
        let asked = settings.count("warehouses") as i64;
        let asked_shrink = settings.count("shrink") as i64;
        let asked_partitions = settings.count("partitions");
        let engine = settings.chosen(storage_engine::NAME);
        let Some(found) = make.data else {
            let c_load = draw_c_load(&mut Rng::new(make.seed, Stream::Constants, 0));
            return Ok(Data {
                seed: make.seed,
                warehouses: asked,
                shrink: asked_shrink,
                partitions: asked_partitions,
                engine,
                c_load,
                loaded_at_us: LOADED_AT_US,
            });
        };
        let warehouses = match settings.is_given("warehouses") {
            true => asked,
            false => number(found.scale_of("warehouses"), "warehouses", 1, 100_000)?,
        };
        // Data built before `shrink` existed lack the entry; they are of full size.
        let shrink = match found.scale_of("shrink") {
            Some(text) => number(Some(text), "shrink", 1, 100)?,
            None => 1,
        };
        // Data built before `partitions` existed lack the entry; they are not partitioned.
        let partitions = match found.scale_of("partitions") {
            Some(text) => number(Some(text), "partitions", 0, 1_000)? as u64,
            None => 0,
        };
        Ok(Data {
            seed: found.seed,
            warehouses,
            shrink,
            partitions,
            engine,
            c_load: number(found.constant("c_load"), "c_load", 0, 255)?,
            loaded_at_us: number(found.constant("loaded_at_us"), "loaded_at_us", 0, i64::MAX)?,
        })
    }

    /// Returns the number of items, which is also the number of stock rows per warehouse.
    pub(super) fn items(&self) -> i64 {
        ITEMS / self.shrink
    }

    /// Returns the number of customers per district. There are as many orders when the data are
    /// loaded.
    pub(super) fn customers(&self) -> i64 {
        CUSTOMERS / self.shrink
    }

    /// Returns the number of orders per district that are undelivered when the data are loaded.
    pub(super) fn undelivered(&self) -> i64 {
        UNDELIVERED / self.shrink
    }

    /// Returns the number (O_ID) of a district's first undelivered order when the data are loaded.
    pub(super) fn first_undelivered(&self) -> i64 {
        self.customers() - self.undelivered() + 1
    }

    /// Returns the number of different last names. Each district has customers with every one of
    /// them.
    pub(super) fn last_names(&self) -> i64 {
        LAST_NAMES.min(self.customers())
    }

    /// Returns the identity of the data, which the build stores with them: name, version, seed and
    /// parameters.
    pub(super) fn identity(&self) -> Identity {
        Identity {
            workload: "tpcc".to_owned(),
            version: 1,
            scale: vec![
                ("warehouses".to_owned(), self.warehouses.to_string()),
                ("shrink".to_owned(), self.shrink.to_string()),
                ("partitions".to_owned(), self.partitions.to_string()),
                (storage_engine::NAME.to_owned(), self.engine.name().to_owned()),
            ],
            seed: self.seed,
            constants: vec![
                ("c_load".to_owned(), self.c_load.to_string()),
                ("loaded_at_us".to_owned(), self.loaded_at_us.to_string()),
            ],
        }
    }
}

impl Constants {
    fn draw(seed: u64, c_load: i64) -> Constants {
        let mut rng = Rng::new(seed, Stream::Constants, 1);
        Constants {
            c_load,
            c_last: draw_c_run(&mut rng, c_load),
            c_id: rng.uniform(0, 1023),
            ol_i_id: rng.uniform(0, 8191),
        }
    }
}

fn number(text: Option<&str>, name: &str, min: i64, max: i64) -> Result<i64, BadParameter> {
    let value = text.and_then(|text| text.parse::<i64>().ok());
    value.filter(|value| (min..=max).contains(value)).ok_or_else(|| {
        let found = text.unwrap_or("nothing");
        BadParameter::new(format!(
            "the data say {found} for '{name}', expected {min} to {max}: build them again"
        ))
    })
}

fn weights(counts: &[u64]) -> Result<[u64; N_KINDS], BadParameter> {
    let sum = counts.iter().try_fold(0u64, |sum, count| sum.checked_add(*count));
    match sum {
        Some(0) => Err(BadParameter::named("weights", "at least one must be above zero")),
        Some(1..=CARDS_MAX) => Ok(five(counts)),
        _ => Err(BadParameter::named(
            "weights",
            format!("their sum is the size of a deck and must be at most {CARDS_MAX}"),
        )),
    }
}

fn five(values: &[u64]) -> [u64; N_KINDS] {
    values.try_into().expect("the kind of the parameter asks for five")
}

#[cfg(test)]
pub(super) mod tests {
    use model::Settings;

    use super::*;

    pub(in super::super) fn decide(seed: u64, written: &[(&str, &str)]) -> Decided {
        try_decide(seed, written, None).expect("valid")
    }

    fn try_decide(
        seed: u64,
        written: &[(&str, &str)],
        data: Option<&Identity>,
    ) -> Result<Decided, BadParameter> {
        let settings = Settings::decide("tpcc", PARAMETERS, written.iter().copied())?;
        Decided::new(&Make { settings: &settings, seed, data, source: None })
    }

    #[test]
    fn the_data_keep_their_seed_size_and_constants_in_every_run() {
        let built = decide(5, &[("warehouses", "3")]).data.identity();
        let run = try_decide(6, &[], Some(&built)).expect("valid");
        assert_eq!(run.data.identity(), built);
        assert_eq!((run.seed, run.data.seed, run.data.warehouses), (6, 5, 3));
        let delta = (run.constants.c_last - run.data.c_load).abs();
        assert!((65..=119).contains(&delta), "{delta}");
        let small = decide(5, &[("shrink", "10")]).data;
        let run = try_decide(6, &[], Some(&small.identity())).expect("valid").data;
        assert_eq!((run.items(), run.customers(), run.first_undelivered()), (10_000, 300, 211));
        assert_eq!(run.identity(), small.identity());
    }

    #[test]
    fn a_deck_must_have_cards_and_not_too_many() {
        let check = |weights: &str, expect: &str| {
            let error = try_decide(1, &[("weights", weights)], None).expect_err("wrong");
            assert!(error.to_string().contains(expect), "{error}");
        };
        check("0/0/0/0/0", "above zero");
        check("996/1/1/1/2", "at most 1000");
        check("18446744073709551615/1/0/0/0", "at most 1000");
        assert_eq!(decide(1, &[("weights", "0/0/0/0/7")]).weights, [0, 0, 0, 0, 7]);
    }

    #[test]
    fn data_with_broken_constants_are_refused_with_the_remedy() {
        let mut built = decide(5, &[]).data.identity();
        built.constants[0].1 = "256".to_owned();
        let error = try_decide(6, &[], Some(&built)).expect_err("wrong");
        let why = &error.why;
        assert!(why.contains("'c_load'") && why.contains("build them again"), "{error}");
    }
}
