//! `generate`: sources are read, the prompt is laid out, the reply is held to its contract.

use std::sync::Arc;

use agentic_model::Value as Data;

use crate::code::{Debug, GenerateSite, SourceCode, Validation};
use crate::context::clip;
use crate::context::measure::{Budget, Measure};
use crate::context::prompt::{self, Identity, Item, Prompt};
use crate::dialect::Version;
use crate::json::{self, Json};
use crate::module::Shared;
use crate::reply;
use crate::value::Value;

use super::answer::{Spoken, left_out_of, raw_of, spoken, usage_of};
use super::fault::Fault;
use super::step::Flow;
use super::task::{Task, Waits};
use super::{DEBUG_EVENT, Pause, Reason, World, trace};

/// The kind of a request to a model.
pub const MODEL_REQUEST: &str = "model";

/// What a provider says when a reply holds no JSON; such a reply is asked for again.
const NOT_JSON: &str = "LLM provider did not return JSON: ";

/// A `generate` under way.
pub(super) struct Generation {
    pub site: u32,
    /// Its own instruction, to which execution returns.
    at: usize,
    return_to: usize,
    pub instruction: Json,
    /// The instruction with what was wrong before.
    current: Json,
    /// Sources that are still to be read, the next one last.
    sources: Vec<u32>,
    pub items: Vec<Item>,
    pub attempt: u64,
    pub errors: Vec<String>,
    /// What the model said in each attempt that failed; null where it said nothing.
    pub failed_replies: Vec<Json>,
    pub prompt: Prompt,
    /// What each attempt cost; null where that is not known.
    pub usages: Vec<Json>,
}

/// Why an attempt failed.
struct Failed {
    message: String,
    /// What the model returned, if it could be read.
    previous: Option<Json>,
    /// What it said, read or not.
    said: Option<Json>,
    fault: Fault,
    again: Again,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Again {
    Yes,
    No,
}

impl World {
    /// Records that a source became visible.
    pub(super) fn declare_use(
        &mut self,
        task: &mut Task,
        site: u32,
        at: usize,
    ) -> Result<(), Fault> {
        let module = self.module.clone();
        let declared = &module.code.uses[site as usize];
        let picked = self.picked[site as usize].clone();
        if let (Reason::UnknownHint(hint), Some(choice)) = (&picked.reason, &declared.choice) {
            let message = format!("the choice `{}` has no candidate `{hint}`", choice.site_id);
            return Err(Fault::new(self.place(at), message));
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
        task: &mut Task,
        site: u32,
        at: usize,
    ) -> Result<Flow, Fault> {
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
            prompt: Prompt { system: String::new(), user: String::new() },
            usages: Vec::new(),
        });
        self.next_source(task)
    }

    /// Goes on to the code of the next visible source, or to the first attempt after the last.
    fn next_source(&mut self, task: &mut Task) -> Result<Flow, Fault> {
        let module = self.module.clone();
        loop {
            let generation = innermost(task);
            let Some(site) = generation.sources.last() else {
                return Ok(self.attempt(task));
            };
            match source_of(&module, self, *site) {
                Some(source) => {
                    task.at = source.address as usize;
                    return Ok(Flow::Next);
                }
                None => {
                    generation.sources.pop();
                }
            }
        }
    }

    /// Takes the value of a source, holds it to its budget and goes on.
    pub(super) fn source_end(&mut self, task: &mut Task, at: usize) -> Result<Flow, Fault> {
        let value = task.pop();
        let module = self.module.clone();
        let generation = innermost(task);
        let site = generation.sources.pop().expect("the code of a source runs for a generate");
        let source = source_of(&module, self, site).expect("an empty candidate has no code");
        let first = module.code.generates[generation.site as usize].version < Version::V0_1_3;
        let measure = if first { Measure::Exact } else { Measure::Estimated };
        let limit = source.budget.as_ref().map_or(0, |budget| budget.limit);
        let budget = Budget { limit, measure, addresses: self.meaning.addresses() };
        let (content, seen) = clip::clip(&value, &module.code, budget)
            .map_err(|unshowable| Fault::unshowable(self.place(at), unshowable))?;
        self.touch_seen(seen);
        generation.items.push(Item {
            source: source.text.clone(),
            label: module.code.uses[site as usize].label.clone(),
            budget: source.budget.clone(),
            content,
        });
        self.next_source(task)
    }

    /// Lays out the prompt and asks the model.
    fn attempt(&mut self, task: &mut Task) -> Flow {
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
            self.events.push(agentic_replay::Event { kind: DEBUG_EVENT.to_owned(), data });
        }
        let place = self.place(generation.at);
        let path = self.ask(task, place, MODEL_REQUEST, payload);
        task.waits = Some(Waits::Model);
        Flow::Pause(Pause::Asked(path))
    }

    pub(super) fn model_answered(&mut self, task: &mut Task) -> Result<Flow, Fault> {
        let module = self.module.clone();
        let answer = task.answer.take().expect("a task wakes with its answer");
        let generation = innermost(task);
        let site = &module.code.generates[generation.site as usize];
        generation.usages.push(usage_of(&answer).unwrap_or_default());
        let left_out = left_out_of(&answer);
        let raw = raw_of(&answer);
        let result = spoken(answer)
            .map_err(|unspoken| Failed {
                said: unspoken.said,
                ..self.provider_failed(generation, unspoken.message)
            })
            .and_then(|spoken| {
                let read = self.read_reply(site, generation, &spoken);
                read.map_err(|failed| Failed { said: Some(spoken.to_json()), ..failed })
            });
        if site.options.debug == Debug::Shown {
            let data = Data::Text(reply_text(site, generation, (&raw, &left_out), &result));
            self.events.push(agentic_replay::Event { kind: DEBUG_EVENT.to_owned(), data });
        }
        match result {
            Ok(result) => {
                let generation = task.generations.pop().expect("it answered");
                task.at = generation.return_to;
                task.stack.push(Value::from_json(&result));
                self.record(task, &generation, Ok(result));
                Ok(Flow::Next)
            }
            Err(failed) => {
                generation.errors.push(failed.message.clone());
                generation.failed_replies.push(failed.said.unwrap_or_default());
                if failed.again == Again::Yes && generation.attempt < site.options.attempts {
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

    fn provider_failed(&self, generation: &Generation, message: String) -> Failed {
        let fault = Fault::new(self.place(generation.at), message.clone());
        let again = if message.starts_with(NOT_JSON) { Again::Yes } else { Again::No };
        Failed { message, previous: None, said: None, fault, again }
    }

    fn read_reply(
        &self,
        site: &GenerateSite,
        generation: &Generation,
        spoken: &Spoken,
    ) -> Result<Json, Failed> {
        let Some(contract) = &site.contract else {
            return Ok(spoken.to_json());
        };
        let mut value = match spoken {
            Spoken::Value(value) => value.clone(),
            Spoken::Text(text) => {
                reply::extract(text).map_err(|message| self.provider_failed(generation, message))?
            }
        };
        if site.options.validation != Validation::Strict {
            value = reply::coerce(value, contract);
        }
        reply::validate(&value, contract, site.options.validation).map_err(|misfit| {
            let place = misfit.place.unwrap_or_else(|| self.place(generation.at));
            let fault = Fault::new(place, misfit.message);
            let message = self.message(&fault);
            let previous = Some(value.clone());
            Failed { message, previous, said: None, fault, again: Again::Yes }
        })?;
        Ok(value)
    }

    fn record(&mut self, task: &mut Task, generation: &Generation, result: Result<Json, &str>) {
        if !self.traces() {
            return;
        }
        let module = self.module.clone();
        if let Some(event) = trace::generate_event(&module.code, generation, result) {
            self.trace(task, event);
        }
    }
}

fn innermost(task: &mut Task) -> &mut Generation {
    task.generations.last_mut().expect("a generate is under way")
}

/// Returns the source that a `use` stands for in this run; nothing for an empty candidate.
fn source_of<'a>(module: &'a Arc<Shared>, world: &World, site: u32) -> Option<&'a SourceCode> {
    let candidate = world.picked[site as usize].candidate;
    module.code.uses[site as usize].candidates[candidate].source.as_ref()
}

fn reason_word(reason: &Reason) -> &'static str {
    match reason {
        Reason::Plain | Reason::UnknownHint(_) => "",
        Reason::Trial => "trial",
        Reason::Selected => "selected",
        Reason::First => "first",
    }
}

/// The request to a model. Its fields are plain data, except the schema, whose key order counts.
fn payload(module: &Shared, site: &GenerateSite, generation: &Generation) -> Data {
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
    let Prompt { system, user } = &generation.prompt;
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
    (raw, left_out): (&str, &[String]),
    result: &Result<Json, Failed>,
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
