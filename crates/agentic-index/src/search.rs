//! What is asked of texts: words, phrases and filters.
//!
//! All words must occur; filters of one name are alternatives, those of different names hold together.
//!
//! | part | finds texts |
//! | --- | --- |
//! | `word` | with the word, or an identifier or hump of camel case that is it |
//! | `"a phrase"` | with these characters at the edges of words; blanks are alike |
//! | `-word` | without it |
//! | `begin*` | with a word that begins so |
//! | `agent:` `under:` | of an agent; of an agent and all that came from it |
//! | `kind:` | of a kind of commits, entries or requests, or of one that specialises it |
//! | `in:` | in traces, commits, briefings, decisions or sessions |
//! | `by:` | that somebody said or decided |
//! | `after:` `before:` | from an instant on, or until just before it |

mod parse;
mod scope;

use agentic_diag::{Diagnostic, DiagnosticStyle, SourceText};
use agentic_model::Instant;

pub use self::scope::{SearchScope, find_phrase, folded};
use crate::document::DocumentPlace;

/// A part of a query that a text has to have, or must not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SearchTerm {
    /// A term of the text is this one.
    Word(String),
    /// A term of the text begins so.
    Prefix(String),
    /// The text has these characters at the edges of words.
    Phrase {
        /// The characters, in lower case, with single blanks.
        text: String,
        /// Terms that a text with the phrase has.
        words: Vec<String>,
    },
}

/// What a query asks of the places that texts stand in. Nothing at all admits everything.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SearchFilters {
    /// Of one of these agents.
    pub agents: Vec<String>,
    /// Of one of these agents, or of one that came from it.
    pub under: Vec<String>,
    /// Of one of these kinds.
    pub kinds: Vec<String>,
    /// In one of these places.
    pub places: Vec<DocumentPlace>,
    /// Said by one of these.
    pub by: Vec<String>,
    /// From then on.
    pub after: Option<Instant>,
    /// Before then.
    pub before: Option<Instant>,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchQuery {
    /// What texts have to have.
    pub wanted: Vec<SearchTerm>,
    /// What they must not have.
    pub unwanted: Vec<SearchTerm>,
    /// Where they have to stand.
    pub filters: SearchFilters,
}

/// What is wrong with a query.
#[derive(Debug, Clone)]
pub struct SearchFindings {
    /// The query.
    pub source: SourceText,
    /// What is wrong, in order of place.
    pub findings: Vec<Diagnostic>,
}

impl SearchFindings {
    /// Shows each finding under its place, without colours.
    pub fn render_plain(&self) -> String {
        self.render(DiagnosticStyle::Plain)
    }

    /// Shows each finding under its place.
    pub fn render(&self, style: DiagnosticStyle) -> String {
        let shown = self.findings.iter().map(|finding| finding.render(&self.source, style));
        shown.collect::<Vec<_>>().join("\n")
    }
}

impl SearchTerm {
    /// Says whether only the text itself tells if it has this.
    pub fn needs_text(&self) -> bool {
        matches!(self, SearchTerm::Phrase { .. })
    }
}
