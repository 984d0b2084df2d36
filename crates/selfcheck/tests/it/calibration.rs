//! Tests that all of dbdyno on `sim` gives the same times as the queueing recursion, and reports
//! losses truthfully.

use model::{Arrivals, NS_PER_MS, NS_PER_S, Placement};
use selfcheck::{Calibration, accuracy_over_tcp, calibrate, truth};

/// Makes an open load against `servers` servers with exponential service times of mean 2 ms.
fn queue(servers: u32, clients: u32, rate_per_s: f64) -> Calibration {
    Calibration {
        seed: 11,
        sim: format!("servers={servers}&service=exponential:2ms&draws=key"),
        clients,
        rate_per_s: Some(rate_per_s),
        arrivals: Arrivals::Poisson,
        queue: 1_000_000,
        ramp_up_ns: 0,
        measure_ns: 30 * NS_PER_S,
        drain_ns: 600 * NS_PER_S,
        placement: Placement::Simulated,
    }
}

#[test]
fn every_sample_is_the_recursion_wherever_the_queue_is() {
    for servers in [1u32, 4] {
        for clients in [servers, 1000] {
            let plan = queue(servers, clients, 420.0 * f64::from(servers));
            let truth = truth(&plan, servers as usize, 2e6);
            let ran = calibrate(&plan, true).expect("a simulated run");
            assert_eq!(ran.samples.len(), truth.len());
            for (nth, sample) in &ran.samples {
                let served = truth[*nth as usize];
                assert_eq!(sample.finished_ns, served.finish_ns, "{servers}, {clients}, {nth}");
                if clients == servers {
                    assert_eq!(sample.started_ns, served.start_ns);
                }
            }
        }
    }
}

#[test]
fn the_seed_decides_every_event() {
    let events = |seed| {
        let plan = Calibration { seed, ..queue(2, 2, 900.0) };
        calibrate(&plan, false).expect("a simulated run").events
    };
    assert_eq!(events(5), events(5));
    assert_ne!(events(5), events(6));
}

#[test]
fn threads_and_loops_do_the_same_work_in_real_time() {
    let counts = |placement| {
        let plan = Calibration { placement, measure_ns: 700 * NS_PER_MS, ..queue(4, 16, 1000.0) };
        calibrate(&plan, false).expect("a run").report.block.counts
    };
    let (thread, event_loop) = (counts(Placement::Thread), counts(Placement::Loop));
    assert_eq!(thread.offered, event_loop.offered);
    assert_eq!((thread.finished, event_loop.finished), (thread.offered, thread.offered));
}

#[test]
fn a_rate_above_capacity_fills_the_queue_and_says_so() {
    let plan = Calibration {
        queue: 500,
        measure_ns: 10 * NS_PER_S,
        drain_ns: 100 * NS_PER_MS,
        ..queue(1, 1, 1000.0)
    };
    let block = calibrate(&plan, false).expect("a simulated run").report.block;
    let counts = &block.counts;
    assert!(counts.dropped > 3000 && counts.unfinished > 300, "{counts:?}");
    let parts = counts.finished + counts.failed + counts.dropped + counts.unfinished;
    assert_eq!(counts.offered, parts);
    assert_eq!(counts.offered, plan.arrivals_ns().len() as u64);
    assert!(block.response_ms.p99.is_some(), "what finished has its own p99");
    assert_eq!(block.offered_ms.p99, None, "a third of what was offered never came back");
}

#[test]
fn a_stall_shows_in_every_arrival_that_it_delayed_and_once_in_each_clients_service() {
    let clients = 8;
    let plan = Calibration {
        sim: "servers=0&service=constant:1ms&stall_at=5s&stall=1s".to_owned(),
        clients,
        rate_per_s: Some(1000.0),
        arrivals: Arrivals::Uniform,
        measure_ns: 10 * NS_PER_S,
        ..queue(1, 1, 1.0)
    };
    let ran = calibrate(&plan, true).expect("a simulated run");
    let is_within = |ns: u64| (5 * NS_PER_S..6 * NS_PER_S).contains(&ns);
    let mut n_slow_services = 0;
    for sample in ran.samples.values() {
        let intended_ns = sample.slot.intended_ns;
        if is_within(intended_ns) {
            let left_ns = 6 * NS_PER_S - intended_ns;
            assert!(sample.response_ns() >= left_ns, "{sample:?} hides the stall");
        }
        n_slow_services += u32::from(sample.service_ns() > 10 * NS_PER_MS);
    }
    assert_eq!(n_slow_services, clients, "a closed view sees the stall once a client");
}

#[test]
fn over_tcp_every_reply_is_seen_after_it_was_written_on_threads_and_on_loops() {
    for placement in [Placement::Thread, Placement::Loop] {
        let length_ns = 5 * NS_PER_S / 2;
        let accuracy = accuracy_over_tcp(placement, length_ns).expect("a run on this machine");
        assert!(accuracy.n_arrivals > 2_250, "{} arrivals", accuracy.n_arrivals);
        assert_eq!((accuracy.n_measured, accuracy.n_too_early), (accuracy.n_arrivals, 0));
        assert_eq!(accuracy.errors.count(), accuracy.n_arrivals);
        // Samples are taken within a spell of stamps, one per second. None is longer than the
        // largest error, except for the moment between the server's clock and its socket.
        let n_sampled = accuracy.reply_lag.count();
        assert!(n_sampled >= 10 && n_sampled < accuracy.n_arrivals, "{n_sampled} sampled");
        let longest = (accuracy.reply_lag.max(), accuracy.errors.max());
        assert!(longest.0 <= longest.1, "{longest:?}");
    }
}
