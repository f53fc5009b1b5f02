//! From text to query.

use agentic_diag::{Diagnostic, SourceText, Span, nearest};
use agentic_model::Instant;

use super::{SearchFilters, SearchFindings, SearchQuery, SearchTerm};
use crate::document::DocumentPlace;
use crate::word::{each_term, is_word_character, term_of, words};

/// The longest query, in bytes.
const QUERY_BYTES_MAX: usize = 4 << 10;
/// How many parts a query may have.
const PARTS_MAX: usize = 64;
/// The names of filters.
const FILTERS: [&str; 7] = ["agent", "under", "kind", "in", "by", "after", "before"];

const TOO_LARGE: &str = "S01";
const OPEN_PHRASE: &str = "S02";
const UNKNOWN_FILTER: &str = "S03";
const BAD_VALUE: &str = "S04";
const NOTHING: &str = "S05";
const BAD_PREFIX: &str = "S06";

/// A part of a query as it stands there.
struct QueryPart<'t> {
    span: Span,
    is_unwanted: bool,
    filter: Option<(&'t str, Span)>,
    is_quoted: bool,
    text: &'t str,
    /// Where the text begins.
    at: usize,
}

struct SearchParser<'t> {
    text: &'t str,
    now: Instant,
    query: SearchQuery,
    findings: Vec<Diagnostic>,
}

impl SearchQuery {
    /// Reads a query; `now` is what instants such as `2d` are before.
    ///
    /// # Errors
    /// Fails with what is wrong, each finding with its place.
    pub fn parse(text: &str, now: Instant) -> Result<SearchQuery, Box<SearchFindings>> {
        let query =
            SearchQuery { wanted: vec![], unwanted: vec![], filters: SearchFilters::default() };
        let mut parser = SearchParser { text, now, query, findings: Vec::new() };
        parser.read();
        if parser.findings.is_empty() {
            return Ok(parser.query);
        }
        let shown = &text[..text.floor_char_boundary(QUERY_BYTES_MAX)];
        let source = SourceText::new("query", shown);
        Err(Box::new(SearchFindings { source, findings: parser.findings }))
    }
}

impl<'t> SearchParser<'t> {
    fn read(&mut self) {
        if self.text.len() > QUERY_BYTES_MAX {
            let said = format!("the query has more than {QUERY_BYTES_MAX} bytes");
            self.refuse(TOO_LARGE, Span::new(0, 1), &said, "ask for less at once");
            return;
        }
        let (mut at, mut n_parts) = (0, 0);
        while let Some(part) = self.next_part(&mut at) {
            n_parts += 1;
            if n_parts > PARTS_MAX {
                let said = format!("the query has more than {PARTS_MAX} parts");
                self.refuse(TOO_LARGE, part.span, &said, "ask for less at once");
                return;
            }
            match part.filter {
                Some((name, span)) => self.filter(&part, name, span),
                None => self.term(&part),
            }
        }
        if n_parts == 0 {
            let hint = "give words, a \"phrase\", or a filter such as `agent:NAME`";
            self.refuse(NOTHING, Span::new(0, self.text.len()), "nothing is asked", hint);
        }
    }

    /// Takes the next part apart: a sign, a filter, then a phrase or what reaches to the next blank.
    fn next_part(&mut self, at: &mut usize) -> Option<QueryPart<'t>> {
        let rest = &self.text[*at..];
        let start = *at + (rest.len() - rest.trim_start().len());
        if start == self.text.len() {
            return None;
        }
        let mut from = start;
        let is_unwanted = self.text[from..].starts_with('-')
            && self.text[from + 1..].starts_with(|c: char| !c.is_whitespace());
        from += usize::from(is_unwanted);
        let filter = filter_name(&self.text[from..]);
        let filter = filter.map(|name| (name, Span::new(from, from + name.len())));
        from += filter.map_or(0, |(name, _)| name.len() + 1);
        let is_quoted = self.text[from..].starts_with('"');
        from += usize::from(is_quoted);
        let rest = &self.text[from..];
        let length = match is_quoted {
            true => rest.find('"'),
            false => Some(rest.find(char::is_whitespace).unwrap_or(rest.len())),
        };
        let end = from + length.unwrap_or(rest.len());
        if length.is_none() {
            let hint = "end the phrase with \"";
            self.refuse(OPEN_PHRASE, Span::new(from - 1, from), "this phrase has no end", hint);
        }
        *at = (end + usize::from(is_quoted)).min(self.text.len());
        let text = &self.text[from..end];
        let span = Span::new(start, *at);
        Some(QueryPart { span, is_unwanted, filter, is_quoted, text, at: from })
    }

    fn term(&mut self, part: &QueryPart<'_>) {
        let is_prefix = !part.is_quoted && part.text.ends_with('*');
        let text = if is_prefix { part.text.trim_end_matches('*') } else { part.text };
        let term = match (is_prefix, term_for(text)) {
            (true, Some(_)) if text.ends_with(is_word_character) => prefix(text),
            (true, _) => {
                let hint = "write letters or digits before the `*`, such as `retr*`";
                let said = "nothing stands before the `*`";
                return self.refuse(BAD_PREFIX, part.span, said, hint);
            }
            (false, Some(term)) => term,
            (false, None) => {
                let hint = "only letters and digits are searched for";
                return self.refuse(NOTHING, part.span, "this has no word", hint);
            }
        };
        match part.is_unwanted {
            true => self.query.unwanted.push(term),
            false => self.query.wanted.push(term),
        }
    }

    fn filter(&mut self, part: &QueryPart<'_>, name: &str, span: Span) {
        let value = Span::new(part.at, part.at + part.text.len());
        if part.is_unwanted {
            let hint = "`-` stands before words and phrases alone";
            return self.refuse(BAD_VALUE, part.span, "a filter cannot be turned around", hint);
        }
        if part.text.is_empty() {
            let hint = format!("write what comes after it, such as {}", example(name));
            return self.refuse(BAD_VALUE, span, "this filter has no value", &hint);
        }
        let text = part.text.to_owned();
        let filters = &mut self.query.filters;
        match name {
            "agent" => filters.agents.push(text),
            "under" => filters.under.push(text),
            "kind" => filters.kinds.push(text),
            "by" => filters.by.push(text),
            "in" => match DocumentPlace::of_word(part.text) {
                Some(place) => filters.places.push(place),
                None => {
                    let words = DocumentPlace::ALL.map(DocumentPlace::word).join("`, `");
                    let said = format!("there is no place `{}`", part.text);
                    self.refuse(BAD_VALUE, value, &said, &format!("there are `{words}`"));
                }
            },
            "after" | "before" => match instant(part.text, self.now) {
                // The narrower one counts where several are given.
                Some(at) if name == "after" => filters.after = filters.after.max(Some(at)),
                Some(at) => {
                    filters.before = Some(filters.before.map_or(at, |before| before.min(at)));
                }
                None => {
                    let hint = "write a day (`2026-11-21`), an instant \
                                (`2026-11-21T22:40:01Z`), or how long ago (`90m`, `12h`, `2d`, `3w`)";
                    let said = format!("`{}` is no instant", part.text);
                    self.refuse(BAD_VALUE, value, &said, hint);
                }
            },
            _ => {
                let known = nearest(name, FILTERS.into_iter());
                let known = known.map(|known| format!("did you mean `{known}:`? "));
                let hint = "words with a colon are searched for in quotes";
                let hint = format!("{}{hint}", known.unwrap_or_default());
                self.refuse(UNKNOWN_FILTER, span, &format!("there is no filter `{name}`"), &hint);
            }
        }
    }

    fn refuse(&mut self, code: &'static str, span: Span, said: &str, hint: &str) {
        self.findings.push(Diagnostic::error(code, span, said).hint(hint));
    }
}

/// Finds the name of a filter at the beginning of a part: small letters and a colon, but no address
/// (`http://…`) and no path of a language (`std::fs`).
fn filter_name(text: &str) -> Option<&str> {
    let (name, rest) = text.split_once(':')?;
    let is_name = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    let has_value = rest.starts_with(|c: char| c.is_alphanumeric() || c == '"');
    (FILTERS.contains(&name) || (is_name && has_value)).then_some(name)
}

/// Makes the term of a word or phrase; nothing where it has no letter and no digit.
fn term_for(text: &str) -> Option<SearchTerm> {
    let found = words(text);
    let (first, last) = (found.first()?, found.last()?);
    let content = &text[first.start..last.end];
    if let ([only], false) = (found.as_slice(), first.is_blankless) {
        return Some(SearchTerm::Word(term_of(&text[only.start..only.end])));
    }
    if first.is_blankless && content.chars().count() == 1 {
        return Some(SearchTerm::Prefix(term_of(content)));
    }
    let mut needed = Vec::new();
    for word in &found {
        let word_text = &text[word.start..word.end];
        if !word.is_blankless {
            needed.push(term_of(word_text));
        } else if word_text.chars().count() > 1 {
            // Pairs alone: the last character by itself may go on in a text.
            each_term(word_text, &mut |term, _, _| {
                needed.extend((term.chars().count() > 1).then(|| term.to_owned()));
            });
        }
    }
    needed.sort();
    needed.dedup();
    Some(SearchTerm::Phrase { text: super::scope::folded(content), words: needed })
}

/// A prefix is compared with terms, among which identifiers stand as they are.
fn prefix(text: &str) -> SearchTerm {
    let start = text.find(is_word_character).unwrap_or(0);
    SearchTerm::Prefix(term_of(&text[start..]))
}

fn instant(text: &str, now: Instant) -> Option<Instant> {
    if let Some(instant) = Instant::parse(text) {
        return Some(instant);
    }
    if let Some(day) = Instant::parse(&format!("{text}T00:00:00Z")) {
        return Some(day);
    }
    let unit = text.chars().last()?;
    let millis: i64 = match unit {
        'm' => 60_000,
        'h' => 3_600_000,
        'd' => 86_400_000,
        'w' => 604_800_000,
        _ => return None,
    };
    let count: i64 = text[..text.len() - 1].parse().ok().filter(|count| *count >= 0)?;
    Some(now.plus_millis(count.checked_mul(millis)?.checked_neg()?))
}

fn example(filter: &str) -> &'static str {
    match filter {
        "kind" => "`kind:finding`",
        "in" => "`in:trace`",
        "by" => "`by:user:ada`",
        "after" | "before" => "`after:2d`",
        _ => "`agent:NAME`",
    }
}

#[cfg(test)]
mod tests;
