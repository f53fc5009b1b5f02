//! Turning prose into a pipeline.

use std::time::Duration;

use agentic_lang_pipeline::{REPAIRS_DEFAULT, TranslateError, translate};
use agentic_model::{Value, json};
use agentic_providers::executable::{Executable, OUTPUT_BYTES_MAX, ProgramOutcome as Ran};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::program::{NamedText, pipeline_source_findings, read_registry};
use crate::verb::{LocalVerb, Reply, VerbCompletion};
use crate::view::{TranslateAnswer, TranslateView};
use crate::{Refusal, Surroundings};

/// How long a completion may take.
const TIME_LIMIT: Duration = Duration::from_secs(600);
/// What a reply that is no program is called in what is found in it.
const REPLY_NAME: &str = "reply.as";

/// Turn prose into a pipeline, by a command that completes texts. What it replies is answered only if it
/// compiles.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowTranslate {
    /// What the pipeline is to do, in words.
    pub prose: String,
    /// A command line that completes a text: it reads one line of JSON, `{"system","user"}`, and prints
    /// its reply.
    pub complete: String,
    /// The builtins that it may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
    /// How often a reply that does not compile is sent back.
    #[serde(default = "FlowTranslate::default_repairs")]
    pub repairs: usize,
}

impl FlowTranslate {
    /// The most that a reply may be sent back.
    pub const REPAIRS_MAX: usize = 10;

    /// Returns how often a reply is sent back where nobody says.
    pub fn default_repairs() -> usize {
        REPAIRS_DEFAULT
    }
}

impl LocalVerb for FlowTranslate {
    type Answer = TranslateAnswer;

    fn run_here(self, here: &Surroundings) -> Result<Reply<TranslateAnswer>, Refusal> {
        if self.repairs > Self::REPAIRS_MAX {
            let message = format!("a reply is sent back {} times at most", Self::REPAIRS_MAX);
            return Err(Refusal::usage(
                &message,
                "ask for fewer, and say more exactly what is wanted",
            ));
        }
        let registry = read_registry(self.registry.as_ref(), here)?;
        let mut complete = |system: &str, user: &str| ask(here, &self.complete, system, user);
        match translate(&mut complete, &registry, &self.prose, self.repairs) {
            Ok(program) => Ok(Reply::plain(TranslateAnswer::Program(TranslateView { program }))),
            Err(TranslateError::Complete(refusal)) => Err(refusal),
            Err(TranslateError::NotAProgram { source_text, findings }) => {
                let found = pipeline_source_findings(REPLY_NAME, source_text.as_bytes(), findings);
                let completion = VerbCompletion::Short(Refusal::refused(
                    "the reply is not a program",
                    "say more exactly what is wanted, or let it be mended more often with `--max-repairs`",
                ));
                Ok(Reply { completion, ..Reply::plain(TranslateAnswer::Faulty(found)) })
            }
        }
    }
}

/// Lets the command complete a text.
fn ask(here: &Surroundings, command: &str, system: &str, user: &str) -> Result<String, Refusal> {
    let question = Value::map([("system", Value::text(system)), ("user", Value::text(user))]);
    let executable = Executable {
        argv: ["sh", "-c", command].map(str::to_owned).to_vec(),
        folder: here.folder.clone(),
        input: format!("{}\n", json::to_text(&question)).into_bytes(),
        environment: Vec::new(),
        limit: TIME_LIMIT,
    };
    let reason = match executable.run(&here.watcher.stop) {
        Ran::Done(printed) => match String::from_utf8(printed) {
            Ok(reply) => return Ok(reply),
            Err(_) => "it printed what is no UTF-8 text".to_owned(),
        },
        Ran::Crashed { status, complaint } => format!("{status}: {complaint}"),
        Ran::Lost(error) => error.to_string(),
        Ran::Flooded => format!("it printed more than {OUTPUT_BYTES_MAX} bytes"),
        Ran::TimedOut => format!("it took longer than {} s", TIME_LIMIT.as_secs()),
        Ran::Stopped => "it was stopped".to_owned(),
    };
    Err(Refusal::refused(
        &format!(
            "the command that completes texts failed: {}",
            reason.trim_end_matches([':', ' '])
        ),
        "run it by hand: it reads one line of JSON and prints its reply",
    ))
}
