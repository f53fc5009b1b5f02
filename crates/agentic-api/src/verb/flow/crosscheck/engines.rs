//! Comparing a run of the embedded engine with one of a server: any program, under a clock that moves only
//! as far as the program waits.
//!
//! Each has a repository of its own, which is removed again. Both have to ask the same, get the same
//! answers and come to the same; where their answers came in the same order, they have the same records
//! and make the same commits.

use std::path::PathBuf;

use agentic_flow::Rhai;
use agentic_model::json;
use agentic_replay::{AskedRequest, SessionId, SessionState};
use agentic_session::engine::start_pinned;
use agentic_session::{Begin, SessionSpace, Summary, unique_id};
use agentic_space::Clock;
use serde_json::{Value as Json, json as json_of};

use super::{AGENT, FlowCrosscheck, RUN, make_agent, make_repository, options};
use crate::caller::AddressedEngine;
use crate::program::ProgramText;
use crate::verb::run::{Run, RunPlace};
use crate::verb::{FlowSource, Reply, SessionStart, VerbCompletion};
use crate::view::{CrosscheckAnswer, CrosscheckView};
use crate::{Caller, Refusal, Surroundings};

/// A repository that was made for one of both runs.
struct CrosscheckStage(PathBuf);

impl Drop for CrosscheckStage {
    fn drop(&mut self) {
        // What was made for the comparison alone goes with it.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs a program on both engines and compares.
pub(super) fn between(
    verb: FlowCrosscheck,
    here: &Surroundings,
    engine: &AddressedEngine,
) -> Result<Reply<CrosscheckAnswer>, Refusal> {
    let at = Clock::System.now();
    let program = verb.program.clone().read(here, None)?;
    let pinned = options(here, Clock::Fixed(at));
    let prepare = || -> Result<(CrosscheckStage, SessionSpace, Begin), Refusal> {
        let name = format!("agentic-crosscheck-{}", unique_id());
        let stage = CrosscheckStage(std::env::temp_dir().join(name));
        make_repository(&stage.0, &here.folder)?;
        let space = SessionSpace::open(&stage.0, pinned.clone())?;
        make_agent(&space)?;
        let begin = begin(&verb, &program, here, &space)?;
        Ok((stage, space, begin))
    };
    let (own, own_space, begun) = prepare()?;
    let embedded = start_pinned(&own.0, &pinned, begun, at)?;
    let (other, other_space, begun) = prepare()?;
    let (address, engines) = engine;
    let hosted = engines.start_pinned(address, &other.0, &pinned, begun)?;
    compare(&Side::of(&own_space, embedded)?, &Side::of(&other_space, hosted)?)
}

/// Says what the session of a program begins with.
fn begin(
    verb: &FlowCrosscheck,
    program: &ProgramText,
    here: &Surroundings,
    space: &SessionSpace,
) -> Result<Begin, Refusal> {
    let caller = Caller { surroundings: here.clone(), ..Caller::new(space, &here.folder) };
    if program.language.is(&Rhai) {
        let start = SessionStart {
            agent: AGENT.to_owned(),
            flow: FlowSource::Script(program.text()?.to_owned()),
            input: match &verb.input {
                Some(text) => json::from_text(text).map_err(|error| {
                    Refusal::usage(&error.to_string(), "give one JSON value to `--input`")
                })?,
                None => agentic_model::Value::Null,
            },
            key: Some(RUN.to_owned()),
            allow: vec!["*".to_owned()],
        };
        return start.begin(&caller);
    }
    let run = Run {
        input: verb.input.clone(),
        pipeline: verb.pipeline.clone(),
        registry: verb.registry.clone(),
        place: RunPlace::Session,
        agent: Some(AGENT.to_owned()),
        key: Some(RUN.to_owned()),
        mock: program.language.is(&agentic_lang_context::ContextLanguage),
        ..Run::of(verb.program.clone())
    };
    run.prepare(here)?.begin(&caller)?.ok_or_else(|| {
        Refusal::refused("the program does not compile", "`agentic check FILE` shows why")
    })
}

/// What one engine made of the program.
struct Side {
    /// What its sessions asked and came to, without what may come in another order.
    sessions: Json,
    /// In which order their answers came.
    order: Json,
    /// The heads of the branches of agents.
    heads: Json,
}

impl Side {
    fn of(space: &SessionSpace, first: SessionId) -> Result<Side, Refusal> {
        let mut ids = vec![first];
        ids.extend(space.sessions()?.into_iter().filter(|id| *id != first));
        let summaries: Result<Vec<Summary>, _> = ids.iter().map(|id| space.session(id)).collect();
        let mut summaries = summaries?;
        summaries.sort_by_key(|summary| summary.id);
        let heads: Result<Vec<Json>, Refusal> = summaries
            .iter()
            .map(|it| Ok(json_of!([it.agent.as_str(), space.head(&it.agent)?.to_string()])))
            .collect();
        Ok(Side {
            sessions: summaries.iter().map(told).collect(),
            order: summaries.iter().map(order).collect(),
            heads: Json::Array(heads?),
        })
    }
}

/// Tells what a session asked and came to.
fn told(summary: &Summary) -> Json {
    let mut asked: Vec<&AskedRequest> = summary.asked.iter().collect();
    asked.sort_by_key(|asked| asked.path.clone());
    let asked = asked.into_iter().map(|it| {
        let answer = it.answer.as_ref().map(|(_, answer, _)| told_answer(&it.kind, answer));
        json_of!([it.path.to_string(), it.id.to_string(), it.kind, answer])
    });
    let state = match summary.state {
        // Whoever waits for a child, or a human, waits.
        SessionState::Running => SessionState::Waiting,
        state @ (SessionState::Held
        | SessionState::Waiting
        | SessionState::Done
        | SessionState::Failed
        | SessionState::Cancelled
        | SessionState::Diverged) => state,
    };
    json_of!({
        "session": summary.id.to_string(),
        "state": state.as_str(),
        "result": summary.result.as_ref().map(json::to_json),
        "failure": summary.failure.as_ref().map(|it| [it.code.as_str(), it.message.as_str()]),
        "asked": asked.collect::<Vec<_>>(),
    })
}

/// Tells an answer, but for the commits that depend on the order of answers.
fn told_answer(kind: &str, answer: &agentic_replay::RequestAnswer) -> Json {
    let text = format!("{answer:?}");
    match (kind, answer) {
        ("commit" | "spawn", agentic_replay::RequestAnswer::Ok(_)) => Json::Bool(true),
        _ => Json::String(text),
    }
}

/// Tells in which order requests were asked and answered, and when.
fn order(summary: &Summary) -> Json {
    let asked = summary.asked.iter().map(|it| {
        let answered = it.answer.as_ref().map(|(seq, ..)| *seq);
        let at = [Some(it.asked_at), it.answered_at].map(|at| at.map(|at| at.millis()));
        json_of!([it.path.to_string(), it.seq, answered, at])
    });
    json_of!([summary.id.to_string(), asked.collect::<Vec<_>>()])
}

fn compare(embedded: &Side, server: &Side) -> Result<Reply<CrosscheckAnswer>, Refusal> {
    let is_in_order = embedded.order == server.order;
    let has_same_heads = embedded.heads == server.heads;
    let same = embedded.sessions == server.sessions && (has_same_heads || !is_in_order);
    let side = |side: &Side| {
        let mut shown = json_of!({ "sessions": side.sessions, "heads": side.heads });
        if !same {
            shown["order"] = side.order.clone();
        }
        shown
    };
    let (memory, durable) = (side(embedded), side(server));
    let answer = CrosscheckAnswer::Compared(CrosscheckView { same, memory, durable });
    let completion = match same {
        true => VerbCompletion::Whole,
        false => VerbCompletion::Short(Refusal::diverged(
            "the embedded engine and the server came to different sessions",
            "programs that answer differently each time cannot be compared so",
        )),
    };
    Ok(Reply { completion, ..Reply::plain(answer) })
}
