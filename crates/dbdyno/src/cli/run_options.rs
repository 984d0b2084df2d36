//! Options of `dbdyno run` that it has for every workload.
//!
//! Not here: options of single workloads, and the run.

use app::build::LoadMethod;
use clap::{Arg, ArgAction, Command};
use model::Choice;
use plan::{EXPERIMENT, PLAN, group_flags};

use super::{
    dry_run, flags, hosts, metrics, password, push, required, runs, script_host, script_words,
    server_params, server_restart, stored, target_from,
};

/// Returns the command with the options that it has for every workload.
pub(super) fn command() -> Command {
    let command =
        Command::new("run")
            .about("Runs a workload or a plan, and prints a report")
            .arg(Arg::new("what").required(true).value_name("WORKLOAD|PLAN.toml").help(
                "A workload ('dbdyno list workloads'), a plan file, or - for a plan from stdin",
            ))
            .arg(flags::no_store())
            .arg(stored::label_flag())
            .args(push::flags())
            .arg(flags::checks())
            .arg(flags::no_build())
            .arg(flags::load_method_of(LoadMethod::NAMES))
            .arg(
                Arg::new("vary")
                    .long("vary")
                    .value_name("NAME=VALUE,...")
                    .action(ArgAction::Append)
                    .help(
                        "Run with each of these values; the first is the baseline of comparisons; \
                     repeat the flag to run all combinations (clients=1,2,4 or server.innodb_flush_log_at_trx_commit=1,2)",
                    ),
            )
            .arg(server_params::flag())
            .arg(
                Arg::new("per_client")
                    .long("per-client")
                    .action(ArgAction::SetTrue)
                    .help("Report per-client figures"),
            )
            .arg(dry_run::flag())
            .args(script_words::flags())
            .arg(script_host::flag())
            .args(hosts::flags())
            .args(server_restart::flags())
            .args(required::flags())
            .arg(runs::full_flag(runs::FULL))
            .args(metrics::flags())
            .arg(flags::quiet("No progress, and of the report only the result or the limits"));
    target_from::add(password::add(command))
        .args(PLAN.iter().map(|row| flags::flag(&row.parameter, "Plan")))
        .args(group_flags().map(|row| flags::flag(row, "Clients and load")))
        .args(EXPERIMENT.iter().map(|row| flags::flag(&row.parameter, "Experiment")))
}

/// Returns the names of the options that the command has for every workload.
pub(super) fn names() -> Vec<String> {
    command().get_arguments().map(|known| known.get_id().as_str().to_owned()).collect()
}
