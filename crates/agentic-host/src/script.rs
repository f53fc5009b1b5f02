//! Agents that are played from a script, for comparing runs and for trying a program out.
//!
//! A script is part of the pinned program, and which of its answers is next is a fold over the
//! requests that were answered; so a replay gives the same answers.

use std::collections::BTreeMap;

use agentic_lang_pipeline::run::AgentCall;
use agentic_model::Value;
use agentic_replay::{ProgramFailure, ProgramFault, Request, RequestAnswer};

/// What agents answer, by their ids, in turn; the last answer stays.
#[derive(Debug, Default)]
pub struct Script {
    answers: BTreeMap<String, Vec<RequestAnswer>>,
    n_asked: BTreeMap<String, usize>,
}

impl Script {
    /// Reads a script: a map from the ids of agents to lists of `{"ok":VALUE}` and
    /// `{"failed":{"code","message"}}`.
    pub fn read(value: &Value) -> Result<Script, ProgramFault> {
        let agents = value.as_map().ok_or_else(|| bad("it is no map from agents to answers"))?;
        let mut answers = BTreeMap::new();
        for (agent, listed) in agents {
            let listed = listed.as_list().filter(|listed| !listed.is_empty());
            let listed = listed.ok_or_else(|| bad(&format!("`{agent}` has no list of answers")))?;
            let read: Option<Vec<RequestAnswer>> = listed.iter().map(read_answer).collect();
            let read = read.ok_or_else(|| {
                bad(&format!("an answer of `{agent}` is neither `ok` nor `failed`"))
            })?;
            answers.insert(agent.clone(), read);
        }
        Ok(Script { answers, n_asked: BTreeMap::new() })
    }

    /// Says whether a request is answered from the script.
    pub fn knows(&self, request: &Request) -> bool {
        !self.answers.is_empty()
            && AgentCall::of(request).is_some_and(|call| self.answers.contains_key(&call.agent))
    }

    /// Returns the next answer to a request, if the script has any.
    pub fn next(&mut self, request: &Request) -> Option<RequestAnswer> {
        if self.answers.is_empty() {
            return None;
        }
        let agent = AgentCall::of(request)?.agent;
        let answers = self.answers.get(&agent)?;
        let n_asked = self.n_asked.entry(agent).or_default();
        let answer = answers.get(*n_asked).or(answers.last())?;
        *n_asked += 1;
        Some(answer.clone())
    }
}

fn read_answer(value: &Value) -> Option<RequestAnswer> {
    if let Some(value) = value.get("ok") {
        return Some(RequestAnswer::Ok(value.clone()));
    }
    let failed = value.get("failed")?;
    let text = |key: &str| failed.get(key).and_then(Value::as_text);
    Some(RequestAnswer::Failed(ProgramFailure::new(
        text("code")?,
        text("message").unwrap_or_default(),
    )))
}

fn bad(reason: &str) -> ProgramFault {
    ProgramFault::BadScript { reason: reason.to_owned() }
}

#[cfg(test)]
mod tests;
