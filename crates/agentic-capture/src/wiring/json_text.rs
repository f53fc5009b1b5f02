//! JSON that is changed as text: what is not changed stays byte for byte.
//!
//! What is put in can be taken out again so that the bytes of before come back, without a note of
//! what they were. Two rules do it. A thing is put in directly behind its neighbour, with the gap
//! that its neighbour has; taken out, gap and thing go. Into what is empty it is put directly before
//! the closing bracket; a bracket that we write ourselves has a gap before it. So an emptied list or
//! object tells whose it was.

mod scan;

use std::borrow::Cow;
use std::ops::Range;

pub use self::scan::{JsonNode, JsonPlace};

/// Why a text cannot be changed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("it is no JSON without comments: {reason}")]
pub struct UnreadableJson {
    /// What the reader says, with line and column.
    pub reason: String,
}

/// A value that is written into a text, its keys in the order given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WrittenJson {
    /// A text.
    Text(String),
    /// A whole number.
    Number(i64),
    /// `true`.
    True,
    /// A list.
    List(Vec<WrittenJson>),
    /// An object.
    Object(Vec<(Cow<'static, str>, WrittenJson)>),
}

impl WrittenJson {
    /// Makes a text.
    pub fn text(text: &str) -> WrittenJson {
        WrittenJson::Text(text.to_owned())
    }

    /// Makes an object.
    pub fn object<const N: usize>(members: [(&'static str, WrittenJson); N]) -> WrittenJson {
        WrittenJson::Object(members.map(|(key, shape)| (Cow::Borrowed(key), shape)).into())
    }

    /// Returns the value as it is compared with what a file has.
    pub fn value(&self) -> serde_json::Value {
        match self {
            WrittenJson::Text(text) => text.as_str().into(),
            WrittenJson::Number(number) => (*number).into(),
            WrittenJson::True => true.into(),
            WrittenJson::List(items) => items.iter().map(WrittenJson::value).collect(),
            WrittenJson::Object(members) => {
                let members = members.iter();
                members.map(|(key, shape)| (key.clone().into_owned(), shape.value())).collect()
            }
        }
    }

    /// Writes the value on lines of its own, two blanks deeper each; a list of plain values stays
    /// on one line.
    pub fn pretty(&self) -> String {
        self.written(LineLayout { newline: "\n", unit: "  ", indent: String::new() }.into())
    }

    fn written(&self, layout: Option<LineLayout<'_>>) -> String {
        let (open, close, items): (char, char, Vec<String>) = match self {
            WrittenJson::Text(text) => return quoted(text),
            WrittenJson::Number(number) => return number.to_string(),
            WrittenJson::True => return "true".to_owned(),
            WrittenJson::List(items) if items.iter().all(WrittenJson::is_plain) => {
                let items: Vec<String> = items.iter().map(|item| item.written(None)).collect();
                return format!("[{}]", items.join(", "));
            }
            WrittenJson::List(items) => {
                let inner = layout.as_ref().map(LineLayout::deeper);
                ('[', ']', items.iter().map(|item| item.written(inner.clone())).collect())
            }
            WrittenJson::Object(members) => {
                let inner = layout.as_ref().map(LineLayout::deeper);
                let member = |(key, shape): &(Cow<'static, str>, WrittenJson)| {
                    format!("{}: {}", quoted(key), shape.written(inner.clone()))
                };
                ('{', '}', members.iter().map(member).collect())
            }
        };
        let (inner, outer) = match &layout {
            None => (" ".to_owned(), " ".to_owned()),
            Some(layout) => (layout.deeper().line(), layout.line()),
        };
        let between = if layout.is_some() { format!(",{inner}") } else { ", ".to_owned() };
        format!("{open}{inner}{}{outer}{close}", items.join(&between))
    }

    fn is_plain(&self) -> bool {
        match self {
            WrittenJson::Text(_) | WrittenJson::Number(_) | WrittenJson::True => true,
            WrittenJson::List(_) | WrittenJson::Object(_) => false,
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a text is JSON")
}

/// How lines are laid out at a place of a text.
#[derive(Debug, Clone)]
struct LineLayout<'t> {
    newline: &'static str,
    unit: &'t str,
    indent: String,
}

impl LineLayout<'_> {
    fn deeper(&self) -> Self {
        LineLayout { indent: format!("{}{}", self.indent, self.unit), ..self.clone() }
    }

    fn line(&self) -> String {
        format!("{}{}", self.newline, self.indent)
    }
}

/// A text of JSON that is being changed.
#[derive(Debug, Clone)]
pub struct JsonText {
    text: String,
    root: JsonNode,
}

impl JsonText {
    /// Reads a text, strictly.
    ///
    /// # Errors
    /// Fails on whatever RFC 8259 does not allow: comments, too, and commas at the end.
    pub fn parse(text: String) -> Result<JsonText, UnreadableJson> {
        serde_json::from_str::<serde_json::Value>(&text)
            .map_err(|error| UnreadableJson { reason: error.to_string() })?;
        let root = scan::scan(&text);
        Ok(JsonText { text, root })
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns what the text has at a place; of a key that is there twice the last counts.
    pub fn at(&self, place: &[JsonPlace<'_>]) -> Option<&JsonNode> {
        place.iter().try_fold(&self.root, |node, step| node.child(step))
    }

    /// Returns the value at a node.
    pub fn value(&self, node: &JsonNode) -> serde_json::Value {
        // It was read before: only what stands in it twice could surprise, and the last of it counts.
        serde_json::from_str(&self.text[node.range.clone()]).unwrap_or(serde_json::Value::Null)
    }

    /// Puts a member at the end of the object at a place.
    pub fn put_member(&mut self, place: &[JsonPlace<'_>], key: &str, shape: &WrittenJson) {
        self.put(place, &format!("{}: ", quoted(key)), shape);
    }

    /// Puts an item at the end of the list at a place.
    pub fn put_item(&mut self, place: &[JsonPlace<'_>], shape: &WrittenJson) {
        self.put(place, "", shape);
    }

    fn put(&mut self, place: &[JsonPlace<'_>], key: &str, shape: &WrittenJson) {
        let Some(node) = self.at(place) else { return };
        let (at, written) = match node.parts.last() {
            None => {
                let at = node.range.end - 1;
                (at, format!("{key}{}", shape.written(self.layout(node.range.start))))
            }
            Some(last) => {
                let gap = self.gap_before(last.start);
                let layout = gap.contains('\n').then(|| self.layout(last.start)).flatten();
                (last.end, format!(",{gap}{key}{}", shape.written(layout)))
            }
        };
        self.replace(at..at, &written);
    }

    /// Puts another value in the place of one.
    pub fn set(&mut self, place: &[JsonPlace<'_>], shape: &WrittenJson) {
        let Some(node) = self.at(place) else { return };
        let range = node.range.clone();
        let whole = &self.text[range.clone()];
        let layout = whole.contains('\n').then(|| self.layout(range.start)).flatten();
        let written = shape.written(layout);
        self.replace(range, &written);
    }

    /// Takes an item or a member out of the list or object at a place. Tells what is left.
    pub fn take(&mut self, place: &[JsonPlace<'_>], index: usize) -> JsonLeft {
        let Some(node) = self.at(place) else { return JsonLeft::Something };
        let spans = node.parts.spans();
        let Some(own) = spans.get(index).cloned() else { return JsonLeft::Something };
        let (range, left) = match (index.checked_sub(1), spans.get(index + 1)) {
            (None, None) if own.end < node.range.end - 1 => (own, JsonLeft::OurEmpty),
            (None, None) => (own, JsonLeft::TheirEmpty),
            (None, Some(next)) => (own.start..next.start, JsonLeft::Something),
            (Some(before), _) => (spans[before].end..own.end, JsonLeft::Something),
        };
        self.replace(range, "");
        left
    }

    fn replace(&mut self, range: Range<usize>, written: &str) {
        self.text.replace_range(range, written);
        self.root = scan::scan(&self.text);
    }

    fn gap_before(&self, at: usize) -> String {
        let before = &self.text[..at];
        before[before.trim_end_matches([' ', '\t', '\r', '\n']).len()..].to_owned()
    }

    /// Returns how lines are laid out from the line on which something begins; nothing where the
    /// whole text stands on one line, and is no empty object.
    fn layout(&self, at: usize) -> Option<LineLayout<'_>> {
        let newline = if self.text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = self.root.parts.first().map(|first| self.gap_before(first.start));
        let unit_length = match &first {
            None => None,
            Some(gap) if !gap.contains('\n') => return None,
            Some(gap) => Some(gap.len() - gap.rfind('\n').map_or(0, |at| at + 1)),
        };
        let unit = match (unit_length, self.root.parts.first()) {
            (Some(length), Some(first)) => &self.text[first.start - length..first.start],
            (_, _) => "  ",
        };
        let line = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let rest = &self.text[line..];
        let indent = &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()];
        Some(LineLayout { newline, unit, indent: indent.to_owned() })
    }
}

/// What is left of a list or an object when something was taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonLeft {
    /// More than nothing.
    Something,
    /// Nothing, and it was empty before we put something in.
    TheirEmpty,
    /// Nothing, and we wrote it.
    OurEmpty,
}

#[cfg(test)]
mod tests;
