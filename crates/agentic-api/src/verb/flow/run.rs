//! Running pipelines, in memory and durably.

use agentic_lang_pipeline::PipelineLanguage;
use agentic_lang_pipeline::run::BlockOrder;
use agentic_replay::engine::RunAttendance;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::program::{NamedText, ProgramSource};
use crate::verb::run::pipeline::{PipelineWish, compiled};
use crate::verb::run::{DurableSetting, RunReply, faulty};
use crate::verb::{PreparedRun, RunPlace, Verb, value};
use crate::view::RunAnswer;
use crate::{Caller, Refusal, Surroundings};

/// Run a pipeline; durably, if a block of it is temporal.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunPipeline {
    /// The pipeline.
    pub program: ProgramSource,
    /// The input, as JSON text here and as any JSON value in JSON.
    #[serde(default, deserialize_with = "value::read_json_text")]
    #[schemars(with = "serde_json::Value")]
    pub input: Option<String>,
    /// In whose name it runs, such as `user:alice`.
    #[serde(default)]
    pub identity: Option<String>,
    /// The key of a durable run: the same agent, program, input and key give the same run.
    #[serde(default)]
    pub key: Option<String>,
    /// The agent of a durable run, else the current one, else a new one named `run-KEY`.
    #[serde(default)]
    pub agent: Option<String>,
    /// The builtins that it may call, beyond the standard ones.
    #[serde(default)]
    pub registry: Option<NamedText>,
    /// Whether all blocks run at once, and not one after the other.
    #[serde(default)]
    pub parallel_blocks: bool,
    /// The file that is told what became of each node and block; of a durable run, all since it was
    /// started.
    #[serde(default)]
    pub output_trace: Option<String>,
    /// Whether a durable run is only recorded: a worker goes on with it.
    #[serde(default)]
    pub detached: bool,
}

impl Verb for RunPipeline {
    type Answer = RunAnswer;

    fn run(self, caller: &Caller<'_>) -> RunReply {
        self.prepare(&caller.surroundings)?.run(caller)
    }
}

impl RunPipeline {
    /// Looks at the program and at what is asked of it. Nothing has run then.
    ///
    /// # Errors
    /// Fails when the program or its registry cannot be read, and when the input or the identity is
    /// none.
    pub fn prepare(self, here: &Surroundings) -> Result<PreparedRun, Refusal> {
        self.identity.as_deref().map_or(Ok(()), check_identity)?;
        let program = self.program.read(here, Some(&PipelineLanguage))?;
        let wish = PipelineWish {
            input: self.input,
            registry: self.registry,
            place: RunPlace::AsDeclared,
            setting: DurableSetting { agent: self.agent, key: self.key },
            invoked_by: self.identity,
            blocks: match self.parallel_blocks {
                true => BlockOrder::Parallel,
                false => BlockOrder::Sequential,
            },
            output_trace: self.output_trace,
            attendance: match self.detached {
                true => RunAttendance::Detached,
                false => RunAttendance::Attended,
            },
        };
        Ok(match compiled(here, &program, wish)? {
            Ok(ready) => PreparedRun::ready(ready),
            Err(findings) => faulty(findings),
        })
    }
}

fn check_identity(text: &str) -> Result<(), Refusal> {
    match agentic_plan::is_identity(text) {
        true => Ok(()),
        false => Err(Refusal::usage(
            &format!("`{text}` is no identity"),
            "an identity is KIND:NAME, such as user:alice",
        )),
    }
}
