//! What the body of a script defines, for which it runs once, before the states of clients.
//!
//! A body may print and write files. What it prints here is not shown, but its other effects are
//! seen, so what was found is kept: the body runs no second time to be read. It sees no options.
//!
//! Not here: states in which a script runs (state).

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use mlua::Function;
use model::{BadParameter, Source, interned};

use super::names::{CUMULATIVE, DONE, INIT, INTERMEDIATE};
use super::options::Declared;
use super::random::{Distribution, Random, Shape};
use super::shared::Shared;
use super::state::{ReadFile, State, bad};

/// Most scripts whose definitions are kept, which is more than a run has.
const KEPT: usize = 64;

/// Shape of random numbers while a script is read, which draws none.
const NO_SHAPE: Shape = Shape {
    default: Distribution::Uniform,
    iterations: 12,
    middle_percent: 1.0,
    middle_share: 75.0,
    pareto_h: 0.2,
    zipfian_exponent: 0.8,
};

/// What a script defines.
#[derive(Clone)]
pub(super) struct Defined {
    /// Options that it declares, in the order of their names.
    pub(super) options: Vec<Declared>,
    /// Global names that it reads and nobody defines.
    pub(super) free_names: Vec<String>,
    /// Its commands, with true for those that run in all threads.
    pub(super) commands: BTreeMap<String, bool>,
    pub(super) has_load: bool,
    /// Names of its functions and hooks that belong to the run and not to a client.
    pub(super) of_run: Vec<&'static str>,
}

/// Scripts that were read, and what they define.
static ALL: Mutex<Vec<(Source, Arc<Defined>)>> = Mutex::new(Vec::new());

impl Defined {
    /// Returns what a script defines, whose files have been read.
    ///
    /// # Errors
    ///
    /// The error of its body.
    pub(super) fn of(source: &Source) -> Result<Arc<Defined>, BadParameter> {
        let kept = ALL.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, defined)) = kept.iter().find(|(known, _)| known == source) {
            return Ok(Arc::clone(defined));
        }
        drop(kept);
        // A file that was read when the script was is not read again.
        let (state, _) = run_once(source, |_| None)?;
        keep(source.clone(), &state)
    }

    /// Runs the body of a script whose files are read by `read`, and returns their texts.
    ///
    /// # Errors
    ///
    /// The error of its body.
    pub(super) fn read(
        source: &Source,
        read: ReadFile,
    ) -> Result<BTreeMap<String, String>, BadParameter> {
        let (state, shared) = run_once(source, read)?;
        let modules = shared.modules.take();
        keep(Source { modules: modules.clone(), ..source.clone() }, &state)?;
        Ok(modules)
    }

    fn in_state(state: &State) -> mlua::Result<Defined> {
        let function = |name: &str| state.rust().get::<Function>(name);
        let (has_report, has_function) = (function("has_report")?, function("has_function")?);
        let mut of_run = Vec::new();
        for (names, has) in [([INTERMEDIATE, CUMULATIVE], has_report), ([INIT, DONE], has_function)]
        {
            for name in names {
                of_run.extend(has.call::<bool>(name)?.then_some(name));
            }
        }
        Ok(Defined {
            options: Declared::all(state)?,
            free_names: function("free_names")?.call(())?,
            commands: function("commands")?.call(())?,
            has_load: function("has_load")?.call(())?,
            of_run,
        })
    }
}

fn keep(source: Source, state: &State) -> Result<Arc<Defined>, BadParameter> {
    let defined = Arc::new(Defined::in_state(state).map_err(bad)?);
    let mut kept = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    if kept.len() >= KEPT {
        kept.remove(0);
    }
    kept.push((source, Arc::clone(&defined)));
    Ok(defined)
}

/// Runs the body of a script, and returns the state with it.
fn run_once(source: &Source, read: ReadFile) -> Result<(State, Rc<Shared>), BadParameter> {
    let shared = Rc::new(Shared::new(Random::new(NO_SHAPE, Arc::default(), 0)));
    let state = State::new(source, interned(&source.text), &shared, Some(read)).map_err(bad)?;
    state.run_body()?;
    Ok((state, shared))
}
