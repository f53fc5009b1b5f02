//! What Codex repeats, encodes or writes as JSON within JSON.

use std::borrow::Cow;

use crate::line_json::LineJson;
use crate::mapping::pictures::{data_url, decoded_length};

/// Takes out instructions, encrypted thoughts, copies of the history and pictures, whose lengths stay
/// in their place; opens JSON that stands in texts, so that it is redacted leaf by leaf.
pub(super) fn prune(json: &mut LineJson<'_>) {
    let kind = json.text("type").unwrap_or_default().to_owned();
    let Some(payload) = json.get_mut("payload") else { return };
    match kind.as_str() {
        "session_meta" => drop(payload.take("base_instructions")),
        "compacted" => count_history(payload),
        "response_item" => prune_item(payload),
        "event_msg" if payload.text("type") == Some("user_message") => {
            payload.take("images");
            payload.take("local_images");
        }
        _ => {}
    }
}

fn count_history(payload: &mut LineJson<'_>) {
    let items = payload.get("replacement_history").and_then(LineJson::as_list).map(<[_]>::len);
    if let Some(items) = items {
        payload.put("replacement_history", LineJson::number_of(items));
    }
}

fn prune_item(item: &mut LineJson<'_>) {
    let length = item.text("encrypted_content").map(str::len);
    if let Some(length) = length {
        item.put("encrypted_content", LineJson::number_of(length));
    }
    let kind = item.text("type").unwrap_or_default().to_owned();
    match kind.as_str() {
        "image_generation_call" => {
            let length = item.text("result").map(decoded_length);
            if let Some(length) = length {
                item.put("result", LineJson::number_of(length));
            }
        }
        "message" => describe_pictures(item.get_mut("content")),
        _ if kind.ends_with("_output") => {
            describe_pictures(item.get_mut("output"));
            let inner = item.get_mut("output").and_then(|output| output.get_mut("content"));
            describe_pictures(inner);
            open(item, "output", |opened| {
                opened.get("output").is_some() && opened.get("metadata").is_some()
            });
        }
        _ => open(item, "arguments", |_| true),
    }
}

/// Puts the value that a text holds as JSON in its place.
fn open(item: &mut LineJson<'_>, key: &'static str, is_meant: impl Fn(&LineJson<'_>) -> bool) {
    let Some(LineJson::Text(text)) = item.get(key) else { return };
    let opened = LineJson::parse(text).map(LineJson::into_owned);
    if let Some(opened) = opened.ok().filter(is_meant) {
        item.put(key, opened);
    }
}

/// Puts `media` and `bytes` of pictures in the place of their data.
fn describe_pictures(parts: Option<&mut LineJson<'_>>) {
    for part in parts.and_then(LineJson::as_list_mut).into_iter().flatten() {
        let Some(LineJson::Text(url)) = part.get("image_url") else { continue };
        let Some((media, data)) = data_url(url) else { continue };
        let described = [
            (Cow::Borrowed("bytes"), LineJson::number_of(decoded_length(data))),
            (Cow::Borrowed("media"), LineJson::text_of(media)),
        ];
        part.put("image_url", LineJson::Object(described.into()));
    }
}
