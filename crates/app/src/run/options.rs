//! Options of a run that are not part of its plan.
//!
//! Not here: what they do.

use std::path::PathBuf;
use std::sync::Arc;

use engine::SampleHook;
use model::{Event, EventLoopChoice, ScriptHost, Trial};

use super::agents::Hosts;
use crate::build::BuildOptions;
use crate::settings::ServerRestart;

/// Options of a run that are not part of its plan.
pub struct RunOptions {
    /// Path of the store; `None` if the run is not to be stored.
    pub store: Option<PathBuf>,
    /// True to check the data before the load.
    pub check_before: bool,
    /// True to check the data after the load.
    pub check_after: bool,
    /// True to build data that are missing.
    pub build: bool,
    /// Options for building missing data.
    pub load: BuildOptions,
    /// Function that receives every sample, for calibration; `None` for normal runs.
    pub sample_hook: Option<SampleHook>,
    /// Point (combination of varied values) and repeat of an experiment that this run is a trial
    /// of; `None` if it is no trial.
    pub trial: Option<Trial>,
    /// Labels of the run in the store: keys and values.
    pub labels: Vec<(String, String)>,
    /// Events that happened before the run and are recorded in it, such as changed settings.
    pub before: Vec<Event>,
    /// Starts programs and prints lines for scripts; `None` if scripts may do neither.
    pub script_host: Option<Arc<dyn ScriptHost>>,
    /// Finds the other hosts on which clients run, if the plan names agents.
    pub hosts: Option<Arc<dyn Hosts>>,
    /// What `auto` is for event loops of this run, because its experiment has chosen it for all
    /// runs; `auto` itself for a run of its own.
    pub event_loop: EventLoopChoice,
    /// How a server that dbdyno did not start is restarted for settings that need it; `None` if it
    /// may not be.
    pub restart: Option<ServerRestart>,
}

impl RunOptions {
    /// Creates the options of a run on data as they are: none are built or checked.
    pub fn on_data_as_they_are(store: Option<PathBuf>) -> RunOptions {
        RunOptions {
            store,
            check_before: false,
            check_after: false,
            build: false,
            load: BuildOptions::default(),
            sample_hook: None,
            trial: None,
            labels: Vec::new(),
            before: Vec::new(),
            script_host: None,
            hosts: None,
            event_loop: EventLoopChoice::Auto,
            restart: None,
        }
    }
}
