//! Places where secrets stand: beside names, in queries, headers and options.

use crate::command;
use crate::cursor::{FoundValue, Quote, ValueEnds, skip_blanks};
use crate::exempt::is_reference;
use crate::header;
use crate::hit::{HitRule, SecretHit};
use crate::name::{NAME_BYTES_MAX, NameStrength, strength};
use crate::phrase::is_bare_phrase;
use crate::steps;
use crate::trigger::TriggerHit;
use crate::value::{Quoting, VALUE_BYTES_SEEN, is_irregular, is_random, is_secret_value};
use crate::words::is_plain_word;

/// How much may stand between a name and the value that its type parts from it.
const TYPE_BYTES_MAX: usize = 48;
/// How long the name of a function around a value may be.
const CALL_BYTES_MAX: usize = 40;
/// How far a name is indented at most that begins a line.
const INDENT_BYTES_MAX: usize = 60;
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
}

/// What stands between a name and its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Separator {
    /// `=`, `:=`, `=>`, `<name>`.
    Assign,
    /// `:`.
    Colon,
    /// `==`, `(`, `,`, a blank in SQL: the value has quotation marks, or there is none.
    QuotedOnly,
    /// `is`.
    Is,
    /// The blank behind an option.
    Blank,
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
        match strength(name.name) {
            Some(strength) => self.value_of(name, strength),
            None => self.query_only(name),
        }
    }

    /// Looks at the options of the command that a word names.
    pub(crate) fn command(&mut self, word: TriggerHit) {
        if word.start >= self.options_seen {
            self.options_seen = command::find(self.text, word.start, &mut self.hits);
        }
    }

    /// Looks at what follows `bearer`.
    pub(crate) fn bearer(&mut self, word: TriggerHit) {
        let at = skip_blanks(self.text, word.end);
        if at == word.end || word.start > 0 && self.text[word.start - 1].is_ascii_alphanumeric() {
            return;
        }
        let end = self.ends.bare(self.text, at);
        if header::is_credential(&self.text[at..end]) {
            self.hits.push(SecretHit::new(HitRule::Bearer, at, end));
        }
    }

    fn header(&mut self, name: FoundName<'_>) -> bool {
        let Some((_, at)) = separator(self.text, name) else { return false };
        let before = self.hits.len();
        header::find(self.text, name.name, at, &mut self.ends, &mut self.hits);
        self.hits.len() > before
    }

    fn value_of(&mut self, name: FoundName<'_>, strength: NameStrength) {
        let is_query = in_query(self.text, name);
        let is_flag = name.start >= 2 && &self.text[name.start - 2..name.start] == b"--";
        let found = separator(self.text, name).or_else(|| {
            let at = skip_blanks(self.text, name.end);
            (is_flag && at > name.end).then_some((Separator::Blank, at))
        });
        let found = found.or_else(|| sql(self.text, name, strength));
        let Some((separator, at)) = found else { return };
        if is_query && separator == Separator::Assign {
            self.query(at, strength);
            return;
        }
        let rule = if is_flag { HitRule::Flag } else { HitRule::KeyValue };
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
        let at = behind_type(self.text, at, separator);
        let at = behind_call(self.text, at);
        let Some(mut value) = self.ends.value(self.text, at) else { return };
        if !value.is_quoted && is_reference(&self.text[value.start..value.end]) {
            let Some(other) = self.otherwise(value.end) else { return };
            value = other;
        }
        if !value.is_quoted {
            trim(self.text, &mut value, separator);
        }
        let text = &self.text[value.start..value.end];
        let quoting = if value.is_quoted { Quoting::Quoted } else { Quoting::Bare };
        let is_secret = match separator {
            Separator::QuotedOnly => value.is_quoted && is_secret_value(text, strength, quoting),
            Separator::Is => !value.is_quoted || !is_plain_word(text),
            Separator::Blank => !text.starts_with(b"-"),
            Separator::Assign | Separator::Colon => true,
        };
        if is_secret && is_secret_value(text, strength, quoting) {
            self.hits.push(SecretHit::new(rule, value.start, value.end));
        }
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
    let before = text[..name.start].iter().rev().take(INDENT_BYTES_MAX);
    let mark = before.take_while(|byte| matches!(byte, b' ' | b'\t' | b'-')).count();
    if name.start > mark && text[name.start - mark - 1] != b'\n' {
        return None;
    }
    let rest = &text[start..text.len().min(start + VALUE_BYTES_SEEN)];
    let end = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len());
    let comment = rest[..end].windows(2).position(|part| part == b" #").unwrap_or(end);
    steps::count(end);
    Some((start, start + rest[..comment].trim_ascii_end().len()))
}

/// Returns what parts a name from its value, and where that may begin.
fn separator(text: &[u8], name: FoundName<'_>) -> Option<(Separator, usize)> {
    let mut at = name.end;
    let quote = Quote::at(text, at);
    if let Some(quote) = quote {
        at += quote.len();
    }
    if text.get(at) == Some(&b']') {
        at += 1;
    }
    let tight = at;
    at = skip_blanks(text, at);
    let rest = &text[at..];
    let is_tag = name.start > 0 && text[name.start - 1] == b'<';
    let attribute = quote.is_some().then(|| value_attribute(text, at)).flatten();
    let table: [(&[u8], Separator); 11] = [
        (b"===", Separator::QuotedOnly),
        (b"==", Separator::QuotedOnly),
        (b"=>", Separator::Assign),
        (b":=", Separator::Assign),
        (b"?=", Separator::Assign),
        (b"||=", Separator::Assign),
        (b"??=", Separator::Assign),
        (b"=", Separator::Assign),
        (b"is ", Separator::Is),
        (b"was ", Separator::Is),
        (b"ist ", Separator::Is),
    ];
    if let Some((mark, separator)) = table.iter().find(|(mark, _)| rest.starts_with(mark)) {
        return Some((*separator, at + mark.len()));
    }
    match rest.first() {
        Some(b':') if rest.get(1) != Some(&b':') => Some((Separator::Colon, at + 1)),
        Some(b'>') if is_tag && at == tight => Some((Separator::Assign, at + 1)),
        Some(b'(') if quote.is_none() && at == tight => Some((Separator::QuotedOnly, at + 1)),
        Some(b',') if quote.is_some() => {
            attribute.or_else(|| Some((Separator::QuotedOnly, at + 1)))
        }
        Some(_) | None => attribute.or_else(|| next_line_value(text, at)),
    }
}

/// Returns where the value begins in `name="N" value="V"`.
fn value_attribute(text: &[u8], at: usize) -> Option<(Separator, usize)> {
    let at = if text.get(at) == Some(&b',') { skip_blanks(text, at + 1) } else { at };
    let at = Quote::at(text, at).map_or(at, |quote| at + quote.len());
    let behind = text[at..].strip_prefix(b"value")?;
    let at = text.len() - behind.len();
    let at = Quote::at(text, at).map_or(at, |quote| at + quote.len());
    let at = skip_blanks(text, at);
    matches!(text.get(at), Some(b'=' | b':')).then_some((Separator::Assign, at + 1))
}

/// Returns where the value begins in a line `value: V` below the name, as lists of variables have
/// it.
fn next_line_value(text: &[u8], at: usize) -> Option<(Separator, usize)> {
    let rest = text.get(at..)?;
    let behind = rest.strip_prefix(b"\r").unwrap_or(rest).strip_prefix(b"\n")?;
    let at = skip_blanks(text, text.len() - behind.len());
    let behind = text[at..].strip_prefix(b"value:")?;
    Some((Separator::Colon, text.len() - behind.len()))
}

/// Returns where the password begins in `PASSWORD 'V'` and `IDENTIFIED BY 'V'`.
fn sql(text: &[u8], name: FoundName<'_>, strength: NameStrength) -> Option<(Separator, usize)> {
    let at = skip_blanks(text, name.end);
    let is_password = strength == NameStrength::Password && at > name.end;
    (is_password && text.get(at) == Some(&b'\'')).then_some((Separator::QuotedOnly, at))
}

/// Returns where the value begins in `name: Type = value`; elsewhere where it began before.
fn behind_type(text: &[u8], at: usize, separator: Separator) -> usize {
    let start = skip_blanks(text, at);
    if separator != Separator::Colon {
        return start;
    }
    let rest = &text[start..text.len().min(start + TYPE_BYTES_MAX)];
    let is_type = |byte: &u8| byte.is_ascii_alphanumeric() || b"_&<>[]:.?| ".contains(byte);
    let len = rest.iter().take_while(|byte| is_type(byte)).count();
    let is_spaced = len > 0 && rest[len - 1] == b' ' && rest[0] != b'[';
    let is_assigned = rest.get(len) == Some(&b'=') && rest.get(len + 1) != Some(&b'=');
    if is_spaced && is_assigned {
        return skip_blanks(text, start + len + 1);
    }
    block_scalar(text, start)
}

/// Returns where the text begins that `|` or `>` puts on the next line; elsewhere `start`.
fn block_scalar(text: &[u8], start: usize) -> usize {
    let rest = &text[start..];
    let marks =
        rest.iter().take(2).take_while(|byte| matches!(byte, b'|' | b'>' | b'-' | b'+')).count();
    if marks > 0 && matches!(rest[0], b'|' | b'>') && rest.get(marks) == Some(&b'\n') {
        return skip_blanks(text, start + marks + 1);
    }
    start
}

/// Returns where the value in quotation marks begins that a call is given: `Some("V")`.
fn behind_call(text: &[u8], at: usize) -> usize {
    let start = skip_blanks(text, at);
    let rest = &text[start..];
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.:! ".contains(byte);
    let len = rest.iter().take(CALL_BYTES_MAX).take_while(|byte| is_name(byte)).count();
    let is_call = rest.first().is_some_and(u8::is_ascii_alphabetic)
        && rest.get(len) == Some(&b'(')
        && Quote::at(text, start + len + 1).is_some();
    let prefix = rest.first().is_some_and(|byte| b"brufBRUF@$".contains(byte))
        && Quote::at(text, start + 1).is_some_and(|quote| quote.len() == 1);
    if is_call {
        start + len + 1
    } else if prefix {
        start + 1
    } else {
        start
    }
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
