//! An engine that keeps runs in memory: the same answers without a repository, a lock or a disk.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use agentic_lang_pipeline::native::Natives;
use agentic_lang_pipeline::run::{AgentCall, PartsPlace, PipelineProgram, add_kinds};
use agentic_lang_pipeline::{LANGUAGE, SEMANTICS_VERSION};
use agentic_lang_pipeline::{PlannedRun, place_of};
use agentic_model::{AgentName, Cid, Instant, Value};
use agentic_plan::PlanSourceMap;
use agentic_replay::engine::{
    Cancellation, CountedDecision, DurableEngine, EngineError, EngineRefusal, Result,
    RunAttendance, RunDecision, RunEvent, RunHold, RunId, RunStart, RunStatus,
};
use agentic_replay::record::CancelRecord;
use agentic_replay::{
    AnswerSource, Body, End, Engine, HOLD, Hold, Kinds, Path, Performance, ProgramFailure, Record,
    Request, RequestAnswer, Session, SessionOpening, SessionProgress, SessionState,
};

use super::super::history::happening;

/// The engine.
#[derive(Default)]
pub struct Memory {
    runs: RefCell<BTreeMap<RunId, Run>>,
    /// What workers were told of, with how many records it had.
    told: RefCell<BTreeSet<(RunId, usize, usize)>>,
}

/// One run.
struct Run {
    key: String,
    /// What tells it from other runs with its key.
    plans: (Vec<Cid>, Value),
    session: Session<PipelineProgram>,
    places: Vec<Arc<PlanSourceMap>>,
    records: Vec<Record>,
    ready: Vec<Performance>,
    /// Decisions by the path of their hold; those that the program has not heard of stand in `new`.
    decided: BTreeMap<Path, CountedDecision>,
    new: Vec<(Path, Value)>,
    end: Option<End>,
}

fn refuse(refusal: EngineRefusal, said: &str) -> EngineError {
    EngineError::new(refusal, said.to_owned())
}

/// No time passes here: what waits for an instant waits for ever.
fn now() -> Instant {
    Instant::from_millis(1_000_000)
}

impl Memory {
    fn with<T>(&self, run: &RunId, act: impl FnOnce(&mut Run) -> Result<T>) -> Result<T> {
        match self.runs.borrow_mut().get_mut(run) {
            Some(found) => act(found),
            None => Err(refuse(EngineRefusal::UnknownRun, "there is no such run")),
        }
    }
}

impl Run {
    fn begin(start: RunStart<PlannedRun>, key: String, agent: AgentName) -> Run {
        let RunStart { run, input, .. } = start;
        let plans: Vec<Cid> = run.compiled.blocks.iter().map(|block| block.plan.cid()).collect();
        let mut kinds = Kinds::built_in();
        add_kinds(&mut kinds);
        let opening = SessionOpening {
            stamp: false,
            agent,
            flow: plans[0],
            engine: Engine { language: LANGUAGE.to_owned(), semantics: SEMANTICS_VERSION },
            input: input.clone(),
            key: key.clone(),
            allow: vec!["*".to_owned()],
            head: None,
            configuration: None,
            host: None,
        };
        let program = PipelineProgram::new(&run.compiled, run.options(PartsPlace::Contexts));
        let (session, progress) =
            Session::start(opening, now(), program, &kinds).expect("the input is data");
        let mut made = Run {
            key,
            plans: (plans, input),
            session,
            places: run.compiled.blocks.into_iter().map(|block| block.source_map).collect(),
            records: Vec::new(),
            ready: Vec::new(),
            decided: BTreeMap::new(),
            new: Vec::new(),
            end: None,
        };
        made.take_in(progress);
        made
    }

    fn take_in(&mut self, progress: SessionProgress) {
        self.records.extend(progress.links.into_iter().map(|link| link.record));
        self.ready.extend(progress.perform);
        self.end = self.end.take().or(progress.end);
        for withdrawn in progress.withdrawn {
            self.answer(
                &withdrawn.request.path.clone(),
                RequestAnswer::Cancelled(withdrawn.stopped),
            );
        }
    }

    fn answer(&mut self, path: &Path, answer: RequestAnswer) {
        self.ready.retain(|performance| performance.request.path != *path);
        let answered = self.session.answered(path, answer, AnswerSource::Executor, now());
        self.take_in(answered.expect("it was open"));
    }

    fn go_on(&mut self) {
        for (path, decision) in std::mem::take(&mut self.new) {
            self.answer(&path, RequestAnswer::Ok(decision));
        }
        while let Some(performance) = self.ready.pop() {
            let answer = perform(&performance.request);
            self.answer(&performance.request.path.clone(), answer);
        }
    }

    /// Returns the holds that nobody has decided.
    fn open(&self) -> Vec<Hold> {
        let is_open = |hold: &Hold| !self.decided.contains_key(&hold.request.path);
        self.session.pending().into_iter().filter(is_open).collect()
    }

    fn hold(&self, node: Option<&str>) -> Result<Path> {
        let stands = |path: &Path| {
            let mut parts = path.as_str().split('/').chain([path.as_str()]);
            node.is_none_or(|node| parts.any(|part| part == node))
        };
        let asked = self.records.iter().filter_map(|record| {
            if let Body::Ask(ask) = &record.body
                && ask.kind == HOLD
            {
                Some(ask.path.clone())
            } else {
                None
            }
        });
        let meant: Vec<Path> = match node {
            Some(_) => asked.filter(|path| stands(path)).collect(),
            None => self.open().into_iter().map(|hold| hold.request.path.clone()).collect(),
        };
        match meant.as_slice() {
            [only] => Ok(only.clone()),
            [] => Err(refuse(EngineRefusal::HoldNotOpen, "nobody is asked there")),
            _ => Err(refuse(EngineRefusal::Own, "several are asked")),
        }
    }

    fn decide(&mut self, id: &RunId, decision: &RunDecision) -> Result<CountedDecision> {
        let path = self.hold(decision.hold.as_deref())?;
        let made = CountedDecision {
            run: id.clone(),
            request: path.to_string(),
            action: match decision.choice.as_str() {
                "accept" => "approve".to_owned(),
                "reject" => "reject".to_owned(),
                _ => "respond".to_owned(),
            },
            actor: decision.actor.clone(),
            receipt: decision.choice.clone(),
            remark: None,
        };
        match self.decided.get(&path) {
            Some(earlier) if *earlier == made => return Ok(made),
            Some(_) => return Err(refuse(EngineRefusal::HoldClosed, "it was decided otherwise")),
            None if self.end.is_some() => {
                return Err(refuse(EngineRefusal::HoldClosed, "the run is over"));
            }
            None => {}
        }
        if !decision.actor.starts_with("user:") {
            return Err(refuse(EngineRefusal::NotAuthorised, "only people decide"));
        }
        let open = self.open();
        let hold = open.iter().find(|hold| hold.request.path == path).expect("it was found");
        let offered = hold.request.payload.get("choices").and_then(Value::as_list);
        let is_offered = offered.unwrap_or_default().contains(&Value::text(&decision.choice));
        if made.action == "respond" && !is_offered {
            return Err(refuse(EngineRefusal::ChoiceNotOffered, "it is not offered"));
        }
        let value = Value::map([
            ("choice", Value::text(&decision.choice)),
            ("actor", Value::text(&decision.actor)),
            ("note", Value::text(&decision.note)),
        ]);
        self.decided.insert(path.clone(), made.clone());
        self.new.push((path, value));
        Ok(made)
    }

    fn state(&self) -> SessionState {
        match &self.end {
            Some(End::Done(_)) => SessionState::Done,
            Some(End::Failed(_)) => SessionState::Failed,
            Some(End::Cancelled) => SessionState::Cancelled,
            None if self.ready.is_empty() && self.new.is_empty() => SessionState::Held,
            None => SessionState::Running,
        }
    }

    fn blocks(&self) -> Vec<Value> {
        let ended = match &self.end {
            Some(End::Done(result)) => result.get("blocks"),
            Some(End::Failed(failure)) => failure.details.get("blocks"),
            Some(End::Cancelled) | None => None,
        };
        match ended.and_then(Value::as_list) {
            Some(blocks) => blocks.to_vec(),
            None => {
                let progress = self.session.program().progress();
                progress.iter().map(|block| block.to_value()).collect()
            }
        }
    }
}

fn perform(request: &Request) -> RequestAnswer {
    let function = request.payload.get("function").and_then(Value::as_text);
    let call = AgentCall::of(request);
    match function.zip(call).and_then(|(name, call)| Natives::default().perform(name, &call)) {
        Some(Ok(value)) => RequestAnswer::Ok(value),
        Some(Err(failure)) => RequestAnswer::Failed(failure),
        None => RequestAnswer::Failed(ProgramFailure::new("unknown-kind", request.kind.clone())),
    }
}

impl DurableEngine<PlannedRun> for Memory {
    fn start(&self, start: RunStart<PlannedRun>, attendance: RunAttendance) -> Result<RunId> {
        let key = start.key.clone().expect("cases name their keys");
        let agent = AgentName::parse(&format!("run-{key}")).expect("cases choose good keys");
        let id = RunId::new(&key);
        let mut runs = self.runs.borrow_mut();
        let made = Run::begin(start, key, agent);
        if runs.get(&id).is_some_and(|before| before.plans != made.plans) {
            return Err(refuse(EngineRefusal::KeyTaken, "the key names another run"));
        }
        let run = runs.entry(id.clone()).or_insert(made);
        if attendance == RunAttendance::Attended {
            run.go_on();
        }
        Ok(id)
    }

    fn find(&self, name: &str) -> Result<RunId> {
        let id = RunId::new(name.strip_prefix("run-").unwrap_or(name));
        self.with(&id, |_| Ok(()))?;
        Ok(id)
    }

    fn go_on(&self, run: &RunId) -> Result<()> {
        self.with(run, |run| {
            run.go_on();
            Ok(())
        })
    }

    fn due(&self) -> Result<Vec<RunId>> {
        let runs = self.runs.borrow();
        let open = runs.iter().filter(|(_, run)| run.end.is_none());
        let new = open.filter(|(id, run)| {
            let seen = ((*id).clone(), run.records.len(), run.decided.len());
            self.told.borrow_mut().insert(seen)
        });
        Ok(new.map(|(id, _)| id.clone()).collect())
    }

    fn status(&self, run: &RunId) -> Result<RunStatus> {
        self.with(run, |found| {
            let hold = |hold: Hold| RunHold {
                request: hold.request.path.to_string(),
                path: hold.request.path.clone(),
                question: None,
                choices: hold.request.payload.get("choices").cloned(),
            };
            Ok(RunStatus {
                id: run.clone(),
                key: found.key.clone(),
                agent: found.session.started().agent.clone(),
                state: found.state(),
                blocks: found.blocks(),
                holds: found.open().into_iter().map(hold).collect(),
                until: None,
                unanswered: None,
                page: None,
            })
        })
    }

    fn result(&self, run: &RunId) -> Result<Option<End>> {
        self.with(run, |run| Ok(run.end.clone()))
    }

    fn history(&self, run: &RunId) -> Result<Vec<RunEvent>> {
        self.with(run, |run| {
            let told = |record: &Record| {
                let event = happening(record);
                let place = event.path.as_ref().and_then(|path| place_of(&run.places, path));
                RunEvent { place, ..event }
            };
            Ok(run.records.iter().map(told).collect())
        })
    }

    fn cancel(&self, run: &RunId, cancellation: &Cancellation) -> Result<()> {
        self.with(run, |run| {
            let Cancellation { who, why, mode } = cancellation.clone();
            let cancelled = run.session.cancel(CancelRecord { who, why, mode }, now());
            let over = |_| refuse(EngineRefusal::RunOver, "the run is over");
            let progress = cancelled.map_err(over)?;
            run.ready.clear();
            run.take_in(progress);
            Ok(())
        })
    }

    fn decide(&self, run: &RunId, decision: &RunDecision) -> Result<CountedDecision> {
        self.with(run, |found| found.decide(run, decision))
    }
}
