//! What somebody probably meant.

/// The name in `names` nearest to `written`, if it is near enough to be a slip of the hand.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 0.72;
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(written, name), name))
        .filter(|(likeness, _)| *likeness >= limit)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, name)| name)
}

/// ` (did you mean 'x'?)`, or nothing.
pub fn did_you_mean<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(written, names) {
        Some(name) => format!(" (did you mean '{name}'?)"),
        None => String::new(),
    }
}
