//! Tests of clients on event loops that wait with `io_uring`, on real servers, and where the kernel
//! forbids it, as in a container.

use std::io;
use std::os::unix::process::CommandExt;

use servers::for_tests::{MARIADB, POSTGRES};

use crate::home::{Home, Ran, at, number};
use crate::journey::nothing_is_lost;
use crate::outage::{RUN, crash};
use crate::real::url;
use crate::waiting::Started;

/// Whether the kernel lets tests use `io_uring`. Says so if it does not.
pub(crate) fn is_permitted() -> bool {
    let probed = engine::probe_io_uring();
    if let Err(error) = &probed {
        eprintln!("skipped: the kernel refuses io_uring: {error}");
    }
    probed.is_ok()
}

#[test]
fn clients_of_real_servers_are_served_as_well_with_io_uring() {
    if !is_permitted() {
        return;
    }
    for server in [&MARIADB, &POSTGRES] {
        let target = format!("--target={}", url(server.shared()));
        let home = Home::new();
        for event_loop in ["io_uring", "epoll"] {
            // Whether the generator kept up depends on this machine, and is not asked.
            let ran = home.run(&[
                "run",
                "oltp-point-select",
                &target,
                "--tables=1",
                "--table-size=1000",
                "--clients=20",
                // Threads have no event loop.
                &format!("--event-loop={event_loop}"),
                "--transactions=20000",
                "--duration=1h",
                "--quiet",
                "--output=json",
            ]);
            let report = ran.json();
            assert_eq!(report["placement"], "loop");
            assert_eq!(at(&report, "facts.client.event_loop"), event_loop);
            nothing_is_lost(&report);
            assert_eq!(number(&report, "counts.finished"), 20_000.0);
        }
    }
}

#[test]
fn clients_on_io_uring_outlive_a_crash_of_mariadb() {
    if is_permitted() {
        let more = ["--placement=loop", "--event-loop=io_uring"];
        crash(&mut MARIADB.start(), "tpcb", &[&RUN[..], &more].concat());
    }
}

#[test]
fn clients_on_io_uring_outlive_a_crash_of_postgres() {
    if is_permitted() {
        let more = ["--placement=loop", "--event-loop=io_uring"];
        crash(&mut POSTGRES.start(), "tpcb", &[&RUN[..], &more].concat());
    }
}

#[test]
fn many_clients_of_a_loop_use_io_uring_and_an_experiment_uses_one_interface() {
    let home = Home::new();
    let sim = "--target=sim:?service=constant:1ms&servers=64";
    let loops = std::thread::available_parallelism().map_or(1, |n| n.get());
    let (few, many) = (loops.to_string(), (40 * loops).to_string());
    let of_many = if is_permitted() { "io_uring" } else { "epoll" };
    let base = ["run", "empty", sim, "--placement=loop", "--transactions=400", "--ramp-up=0s"];
    for (clients, event_loop) in [(&few, "epoll"), (&many, of_many)] {
        // Whether the generator kept up depends on this machine, and is not asked.
        let more = [&format!("--clients={clients}"), "--output=json"];
        let report = home.run(&[&base[..], &more].concat()).json();
        assert_eq!(at(&report, "facts.client.event_loop"), event_loop);
        assert_eq!(number(&report, "counts.finished"), 400.0);
    }
    let vary = format!("--vary=clients={few},{many}");
    home.run(&[&base[..], &[&vary, "--repeat=1"]].concat());
    let runs = home.json(&["runs", "list"]);
    for run in &at(&runs, "runs").as_array().expect("a list")[..2] {
        let id = at(run, "run_id").as_str().expect("an id");
        let report = home.json(&["runs", "show", id]);
        assert_eq!(at(&report, "facts.client.event_loop"), of_many);
    }
}

#[test]
fn where_the_kernel_forbids_io_uring_epoll_is_used_or_the_run_refused() {
    let home = Home::new();
    let run = |event_loop: &str| {
        let event_loop = format!("--event-loop={event_loop}");
        without_io_uring(
            &home,
            &[
                "run",
                "empty",
                "--target=sim:?service=constant:1ms&servers=64",
                "--placement=loop",
                "--clients=200",
                "--transactions=400",
                "--ramp-up=0s",
                "--quiet",
                "--output=json",
                &event_loop,
            ],
        )
    };
    let report = run("auto").json();
    assert_eq!(at(&report, "facts.client.event_loop"), "epoll");
    assert_eq!(number(&report, "counts.finished"), 400.0);
    let refused = run("io_uring").code(2);
    let shown =
        ["event_loop: the kernel refuses io_uring", "not permitted", "leave the option out"];
    refused.warns(&shown).is_a_sentence();
}

/// Runs dbdyno under a filter of system calls that forbids `io_uring`, as containers do.
fn without_io_uring(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.dbdyno(args);
    #[expect(unsafe_code, reason = "the filter must be set between fork and exec")]
    // SAFETY: `forbid_io_uring` calls only prctl, and allocates nothing.
    unsafe {
        command.pre_exec(forbid_io_uring);
    }
    Started::new(command).end()
}

/// Makes `io_uring_setup` fail with `EPERM` in this process and its children.
fn forbid_io_uring() -> io::Result<()> {
    let instruction =
        |code: u32, k: u32, jt: u8, jf: u8| libc::sock_filter { code: code as u16, jt, jf, k };
    let mut filter = [
        // The number of the system call is the first word of `seccomp_data`.
        instruction(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        instruction(
            libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K,
            libc::SYS_io_uring_setup as u32,
            0,
            1,
        ),
        instruction(libc::BPF_RET, libc::SECCOMP_RET_ERRNO | libc::EPERM as u32, 0, 0),
        instruction(libc::BPF_RET, libc::SECCOMP_RET_ALLOW, 0, 0),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    #[expect(unsafe_code, reason = "rustix has no filters of system calls")]
    // SAFETY: the kernel reads the program and its instructions, which live through both calls.
    let is_set = unsafe {
        libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0
            && libc::prctl(
                libc::PR_SET_SECCOMP,
                libc::SECCOMP_MODE_FILTER,
                &raw const program,
                0,
                0,
            ) == 0
    };
    if is_set { Ok(()) } else { Err(io::Error::last_os_error()) }
}
