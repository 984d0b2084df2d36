//! The error that a database has no data of a workload, with the command that builds them.

use app::Error;
use app::open::Data;
use model::Target;

pub(super) fn no_data(target: &Target, name: &str, data: Data) -> Error {
    let state = if data == Data::Absent { "no" } else { "no complete" };
    Error::Failed(format!(
        "{target} has {state} data of {name}: build them with dbdyno build {name} --target \
         '{target}'"
    ))
}
