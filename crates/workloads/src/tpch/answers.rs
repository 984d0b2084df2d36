//! Known answers of the queries with the validation values, as checksums and figures, and their
//! comparison with what a database returns.
//!
//! Values, counts and sums must be equal; ratios and averages may differ by 1 % (clause 2.1.3.5
//! allows sums to differ by 100, but all supported databases add decimals exactly). The order of
//! rows is not compared, so rows that tie may come in any order. Not here: the queries.

use std::fmt::Write;

use model::{AnswerJudge, AnswerRow, DbError, DbErrorKind, Decimals, Row, Value, fnv1a};

use super::queries::{AnswerColumn, QUERIES, Query};

/// Largest difference of a ratio from the known one, as a share of it.
pub(super) const RATIO_SHARE: f64 = 0.01;

/// A known answer of a query.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    n_rows: u64,
    /// Sum of the hashes of all rows, without their ratios.
    checksum: u64,
    /// Ratios and averages, row by row.
    ratios: &'static [f64],
}

/// Returns the known answers of all queries at a scale factor, in the order of the queries; `None`
/// if they are not known.
pub(super) fn known(scale: f64) -> Option<&'static [Known; QUERIES]> {
    ANSWERS.iter().find(|(of, _)| *of == scale).map(|(_, known)| known)
}

/// Reads rows of a query's result into a form that is the same for every database.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    query: &'static Query,
    decimals: Decimals,
}

impl Reader {
    pub(super) fn new(query: &'static Query, decimals: Decimals) -> Reader {
        Reader { query, decimals }
    }

    /// Returns a row with its values, ratios and sort key.
    pub(super) fn row(self, row: &dyn Row) -> Result<AnswerRow, DbError> {
        let (mut exact, mut ratios, mut sort_key) = (String::new(), Vec::new(), String::new());
        self.take(row, &mut exact, &mut ratios)?;
        let sorted_by = self.query.sorted_by.iter().copied();
        self.take_columns(sorted_by, row, &mut sort_key, &mut Vec::new())?;
        Ok(AnswerRow { exact, ratios, sort_key })
    }

    /// Appends the values of a row to `text`, and its ratios to `ratios`.
    fn take(self, row: &dyn Row, text: &mut String, ratios: &mut Vec<f64>) -> Result<(), DbError> {
        self.take_columns(0..self.query.columns.len(), row, text, ratios)
    }

    /// Appends the values of some columns of a row to `text`, and ratios among them to `ratios`.
    fn take_columns(
        self,
        columns: impl Iterator<Item = usize>,
        row: &dyn Row,
        text: &mut String,
        ratios: &mut Vec<f64>,
    ) -> Result<(), DbError> {
        for column in columns {
            match &self.query.columns[column] {
                _ if row.value(column) == Value::Null => text.push_str("null"),
                AnswerColumn::Exact => put_exact(text, row, column)?,
                AnswerColumn::Decimal(scale) => put(text, row.decimal(column, *scale)?),
                AnswerColumn::Ratio(scale) => {
                    let unit = match self.decimals {
                        Decimals::Exact => 1.0,
                        Decimals::ScaledInteger => 10_f64.powi(i32::from(*scale)),
                    };
                    ratios.push(number(row, column)? / unit);
                }
            }
            text.push('|');
        }
        Ok(())
    }
}

/// Comparison of a query's result with its known answer.
pub(super) struct Judge {
    reader: Reader,
    known: &'static Known,
    n_rows: u64,
    checksum: u64,
    ratios: Vec<f64>,
    /// Text of the current row, whose memory is reused.
    text: String,
}

impl Judge {
    pub(super) fn new(reader: Reader, known: &'static Known) -> Judge {
        let (n_rows, checksum) = (0, 0);
        Judge { reader, known, n_rows, checksum, ratios: Vec::new(), text: String::new() }
    }
}

impl AnswerJudge for Judge {
    fn take(&mut self, row: &dyn Row) -> Result<(), DbError> {
        self.text.clear();
        self.reader.take(row, &mut self.text, &mut self.ratios)?;
        self.n_rows += 1;
        self.checksum = self.checksum.wrapping_add(fnv1a(self.text.as_bytes()));
        Ok(())
    }

    fn differences(&mut self) -> Vec<String> {
        let known = self.known;
        let mut all = Vec::new();
        if self.n_rows != known.n_rows {
            all.push(format!("{} rows instead of {}", self.n_rows, known.n_rows));
        }
        if self.checksum != known.checksum {
            let (found, wanted) = (self.checksum, known.checksum);
            all.push(format!("other values: checksum {found:016x} instead of {wanted:016x}"));
        }
        let is_near =
            |(found, wanted): (&f64, &f64)| (found - wanted).abs() <= RATIO_SHARE * wanted.abs();
        let has_all = self.ratios.len() == known.ratios.len();
        if !has_all || !self.ratios.iter().zip(known.ratios).all(is_near) {
            all.push(format!("ratios {:?} instead of {:?}", self.ratios, known.ratios));
        }
        all
    }
}

/// Appends a value that every database must return exactly, in the same form for every database.
fn put_exact(text: &mut String, row: &dyn Row, column: usize) -> Result<(), DbError> {
    match row.value(column) {
        Value::Date(days) => put(text, i64::from(days)),
        // Some databases pad a CHAR value with blanks to the length of its column.
        Value::Text(_) | Value::Bytes(_) => text.push_str(row.text(column)?.trim_end_matches(' ')),
        _ => put(text, row.int(column)?),
    }
    Ok(())
}

/// Returns a number of any type, rounded to a float.
fn number(row: &dyn Row, column: usize) -> Result<f64, DbError> {
    let number = match row.value(column) {
        Value::Int(number) => Some(number as f64),
        Value::Float(number) => Some(number),
        Value::Decimal { unscaled, scale } => Some(unscaled as f64 / 10_f64.powi(scale.into())),
        // A decimal with too many digits for an integer.
        Value::Text(text) => text.parse().ok(),
        _ => None,
    };
    number.ok_or_else(|| {
        let got = row.value(column).type_name();
        let message = format!("column {} of the result is {got}, expected a number", column + 1);
        DbError::new(DbErrorKind::Shape, message)
    })
}

fn put(text: &mut String, number: i64) {
    let _ = write!(text, "{number}");
}

/// Returns a known answer without ratios.
const fn exact(n_rows: u64, checksum: u64) -> Known {
    Known { n_rows, checksum, ratios: &[] }
}

/// Known answers by scale factor. They are those of SQLite, which were compared with published
/// answers once (docs/reference/tpch.md).
static ANSWERS: [(f64, [Known; QUERIES]); 3] = [
    (
        0.01,
        [
            Known {
                n_rows: 4,
                checksum: 0x264c_9487_7d79_66eb,
                ratios: &[
                    25.575155,
                    35785.709,
                    0.050081339,
                    25.778736,
                    35588.51,
                    0.047758621,
                    25.454988,
                    35691.129,
                    0.04993112,
                    25.597168,
                    35874.007,
                    0.04982754,
                ],
            },
            exact(4, 0x88b6_d5d5_0ec4_e9d2),
            exact(10, 0x46bd_ed89_ead5_b6e6),
            exact(5, 0x5b1c_214f_8e40_5a38),
            exact(5, 0x8cad_9f15_17d8_7fcd),
            exact(1, 0x2683_ded1_076a_0407),
            exact(4, 0x98d3_d8ca_da1e_3634),
            Known { n_rows: 2, checksum: 0xaebd_2836_c73c_e4e9, ratios: &[0.0, 0.0] },
            exact(173, 0x95b0_cad0_5873_b5e8),
            exact(20, 0xd15f_fabe_6aa0_461e),
            exact(1, 0xcc5a_7d08_641a_ef28),
            exact(2, 0xd2a3_0dee_3b3c_575b),
            exact(33, 0x1acf_fcca_7365_e44e),
            Known { n_rows: 1, checksum: 0xaf63_f14c_8602_103b, ratios: &[15.486546] },
            exact(1, 0x5fbd_3ef9_cc8a_dd01),
            exact(296, 0x4fb1_b4b5_b23c_cd06),
            exact(1, 0x2ab7_e09a_3141_9a48),
            exact(2, 0xa226_5e4a_f31b_69c0),
            exact(1, 0x170d_0125_8600_ff47),
            exact(1, 0xff88_33b4_ba77_0775),
            exact(1, 0x2d46_346a_59ce_66ea),
            exact(7, 0xe2e2_31ee_987f_a69e),
        ],
    ),
    (
        0.1,
        [
            Known {
                n_rows: 4,
                checksum: 0x0085_8b2a_d5f8_6621,
                ratios: &[
                    25.537587,
                    36002.124,
                    0.050144597,
                    25.300664,
                    35521.327,
                    0.049394422,
                    25.545538,
                    36000.925,
                    0.050095959,
                    25.525944,
                    35994.029,
                    0.049989279,
                ],
            },
            exact(44, 0x5aa8_c874_198a_c4ba),
            exact(10, 0x97d3_414c_5e56_81ed),
            exact(5, 0x4b36_aa1f_f8af_1d0c),
            exact(5, 0xb6f1_1f45_5bda_77ef),
            exact(1, 0x4f18_cb16_81a3_727c),
            exact(4, 0x0209_f28e_911d_2ada),
            Known {
                n_rows: 2,
                checksum: 0xaebd_2836_c73c_e4e9,
                ratios: &[0.028648741, 0.018250279],
            },
            exact(175, 0xc8b1_0816_4b7a_157e),
            exact(20, 0x0256_b4c6_d5df_7c3d),
            exact(22, 0x46be_bd0a_e900_f8f0),
            exact(2, 0x63ac_6e3e_ca06_d71e),
            exact(37, 0x8b3b_b315_a7e9_ffc5),
            Known { n_rows: 1, checksum: 0xaf63_f14c_8602_103b, ratios: &[16.283856] },
            exact(1, 0x9f32_fac1_94ce_d129),
            exact(2762, 0x98ed_a285_a8e3_1e47),
            Known { n_rows: 1, checksum: 0xaf63_f14c_8602_103b, ratios: &[23512.753] },
            exact(5, 0xb40c_6553_fed0_2a0e),
            exact(1, 0xafc9_0be4_db3b_8f2b),
            exact(9, 0x6e87_f8d8_011f_87e7),
            exact(47, 0x9ea0_f575_514f_9b48),
            exact(7, 0x5837_ac1d_12aa_f18e),
        ],
    ),
    (
        1.0,
        [
            Known {
                n_rows: 4,
                checksum: 0x5500_6626_391c_b262,
                ratios: &[
                    25.522006,
                    38273.13,
                    0.049985296,
                    25.516472,
                    38284.468,
                    0.050093427,
                    25.502227,
                    38249.118,
                    0.049996586,
                    25.505794,
                    38250.855,
                    0.050009406,
                ],
            },
            exact(100, 0x8eab_7488_195e_556d),
            exact(10, 0x516a_592c_1601_9d73),
            exact(5, 0x150d_c45c_3e4e_a12c),
            exact(5, 0xa1f2_f6f0_4212_7ebe),
            exact(1, 0x1754_5c7e_323b_c44b),
            exact(4, 0xbf64_7cf7_c103_4621),
            Known {
                n_rows: 2,
                checksum: 0xaebd_2836_c73c_e4e9,
                ratios: &[0.03443589, 0.041485521],
            },
            exact(175, 0xb1d6_a129_b2f1_b2a5),
            exact(20, 0xbf43_2b8e_3565_05dd),
            exact(1048, 0x38c2_4964_288d_66bc),
            exact(2, 0x51ed_1de0_8d52_680a),
            exact(42, 0xd1c4_5be4_f527_8b85),
            Known { n_rows: 1, checksum: 0xaf63_f14c_8602_103b, ratios: &[16.380779] },
            exact(1, 0x3cc9_1d68_2f6d_cf0f),
            exact(18314, 0x0523_ff4d_e534_3484),
            Known { n_rows: 1, checksum: 0xaf63_f14c_8602_103b, ratios: &[348406.05] },
            exact(57, 0xf110_1431_e4e6_6511),
            exact(1, 0x0c2c_e00c_2ea4_4e60),
            exact(186, 0xdac9_8489_a21c_c971),
            exact(100, 0xd9db_db49_6ecd_5e59),
            exact(7, 0x7310_021e_8a82_37dc),
        ],
    ),
];
