//! What one line says and another one decides: held until the turn ends.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::{Map, Value};

use crate::entry::CapturedEntry;

/// How many entries are held; then the oldest is given.
const HELD_MAX: usize = 256;
/// How many bytes of text are held; then the oldest is given.
const HELD_BYTES_MAX: usize = 1 << 20;
/// How many texts of one turn are remembered.
const TEXTS_MAX: usize = 16 << 10;
/// How many calls of one turn are remembered.
const CALLS_MAX: usize = 1024;

/// What of the turn so far is not decided.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct HeldTurn {
    /// Entries that a later item may make needless, or complete, in order.
    entries: Vec<HeldEntry>,
    /// What items of the turn have said.
    texts: BTreeSet<u64>,
    /// Calls whose result was given.
    results: BTreeSet<String>,
    /// Calls that ended, and how.
    ends: BTreeMap<String, CallEnd>,
    /// Files that calls of the turn patch.
    patches: BTreeMap<String, Vec<String>>,
}

/// Why an entry is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HeldFor {
    /// It counts if no item says the same.
    Item,
    /// It counts if no result of its call comes.
    Result,
    /// It counts, but how its call ended may still come.
    End,
}

#[derive(Debug, Clone, PartialEq)]
struct HeldEntry {
    held_for: HeldFor,
    call: String,
    entry: CapturedEntry,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct CallEnd {
    /// The exit code of a command.
    pub exit: Option<i64>,
    /// Whether it went well, as far as that is known.
    pub success: Option<bool>,
    /// The files that it changed, if the end names them.
    pub paths: Vec<String>,
}

impl CallEnd {
    /// Adds what another source knows; what is known here stays.
    pub(super) fn or(self, other: CallEnd) -> CallEnd {
        CallEnd {
            exit: self.exit.or(other.exit),
            success: self.success.or(other.success),
            paths: if self.paths.is_empty() { other.paths } else { self.paths },
        }
    }

    fn is_known(&self) -> bool {
        self.exit.is_some()
    }

    fn went_well(&self) -> Option<bool> {
        self.exit.map(|exit| exit == 0).or(self.success)
    }

    fn describe(&self, entry: &mut CapturedEntry) {
        if let Some(exit) = self.exit {
            entry.put("exit", Value::Int(exit));
        }
        if self.went_well() == Some(false) || self.success == Some(false) {
            entry.put("error", Value::Bool(true));
        }
    }

    fn to_value(&self) -> Value {
        Value::map([
            ("exit", self.exit.map_or(Value::Null, Value::Int)),
            ("success", self.success.map_or(Value::Null, Value::Bool)),
            ("paths", texts(&self.paths)),
        ])
    }

    fn from_value(value: &Value) -> Option<CallEnd> {
        Some(CallEnd {
            exit: value.get("exit")?.as_int(),
            success: value.get("success")?.as_bool(),
            paths: strings(value.get("paths")?)?,
        })
    }
}

impl HeldTurn {
    /// An item says a text: events that say the same add nothing.
    pub(super) fn item_said(&mut self, text: &str) {
        self.entries.retain(|held| held.held_for != HeldFor::Item || held.entry.text != text);
        if self.texts.len() < TEXTS_MAX {
            self.texts.insert(short_hash(text));
        }
    }

    /// An event says a text; gives what there is no room to hold.
    pub(super) fn event_said(&mut self, entry: CapturedEntry) -> Vec<CapturedEntry> {
        if self.texts.contains(&short_hash(&entry.text)) {
            return Vec::new();
        }
        self.hold(HeldFor::Item, String::new(), entry)
    }

    /// A call patches files.
    pub(super) fn call_patches(&mut self, call: &str, paths: Vec<String>) {
        if self.patches.len() < CALLS_MAX && !paths.is_empty() {
            self.patches.insert(call.to_owned(), paths);
        }
    }

    /// A call has a result. How it ended is known, or it is held for that.
    pub(super) fn result(
        &mut self,
        call: &str,
        mut entry: CapturedEntry,
        end: CallEnd,
    ) -> Vec<CapturedEntry> {
        self.entries.retain(|held| held.held_for != HeldFor::Result || held.call != call);
        if self.results.len() < CALLS_MAX {
            self.results.insert(call.to_owned());
        }
        let earlier = self.ends.remove(call);
        let is_decided = end.is_known() || earlier.is_some() || call.is_empty();
        let end = end.or(earlier.unwrap_or_default());
        self.describe(call, &mut entry, &end);
        if is_decided {
            return vec![entry];
        }
        self.hold(HeldFor::End, call.to_owned(), entry)
    }

    /// A call has ended; `entry` counts if no result of it comes.
    pub(super) fn ended(
        &mut self,
        call: &str,
        mut entry: CapturedEntry,
        end: CallEnd,
    ) -> Vec<CapturedEntry> {
        let waits = |held: &HeldEntry| held.held_for == HeldFor::End && held.call == call;
        if let Some(at) = self.entries.iter().position(waits) {
            let mut held = self.entries.remove(at);
            self.describe(call, &mut held.entry, &end);
            return vec![held.entry];
        }
        if self.results.contains(call) {
            return Vec::new();
        }
        self.describe(call, &mut entry, &end);
        if self.ends.len() < CALLS_MAX {
            self.ends.insert(call.to_owned(), end);
        }
        self.hold(HeldFor::Result, call.to_owned(), entry)
    }

    /// Gives the result of a call that is not worth waiting for.
    pub(super) fn release(&mut self, call: &str) -> Vec<CapturedEntry> {
        let is_meant = |held: &mut HeldEntry| held.held_for == HeldFor::End && held.call == call;
        self.entries.extract_if(.., is_meant).map(|held| held.entry).collect()
    }

    /// The model goes on: calls of before have ended.
    pub(super) fn go_on(&mut self) -> Vec<CapturedEntry> {
        let is_over = |held: &mut HeldEntry| held.held_for == HeldFor::End;
        self.entries.extract_if(.., is_over).map(|held| held.entry).collect()
    }

    /// The turn is over: gives all that is held.
    pub(super) fn end_turn(&mut self) -> Vec<CapturedEntry> {
        let held = std::mem::take(self);
        held.entries.into_iter().map(|held| held.entry).collect()
    }

    fn hold(
        &mut self,
        held_for: HeldFor,
        call: String,
        entry: CapturedEntry,
    ) -> Vec<CapturedEntry> {
        self.entries.push(HeldEntry { held_for, call, entry });
        let mut given = Vec::new();
        let length = |held: &HeldEntry| held.entry.text.len();
        let mut bytes: usize = self.entries.iter().map(length).sum();
        while self.entries.len() > HELD_MAX || bytes > HELD_BYTES_MAX {
            let oldest = self.entries.remove(0);
            bytes -= length(&oldest);
            given.push(oldest.entry);
        }
        given
    }

    fn describe(&mut self, call: &str, entry: &mut CapturedEntry, end: &CallEnd) {
        end.describe(entry);
        let patched = self.patches.get(call).unwrap_or(&end.paths);
        let went_well = end.went_well().unwrap_or_else(|| says_success(&entry.text));
        if went_well && !patched.is_empty() {
            entry.put("edit", Value::map([("paths", texts(patched))]));
        }
    }

    pub(super) fn state(&self) -> Value {
        let entries = self.entries.iter().map(|held| {
            Value::map([
                ("for", Value::text(held.held_for.as_str())),
                ("call", Value::text(&held.call)),
                ("entry", held.entry.to_state()),
            ])
        });
        let hashes = self.texts.iter().flat_map(|hash| hash.to_le_bytes()).collect();
        let ends = self.ends.iter().map(|(call, end)| (call.clone(), end.to_value()));
        let patches = self.patches.iter().map(|(call, paths)| (call.clone(), texts(paths)));
        Value::map([
            ("entries", Value::List(entries.collect())),
            ("texts", Value::Bytes(hashes)),
            ("results", Value::List(self.results.iter().map(Value::text).collect())),
            ("ends", Value::Map(ends.collect::<Map>())),
            ("patches", Value::Map(patches.collect::<Map>())),
        ])
    }

    pub(super) fn restore(state: &Value) -> Option<HeldTurn> {
        let entry = |value: &Value| {
            Some(HeldEntry {
                held_for: HeldFor::parse(value.get("for")?.as_text()?)?,
                call: value.get("call")?.as_text()?.to_owned(),
                entry: CapturedEntry::from_state(value.get("entry")?)?,
            })
        };
        let hashes = state.get("texts")?.as_bytes()?.chunks_exact(8);
        let ends = state.get("ends")?.as_map()?.iter();
        let patches = state.get("patches")?.as_map()?.iter();
        Some(HeldTurn {
            entries: state.get("entries")?.as_list()?.iter().map(entry).collect::<Option<_>>()?,
            texts: hashes.filter_map(|hash| hash.try_into().ok().map(u64::from_le_bytes)).collect(),
            results: strings(state.get("results")?)?.into_iter().collect(),
            ends: ends
                .map(|(call, end)| Some((call.clone(), CallEnd::from_value(end)?)))
                .collect::<Option<_>>()?,
            patches: patches
                .map(|(call, paths)| Some((call.clone(), strings(paths)?)))
                .collect::<Option<_>>()?,
        })
    }
}

impl HeldFor {
    fn as_str(self) -> &'static str {
        match self {
            HeldFor::Item => "item",
            HeldFor::Result => "result",
            HeldFor::End => "end",
        }
    }

    fn parse(name: &str) -> Option<HeldFor> {
        [HeldFor::Item, HeldFor::Result, HeldFor::End]
            .into_iter()
            .find(|held| held.as_str() == name)
    }
}

/// Tells whether the text of a result says that all went well, where nothing else does.
fn says_success(text: &str) -> bool {
    ["Success", "Exit code: 0\n"].iter().any(|begin| text.starts_with(begin))
}

fn texts(texts: &[String]) -> Value {
    Value::List(texts.iter().map(Value::text).collect())
}

fn strings(value: &Value) -> Option<Vec<String>> {
    value.as_list()?.iter().map(|text| text.as_text().map(str::to_owned)).collect()
}

/// Knows a text again. Texts are redacted before.
fn short_hash(text: &str) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&blake3::hash(text.as_bytes()).as_bytes()[..8]);
    u64::from_le_bytes(first)
}
