//! Values of the substitution parameters of the queries: those of the validation (clauses 2.4.x.4)
//! and random ones (clauses 2.4.x.3).
//!
//! Not here: the queries.

use model::{KindIndex, Rng};
use tpchgen::distribution::Distributions;

/// Name and value of each substitution parameter of a query.
pub(super) type Parameters = Vec<(String, String)>;

/// Names of the regions (clause 4.2.3), in the order of their keys.
const REGIONS: [&str; 5] = ["AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST"];

/// Names of the nations (clause 4.2.3), in the order of their keys, and the keys of their regions.
const NATIONS: [(&str, usize); 25] = [
    ("ALGERIA", 0),
    ("ARGENTINA", 1),
    ("BRAZIL", 1),
    ("CANADA", 1),
    ("EGYPT", 4),
    ("ETHIOPIA", 0),
    ("FRANCE", 3),
    ("GERMANY", 3),
    ("INDIA", 2),
    ("INDONESIA", 2),
    ("IRAN", 4),
    ("IRAQ", 4),
    ("JAPAN", 2),
    ("JORDAN", 4),
    ("KENYA", 0),
    ("MOROCCO", 0),
    ("MOZAMBIQUE", 0),
    ("PERU", 1),
    ("CHINA", 2),
    ("ROMANIA", 3),
    ("SAUDI ARABIA", 4),
    ("VIETNAM", 2),
    ("RUSSIA", 3),
    ("UNITED KINGDOM", 3),
    ("UNITED STATES", 1),
];

/// Difference between the country code of a phone number and the key of the nation (clause
/// 4.2.2.9).
const COUNTRY_CODE: i64 = 10;

/// The three syllables of part types (clause 4.2.2.13).
const TYPES: [&[&str]; 3] = [
    &["STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO"],
    &["ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED"],
    &["TIN", "NICKEL", "BRASS", "STEEL", "COPPER"],
];
/// The two syllables of containers (clause 4.2.2.13).
const CONTAINERS: [&[&str]; 2] = [
    &["SM", "LG", "MED", "JUMBO", "WRAP"],
    &["CASE", "BOX", "BAG", "JAR", "PKG", "PACK", "CAN", "DRUM"],
];
const SEGMENTS: [&str; 5] = ["AUTOMOBILE", "BUILDING", "FURNITURE", "MACHINERY", "HOUSEHOLD"];
const MODES: [&str; 7] = ["REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB"];
/// Words of Q13 (clause 2.4.13.3).
const WORDS: [[&str; 4]; 2] = [
    ["special", "pending", "unusual", "express"],
    ["packages", "requests", "accounts", "deposits"],
];

/// Returns the value of FRACTION of Q11, which depends on the scale factor (clause 2.4.11.3), as
/// SQL.
fn fraction(scale: f64) -> String {
    let fraction = format!("{:.12}", 0.0001 / scale);
    fraction.trim_end_matches('0').to_owned()
}

fn named<const N: usize>(pairs: [(&str, String); N]) -> Parameters {
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Returns numbered parameters, such as `SIZE1`, with the given values.
fn numbered(name: &str, values: impl IntoIterator<Item = String>) -> Parameters {
    let values = values.into_iter().enumerate();
    values.map(|(index, value)| (format!("{name}{}", index + 1), value)).collect()
}

/// Returns the validation values of a query's parameters.
pub(super) fn validation(kind: KindIndex, scale: f64) -> Parameters {
    let owned = |pairs: &[(&str, &str)]| -> Parameters {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    };
    match kind + 1 {
        1 => owned(&[("DELTA", "90")]),
        2 => owned(&[("SIZE", "15"), ("TYPE", "BRASS"), ("REGION", "EUROPE")]),
        3 => owned(&[("SEGMENT", "BUILDING"), ("DATE", "1995-03-15")]),
        4 => owned(&[("DATE", "1993-07-01")]),
        5 => owned(&[("REGION", "ASIA"), ("DATE", "1994-01-01")]),
        6 => owned(&[("DATE", "1994-01-01"), ("DISCOUNT", "0.06"), ("QUANTITY", "24")]),
        7 => owned(&[("NATION1", "FRANCE"), ("NATION2", "GERMANY")]),
        8 => owned(&[
            ("NATION", "BRAZIL"),
            ("REGION", "AMERICA"),
            ("TYPE", "ECONOMY ANODIZED STEEL"),
        ]),
        9 => owned(&[("COLOR", "green")]),
        10 => owned(&[("DATE", "1993-10-01")]),
        11 => named([("NATION", "GERMANY".to_owned()), ("FRACTION", fraction(scale))]),
        12 => owned(&[("SHIPMODE1", "MAIL"), ("SHIPMODE2", "SHIP"), ("DATE", "1994-01-01")]),
        13 => owned(&[("WORD1", "special"), ("WORD2", "requests")]),
        14 => owned(&[("DATE", "1995-09-01")]),
        15 => owned(&[("DATE", "1996-01-01")]),
        16 => {
            let sizes = [49, 14, 23, 45, 19, 3, 36, 9].map(|size: i64| size.to_string());
            let others = owned(&[("BRAND", "Brand#45"), ("TYPE", "MEDIUM POLISHED")]);
            [others, numbered("SIZE", sizes)].concat()
        }
        17 => owned(&[("BRAND", "Brand#23"), ("CONTAINER", "MED BOX")]),
        18 => owned(&[("QUANTITY", "300")]),
        19 => [
            numbered("QUANTITY", ["1", "10", "20"].map(str::to_owned)),
            numbered("BRAND", ["Brand#12", "Brand#23", "Brand#34"].map(str::to_owned)),
        ]
        .concat(),
        20 => owned(&[("COLOR", "forest"), ("DATE", "1994-01-01"), ("NATION", "CANADA")]),
        21 => owned(&[("NATION", "SAUDI ARABIA")]),
        22 => numbered("I", [13, 31, 23, 29, 30, 18, 17].map(|code: i64| code.to_string())),
        _ => unreachable!("there are 22 queries"),
    }
}

/// Draws the values of a query's parameters.
pub(super) fn drawn(kind: KindIndex, scale: f64, rng: &mut Rng) -> Parameters {
    match kind + 1 {
        1 => named([("DELTA", rng.uniform(60, 120).to_string())]),
        2 => named([
            ("SIZE", rng.uniform(1, 50).to_string()),
            ("TYPE", word(rng, TYPES[2])),
            ("REGION", word(rng, &REGIONS)),
        ]),
        3 => named([
            ("SEGMENT", word(rng, &SEGMENTS)),
            ("DATE", format!("1995-03-{:02}", rng.uniform(1, 31))),
        ]),
        4 | 15 => named([("DATE", month(rng, (1993, 1), (1997, 10)))]),
        5 => named([("REGION", word(rng, &REGIONS)), ("DATE", year(rng))]),
        6 => named([
            ("DATE", year(rng)),
            ("DISCOUNT", format!("0.0{}", rng.uniform(2, 9))),
            ("QUANTITY", rng.uniform(24, 25).to_string()),
        ]),
        7 => numbered("NATION", some_of(rng, &NATIONS, 2).into_iter().map(|one| one.0.to_owned())),
        8 => {
            let (nation, region) = *one_of(rng, &NATIONS);
            let part_type = TYPES.map(|syllables| *one_of(rng, syllables)).join(" ");
            named([
                ("NATION", nation.to_owned()),
                ("REGION", REGIONS[region].to_owned()),
                ("TYPE", part_type),
            ])
        }
        9 => named([("COLOR", color(rng))]),
        10 => named([("DATE", month(rng, (1993, 2), (1995, 1)))]),
        11 => named([("NATION", nation(rng)), ("FRACTION", fraction(scale))]),
        12 => {
            let modes = some_of(rng, &MODES, 2).into_iter().map(str::to_owned);
            [numbered("SHIPMODE", modes), named([("DATE", year(rng))])].concat()
        }
        13 => numbered("WORD", WORDS.map(|words| word(rng, &words))),
        14 => named([("DATE", month(rng, (1993, 1), (1997, 12)))]),
        16 => {
            let part_type = [TYPES[0], TYPES[1]].map(|syllables| *one_of(rng, syllables)).join(" ");
            let all: Vec<i64> = (1..=50).collect();
            let others = named([("BRAND", brand(rng)), ("TYPE", part_type)]);
            let sizes = some_of(rng, &all, 8).into_iter().map(|size| size.to_string());
            [others, numbered("SIZE", sizes)].concat()
        }
        17 => {
            let container = CONTAINERS.map(|syllables| *one_of(rng, syllables)).join(" ");
            named([("BRAND", brand(rng)), ("CONTAINER", container)])
        }
        18 => named([("QUANTITY", rng.uniform(312, 315).to_string())]),
        19 => {
            let quantities = [(1, 10), (10, 20), (20, 30)];
            let quantities = quantities.map(|(low, high)| rng.uniform(low, high).to_string());
            let brands = [(); 3].map(|()| brand(rng));
            [numbered("QUANTITY", quantities), numbered("BRAND", brands)].concat()
        }
        20 => named([("COLOR", color(rng)), ("DATE", year(rng)), ("NATION", nation(rng))]),
        21 => named([("NATION", nation(rng))]),
        22 => {
            let all: Vec<i64> = (0..NATIONS.len() as i64).map(|key| key + COUNTRY_CODE).collect();
            numbered("I", some_of(rng, &all, 7).into_iter().map(|code| code.to_string()))
        }
        _ => unreachable!("there are 22 queries"),
    }
}

fn one_of<'a, T>(rng: &mut Rng, all: &'a [T]) -> &'a T {
    &all[rng.uniform(0, all.len() as i64 - 1) as usize]
}

fn word(rng: &mut Rng, all: &[&str]) -> String {
    (*one_of(rng, all)).to_owned()
}

/// Draws `n` different elements.
fn some_of<T: Copy>(rng: &mut Rng, all: &[T], n: usize) -> Vec<T> {
    let mut all = all.to_vec();
    rng.shuffle(&mut all);
    all.truncate(n);
    all
}

fn nation(rng: &mut Rng) -> String {
    one_of(rng, &NATIONS).0.to_owned()
}

fn brand(rng: &mut Rng) -> String {
    format!("Brand#{}{}", rng.uniform(1, 5), rng.uniform(1, 5))
}

/// Draws a word of which names of parts consist (clause 4.2.3).
fn color(rng: &mut Rng) -> String {
    let colors = Distributions::static_default().part_colors();
    colors.get_value(rng.uniform(0, colors.size() as i64 - 1) as usize).to_owned()
}

/// Draws the first day of a year from 1993 to 1997.
fn year(rng: &mut Rng) -> String {
    format!("{}-01-01", rng.uniform(1993, 1997))
}

/// Draws the first day of a month, both limits included.
fn month(rng: &mut Rng, from: (i64, i64), to: (i64, i64)) -> String {
    let month_of = |(year, month): (i64, i64)| 12 * year + month - 1;
    let month = rng.uniform(month_of(from), month_of(to));
    format!("{}-{:02}-01", month / 12, month % 12 + 1)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use model::{Dialect, Stream};

    use super::*;
    use crate::tpch::queries::{QUERIES, query};

    #[test]
    fn names_are_those_of_the_rows() {
        let distributions = Distributions::static_default();
        let regions = distributions.regions();
        assert_eq!(REGIONS.map(str::to_owned).to_vec(), regions.get_values());
        let names: Vec<&str> = NATIONS.iter().map(|nation| nation.0).collect();
        assert_eq!(names, distributions.nations().get_values());
        assert_eq!(distributions.part_colors().size(), 92);
    }

    #[test]
    fn every_parameter_has_a_value_and_drawn_ones_reach_all_values() {
        let mut seen: BTreeMap<(u16, String), BTreeSet<String>> = BTreeMap::new();
        for kind in 0..QUERIES as u16 {
            // Panics if a parameter has no value.
            query(kind).sql(&validation(kind, 1.0), &Dialect::PLAIN);
            for nth in 0..3_000 {
                let parameters = drawn(kind, 1.0, &mut Rng::new(7, Stream::Client(0), nth));
                query(kind).sql(&parameters, &Dialect::PLAIN);
                for (name, value) in parameters {
                    seen.entry((kind + 1, name)).or_default().insert(value);
                }
            }
        }
        let n_of = |kind, name: &str| seen[&(kind, name.to_owned())].len();
        let check =
            |kind, name: &str, expect| assert_eq!(n_of(kind, name), expect, "{kind} {name}");
        check(1, "DELTA", 61);
        check(2, "SIZE", 50);
        check(3, "DATE", 31);
        check(4, "DATE", 58);
        check(6, "DISCOUNT", 8);
        check(8, "TYPE", 150);
        check(9, "COLOR", 92);
        check(10, "DATE", 24);
        check(14, "DATE", 60);
        check(16, "TYPE", 30);
        check(17, "CONTAINER", 40);
        check(18, "QUANTITY", 4);
        check(19, "BRAND3", 25);
        check(22, "I7", 25);
    }

    #[test]
    fn a_fraction_is_that_of_the_scale() {
        let check = |scale, expect: &str| assert_eq!(fraction(scale), expect);
        check(0.01, "0.01");
        check(1.0, "0.0001");
        check(30.0, "0.000003333333");
    }
}
