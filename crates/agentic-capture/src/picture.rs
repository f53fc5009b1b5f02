//! Pictures and documents of conversations. They cannot be scanned for secrets, so they are described and
//! dropped, unless the configuration says to keep them: then each is an object of its own that says so.

use agentic_model::{Map, Object, Value};
use agentic_space::Space;
use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::entry::{CapturedEntry, CapturedKind};
use crate::line_json::LineJson;
use crate::mapping::pictures::data_url;

/// The switch of git's configuration.
const SWITCH: &str = "agentic.captureImages";
/// The longest picture that is kept, in bytes: 1 MiB.
pub const PICTURE_BYTES_MAX: usize = 1 << 20;
/// How many pictures of one line are kept.
const PICTURES_MAX: usize = 64;
/// Vendors leave the padding out, or do not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// What becomes of pictures and documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PictureUse {
    /// They are described and dropped.
    Described,
    /// They are kept as they are.
    Kept,
}

/// A picture as a line has it.
struct LinePicture {
    media: String,
    bytes: Vec<u8>,
}

impl PictureUse {
    /// Reads what the configuration says.
    pub fn of(space: &Space) -> PictureUse {
        match space.repository().config(SWITCH).as_deref() {
            Some("keep") => PictureUse::Kept,
            Some(_) | None => PictureUse::Described,
        }
    }
}

/// Names in the entries of a line the pictures that it has, and returns those as objects.
pub fn name_pictures(line: &[u8], entries: &mut [CapturedEntry]) -> Vec<Object> {
    let is_described = |entry: &CapturedEntry| {
        entry.kind == CapturedKind::Image && described_length(entry).is_some()
    };
    if !entries.iter().any(is_described) {
        return Vec::new();
    }
    let Ok(text) = std::str::from_utf8(line) else { return Vec::new() };
    let Ok(json) = LineJson::parse(text.trim_end()) else { return Vec::new() };
    let mut pictures = Vec::new();
    collect(&json, &mut pictures);
    let mut objects = Vec::new();
    for entry in entries.iter_mut().filter(|entry| is_described(entry)) {
        let length = described_length(entry);
        let is_it = |picture: &LinePicture| Some(picture.bytes.len()) == length;
        // Both stand in the order of the line: of several of one length the first is meant.
        let Some(at) = pictures.iter().position(is_it) else { continue };
        let picture = pictures.remove(at);
        let Some(object) = picture.object() else { continue };
        let mut described =
            entry.meta.get("image").and_then(Value::as_map).cloned().unwrap_or_default();
        described.insert("object".to_owned(), Value::Link(object.cid()));
        entry.put("image", Value::Map(described));
        objects.push(object);
    }
    objects
}

/// Leaves out the pictures that no entry names.
pub fn retain_named(pictures: &mut Vec<Object>, entries: &[CapturedEntry]) {
    let named = |entry: &CapturedEntry| entry.meta.get("image")?.get("object")?.as_link();
    pictures.retain(|picture| entries.iter().any(|entry| named(entry) == Some(picture.cid())));
}

impl LinePicture {
    fn object(self) -> Option<Object> {
        let map = Map::from([
            ("type".to_owned(), Value::text("picture")),
            ("media".to_owned(), Value::Text(self.media)),
            ("data".to_owned(), Value::Bytes(self.bytes)),
            ("unredacted".to_owned(), Value::Bool(true)),
        ]);
        // With what is said about it, one of the greatest length may be too long for an object.
        Object::new(map).ok()
    }
}

fn described_length(entry: &CapturedEntry) -> Option<usize> {
    usize::try_from(entry.meta.get("image")?.get("bytes")?.as_int()?).ok()
}

/// Finds what stands in a line in base64, in any vendor's way.
fn collect(json: &LineJson<'_>, found: &mut Vec<LinePicture>) {
    if found.len() >= PICTURES_MAX {
        return;
    }
    match json {
        LineJson::Object(members) => {
            let media = json.text("media_type").or_else(|| json.text("mimeType"));
            let data = json.text("data").filter(|_| media.is_some());
            found.extend(data.and_then(|data| decoded(media.unwrap_or_default(), data)));
            members.iter().for_each(|(_, value)| collect(value, found));
        }
        LineJson::List(items) => items.iter().for_each(|item| collect(item, found)),
        LineJson::Text(text) => {
            found.extend(data_url(text).and_then(|(media, data)| decoded(media, data)));
        }
        LineJson::Null | LineJson::Bool(_) | LineJson::Number(_) => {}
    }
}

fn decoded(media: &str, data: &str) -> Option<LinePicture> {
    if data.len() / 4 * 3 > PICTURE_BYTES_MAX + 3 {
        return None;
    }
    let digits: Vec<u8> = data.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let bytes = BASE64
        .decode(digits)
        .ok()
        .filter(|bytes| !bytes.is_empty() && bytes.len() <= PICTURE_BYTES_MAX)?;
    Some(LinePicture { media: media.to_owned(), bytes })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mapping::ConversationMapping;
    use crate::{ConversationId, Source};

    fn check(source: Source, line: &str, expected: &[(&str, &[u8])]) {
        let id = ConversationId { source, native: "a".to_owned() };
        let mut mapping = ConversationMapping::new(id, None);
        let mut entries = mapping.line(0, line.as_bytes(), &mut |_, _| None);
        let objects = name_pictures(line.as_bytes(), &mut entries);
        let found: Vec<(&str, &[u8])> = objects
            .iter()
            .map(|object| {
                let text = object.map().get("media").and_then(Value::as_text).expect("a text");
                (text, object.map().get("data").and_then(Value::as_bytes).expect("bytes"))
            })
            .collect();
        assert_eq!(found, expected, "{line}");
        assert!(objects.iter().all(|it| it.map().get("unredacted") == Some(&Value::Bool(true))));
        let mut named = objects.clone();
        retain_named(&mut named, &entries);
        assert_eq!(named.len(), expected.len(), "each is named by its entry");
        retain_named(&mut named, &[]);
        assert!(named.is_empty());
    }

    #[test]
    fn pictures_of_each_vendor_are_found() {
        check(
            Source::Claude,
            r#"{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}},{"type":"text","text":"data:image/png;base64,aGVsbG8="},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"Ynll"}}]}}"#,
            &[("image/png", b"hello"), ("application/pdf", b"bye")],
        );
        check(
            Source::Codex,
            r#"{"timestamp":"2026-11-18T14:00:01.000Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,aGVsbG8="}]}}"#,
            &[("image/png", b"hello")],
        );
        check(
            Source::Gemini,
            r#"{"id":"m","type":"user","content":[{"inlineData":{"mimeType":"image/png","data":"aGVsbG8"}}]}"#,
            &[("image/png", b"hello")],
        );
        check(
            Source::Opencode,
            r#"{"table":"part","id":"p","message_id":"m","data":{"type":"file","mime":"image/png","url":"data:image/png;base64,aGVsbG8="}}"#,
            &[("image/png", b"hello")],
        );
    }

    #[test]
    fn what_is_no_picture_or_too_long_is_described_only() {
        let long = "A".repeat((PICTURE_BYTES_MAX + 300) / 3 * 4);
        let line = |data: &str| {
            format!(
                r#"{{"type":"user","uuid":"u","message":{{"role":"user","content":[{{"type":"image","source":{{"type":"base64","media_type":"image/png","data":"{data}"}}}}]}}}}"#
            )
        };
        for data in [long.as_str(), "not base64!", ""] {
            check(Source::Claude, &line(data), &[]);
        }
        check(
            Source::Claude,
            r#"{"type":"user","uuid":"u","message":{"content":"aGVsbG8="}}"#,
            &[],
        );
    }
}
