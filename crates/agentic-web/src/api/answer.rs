//! Answers of the API: JSON with a tag that says whether anything changed, and refusals.

use agentic_api::Refusal;
use agentic_api::view::{EventPlaceView, FailureView};
use agentic_resident::EventPlace;
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use crate::status::{RequestAim, status_of};

/// What everything that is sent is.
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How many digits of its hash an answer is tagged with.
const TAG_DIGITS: usize = 32;

/// An answer of a verb, as JSON.
pub struct ApiAnswer {
    form: ApiAnswerForm,
    /// The hash of what it says, but for what changes by itself.
    tag: blake3::Hash,
}

/// What is sent of an answer.
enum ApiAnswerForm {
    One(String),
    Page {
        items: String,
        next: Option<String>,
        notes: Vec<String>,
        search: Option<SearchPageFacts>,
    },
}

/// What else is to be known of hits.
pub struct SearchPageFacts {
    /// Whether there are more than may be asked for.
    pub more: bool,
    /// Whether not everything that could fit was looked at.
    pub partial: bool,
}

impl ApiAnswer {
    /// Answers with one thing.
    pub fn one<V: Serialize>(view: &V) -> ApiAnswer {
        let text = text(view);
        ApiAnswer { tag: blake3::hash(text.as_bytes()), form: ApiAnswerForm::One(text) }
    }

    /// Answers with one thing of which a part changes by itself: `lasting` is the rest.
    pub fn aging(text: String, lasting: &str) -> ApiAnswer {
        let tag = blake3::hash(lasting.as_bytes());
        ApiAnswer { tag, form: ApiAnswerForm::One(text) }
    }

    /// Answers with a page of a list, of which these texts are the items.
    pub(super) fn page(items: String, next: Option<String>, mut tag: blake3::Hasher) -> ApiAnswer {
        tag.update(next.as_deref().unwrap_or_default().as_bytes());
        let form = ApiAnswerForm::Page { items, next, notes: Vec::new(), search: None };
        ApiAnswer { tag: tag.finalize(), form }
    }

    /// Says what else is to be known of a list.
    #[must_use]
    pub fn with_notes(mut self, said: Vec<String>) -> ApiAnswer {
        if let ApiAnswerForm::Page { notes, .. } = &mut self.form {
            *notes = said;
        }
        self
    }

    /// Says what else is to be known of hits.
    #[must_use]
    pub fn with_search(mut self, facts: SearchPageFacts) -> ApiAnswer {
        if let ApiAnswerForm::Page { search, .. } = &mut self.form {
            let said = [self.tag.as_bytes().as_slice(), &[u8::from(facts.more)]];
            self.tag = blake3::hash(&[said.concat(), vec![u8::from(facts.partial)]].concat());
            *search = Some(facts);
        }
        self
    }

    /// Sends it, unless whoever asks has it already.
    pub fn response(self, place: &EventPlace, headers: &HeaderMap) -> Response {
        let tag = format!("W/\"{}\"", &self.tag.to_hex()[..TAG_DIGITS]);
        let is_known = headers.get_all(IF_NONE_MATCH).iter().any(|known| names(known, &tag));
        let tag = HeaderValue::from_str(&tag).expect("a tag is digits");
        if is_known {
            return (StatusCode::NOT_MODIFIED, [(ETAG, tag)]).into_response();
        }
        ([(CONTENT_TYPE, JSON), (ETAG, tag)], self.text(place)).into_response()
    }

    fn text(self, place: &EventPlace) -> String {
        match self.form {
            ApiAnswerForm::One(text) => text,
            ApiAnswerForm::Page { items, next, notes, search } => {
                let search = search.map(|facts| {
                    let partial = if facts.partial { ",\"partial\":true" } else { "" };
                    format!(",\"more\":{}{partial}", facts.more || next.is_some())
                });
                let next = next.map(|next| format!(",\"next\":{}", text(&next)));
                let notes = (!notes.is_empty()).then(|| format!(",\"notes\":{}", text(&notes)));
                let as_of = EventPlaceView { epoch: place.epoch.clone(), n: place.n };
                let said: String = [search, next, notes].into_iter().flatten().collect();
                format!("{{\"items\":[{items}]{said},\"as_of\":{}}}", text(&as_of))
            }
        }
    }
}

/// Tells whether a list of tags has one. That of an answer is the same as long as what it says is.
fn names(known: &HeaderValue, tag: &str) -> bool {
    let known = known.to_str().unwrap_or_default();
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    known.trim() == "*" || known.split(',').any(|one| opaque(one) == opaque(tag))
}

/// Answers with why there is none.
pub fn failed(refusal: &Refusal, aim: RequestAim) -> Response {
    failed_as(status_of(refusal.class, aim), refusal)
}

/// Answers with why there is none, as a status that its class does not say.
pub fn failed_as(status: StatusCode, refusal: &Refusal) -> Response {
    let view = FailureView { error: refusal.view() };
    (status, [(CONTENT_TYPE, JSON)], text(&view)).into_response()
}

pub(super) fn text<V: Serialize>(view: &V) -> String {
    serde_json::to_string(view).expect("views have text keys")
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::names;

    #[test]
    fn a_tag_is_known_among_others_weak_or_not() {
        let tag = "W/\"00ff\"";
        for known in ["W/\"00ff\"", "\"00ff\"", "\"1\", W/\"00ff\"", "*"] {
            assert!(names(&HeaderValue::from_static(known), tag), "{known}");
        }
        for known in ["", "\"00f\"", "00ff", "W/\"00ff\"x"] {
            assert!(!names(&HeaderValue::from_static(known), tag), "{known}");
        }
    }
}
