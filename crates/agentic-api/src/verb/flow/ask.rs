//! Putting what waits for a human before people.

mod question;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::Scope;
use std::time::Duration;

use agentic_model::{Kind, Value, json};
use agentic_plan::SNOOZE;
use agentic_providers::channel::{ChannelCapability, ChannelFault};
use agentic_providers::configuration::{Configuration, People};
use agentic_providers::host::CancelFlag;
use agentic_replay::SessionId;
use agentic_replay::engine::{
    CountedDecision, DurableEngine, EngineError, EngineRefusal, RunDecision, RunId,
};
use agentic_session::engine::EmbeddedEngine;
use agentic_session::hosted::host_of;
use agentic_session::{find_run, go_on};
use schemars::JsonSchema;
use serde::Deserialize;

use self::question::{ChannelQuestion, ChosenVerdict, open_questions, open_requests, tell_all};
use crate::redaction::CallerRedactor;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::FlowAskedView;
use crate::watcher::NoticeDesk;
use crate::{Caller, Notice, Refusal};

/// How often it is looked whether somebody has decided elsewhere.
const LOOK: Duration = Duration::from_secs(1);
/// How many answers at once are waited for; of more questions the oldest are asked.
const AWAITED_MAX: usize = 256;
/// How often one channel may bring what does not count, for one question.
const REFUSED_MAX: usize = 8;
/// What the trace entry is of that keeps what a channel brought.
const TRACE_KIND: &str = "log";

/// Put what waits for a human before people, through the channels that are configured. Everybody to
/// whom a route leads is told, and of channels that bring answers the first that counts decides. Only
/// a person may do that.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FlowAsk {
    /// Only of this run and its children; its key, its agent or its session.
    pub run: Option<String>,
}

impl Verb for FlowAsk {
    type Answer = Vec<FlowAskedView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<FlowAskedView>>, Refusal> {
        caller.require_person("decide")?;
        let space = caller.space;
        let Configuration { people, withheld, .. } =
            Configuration::find(&caller.surroundings.folder)?;
        withheld.check_people().map_err(|reason| {
            Refusal::not_allowed(&reason, "`agentic allow` shows what the file does and asks you")
        })?;
        let agent = match &self.run {
            Some(run) => Some(space.session(&find_run(space, run)?)?.agent),
            None => None,
        };
        let mut questions = open_questions(caller, agent, &people)?;
        refuse_nowhere(&questions)?;
        tell_all(&mut questions, &people);
        let (sender, receiver) = channel();
        let desk = NoticeDesk::new(caller.watcher());
        let engine = EmbeddedEngine::new(space, caller.client);
        let (engine, people, desk) = (&engine, &people, &desk);
        let mut asking = OpenQuestions { caller, engine, people, questions, sender, desk };
        std::thread::scope(|scope| asking.wait(scope, &receiver))?;
        let questions = asking.questions;
        for question in questions.iter().filter(|question| question.decision.is_some()) {
            // Whoever drives it is told, and not waited for.
            let session = SessionId::parse(question.run.as_str());
            // Another engine drives its runs by itself.
            let own = session.filter(|id| host_of(space, id).is_none());
            if let Some(Err(error)) = own.map(|id| go_on(space, &id)) {
                desk.warn(format!("the decision stands; the run cannot go on: {error}"));
            }
        }
        let mut notices = desk.take_kept();
        notices.extend(Notice::mended(space));
        let answer = questions.iter().map(ChannelQuestion::view).collect();
        Ok(Reply { answer, notices, completion: completion(&questions, people) })
    }
}

/// Decides where the run is.
fn decide(
    caller: &Caller<'_>,
    embedded: &EmbeddedEngine<'_>,
    run: &RunId,
    decision: &RunDecision,
) -> Result<Result<CountedDecision, EngineError>, Refusal> {
    let session = SessionId::parse(run.as_str());
    let host = session.map(|id| caller.host_of(&id)).transpose()?.flatten();
    Ok(match host {
        Some((address, engines)) => {
            engines.connect(&address, caller.space, caller.client)?.decide(run, decision)
        }
        None => embedded.decide(run, decision),
    })
}

/// Refuses when there is something to ask and no way leads to anybody.
fn refuse_nowhere(questions: &[ChannelQuestion]) -> Result<(), Refusal> {
    match questions.iter().find(|question| question.destinations.is_empty()) {
        None => Ok(()),
        Some(question) => Err(Refusal::refused(
            &format!("no route leads from `{}` to anybody", question.message.id),
            "`agentic.toml` says which channels there are and what goes where",
        )),
    }
}

/// Says whether somebody was told of each question, and whether somebody is still to decide.
fn completion(questions: &[ChannelQuestion], people: &People) -> VerbCompletion {
    let reached = |question: &&ChannelQuestion| question.faults.iter().any(Option::is_none);
    if let Some(question) = questions.iter().find(|question| !reached(question)) {
        let mut faults = question.faults.iter().flatten();
        let why = faults.next().map(ToString::to_string).unwrap_or_default();
        return VerbCompletion::Short(Refusal::refused(
            &format!("nobody could be told of `{}`: {why}", question.message.id),
            "`agentic.toml` says how channels are reached; `agentic decide` answers without them",
        ));
    }
    let awaits = |question: &ChannelQuestion| {
        let mut channels =
            question.destinations.iter().filter_map(|to| people.channels.get(&to.channel));
        channels.any(|channel| channel.can(ChannelCapability::Await))
    };
    match questions.iter().any(|question| !question.is_closed() && awaits(question)) {
        true => VerbCompletion::Held,
        false => VerbCompletion::Whole,
    }
}

/// What came of waiting for a channel: for which question, at which of its destinations.
type ChannelOutcome = (usize, usize, Result<Option<Value>, ChannelFault>);

/// Questions that are put to people.
struct OpenQuestions<'a> {
    caller: &'a Caller<'a>,
    engine: &'a EmbeddedEngine<'a>,
    people: &'a People,
    questions: Vec<ChannelQuestion>,
    sender: Sender<ChannelOutcome>,
    desk: &'a NoticeDesk<'a>,
}

/// What is to be done about what a channel brought.
enum QuestionOutcome {
    /// Nothing more.
    Enough,
    /// Its sender is told why it does not count, and waited for again.
    Refused(String),
}

impl<'a> OpenQuestions<'a> {
    /// Waits for the answers of all channels that bring any; the first that counts decides.
    fn wait<'scope>(
        &mut self,
        scope: &'scope Scope<'scope, '_>,
        receiver: &Receiver<ChannelOutcome>,
    ) -> Result<(), Refusal>
    where
        'a: 'scope,
    {
        let mut n_awaited = self.wait_first(scope);
        while n_awaited > 0 {
            match receiver.recv_timeout(LOOK) {
                Ok((index, place, came)) => {
                    n_awaited -= 1;
                    match self.take(index, place, came) {
                        Ok(QuestionOutcome::Refused(why)) => {
                            self.tell(scope, index, place, why);
                            self.wait_for(scope, index, place);
                            n_awaited += 1;
                        }
                        Ok(QuestionOutcome::Enough) => {}
                        Err(failure) => {
                            self.questions.iter().for_each(|question| question.cancel.set());
                            return Err(failure);
                        }
                    }
                }
                Err(RecvTimeoutError::Timeout) => self.look()?,
                Err(RecvTimeoutError::Disconnected) => break,
            }
        }
        for index in 0..self.questions.len() {
            let Some(said) = self.questions[index].conclusion() else { continue };
            for place in 0..self.questions[index].destinations.len() {
                self.tell(scope, index, place, said.clone());
            }
        }
        Ok(())
    }

    /// Begins to wait wherever a channel brings answers; says how many are waited for.
    fn wait_first<'scope>(&self, scope: &'scope Scope<'scope, '_>) -> usize
    where
        'a: 'scope,
    {
        let questions = self.questions.iter().enumerate();
        let all = questions.flat_map(|(index, question)| {
            (0..question.destinations.len()).map(move |place| (index, place))
        });
        let brings = |(index, place): &(usize, usize)| {
            let channel =
                self.people.channels.get(&self.questions[*index].destinations[*place].channel);
            channel.is_some_and(|channel| channel.can(ChannelCapability::Await))
        };
        let awaited: Vec<(usize, usize)> = all.filter(brings).take(AWAITED_MAX).collect();
        awaited.iter().for_each(|(index, place)| self.wait_for(scope, *index, *place));
        awaited.len()
    }

    fn wait_for<'scope>(&self, scope: &'scope Scope<'scope, '_>, index: usize, place: usize)
    where
        'a: 'scope,
    {
        let question = &self.questions[index];
        let errand = question.errand(place, ChannelCapability::Await, None);
        let channel = &self.people.channels[&question.destinations[place].channel];
        let (cancel, sender) = (question.cancel.clone(), self.sender.clone());
        scope.spawn(move || {
            let came = channel.send(&errand, &cancel);
            // Whoever does not listen any more has failed.
            let _ = sender.send((index, place, came));
        });
    }

    /// Says something where a message went, if the channel can.
    fn tell<'scope>(
        &self,
        scope: &'scope Scope<'scope, '_>,
        index: usize,
        place: usize,
        text: String,
    ) where
        'a: 'scope,
    {
        let question = &self.questions[index];
        let name = question.destinations[place].channel.clone();
        let channel = &self.people.channels[&name];
        if !channel.can(ChannelCapability::Converse) {
            return;
        }
        let errand = question.errand(place, ChannelCapability::Converse, Some(text));
        let desk = self.desk;
        scope.spawn(move || {
            if let Err(fault) = channel.send(&errand, &CancelFlag::new()) {
                desk.warn(format!("the channel `{name}` was not told more: {fault}"));
            }
        });
    }

    /// Takes what a channel brought.
    fn take(
        &mut self,
        index: usize,
        place: usize,
        came: Result<Option<Value>, ChannelFault>,
    ) -> Result<QuestionOutcome, Refusal> {
        let question = &mut self.questions[index];
        if question.is_closed() {
            return Ok(QuestionOutcome::Enough);
        }
        let channel = question.destinations[place].channel.clone();
        let raw = match came {
            Ok(Some(raw)) => raw,
            Ok(None) | Err(ChannelFault::Stopped) => return Ok(QuestionOutcome::Enough),
            Err(fault) => {
                self.desk.warn(format!("the channel `{channel}` brought no answer: {fault}"));
                return Ok(QuestionOutcome::Enough);
            }
        };
        let refused = match self.judge(index, &channel, raw)? {
            None => return Ok(QuestionOutcome::Enough),
            Some(why) => why,
        };
        self.desk.warn(format!("what the channel `{channel}` brought does not count: {refused}"));
        let question = &mut self.questions[index];
        question.n_refused += 1;
        Ok(match question.n_refused > REFUSED_MAX {
            true => QuestionOutcome::Enough,
            false => QuestionOutcome::Refused(refused),
        })
    }

    /// Decides by what a channel brought, or says why it does not count.
    fn judge(
        &mut self,
        index: usize,
        channel: &str,
        raw: Value,
    ) -> Result<Option<String>, Refusal> {
        let identities = &self.people.identities;
        let at = self.caller.space.now();
        let question = &mut self.questions[index];
        let verdict = match ChosenVerdict::read(raw, channel, at, identities) {
            Ok(verdict) => verdict,
            Err(why) => return Ok(Some(why)),
        };
        if verdict.choice == SNOOZE {
            question.verdict = Some(verdict);
            return Ok(None);
        }
        let decision = RunDecision {
            hold: Some(question.message.id.clone()),
            choice: verdict.choice.clone(),
            actor: verdict.actor.clone(),
            note: verdict.note.clone(),
            expect: Some(question.request_hash.clone()),
        };
        match decide(self.caller, self.engine, &question.run, &decision)? {
            Ok(decided) => {
                decided.remark.into_iter().for_each(|remark| self.desk.warn(remark));
                keep(self.caller, self.desk, question, &verdict);
                question.decision = Some(decided.receipt);
                question.verdict = Some(verdict);
                question.cancel.set();
                Ok(None)
            }
            Err(error) => match error.refusal {
                EngineRefusal::HoldClosed | EngineRefusal::HoldNotOpen => {
                    question.close_elsewhere();
                    Ok(None)
                }
                EngineRefusal::ChoiceNotOffered | EngineRefusal::NotAuthorised => {
                    Ok(Some(error.to_string()))
                }
                EngineRefusal::UnknownRun
                | EngineRefusal::KeyTaken
                | EngineRefusal::RunOver
                | EngineRefusal::Unreachable
                | EngineRefusal::Own => Err(error.into()),
            },
        }
    }

    /// Stops waiting for what was decided elsewhere, and for everything once this program is told to
    /// stop.
    fn look(&mut self) -> Result<(), Refusal> {
        let open = open_requests(self.caller.space)?;
        for question in &mut self.questions {
            if self.caller.watcher().stop.is_set() {
                question.cancel.set();
            } else if !question.is_closed() && !open.contains(&question.message.id) {
                question.close_elsewhere();
            }
        }
        Ok(())
    }
}

/// Keeps what a channel brought in the trace of the agent.
fn keep(
    caller: &Caller<'_>,
    desk: &NoticeDesk<'_>,
    question: &ChannelQuestion,
    verdict: &ChosenVerdict,
) {
    let kind = Kind::parse(TRACE_KIND).expect("a valid kind");
    let entry = format!("verdict {}", json::to_text(&verdict.to_value()));
    let entry = match CallerRedactor::new(caller) {
        Ok(mut redactor) => redactor.text("the verdict", entry),
        Err(refusal) => {
            let why = refusal.message;
            desk.warn(format!("the decision stands; the words of the channel are not kept: {why}"));
            return;
        }
    };
    if let Err(error) = caller.space.add_trace(&question.agent, &kind, entry.as_bytes()) {
        desk.warn(format!("the decision stands; the words of the channel are not kept: {error}"));
    }
}
