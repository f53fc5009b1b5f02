//! Where the values of a text stand. The text has been read before: nothing is checked here.

use std::ops::Range;

/// A value, and where it stands.
#[derive(Debug, Clone)]
pub struct JsonNode {
    /// Its bytes.
    pub range: Range<usize>,
    /// What it is made of.
    pub parts: NodeParts,
}

/// What a value is made of.
#[derive(Debug, Clone)]
pub enum NodeParts {
    /// Nothing that is looked into.
    Plain,
    /// Items.
    List(Vec<JsonNode>),
    /// Members: where the key begins, the key, the value.
    Object(Vec<(usize, String, JsonNode)>),
}

/// A step into a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JsonPlace<'k> {
    /// To the member of a key.
    Key(&'k str),
    /// To an item.
    Item(usize),
}

impl JsonNode {
    /// Returns a part of the value.
    pub fn child(&self, step: &JsonPlace<'_>) -> Option<&JsonNode> {
        match (&self.parts, step) {
            (NodeParts::Object(members), JsonPlace::Key(key)) => {
                let member = members.iter().rev().find(|(_, name, _)| name == key);
                member.map(|(_, _, value)| value)
            }
            (NodeParts::List(items), JsonPlace::Item(index)) => items.get(*index),
            (NodeParts::Plain | NodeParts::List(_) | NodeParts::Object(_), _) => None,
        }
    }

    /// Returns the position of the member of a key.
    pub fn position(&self, key: &str) -> Option<usize> {
        match &self.parts {
            NodeParts::Object(members) => members.iter().rposition(|(_, name, _)| name == key),
            NodeParts::Plain | NodeParts::List(_) => None,
        }
    }

    /// Returns the keys of an object.
    pub fn keys(&self) -> Vec<String> {
        match &self.parts {
            NodeParts::Object(members) => members.iter().map(|(_, key, _)| key.clone()).collect(),
            NodeParts::Plain | NodeParts::List(_) => Vec::new(),
        }
    }

    /// Returns the items of a list; none of what is no list.
    pub fn items(&self) -> &[JsonNode] {
        match &self.parts {
            NodeParts::List(items) => items,
            NodeParts::Plain | NodeParts::Object(_) => &[],
        }
    }

    /// Tells whether it is an object.
    pub fn is_object(&self) -> bool {
        matches!(self.parts, NodeParts::Object(_))
    }

    /// Tells whether it is a list.
    pub fn is_list(&self) -> bool {
        matches!(self.parts, NodeParts::List(_))
    }
}

impl NodeParts {
    /// Returns where the parts stand, keys included.
    pub fn spans(&self) -> Vec<Range<usize>> {
        match self {
            NodeParts::Plain => Vec::new(),
            NodeParts::List(items) => items.iter().map(|item| item.range.clone()).collect(),
            NodeParts::Object(members) => {
                members.iter().map(|(start, _, value)| *start..value.range.end).collect()
            }
        }
    }

    /// Returns where the first part stands.
    pub fn first(&self) -> Option<Range<usize>> {
        self.spans().into_iter().next()
    }

    /// Returns where the last part stands.
    pub fn last(&self) -> Option<Range<usize>> {
        self.spans().pop()
    }
}

/// Finds where everything stands.
pub fn scan(text: &str) -> JsonNode {
    let mut scan = JsonScan { bytes: text.as_bytes(), text, at: 0 };
    scan.blanks();
    scan.value()
}

struct JsonScan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
}

impl JsonScan<'_> {
    fn peek(&self) -> u8 {
        self.bytes.get(self.at).copied().unwrap_or_default()
    }

    fn blanks(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
    }

    fn value(&mut self) -> JsonNode {
        let start = self.at;
        let parts = match self.peek() {
            b'{' => NodeParts::Object(self.parts(b'}', JsonScan::member)),
            b'[' => NodeParts::List(self.parts(b']', JsonScan::value)),
            b'"' => {
                self.string();
                NodeParts::Plain
            }
            _ => {
                let is_end =
                    |byte: &u8| matches!(byte, b',' | b']' | b'}' | b' ' | b'\t' | b'\n' | b'\r');
                let rest = &self.bytes[self.at..];
                self.at += rest.iter().position(is_end).unwrap_or(rest.len());
                NodeParts::Plain
            }
        };
        JsonNode { range: start..self.at, parts }
    }

    fn parts<T>(&mut self, close: u8, read: fn(&mut Self) -> T) -> Vec<T> {
        let mut parts = Vec::new();
        self.at += 1;
        self.blanks();
        while self.at < self.bytes.len() && self.peek() != close {
            parts.push(read(self));
            self.blanks();
            if self.peek() == b',' {
                self.at += 1;
                self.blanks();
            }
        }
        self.at += 1;
        parts
    }

    fn member(&mut self) -> (usize, String, JsonNode) {
        let start = self.at;
        self.string();
        let key = serde_json::from_str(&self.text[start..self.at]).unwrap_or_default();
        self.blanks();
        self.at += 1;
        self.blanks();
        (start, key, self.value())
    }

    fn string(&mut self) {
        self.at += 1;
        while self.at < self.bytes.len() && self.peek() != b'"' {
            self.at += if self.peek() == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
    }
}
