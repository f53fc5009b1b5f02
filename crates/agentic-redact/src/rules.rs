//! Rules as data, in the format of gitleaks: an expression, and the words without which it cannot
//! match.
//!
//! The words decide which expressions are compiled at all, each when it is first asked. A rule
//! without words is refused: it would be asked of every text.

mod compiled;
mod file;

pub(crate) use self::compiled::CompiledRule;
pub use self::file::{RedactAllowlist, RedactRule, RedactTable, RuleFileFault};
use crate::tag::{RULE_ID_MAX, is_rule_byte};
use crate::trigger::{AddedWords, WORD_BYTES_MIN};

/// How many rules there may be besides the built-in ones.
pub const RULES_ADDED_MAX: usize = 1000;
/// How many words a rule may have.
const KEYWORDS_MAX: usize = 50;
/// The shortest word of a rule that counts.
const KEYWORD_BYTES_MIN: usize = WORD_BYTES_MIN;

/// Rules that look for secrets of providers.
#[derive(Debug)]
pub struct RedactRules {
    pub(crate) rules: Vec<CompiledRule>,
    /// The words of those that were added.
    pub(crate) words: Option<AddedWords>,
}

/// A rule as `rules.toml` has it.
#[derive(Debug)]
struct BuiltInRule {
    id: &'static str,
    regex: &'static str,
    secret_group: usize,
    entropy: f64,
    allowed: &'static [&'static str],
    stopwords: &'static [&'static str],
}

/// What `rules.toml` says.
const BUILT_IN: &[BuiltInRule] = include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// A rule that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RuleFault {
    /// Its name has characters that a marker cannot have.
    #[error("rule `{id}`: a name has lower-case letters, digits and `-`, 64 at most")]
    Id {
        /// The name that was given.
        id: String,
    },
    /// It has no words, so its expression would be asked of every text.
    #[error("rule `{id}` has no keywords of three characters or more, or more than {KEYWORDS_MAX}")]
    NoKeywords {
        /// The rule's name.
        id: String,
    },
    /// An expression is none.
    #[error("rule `{id}`: the expression does not compile: {reason}")]
    Expression {
        /// The rule's name.
        id: String,
        /// What the compiler of expressions says.
        reason: String,
    },
    /// Its secret is a group that its expression does not have.
    #[error("rule `{id}`: the expression has no group {group}")]
    Group {
        /// The rule's name.
        id: String,
        /// The group that was given.
        group: usize,
    },
    /// There are too many of them.
    #[error("more than {RULES_ADDED_MAX} rules")]
    TooMany,
}

impl RedactRules {
    /// Returns the built-in rules.
    pub fn built_in() -> RedactRules {
        RedactRules { rules: BUILT_IN.iter().map(CompiledRule::built_in).collect(), words: None }
    }

    /// Returns the built-in rules and others. Others can only find more: what is found without them
    /// stays found.
    ///
    /// # Errors
    /// Fails when a rule has no words, a name that a marker cannot have, or an expression that does
    /// not compile.
    pub fn with(added: impl IntoIterator<Item = RedactRule>) -> Result<RedactRules, RuleFault> {
        let mut all = RedactRules::built_in();
        let mut words = Vec::new();
        for rule in added {
            let number = all.rules.len();
            if number >= BUILT_IN.len() + RULES_ADDED_MAX {
                return Err(RuleFault::TooMany);
            }
            let rule = check(rule)?;
            words.extend(rule.keywords.iter().map(|word| (word.clone(), number)));
            all.rules.push(CompiledRule::checked(rule)?);
        }
        if !words.is_empty() {
            let words = words.iter().map(|(word, number)| (word.as_str(), *number));
            all.words = Some(AddedWords::new(words));
        }
        Ok(all)
    }

    /// Returns the names of all rules, in order; a name may come twice.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().map(|rule| rule.id())
    }
}

/// Refuses names and words that no rule may have.
fn check(mut rule: RedactRule) -> Result<RedactRule, RuleFault> {
    let is_id = !rule.id.is_empty() && rule.id.len() <= RULE_ID_MAX;
    if !is_id || !rule.id.bytes().all(is_rule_byte) {
        return Err(RuleFault::Id { id: rule.id });
    }
    rule.keywords.retain(|word| word.len() >= KEYWORD_BYTES_MIN);
    if rule.keywords.is_empty() || rule.keywords.len() > KEYWORDS_MAX {
        return Err(RuleFault::NoKeywords { id: rule.id });
    }
    Ok(rule)
}

#[cfg(test)]
mod tests;
