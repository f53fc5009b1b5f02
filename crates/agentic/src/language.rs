//! Which language a program is written in, as the command line is told.

use agentic_replay::Language;
use agentic_session::languages;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

/// Reads the name of a language, as `--lang` takes it.
pub fn parser() -> impl TypedValueParser<Value = &'static dyn Language> {
    let mut known: Vec<&dyn Language> = languages().collect();
    known.sort_by_key(|language| language.name());
    let one =
        |language: &dyn Language| PossibleValue::new(language.name()).help(language.summary());
    PossibleValuesParser::new(known.iter().map(|language| one(*language))).try_map(|name| {
        let found = languages().find(|language| language.name() == name);
        found.ok_or_else(|| format!("there is no language `{name}`"))
    })
}
