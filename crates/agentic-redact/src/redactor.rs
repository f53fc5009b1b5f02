//! Puts the layers together, and marks in the place of what they find.
//!
//! A text is scanned again until nothing is found any more, since a mark may show what stood beside
//! a secret in another light: so redacting twice is redacting once.

use std::borrow::Cow;

use regex::Regex;

use crate::context::{ContextScan, is_secret_leaf};
use crate::finding::{RuleId, SecretFinding};
use crate::hit::{HitRule, SecretHit, united, without_markers};
use crate::known::KnownValues;
use crate::private_key::{self, KeyBlock};
use crate::provider::{self, RuleWord};
use crate::rules::RedactRules;
use crate::tag::{MARKER_START, TagKey, marker, markers};
use crate::trigger::{Trigger, TriggerHit, each_built_in};
use crate::view::{TextView, around, views};
use crate::{entropy, exempt, header, pipe, url};

/// How often a text is scanned at most.
const PASSES_MAX: usize = 8;
/// The longest text that is scanned again as a whole; of a longer one what stands around the marks is.
const AGAIN_WHOLE_BYTES_MAX: usize = 1 << 20;
/// How much stands around a mark: more than a mark can show in another light.
const AGAIN_AROUND_BYTES: usize = 32 << 10;
/// How many expressions of a user may allow values.
pub const ALLOWANCES_MAX: usize = 100;

/// Takes secrets out of texts.
#[derive(Debug)]
pub struct SecretRedactor {
    rules: RedactRules,
    known: KnownValues,
    allowances: RedactAllowances,
    key: TagKey,
}

/// What a user says is no secret: expressions on values.
#[derive(Debug, Clone, Default)]
pub struct RedactAllowances(Vec<Regex>);

/// An allowance that is no expression.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AllowanceFault {
    /// It does not compile.
    #[error("`{text}` is no expression")]
    Expression {
        /// What was given.
        text: String,
    },
    /// There are too many.
    #[error("more than {ALLOWANCES_MAX} allowances")]
    TooMany,
}

/// A text without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedText<'t> {
    /// The text; as it was given where nothing was found.
    pub text: Cow<'t, str>,
    /// What stood where, in order, in bytes of the text as it was given.
    pub findings: Vec<SecretFinding>,
}

impl RedactAllowances {
    /// Takes expressions, each on the whole value of a secret or a part of it. One that an empty text
    /// matches, as an empty expression or `.*`, says nothing of any value, and allows none.
    ///
    /// # Errors
    /// Fails on what is no expression, and on too many.
    pub fn new<T: AsRef<str>>(
        texts: impl IntoIterator<Item = T>,
    ) -> Result<RedactAllowances, AllowanceFault> {
        let mut allowances = Vec::new();
        for text in texts {
            let text = text.as_ref();
            let expression = Regex::new(text)
                .map_err(|_| AllowanceFault::Expression { text: text.to_owned() })?;
            if !expression.is_match("") {
                allowances.push(expression);
            }
            if allowances.len() > ALLOWANCES_MAX {
                return Err(AllowanceFault::TooMany);
            }
        }
        Ok(RedactAllowances(allowances))
    }

    fn allow(&self, value: &[u8]) -> bool {
        !self.0.is_empty() && {
            let value = String::from_utf8_lossy(value);
            self.0.iter().any(|expression| expression.is_match(&value))
        }
    }
}

impl SecretRedactor {
    /// Puts rules, known values, allowances and the key of the tags together.
    pub fn new(
        rules: RedactRules,
        known: KnownValues,
        allowances: RedactAllowances,
        key: TagKey,
    ) -> SecretRedactor {
        SecretRedactor { rules, known, allowances, key }
    }

    /// Redacts a text that stands by itself.
    pub fn redact_text<'t>(&self, text: &'t str) -> RedactedText<'t> {
        self.redact(None, text)
    }

    /// Redacts a text that stands beside a name: a leaf of JSON and its key.
    pub fn redact_beside<'t>(&self, key: &str, text: &'t str) -> RedactedText<'t> {
        if is_id_leaf(key, text) {
            return RedactedText { text: Cow::Borrowed(text), findings: Vec::new() };
        }
        self.redact(Some(key), text)
    }

    /// Returns what stands where in a text, never the values.
    pub fn findings(&self, text: &str) -> Vec<SecretFinding> {
        self.redact_text(text).findings
    }

    fn redact<'t>(&self, key: Option<&str>, text: &'t str) -> RedactedText<'t> {
        let mut hits = self.scan(key, text);
        if hits.is_empty() {
            return RedactedText { text: Cow::Borrowed(text), findings: Vec::new() };
        }
        let mut edited = self.edited(text, &hits);
        for _ in 1..PASSES_MAX {
            let more = self.scan_again(key, &edited);
            if more.is_empty() {
                break;
            }
            hits.extend(more.into_iter().map(|hit| edited.before(hit)));
            hits.sort_by_key(|hit| hit.start);
            edited = self.edited(text, &hits);
        }
        let findings = hits.iter().map(|hit| self.finding(hit)).collect();
        RedactedText { text: Cow::Owned(edited.text), findings }
    }

    /// Returns what marks show that stood beside what they replace.
    fn scan_again(&self, key: Option<&str>, edited: &EditedText) -> Vec<SecretHit> {
        let text = edited.text.as_str();
        if key.is_some() || text.len() <= AGAIN_WHOLE_BYTES_MAX {
            return self.scan(key, text);
        }
        let marks: Vec<(usize, usize)> = edited.marks.iter().map(|(end, _)| (*end, *end)).collect();
        let parts = around(text.as_bytes(), &marks, AGAIN_AROUND_BYTES);
        let found = parts.into_iter().flat_map(|part| {
            let start = (0..=part.start).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            let end = (part.end..text.len()).find(|at| text.is_char_boundary(*at));
            let end = end.unwrap_or(text.len());
            let cuts = move |hit: &SecretHit| {
                hit.start == 0 && start > 0 || start + hit.end == end && end < text.len()
            };
            self.scan(None, &text[start..end]).into_iter().filter(move |hit| !cuts(hit)).map(
                move |hit| SecretHit {
                    start: start + hit.start,
                    end: start + hit.end,
                    secret: (start + hit.secret.0, start + hit.secret.1),
                    ..hit
                },
            )
        });
        found.collect()
    }

    /// Returns what is found in a text once, apart and in order.
    fn scan(&self, key: Option<&str>, text: &str) -> Vec<SecretHit> {
        let bytes = text.as_bytes();
        let mut hits = Vec::new();
        for view in views(bytes) {
            let found = self.scan_view(key.filter(|_| view.is_whole()), &view.text);
            let found = found.into_iter().filter(|hit| !view.cuts(hit.start, hit.end));
            hits.extend(found.filter_map(|hit| self.counted(text, &view, hit)));
        }
        if hits.is_empty() {
            return hits;
        }
        let poses = |marker: (usize, usize)| !self.is_own(&text[marker.0..marker.1]);
        united(without_markers(united(hits), &markers(bytes), poses))
    }

    /// Returns a hit as a place of the text itself, if nothing allows its value.
    fn counted(&self, text: &str, view: &TextView<'_>, hit: SecretHit) -> Option<SecretHit> {
        let value = &view.text[hit.start..hit.end];
        if self.allowances.allow(value) {
            return None;
        }
        let (mut start, mut end) = view.in_text(hit.start, hit.end);
        while !text.is_char_boundary(start) {
            start -= 1;
        }
        while !text.is_char_boundary(end) {
            end += 1;
        }
        Some(SecretHit { start, end, secret: (start, end), ..hit })
    }

    fn scan_view(&self, key: Option<&str>, text: &[u8]) -> Vec<SecretHit> {
        let mut look = LayerLook {
            text,
            hits: self.known.find(text),
            context: ContextScan::new(text),
            words: Vec::new(),
            public: Vec::new(),
            line_end: 0,
        };
        each_built_in(text, |word| look.take(word));
        if let Some(words) = &self.rules.words {
            words.each(text, |word| look.take(word));
        }
        let LayerLook { mut hits, context, words, public, .. } = look;
        hits.extend(context.hits);
        hits.extend(provider::find(&self.rules, text, words));
        // What is random beside a secret of another sort is what that stands in.
        let found = united(hits.clone());
        hits.extend(entropy::find(text).into_iter().filter(|hit| {
            let next = public.partition_point(|(start, _)| *start <= hit.start);
            let is_public = next.checked_sub(1).is_some_and(|at| public[at].1 >= hit.end);
            let after = found.partition_point(|found| found.end <= hit.start);
            let is_found = found.get(after).is_some_and(|found| found.start < hit.end);
            !is_public && !is_found
        }));
        if let Some(key) = key {
            leaf(key.as_bytes(), text, &mut hits);
        }
        hits
    }

    fn edited(&self, text: &str, hits: &[SecretHit]) -> EditedText {
        let mut edited = EditedText { text: String::with_capacity(text.len()), marks: Vec::new() };
        let mut at = 0;
        for hit in hits {
            edited.text.push_str(&text[at..hit.start]);
            let secret = if let HitRule::Known(value) = hit.rule {
                self.known.value(value)
            } else {
                &text.as_bytes()[hit.secret.0..hit.secret.1]
            };
            edited.text.push_str(&marker(self.id(hit.rule), &self.key.tag(secret)));
            edited.marks.push((edited.text.len(), hit.end));
            at = hit.end;
        }
        edited.text.push_str(&text[at..]);
        edited
    }

    fn id(&self, rule: HitRule) -> &str {
        if let HitRule::Provider(rule) = rule {
            return self.rules.rules[rule].id();
        }
        rule.fixed_id().unwrap_or_default()
    }

    /// Tells whether a marker is of a rule that is known here.
    fn is_own(&self, marker: &str) -> bool {
        let rule = marker.strip_prefix(MARKER_START).and_then(|rest| rest.split_once(':'));
        rule.is_some_and(|(rule, _)| self.has_rule(rule))
    }

    /// Tells whether there is a rule of this name.
    pub fn has_rule(&self, name: &str) -> bool {
        HitRule::FIXED_IDS.contains(&name) || self.rules.ids().any(|id| id == name)
    }

    fn finding(&self, hit: &SecretHit) -> SecretFinding {
        let rule = RuleId(self.id(hit.rule).into());
        SecretFinding { rule, layer: hit.rule.layer(), start: hit.start, end: hit.end }
    }
}

/// One look at a text, for all layers that words lead to.
struct LayerLook<'t> {
    text: &'t [u8],
    hits: Vec<SecretHit>,
    context: ContextScan<'t>,
    words: Vec<RuleWord>,
    /// Blocks that are public, in order.
    public: Vec<(usize, usize)>,
    /// Where the line ends behind which lines of PuTTY were looked for last.
    line_end: usize,
}

impl LayerLook<'_> {
    fn take(&mut self, word: TriggerHit) {
        let (text, start, end) = (self.text, word.start, word.end);
        match word.trigger {
            Trigger::Rule(rule) => self.words.push(RuleWord { rule, start, end }),
            Trigger::Name => self.context.name(word),
            Trigger::Scheme => self.context.hits.extend(url::password(text, start, end)),
            Trigger::Bearer => self.context.bearer(word),
            Trigger::Command => self.context.command(word),
            Trigger::Pipe => self.hits.extend(pipe::secret(text, word)),
            Trigger::Sql => self.context.identified(word),
            Trigger::Block => match private_key::block(text, start) {
                Some(KeyBlock::Private(start, end)) => {
                    self.hits.push(SecretHit::new(HitRule::PrivateKey, start, end));
                }
                Some(KeyBlock::Public(start, end)) => self.public.push((start, end)),
                None => {}
            },
            // Of words on one line the first counts for all.
            Trigger::PuttyLines if end >= self.line_end => {
                self.line_end = private_key::line_end(text, end);
                self.hits.extend(private_key::putty_lines(text, self.line_end));
            }
            Trigger::PuttyLines => {}
        }
    }
}

/// A text with marks in the place of secrets.
struct EditedText {
    text: String,
    /// Where each mark ends, here and in the text before.
    marks: Vec<(usize, usize)>,
}

impl EditedText {
    /// Returns a hit in the edited text as a place of the text before; it is in no mark.
    fn before(&self, hit: SecretHit) -> SecretHit {
        let place = |at: usize| {
            let next = self.marks.partition_point(|(end, _)| *end <= at);
            next.checked_sub(1).map_or(at, |mark| self.marks[mark].1 + at - self.marks[mark].0)
        };
        let start = place(hit.start);
        let end = start + (hit.end - hit.start);
        SecretHit { start, end, secret: (start, end), ..hit }
    }
}

/// Looks at a text that stands beside a name by itself.
fn leaf(key: &[u8], text: &[u8], hits: &mut Vec<SecretHit>) {
    if text.is_empty() {
        return;
    }
    header::find_leaf(text, key, hits);
    if hits.is_empty() && is_secret_leaf(key, text) {
        hits.push(SecretHit::new(HitRule::KeyValue, 0, text.len()));
    }
}

/// Tells whether a leaf is an id that a vendor gave, and looks like one.
fn is_id_leaf(key: &str, text: &str) -> bool {
    let is_key = key.ends_with("id") || key.ends_with("Id") || key.ends_with("ID");
    let key_is_id = is_key || matches!(key, "parentUuid" | "leafUuid" | "logicalParentUuid");
    let bytes = text.as_bytes();
    key_is_id && (exempt::is_uuid(bytes) || exempt::is_vendor_id(bytes))
}

#[cfg(test)]
mod tests;
