//! Paths into JSON values: `.agent`, `.[0].fields."a key"`, `.[agent=alice].head`.

use std::fmt;

use serde_json::Value as Json;

/// A way from the whole value to a part of it.
#[derive(Debug)]
pub(crate) struct JsonPath {
    text: String,
    parts: Vec<PathPart>,
}

#[derive(Debug, PartialEq, Eq)]
enum PathPart {
    /// The member of a map.
    Key(String),
    /// The item of a list, from 0.
    At(usize),
    /// The first item of a list that is a map with this text under this key.
    Where { key: String, value: String },
}

impl JsonPath {
    /// Takes a path from the beginning of a text; returns it and what follows it.
    pub fn take(text: &str) -> Option<(JsonPath, &str)> {
        let mut rest = text.strip_prefix('.')?;
        let mut parts = Vec::new();
        while !rest.is_empty() && !rest.starts_with(' ') {
            let (part, after) = take_part(rest)?;
            parts.push(part);
            rest = after.strip_prefix('.').unwrap_or(after);
        }
        let used = &text[..text.len() - rest.len()];
        Some((JsonPath { text: used.to_owned(), parts }, rest.trim_start()))
    }

    /// Follows the path; `fill` turns the text of a `[key=text]` part into what it stands for.
    pub fn find<'a>(&self, value: &'a Json, fill: impl Fn(&str) -> String) -> Option<&'a Json> {
        let mut found = value;
        for part in &self.parts {
            found = match part {
                PathPart::Key(key) => found.as_object()?.get(key)?,
                PathPart::At(at) => found.as_array()?.get(*at)?,
                PathPart::Where { key, value } => {
                    let wanted = fill(value);
                    let is_it =
                        |item: &&Json| item.get(key).and_then(Json::as_str) == Some(&wanted);
                    found.as_array()?.iter().find(is_it)?
                }
            };
        }
        Some(found)
    }
}

impl fmt::Display for JsonPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn take_part(text: &str) -> Option<(PathPart, &str)> {
    if let Some(inside) = text.strip_prefix('[') {
        let (inside, after) = inside.split_once(']')?;
        let part = match inside.split_once('=') {
            Some((key, value)) => PathPart::Where { key: key.to_owned(), value: value.to_owned() },
            None => PathPart::At(inside.parse().ok()?),
        };
        return Some((part, after));
    }
    if let Some(quoted) = text.strip_prefix('"') {
        let (key, after) = quoted.split_once('"')?;
        return Some((PathPart::Key(key.to_owned()), after));
    }
    let end = text.find(['.', '[', ' ']).unwrap_or(text.len());
    let (key, after) = text.split_at(end);
    (!key.is_empty()).then(|| (PathPart::Key(key.to_owned()), after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(path: &str, expected: Option<&str>) {
        let value = serde_json::json!({
            "a": {"b c": [1, {"agent": "alice", "head": "x"}]}, "n": null
        });
        let (path, rest) = JsonPath::take(path).expect("the case is a path");
        assert_eq!(rest, "");
        let found = path.find(&value, str::to_owned).map(Json::to_string);
        assert_eq!(found.as_deref(), expected, "{path}");
    }

    #[test]
    fn paths_lead_to_parts() {
        check(".a.\"b c\"[0]", Some("1"));
        check(".a.\"b c\".[0]", Some("1"));
        check(".a.\"b c\"[agent=alice].head", Some("\"x\""));
        check(".a.\"b c\"[agent=bob].head", None);
        check(".n", Some("null"));
        check(".missing", None);
    }

    #[test]
    fn what_follows_a_path_is_left() {
        let (path, rest) = JsonPath::take(". has 3 items").expect("a path");
        assert_eq!((path.to_string().as_str(), rest), (".", "has 3 items"));
        assert!(JsonPath::take("agent = 1").is_none());
        assert!(JsonPath::take(".[x").is_none());
    }
}
