//! Our entries in a file of hooks: put in, brought up to date, and taken out again.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::Value;

use super::entry::{EntryRole, WantedEntry, gated, is_grouped, role_of};
use super::json_text::{JsonLeft, JsonPlace, JsonText, WrittenJson};
use super::settings_file::WiredText;
use super::{Misfit, WiringResult};
use crate::Source;

const HOOKS: &str = "hooks";
const VERSION: &str = "version";

/// Where an entry of ours stands.
struct FoundEntry {
    event: String,
    /// The position of its group, or its own where there are no groups.
    group: usize,
    /// Its position in the group.
    item: usize,
    /// How many entries the group has.
    beside: usize,
    matcher: Option<String>,
    role: EntryRole,
    value: Value,
}

/// Puts entries into the text of a file, which is nothing where there is no file. Entries of ours
/// with a role that none of the wanted ones has stay as they are.
///
/// # Errors
/// Fails when the text is no JSON, or has something else where hooks should stand.
pub fn with_entries(
    source: Source,
    old: Option<&str>,
    wanted: &[WantedEntry],
) -> WiringResult<WiredText> {
    let Some(old) = old else { return Ok(WiredText::Text(fresh_text(source, wanted))) };
    let mut json = read(old)?;
    let roles: Vec<EntryRole> = wanted.iter().map(|entry| entry.role).collect();
    let mut missing: Vec<&WantedEntry> = wanted.iter().collect();
    // From behind, so that what is taken out moves nothing that is still looked at.
    for found in found_entries(source, &json).into_iter().rev() {
        if !roles.contains(&found.role) {
            continue;
        }
        let place = missing.iter().rposition(|it| it.event == found.event && it.role == found.role);
        match place.map(|place| missing.remove(place)) {
            Some(entry) => bring_up_to_date(source, &mut json, &found, entry),
            None => {
                take_out(source, &mut json, &found);
            }
        }
    }
    for entry in missing {
        add(source, &mut json, entry);
    }
    Ok(WiredText::Text(json.text().to_owned()))
}

/// Takes our entries of some roles out of the text of a file.
///
/// # Errors
/// Fails when the text is no JSON.
pub fn without_entries(
    source: Source,
    old: Option<&str>,
    roles: &[EntryRole],
) -> WiringResult<WiredText> {
    let Some(old) = old else { return Ok(WiredText::Keep) };
    let mut json = match read(old) {
        Ok(json) => json,
        // Whatever it is, it has nothing of ours.
        Err(_) if !old.contains("agentic") => return Ok(WiredText::Keep),
        Err(error) => return Err(error),
    };
    for found in found_entries(source, &json).into_iter().rev() {
        if roles.contains(&found.role) && take_out(source, &mut json, &found) == JsonLeft::OurEmpty
        {
            return Ok(WiredText::Remove);
        }
    }
    Ok(WiredText::Text(json.text().to_owned()))
}

/// Tells which of our roles a text has; none if it cannot be read.
pub fn roles_in(source: Source, text: &str) -> Vec<EntryRole> {
    let Ok(json) = JsonText::parse(text.to_owned()) else { return Vec::new() };
    let mut roles: Vec<EntryRole> =
        found_entries(source, &json).iter().map(|found| found.role).collect();
    roles.sort();
    roles.dedup();
    roles
}

/// Tells whether a text has gates, and these are not asked about all tools of a matcher.
pub fn lacks_gates(source: Source, text: &str, wanted: Option<&str>) -> bool {
    let Ok(json) = JsonText::parse(text.to_owned()) else { return false };
    let mut gates = found_entries(source, &json);
    gates.retain(|found| found.role == EntryRole::Gate);
    let covers = |found: &FoundEntry| match (&found.matcher, wanted) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some(wired), Some(wanted)) => {
            let wired: BTreeSet<&str> = wired.split('|').collect();
            wanted.split('|').all(|tool| wired.contains(tool))
        }
    };
    let is_held = |event: &&str| gates.iter().any(|it| it.event == **event && covers(it));
    !gates.is_empty() && !gated(source).iter().all(is_held)
}

/// Returns the entries as a file that has nothing else, for people to paste.
pub fn fresh_text(source: Source, wanted: &[WantedEntry]) -> String {
    let mut events: Vec<(Cow<'static, str>, WrittenJson)> = Vec::new();
    for entry in wanted {
        let group = group_of(source, entry);
        match events.iter_mut().find(|(event, _)| *event == entry.event) {
            Some((_, WrittenJson::List(groups))) => groups.push(group),
            Some(_) | None => {
                events.push((Cow::Borrowed(entry.event), WrittenJson::List(vec![group])));
            }
        }
    }
    let hooks = (HOOKS, WrittenJson::Object(events));
    let whole = match has_version(source) {
        true => WrittenJson::object([hooks, (VERSION, WrittenJson::Number(1))]),
        false => WrittenJson::object([hooks]),
    };
    format!("{}\n", whole.pretty())
}

fn has_version(source: Source) -> bool {
    match source {
        Source::Cursor | Source::Copilot => true,
        Source::Claude | Source::Codex | Source::Gemini | Source::Opencode => false,
    }
}

fn group_of(source: Source, entry: &WantedEntry) -> WrittenJson {
    if !is_grouped(source) {
        return match (&entry.shape, &entry.matcher) {
            (WrittenJson::Object(members), Some(matcher)) => {
                let matcher = (Cow::Borrowed("matcher"), WrittenJson::text(matcher));
                WrittenJson::Object(members.iter().cloned().chain([matcher]).collect())
            }
            (shape, _) => shape.clone(),
        };
    }
    let hooks = (HOOKS, WrittenJson::List(vec![entry.shape.clone()]));
    match &entry.matcher {
        Some(matcher) => WrittenJson::object([("matcher", WrittenJson::text(matcher)), hooks]),
        None => WrittenJson::object([hooks]),
    }
}

/// Reads a file of hooks, and checks that hooks may be put where they belong.
fn read(text: &str) -> WiringResult<JsonText> {
    let json = JsonText::parse(text.to_owned()).map_err(Misfit::Json)?;
    let is_fit = json.at(&[]).is_some_and(|root| root.is_object())
        && json.at(&[JsonPlace::Key(HOOKS)]).is_none_or(|hooks| {
            hooks.is_object()
                && hooks.keys().iter().all(|key| {
                    hooks.child(&JsonPlace::Key(key)).is_some_and(|it| it.is_list())
                        || !may_be_event(key)
                })
        });
    if is_fit { Ok(json) } else { Err(Misfit::Shape.into()) }
}

/// Some files have switches beside the events.
fn may_be_event(key: &str) -> bool {
    !matches!(key, "enabled" | "disabled" | "notifications")
}

fn found_entries(source: Source, json: &JsonText) -> Vec<FoundEntry> {
    let Some(hooks) = json.at(&[JsonPlace::Key(HOOKS)]) else { return Vec::new() };
    let mut found = Vec::new();
    let events: BTreeSet<String> = hooks.keys().into_iter().collect();
    for event in events {
        let groups = hooks.child(&JsonPlace::Key(&event)).map_or(&[][..], |it| it.items());
        for (group, node) in groups.iter().enumerate() {
            let value = json.value(node);
            let matcher = value.get("matcher").and_then(Value::as_str).map(str::to_owned);
            let entries = match is_grouped(source) {
                true => value.get(HOOKS).and_then(Value::as_array).cloned().unwrap_or_default(),
                false => vec![value],
            };
            let beside = entries.len();
            for (item, value) in entries.into_iter().enumerate() {
                let Some(role) = role_of(&value) else { continue };
                let (event, matcher) = (event.clone(), matcher.clone());
                found.push(FoundEntry { event, group, item, beside, matcher, role, value });
            }
        }
    }
    found
}

fn bring_up_to_date(source: Source, json: &mut JsonText, found: &FoundEntry, wanted: &WantedEntry) {
    let (hooks, event) = (JsonPlace::Key(HOOKS), JsonPlace::Key(&found.event));
    let group = JsonPlace::Item(found.group);
    if !is_grouped(source) {
        let shape = group_of(source, wanted);
        if shape.value() != found.value {
            json.set(&[hooks, event, group], &shape);
        }
        return;
    }
    if found.matcher != wanted.matcher {
        if found.beside > 1 {
            // The matcher of a group is also that of the others in it.
            take_out(source, json, found);
            add(source, json, wanted);
            return;
        }
        json.set(&[hooks, event, group], &group_of(source, wanted));
    } else if wanted.shape.value() != found.value {
        let place = [hooks, event, group, JsonPlace::Key(HOOKS), JsonPlace::Item(found.item)];
        json.set(&place, &wanted.shape);
    }
}

fn add(source: Source, json: &mut JsonText, entry: &WantedEntry) {
    let (hooks, event) = (JsonPlace::Key(HOOKS), JsonPlace::Key(entry.event));
    let group = group_of(source, entry);
    if json.at(&[hooks]).is_none() {
        let events = WrittenJson::object([(entry.event, WrittenJson::List(vec![group]))]);
        json.put_member(&[], HOOKS, &events);
        if has_version(source) && json.at(&[JsonPlace::Key(VERSION)]).is_none() {
            json.put_member(&[], VERSION, &WrittenJson::Number(1));
        }
        return;
    }
    match json.at(&[hooks, event]) {
        Some(_) => json.put_item(&[hooks, event], &group),
        None => json.put_member(&[hooks], entry.event, &WrittenJson::List(vec![group])),
    }
}

/// Takes an entry out, and with it what has become empty and was ours. Tells what is left of the
/// file.
fn take_out(source: Source, json: &mut JsonText, found: &FoundEntry) -> JsonLeft {
    let (hooks, event) = (JsonPlace::Key(HOOKS), JsonPlace::Key(found.event.as_str()));
    if is_grouped(source) && found.beside > 1 {
        let group = [hooks, event, JsonPlace::Item(found.group), JsonPlace::Key(HOOKS)];
        json.take(&group, found.item);
        return JsonLeft::Something;
    }
    if json.take(&[hooks, event], found.group) != JsonLeft::OurEmpty {
        return JsonLeft::Something;
    }
    if take_member(json, &[hooks], &found.event, &[]) != JsonLeft::OurEmpty {
        return JsonLeft::Something;
    }
    take_member(json, &[], HOOKS, if has_version(source) { &[VERSION] } else { &[] })
}

/// Takes a member out, and those that stand directly behind it at the end.
fn take_member(
    json: &mut JsonText,
    place: &[JsonPlace<'_>],
    key: &str,
    behind: &[&str],
) -> JsonLeft {
    let Some(node) = json.at(place) else { return JsonLeft::Something };
    let (Some(position), keys) = (node.position(key), node.keys()) else {
        return JsonLeft::Something;
    };
    let follow = keys[position + 1..].iter().map(String::as_str).eq(behind.iter().copied());
    let count = if follow { behind.len() } else { 0 };
    for extra in (position + 1..=position + count).rev() {
        json.take(place, extra);
    }
    json.take(place, position)
}

#[cfg(test)]
mod tests;
