//! What somebody probably meant.

/// The name in `names` nearest to `written`, if it is near enough to be a slip of the hand. The
/// first of those that are equally near.
pub fn nearest<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 0.72;
    names
        .into_iter()
        .map(|name| (strsim::jaro_winkler(written, name), name))
        .filter(|(likeness, _)| *likeness >= limit)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}

/// ` (did you mean 'x'?)`, or nothing.
pub fn did_you_mean<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(written, names) {
        Some(name) => format!(" (did you mean '{name}'?)"),
        None => String::new(),
    }
}
