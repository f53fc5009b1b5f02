//! Prose to programs: a seam for whoever can complete a text. This crate picks no model and reads
//! no key; it says what the language is, cleans the reply, and lets nothing through that does not
//! compile.

use std::fmt::Write as _;

use agentic_diag::{DiagnosticStyle, SourceText};
use agentic_model::Value;
use agentic_plan::{AgentParameter, Backend, BuiltinSpec, Registry, ResolutionMode};

use crate::compile::check;
use crate::finding::{PipelineFindings, render_findings};

/// How often a reply that does not compile is sent back, unless the caller says otherwise.
pub const REPAIRS_DEFAULT: usize = 1;

/// Completes a text: takes instructions and a question, gives a reply.
pub type Complete<'a, E> = dyn FnMut(&str, &str) -> Result<String, E> + 'a;

/// Why prose did not become a program.
#[derive(Debug, thiserror::Error)]
pub enum TranslateError<E> {
    /// The completion itself failed.
    #[error("the text could not be completed")]
    Complete(E),
    /// The last reply does not compile.
    #[error("the reply is not a program: {}", first_message(.findings))]
    NotAProgram {
        /// The cleaned reply.
        source_text: String,
        /// What is wrong with it.
        findings: PipelineFindings,
    },
}

/// Turns prose into the source of a program that compiles against a registry.
///
/// A reply that does not compile is sent back with its findings, `repairs_max` times at most;
/// nothing is mended silently.
///
/// # Errors
/// Fails when the completion does, or when the last reply does not compile.
pub fn translate<E>(
    complete: &mut Complete<'_, E>,
    registry: &Registry,
    prose: &str,
    repairs_max: usize,
) -> Result<String, TranslateError<E>> {
    let system = instructions(registry);
    let mut user = prose.to_owned();
    for repairs_left in (0..=repairs_max).rev() {
        let reply = complete(&system, &user).map_err(TranslateError::Complete)?;
        let source_text = clean(&reply).to_owned();
        let findings = match check(&source_text, registry) {
            Ok(()) => return Ok(source_text),
            Err(findings) => findings,
        };
        if repairs_left == 0 {
            return Err(TranslateError::NotAProgram { source_text, findings });
        }
        let source = SourceText::new("program.as", source_text.as_str());
        let errors = render_findings(&source, &findings, DiagnosticStyle::Plain);
        user = format!(
            "{prose}\n\nThis program was refused:\n{source_text}\n\nErrors:\n{errors}\n\n\
             Reply with a program that has none of them."
        );
    }
    unreachable!("BUG: the last round returns")
}

/// Returns what a model must know to write programs: the language, and every builtin with its
/// arguments.
pub fn instructions(registry: &Registry) -> String {
    let mut text = String::from(
        "You write programs in the pipeline language. Reply with one program and nothing else.\n\n\
         A program is one block: a backend, a mode, and a pipeline in parentheses:\n\
         memory static ( first \"x\" >=> second )\n\
         - `a >=> b` runs b on what a gives; `( a <*> b )` runs both at once and gives both, in order.\n\
         - The backends are `memory` and `temporal`. Use `memory`, unless the request asks for \
         durability, for a decision by a human or for something that takes long.\n\
         - The modes are `static` and `dynamic`. Use `static`.\n\
         - Run things one after the other, unless the request is a plain list of independent ones.\n\
         - Values stand behind a name: strings in double quotes, numbers, true and false. Named \
         values and lists stand in parentheses: name ( key: value other: [a, b] ).\n\
         - Call only these builtins:\n",
    );
    for spec in registry.builtins() {
        let _ = writeln!(text, "  {}", signature(spec));
    }
    text
}

/// Returns the language as data, for other front ends: operators, backends, modes and builtins.
pub fn grammar(registry: &Registry) -> Value {
    let words = |words: &[&str]| Value::List(words.iter().map(|word| Value::text(*word)).collect());
    let builtins = registry.to_value().get("builtins").cloned().unwrap_or(Value::Null);
    Value::map([
        ("version", Value::Int(i64::from(crate::SEMANTICS_VERSION))),
        ("operators", words(&[">=>", "<*>"])),
        ("backends", words(&[Backend::Memory.as_str(), Backend::Temporal.as_str()])),
        ("modes", words(&[ResolutionMode::Static.as_str(), ResolutionMode::Dynamic.as_str()])),
        ("builtins", builtins),
    ])
}

fn signature(spec: &BuiltinSpec) -> String {
    let mut text = spec.name.clone();
    for param in &spec.schema.params {
        let _ = match param.is_required() {
            true => write!(text, " {}", parameter(param)),
            false => write!(text, " [{}]", parameter(param)),
        };
    }
    if let Some(kind) = &spec.schema.variadic {
        let _ = write!(text, " {kind}…");
    }
    let backends: Vec<&str> = spec.backends.iter().map(|backend| backend.as_str()).collect();
    let _ = write!(text, " (in {})", backends.join(" and "));
    if !spec.description.is_empty() {
        let _ = write!(text, ": {}", spec.description);
    }
    text
}

fn parameter(param: &AgentParameter) -> String {
    match &param.one_of {
        Some(choices) => format!("{}: {}", param.name, choices.join("|")),
        None => format!("{}: {}", param.name, param.kind),
    }
}

/// Takes the program out of a reply: without code fences, from the first backend to the last
/// parenthesis. What has neither is kept as it is, to be refused by the compiler.
fn clean(reply: &str) -> &str {
    let text = fenced(reply).unwrap_or(reply);
    let is_word = |at: usize, word: &str| {
        let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        !text[..at].ends_with(part) && !text[at + word.len()..].starts_with(part)
    };
    let first = |word: &'static str| {
        text.match_indices(word).map(|(at, _)| at).find(|at| is_word(*at, word))
    };
    let from = [first("memory"), first("temporal")].into_iter().flatten().min();
    match (from, text.rfind(')')) {
        (Some(from), Some(to)) if from < to => &text[from..=to],
        _ => text.trim(),
    }
}

/// Returns the inside of the first code fence.
fn fenced(reply: &str) -> Option<&str> {
    let (_, inside) = reply.split_once("```")?;
    let (_, inside) = inside.split_once('\n')?;
    Some(inside.split_once("```").map_or(inside, |(inside, _)| inside))
}

fn first_message(findings: &PipelineFindings) -> &str {
    findings.first().map_or("no reason given", |finding| finding.diagnostic.message.as_str())
}
