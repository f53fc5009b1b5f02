//! Rules as a file of a user or a project has them.

use std::collections::BTreeMap;

use serde::Deserialize;

/// A rule, in the fields of gitleaks. Fields that need a path or a commit are read over.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct RedactRule {
    /// Its name, which the marker shows.
    pub id: String,
    /// What it looks for.
    pub regex: String,
    /// Which group of the expression is the secret; 0 takes the first group, or everything.
    pub secret_group: usize,
    /// How many bits a byte of the secret must have at least.
    pub entropy: f64,
    /// Words of which one must stand in the text, in either case.
    pub keywords: Vec<String>,
    /// What the rule leaves alone.
    pub allowlists: Vec<RedactAllowlist>,
}

/// What a rule of its own accord leaves alone.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct RedactAllowlist {
    /// Expressions on the secret.
    pub regexes: Vec<String>,
    /// Words in the secret, in lower case.
    pub stopwords: Vec<String>,
}

/// A file of rules that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct RuleFileFault {
    /// What is wrong, and in which line.
    pub reason: String,
}

/// A file as gitleaks has them: other tables are read over.
#[derive(Deserialize)]
struct RuleFile {
    #[serde(default)]
    rules: Vec<RedactRule>,
}

/// `agentic.toml`, of which only this table counts here.
#[derive(Deserialize)]
struct ProjectFile {
    #[serde(default)]
    redact: RedactTable,
}

/// The table `redact` of `agentic.toml`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct RedactTable {
    /// Rules.
    pub rule: Vec<RedactRule>,
    /// Paths of files of rules, below the file's own folder.
    pub files: Vec<String>,
    /// What else the table says: nothing of it counts, since a project can add rules and not allow
    /// secrets.
    #[serde(flatten)]
    pub refused: BTreeMap<String, serde::de::IgnoredAny>,
}

impl RedactTable {
    /// Reads the table `redact` of an `agentic.toml`; a file without it has an empty one.
    ///
    /// # Errors
    /// Fails on what is no TOML, and on rules and files that have other types.
    pub fn parse(text: &str) -> Result<RedactTable, RuleFileFault> {
        let file: ProjectFile = toml::from_str(text).map_err(fault)?;
        Ok(file.redact)
    }
}

impl RedactTable {
    /// Tells whether a text is TOML at all.
    pub fn is_toml(text: &str) -> bool {
        toml::from_str::<BTreeMap<String, serde::de::IgnoredAny>>(text).is_ok()
    }
}

impl RedactRule {
    /// Reads a file of rules as gitleaks has them: `[[rules]]`.
    ///
    /// # Errors
    /// Fails on what is no TOML or has other types in the fields of rules.
    pub fn parse_file(text: &str) -> Result<Vec<RedactRule>, RuleFileFault> {
        let file: RuleFile = toml::from_str(text).map_err(fault)?;
        Ok(file.rules)
    }
}

fn fault(error: toml::de::Error) -> RuleFileFault {
    RuleFileFault { reason: error.message().to_owned() }
}
