//! Ratios of client SQL to stored procedures from the HammerDB post "Why you should benchmark your
//! database using stored procedures" (MariaDB, TPROC-C, 80 virtual users). The post's counters are
//! stored, and ratios are computed from them.
//!
//! Not here: ratios of dbdyno's own runs.

use model::numbers::significant;

use crate::Cell;

/// Number of transactions done by stored procedures, divided by those done by client SQL in the
/// same time, in HammerDB's blog post on both. The post has totals over runs of equal length, so
/// ratios per transaction are higher by this factor.
const THROUGHPUT: f64 = 1.3;

/// Title of the column of published ratios per transaction, which can be compared with dbdyno's.
pub(super) const EACH: &str = "HammerDB post, per transaction";
/// Title of the column with the ratios of HammerDB's blog post as published: of totals over runs of
/// equal length.
pub(super) const TOTALS: &str = "its totals";
/// Sentence that explains the two columns with ratios published in HammerDB's blog post.
pub(super) const EXPLAINED: &str = " The HammerDB post (MariaDB) compares totals of runs of equal \
                                    length, in which procedures did 1.3 times as many \
                                    transactions: per transaction its ratios are 1.3 times as \
                                    high.";

/// A figure published in HammerDB's blog post, with client SQL and with stored procedures.
struct Published {
    /// Name of the same figure in dbdyno's comparisons, such as `locks.warehouse.time`, by which
    /// the published ratio finds its row there.
    figure: &'static str,
    /// Totals in HammerDB's blog post: with client SQL, and with stored procedures. If only a ratio
    /// was published, it is the ratio and 1.
    totals: [f64; 2],
    /// Text of the table cell with the published ratio, in which `{}` stands for the ratio.
    words: &'static str,
}

const fn published(figure: &'static str, client_sql: f64, procedures: f64) -> Published {
    Published { figure, totals: [client_sql, procedures], words: "{}" }
}

const fn stated(figure: &'static str, ratio: f64, words: &'static str) -> Published {
    Published { figure, totals: [ratio, 1.0], words }
}

/// Figures published in HammerDB's blog post. Those of sockets are from
/// `socket_summary_by_instance` (times in ps), those of all traffic from `user_statistics`, and
/// those of locks from `table_lock_waits_summary_by_table`.
const POST: [Published; 16] = [
    published("connections.client_connection.count", 356_410_019.0, 43_029_616.0),
    published("connections.client_connection.time", 2_415_153_960_635_112.0, 308_592_755_260_896.0),
    published("connections.client_connection.reads", 178_204_845.0, 21_514_643.0),
    published(
        "connections.client_connection.read_time",
        133_364_264_753_112.0,
        15_175_699_757_784.0,
    ),
    published("connections.client_connection.bytes_read", 20_950_542_108.0, 3_219_606_535.0),
    published("connections.client_connection.writes", 178_204_678.0, 21_514_479.0),
    published(
        "connections.client_connection.write_time",
        2_281_784_113_760_856.0,
        293_411_103_781_368.0,
    ),
    published("connections.client_connection.bytes_written", 49_197_673_794.0, 6_082_914_012.0),
    published("waits.wait/io/socket/sql/client_connection.count", 350_769_863.0, 43_053_845.0),
    published(
        "waits.wait/io/socket/sql/client_connection.time",
        2_350_211_822_039_704.0,
        310_781_514_128_952.0,
    ),
    published("database.Bytes_received", 22_847_015_761.0, 3_548_506_639.0),
    published("database.Bytes_sent", 50_668_052_468.0, 6_335_812_312.0),
    published("locks.warehouse.time", 3_890_167_468_704.0, 4_039_611_353_088.0),
    published("locks.district.time", 5_874_029_749_344.0, 5_383_666_516_296.0),
    // LinuxKI has the time of the softirq, dbdyno its count.
    stated("machine.softirqs/NET_RX", 6.8, "{} (time)"),
    stated("generator.switches_voluntary", 14.0, "almost {}"),
];

/// Returns two cells for the row of `figure` in a comparison by transaction: the published ratio
/// per transaction, and that of totals. Both are empty if HammerDB's blog post lacks the figure.
pub(super) fn cells(figure: &str) -> [Cell; 2] {
    let Some(known) = POST.iter().find(|known| known.figure == figure) else {
        return [Cell::None, Cell::None];
    };
    let ratio = known.totals[0] / known.totals[1];
    // A ratio published alone has two digits.
    let digits = if known.words == "{}" { 3 } else { 2 };
    [ratio * THROUGHPUT, ratio].map(|ratio| {
        Cell::said(known.words.replace("{}", &significant(ratio, digits)), Some(ratio))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of `socket_summary_by_instance` as printed in the HammerDB post: with client SQL, and
    /// with procedures.
    const SOCKETS: [&str; 2] = [
        "COUNT_STAR: 356410019 SUM_TIMER_WAIT: 2415153960635112 COUNT_READ: 178204845 \
         SUM_TIMER_READ: 133364264753112 SUM_NUMBER_OF_BYTES_READ: 20950542108 \
         COUNT_WRITE: 178204678 SUM_TIMER_WRITE: 2281784113760856 \
         SUM_NUMBER_OF_BYTES_WRITE: 49197673794",
        "COUNT_STAR: 43029616 SUM_TIMER_WAIT: 308592755260896 COUNT_READ: 21514643 \
         SUM_TIMER_READ: 15175699757784 SUM_NUMBER_OF_BYTES_READ: 3219606535 \
         COUNT_WRITE: 21514479 SUM_TIMER_WRITE: 293411103781368 \
         SUM_NUMBER_OF_BYTES_WRITE: 6082914012",
    ];

    fn published_figures(figure: &str) -> [f64; 2] {
        let found = POST.iter().find(|known| known.figure == figure).expect("it was published");
        found.totals
    }

    #[test]
    fn each_counter_of_a_socket_stands_beside_the_figure_that_it_counts() {
        let counter = |text: &str, name: &str| -> f64 {
            let mut words = text.split_whitespace();
            words.find(|word| *word == format!("{name}:")).expect("it is printed");
            words.next().and_then(|value| value.parse().ok()).expect("it is a number")
        };
        for (figure, name) in [
            ("count", "COUNT_STAR"),
            ("time", "SUM_TIMER_WAIT"),
            ("reads", "COUNT_READ"),
            ("read_time", "SUM_TIMER_READ"),
            ("bytes_read", "SUM_NUMBER_OF_BYTES_READ"),
            ("writes", "COUNT_WRITE"),
            ("write_time", "SUM_TIMER_WRITE"),
            ("bytes_written", "SUM_NUMBER_OF_BYTES_WRITE"),
        ] {
            let totals = published_figures(&format!("connections.client_connection.{figure}"));
            assert_eq!(totals, SOCKETS.map(|text| counter(text, name)), "{figure}");
        }
    }

    #[test]
    fn the_ratios_that_the_post_names_are_those_of_its_counters() {
        for (figure, said) in [
            ("connections.client_connection.read_time", "8.8"),
            ("connections.client_connection.write_time", "7.8"),
            ("waits.wait/io/socket/sql/client_connection.time", "7.6"),
            ("database.Bytes_received", "6.4"),
            ("database.Bytes_sent", "8.0"),
            ("locks.warehouse.time", "0.96"),
            ("locks.district.time", "1.1"),
        ] {
            let [client_sql, procedures] = published_figures(figure);
            let digits = said.chars().filter(|c| c.is_ascii_digit()).count();
            let digits = if said.starts_with('0') { digits - 1 } else { digits };
            assert_eq!(significant(client_sql / procedures, digits), said, "{figure}");
        }
    }

    #[test]
    fn per_transaction_a_ratio_of_totals_is_as_many_times_higher_as_procedures_did_more() {
        let expected = [
            ("connections.client_connection.reads", ["10.8", "8.28"]),
            ("connections.client_connection.read_time", ["11.4", "8.79"]),
            ("connections.client_connection.bytes_written", ["10.5", "8.09"]),
            ("locks.warehouse.time", ["1.25", "0.963"]),
            ("machine.softirqs/NET_RX", ["8.8 (time)", "6.8 (time)"]),
            ("generator.switches_voluntary", ["almost 18", "almost 14"]),
        ];
        for (figure, said) in expected {
            let found = cells(figure).map(|cell| match cell {
                Cell::Said(words, _) => words,
                other => panic!("{figure}: {other:?}"),
            });
            assert_eq!(found, said, "{figure}");
        }
        assert_eq!(cells("round_trips"), [Cell::None, Cell::None]);
    }
}
