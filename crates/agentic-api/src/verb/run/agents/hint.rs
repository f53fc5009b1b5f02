//! What to do next when a program of AgentLang did not run to its end.

use agentic_diag::SourceText;
use agentic_lang_agent::{AgentModule, code};

use crate::Refusal;

/// How long the name of a task is that a hint repeats, in bytes.
const NAME_BYTES_MAX: usize = 64;

/// Where somebody runs a program: what they can do next is not the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RunDesk {
    /// At the command line, with its options.
    CommandLine,
    /// Among the lines of `agentic repl`.
    Repl,
}

impl RunDesk {
    /// Says what to do about a failure.
    pub fn hint(self, module: &AgentModule, failure: &agentic_replay::ProgramFailure) -> String {
        match failure.code.as_str() {
            code::PIPELINE_UNKNOWN => match names(module).as_slice() {
                [] => "the file has no pipeline".to_owned(),
                names => format!("the file has these: {}", names.join(", ")),
            },
            code::INPUTS_MISSING | code::INPUTS_UNKNOWN | code::INPUT_INVALID => match self {
                RunDesk::CommandLine => {
                    "give the inputs of the pipeline as the fields of `--input`".to_owned()
                }
                RunDesk::Repl => {
                    "give the inputs as one object: `run NAME {\"topic\": \"tea\"}`".to_owned()
                }
            },
            code::TOO_MANY_STATEMENTS | code::TOO_MANY_REQUESTS | code::TOO_MANY_BRANCHES => {
                "look for a loop or a call that never ends, or split the run".to_owned()
            }
            code::NO_WORKERS => "give `--workers` a number from 1 on".to_owned(),
            code::NO_HANDLER => {
                let performed = format!("`--handler {}=PROGRAM`", task_of(failure));
                match self {
                    RunDesk::CommandLine => format!("{performed} lets a program perform it"),
                    RunDesk::Repl => {
                        format!("`agentic run FILE PIPELINE` with {performed} lets a program do so")
                    }
                }
            }
            _ => match self {
                RunDesk::CommandLine => {
                    "`--output-trace PATH` shows what happened before".to_owned()
                }
                RunDesk::Repl => {
                    "`agentic repl --trace-live` shows what happens, as it happens".to_owned()
                }
            },
        }
    }

    /// Refuses to wait for a human where nobody can.
    pub fn no_hold(self, what: &str) -> Refusal {
        let hint = match self {
            RunDesk::CommandLine => "run it as a session with `--session`",
            RunDesk::Repl => "run it with `agentic run FILE PIPELINE --session`",
        };
        let message = format!("{what} may ask a human, and a run in memory cannot wait for one");
        Refusal::refused(&message, hint)
    }
}

/// Refuses to run nothing, and says what there is.
pub(crate) fn no_pipeline(source: &SourceText) -> Refusal {
    let how = "`agentic run FILE PIPELINE` runs one, `agentic run FILE --test` the tests";
    let hint = match agentic_lang_agent::compile(source) {
        Ok(module) => match (names(&module).as_slice(), module.has_tests()) {
            ([], true) => "the file has tests only: `--test` runs them".to_owned(),
            ([], false) => "the file has no pipeline and no tests".to_owned(),
            (names, _) => format!("name one of these behind the file: {}", names.join(", ")),
        },
        Err(_) => how.to_owned(),
    };
    Refusal::usage("no pipeline is named", &hint)
}

fn names(module: &AgentModule) -> Vec<String> {
    module.pipelines().into_iter().map(|pipeline| pipeline.name).collect()
}

/// Returns the task that nobody performs, which the message names in quotes.
fn task_of(failure: &agentic_replay::ProgramFailure) -> &str {
    let named = failure.message.split('\'').nth(1);
    named.filter(|name| name.len() <= NAME_BYTES_MAX).unwrap_or("TASK")
}
