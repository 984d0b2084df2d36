//! What somebody probably meant.

/// The name in `names` nearest to `written`, if it is near enough to be a slip of the hand. The
/// first of those that are equally near. One letter too many, too few, wrong or out of its place is
/// nearer than anything else.
pub fn suggestion<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let limit = 0.72;
    names
        .into_iter()
        .map(|name| (likeness(written, name), name))
        .filter(|(likeness, _)| *likeness >= limit)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}

fn likeness(written: &str, name: &str) -> f64 {
    // Capitals and underscores are habits, not slips.
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let (written, name) = (&plain(written), &plain(name));
    if written == name {
        return 3.0;
    }
    // Of two letters, one that is wrong is half of all.
    let is_slip = name.len() > 2 && strsim::osa_distance(written, name) == 1;
    strsim::jaro_winkler(written, name) + if is_slip { 1.0 } else { 0.0 }
}

/// ` (did you mean 'x'?)`, or nothing.
pub fn did_you_mean<'a>(written: &str, names: impl IntoIterator<Item = &'a str>) -> String {
    match suggestion(written, names) {
        Some(name) => format!(" (did you mean '{name}'?)"),
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_slip_is_nearer_than_a_longer_name_that_begins_the_same() {
        let names = ["socket", "tls_ca", "tls", "statements"];
        assert_eq!(suggestion("tsl", names), Some("tls"));
        assert_eq!(suggestion("tls_c", names), Some("tls_ca"));
        assert_eq!(suggestion("statement", names), Some("statements"));
        assert_eq!(suggestion("colour", names), None);
        assert_eq!(suggestion("TLS", names), Some("tls"));
        assert_eq!(suggestion("TLS-CA", names), Some("tls_ca"));
    }
}
