//! One question to people: where it goes, what came of it.

use std::collections::BTreeSet;

use agentic_model::{AgentName, Instant, Value, json};
use agentic_plan::{ChannelMessage, Destination, Identities};
use agentic_providers::channel::{ChannelCapability, ChannelFault, ChannelTask};
use agentic_providers::configuration::People;
use agentic_providers::host::CancelFlag;
use agentic_replay::engine::RunId;
use agentic_session::SessionSpace;
use agentic_session::engine::message_of;
use agentic_session::hold::{Filter, HoldScope, PendingHold, pending};

use crate::view::{FlowAskedView, FlowToldView, FlowVerdictView};
use crate::{Caller, Refusal};

/// How many questions are asked at once; the oldest first.
const QUESTIONS_MAX: usize = 64;
/// What the address of a hold's page is called in a message.
const PAGE_LINK: &str = "page";
/// The longest choice, actor or note of a verdict, in bytes.
const WORD_BYTES_MAX: usize = 4 << 10;

/// A question.
pub struct ChannelQuestion {
    /// What people read.
    pub message: ChannelMessage,
    /// Whose it is.
    pub agent: AgentName,
    /// The run that asks.
    pub run: RunId,
    /// The hash of the request that people are shown.
    pub request_hash: String,
    /// Where it goes.
    pub destinations: Vec<Destination>,
    /// Why somebody was not told, by destination.
    pub faults: Vec<Option<ChannelFault>>,
    /// What somebody chose.
    pub verdict: Option<ChosenVerdict>,
    /// Where the decision is kept.
    pub decision: Option<String>,
    /// How often somebody brought what does not count.
    pub n_refused: usize,
    /// Tells everybody who waits to stop.
    pub cancel: CancelFlag,
    is_decided_elsewhere: bool,
}

/// What somebody chose.
pub struct ChosenVerdict {
    /// The choice.
    pub choice: String,
    /// Who, by our name.
    pub actor: String,
    /// Why; may be empty.
    pub note: String,
    channel: String,
    at: Instant,
    raw: Value,
}

/// Lists the open questions, of one agent and its children or of all, and where they go.
pub fn open_questions(
    caller: &Caller<'_>,
    agent: Option<AgentName>,
    people: &People,
) -> Result<Vec<ChannelQuestion>, Refusal> {
    let filter = Filter { agent, reach: HoldScope::Subtree, ..Filter::default() };
    let open = pending(caller.space, &filter)?;
    Ok(open
        .iter()
        .take(QUESTIONS_MAX)
        .map(|pending| ChannelQuestion::of(caller, pending, people))
        .collect())
}

/// Returns the names of the requests that are open.
pub fn open_requests(space: &SessionSpace) -> Result<BTreeSet<String>, Refusal> {
    let open = pending(space, &Filter::default())?;
    Ok(open.iter().map(|one| one.hold.session.short_request(&one.hold.id)).collect())
}

/// Tells everybody whom a channel tells; each question by a thread of its own.
pub fn tell_all(questions: &mut [ChannelQuestion], people: &People) {
    std::thread::scope(|scope| {
        for question in questions {
            scope.spawn(|| question.tell(people));
        }
    });
}

impl ChannelQuestion {
    fn of(caller: &Caller<'_>, pending: &PendingHold, people: &People) -> ChannelQuestion {
        let mut message = message_of(pending);
        // People can answer there, too.
        let address = caller.hold_address(&message.id);
        message.links.extend(address.map(|address| (PAGE_LINK.to_owned(), address)));
        let agent = pending.hold.agent.clone();
        let destinations = people.router.route(&message, agent.as_str());
        ChannelQuestion {
            run: RunId::new(pending.hold.session.to_string()),
            request_hash: pending.hold.ask.hash.to_string(),
            faults: vec![None; destinations.len()],
            destinations,
            message,
            agent,
            verdict: None,
            decision: None,
            n_refused: 0,
            cancel: CancelFlag::new(),
            is_decided_elsewhere: false,
        }
    }

    /// Says whether nobody needs to be waited for any more.
    pub fn is_closed(&self) -> bool {
        self.decision.is_some() || self.is_decided_elsewhere
    }

    /// Stops waiting: somebody has decided in another way.
    pub fn close_elsewhere(&mut self) {
        self.is_decided_elsewhere = true;
        self.cancel.set();
    }

    /// Says in a sentence how it ended; nothing while it is open.
    pub fn conclusion(&self) -> Option<String> {
        match &self.verdict {
            Some(verdict) if self.decision.is_some() => {
                Some(format!("{} by {}", verdict.choice, verdict.actor))
            }
            Some(_) | None => {
                self.is_decided_elsewhere.then(|| "it was decided elsewhere".to_owned())
            }
        }
    }

    /// Makes the errand of one destination.
    pub fn errand(
        &self,
        place: usize,
        what: ChannelCapability,
        text: Option<String>,
    ) -> ChannelTask {
        let target = self.destinations[place].target.clone();
        let key = format!("{} {} {target}", self.message.id, what.as_str());
        ChannelTask { what, target, message: self.message.to_value(), text, key }
    }

    fn tell(&mut self, people: &People) {
        for place in 0..self.destinations.len() {
            let channel = &people.channels[&self.destinations[place].channel];
            if channel.can(ChannelCapability::Notify) {
                let errand = self.errand(place, ChannelCapability::Notify, None);
                self.faults[place] = channel.send(&errand, &self.cancel).err();
            }
        }
    }

    /// Returns it as data.
    pub fn view(&self) -> FlowAskedView {
        let told = self.destinations.iter().zip(&self.faults);
        FlowAskedView {
            request: self.message.id.clone(),
            agent: self.agent.to_string(),
            title: self.message.title.clone(),
            severity: self.message.severity.as_str().to_owned(),
            told: told
                .map(|(destination, fault)| FlowToldView {
                    channel: destination.channel.clone(),
                    target: destination.target.clone(),
                    error: fault.as_ref().map(ToString::to_string),
                })
                .collect(),
            verdict: self.verdict.as_ref().map(ChosenVerdict::view),
            decision: self.decision.clone(),
            open: !self.is_closed(),
        }
    }
}

impl ChosenVerdict {
    /// Reads what a channel brought.
    ///
    /// # Errors
    /// Returns why it is no verdict of anybody.
    pub fn read(
        raw: Value,
        channel: &str,
        at: Instant,
        identities: &Identities,
    ) -> Result<ChosenVerdict, String> {
        let text = |key: &str| raw.get(key).and_then(Value::as_text).unwrap_or_default();
        let (choice, native, note) = (text("choice"), text("actor"), text("note"));
        if [choice, native, note].iter().any(|word| word.len() > WORD_BYTES_MAX) {
            return Err(format!("it holds more than {WORD_BYTES_MAX} bytes"));
        }
        if choice.is_empty() {
            return Err("it has no `choice`".to_owned());
        }
        let actor = identities
            .resolve(native)
            .ok_or_else(|| format!("`{native}` is nobody: an `actor` is KIND:NAME"))?;
        Ok(ChosenVerdict {
            choice: choice.to_owned(),
            actor: actor.to_owned(),
            note: note.to_owned(),
            channel: channel.to_owned(),
            at,
            raw,
        })
    }

    /// Returns the verdict as data: `choice`, `actor`, `channel`, `at` and, as it came, `raw`.
    pub fn to_value(&self) -> Value {
        Value::map([
            ("choice", Value::text(&self.choice)),
            ("actor", Value::text(&self.actor)),
            ("channel", Value::text(&self.channel)),
            ("at", Value::Text(self.at.to_string())),
            ("raw", self.raw.clone()),
        ])
    }

    fn view(&self) -> FlowVerdictView {
        FlowVerdictView {
            choice: self.choice.clone(),
            actor: self.actor.clone(),
            channel: self.channel.clone(),
            at: self.at.to_string(),
            raw: json::to_json(&self.raw),
        }
    }
}
