//! Which language a program is written in, as the command line is told.

use agentic_replay::Language;
use agentic_session::{language_of_file, languages};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::failure::CommandFailure;

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

/// Tells the language of a file by how its name ends, and where that is not enough by its text.
pub fn of_file(file: &str, bytes: &[u8]) -> Result<&'static dyn Language, CommandFailure> {
    language_of_file(file, bytes).ok_or_else(|| {
        CommandFailure::usage(
            &format!("the name `{file}` does not tell the language of the program"),
            "end it with `.agent`, `.as` or `.rhai`, or name the language with `--lang`",
        )
    })
}
