//! Values that the user's own files and environment hold, in every form in which they may stand.
//!
//! They are found by their first eight bytes, so that a text without them costs one look-up a byte.

mod form;
mod percent;
mod source;

use std::ops::Range;

pub use self::source::{KnownFile, KnownFormat, is_secret_variable};
use crate::exempt::is_placeholder;
use crate::hit::{HitRule, SecretHit, united};
use crate::steps;

/// How many values are held at most.
pub const KNOWN_VALUES_MAX: usize = 200;
/// The shortest value that is held.
pub const KNOWN_VALUE_BYTES_MIN: usize = 8;
/// The longest value that is held whole; of a longer one its beginning.
pub const KNOWN_VALUE_BYTES_MAX: usize = 4096;
/// The longest value that can be looked for, in bytes: 64 KiB.
pub const SOUGHT_BYTES_MAX: usize = 64 << 10;
/// How many bytes find a form.
const PREFIX_BYTES: usize = 8;
/// Bits of the filter before the table.
const FILTER_BITS: usize = 1 << 16;

/// Values that are secrets wherever they stand.
#[derive(Clone, Default)]
pub struct KnownValues {
    values: Vec<Vec<u8>>,
    forms: Vec<KnownForm>,
    /// The first bytes of each form, and which form it is, in order.
    table: Vec<(u64, usize)>,
    /// Which first bytes there may be.
    filter: Vec<u64>,
}

/// A form of a value.
#[derive(Clone)]
struct KnownForm {
    value: usize,
    bytes: Vec<u8>,
    /// Whether characters beside it hold bits of the value, too: base64 that begins or ends within
    /// a character.
    edges: FormEdges,
    /// Where it is looked for.
    encoding: FormEncoding,
}

/// Where a form is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormEncoding {
    /// In texts as they are.
    Plain,
    /// In what addresses encode, once it is decoded.
    Percent,
}

/// How many characters beside a form hold bits of its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FormEdges {
    pub(crate) before: usize,
    pub(crate) after: usize,
}

impl std::fmt::Debug for KnownValues {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "KnownValues({} values)", self.values.len())
    }
}

impl KnownValues {
    /// Takes those values that can be secrets: eight bytes or more, and no word, path, number or
    /// address without a password. Two hundred are held.
    pub fn new<T: AsRef<str>>(values: impl IntoIterator<Item = T>) -> KnownValues {
        let mut known = KnownValues::default();
        for value in values {
            let value = value.as_ref().trim();
            if known.values.len() < KNOWN_VALUES_MAX && source::can_be_secret(value) {
                known.add(value);
            }
        }
        known.index();
        known
    }

    /// Takes one value that somebody looks for, whatever it is made of, whole. Nothing if it is shorter
    /// than [`KNOWN_VALUE_BYTES_MIN`] or longer than [`SOUGHT_BYTES_MAX`]: a short one stands everywhere.
    pub fn sought(value: &[u8]) -> Option<KnownValues> {
        if !(KNOWN_VALUE_BYTES_MIN..=SOUGHT_BYTES_MAX).contains(&value.len()) {
            return None;
        }
        let mut known = KnownValues::default();
        known.add_whole(value);
        known.index();
        Some(known)
    }

    /// Returns where values stand in any bytes, in whichever form, in order.
    pub fn places(&self, bytes: &[u8]) -> Vec<Range<usize>> {
        self.find(bytes).into_iter().map(|hit| hit.start..hit.end).collect()
    }

    /// Returns how many bytes the longest form has: what is read part by part must overlap by so many.
    pub fn longest_form(&self) -> usize {
        let plain = self.forms.iter().map(|form| form.bytes.len()).max();
        plain.unwrap_or(0).max(percent::ESCAPE_BYTES * self.longest_value())
    }

    fn longest_value(&self) -> usize {
        self.values.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns how many there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns a value by the number that a hit names.
    pub(crate) fn value(&self, at: usize) -> &[u8] {
        &self.values[at]
    }

    /// Returns where values stand in a text.
    pub(crate) fn find(&self, text: &[u8]) -> Vec<SecretHit> {
        if self.table.is_empty() {
            return Vec::new();
        }
        let mut hits = self.find_forms(text, FormEncoding::Plain);
        let n_plain = hits.len();
        for part in percent::parts(text, self.longest_value()) {
            let found = self.find_forms(&part.bytes, FormEncoding::Percent);
            hits.extend(found.into_iter().map(|hit| {
                let (start, end) = (part.place(hit.start), part.place(hit.end));
                SecretHit { start, end, secret: (start, end), ..hit }
            }));
        }
        if hits.len() == n_plain { hits } else { united(hits) }
    }

    /// Returns where the forms of one encoding stand.
    fn find_forms(&self, text: &[u8], encoding: FormEncoding) -> Vec<SecretHit> {
        let mut hits = Vec::new();
        let mut at = 0;
        steps::count(text.len());
        while let Some(bytes) = text[at..].first_chunk() {
            let prefix = u64::from_le_bytes(*bytes);
            let slot = slot(prefix);
            if self.filter[slot / 64] >> (slot % 64) & 1 == 1
                && let Some(form) = self.longest(&text[at..], prefix, encoding)
            {
                let hit = form.hit(text, at);
                at = hit.end.max(at + 1);
                hits.push(hit);
                continue;
            }
            at += 1;
        }
        hits
    }

    fn add(&mut self, value: &str) {
        let bytes = value.as_bytes();
        let bytes = &bytes[..bytes.len().min(KNOWN_VALUE_BYTES_MAX)];
        if self.values.iter().any(|known| known == bytes) || is_placeholder(bytes) {
            return;
        }
        self.add_whole(bytes);
    }

    fn add_whole(&mut self, bytes: &[u8]) {
        let number = self.values.len();
        self.values.push(bytes.to_vec());
        for (bytes, edges) in form::forms(bytes) {
            if bytes.len() >= PREFIX_BYTES {
                let encoding = FormEncoding::Plain;
                self.forms.push(KnownForm { value: number, bytes, edges, encoding });
            }
        }
        let (edges, encoding) = (FormEdges::default(), FormEncoding::Percent);
        let bytes = percent::folded(bytes);
        self.forms.push(KnownForm { value: number, bytes, edges, encoding });
    }

    fn index(&mut self) {
        self.filter = vec![0; FILTER_BITS / 64];
        self.table =
            self.forms.iter().enumerate().map(|(at, form)| (prefix(&form.bytes), at)).collect();
        self.table.sort_unstable();
        for (prefix, _) in &self.table {
            let slot = slot(*prefix);
            self.filter[slot / 64] |= 1 << (slot % 64);
        }
    }

    /// Returns the longest form with which a text begins.
    fn longest(&self, text: &[u8], prefix: u64, encoding: FormEncoding) -> Option<&KnownForm> {
        let first = self.table.partition_point(|(entry, _)| *entry < prefix);
        let same = self.table[first..].iter().take_while(|(entry, _)| *entry == prefix);
        let found = same.map(|(_, form)| &self.forms[*form]);
        let found = found.filter(|form| form.encoding == encoding && text.starts_with(&form.bytes));
        let found = found.inspect(|form| steps::count(form.bytes.len()));
        found.max_by_key(|form| form.bytes.len())
    }
}

impl KnownForm {
    /// Returns the hit of the form that stands at a place.
    fn hit(&self, text: &[u8], at: usize) -> SecretHit {
        let end = at + self.bytes.len();
        let is_base64 = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/-_=".contains(byte);
        let before =
            text[..at].iter().rev().take(self.edges.before).take_while(|byte| is_base64(byte));
        let after = text[end..].iter().take(self.edges.after).take_while(|byte| is_base64(byte));
        SecretHit::new(HitRule::Known(self.value), at - before.count(), end + after.count())
    }
}

/// Returns the first bytes of a form as a number.
fn prefix(bytes: &[u8]) -> u64 {
    let first = bytes.first_chunk().expect("BUG: a form has a prefix");
    u64::from_le_bytes(*first)
}

/// Returns the place of first bytes in the filter.
fn slot(prefix: u64) -> usize {
    (prefix.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 48) as usize
}

#[cfg(test)]
mod tests;
