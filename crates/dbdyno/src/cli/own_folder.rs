//! Default target of a workload, and dbdyno's own folder for it. Not here: the store (`flags`).

use app::open::{chosen_driver, data_folder, default_target};
use model::Target;

use crate::shell::Shell;

/// Returns the target of a workload if the user names none, as [`target_unnamed`] does. Creates
/// dbdyno's own folder if it is missing.
pub(crate) fn own_target(workload: &str, shell: &Shell) -> Result<Target, String> {
    let target = target_unnamed(workload, shell)?;
    make_data_folder(shell)?;
    Ok(target)
}

/// Returns the target of a workload if the user names none: the user's lasting default, or a
/// file of an embedded database in dbdyno's own folder.
pub(crate) fn target_unnamed(workload: &str, shell: &Shell) -> Result<Target, String> {
    match shell.setting("target") {
        Some(url) => Target::parse(url).map_err(|bad| format!("target ('dbdyno config'): {bad}")),
        None => default_target(workload, &|name| shell.variable(name)),
    }
}

/// Tells the user on which embedded database a workload is executed, and why, if the user named
/// none and it was chosen for this machine.
pub(crate) fn tell_choice(workload: &str, shell: &Shell) {
    if shell.setting("target").is_none()
        && let Some(chosen) = chosen_driver(workload)
    {
        shell.say(&format!("{workload} {}; --target names another database", chosen.why));
    }
}

/// Creates dbdyno's own folder for the files of default targets. Other folders must exist.
pub(crate) fn make_data_folder(shell: &Shell) -> Result<(), String> {
    let Some(folder) = data_folder(&|name| shell.variable(name)) else {
        return Ok(());
    };
    std::fs::create_dir_all(&folder).map_err(|error| {
        let folder = folder.display();
        format!("{folder} cannot be created: {error}; name the database with --target")
    })
}
