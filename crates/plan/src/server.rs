//! Server settings of a plan, from `[server]` and from varied parameters named `server.*`.
//!
//! Settings of a managed server become options of its target, and the server is started with them.
//! Settings of other servers are set by SQL for the run. Not here: executing that SQL (app).

use model::{Target, plain_setting};

use crate::bad_plan::BadPlan;
use crate::draft::Draft;
use crate::managed::{is_managed, is_setting};
use crate::target::check_target;

/// Largest number of server settings in a plan, above any plan that a person writes. A plan with
/// more is rejected.
const SETTINGS_MAX: usize = 64;

/// Returns the target, and the server settings that are to be made by SQL. Settings of a managed
/// server become options of the target instead. Returns an error if the target's settings cannot be
/// set.
pub(crate) fn decide(
    draft: &Draft,
    mut target: Target,
) -> Result<(Target, Vec<(String, String)>), BadPlan> {
    let Some((_, first)) = draft.server.first() else {
        return Ok((target, Vec::new()));
    };
    if draft.server.len() > SETTINGS_MAX {
        let n = draft.server.len();
        return Err(first.bad(format!("{n} settings are too many: at most {SETTINGS_MAX}")));
    }
    if is_managed(&target) {
        for (name, written) in &draft.server {
            let set = |name: &str| is_setting(&target, name);
            let is_it =
                |other: &str| other == name || (is_same(other, name) && set(other) && set(name));
            let kept = target.options.iter().filter(|(other, _)| !is_it(other)).cloned().collect();
            target.options = kept;
            target.options.push((name.clone(), written.text.clone()));
            check_target(&target).map_err(|bad| written.bad(bad))?;
        }
        return Ok((target, Vec::new()));
    }
    let entry = drivers::by_scheme(&target.scheme).map_err(|bad| first.bad(bad))?;
    if entry.product.administration.settings.is_none() {
        return Err(first.bad(format!(
            "{} has no settings of a server: name a server as the target, such as \
             managed:mariadb, or write options of its driver after the ? of the target",
            entry.name
        )));
    }
    if target.hosts.len() > 1 {
        return Err(first.bad(format!(
            "the target has {} hosts, and SQL would change the settings of only one: name one \
             host, or set them yourself on each",
            target.hosts.len()
        )));
    }
    let mut settings: Vec<(String, String)> = Vec::new();
    for (name, written) in &draft.server {
        check(name, &written.text).map_err(|why| written.bad(why))?;
        settings.retain(|(other, _)| !is_same(other, name));
        settings.push((name.clone(), written.text.clone()));
    }
    Ok((target, settings))
}

/// Returns an error if a server setting cannot be written in SQL or in a settings file. Only the
/// server knows whether the setting exists.
pub fn check(name: &str, value: &str) -> Result<(), String> {
    let letters = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(letters) {
        return Err(format!("'{name}' cannot be a setting: letters, digits, '_', '-', '.'"));
    }
    if value.trim().is_empty() || value.chars().any(char::is_control) {
        return Err(format!("server.{name}: a setting's value is one line, and not empty"));
    }
    Ok(())
}

fn is_same(a: &str, b: &str) -> bool {
    plain_setting(a) == plain_setting(b)
}
