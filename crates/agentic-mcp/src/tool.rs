//! The tools, in the order in which they are listed.

mod reading;
mod writing;

pub use self::writing::own_session;
use agentic_api::verb::ForeignQueries;
use agentic_api::{Caller, Refusal};
use rmcp::model::{Tool, ToolAnnotations};

use crate::access::{DecidingAccess, McpAccess, WriteAccess};
use crate::answer::ToolAnswer;
use crate::field::{ToolArguments, ToolField, input_schema};
use crate::schema::{AnswerSchemas, AnswerShape};

/// Answers a call of a tool, on a thread that may block.
pub type AnswerCall = fn(&ToolCaller<'_>, ToolArguments) -> Result<ToolAnswer, Refusal>;

/// Who calls a tool.
pub struct ToolCaller<'s> {
    /// Who runs the verb.
    pub caller: Caller<'s>,
    /// What the client may do.
    pub access: &'s McpAccess,
    /// Who asks queries now.
    pub queries: &'s ForeignQueries,
}

/// A tool.
pub struct ToolOffer {
    /// Its name.
    pub name: &'static str,
    about: &'static str,
    effect: ToolEffect,
    /// What it takes.
    pub fields: &'static [ToolField],
    shape: AnswerShape,
    /// What it does.
    pub act: ToolAct,
}

/// What calling a tool changes, as clients are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToolEffect {
    /// Nothing.
    Reads,
    /// It adds something.
    Adds,
    /// It changes something, once and for all.
    Changes,
    /// Doing it twice is doing it once, also where the second time is refused.
    Settles,
    /// Programs may run that do anything.
    Runs,
}

/// How a tool is called.
#[derive(Debug, Clone, Copy)]
pub enum ToolAct {
    /// It answers at once.
    Answer(AnswerCall),
    /// It begins something that may take long.
    Begin(BegunWork),
    /// It asks people a question.
    Ask,
    /// It puts a hold before a person.
    Decide,
}

/// What a tool begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BegunWork {
    /// A session.
    Session,
    /// What a session does with a signal.
    Signal,
}

/// Returns the tools that a client of such a server has.
pub fn tools(access: &McpAccess) -> Vec<&'static ToolOffer> {
    let may = |tool: &&ToolOffer| match (&tool.act, tool.effect, access.writes) {
        (_, ToolEffect::Reads, WriteAccess::ReadOnly | WriteAccess::Own) => true,
        (_, _, WriteAccess::ReadOnly) => false,
        (ToolAct::Decide, _, WriteAccess::Own) => access.deciding == DecidingAccess::Form,
        (ToolAct::Answer(_) | ToolAct::Begin(_) | ToolAct::Ask, _, WriteAccess::Own) => true,
    };
    reading::TOOLS.iter().chain(writing::TOOLS).filter(may).collect()
}

impl ToolOffer {
    /// Tells whether calling it may change something.
    pub fn writes(&self) -> bool {
        self.effect != ToolEffect::Reads
    }

    /// Returns what clients are told of it.
    pub fn listed(&self, schemas: &AnswerSchemas) -> Tool {
        let (reads, destroys, repeats, open) = match self.effect {
            ToolEffect::Reads => (true, false, true, false),
            ToolEffect::Adds => (false, false, false, false),
            ToolEffect::Changes => (false, true, false, false),
            ToolEffect::Settles => (false, false, true, false),
            ToolEffect::Runs => (false, true, false, true),
        };
        let hints = ToolAnnotations::new()
            .read_only(reads)
            .destructive(destroys)
            .idempotent(repeats)
            .open_world(open);
        Tool::new(self.name, self.about, input_schema(self.fields))
            .with_raw_output_schema(schemas.of(self.shape).into())
            .with_annotations(hints)
    }
}
