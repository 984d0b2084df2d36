//! Inputs of the five TPC-C transactions, as keyed in at a terminal, and the deck of transaction
//! types. Both depend only on the seed and the transaction's number.
//!
//! Not here: statements and databases.

use model::{KindIndex, Number, Rng, Stream};

use super::parameters::{CHANCE_UNIT, Decided, Home};
use super::random::{LastName, nurand};
use super::schema::{DISTRICTS, ITEMS, LINES_MAX, LINES_MIN};

/// Index of the transaction type New-Order among the five types.
pub(super) const NEW_ORDER: KindIndex = 0;
pub(super) const PAYMENT: KindIndex = 1;
pub(super) const ORDER_STATUS: KindIndex = 2;
pub(super) const DELIVERY: KindIndex = 3;

/// An item number that no item has. An order that contains it must roll back (clause 2.4.1.5).
pub(super) const UNUSED_ITEM: i64 = ITEMS + 1;

/// One line of a new order, as entered at the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) item: i64,
    pub(super) supply_warehouse: i64,
    pub(super) quantity: i64,
}

/// Inputs of the New-Order transaction (clause 2.4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NewOrder {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) customer: i64,
    pub(super) n_lines: usize,
    pub(super) lines: [Line; LINES_MAX as usize],
}

impl NewOrder {
    /// Returns the lines of the order, without the unused elements of the array.
    pub(super) fn lines(&self) -> &[Line] {
        &self.lines[..self.n_lines]
    }

    /// Returns the lines with their numbers, sorted by supplying warehouse and item. Stock is
    /// locked in this order, so that two orders cannot deadlock. An unused item comes last; empty
    /// lines follow it.
    pub(super) fn in_lock_order(&self) -> [(i64, Line); LINES_MAX as usize] {
        let mut sorted = [(0, Line::default()); LINES_MAX as usize];
        for ((number, place), line) in (1..).zip(&mut sorted).zip(self.lines()) {
            *place = (number, *line);
        }
        sorted[..self.n_lines].sort_unstable_by_key(|(number, line)| {
            (line.item == UNUSED_ITEM, line.supply_warehouse, line.item, *number)
        });
        sorted
    }

    /// Whether the home warehouse supplies every line of the order.
    pub(super) fn is_local(&self) -> bool {
        self.lines().iter().all(|line| line.supply_warehouse == self.warehouse)
    }
}

/// Selection of a customer: by last name in 60 % of the transactions, by number in 40 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Who {
    /// Selection by last name, given as the number of the name from 0 to 999.
    LastName(i64),
    /// Selection by the customer's number (C_ID).
    Id(i64),
}

impl Who {
    pub(super) fn is_by_name(&self) -> bool {
        matches!(self, Who::LastName(_))
    }
}

/// Inputs of the Payment transaction (clause 2.5.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Payment {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) customer_warehouse: i64,
    pub(super) customer_district: i64,
    pub(super) who: Who,
    pub(super) cents: i64,
}

/// Inputs of the Order-Status transaction (clause 2.6.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OrderStatus {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) who: Who,
}

/// Inputs of the Delivery transaction (clause 2.7.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Delivery {
    pub(super) warehouse: i64,
    pub(super) carrier: i64,
}

/// Inputs of the Stock-Level transaction (clause 2.8.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StockLevel {
    pub(super) warehouse: i64,
    pub(super) district: i64,
    pub(super) threshold: i64,
}

#[expect(clippy::large_enum_variant, reason = "one a client, written and read where it lies")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inputs {
    NewOrder(NewOrder),
    Payment(Payment),
    OrderStatus(OrderStatus),
    Delivery(Delivery),
    StockLevel(StockLevel),
}

impl Inputs {
    /// Draws the inputs of the transaction `number`, whose type is `kind`.
    pub(super) fn draw(decided: &Decided, number: Number, kind: KindIndex) -> Inputs {
        let mut rng = number.rng(decided.seed);
        let (warehouse, district) = home(decided, number, &mut rng);
        match kind {
            NEW_ORDER => Inputs::NewOrder(new_order(decided, warehouse, &mut rng)),
            PAYMENT => Inputs::Payment(payment(decided, warehouse, &mut rng)),
            ORDER_STATUS => Inputs::OrderStatus(OrderStatus {
                warehouse,
                district: rng.uniform(1, DISTRICTS),
                who: who(decided, &mut rng),
            }),
            DELIVERY => Inputs::Delivery(Delivery { warehouse, carrier: rng.uniform(1, 10) }),
            _ => Inputs::StockLevel(StockLevel {
                warehouse,
                district,
                threshold: rng.uniform(10, 20),
            }),
        }
    }
}

/// Returns warehouse and district of the terminal that starts a transaction. With fixed homes, each
/// client is a terminal (clauses 2.4.1.1 and 2.8.1.1): client 0 is at warehouse 1, client 1 at
/// warehouse 2; after the last warehouse, the next client is at district 2 of warehouse 1.
/// Otherwise both numbers are drawn.
fn home(decided: &Decided, number: Number, rng: &mut Rng) -> (i64, i64) {
    let warehouses = decided.data.warehouses;
    match (number, decided.home) {
        (Number::OfClient { client, .. }, Home::Fixed) => {
            let client = i64::from(client);
            (client % warehouses + 1, client / warehouses % DISTRICTS + 1)
        }
        _ => (rng.uniform(1, warehouses), rng.uniform(1, DISTRICTS)),
    }
}

/// Draws a warehouse other than `home`. Returns `home` if there is no other.
fn other_warehouse(decided: &Decided, home: i64, rng: &mut Rng) -> i64 {
    let warehouses = decided.data.warehouses;
    if warehouses == 1 {
        return home;
    }
    let other = rng.uniform(1, warehouses - 1);
    if other < home { other } else { other + 1 }
}

fn customer_id(decided: &Decided, rng: &mut Rng) -> i64 {
    nurand(rng, 1023, decided.constants.c_id, 1, decided.data.customers())
}

fn who(decided: &Decided, rng: &mut Rng) -> Who {
    match rng.chance(60, 100) {
        true => {
            let last = decided.data.last_names() - 1;
            Who::LastName(nurand(rng, 255, decided.constants.c_last, 0, last))
        }
        false => Who::Id(customer_id(decided, rng)),
    }
}

/// Draws the inputs of a New-Order transaction (clauses 2.4.1.2 to 2.4.1.5).
fn new_order(decided: &Decided, warehouse: i64, rng: &mut Rng) -> NewOrder {
    let district = rng.uniform(1, DISTRICTS);
    let customer = customer_id(decided, rng);
    let n_lines = rng.uniform(LINES_MIN, LINES_MAX) as usize;
    let rolls_back = rng.chance(decided.rollback, CHANCE_UNIT);
    let mut lines = [Line::default(); LINES_MAX as usize];
    for line in &mut lines[..n_lines] {
        line.item = nurand(rng, 8191, decided.constants.ol_i_id, 1, decided.data.items());
        line.supply_warehouse = match rng.chance(decided.remote_line, CHANCE_UNIT) {
            true => other_warehouse(decided, warehouse, rng),
            false => warehouse,
        };
        line.quantity = rng.uniform(1, 10);
    }
    if rolls_back {
        lines[n_lines - 1].item = UNUSED_ITEM;
    }
    NewOrder { warehouse, district, customer, n_lines, lines }
}

/// Draws the inputs of a Payment transaction (clauses 2.5.1.2 and 2.5.1.3). With a single
/// warehouse, a remote customer may belong to any of its districts.
fn payment(decided: &Decided, warehouse: i64, rng: &mut Rng) -> Payment {
    let district = rng.uniform(1, DISTRICTS);
    let remote = rng.chance(decided.remote_customer, CHANCE_UNIT);
    let (customer_warehouse, customer_district) = match remote {
        true => (other_warehouse(decided, warehouse, rng), rng.uniform(1, DISTRICTS)),
        false => (warehouse, district),
    };
    let who = who(decided, rng);
    let cents = rng.uniform(1_00, 5_000_00);
    Payment { warehouse, district, customer_warehouse, customer_district, who, cents }
}

/// Returns the last name that has the given number from 0 to 999.
pub(super) fn last_name(number: i64) -> LastName {
    let mut name = LastName::default();
    name.last_name(number);
    name
}

/// A shuffled deck of transaction types (clause 5.2.4.2), which gives every whole deck exactly the
/// shares of the mix. The n-th deck of a client, or of a group's arrivals, depends only on the
/// seed.
pub(super) struct Deck {
    /// Random stream and index of the current deck; `None` before the first one.
    current: Option<(Stream, u64)>,
    cards: Vec<u8>,
}

impl Deck {
    pub(super) fn new() -> Deck {
        Deck { current: None, cards: Vec::new() }
    }

    /// Returns the type of the transaction `number`. Shuffles another deck if the number is not in
    /// the current one.
    pub(super) fn kind(&mut self, decided: &Decided, number: Number) -> KindIndex {
        let n_cards: u64 = decided.weights.iter().sum();
        let deck = (number.deck(), number.nth() / n_cards);
        if self.current != Some(deck) {
            self.cards.clear();
            self.cards.extend(decided.cards());
            Rng::new(decided.seed, deck.0, deck.1).shuffle(&mut self.cards);
            self.current = Some(deck);
        }
        KindIndex::from(self.cards[(number.nth() % n_cards) as usize])
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::tests::decide;
    use super::*;

    fn of_client(client: u32, nth: u64) -> Number {
        Number::OfClient { client, nth }
    }

    fn kinds(decided: &Decided, numbers: impl Iterator<Item = Number>) -> Vec<KindIndex> {
        let mut deck = Deck::new();
        numbers.map(|number| deck.kind(decided, number)).collect()
    }

    #[test]
    fn each_deck_has_exactly_the_weights() {
        let decided = decide(1, &[("weights", "10/8/3/0/2")]);
        for number in [|nth| of_client(4, nth), |nth| Number::Arrival { group: 1, nth }] {
            let mut decks = std::collections::BTreeSet::new();
            for deck in 0..20 {
                let cards = kinds(&decided, (deck * 23..(deck + 1) * 23).map(number));
                let count = |kind| cards.iter().filter(|card| **card == kind).count();
                assert_eq!([0, 1, 2, 3, 4].map(count), [10, 8, 3, 0, 2]);
                decks.insert(cards);
            }
            assert_eq!(decks.len(), 20, "each is shuffled again");
        }
    }

    #[test]
    fn a_kind_is_the_same_whoever_asks_and_in_whatever_order() {
        let decided = decide(2, &[]);
        let forwards = kinds(&decided, (0..100).map(|nth| of_client(3, nth)));
        let mut backwards = kinds(&decided, (0..100).rev().map(|nth| of_client(3, nth)));
        backwards.reverse();
        assert_eq!(forwards, backwards);
        assert_ne!(forwards, kinds(&decided, (0..100).map(|nth| of_client(4, nth))));
    }

    #[test]
    fn inputs_are_a_function_of_seed_and_number() {
        let draw = |seed, number, kind| Inputs::draw(&decide(seed, &[]), number, kind);
        for kind in 0..5 {
            let number = of_client(2, 77);
            assert_eq!(draw(3, number, kind), draw(3, number, kind));
            let others: Vec<Inputs> = (0..40).map(|nth| draw(3, of_client(2, nth), kind)).collect();
            assert!(others.iter().any(|other| *other != others[0]), "kind {kind}");
        }
        let arrival = Number::Arrival { group: 0, nth: 5 };
        assert_ne!(draw(3, arrival, NEW_ORDER), draw(4, arrival, NEW_ORDER));
    }

    /// Asserts that `n` out of `total` is within five standard errors of the share `p`.
    fn assert_share(n: u32, total: u32, p: f64) {
        let (n, total) = (f64::from(n), f64::from(total));
        let bound = 5.0 * (total * p * (1.0 - p)).sqrt();
        assert!((n - total * p).abs() <= bound, "{n} of {total} is not {p}");
    }

    #[test]
    fn new_orders_are_keyed_as_clause_2_4_1_says() {
        let decided = decide(4, &[("warehouses", "5"), ("rollback_percent", "1")]);
        let (mut n_lines, mut n_remote, mut n_unused) = (0, 0, 0);
        for nth in 0..20_000 {
            let Inputs::NewOrder(order) = Inputs::draw(&decided, of_client(7, nth), 0) else {
                panic!("kind 0 is a new order");
            };
            assert_eq!(order.warehouse, 3, "client 7 of 5 warehouses");
            assert!((1..=10).contains(&order.district) && (1..=3000).contains(&order.customer));
            assert!((5..=15).contains(&order.n_lines));
            for (place, line) in order.lines().iter().enumerate() {
                n_lines += 1;
                n_remote += u32::from(line.supply_warehouse != 3);
                assert!((1..=5).contains(&line.supply_warehouse));
                assert!((1..=10).contains(&line.quantity));
                let unused = line.item == UNUSED_ITEM;
                assert!((1..=100_000).contains(&line.item) || unused);
                assert!(!unused || place + 1 == order.n_lines, "only the last line");
                n_unused += u32::from(unused);
            }
            let remote = order.lines().iter().any(|line| line.supply_warehouse != 3);
            assert_eq!(order.is_local(), !remote);
        }
        assert_share(n_remote, n_lines, 0.01);
        assert_share(n_unused, 20_000, 0.01);
    }

    #[test]
    fn small_data_have_all_that_is_asked_for() {
        let decided = decide(4, &[("shrink", "100"), ("rollback_percent", "0")]);
        for nth in 0..2_000 {
            match Inputs::draw(&decided, of_client(7, nth), (nth % 3) as KindIndex) {
                Inputs::NewOrder(order) => {
                    assert!((1..=30).contains(&order.customer));
                    assert!(order.lines().iter().all(|line| (1..=1_000).contains(&line.item)));
                }
                Inputs::Payment(Payment { who, .. })
                | Inputs::OrderStatus(OrderStatus { who, .. }) => {
                    assert!(match who {
                        Who::LastName(number) => (0..30).contains(&number),
                        Who::Id(id) => (1..=30).contains(&id),
                    });
                }
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn payments_are_keyed_as_clause_2_5_1_says() {
        let decided = decide(5, &[("warehouses", "4")]);
        let (mut n_remote, mut n_named) = (0, 0);
        for nth in 0..20_000 {
            let Inputs::Payment(payment) = Inputs::draw(&decided, of_client(1, nth), 1) else {
                panic!("kind 1 is a payment");
            };
            assert!((1_00..=5_000_00).contains(&payment.cents));
            if payment.customer_warehouse == payment.warehouse {
                assert_eq!(payment.customer_district, payment.district);
            } else {
                n_remote += 1;
            }
            match payment.who {
                Who::LastName(number) => {
                    n_named += 1;
                    assert!((0..=999).contains(&number));
                }
                Who::Id(id) => assert!((1..=3000).contains(&id)),
            }
        }
        assert_share(n_remote, 20_000, 0.15);
        assert_share(n_named, 20_000, 0.60);
    }

    #[test]
    fn a_fixed_home_is_a_terminal_and_arrivals_come_from_anywhere() {
        let decided = decide(6, &[("warehouses", "3")]);
        let stock_level = |number| match Inputs::draw(&decided, number, 4) {
            Inputs::StockLevel(level) => (level.warehouse, level.district),
            other => panic!("{other:?}"),
        };
        let mut terminals = std::collections::BTreeSet::new();
        for client in 0..30 {
            let place = stock_level(of_client(client, 0));
            assert_eq!(place, stock_level(of_client(client, 99)));
            terminals.insert(place);
        }
        assert_eq!(terminals.len(), 30, "three warehouses of ten districts");
        let arrivals = (0..2000).map(|nth| stock_level(Number::Arrival { group: 0, nth }));
        assert_eq!(arrivals.collect::<std::collections::BTreeSet<_>>().len(), 30);
    }
}
