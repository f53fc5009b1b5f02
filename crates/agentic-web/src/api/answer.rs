//! Answers of the API: JSON with a tag that says whether anything changed, and refusals.

use agentic_api::Refusal;
use agentic_api::view::{EventPlaceView, FailureView};
use agentic_model::Instant;
use agentic_resident::EventPlace;
use agentic_session::outlook::Permanence;
use axum::http::header::{CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use super::ground::GroundTag;
use crate::status::{RequestAim, status_of};

/// What everything that is sent is.
const JSON: HeaderValue = HeaderValue::from_static("application/json");
/// How many digits of its hash an answer is tagged with.
const TAG_DIGITS: usize = 32;
/// How many tags of one request are looked at.
const KNOWN_TAGS_MAX: usize = 64;

/// An answer of a verb, as JSON.
#[derive(Clone)]
pub struct ApiAnswer {
    form: ApiAnswerForm,
    /// The hash of what it says, but for what changes by itself.
    tag: blake3::Hash,
    /// What it derives from, where that can be told.
    ground: Option<GroundTag>,
    /// For how long it is the same while nothing of that changes.
    permanence: Permanence,
}

/// What is sent of an answer.
#[derive(Clone)]
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
#[derive(Clone)]
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
        ApiAnswer::new(blake3::hash(text.as_bytes()), ApiAnswerForm::One(text))
    }

    /// Answers with one thing of which a part changes by itself: `lasting` is the rest.
    pub fn aging(text: String, lasting: &str) -> ApiAnswer {
        ApiAnswer::new(blake3::hash(lasting.as_bytes()), ApiAnswerForm::One(text))
    }

    fn new(tag: blake3::Hash, form: ApiAnswerForm) -> ApiAnswer {
        ApiAnswer { form, tag, ground: None, permanence: Permanence::Still }
    }

    /// Answers with a page of a list, of which these texts are the items.
    pub(super) fn page(items: String, next: Option<String>, mut tag: blake3::Hasher) -> ApiAnswer {
        tag.update(next.as_deref().unwrap_or_default().as_bytes());
        let form = ApiAnswerForm::Page { items, next, notes: Vec::new(), search: None };
        ApiAnswer::new(tag.finalize(), form)
    }

    /// Says what else is to be known of a list.
    #[must_use]
    pub fn with_notes(mut self, said: Vec<String>) -> ApiAnswer {
        if let ApiAnswerForm::Page { notes, .. } = &mut self.form {
            self.tag = blake3::hash(&[self.tag.as_bytes(), text(&said).as_bytes()].concat());
            *notes = said;
        }
        self
    }

    /// Says what it derives from.
    #[must_use]
    pub fn derived(mut self, ground: Option<GroundTag>) -> ApiAnswer {
        self.ground = ground;
        self
    }

    /// Says for how long it is the same while nothing is written.
    #[must_use]
    pub fn lasting(mut self, permanence: Permanence) -> ApiAnswer {
        self.permanence = self.permanence.min(permanence);
        self
    }

    /// Tells what it derives from, and for how long it is the same while nothing of that changes.
    pub(super) fn lasting_ground(&self) -> Option<GroundTag> {
        self.ground.clone().and_then(|ground| ground.lasting(self.permanence))
    }

    /// Tells how long its text is, in bytes.
    pub(super) fn len(&self) -> usize {
        match &self.form {
            ApiAnswerForm::One(text) => text.len(),
            ApiAnswerForm::Page { items, .. } => items.len(),
        }
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
    pub fn response(self, place: &EventPlace, known: &KnownTags) -> Response {
        let content = self.tag.to_hex()[..TAG_DIGITS].to_owned();
        let ground = self.lasting_ground().map(|ground| format!("-{}", ground.text()));
        let tag = format!("W/\"{content}{}\"", ground.unwrap_or_default());
        if known.has_content(&content) {
            return unchanged(&tag);
        }
        ([(CONTENT_TYPE, JSON), (ETAG, tag_value(&tag))], self.text(place)).into_response()
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

/// Says that whoever asks has the answer already.
pub fn unchanged(tag: &str) -> Response {
    (StatusCode::NOT_MODIFIED, [(ETAG, tag_value(tag))]).into_response()
}

fn tag_value(tag: &str) -> HeaderValue {
    HeaderValue::from_str(tag).expect("a tag is digits")
}

/// The answers that whoever asks has, by their tags: the hash of what one says, and what it derives from.
#[derive(Debug, Default)]
pub struct KnownTags {
    has_all: bool,
    tags: Vec<String>,
}

impl KnownTags {
    /// Reads them from the head of a request.
    pub fn of(headers: &HeaderMap) -> KnownTags {
        let lines = headers.get_all(IF_NONE_MATCH).iter().filter_map(|line| line.to_str().ok());
        let tags = lines.flat_map(|line| line.split(',')).map(|tag| {
            let opaque = tag.trim().trim_start_matches("W/");
            let opaque = opaque.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
            opaque.unwrap_or_else(|| tag.trim()).to_owned()
        });
        let tags: Vec<String> = tags.take(KNOWN_TAGS_MAX).collect();
        KnownTags { has_all: tags.iter().any(|tag| tag == "*"), tags }
    }

    /// Finds the tag of an answer that would be given now, without asking for it.
    pub fn reaching(&self, ground: &GroundTag, now: Instant) -> Option<String> {
        let is_reached = |tag: &&String| {
            let known = tag.split_once('-').and_then(|(_, known)| GroundTag::read(known));
            known.is_some_and(|known| ground.is_reached_by(&known, now))
        };
        self.tags.iter().find(is_reached).map(|tag| format!("W/\"{tag}\""))
    }

    fn has_content(&self, content: &str) -> bool {
        let is_it =
            |tag: &String| tag.split_once('-').map_or(tag.as_str(), |(it, _)| it) == content;
        self.has_all || self.tags.iter().any(is_it)
    }
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
    use axum::http::HeaderMap;
    use axum::http::header::IF_NONE_MATCH;

    use super::KnownTags;

    fn known(line: &str) -> KnownTags {
        let mut headers = HeaderMap::new();
        headers.insert(IF_NONE_MATCH, line.parse().expect("a value"));
        KnownTags::of(&headers)
    }

    #[test]
    fn a_tag_is_known_among_others_weak_or_not() {
        for line in ["W/\"00ff\"", "\"00ff\"", "\"1\", W/\"00ff-ab.1.2\"", "*"] {
            assert!(known(line).has_content("00ff"), "{line}");
        }
        for line in ["\"00f\"", "00f", "W/\"00ff\"x", "\"ab-00ff\""] {
            assert!(!known(line).has_content("00ff"), "{line}");
        }
    }
}
