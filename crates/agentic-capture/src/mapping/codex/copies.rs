//! The file of a fork begins with copies of its parent's items, under new times.

use agentic_model::Value;

use crate::line_json::{LineJson, TextRedactor};

use super::prune::prune;

/// How many items of a parent are compared.
pub const COPIED_ITEMS_MAX: usize = 1 << 17;

/// A line of a parent: enough to know its copy again.
///
/// Made of the redacted line, so that it gives nothing away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CopiedItem(u64);

impl CopiedItem {
    /// Reads a line of the parent's file; nothing if it is no item.
    pub fn read(bytes: &[u8], redactor: &mut TextRedactor<'_>) -> Option<CopiedItem> {
        let text = std::str::from_utf8(bytes).ok()?;
        let mut json = LineJson::parse(text.trim_end()).ok()?;
        prune(&mut json);
        json.redact(redactor);
        json.is_object().then(|| CopiedItem::of(&json))
    }

    /// Says the same of lines that differ in nothing but time and ordinal. The lowest bit tells heads
    /// of files from items.
    fn of(json: &LineJson<'_>) -> CopiedItem {
        let kind = json.text("type").unwrap_or_default();
        let mut hasher = blake3::Hasher::new();
        hasher.update(kind.as_bytes());
        hasher.update(b"\0");
        hasher.update(json.get("payload").map(LineJson::to_text).unwrap_or_default().as_bytes());
        let mut first = [0; 8];
        first.copy_from_slice(&hasher.finalize().as_bytes()[..8]);
        let head = u64::from(kind == "session_meta");
        CopiedItem(u64::from_le_bytes(first) & !1 | head)
    }

    fn is_head(self) -> bool {
        self.0 & 1 == 1
    }
}

/// What of the parent's items the next lines may repeat.
#[derive(Debug, Clone, PartialEq, Default)]
pub(in crate::mapping) struct CopiedItems {
    /// Whether the lines may still be copies, though of what is not known.
    is_expected: bool,
    /// The parent's items, the next one last.
    rest: Vec<CopiedItem>,
}

impl CopiedItems {
    /// Notes whether the head of the file names a parent.
    pub(super) fn expect(&mut self, forks: bool) -> &mut CopiedItems {
        self.is_expected = forks;
        self
    }

    /// Tells whether the parent's items are wanted.
    pub(in crate::mapping) fn is_expected(&self) -> bool {
        self.is_expected && self.rest.is_empty()
    }

    /// Takes the parent's items, in order.
    pub(in crate::mapping) fn take(&mut self, mut items: Vec<CopiedItem>) {
        items.truncate(COPIED_ITEMS_MAX);
        items.reverse();
        self.rest = items;
    }

    /// Tells whether a line repeats the parent's next item. The first that does not ends it.
    pub(super) fn is_copy(&mut self, json: &LineJson<'_>) -> bool {
        if self.rest.is_empty() {
            self.is_expected = false;
            return false;
        }
        let item = CopiedItem::of(json);
        // Heads of files are copied by some versions only.
        while self.rest.last().is_some_and(|next| next.is_head() && *next != item) {
            self.rest.pop();
        }
        if self.rest.pop() == Some(item) {
            return true;
        }
        *self = CopiedItems::default();
        false
    }

    pub(super) fn state(&self) -> Value {
        let bytes = self.rest.iter().flat_map(|item| item.0.to_le_bytes()).collect();
        Value::map([("expected", Value::Bool(self.is_expected)), ("rest", Value::Bytes(bytes))])
    }

    pub(super) fn restore(state: &Value) -> Option<CopiedItems> {
        let rest = state.get("rest")?.as_bytes()?.chunks_exact(8);
        let item = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes).map(CopiedItem);
        Some(CopiedItems {
            is_expected: state.get("expected")?.as_bool()?,
            rest: rest.filter_map(item).collect(),
        })
    }
}
