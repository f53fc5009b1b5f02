//! Lists, a page at a time.

use std::collections::BTreeMap;

use agentic_api::verb::AgentLine;
use agentic_api::view::{
    BindingView, FamilyView, LogView, PendingView, RelationView, SearchHitView, SessionView,
};
use agentic_api::{ListPlace, ListSearch, Refusal};
use serde::Serialize;
use serde_json::Value as Json;

use super::answer::{ApiAnswer, text};

/// The most items of a page.
const LIMIT_MAX: usize = 500;
/// How many items a page has where nobody said.
const LIMIT_DEFAULT: usize = 100;
/// How much a page holds before it ends early, in bytes. One item is always on it.
const PAGE_BYTES_MAX: usize = 4 << 20;

/// Which page is wanted.
#[derive(Debug)]
pub struct ListPageRequest {
    /// At most so many items.
    limit: usize,
    /// Where it begins.
    after: Option<ListPlace>,
}

/// Something that lists are made of.
pub trait ListedItem: Serialize {
    /// What no other item of the same list is called.
    fn key(&self) -> String;

    /// Takes away what changes by itself, such as an age; tells whether there was anything.
    fn settle(&mut self) -> bool {
        false
    }
}

impl ListPageRequest {
    /// Takes it from what stands behind `?`.
    ///
    /// # Errors
    /// Fails when that many items are on no page.
    pub fn of(query: &mut BTreeMap<String, String>) -> Result<ListPageRequest, Refusal> {
        let limit = match query.remove("limit").map(|limit| limit.parse()) {
            None => LIMIT_DEFAULT,
            Some(Ok(limit)) if (1..=LIMIT_MAX).contains(&limit) => limit,
            Some(_) => {
                let message = format!("`limit` is a number from 1 to {LIMIT_MAX}");
                return Err(Refusal::usage(&message, "ask for the rest with `after`"));
            }
        };
        let after = query.remove("after").map(|after| ListPlace::parse(&after));
        Ok(ListPageRequest { limit, after })
    }

    /// Says how many items of a list have to be read for it that has at most so many: those of the page
    /// and one more, or all where the page does not begin with the first.
    pub fn n_read(&self, most: usize) -> usize {
        if self.after.is_some() { most } else { (self.limit + 1).min(most) }
    }

    /// Makes the page of a list. Nothing behind it is read.
    ///
    /// # Errors
    /// Fails when an item cannot be read, and when the page should begin behind none of the list.
    pub fn page<T: ListedItem>(
        &self,
        list: impl IntoIterator<Item = Result<T, Refusal>>,
    ) -> Result<ApiAnswer, Refusal> {
        let key = |item: &Result<T, Refusal>| item.as_ref().map(T::key).unwrap_or_default();
        self.page_of(list, key, |item| item.map(Some))
    }

    /// Makes the page of a list of what is known by name and read only where it is shown; what there is
    /// nothing of any more is passed by.
    ///
    /// # Errors
    /// Fails when an item cannot be read, and when the page should begin behind none of the list.
    pub fn page_of<E, T: ListedItem>(
        &self,
        list: impl IntoIterator<Item = E>,
        key: impl Fn(&E) -> String,
        read: impl Fn(E) -> Result<Option<T>, Refusal>,
    ) -> Result<ApiAnswer, Refusal> {
        let (mut items, mut n_items, mut last) = (String::new(), 0, None);
        let mut tag = blake3::Hasher::new();
        let mut search = ListSearch::begin(self.after.as_ref());
        for known in list {
            let key = key(&known);
            if !search.is_behind(&key) {
                continue;
            }
            let Some(mut item) = read(known)? else { continue };
            let shown = text(&item);
            let is_full = items.len() + shown.len() > PAGE_BYTES_MAX && n_items > 0;
            if n_items == self.limit || is_full {
                let next = last.map(|last: String| ListPlace::text(&last, &key));
                return Ok(ApiAnswer::page(items, next, tag));
            }
            match item.settle() {
                true => tag.update(text(&item).as_bytes()),
                false => tag.update(shown.as_bytes()),
            };
            items += if n_items == 0 { "" } else { "," };
            items += &shown;
            n_items += 1;
            last = Some(key);
        }
        if !search.is_found() {
            return Err(Refusal::usage(
                "`after` names nothing on this list",
                "send `next` of the page before as it was; without `after` the list begins anew",
            ));
        }
        Ok(ApiAnswer::page(items, None, tag))
    }
}

impl ListedItem for AgentLine {
    fn key(&self) -> String {
        match self {
            AgentLine::Here(agent) => agent.agent.clone(),
            AgentLine::Remote(agent) => agent.agent.clone(),
        }
    }
}

impl ListedItem for LogView {
    fn key(&self) -> String {
        self.commit.clone()
    }
}

impl ListedItem for FamilyView {
    fn key(&self) -> String {
        self.agent.clone()
    }
}

impl ListedItem for BindingView {
    fn key(&self) -> String {
        self.note_commit.clone()
    }
}

impl ListedItem for RelationView {
    fn key(&self) -> String {
        format!("{} {} {} {}", self.source, self.relation, self.target, self.derived)
    }
}

impl ListedItem for SessionView {
    fn key(&self) -> String {
        self.session.clone()
    }

    fn settle(&mut self) -> bool {
        self.age_ms.take().is_some()
    }
}

impl ListedItem for SearchHitView {
    fn key(&self) -> String {
        let commit = self.commit.as_deref().unwrap_or_default();
        let n = self.n.map(|n| n.to_string()).unwrap_or_default();
        format!("{} {} {} {commit} {n} {}", self.place, self.id, self.agent, self.pending)
    }
}

impl ListedItem for PendingView {
    fn key(&self) -> String {
        self.request.clone()
    }

    fn settle(&mut self) -> bool {
        self.age_ms = 0;
        true
    }
}

/// A row of an answer, by its number.
#[derive(Serialize)]
#[serde(transparent)]
pub struct NumberedRow {
    /// What it says.
    pub row: Json,
    /// Which one it is.
    #[serde(skip)]
    pub number: usize,
}

impl ListedItem for NumberedRow {
    fn key(&self) -> String {
        self.number.to_string()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::{Value as Json, json};

    use super::{ListPageRequest, NumberedRow};
    use crate::api::answer::KnownTags;
    use agentic_resident::EventPlace;

    fn page(limit: &str, after: Option<String>, n_items: usize) -> Result<Json, String> {
        let mut query = BTreeMap::from([("limit".to_owned(), limit.to_owned())]);
        query.extend(after.map(|after| ("after".to_owned(), after)));
        let request = ListPageRequest::of(&mut query).map_err(|refusal| refusal.message)?;
        let rows = (0..n_items).map(|number| Ok(NumberedRow { row: json!(number), number }));
        let answer = request.page(rows).map_err(|refusal| refusal.message)?;
        let place = EventPlace { epoch: "e".to_owned(), n: 3 };
        let response = answer.response(&place, &KnownTags::default());
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let body = axum::body::to_bytes(response.into_body(), usize::MAX);
        let body = runtime.block_on(body).expect("it is there");
        Ok(serde_json::from_slice(&body).expect("JSON"))
    }

    #[test]
    fn pages_join_to_the_list() {
        let (mut all, mut after) = (Vec::new(), None);
        loop {
            let page = page("2", after, 5).expect("a page");
            assert_eq!(page["as_of"], json!({ "epoch": "e", "n": 3 }));
            all.extend(page["items"].as_array().expect("items").clone());
            after = page["next"].as_str().map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        assert_eq!(json!(all), json!([0, 1, 2, 3, 4]));
    }

    #[test]
    fn what_is_on_no_list_is_refused() {
        for limit in ["0", "501", "x", "-1", ""] {
            assert!(page(limit, None, 1).is_err(), "{limit}");
        }
        assert!(page("500", Some("nothing".to_owned()), 5).is_err());
        assert_eq!(page("500", None, 0).expect("a page")["items"], json!([]));
    }
}
