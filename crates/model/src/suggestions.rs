//! Suggestions for misspelled names, in error messages.

/// Returns the name that is most similar to `written`; `None` if no name is so similar that
/// `written` may be a typo. A name that differs by one inserted, missing, wrong or transposed
/// letter is preferred to all others; of several equally similar names, the first is returned.
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
    // Case and underscores are matters of habit, not typos.
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let (written, name) = (&plain(written), &plain(name));
    if written == name {
        return 3.0;
    }
    // In names of two letters, one wrong letter is half the name.
    let is_slip = name.len() > 2 && strsim::osa_distance(written, name) == 1;
    strsim::jaro_winkler(written, name) + if is_slip { 1.0 } else { 0.0 }
}

/// Returns ` (did you mean 'x'?)` with the most similar name, or an empty text if no name is
/// similar.
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
