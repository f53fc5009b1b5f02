//! Which language a program is written in.

use std::path::Path;

use clap::ValueEnum;

use crate::failure::Failure;

/// A language that programs are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// Typed tasks, agents, pipelines and workflows: `.agent`
    Agentlang,
    /// Agents that declare what a model may see: `.as`
    Context,
    /// Calls joined by `>=>` and `<*>`: `.as` that begins with `memory` or `temporal`
    Pipeline,
    /// Scripts: `.rhai`
    Rhai,
}

/// The words that a file of the pipeline language begins with.
const PIPELINE_WORDS: [&[u8]; 2] = [b"memory", b"temporal"];
/// What begins a remark in front of the first word of a `.as` file.
const REMARKS: [&[u8]; 2] = [b"//", b"--"];

impl Language {
    /// Returns the name, as `--lang` takes it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Agentlang => "agentlang",
            Language::Context => "context",
            Language::Pipeline => "pipeline",
            Language::Rhai => "rhai",
        }
    }

    /// Tells the language of a file by how its name ends, and for `.as` by its first word.
    pub fn of(file: &str, bytes: &[u8]) -> Result<Language, Failure> {
        match Path::new(file).extension().and_then(|extension| extension.to_str()) {
            Some("agent") => Ok(Language::Agentlang),
            Some("as") if PIPELINE_WORDS.contains(&first_word(bytes)) => Ok(Language::Pipeline),
            Some("as") => Ok(Language::Context),
            Some("rhai") => Ok(Language::Rhai),
            _ => Err(Failure::usage(
                &format!("the name `{file}` does not tell the language of the program"),
                "end it with `.agent`, `.as` or `.rhai`, or name the language with `--lang`",
            )),
        }
    }
}

/// Returns the first word behind a byte-order mark, blanks and remarks.
fn first_word(bytes: &[u8]) -> &[u8] {
    let mut rest = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    loop {
        rest = rest.trim_ascii_start();
        if !REMARKS.iter().any(|remark| rest.starts_with(remark)) {
            break;
        }
        let end = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        rest = &rest[end..];
    }
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let end = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
    &rest[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(file: &str, text: &str, wanted: Option<Language>) {
        assert_eq!(Language::of(file, text.as_bytes()).ok(), wanted, "{file}: {text:?}");
    }

    #[test]
    fn the_name_of_a_file_tells_its_language() {
        check("a.agent", "memory", Some(Language::Agentlang));
        check("a.rhai", "", Some(Language::Rhai));
        check("a.txt", "memory", None);
        check("agent", "", None);
    }

    #[test]
    fn the_first_word_tells_pipelines_from_contexts() {
        for text in
            ["memory static (x)", "\u{feff} \r\n// temporal\n-- agent\n\ttemporal(", "temporal"]
        {
            check("a.as", text, Some(Language::Pipeline));
        }
        for text in ["", "agent A {}", "memory_x", "// memory", "-memory", "\u{e9}memory"] {
            check("a.as", text, Some(Language::Context));
        }
    }
}
