//! Places where secrets stand: beside names, in queries, headers and options.

use crate::cursor::{self, FoundValue, Quote, ValueEnds, skip_blanks};
use crate::exempt::is_reference;
use crate::hit::{HitRule, SecretHit};
use crate::name::{NAME_BYTES_MAX, NameStrength, strength};
use crate::phrase::is_bare_phrase;
use crate::separator::{self, Separator};
use crate::trigger::TriggerHit;
use crate::value::{Quoting, VALUE_BYTES_SEEN, is_irregular, is_random, is_secret_value};
use crate::words::is_plain_word;
use crate::{command, element, header, place, setter, steps, table};

/// Names of fields in queries that have secrets only there.
const QUERY_NAMES: [&str; 8] =
    ["key", "sig", "signature", "x-amz-signature", "x-goog-signature", "code", "auth", "hmac"];

/// Looks at one text; words of it come in the order in which they end.
pub(crate) struct ContextScan<'t> {
    text: &'t [u8],
    pub(crate) ends: ValueEnds,
    pub(crate) hits: Vec<SecretHit>,
    /// Where the name begins that was looked at last.
    name_seen: Option<usize>,
    /// Up to where options of commands were looked at.
    options_seen: usize,
    /// Up to where tables were looked at.
    table_seen: usize,
}

/// A name in its text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FoundName<'t> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) name: &'t [u8],
}

impl<'t> ContextScan<'t> {
    pub(crate) fn new(text: &'t [u8]) -> ContextScan<'t> {
        ContextScan {
            text,
            ends: ValueEnds::default(),
            hits: Vec::new(),
            name_seen: None,
            options_seen: 0,
            table_seen: 0,
        }
    }

    /// Looks at the name around a word.
    pub(crate) fn name(&mut self, word: TriggerHit) {
        let name = name_around(self.text, word);
        if name.name.is_empty() || self.name_seen == Some(name.start) {
            return;
        }
        self.name_seen = Some(name.start);
        if header::is_header(name.name) && self.header(name) {
            return;
        }
        let Some(strength) = strength(name.name) else { return self.query_only(name) };
        if name.start >= self.table_seen {
            self.table_seen = table::find(self.text, name, &mut self.hits);
        }
        if !self.element(name, strength) {
            self.value_of(name, strength);
        }
    }

    /// Looks at the options of the command that a word names.
    pub(crate) fn command(&mut self, word: TriggerHit) {
        if word.start >= self.options_seen {
            self.options_seen = command::find(self.text, word.start, &mut self.hits);
        }
    }

    /// Looks at what follows `IDENTIFIED BY`, or `BY` behind `IDENTIFIED WITH`.
    pub(crate) fn identified(&mut self, word: TriggerHit) {
        let Some(at) = separator::identified(self.text, word) else { return };
        self.value(at, Separator::Assign, NameStrength::Password, HitRule::KeyValue);
    }

    /// Looks at what follows `bearer`.
    pub(crate) fn bearer(&mut self, word: TriggerHit) {
        let at = skip_blanks(self.text, word.end);
        let at = Quote::at(self.text, at).map_or(at, |quote| at + quote.len());
        if at == word.end || word.start > 0 && self.text[word.start - 1].is_ascii_alphanumeric() {
            return;
        }
        let end = self.ends.bare(self.text, at);
        if header::is_credential(&self.text[at..end]) {
            self.hits.push(SecretHit::new(HitRule::Bearer, at, end));
        }
    }

    fn header(&mut self, name: FoundName<'_>) -> bool {
        let Some((_, at)) = separator::sign(self.text, name) else { return false };
        let before = self.hits.len();
        header::find(self.text, name.name, at, &mut self.ends, &mut self.hits);
        self.hits.len() > before
    }

    /// Looks at the element of XML that a name names; tells whether that holds a secret.
    fn element(&mut self, name: FoundName<'_>, strength: NameStrength) -> bool {
        let Some((separator, value)) = element::content(self.text, name) else { return false };
        let is_secret = self.is_secret(value, separator, strength);
        if is_secret {
            self.hits.push(SecretHit::new(HitRule::KeyValue, value.start, value.end));
        }
        is_secret
    }

    fn value_of(&mut self, name: FoundName<'_>, strength: NameStrength) {
        let is_query = in_query(self.text, name);
        let found = separator::sign(self.text, name)
            .or_else(|| separator::blank(self.text, name, strength));
        let Some((separator, at)) = found else { return };
        if is_query && separator == Separator::Assign {
            self.query(at, strength);
            return;
        }
        let is_option = setter::is_option(self.text, name);
        let rule = if is_option { HitRule::Flag } else { HitRule::KeyValue };
        let at = place::below(self.text, name, separator, at).unwrap_or(at);
        match bare_phrase(self.text, name, separator, at) {
            Some((start, end)) if is_bare_phrase(&self.text[start..end], strength) => {
                self.hits.push(SecretHit::new(rule, start, end));
            }
            Some(_) | None => self.value(at, separator, strength, rule),
        }
    }

    /// Looks at a field of a query whose name says something there only.
    fn query_only(&mut self, name: FoundName<'_>) {
        let is_name =
            QUERY_NAMES.iter().any(|query| name.name.eq_ignore_ascii_case(query.as_bytes()));
        if !is_name || !in_query(self.text, name) || self.text.get(name.end) != Some(&b'=') {
            return;
        }
        self.query(name.end + 1, NameStrength::Vague);
    }

    fn query(&mut self, at: usize, strength: NameStrength) {
        let end = self.ends.query(self.text, at);
        if is_secret_value(&self.text[at..end], strength, Quoting::Quoted) {
            self.hits.push(SecretHit::new(HitRule::UrlQuery, at, end));
        }
    }

    fn value(&mut self, at: usize, separator: Separator, strength: NameStrength, rule: HitRule) {
        let at = place::behind_type(self.text, at, separator);
        let at = place::member(self.text, at).unwrap_or(at);
        let at = place::behind_call(self.text, at);
        let Some(mut value) = self.ends.value(self.text, at) else { return };
        if !value.is_quoted && is_reference(&self.text[value.start..value.end]) {
            let Some(other) = self.otherwise(value.end) else { return };
            value = other;
        }
        if !value.is_quoted {
            trim(self.text, &mut value, separator);
        }
        if self.is_secret(value, separator, strength) {
            let end =
                if value.is_quoted { value.end } else { cursor::word_end(self.text, value.end) };
            self.hits.push(SecretHit::new(rule, value.start, end));
        }
    }

    fn is_secret(&self, value: FoundValue, separator: Separator, strength: NameStrength) -> bool {
        let text = &self.text[value.start..value.end];
        let quoting = if value.is_quoted { Quoting::Quoted } else { Quoting::Bare };
        let is_value = match separator {
            Separator::QuotedOnly => value.is_quoted,
            Separator::Is => !value.is_quoted || !is_plain_word(text),
            Separator::Blank => !text.starts_with(b"-"),
            Separator::Loose => is_irregular(text),
            Separator::Assign | Separator::Colon => true,
        };
        is_value && is_secret_value(text, strength, quoting)
    }

    /// Returns the value in quotation marks that is taken when a reference names none.
    fn otherwise(&mut self, at: usize) -> Option<FoundValue> {
        let at = skip_blanks(self.text, at);
        let rest = &self.text[at..];
        let marks: [&[u8]; 4] = [b"||", b"??", b"or ", b"?:"];
        let mark = marks.iter().find(|mark| rest.starts_with(mark))?;
        let value = self.ends.value(self.text, at + mark.len())?;
        value.is_quoted.then_some(value)
    }
}

/// Returns the name that a word is part of.
fn name_around(text: &[u8], word: TriggerHit) -> FoundName<'_> {
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    let before = text[..word.start].iter().rev().take(NAME_BYTES_MAX);
    let mut start = word.start - before.take_while(|byte| is_name(byte)).count();
    let word_end = word.end - usize::from(!is_name(&text[word.end - 1]));
    let after = text[word_end..].iter().take(NAME_BYTES_MAX);
    let mut end = word_end + after.take_while(|byte| is_name(byte)).count();
    let is_edge = |byte: u8| matches!(byte, b'-' | b'.');
    while start < end && is_edge(text[start]) {
        start += 1;
    }
    while start < end && is_edge(text[end - 1]) {
        end -= 1;
    }
    steps::count(end - start);
    FoundName { start, end, name: &text[start..end] }
}

/// Tells whether a name is that of a field in the query of an address.
fn in_query(text: &[u8], name: FoundName<'_>) -> bool {
    let before = name.start.checked_sub(1).map(|at| text[at]);
    matches!(before, Some(b'?' | b'&'))
        || before == Some(b';') && name.start >= 5 && &text[name.start - 5..name.start] == b"&amp;"
}

/// Returns the rest of a line without quotation marks that a name begins, as YAML and files of
/// settings have it: `name: two words`, `name = two words`.
fn bare_phrase(
    text: &[u8],
    name: FoundName<'_>,
    separator: Separator,
    at: usize,
) -> Option<(usize, usize)> {
    let is_spaced = text.get(name.end) == Some(&b' ') || separator == Separator::Colon;
    let start = skip_blanks(text, at);
    if !is_spaced || start == at || !matches!(separator, Separator::Assign | Separator::Colon) {
        return None;
    }
    place::indent(text, name)?;
    let rest = &text[start..text.len().min(start + VALUE_BYTES_SEEN)];
    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let comment = rest[..end].windows(2).position(|part| part == b" #").unwrap_or(end);
    steps::count(end);
    Some((start, start + rest[..comment].trim_ascii_end().len()))
}

/// Takes marks of sentences off the end of a value without quotation marks.
fn trim(text: &[u8], value: &mut FoundValue, separator: Separator) {
    let is_mark = |byte: u8| {
        matches!(byte, b'.' | b',' | b':')
            || separator == Separator::Is && matches!(byte, b'!' | b'?')
    };
    while value.start < value.end && is_mark(text[value.end - 1]) {
        value.end -= 1;
    }
}

/// Tells whether a text that stands beside a name by itself is a secret, as a leaf of JSON does.
pub(crate) fn is_secret_leaf(name: &[u8], text: &[u8]) -> bool {
    match strength(name) {
        Some(NameStrength::Vague) => is_random(text) && is_irregular(text),
        Some(strength) => is_secret_value(text, strength, Quoting::Quoted),
        None => false,
    }
}
