//! `generate`: sources are read, the prompt is laid out, the reply is held to its contract.

use std::sync::Arc;

use agentic_model::Value as Data;

use crate::code::{Debug, GenerateSite, SourceCode, Validation};
use crate::context::clip;
use crate::context::measure::{CostMeasure, ValueBudget};
use crate::context::prompt::{self, ContextItem, ContextPrompt, Identity};
use crate::dialect::Version;
use crate::json::{self, Json};
use crate::module::ModuleShared;
use crate::reply;
use crate::value::ContextValue;

use super::answer::{ModelReply, left_out_of, raw_of, spoken, usage_of};
use super::fault::TaskFault;
use super::step::InstructionFlow;
use super::task::ContextTask;
use super::trace;
use super::waits::{Generation, Waits};
use super::world::{DEBUG_EVENT, PickReason, RunWorld, TaskPause};

/// The kind of a request to a model.
pub const MODEL_REQUEST: &str = "model";

/// What a provider says when a reply holds no JSON; such a reply is asked for again.
const NOT_JSON: &str = "LLM provider did not return JSON: ";

/// Why an attempt failed.
struct AttemptFailure {
    message: String,
    /// What the model returned, if it could be read.
    previous: Option<Json>,
    /// What it said, read or not.
    said: Option<Json>,
    fault: TaskFault,
    again: GenerateAgain,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GenerateAgain {
    Yes,
    No,
}

impl RunWorld {
    /// Records that a source became visible.
    pub(super) fn declare_use(
        &mut self,
        task: &mut ContextTask,
        site: u32,
        at: usize,
    ) -> Result<(), TaskFault> {
        let module = self.module.clone();
        let declared = &module.code.uses[site as usize];
        let picked = self.picked[site as usize].clone();
        if let (PickReason::UnknownHint(hint), Some(choice)) = (&picked.reason, &declared.choice) {
            let message = format!("the choice `{}` has no candidate `{hint}`", choice.site_id);
            return Err(TaskFault::new(self.place(at), message));
        }
        if self.traces() {
            let event = trace::use_event(declared, picked.candidate, reason_word(&picked.reason));
            self.trace(task, event);
        }
        Ok(())
    }

    /// Begins a `generate`: its instruction is on the stack.
    pub(super) fn generate(
        &mut self,
        task: &mut ContextTask,
        site: u32,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        let place = self.place(at);
        let instruction = task.pop();
        let instruction = self.told(place, &instruction)?;
        let mut sources = Vec::new();
        let mut next = self.module.code.generates[site as usize].last_use;
        while let Some(source) = next {
            sources.push(source);
            next = self.module.code.uses[source as usize].previous;
        }
        task.generations.push(Generation {
            site,
            at,
            return_to: task.at,
            current: instruction.clone(),
            instruction,
            sources,
            items: Vec::new(),
            attempt: 0,
            errors: Vec::new(),
            failed_replies: Vec::new(),
            prompt: ContextPrompt { system: String::new(), user: String::new() },
            usages: Vec::new(),
        });
        self.next_source(task)
    }

    /// Goes on to the code of the next visible source, or to the first attempt after the last.
    fn next_source(&mut self, task: &mut ContextTask) -> Result<InstructionFlow, TaskFault> {
        let module = self.module.clone();
        loop {
            let generation = innermost(task);
            let Some(site) = generation.sources.last() else {
                return Ok(self.attempt(task));
            };
            match source_of(&module, self, *site) {
                Some(source) => {
                    task.at = source.address as usize;
                    return Ok(InstructionFlow::Next);
                }
                None => {
                    generation.sources.pop();
                }
            }
        }
    }

    /// Takes the value of a source, holds it to its budget and goes on.
    pub(super) fn source_end(
        &mut self,
        task: &mut ContextTask,
        at: usize,
    ) -> Result<InstructionFlow, TaskFault> {
        let value = task.pop();
        let module = self.module.clone();
        let generation = innermost(task);
        let site = generation.sources.pop().expect("the code of a source runs for a generate");
        let source = source_of(&module, self, site).expect("an empty candidate has no code");
        let first = module.code.generates[generation.site as usize].version < Version::V0_1_3;
        let measure = if first { CostMeasure::Exact } else { CostMeasure::Estimated };
        let limit = source.budget.as_ref().map_or(0, |budget| budget.limit);
        let budget = ValueBudget { limit, measure, addresses: self.meaning.addresses() };
        let (content, seen) = clip::clip(&value, &module.code, budget)
            .map_err(|unshowable| TaskFault::unshowable(self.place(at), unshowable))?;
        self.touch_seen(seen);
        generation.items.push(ContextItem {
            source: source.text.clone(),
            label: module.code.uses[site as usize].label.clone(),
            budget: source.budget.clone(),
            content,
        });
        self.next_source(task)
    }

    /// Lays out the prompt and asks the model.
    fn attempt(&mut self, task: &mut ContextTask) -> InstructionFlow {
        let module = self.module.clone();
        let generation = innermost(task);
        generation.attempt += 1;
        let site = &module.code.generates[generation.site as usize];
        let identity =
            Identity { agent: &site.agent, role: &site.role, description: &site.description };
        let instruction = clip::render(&generation.current);
        let schema = site.contract.as_ref().map(|contract| &*contract.schema_text);
        generation.prompt =
            prompt::lay_out(site.version, identity, &generation.items, &instruction, schema);
        let payload = payload(&module, site, generation);
        if site.options.debug == Debug::Shown {
            let data = Data::Text(debug_text(site, generation));
            self.events.push(agentic_replay::ProgramEvent { kind: DEBUG_EVENT.to_owned(), data });
        }
        let place = self.place(generation.at);
        let path = self.ask(task, place, MODEL_REQUEST, payload);
        task.waits = Some(Waits::Model);
        InstructionFlow::Pause(TaskPause::Asked(path))
    }

    pub(super) fn model_answered(
        &mut self,
        task: &mut ContextTask,
    ) -> Result<InstructionFlow, TaskFault> {
        let module = self.module.clone();
        let answer = task.answer.take().expect("a task wakes with its answer");
        let generation = innermost(task);
        let site = &module.code.generates[generation.site as usize];
        generation.usages.push(usage_of(&answer).unwrap_or_default());
        let left_out = left_out_of(&answer);
        let raw = raw_of(&answer);
        let result = spoken(answer)
            .map_err(|unspoken| AttemptFailure {
                said: unspoken.said,
                ..self.provider_failed(generation, unspoken.message)
            })
            .and_then(|spoken| {
                let read = self.read_reply(site, generation, &spoken);
                read.map_err(|failed| AttemptFailure { said: Some(spoken.to_json()), ..failed })
            });
        if site.options.debug == Debug::Shown {
            let data = Data::Text(reply_text(site, generation, &raw, &left_out, &result));
            self.events.push(agentic_replay::ProgramEvent { kind: DEBUG_EVENT.to_owned(), data });
        }
        match result {
            Ok(result) => {
                let generation = task.generations.pop().expect("it answered");
                task.at = generation.return_to;
                task.stack.push(ContextValue::from_json(&result));
                self.record(task, &generation, Ok(result));
                Ok(InstructionFlow::Next)
            }
            Err(failed) => {
                generation.errors.push(failed.message.clone());
                generation.failed_replies.push(failed.said.unwrap_or_default());
                if failed.again == GenerateAgain::Yes && generation.attempt < site.options.attempts
                {
                    generation.current = reply::repair(
                        &generation.instruction,
                        failed.previous.as_ref(),
                        &failed.message,
                    );
                    return Ok(self.attempt(task));
                }
                let generation = task.generations.pop().expect("it answered");
                self.record(task, &generation, Err(&failed.message));
                Err(failed.fault)
            }
        }
    }

    fn provider_failed(&self, generation: &Generation, message: String) -> AttemptFailure {
        let fault = TaskFault::new(self.place(generation.at), message.clone());
        let again =
            if message.starts_with(NOT_JSON) { GenerateAgain::Yes } else { GenerateAgain::No };
        AttemptFailure { message, previous: None, said: None, fault, again }
    }

    fn read_reply(
        &self,
        site: &GenerateSite,
        generation: &Generation,
        spoken: &ModelReply,
    ) -> Result<Json, AttemptFailure> {
        let Some(contract) = &site.contract else {
            return Ok(spoken.to_json());
        };
        let mut value = match spoken {
            ModelReply::Value(value) => value.clone(),
            ModelReply::Text(text) => {
                reply::extract(text).map_err(|message| self.provider_failed(generation, message))?
            }
        };
        if site.options.validation != Validation::Strict {
            value = reply::coerce(value, contract);
        }
        reply::validate(&value, contract, site.options.validation).map_err(|misfit| {
            let place = misfit.place.unwrap_or_else(|| self.place(generation.at));
            let fault = TaskFault::new(place, misfit.message);
            let message = self.message(&fault);
            let previous = Some(value.clone());
            AttemptFailure { message, previous, said: None, fault, again: GenerateAgain::Yes }
        })?;
        Ok(value)
    }

    fn record(
        &mut self,
        task: &mut ContextTask,
        generation: &Generation,
        result: Result<Json, &str>,
    ) {
        if !self.traces() {
            return;
        }
        let module = self.module.clone();
        if let Some(event) = trace::generate_event(&module.code, generation, result) {
            self.trace(task, event);
        }
    }
}

fn innermost(task: &mut ContextTask) -> &mut Generation {
    task.generations.last_mut().expect("a generate is under way")
}

/// Returns the source that a `use` stands for in this run; nothing for an empty candidate.
fn source_of<'a>(
    module: &'a Arc<ModuleShared>,
    world: &RunWorld,
    site: u32,
) -> Option<&'a SourceCode> {
    let candidate = world.picked[site as usize].candidate;
    module.code.uses[site as usize].candidates[candidate].source.as_ref()
}

fn reason_word(reason: &PickReason) -> &'static str {
    match reason {
        PickReason::Plain | PickReason::UnknownHint(_) => "",
        PickReason::Trial => "trial",
        PickReason::Selected => "selected",
        PickReason::First => "first",
    }
}

/// The request to a model. Its fields are plain data, except the schema, whose key order counts.
fn payload(module: &ModuleShared, site: &GenerateSite, generation: &Generation) -> Data {
    let model = &module.code.resources[site.model as usize];
    let optional = |value: Option<Data>| value.unwrap_or(Data::Null);
    let max_output = site
        .options
        .max_output
        .as_ref()
        .map(|budget| Data::Int(i64::try_from(budget.limit.max(1)).unwrap_or(i64::MAX)));
    let think = match &site.options.think {
        Json::Text(level) => Data::text(&**level),
        other
        @ (Json::Null | Json::Bool(_) | Json::Number(_) | Json::List(_) | Json::Object(_)) => {
            Data::Bool(*other == Json::Bool(true))
        }
    };
    Data::map([
        ("model", Data::text(&*model.name)),
        ("uri", Data::text(&*model.uri)),
        ("system", Data::text(generation.prompt.system.as_str())),
        ("user", Data::text(generation.prompt.user.as_str())),
        (
            "schema",
            optional(
                site.contract.as_ref().map(|contract| Data::Text(json::compact(&contract.schema))),
            ),
        ),
        ("max_output", optional(max_output)),
        ("temperature", optional(site.options.temperature.map(Data::Float))),
        ("think", think),
        ("strict", Data::Bool(site.options.validation == Validation::Strict)),
        ("attempt", Data::Int(i64::try_from(generation.attempt).unwrap_or(i64::MAX))),
    ])
}

fn debug_text(site: &GenerateSite, generation: &Generation) -> String {
    let ContextPrompt { system, user } = &generation.prompt;
    let schema = site.contract.as_ref().map_or("null", |contract| &*contract.schema_text);
    format!(
        "--- AgentScript generate debug: {} attempt {} ---\nSystem:\n{system}\n\
         Final user message:\n{user}\nReturn schema:\n{schema}\n\
         --- end AgentScript generate debug ---",
        site.agent, generation.attempt
    )
}

/// Shows what came back: the reply as it came, what the model was not told, and whether it counts.
fn reply_text(
    site: &GenerateSite,
    generation: &Generation,
    raw: &str,
    left_out: &[String],
    result: &Result<Json, AttemptFailure>,
) -> String {
    let left_out = match left_out {
        [] => String::new(),
        hints => format!("Not told, because the model does not take it:\n{}\n", hints.join(", ")),
    };
    let validation = match (result, &site.contract) {
        (Ok(_), Some(_)) => "ok",
        (Ok(_), None) => "none",
        (Err(failed), _) => &failed.message,
    };
    format!(
        "--- AgentScript generate reply: {} attempt {} ---\n{left_out}Raw output:\n{raw}\n\
         Validation:\n{validation}\n--- end AgentScript generate reply ---",
        site.agent, generation.attempt
    )
}
