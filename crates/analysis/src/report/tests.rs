//! Tests of reports: fields that every report must have, and numbers that must agree.

use std::collections::BTreeSet;

use std::collections::BTreeMap;

use model::NS_PER_MS;
use model::numbers::wrap;
use serde_json::Value;

use super::*;
use crate::fixtures::{self, Made};

fn report(made: &Made) -> Report {
    Report::from_tally(&made.tally())
}

#[test]
fn the_json_has_the_names_that_people_rely_on() {
    let report = Report::with(&Made::closed().tally(), Options { per_client: true });
    let mut json = serde_json::to_value(&report).expect("a report is JSON");
    json["seconds"].as_array_mut().expect("rows").retain(|row| row["second"] == 42);
    json["per_client"].as_array_mut().expect("rows").truncate(1);
    json["findings"].as_array_mut().expect("rows").truncate(1);
    let counts = json["latency_heat"]["counts"].as_object_mut().expect("stretches");
    counts.retain(|stretch, _| stretch == "42");
    counts["42"].as_object_mut().expect("steps").retain(|step, _| step == "63");
    let kinds = json["transactions"].as_object_mut().expect("kinds");
    kinds.retain(|name, _| name == "new_order");
    insta::assert_snapshot!(names(&json), @r"
    : backlog_at_start_max_ms bytes_per_second checks client clients commits_by_type
    connect_ms counts crosschecks custom_metrics database dbdyno dips disclosures
    disturbances elapsed_seconds errors facts failed_ms findings gauges groups intervals
    lag_us latency_heat load measured_seconds modes name nopm notes offered_ms
    others_per_second output per_client per_transaction phases placement plan
    primary_metrics qps ramp_up_counts ramp_up_errors reads_per_second reason reply_lag_us
    response_ms rows_per_second run_id schema seconds seed service_ms shares stability
    started status target tpm tps tps_ci95 transactions wait_ms workload writes_per_second
    /checks: after before
    /checks/after[]: examples failed id title
    /checks/before[]: examples failed id title
    /client: bytes_in bytes_out cpu_seconds cpu_us_per_query max_rss_bytes queries
    /commits_by_type[]: commits from_s transaction
    /connect_ms: count failed interval_reasons intervals max mean min overflow p50 p90 p95
    p99 p999 reasons sd
    /connect_ms/interval_reasons: p50
    /connect_ms/reasons: p90 p95 p99 p999
    /counts: backlog_at_start committed dropped failed finished offered retried rolled_back
    unfinished unknown
    /crosschecks[]: change committed matches transaction unknown
    /custom_metrics: lines
    /custom_metrics/lines: count intervals max mean mean_half_width p50 p90 p99
    per_second_half_width shares sum unit
    /custom_metrics/lines/intervals: p50 p90 p99
    /custom_metrics/lines/shares: below count dispersion
    /dips[]: causes from_s moved n_stretches p95_ratio rate_ratio to_s
    /errors[]: code count kind message
    /facts: build cpu
    /facts/build: profile
    /facts/cpu: model
    /failed_ms: count intervals max mean min overflow p50 p90 p95 p99 p999 reasons sd
    /failed_ms/reasons: p50 p90 p95 p99 p999
    /findings[]: id observed severity text
    /groups[]: clients closed_form load name parameters processes stop_condition workload
    /groups[]/load: model
    /groups[]/parameters: warehouses
    /intervals[]: dropped failed from_s offered_per_second p50_ms p95_ms p99_ms queue_mean
    to_s tps unfinished wait_percent
    /lag_us: count max p50 p99
    /latency_heat: counts every_s
    /latency_heat/counts: 42
    /latency_heat/counts/42: 63
    /load: model
    /offered_ms: count distribution interval_reasons intervals max mean min overflow p50 p90
    p95 p99 p999 reasons sd
    /offered_ms/interval_reasons: p999
    /offered_ms/intervals: p50 p90 p95 p99
    /offered_ms/reasons: max mean sd
    /per_client[]: client transactions
    /per_client[]/transactions: new_order
    /per_client[]/transactions/new_order: calls failed max_ms mean_ms min_ms p50_ms p95_ms
    p99_ms sd_ms total_ms
    /per_transaction: bytes others reads round_trips rows statements writes
    /phases: drain_s measure_s ramp_up_s
    /primary_metrics: nopm tpm
    /primary_metrics/nopm: half_width title value
    /primary_metrics/tpm: half_width title value
    /ramp_up_counts: backlog_at_start committed dropped failed finished offered retried
    rolled_back unfinished unknown
    /reply_lag_us: count late max mean p50 p99 reasons service
    /reply_lag_us/reasons: count
    /response_ms: count distribution interval_reasons intervals max mean min overflow p50
    p90 p95 p99 p999 sd
    /response_ms/interval_reasons: p999
    /response_ms/intervals: mean p50 p90 p95 p99
    /seconds[]: bytes commits dropped failed finished group max_ms offered others p50_ms
    p95_ms p99_ms reads rows second tps waiting writes
    /service_ms: count distribution interval_reasons intervals max mean min note overflow
    p50 p90 p95 p99 p999 sd
    /service_ms/interval_reasons: p999
    /service_ms/intervals: mean p50 p90 p95 p99
    /shares: below count dispersion
    /stability: cv longest_stall_ms longest_stalls median_tps slowest_second stalled_ms
    stalls
    /stability/slowest_second: second tps
    /tps_ci95: half_width n_effective note seconds_to_1_percent
    /transactions: new_order
    /transactions/new_order: calls dropped failed finished others ratio_percent reads
    response_ms retried round_trips shares total_ms tps tps_half_width unfinished writes
    /transactions/new_order/shares: below count dispersion
    /wait_ms: count interval_reasons intervals max mean min note overflow p50 p90 p95 p99
    p999 sd
    /wait_ms/interval_reasons: mean p50 p90 p95 p99 p999
    ");
}

fn names(json: &Value) -> String {
    let mut objects = BTreeMap::new();
    shape("", json, &mut objects);
    let lines = objects.into_iter().flat_map(|(path, keys)| {
        wrap(&format!("{path}: {}", keys.into_iter().collect::<Vec<_>>().join(" ")), 88)
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Collects the keys of every object, by its path.
fn shape(path: &str, value: &Value, objects: &mut BTreeMap<String, BTreeSet<String>>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                objects.entry(path.to_owned()).or_default().insert(key.clone());
                let is_latency = key.ends_with("_ms") && !path.is_empty() && value.is_object();
                if !is_latency {
                    shape(&format!("{path}/{key}"), value, objects);
                }
            }
        }
        Value::Array(values) => {
            values.iter().for_each(|value| shape(&format!("{path}[]"), value, objects));
        }
        _ => {}
    }
}

#[test]
fn kinds_stand_in_the_order_of_the_workload() {
    let json = serde_json::to_string(&report(&Made::closed())).expect("JSON");
    let place = |name: &str| json.find(&format!("\"{name}\":{{\"calls\"")).expect("a kind");
    assert!(place("new_order") < place("payment") && place("payment") < place("delivery"));
}

#[test]
fn offered_is_finished_and_failed_and_dropped_and_unfinished() {
    for made in [Made::closed(), Made::open_overloaded(), Made::interrupted(), Made::running()] {
        let block = report(&made).block;
        for counts in [block.counts, block.ramp_up_counts] {
            let parts = counts.finished + counts.failed + counts.dropped + counts.unfinished;
            assert_eq!(counts.offered, parts);
        }
        let of_kinds = |to_count: fn(&TransactionReport) -> u64| -> u64 {
            block.transactions.iter().map(|(_, kind)| to_count(kind)).sum()
        };
        assert_eq!(of_kinds(|kind| kind.calls), block.counts.finished + block.counts.failed);
        assert_eq!(of_kinds(|kind| kind.dropped), block.counts.dropped);
        assert_eq!(of_kinds(|kind| kind.unfinished), block.counts.unfinished);
        assert_eq!(block.response_ms.count, block.counts.finished);
        assert_eq!(block.offered_ms.count, block.counts.offered);
    }
}

/// Checks that no counts are lost between seconds: a client that learns late of an early end may
/// begin a transaction in a later second.
#[test]
fn the_seconds_have_all_that_the_counts_have() {
    let mut made = Made::interrupted();
    made.measured_ns -= 2 * model::NS_PER_S;
    for made in [Made::closed(), Made::interrupted(), made] {
        let report = report(&made);
        let measured = report.seconds.iter().filter(|second| second.second >= 0);
        let offered: u64 = measured.map(|second| second.offered).sum();
        assert_eq!(offered, report.block.counts.offered);
        assert!(report.seconds.iter().all(|second| second.tps.is_finite()));
    }
}

#[test]
fn rates_are_commits_of_the_window_over_its_length() {
    let mut made = Made::closed();
    made.measured_ns = 2_500 * NS_PER_MS;
    made.seconds = (0..3).map(|index| fixtures::second(index, 100)).collect();
    made.seconds[2].kind(0).commits = 50;
    let report = report(&made);
    assert_eq!(report.measured_seconds, 2.5);
    assert_eq!(report.block.tps, Some(100.0));
    assert_eq!(report.block.nopm, Some(6000.0));
    let last = report.seconds.last().expect("three seconds");
    assert_eq!((last.second, last.commits, last.tps), (2, 50, 100.0));
    assert_eq!(report.block.stability.slowest_second.map(|s| s.tps), Some(100.0));
}

#[test]
fn statements_of_the_ramp_up_are_in_no_rate() {
    let mut made = Made::closed();
    made.measured_ns = 2_000 * NS_PER_MS;
    made.seconds = (-2..2).map(|index| fixtures::second(index, 100)).collect();
    for second in &mut made.seconds {
        second.kind(0).traffic.reads = 1000;
    }
    let report = report(&made);
    assert_eq!(report.block.qps, Some(1000.0));
    assert_eq!(report.client.map(|client| client.queries), Some(2000), "as its CPU time");
}

#[test]
fn a_dead_process_leaves_its_status_to_the_store() {
    let status = |made: Made, kept| Report::with_status(&made.tally(), kept).status;
    assert_eq!(status(Made::running(), model::Status::Interrupted), Status::Interrupted);
    assert_eq!(status(Made::running(), model::Status::Running), Status::Running);
    assert_eq!(status(Made::closed(), model::Status::Failed), Status::Completed);
}

#[test]
fn what_the_store_lacks_is_a_finding_once() {
    let lacking = |n_events: u64| report(&Made::closed()).with_lost(n_events);
    let count = |report: &Report| {
        report.findings.iter().filter(|finding| finding.id == "store_not_written").count()
    };
    assert_eq!(
        (count(&lacking(0)), count(&lacking(7)), count(&lacking(7).with_lost(7))),
        (0, 1, 1)
    );
    assert!(lacking(7).findings[0].text.starts_with("7 events of this run could not be written"));
}

#[test]
fn round_trips_are_a_mean_over_what_ended_in_the_window() {
    let block = report(&Made::closed()).block;
    assert_eq!(block.transactions.get("new_order").and_then(|kind| kind.reads), Some(12.0));
    // A run of a version that did not count ended transactions.
    let mut drained = Made::closed();
    drained.seconds.iter_mut().flat_map(|part| &mut part.kinds).for_each(|kind| kind.ended = 0);
    let block = report(&drained).block;
    let payment = block.transactions.get("payment").expect("a kind");
    // Two failures had no traffic in this run.
    assert!(payment.round_trips.is_some_and(|trips| trips > 24.9 && trips <= 25.0));
    let kind = drained.kind(0);
    kind.counts.committed += 9_000;
    kind.carried += 9_000;
    kind.response.get_or_insert_default().record_n(NS_PER_MS, 9_000);
    let block = report(&drained).block;
    assert_eq!(block.transactions.get("new_order").and_then(|kind| kind.reads), Some(12.0));
}

#[test]
fn shares_of_time_add_up_to_all_of_it() {
    let block = report(&Made::open_overloaded()).block;
    let sum: f64 = block.transactions.iter().filter_map(|(_, kind)| kind.ratio_percent).sum();
    assert!((sum - 100.0).abs() < 0.001, "{sum}");
}

#[test]
fn closed_load_has_the_service_of_its_response_and_no_wait() {
    let block = report(&Made::closed()).block;
    assert_eq!(block.service_ms.p99, block.response_ms.p99);
    assert_eq!((block.wait_ms.count, block.wait_ms.max), (block.response_ms.count, Some(0.0)));
    assert!(block.wait_ms.note.is_some());
    assert!(report(&Made::open_overloaded()).block.wait_ms.note.is_none());
}

#[test]
fn a_run_that_goes_on_counts_its_closed_seconds() {
    let report = report(&Made::running());
    assert_eq!((report.status, report.measured_seconds), (Status::Running, 23.0));
    assert_eq!(report.elapsed_seconds, None);
    let commits: u64 = report.seconds.iter().filter(|s| s.second >= 0).map(|s| s.commits).sum();
    assert_eq!(report.block.tps, Some((commits as f64 / 23.0 * 1e6).round() / 1e6));
}

#[test]
fn an_empty_run_has_reasons_and_no_numbers() {
    let report = Report::from_tally(&crate::Tally::new());
    assert_eq!((report.block.tps, report.block.qps, report.block.nopm), (None, None, None));
    assert!(report.block.tps_ci95.is_none() && report.block.tps_ci95_reason.is_some());
    assert_eq!(report.block.response_ms.reasons.get("p50").map(String::as_str), Some("no samples"));
    let json = serde_json::to_string(&report).expect("JSON");
    assert!(!json.contains("NaN") && !json.contains("inf,"));
}

#[test]
fn clients_are_reported_only_when_asked_for() {
    let tally = Made::closed().tally();
    assert!(Report::from_tally(&tally).block.per_client.is_none());
    let all = Report::with(&tally, Options { per_client: true }).block.per_client;
    let first = all.as_deref().and_then(<[ClientReport]>::first).expect("eight clients");
    let new_order = first.transactions.get("new_order").expect("a kind");
    assert_eq!((new_order.calls, new_order.mean_ms, new_order.total_ms), (5, Some(2.5), 10.0));
    // The values are 1, 2, 3 and 4 ms.
    assert!(new_order.sd_ms.is_some_and(|sd| (sd - 1.290_994).abs() < 1e-6));
}

#[test]
fn a_report_of_before_reply_lags_is_read() {
    let mut json = serde_json::to_value(report(&Made::closed())).expect("a report is JSON");
    let fields = json.as_object_mut().expect("an object");
    assert!(fields.remove("reply_lag_us").is_some());
    let read: Report = serde_json::from_value(json).expect("an old report is read");
    assert_eq!((read.block.reply_lag_us.count, read.loops.len()), (0, 0));
}

#[test]
fn a_report_with_the_former_names_is_read() {
    let today = report(&Made::closed());
    let mut json = serde_json::to_value(&today).expect("a report is JSON");
    let mut rename = |at: &str, former: &str, name: &str| {
        let fields =
            json.pointer_mut(at).and_then(|value| value.as_object_mut()).expect("an object");
        let value = fields.remove(name).unwrap_or_else(|| panic!("no {name}"));
        fields.insert(former.to_owned(), value);
    };
    rename("", "headlines", "primary_metrics");
    rename("", "measures", "custom_metrics");
    rename("", "declarations", "notes");
    rename("/groups/0", "until", "stop_condition");
    let read: Report = serde_json::from_value(json).expect("an old report is read");
    assert_eq!(read.notes, today.notes);
    assert_eq!(read.groups[0].stop_condition, today.groups[0].stop_condition);
    let names = |report: &Report| {
        let Block { primary_metrics, custom_metrics, .. } = &report.block;
        (primary_metrics.get("nopm").cloned(), custom_metrics.0.len(), primary_metrics.0.len())
    };
    assert_eq!(names(&read), names(&today));
    assert!(names(&read).0.is_some());
}

#[test]
fn the_service_time_is_split_by_the_reply_lag_of_all_round_trips() {
    let mut made = Made::closed();
    made.seconds[5].reply_lag.get_or_insert_default().record_n(20_000, 500);
    made.seconds[9].reply_lag.get_or_insert_default().record_n(40_000, 500);
    // Replies that were read in the ramp-up do not belong to the measured phase.
    made.seconds[0].reply_lag.get_or_insert_default().record_n(9_000_000, 500);
    let block = report(&made).block;
    let (lag, split) = (&block.reply_lag_us, block.reply_lag_us.service.expect("it is known"));
    assert_eq!((lag.count, lag.mean, lag.max), (1_000, Some(30.0), Some(40.0)));
    assert!(lag.p50.is_some_and(|p50| (p50 - 20.0).abs() < 0.1), "{lag:?}");
    let round_trips = block.per_transaction.round_trips.expect("it was counted");
    assert!((split.generator_ms - 0.030 * round_trips).abs() < 1e-5, "{split:?}");
    assert_eq!(split.generator_ms_error, None, "two seconds tell no error");
    assert_eq!(Some(split.mean_ms), block.service_ms.mean);
    let sum = split.server_and_network_ms + split.generator_ms;
    assert!((sum - split.mean_ms).abs() < 1e-5, "{split:?}");
}

#[test]
fn the_error_of_a_reply_lag_comes_from_the_seconds() {
    let error_of = |lags_ns: [u64; 2]| {
        let mut made = Made::closed();
        for (index, second) in made.seconds.iter_mut().enumerate() {
            let lag_ns = lags_ns[index % 2];
            second.reply_lag.get_or_insert_default().record_n(lag_ns, 500);
        }
        let split = report(&made).block.reply_lag_us.service.expect("it is known");
        (split.generator_ms, split.generator_ms_error.expect("there are enough seconds"))
    };
    let (mean, error) = error_of([30_000, 30_000]);
    assert!(error < 1e-6 * mean, "{error} of {mean}");
    let (mean, error) = error_of([10_000, 50_000]);
    assert!(error > 0.05 * mean && error < 0.4 * mean, "{error} of {mean}");
}

#[test]
fn where_no_reply_lag_is_known_there_is_the_reason() {
    let why = |made: &Made| {
        let lag = report(made).block.reply_lag_us;
        assert_eq!((lag.count, lag.mean, lag.service), (0, None, None));
        lag.reasons.get("count").cloned().unwrap_or_default()
    };
    let mut made = Made::closed();
    assert_eq!(why(&made), "no round trip was sampled");
    made.fact("client", "no_reply_lag", "it is a Unix socket");
    assert_eq!(why(&made), "it is a Unix socket");
    let mut made = Made::closed();
    made.description.placement = model::Placement::Simulated;
    assert_eq!(why(&made), "virtual time has no sockets");
}

#[test]
fn rates_of_one_name_are_added_up_by_what_each_group_counts() {
    let mut made = Made::closed();
    let rate = |made: &Made| Report::from_tally(&made.tally()).block.nopm.expect("it is known");
    let alone = rate(&made);
    let mut other = made.description.groups[0].clone();
    other.name.push('2');
    // A transaction of the other group counts half as much again.
    other.primary_metrics.iter_mut().for_each(|primary| primary.per_ns = primary.per_ns / 2 * 3);
    made.description.groups.push(other);
    let seconds = made.seconds.iter().cloned().map(|second| model::Second { group: 1, ..second });
    made.seconds.extend(seconds.collect::<Vec<_>>());
    assert!((rate(&made) - 2.5 * alone).abs() < 1e-9 * alone, "{} of {alone}", rate(&made));
}

#[test]
fn a_limit_is_named_only_with_evidence() {
    let limit = |gauges: &[(&str, &str)], values: &[f64]| {
        let mut made = Made::closed();
        made.gauges(gauges, &|_, at| values[at]);
        Report::from_tally(&made.tally()).limited_by.map(|limited| (limited.limit, limited.text))
    };
    let cpu = [("machine", "cpu_idle"), ("machine", "cpu_iowait"), ("machine", "disk_busy/vda")];
    assert_eq!(limit(&[], &[]), None);
    assert_eq!(limit(&cpu, &[30.0, 5.0, 40.0]), None);
    let (is, text) = limit(&cpu, &[0.1, 0.0, 40.0]).expect("CPUs are busy");
    assert_eq!((is, text.as_str()), (Limit::Cpu, "CPU of this machine, 99.9 % busy"));
    // The rest of the CPU time is shown as that of others, so the parts add up to the whole.
    let shares = [
        ("machine", "cpu_idle"),
        ("server", "cpu_user"),
        ("server", "cpu_system"),
        ("generator", "cpu_user"),
    ];
    let mut made = Made::closed();
    made.fact("cpu", "logical", "2");
    made.gauges(&shares, &|_, at| [0.2, 60.0, 14.0, 27.0][at]);
    let text = Report::from_tally(&made.tally()).limited_by.expect("CPUs are busy").text;
    let words = "CPU of this machine, 99.8 % busy (server 37.0 %, dbdyno 13.5 %, others and \
                 interrupts 49.3 %)";
    assert_eq!(text, words);
    // The server's host, which an agent monitored.
    let elsewhere = [
        ("machine", "cpu_idle"),
        ("machine", "disk_busy/vda"),
        ("db1/machine", "cpu_idle"),
        ("db1/machine", "disk_busy/sda"),
        ("server", "cpu_user"),
        ("generator", "cpu_user"),
    ];
    let limit_of = |values: [f64; 6]| {
        let mut made = Made::closed();
        made.description.target = "mariadb://bench@10.0.0.1/bench".to_owned();
        made.fact("db1/cpu", "logical", "4");
        made.fact("monitor_agents", "server", "db1");
        made.fact("monitor_agents", "db1_is_here", "false");
        made.gauges(&elsewhere, &|_, at| values[at]);
        Report::from_tally(&made.tally()).limited_by.map(|limited| limited.text)
    };
    let text = limit_of([70.0, 99.0, 1.0, 0.0, 380.0, 60.0]).expect("CPUs are busy");
    assert_eq!(text, "CPU of db1, 99.0 % busy (server 95.0 %, others and interrupts 4.0 %)");
    let text = limit_of([70.0, 99.0, 60.0, 95.0, 100.0, 60.0]).expect("its disk is busy");
    assert_eq!(text, "disk sda of db1, busy 95.0 % of the time");
    assert_eq!(limit_of([70.0, 99.0, 60.0, 5.0, 100.0, 60.0]), None);
    // CPUs that wait for a disk are idle.
    let (is, text) = limit(&cpu, &[1.0, 60.0, 97.0]).expect("the disk is busy");
    assert_eq!((is, text.as_str()), (Limit::Disk, "disk vda, busy 97.0 % of the time"));
}
