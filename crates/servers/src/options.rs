//! The settings that a server is given: the defaults, and what was asked for.
//!
//! Not here: what may be asked for (model).

use model::plain_setting;

use crate::{Kind, defaults};

/// The settings in force: defaults, then what was asked for; the last of a name holds.
pub(crate) fn in_force(kind: Kind, asked: &[(String, String)]) -> Vec<(String, String)> {
    let defaults = defaults(kind).map(|row| (row.name.to_owned(), row.value.to_owned()));
    let mut settings: Vec<(String, String)> = Vec::new();
    for (name, value) in defaults.chain(asked.iter().cloned()) {
        put(&mut settings, name, value);
    }
    settings
}

pub(crate) fn put(settings: &mut Vec<(String, String)>, name: String, value: String) {
    match settings.iter_mut().find(|(known, _)| plain_setting(known) == plain_setting(&name)) {
        Some(setting) => *setting = (name, value),
        None => settings.push((name, value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_takes_the_place_of_a_default() {
        let asked = [("Max-Connections".to_owned(), "7".to_owned())];
        let settings = in_force(Kind::Postgres, &asked);
        assert_eq!(settings.len(), defaults(Kind::Postgres).count());
        assert!(settings.contains(&("Max-Connections".to_owned(), "7".to_owned())));
    }
}
