//! Rules whose expressions are compiled when they are first asked.

use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::{BuiltInRule, RedactRule, RuleFault};
use crate::exempt::{contains_ignoring_case, is_placeholder};
use crate::measure::entropy_bits;

/// How many bytes a compiled expression may take.
const COMPILED_BYTES_MAX: usize = 4 << 20;

/// A rule, with its expressions once they were needed.
#[derive(Debug)]
pub(crate) struct CompiledRule {
    text: RedactRuleText,
    compiled: OnceLock<Expressions>,
}

/// What a rule says.
#[derive(Debug)]
enum RedactRuleText {
    BuiltIn(&'static BuiltInRule),
    Added(Box<RedactRule>),
}

/// The expressions of a rule.
#[derive(Debug)]
struct Expressions {
    regex: Regex,
    allowed: Vec<Regex>,
}

impl CompiledRule {
    /// Takes a built-in rule. A test compiles all of them.
    pub(super) fn built_in(rule: &'static BuiltInRule) -> CompiledRule {
        CompiledRule { text: RedactRuleText::BuiltIn(rule), compiled: OnceLock::new() }
    }

    /// Takes a rule of others, and compiles it to see whether it can be used.
    pub(super) fn checked(rule: RedactRule) -> Result<CompiledRule, RuleFault> {
        let (id, group) = (rule.id.clone(), rule.secret_group);
        let made =
            CompiledRule { text: RedactRuleText::Added(Box::new(rule)), compiled: OnceLock::new() };
        let expressions = made.compile().map_err(|error| {
            let reason = last_line(&error.to_string());
            RuleFault::Expression { id: id.clone(), reason }
        })?;
        if group >= expressions.regex.captures_len() {
            return Err(RuleFault::Group { id, group });
        }
        Ok(CompiledRule { compiled: OnceLock::from(expressions), ..made })
    }

    /// Returns the rule's name.
    pub(crate) fn id(&self) -> &str {
        match &self.text {
            RedactRuleText::BuiltIn(rule) => rule.id,
            RedactRuleText::Added(rule) => &rule.id,
        }
    }

    /// Returns the secrets that the rule finds in a text, in order: their first byte and the byte
    /// after their last.
    pub(crate) fn secrets(&self, text: &[u8]) -> Vec<(usize, usize)> {
        let expressions = self.expressions();
        let all = expressions.regex.captures_iter(text);
        let secrets = all.filter_map(|captures| {
            let group = match self.secret_group() {
                0 => (1..captures.len()).find_map(|group| captures.get(group)),
                group => captures.get(group),
            };
            group.or_else(|| captures.get(0)).map(|found| (found.start(), found.end()))
        });
        let counts = |secret: &(usize, usize)| {
            let value = &text[secret.0..secret.1];
            !value.is_empty() && !self.leaves_alone(value, expressions)
        };
        secrets.filter(counts).collect()
    }

    fn leaves_alone(&self, secret: &[u8], expressions: &Expressions) -> bool {
        let entropy = match &self.text {
            RedactRuleText::BuiltIn(rule) => rule.entropy,
            RedactRuleText::Added(rule) => rule.entropy,
        };
        is_placeholder(secret)
            || entropy > 0.0 && entropy_bits(secret) < entropy
            || expressions.allowed.iter().any(|allowed| allowed.is_match(secret))
            || self.has_stopword(secret)
    }

    fn has_stopword(&self, secret: &[u8]) -> bool {
        let is_in = |word: &str| contains_ignoring_case(secret, word);
        match &self.text {
            RedactRuleText::BuiltIn(rule) => rule.stopwords.iter().any(|word| is_in(word)),
            RedactRuleText::Added(rule) => {
                let words = rule.allowlists.iter().flat_map(|allow| &allow.stopwords);
                words.into_iter().any(|word| is_in(word))
            }
        }
    }

    fn secret_group(&self) -> usize {
        match &self.text {
            RedactRuleText::BuiltIn(rule) => rule.secret_group,
            RedactRuleText::Added(rule) => rule.secret_group,
        }
    }

    fn expressions(&self) -> &Expressions {
        self.compiled.get_or_init(|| {
            self.compile().expect("BUG: expressions of rules are compiled before they are used")
        })
    }

    fn compile(&self) -> Result<Expressions, regex::Error> {
        match &self.text {
            RedactRuleText::BuiltIn(rule) => {
                let allowed = rule.allowed.iter().map(|text| expression(text, Alphabet::Ascii));
                let regex = expression(rule.regex, Alphabet::Ascii)?;
                Ok(Expressions { regex, allowed: allowed.collect::<Result<_, _>>()? })
            }
            RedactRuleText::Added(rule) => {
                let allowed = rule.allowlists.iter().flat_map(|allow| &allow.regexes);
                let allowed = allowed.map(|text| expression(text, Alphabet::Unicode));
                let regex = expression(&rule.regex, Alphabet::Unicode)?;
                Ok(Expressions { regex, allowed: allowed.collect::<Result<_, _>>()? })
            }
        }
    }
}

/// Whether letters beyond ASCII belong to the classes of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Ascii,
    Unicode,
}

fn expression(text: &str, alphabet: Alphabet) -> Result<Regex, regex::Error> {
    RegexBuilder::new(text)
        .unicode(alphabet == Alphabet::Unicode)
        .size_limit(COMPILED_BYTES_MAX)
        .build()
}

/// Returns what the compiler says in the end; before that it shows the expression.
fn last_line(text: &str) -> String {
    let line = text.lines().last().unwrap_or(text).trim();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
