//! Shortening of answers that no message can hold.
//!
//! What an answer has at its surface stays, so that it fits the schema of its tool: names, states, what the
//! next page begins after. Long texts are cut, and lists and maps of data end early.

use serde_json::{Map, Value as Json};

/// The longest text that stays whole, in bytes.
const TEXT_BYTES_MAX: usize = 16 << 10;
/// A map of more fields is data, and no part of an answer's shape.
const FIELDS_MAX: usize = 128;
/// What is deeper is data.
const DEPTH_MAX: usize = 6;

/// Makes a copy of an answer whose texts, lists and maps hold about so many bytes.
pub fn shortened(answer: &Json, n_bytes: usize) -> Json {
    Shortening { room: n_bytes }.of(answer, 0)
}

struct Shortening {
    /// How many bytes there is room for still.
    room: usize,
}

impl Shortening {
    fn of(&mut self, value: &Json, depth: usize) -> Json {
        if self.room == 0 && depth > DEPTH_MAX {
            return Json::Null;
        }
        match value {
            Json::String(text) => Json::String(self.text(text)),
            Json::Array(items) => {
                let mut kept = Vec::new();
                for item in items {
                    if self.room == 0 {
                        break;
                    }
                    kept.push(self.of(item, depth + 1));
                }
                Json::Array(kept)
            }
            Json::Object(map) => Json::Object(self.map(map, depth)),
            Json::Null | Json::Bool(_) | Json::Number(_) => {
                self.take(8);
                value.clone()
            }
        }
    }

    fn text(&mut self, text: &str) -> String {
        let most = if self.room == 0 { TEXT_BYTES_MAX >> 6 } else { TEXT_BYTES_MAX };
        // In JSON a byte may take six.
        self.take(2 * text.len().min(most));
        if text.len() <= most {
            return text.to_owned();
        }
        let said = format!("… cut: the whole has {} bytes", text.len());
        format!("{}{said}", &text[..text.floor_char_boundary(most)])
    }

    /// What is small comes first: of the fields of an answer none is lost for another one's length.
    fn map(&mut self, map: &Map<String, Json>, depth: usize) -> Map<String, Json> {
        let is_data = map.len() > FIELDS_MAX;
        let mut fields: Vec<_> = map.iter().collect();
        fields.sort_by_key(|(_, value)| match value {
            Json::Null | Json::Bool(_) | Json::Number(_) => 0,
            Json::String(text) => text.len().min(TEXT_BYTES_MAX),
            Json::Array(_) | Json::Object(_) => TEXT_BYTES_MAX + 1,
        });
        let mut kept = Map::new();
        for (name, value) in fields {
            if is_data && self.room == 0 {
                break;
            }
            self.take(name.len());
            kept.insert(name.clone(), self.of(value, depth + 1));
        }
        kept
    }

    fn take(&mut self, n_bytes: usize) {
        self.room = self.room.saturating_sub(n_bytes);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value as Json, json};

    use super::shortened;

    #[test]
    fn what_an_answer_is_stays_and_its_data_ends_early() {
        let many: Map<String, Json> =
            (0..50_000).map(|n| (format!("key{n}"), Json::from("x".repeat(40)))).collect();
        let long = "\u{1}".repeat(1_000_000);
        let answer = json!({
            "items": [{
                "asked_at": "2026-11-21T22:40:01Z",
                "payload": { "payload": long, "many": many, "list": vec!["y".repeat(90); 50_000] },
                "question": "z".repeat(300),
                "request": "ab.cd",
            }],
            "next": "ab.cd",
        });
        let short = shortened(&answer, 1 << 20);
        assert!(short.to_string().len() < 3 << 20, "{}", short.to_string().len());
        let item = &short["items"][0];
        assert_eq!((&item["request"], &short["next"]), (&json!("ab.cd"), &json!("ab.cd")));
        assert_eq!(item["question"].as_str().map(str::len), Some(300));
        let text = item["payload"]["payload"].as_str().expect("a text");
        assert!(text.ends_with("… cut: the whole has 1000000 bytes"), "{}", text.len());
        assert!(item["payload"]["list"].is_array() && item["payload"]["many"].is_object());
    }

    #[test]
    fn an_answer_with_room_is_as_it_was() {
        let answer = json!({ "a": [1, null, true, { "b": "c" }], "d": 1.5 });
        assert_eq!(shortened(&answer, 1 << 20), answer);
    }

    #[test]
    fn depth_alone_does_not_make_an_answer_long() {
        let deep = (0..60).fold(json!("x".repeat(20)), |inner, _| json!({ "a": inner }));
        assert!(shortened(&deep, 1).to_string().len() < 1000);
    }
}
