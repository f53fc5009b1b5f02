//! How two behaviours differ, word by word.

use std::collections::BTreeSet;

use agentic_git::line_changes;
use agentic_model::{Value, json};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::behaviours::{FoundBehaviour, named_behaviour};
use crate::verb::{Reply, Verb};
use crate::view::{BehaviourDiffView, FieldChangeView, WordChangeView};
use crate::{Caller, Refusal};

/// Tell how two behaviours differ, word by word.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BehaviourDiff {
    /// The one: a name, `REMOTE/NAME`, `PEER/NAME`, or an id or its beginning.
    pub left: String,
    /// The other.
    pub right: String,
}

impl Verb for BehaviourDiff {
    type Answer = BehaviourDiffView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<BehaviourDiffView>, Refusal> {
        let (left, right) =
            (named_behaviour(caller, &self.left)?, named_behaviour(caller, &self.right)?);
        let source = |found: &FoundBehaviour| found.read.source.clone().unwrap_or_default();
        Ok(Reply::plain(BehaviourDiffView {
            left: left.cid().to_string(),
            right: right.cid().to_string(),
            same: left.cid() == right.cid(),
            fields: fields(&left, &right),
            words: words(&source(&left), &source(&right)),
        }))
    }
}

/// Lists the fields that differ, the source aside where both have it as text.
fn fields(left: &FoundBehaviour, right: &FoundBehaviour) -> Vec<FieldChangeView> {
    let (old, new) = (left.object.map(), right.object.map());
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let is_text = left.read.source.is_some() && right.read.source.is_some();
    let differs = |name: &&&String| old.get(**name) != new.get(**name);
    let names = names.iter().filter(differs).filter(|name| !is_text || name.as_str() != "source");
    let text = |value: Option<&Value>| value.map(json::to_text);
    let change = |name: &&String| FieldChangeView {
        field: (*name).clone(),
        old: text(old.get(*name)),
        new: text(new.get(*name)),
    };
    names.map(change).collect()
}

/// Lists all words, with those that went and those that came in their place.
fn words(old: &str, new: &str) -> Vec<WordChangeView> {
    let (before, after) = (split(old), split(new));
    let bytes =
        |words: &[&str]| words.iter().map(|word| word.as_bytes().to_vec()).collect::<Vec<_>>();
    let (before_bytes, after_bytes) = (bytes(&before), bytes(&after));
    let slices = |words: &'_ [Vec<u8>]| words.iter().map(Vec::len).sum::<usize>();
    debug_assert_eq!(slices(&before_bytes), old.len(), "words are the whole text");
    let left: Vec<&[u8]> = before_bytes.iter().map(Vec::as_slice).collect();
    let right: Vec<&[u8]> = after_bytes.iter().map(Vec::as_slice).collect();
    let mut found = Vec::new();
    let mut at = 0;
    let same =
        |words: &[&str]| WordChangeView { same: words.concat(), ..WordChangeView::default() };
    for change in line_changes(&left, &right) {
        if change.old.start > at {
            found.push(same(&before[at..change.old.start]));
        }
        found.push(WordChangeView {
            same: String::new(),
            old: before[change.old.clone()].concat(),
            new: after[change.new].concat(),
        });
        at = change.old.end;
    }
    if at < before.len() {
        found.push(same(&before[at..]));
    }
    found
}

/// Splits a text into words and what stands between them.
fn split(text: &str) -> Vec<&str> {
    let class = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        '\n' => 1,
        c if c.is_whitespace() => 2,
        _ => 3,
    };
    let mut words = Vec::new();
    let mut begin = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let now = class(c);
        // Signs and ends of lines stand alone.
        if last.is_some_and(|last| last != now || matches!(now, 1 | 3)) {
            words.push(&text[begin..at]);
            begin = at;
        }
        last = Some(now);
    }
    if begin < text.len() {
        words.push(&text[begin..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::{split, words};

    #[test]
    fn words_that_differ_are_told_and_the_texts_can_be_had_again() {
        for (old, new, expected) in [
            ("Be kind.", "Be very kind.", vec![("", "very ")]),
            ("a b c", "a x c", vec![("b", "x")]),
            ("", "new", vec![("", "new")]),
            ("gone", "", vec![("gone", "")]),
            ("same\n", "same\n", vec![]),
        ] {
            let found = words(old, new);
            let changed = found.iter().filter(|one| one.same.is_empty());
            let changed: Vec<_> = changed.map(|one| (one.old.as_str(), one.new.as_str())).collect();
            assert_eq!(changed, expected, "{old:?} {new:?}");
            let text = |side: fn(&crate::view::WordChangeView) -> &String| {
                found.iter().map(|one| one.same.clone() + side(one).as_str()).collect::<String>()
            };
            assert_eq!((text(|one| &one.old), text(|one| &one.new)), (old.into(), new.into()));
        }
        assert_eq!(split("a_b (ç)\n"), ["a_b", " ", "(", "ç", ")", "\n"]);
    }
}
