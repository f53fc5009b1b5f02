//! Conversations of models with tools: what a model asks for is checked, performed one after the
//! other, and given back, until it replies with a result.
//!
//! All that a model asks for at once is checked before the first tool is called, so an answer that
//! makes no sense has no effects. Every call of a tool and every further call of the model is a
//! request of its own, so a run that was killed goes on in the middle of the conversation.

use agentic_model::Value as Model;
use agentic_replay::RequestAnswer;

use crate::data::{Data, json};
use crate::module::AgentModule;
use crate::program::attempt::AttemptFault;
use crate::program::conversation::{CALLS_MAX, Conversation, ROUNDS_MAX};
use crate::program::machine::ModuleRun;
use crate::program::options::TaskPerformer;
use crate::program::strand::{CallPhase, Strand, StrandId, TaskCall};
use crate::program::task::{late, result, task_of};
use crate::program::tool::CheckedToolCall;

/// What became of an answer.
pub(super) enum Talk {
    /// The strand waits for another request.
    GoesOn,
    /// The attempt is over.
    Over(Box<TaskCall>, Result<Data, AttemptFault>),
}

impl ModuleRun {
    /// Takes in the answer of whoever performs a task, or of a tool that a model asked for.
    pub(super) fn converse(
        &mut self,
        module: &AgentModule,
        strand: &mut Strand,
        id: StrandId,
        mut waiting: Box<TaskCall>,
        answer: RequestAnswer,
    ) -> Talk {
        let taken = match (waiting.phase, calls_of(&answer)) {
            (CallPhase::Tool, _) => self.take_result(module, &mut waiting, answer),
            (CallPhase::Attempt | CallPhase::Pause, Some(calls))
                if self.is_of_model(module, &waiting) =>
            {
                self.take_calls(module, &mut waiting, &answer, calls)
            }
            (CallPhase::Attempt | CallPhase::Pause, _) => {
                let outcome = result(module, &waiting, answer);
                return Talk::Over(waiting, outcome);
            }
        };
        if let Err(failed) = taken {
            return Talk::Over(waiting, Err(failed));
        }
        let conversation = waiting.conversation.as_mut().expect("tools are called in one");
        let next = conversation.uses.get(conversation.n_results).map(|tool| tool.work.clone());
        match next {
            Some(work) => {
                conversation.called = self.now;
                self.trace_tool_call(module, &waiting);
                self.send(module, strand, id, waiting, work)
            }
            None => {
                conversation.turns.push_str("]}");
                self.ask(module, strand, id, waiting)
            }
        }
    }

    pub(super) fn is_of_model(&self, module: &AgentModule, waiting: &TaskCall) -> bool {
        self.performers[task_of(module, waiting).0] == TaskPerformer::Model
    }

    /// Says whether the store answers what a call waits for.
    pub(super) fn is_of_store(&self, module: &AgentModule, waiting: &TaskCall) -> bool {
        match (waiting.phase, &waiting.conversation) {
            (CallPhase::Tool, Some(conversation)) => {
                conversation.uses.get(conversation.n_results).is_some_and(|tool| tool.is_of_store)
            }
            (CallPhase::Tool | CallPhase::Pause, _) => false,
            (CallPhase::Attempt, _) => {
                matches!(self.performers[task_of(module, waiting).0], TaskPerformer::Store(_))
            }
        }
    }

    /// Takes in what a model asks for.
    fn take_calls(
        &self,
        module: &AgentModule,
        waiting: &mut TaskCall,
        answer: &RequestAnswer,
        calls: &[Model],
    ) -> Result<(), AttemptFault> {
        let agent = module.code.calls[waiting.call as usize].agent;
        if calls.len() > CALLS_MAX {
            let text =
                format!("The model asked for {} tools at once; it may {CALLS_MAX}.", calls.len());
            return Err(AttemptFault::failed(text));
        }
        let fresh = || Box::new(Conversation::new(self.now));
        let mut conversation = waiting.conversation.take().unwrap_or_else(fresh);
        if conversation.n_rounds == ROUNDS_MAX {
            let text = format!("The model asked for tools more than {ROUNDS_MAX} times.");
            return Err(AttemptFault::failed(text));
        }
        let uses = calls.iter().map(|call| CheckedToolCall::of(module, &self.options, agent, call));
        let uses: Vec<CheckedToolCall> =
            uses.collect::<Result<_, String>>().map_err(AttemptFault::failed)?;
        conversation.begin_round(said(answer), uses);
        conversation.check()?;
        waiting.conversation = Some(conversation);
        Ok(())
    }

    /// Takes in the result of a tool.
    fn take_result(
        &mut self,
        module: &AgentModule,
        waiting: &mut TaskCall,
        answer: RequestAnswer,
    ) -> Result<(), AttemptFault> {
        let conversation = waiting.conversation.as_ref().expect("tools are called in one");
        let tool = &conversation.uses[conversation.n_results];
        let outcome = if matches!(answer, RequestAnswer::TimedOut) {
            Err(late(&module.code.calls[waiting.call as usize]))
        } else {
            tool.result(module, answer).map_err(AttemptFault::failed)
        };
        let result = outcome.map(|result| json::to_text(&result));
        self.trace_tool_end(module, waiting, &result);
        let conversation = waiting.conversation.as_mut().expect("it was there");
        conversation.add_result(&result?);
        conversation.check()
    }
}

/// Returns the calls that an answer asks for, if it is one of a model that wants tools.
fn calls_of(answer: &RequestAnswer) -> Option<&[Model]> {
    let RequestAnswer::Ok(Model::Map(map)) = answer else { return None };
    map.get("calls")?.as_list().filter(|calls| !calls.is_empty())
}

/// Returns what a model said when it asked for tools.
fn said(answer: &RequestAnswer) -> &str {
    let RequestAnswer::Ok(value) = answer else { return "" };
    value.get("said").and_then(Model::as_text).unwrap_or_default()
}
