//! Our server of MCP in a file of settings: put in, brought up to date, and taken out again.

use std::borrow::Cow;

use super::json_text::{JsonLeft, JsonPlace, JsonText, WrittenJson};
use super::settings_file::WiredText;
use super::{Misfit, WiringResult};
use crate::Source;

/// What the server is called.
const NAME: &str = "agentic";

/// Where a file names servers, and how ours is written there.
#[derive(Debug, Clone)]
pub struct ServerEntry<'e> {
    /// Whose file it is.
    pub source: Source,
    /// The checkout for which alone the entry counts, in a file of all checkouts.
    pub checkout: Option<&'e str>,
    /// The program.
    pub program: &'e str,
}

impl ServerEntry<'_> {
    fn place(&self) -> Vec<&str> {
        let key = match self.source {
            Source::Opencode => "mcp",
            Source::Claude | Source::Codex | Source::Cursor | Source::Gemini | Source::Copilot => {
                "mcpServers"
            }
        };
        match self.checkout {
            Some(checkout) => vec!["projects", checkout, key],
            None => vec![key],
        }
    }

    fn shape(&self) -> WrittenJson {
        let args = || WrittenJson::List(vec![WrittenJson::text("mcp")]);
        let command = WrittenJson::text(self.program);
        match self.source {
            Source::Claude => WrittenJson::object([
                ("type", WrittenJson::text("stdio")),
                ("command", command),
                ("args", args()),
            ]),
            Source::Cursor | Source::Gemini | Source::Codex => {
                WrittenJson::object([("command", command), ("args", args())])
            }
            Source::Copilot => WrittenJson::object([
                ("type", WrittenJson::text("local")),
                ("command", command),
                ("args", args()),
                ("tools", WrittenJson::List(vec![WrittenJson::text("*")])),
            ]),
            Source::Opencode => WrittenJson::object([
                ("type", WrittenJson::text("local")),
                ("command", WrittenJson::List(vec![command, WrittenJson::text("mcp")])),
                ("enabled", WrittenJson::True),
            ]),
        }
    }

    /// Returns the entry as a file that has nothing else, for people to paste.
    pub fn fresh_text(&self) -> String {
        if self.source == Source::Codex {
            return toml_block(self.program, "\n");
        }
        format!("{}\n", nested(&self.place(), self.shape()).pretty())
    }
}

/// Makes objects around a value.
fn nested(place: &[&str], shape: WrittenJson) -> WrittenJson {
    let named = (Cow::Borrowed(NAME), shape);
    place.iter().rev().fold(WrittenJson::Object(vec![named]), |inner, key| {
        WrittenJson::Object(vec![(Cow::Owned((*key).to_owned()), inner)])
    })
}

/// Puts our server into the text of a file, which is nothing where there is no file.
///
/// # Errors
/// Fails when the text cannot be read, and when somebody else's server has our name.
pub fn with_server(entry: &ServerEntry<'_>, old: Option<&str>) -> WiringResult<WiredText> {
    let Some(old) = old else { return Ok(WiredText::Text(entry.fresh_text())) };
    if entry.source == Source::Codex {
        return Ok(WiredText::Text(with_toml_server(entry, old)?));
    }
    let mut json = JsonText::parse(old.to_owned()).map_err(Misfit::Json)?;
    let names = entry.place();
    let place: Vec<JsonPlace<'_>> = names.iter().map(|key| JsonPlace::Key(key)).collect();
    let depth = (0..=place.len()).rev().find(|depth| json.at(&place[..*depth]).is_some());
    let depth = depth.unwrap_or_default();
    if !json.at(&place[..depth]).is_some_and(|node| node.is_object()) {
        return Err(Misfit::Shape.into());
    }
    if depth < place.len() {
        let inner = nested(&names[depth + 1..], entry.shape());
        json.put_member(&place[..depth], names[depth], &inner);
        return Ok(WiredText::Text(json.text().to_owned()));
    }
    let own: Vec<JsonPlace<'_>> = place.iter().copied().chain([JsonPlace::Key(NAME)]).collect();
    match json.at(&own).map(|node| json.value(node)) {
        None => json.put_member(&place, NAME, &entry.shape()),
        Some(value) if !is_ours(&value) => return Err(Misfit::Taken.into()),
        Some(value) if value == entry.shape().value() => {}
        Some(_) => json.set(&own, &entry.shape()),
    }
    Ok(WiredText::Text(json.text().to_owned()))
}

/// Takes our server out of the text of a file.
///
/// # Errors
/// Fails when the text cannot be read.
pub fn without_server(entry: &ServerEntry<'_>, old: Option<&str>) -> WiringResult<WiredText> {
    let Some(old) = old.filter(|old| old.contains(NAME)) else { return Ok(WiredText::Keep) };
    if entry.source == Source::Codex {
        return without_toml_server(old);
    }
    let mut json = JsonText::parse(old.to_owned()).map_err(Misfit::Json)?;
    let names = entry.place();
    let place: Vec<JsonPlace<'_>> = names.iter().map(|key| JsonPlace::Key(key)).collect();
    let is_there = json
        .at(&place)
        .and_then(|servers| servers.child(&JsonPlace::Key(NAME)))
        .is_some_and(|node| is_ours(&json.value(node)));
    if !is_there {
        return Ok(WiredText::Keep);
    }
    let (mut depth, mut key) = (place.len(), NAME);
    loop {
        let position = json.at(&place[..depth]).and_then(|node| node.position(key));
        let left = json.take(&place[..depth], position.unwrap_or(usize::MAX));
        match (left, depth) {
            (JsonLeft::OurEmpty, 0) => return Ok(WiredText::Remove),
            (JsonLeft::OurEmpty, _) => (depth, key) = (depth - 1, names[depth - 1]),
            (JsonLeft::Something | JsonLeft::TheirEmpty, _) => {
                return Ok(WiredText::Text(json.text().to_owned()));
            }
        }
    }
}

/// Tells whether a server is ours: its program is called `agentic`, and its first argument is `mcp`.
fn is_ours(value: &serde_json::Value) -> bool {
    let words = |key: &str| match value.get(key) {
        Some(serde_json::Value::String(word)) => vec![word.clone()],
        Some(serde_json::Value::Array(words)) => {
            words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect()
        }
        Some(_) | None => Vec::new(),
    };
    let all = [words("command"), words("args")].concat();
    let base = all.first().and_then(|program| program.rsplit('/').next());
    base == Some(NAME) && all.get(1).is_some_and(|word| word == "mcp")
}

const HEADER: &str = "[mcp_servers.agentic]";

fn toml_block(program: &str, newline: &str) -> String {
    let program = serde_json::to_string(program).expect("a text is JSON");
    // A text of JSON is one of TOML: escapes and all.
    [HEADER, &format!("command = {program}"), "args = [\"mcp\"]", ""].join(newline)
}

fn with_toml_server(entry: &ServerEntry<'_>, old: &str) -> WiringResult<String> {
    let settings = toml_value(old)?;
    let newline = if old.contains("\r\n") { "\r\n" } else { "\n" };
    let block = toml_block(entry.program, newline);
    let Some(known) = settings.pointer("/mcp_servers/agentic") else {
        if settings.get("mcp_servers").is_some_and(|servers| !servers.is_object()) {
            return Err(Misfit::Shape.into());
        }
        let (lead, block) = match old.is_empty() || old.ends_with('\n') {
            true => (newline.to_owned(), block.as_str()),
            false => (newline.repeat(2), block.trim_end()),
        };
        let text = format!("{old}{lead}{block}");
        // A table that stands in braces cannot be added to from behind.
        return toml_value(&text).map(|_| text).map_err(|_| Misfit::Shape.into());
    };
    let is_current = known.get("command").and_then(|it| it.as_str()) == Some(entry.program)
        && known.get("args") == Some(&serde_json::json!(["mcp"]));
    match (is_ours(known), is_current, toml_lines(old)) {
        (false, _, _) => Err(Misfit::Taken.into()),
        (true, true, _) => Ok(old.to_owned()),
        (true, false, None) => Err(Misfit::Shape.into()),
        (true, false, Some(lines)) => {
            let kept = old[lines.clone()].lines().skip(1).filter(|line| {
                let key = line.split('=').next().unwrap_or_default().trim();
                key != "command" && key != "args"
            });
            let kept: String = kept.map(|line| format!("{line}{newline}")).collect();
            let written = format!("{block}{kept}");
            let ends = old[lines.clone()].ends_with('\n');
            let written = if ends { written.as_str() } else { written.trim_end() };
            Ok(format!("{}{written}{}", &old[..lines.start], &old[lines.end..]))
        }
    }
}

fn without_toml_server(old: &str) -> WiringResult<WiredText> {
    let settings = toml_value(old)?;
    if !settings.pointer("/mcp_servers/agentic").is_some_and(is_ours) {
        return Ok(WiredText::Keep);
    }
    let Some(lines) = toml_lines(old) else { return Err(Misfit::Shape.into()) };
    let (before, own, after) = (&old[..lines.start], &old[lines.clone()], &old[lines.end..]);
    if before.is_empty() && after.is_empty() {
        return Ok(WiredText::Remove);
    }
    let without_line = |text: &str| {
        let text = text.strip_suffix('\n').unwrap_or(text);
        text.strip_suffix('\r').unwrap_or(text).len()
    };
    let mut before = &before[..without_line(before)];
    if !own.ends_with('\n') && after.is_empty() {
        before = &before[..without_line(before)];
    }
    Ok(WiredText::Text(format!("{before}{after}")))
}

/// Finds the lines of our table: from its name to the last line that is neither blank nor begins
/// something else.
fn toml_lines(text: &str) -> Option<std::ops::Range<usize>> {
    let mut at = 0;
    let mut found: Option<std::ops::Range<usize>> = None;
    for line in text.split_inclusive('\n') {
        let (start, plain) = (at, line.trim());
        at += line.len();
        match &mut found {
            None if plain == HEADER => found = Some(start..at),
            None => {}
            Some(_) if plain.is_empty() || plain.starts_with(['[', '#']) => break,
            Some(range) => range.end = at,
        }
    }
    found
}

fn toml_value(text: &str) -> WiringResult<serde_json::Value> {
    let read = agentic_providers::configuration::toml_value(text);
    Ok(read.map_err(|reason| Misfit::Toml { reason })?)
}

#[cfg(test)]
mod tests;
