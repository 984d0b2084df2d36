//! Names and values of a query string or form, parsed leniently: unknown names are ignored.
//!
//! Not here: their meaning.

use std::convert::Infallible;

use axum::extract::{FromRequest, FromRequestParts, Request};
use axum::http::request::Parts;
use axum::http::{StatusCode, header};
use form_urlencoded::{Serializer, parse};

use super::http_error::HttpError;

/// Body of a request that is sent as a form.
pub(super) struct Form(pub(super) Pairs);

const FORM: &str = "application/x-www-form-urlencoded";

impl<S: Send + Sync> FromRequest<S> for Form {
    type Rejection = HttpError;

    async fn from_request(request: Request, state: &S) -> Result<Form, HttpError> {
        let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().split(';').next().unwrap_or_default().trim();
        if !kind.eq_ignore_ascii_case(FORM) {
            let text = format!("send it as a form ({FORM}), not as '{kind}'");
            return Err(HttpError::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, text));
        }
        let read = String::from_request(request, state).await;
        let text = read.map_err(|refused| match refused.status() {
            StatusCode::PAYLOAD_TOO_LARGE => {
                HttpError::new(refused.status(), "the form is too long: a plan has at most 64 KB")
            }
            status => HttpError::new(status, refused.body_text()),
        })?;
        Ok(Form(Pairs::parse(&text)))
    }
}

/// Names and values of a query string or form, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pairs(pub(super) Vec<(String, String)>);

/// Takes the pairs from the query of the requested address; empty without a query.
impl<S: Send + Sync> FromRequestParts<S> for Pairs {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Pairs, Infallible> {
        Ok(Pairs::parse(parts.uri.query().unwrap_or_default()))
    }
}

impl Pairs {
    /// Parses a query string or form (`application/x-www-form-urlencoded`).
    pub(super) fn parse(text: &str) -> Pairs {
        let pairs = parse(text.as_bytes());
        Pairs(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Returns the last value of a name in the query string or form, unchanged; `None` if there is
    /// none.
    pub(super) fn exactly(&self, name: &str) -> Option<&str> {
        let of_name = self.0.iter().rfind(|(known, _)| known == name);
        of_name.map(|(_, value)| value.as_str())
    }

    /// Returns the last value of a name in the query string or form that is not blank, trimmed;
    /// `None` if there is none.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let of_name = self.0.iter().filter(|(known, _)| known == name);
        of_name.map(|(_, value)| value.trim()).rfind(|value| !value.is_empty())
    }

    /// Returns the values of a name in the query string or form that are not blank, trimmed.
    pub(super) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        let of_name = self.0.iter().filter(move |(known, _)| known == name);
        of_name.map(|(_, value)| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the name of a file to download with the requested list, made from the list's
    /// filters, without order and page.
    pub(super) fn file_name(&self, list: &str, extension: &str) -> String {
        const LETTERS_MAX: usize = 100;
        let is_filter = |(name, value): &&(String, String)| {
            !["sort", "page"].contains(&name.as_str()) && !value.trim().is_empty()
        };
        let mut words = vec![list.to_owned()];
        for (name, value) in self.0.iter().filter(is_filter) {
            let text = match name.as_str() {
                "q" | "where" | "label" | "side" => value.clone(),
                _ => format!("{name} {value}"),
            };
            let parts =
                text.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '.'));
            words.extend(parts.filter(|part| !part.is_empty()).map(str::to_owned));
        }
        let name: String = words.join("-").chars().take(LETTERS_MAX).collect();
        format!("{}.{extension}", name.trim_end_matches(['-', '.']))
    }

    /// Returns the query string with its `?`, in which `name` has only this value, or is left out
    /// if the value is empty. Empty if no pair is left.
    pub(super) fn with(&self, name: &str, value: &str) -> String {
        let others = self.0.iter().filter(|(known, _)| known != name);
        let others = others.map(|(name, value)| (name.as_str(), value.trim()));
        let mut pairs: Vec<(&str, &str)> = others.filter(|(_, value)| !value.is_empty()).collect();
        if !value.is_empty() {
            pairs.push((name, value));
        }
        query(&pairs)
    }

    /// Returns all pairs except those of a name.
    pub(super) fn without(&self, name: &str) -> Pairs {
        Pairs(self.0.iter().filter(|(known, _)| known != name).cloned().collect())
    }

    /// Returns the query string of all pairs with its `?`; empty without pairs.
    pub(super) fn text(&self) -> String {
        self.with("", "")
    }
}

/// Formats names and values as a query string with its `?`; empty without pairs.
pub(super) fn query(pairs: &[(&str, &str)]) -> String {
    match pairs {
        [] => String::new(),
        pairs => format!("?{}", Serializer::new(String::new()).extend_pairs(pairs).finish()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_named_by_its_list_and_what_that_was_filtered_by() {
        let name = |query: &str| Pairs::parse(query).file_name("runs", "csv");
        assert_eq!(name(""), "runs.csv");
        assert_eq!(name("workload=tpcc&status=&sort=-tps&page=2"), "runs-workload-tpcc.csv");
        assert_eq!(name("where=nopm%3E50000+and+p99%3C20ms"), "runs-nopm-50000-and-p99-20ms.csv");
        assert_eq!(name("label=build%3D1.2&q=%22%2F"), "runs-build-1.2.csv");
        assert!(name(&format!("q={}", "x".repeat(999))).len() < 110);
    }
}
