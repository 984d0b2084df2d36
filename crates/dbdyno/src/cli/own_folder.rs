//! dbdyno's own folder, for databases without a given path. Not here: the store (flags).

use app::open::{data_folder, default_target};
use model::Target;

use crate::shell::Shell;

/// Target of a workload if none is given; creates its folder.
pub(crate) fn own_target(workload: &str, shell: &Shell) -> Result<Target, String> {
    let target = target_unnamed(workload, shell)?;
    make_data_folder(shell)?;
    Ok(target)
}

/// Target of a workload if none is given: the user's persistent default, or an embedded file.
pub(crate) fn target_unnamed(workload: &str, shell: &Shell) -> Result<Target, String> {
    match shell.setting("target") {
        Some(url) => Target::parse(url).map_err(|bad| format!("target ('dbdyno config'): {bad}")),
        None => default_target(workload, &|name| shell.variable(name)),
    }
}

/// Creates dbdyno's folder for the default target; folders given by the user must exist.
pub(crate) fn make_data_folder(shell: &Shell) -> Result<(), String> {
    let Some(folder) = data_folder(&|name| shell.variable(name)) else {
        return Ok(());
    };
    std::fs::create_dir_all(&folder).map_err(|error| {
        let folder = folder.display();
        format!("{folder} cannot be created: {error}; name the database with --target")
    })
}
