//! Lists, a page at a time: `{"items": […], "next": …}`.

use agentic_api::{ListPlace, ListSearch, Refusal};
use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::field::ToolArguments;

/// The most items of a page.
pub const LIMIT_MAX: usize = 200;
/// How many items a page has where nobody said.
const LIMIT_DEFAULT: usize = 50;
/// How much a page holds before it ends early, in bytes. One item is always on it.
const PAGE_BYTES_MAX: usize = 1 << 20;

/// Which page is wanted.
#[derive(Debug)]
pub struct PageRequest {
    /// At most so many items.
    pub limit: usize,
    /// Where it begins, as the page before has it.
    pub after: Option<String>,
}

impl PageRequest {
    /// Takes it from what a tool was given.
    pub fn of(arguments: &mut ToolArguments) -> PageRequest {
        let limit = arguments.number("limit").and_then(|limit| usize::try_from(limit).ok());
        let limit = limit.unwrap_or(LIMIT_DEFAULT).min(LIMIT_MAX);
        PageRequest { limit, after: arguments.text("after") }
    }

    /// Makes the page of a list whose items are called by these fields of theirs.
    ///
    /// # Errors
    /// Fails when an item cannot be read, and when nothing of the list is where the page should begin.
    pub fn page<T: Serialize>(
        &self,
        items: impl IntoIterator<Item = Result<T, Refusal>>,
        called: &[&str],
    ) -> Result<Json, Refusal> {
        let (mut page, mut n_bytes, mut last) = (Vec::new(), 0, None);
        let place = self.after.as_deref().map(ListPlace::parse);
        let mut search = ListSearch::begin(place.as_ref());
        for item in items {
            let item = serde_json::to_value(item?).expect("views have text keys");
            let name = name_of(&item, called);
            if !search.is_behind(&name) {
                continue;
            }
            n_bytes += item.to_string().len();
            if page.len() == self.limit || (n_bytes > PAGE_BYTES_MAX && !page.is_empty()) {
                let next = last.map(|last: String| ListPlace::text(&last, &name));
                return Ok(json!({ "items": page, "next": next }));
            }
            page.push(item);
            last = Some(name);
        }
        if search.is_found() { Ok(json!({ "items": page })) } else { Err(gone()) }
    }

    /// Takes the page of one list among others that an answer may have: `next` names that list behind a `@`.
    ///
    /// # Errors
    /// Fails when the page should begin in another list.
    pub fn within(self, list: &str) -> Result<PageRequest, Refusal> {
        let after = match self.after {
            None => None,
            Some(after) => match after.split_once('@') {
                Some((place, named)) if named == list => Some(place.to_owned()),
                Some(_) | None => return Err(gone()),
            },
        };
        Ok(PageRequest { after, ..self })
    }

    /// Cuts lists inside of an answer to a page, by position, all of them at the same. Returns what the
    /// next one begins behind.
    ///
    /// # Errors
    /// Fails when the page should begin behind no position.
    pub fn cut(&self, lists: &mut [&mut Vec<Json>]) -> Result<Option<String>, Refusal> {
        let begin = match &self.after {
            None => 0,
            Some(after) => after.parse::<usize>().map_err(|_| gone())?,
        };
        let n_items = lists.iter().map(|list| list.len()).max().unwrap_or_default();
        // Whoever asks may name any position.
        let begin = begin.min(n_items);
        let (mut end, mut n_bytes) = (begin, 0);
        while end < n_items && end - begin < self.limit {
            let items = lists.iter().filter_map(|list| list.get(end));
            n_bytes += items.map(|item| item.to_string().len()).sum::<usize>();
            if n_bytes > PAGE_BYTES_MAX && end > begin {
                break;
            }
            end += 1;
        }
        for list in lists {
            list.truncate(end);
            list.drain(..begin.min(list.len()));
        }
        Ok((end < n_items).then(|| end.to_string()))
    }
}

fn name_of(item: &Json, called: &[&str]) -> String {
    let parts = called.iter().map(|field| {
        let part = &item[*field];
        part.as_str().map_or_else(|| part.to_string(), str::to_owned)
    });
    parts.collect::<Vec<_>>().join(" ")
}

fn gone() -> Refusal {
    Refusal::usage(
        "`after` names nothing on this list",
        "send `next` of the page before as it was; without `after` the list begins anew",
    )
}

#[cfg(test)]
mod tests;
