//! Rules whose expressions are compiled when they are first asked.

use std::sync::OnceLock;

use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::util::syntax;

use super::{BuiltInRule, RedactRule, RuleFault};
use crate::exempt::{contains_ignoring_case, is_placeholder};
use crate::measure::entropy_bits;

/// How many bytes a compiled expression may take.
const COMPILED_BYTES_MAX: usize = 4 << 20;

const COMPILES: &str = "BUG: expressions of rules are compiled before they are used";

/// A rule, with its expressions once they were needed.
#[derive(Debug)]
pub(crate) struct CompiledRule {
    text: RedactRuleText,
    regex: OnceLock<Regex>,
    /// What says that a secret is none: asked of secrets only.
    allowed: OnceLock<Vec<Regex>>,
}

/// What a rule says.
#[derive(Debug)]
enum RedactRuleText {
    BuiltIn(&'static BuiltInRule),
    Added(Box<RedactRule>),
}

impl CompiledRule {
    /// Takes a built-in rule. A test compiles all of them.
    pub(super) fn built_in(rule: &'static BuiltInRule) -> CompiledRule {
        CompiledRule::of(RedactRuleText::BuiltIn(rule))
    }

    /// Takes a rule of others, and compiles it to see whether it can be used.
    pub(super) fn checked(rule: RedactRule) -> Result<CompiledRule, RuleFault> {
        let (id, group) = (rule.id.clone(), rule.secret_group);
        let made = CompiledRule::of(RedactRuleText::Added(Box::new(rule)));
        let fault = |reason| RuleFault::Expression { id: id.clone(), reason };
        let regex = made.compile().map_err(fault)?;
        if group >= regex.captures_len() {
            return Err(RuleFault::Group { id, group });
        }
        let allowed = OnceLock::from(made.compile_allowed().map_err(fault)?);
        Ok(CompiledRule { regex: OnceLock::from(regex), allowed, ..made })
    }

    fn of(text: RedactRuleText) -> CompiledRule {
        CompiledRule { text, regex: OnceLock::new(), allowed: OnceLock::new() }
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
        let all = self.regex().captures_iter(text);
        let secrets = all.filter_map(|captures| {
            let group = match self.secret_group() {
                0 => (1..captures.group_len()).find_map(|group| captures.get_group(group)),
                group => captures.get_group(group),
            };
            group.or_else(|| captures.get_group(0)).map(|found| (found.start, found.end))
        });
        let counts = |secret: &(usize, usize)| {
            let value = &text[secret.0..secret.1];
            !value.is_empty() && !self.leaves_alone(value)
        };
        secrets.filter(counts).collect()
    }

    fn leaves_alone(&self, secret: &[u8]) -> bool {
        let entropy = match &self.text {
            RedactRuleText::BuiltIn(rule) => rule.entropy,
            RedactRuleText::Added(rule) => rule.entropy,
        };
        is_placeholder(secret)
            || entropy > 0.0 && entropy_bits(secret) < entropy
            || self.allowed().iter().any(|allowed| allowed.is_match(secret))
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

    fn regex(&self) -> &Regex {
        self.regex.get_or_init(|| self.compile().expect(COMPILES))
    }

    fn allowed(&self) -> &[Regex] {
        self.allowed.get_or_init(|| self.compile_allowed().expect(COMPILES))
    }

    fn compile(&self) -> Result<Regex, String> {
        match &self.text {
            RedactRuleText::BuiltIn(rule) => expression(rule.regex, Alphabet::Ascii),
            RedactRuleText::Added(rule) => expression(&rule.regex, Alphabet::Unicode),
        }
    }

    /// Compiles what says that a secret is none.
    pub(super) fn compile_allowed(&self) -> Result<Vec<Regex>, String> {
        match &self.text {
            RedactRuleText::BuiltIn(rule) => {
                rule.allowed.iter().map(|text| expression(text, Alphabet::Ascii)).collect()
            }
            RedactRuleText::Added(rule) => {
                let allowed = rule.allowlists.iter().flat_map(|allow| &allow.regexes);
                allowed.map(|text| expression(text, Alphabet::Unicode)).collect()
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

/// Compiles an expression as `regex` does for bytes, but without the automata that take longer to
/// make than the few windows of a hook take to search: other crates of this program switch them on
/// for all. One that does not compile comes back with the reason.
fn expression(text: &str, alphabet: Alphabet) -> Result<Regex, String> {
    let how = Config::new()
        .nfa_size_limit(Some(COMPILED_BYTES_MAX))
        .utf8_empty(false)
        .onepass(false)
        .dfa(false);
    let syntax = syntax::Config::new().unicode(alphabet == Alphabet::Unicode).utf8(false);
    let built = Regex::builder().configure(how).syntax(syntax).build(text);
    built.map_err(|error| reason_of(&error))
}

/// Returns what the compiler says in the end; before that it shows the expression.
fn reason_of(error: &BuildError) -> String {
    let text = match (error.size_limit(), error.syntax_error()) {
        (Some(limit), _) => format!("Compiled regex exceeds size limit of {limit} bytes."),
        (None, Some(error)) => error.to_string(),
        (None, None) => error.to_string(),
    };
    let line = text.lines().last().unwrap_or(&text).trim();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}
