//! A line of a transcript as JSON: numbers stay as they are written, and texts are borrowed from the
//! line where they have no escapes.
//!
//! Everything that leaves a line passes [`LineJson::redact`] first.

use std::borrow::Cow;

use agentic_model::json::printer::{Escapes, print_text};
use agentic_model::json::reader::{
    HalfPairs, JsonReadFault, JsonReason, ReaderOptions, Scalar, Sink, read,
};
use agentic_model::value::NESTING_MAX;
use agentic_model::{Map, Value};

/// Takes secrets out of a text that stands under a key, if it stands under one; nothing when there
/// are none.
pub type TextRedactor<'r> = dyn FnMut(Option<&str>, &str) -> Option<String> + 'r;

/// Keys under which vendors put ids of their own.
const ID_KEYS: [&str; 22] = [
    "id",
    "uuid",
    "parentUuid",
    "logicalParentUuid",
    "sessionId",
    "sessionID",
    "session_id",
    "messageUuid",
    "messageId",
    "messageID",
    "message_id",
    "leafUuid",
    "requestId",
    "agentId",
    "tool_use_id",
    "call_id",
    "callID",
    "toolCallId",
    "parentId",
    "thread_id",
    "turn_id",
    "response_id",
];
/// Keys of the lists and objects in which vendors describe lines; below all others stands what
/// people and programs said.
const FRAME_KEYS: [&str; 8] =
    ["message", "payload", "data", "content", "forkedFrom", "toolCalls", "toolRequests", "info"];
/// How ids of vendors begin.
const ID_PREFIXES: [&str; 17] = [
    "toolu_",
    "srvtoolu_",
    "mcptoolu_",
    "msg_",
    "call_",
    "req_",
    "resp_",
    "rs_",
    "fc_",
    "ctc_",
    "ws_",
    "lsh_",
    "prt_",
    "ses_",
    "evt_",
    "ctco_",
    "fco_",
];
/// How many values a line has at most: each takes more room than two bytes of the line.
const VALUES_MAX: usize = 1 << 18;
/// The longest id of a vendor, in bytes.
const ID_BYTES_MAX: usize = 80;

/// A piece of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineJson<'t> {
    /// `null`.
    Null,
    /// A truth value.
    Bool(bool),
    /// A number as it is written.
    Number(Cow<'t, str>),
    /// A text without its escapes.
    Text(Cow<'t, str>),
    /// A list.
    List(Vec<LineJson<'t>>),
    /// An object, its members sorted by key; of a key that stands twice the last.
    Object(Vec<(Cow<'t, str>, LineJson<'t>)>),
}

impl<'t> LineJson<'t> {
    /// Reads a line.
    ///
    /// # Errors
    /// Fails on what is not JSON, on nesting over 64 and on more than [`VALUES_MAX`] values.
    pub fn parse(text: &'t str) -> Result<LineJson<'t>, JsonReadFault> {
        let options = ReaderOptions {
            nesting_max: NESTING_MAX,
            values_max: VALUES_MAX,
            half_pairs: HalfPairs::Replace,
        };
        read(text, options, LineSink)
    }

    /// Makes a text.
    pub fn text_of(text: impl Into<String>) -> LineJson<'t> {
        LineJson::Text(Cow::Owned(text.into()))
    }

    /// Makes a whole number.
    pub fn number_of(number: usize) -> LineJson<'t> {
        LineJson::Number(Cow::Owned(number.to_string()))
    }

    /// Returns what stands under a key.
    pub fn get(&self, key: &str) -> Option<&LineJson<'t>> {
        let LineJson::Object(members) = self else { return None };
        members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Returns what stands under a key, to be changed.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut LineJson<'t>> {
        let LineJson::Object(members) = self else { return None };
        members.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// Takes a member away.
    pub fn take(&mut self, key: &str) -> Option<LineJson<'t>> {
        let LineJson::Object(members) = self else { return None };
        let at = members.iter().position(|(name, _)| name == key)?;
        Some(members.remove(at).1)
    }

    /// Puts a member in, in the place of one of its name.
    pub fn put(&mut self, key: &'static str, value: LineJson<'t>) {
        let LineJson::Object(members) = self else { return };
        match members.binary_search_by(|(name, _)| name.as_ref().cmp(key)) {
            Ok(at) => members[at].1 = value,
            Err(at) => members.insert(at, (Cow::Borrowed(key), value)),
        }
    }

    /// Returns the text under a key.
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key).and_then(LineJson::as_text)
    }

    /// Returns the whole number under a key.
    pub fn int(&self, key: &str) -> Option<i64> {
        let LineJson::Number(number) = self.get(key)? else { return None };
        number.parse().ok()
    }

    /// Tells whether `true` stands under a key.
    pub fn is_true(&self, key: &str) -> bool {
        self.get(key) == Some(&LineJson::Bool(true))
    }

    /// Returns the text, if this is one.
    pub fn as_text(&self) -> Option<&str> {
        if let LineJson::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the items, if this is a list.
    pub fn as_list(&self) -> Option<&[LineJson<'t>]> {
        if let LineJson::List(items) = self { Some(items) } else { None }
    }

    /// Returns the items to be changed, if this is a list.
    pub fn as_list_mut(&mut self) -> Option<&mut Vec<LineJson<'t>>> {
        if let LineJson::List(items) = self { Some(items) } else { None }
    }

    /// Returns the members, if this is an object.
    pub fn members(&self) -> &[(Cow<'t, str>, LineJson<'t>)] {
        if let LineJson::Object(members) = self { members } else { &[] }
    }

    /// Tells whether this is an object.
    pub fn is_object(&self) -> bool {
        matches!(self, LineJson::Object(_))
    }

    /// Prints canonical JSON: keys sorted, no blanks, numbers as they were written.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        self.print(&mut out);
        out
    }

    /// Prints as people read it: a text as it is, anything else as canonical JSON.
    pub fn to_plain_text(&self) -> String {
        match self {
            LineJson::Text(text) => text.clone().into_owned(),
            LineJson::Null
            | LineJson::Bool(_)
            | LineJson::Number(_)
            | LineJson::List(_)
            | LineJson::Object(_) => self.to_text(),
        }
    }

    /// Turns it into a value; a number that no value can hold becomes a text.
    pub fn to_value(&self) -> Value {
        match self {
            LineJson::Null => Value::Null,
            LineJson::Bool(truth) => Value::Bool(*truth),
            LineJson::Number(number) => number_value(number),
            LineJson::Text(text) => Value::text(text.as_ref()),
            LineJson::List(items) => Value::List(items.iter().map(LineJson::to_value).collect()),
            LineJson::Object(members) => {
                let member = |(key, value): &(Cow<str>, LineJson)| {
                    (key.clone().into_owned(), value.to_value())
                };
                Value::Map(members.iter().map(member).collect::<Map>())
            }
        }
    }

    /// Makes it independent of the line that it was read from.
    pub fn into_owned(self) -> LineJson<'static> {
        match self {
            LineJson::Null => LineJson::Null,
            LineJson::Bool(truth) => LineJson::Bool(truth),
            LineJson::Number(number) => LineJson::Number(Cow::Owned(number.into_owned())),
            LineJson::Text(text) => LineJson::Text(Cow::Owned(text.into_owned())),
            LineJson::List(items) => {
                LineJson::List(items.into_iter().map(LineJson::into_owned).collect())
            }
            LineJson::Object(members) => {
                let member = |(key, value): (Cow<str>, LineJson)| {
                    (Cow::Owned(key.into_owned()), value.into_owned())
                };
                LineJson::Object(members.into_iter().map(member).collect())
            }
        }
    }

    /// Takes secrets out of every text and every key. Only ids of the vendor that look like ids and
    /// stand where the vendor puts them stay as they are.
    pub fn redact(&mut self, redactor: &mut TextRedactor<'_>) {
        redact_below(self, Where { key: None, is_frame: true }, redactor);
    }

    fn print(&self, out: &mut String) {
        match self {
            LineJson::Null => out.push_str("null"),
            LineJson::Bool(true) => out.push_str("true"),
            LineJson::Bool(false) => out.push_str("false"),
            LineJson::Number(number) => out.push_str(number),
            LineJson::Text(text) => print_text(text, Escapes::Letters, out),
            LineJson::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.print(out);
                }
                out.push(']');
            }
            LineJson::Object(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    print_text(key, Escapes::Letters, out);
                    out.push(':');
                    value.print(out);
                }
                out.push('}');
            }
        }
    }
}

/// Where a piece stands in its line.
#[derive(Clone, Copy)]
struct Where<'k> {
    key: Option<&'k str>,
    is_frame: bool,
}

fn redact_below(json: &mut LineJson<'_>, place: Where<'_>, redactor: &mut TextRedactor<'_>) {
    match json {
        LineJson::Null | LineJson::Bool(_) | LineJson::Number(_) => {}
        LineJson::Text(text) => {
            let is_id = place.is_frame && place.key.is_some_and(|key| ID_KEYS.contains(&key));
            if is_id && looks_like_id(text) {
                return;
            }
            if let Some(clean) = redactor(place.key, text) {
                *text = Cow::Owned(clean);
            }
        }
        LineJson::List(items) => {
            for item in items {
                redact_below(item, place, redactor);
            }
        }
        LineJson::Object(members) => {
            for (key, value) in members.iter_mut() {
                let is_frame = place.is_frame && !holds_speech(key, value);
                redact_below(value, Where { key: Some(key), is_frame }, redactor);
                if let Some(clean) = redactor(None, key) {
                    *key = Cow::Owned(clean);
                }
            }
            members.sort_by(|a, b| a.0.cmp(&b.0));
        }
    }
}

/// Tells whether what stands below a key is said by people and programs, and not by the vendor.
fn holds_speech(key: &str, value: &LineJson<'_>) -> bool {
    let is_scalar = !matches!(value, LineJson::List(_) | LineJson::Object(_));
    !is_scalar && !FRAME_KEYS.contains(&key)
}

/// Tells whether a text has the form of an id: a UUID, or a vendor's prefix and letters and digits.
pub fn looks_like_id(text: &str) -> bool {
    if text.len() > ID_BYTES_MAX {
        return false;
    }
    let rest = ID_PREFIXES.iter().find_map(|prefix| text.strip_prefix(prefix));
    match rest {
        Some(rest) => rest.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'),
        None => is_uuid(text),
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Makes the value of a number as it is written; one that no value can hold becomes a text.
pub fn number_value(number: &str) -> Value {
    if let Ok(whole) = number.parse() {
        return Value::Int(whole);
    }
    let is_float = number.contains(['.', 'e', 'E']);
    match number.parse::<f64>() {
        Ok(float) if is_float && float.is_finite() => Value::Float(float),
        Ok(_) | Err(_) => Value::text(number),
    }
}

/// Builds [`LineJson`].
struct LineSink;

impl<'t> Sink<'t> for LineSink {
    type Value = LineJson<'t>;
    type Key = Cow<'t, str>;
    type Members = Vec<(Cow<'t, str>, LineJson<'t>)>;

    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<LineJson<'t>, JsonReason> {
        Ok(match scalar {
            Scalar::Null => LineJson::Null,
            Scalar::Bool(truth) => LineJson::Bool(truth),
            Scalar::Number(number) => LineJson::Number(Cow::Borrowed(number)),
            Scalar::Text(text) => LineJson::Text(text),
        })
    }

    fn list(&mut self, items: Vec<LineJson<'t>>) -> Result<LineJson<'t>, JsonReason> {
        Ok(LineJson::List(items))
    }

    fn key(&mut self, text: Cow<'t, str>) -> Cow<'t, str> {
        text
    }

    fn member(&mut self, members: &mut Self::Members, key: Cow<'t, str>, value: LineJson<'t>) {
        members.push((key, value));
    }

    fn object(&mut self, mut members: Self::Members) -> Result<LineJson<'t>, JsonReason> {
        // The later of two comes first, and stays.
        members.reverse();
        members.sort_by(|a, b| a.0.cmp(&b.0));
        members.dedup_by(|a, b| a.0 == b.0);
        Ok(LineJson::Object(members))
    }
}

#[cfg(test)]
mod tests;
