//! Programs as they come from outside.

use std::path::PathBuf;

use agentic_lang_context::Dialect;
use agentic_replay::Language;
use agentic_session::{language_of_file, languages};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use super::dialect::parse_dialect;
use super::named_text::{NamedText, utf8};
use crate::{Refusal, Surroundings};

/// A program, and how it is read.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProgramSource {
    /// Its text. How the name ends tells the language.
    pub file: NamedText,
    /// Its language, where the name does not tell it.
    #[serde(default)]
    pub language: Option<String>,
    /// The version that a program of the context language is held to, such as `0.1.18`; the one that
    /// its text shows without.
    #[serde(default, deserialize_with = "read_dialect")]
    #[schemars(with = "Option<String>")]
    pub dialect: Option<Dialect>,
    /// The folders that it may import files from, beside its own and its repository.
    #[serde(default)]
    pub imports: Vec<PathBuf>,
}

fn read_dialect<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Dialect>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    text.map(|text| parse_dialect(&text)).transpose().map_err(serde::de::Error::custom)
}

/// A program that was read.
#[derive(Debug, Clone)]
pub struct ProgramText {
    /// The file as it was named.
    pub name: String,
    /// Its language.
    pub language: &'static dyn Language,
    /// The text, which need not be text.
    pub bytes: Vec<u8>,
    /// The version that a program of the context language is held to.
    pub dialect: Option<Dialect>,
    /// The folders that it may import files from, beside its own and its repository.
    pub imports: Vec<PathBuf>,
    /// The folder that its name starts from.
    pub folder: PathBuf,
}

impl ProgramSource {
    /// Names a program of which no more is known than its file.
    pub fn of(file: NamedText) -> ProgramSource {
        ProgramSource { file, language: None, dialect: None, imports: Vec::new() }
    }

    /// Reads the program; one whose language is known needs no name that tells it.
    ///
    /// # Errors
    /// Fails when it cannot be read, and when nobody knows its language.
    pub fn read(
        self,
        here: &Surroundings,
        known: Option<&'static dyn Language>,
    ) -> Result<ProgramText, Refusal> {
        let named = named_language(self.language.as_deref())?;
        let bytes = self.file.bytes(here)?.into_owned();
        let language = match known.or(named) {
            Some(language) => language,
            None => language_of_file(&self.file.name, &bytes).ok_or_else(|| {
                Refusal::usage(
                    &format!(
                        "the name `{}` does not tell the language of the program",
                        self.file.name
                    ),
                    "end it with `.agent`, `.as` or `.rhai`, or name the language with `--lang`",
                )
            })?,
        };
        let ProgramSource { file, dialect, imports, .. } = self;
        let folder = here.folder.clone();
        Ok(ProgramText { name: file.name, language, bytes, dialect, imports, folder })
    }
}

/// Returns the language that was named, if one was.
///
/// # Errors
/// Fails when there is none of that name.
pub(crate) fn named_language(name: Option<&str>) -> Result<Option<&'static dyn Language>, Refusal> {
    let Some(name) = name else { return Ok(None) };
    match languages().find(|language| language.name() == name) {
        Some(language) => Ok(Some(language)),
        None => {
            let known: Vec<&str> = languages().map(|language| language.name()).collect();
            Err(Refusal::usage(
                &format!("there is no language `{name}`"),
                &format!("the languages are {}", known.join(", ")),
            ))
        }
    }
}

impl ProgramText {
    /// Reads the program as UTF-8 text.
    ///
    /// # Errors
    /// Fails when it is none.
    pub fn text(&self) -> Result<&str, Refusal> {
        utf8(&self.name, &self.bytes)
    }
}
