//! Gates: a call that a rule names runs only when a person has said so.
//!
//! A gate is a hook that answers. It fails closed: what cannot be checked is stopped. The question is
//! a session of the built-in flow `permission`, a single request of kind `hold`, so that it is listed,
//! shown and decided like any other. It is bound to what would be executed ([`CallKey`]), and each
//! decision counts once: that it was used is durable before the coding agent hears of it.

mod answer;
mod call_key;
mod guard;
mod ledger;
mod marker;
mod permission;
mod reply;
mod rule;
mod rules;
mod shell;
mod tool;
mod verdict;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use agentic_model::{AgentName, Value};
use agentic_replay::SessionId;
use agentic_session::SessionSpace;

use self::ledger::{Ledger, LedgerFact, UseMoment, UseScope};
use self::permission::{DecidedPermission, PermissionState};
use crate::{ConversationId, Source};

pub use self::answer::answer_of;
pub use self::call_key::CallKey;
pub use self::marker::{LeafRedaction, LeafRedactor};
pub use self::reply::{GateRequest, gate_reply, reply_to_nobody};
pub use self::rule::{BadRules, Enforcement, HeldCall, HoldRule};
pub use self::rules::{HeldBy, HoldRules};
pub(crate) use self::tool::without_detours;
pub use self::verdict::GateVerdict;

/// The variable by which whoever starts a coding agent says that its run may be put down.
pub const HOLD_VARIABLE: &str = "AGENTIC_HOLD";
/// How long before its timeout a gate stops waiting.
const MARGIN: Duration = Duration::from_secs(30);
/// How often a gate that waits looks whether it was decided.
const LOOK: Duration = Duration::from_millis(200);

/// Why a gate cannot answer.
#[derive(Debug, thiserror::Error)]
pub enum GateError {
    /// The question or the use of its answer cannot be written down.
    #[error("cannot record the question")]
    Record {
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Others of the conversation are at it for too long.
    #[error("cannot record the question: another gate of this conversation is at work")]
    Busy,
    /// The rules cannot be read.
    #[error(transparent)]
    Rules(#[from] BadRules),
    /// What was written before cannot be read.
    #[error("{what} is damaged")]
    Damaged {
        /// What.
        what: &'static str,
    },
    /// A rule holds the call of a conversation that is no agent's.
    #[error("a rule holds it, and this conversation is no agent's")]
    Nobody,
    /// Only the beginning of the call was read.
    #[error("it is too long to check")]
    TooLong,
    /// Nobody knows what would run.
    #[error("it names no tool")]
    NoTool,
    /// The input has something in it that cannot be named.
    #[error("the call cannot be named")]
    Unnamed,
}

impl GateError {
    /// Says that something cannot be written down.
    pub(crate) fn record(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> GateError {
        GateError::Record { source: source.into() }
    }
}

/// A call of a tool that a coding agent asks about.
#[derive(Debug, Clone, PartialEq)]
pub struct GatedCall {
    /// Whose.
    pub source: Source,
    /// What is asked.
    pub question: GateQuestion,
    /// The tool, by the vendor's name.
    pub tool: String,
    /// What it is given.
    pub input: Value,
    /// The folder in which it would run.
    pub folder: PathBuf,
    /// Who calls.
    pub caller: CallingAgent,
    /// How freely the conversation may act, as its vendor says it.
    pub mode: Option<String>,
}

/// What is asked about a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GateQuestion {
    /// Whether it may run.
    Call,
    /// For somebody's leave, which the vendor would ask its user for.
    Leave,
}

/// Who calls a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallingAgent {
    /// The conversation itself.
    Conversation,
    /// A subagent of it: such a call cannot be put off.
    Subagent,
}

/// A call that is asked about, and all that it takes to answer.
pub struct Gate<'g> {
    /// The space.
    pub space: &'g SessionSpace,
    /// The agent whose conversation it is.
    pub agent: &'g AgentName,
    /// The conversation.
    pub conversation: &'g ConversationId,
    /// What is asked about.
    pub call: &'g GatedCall,
    /// What counts.
    pub rules: &'g HoldRules,
    /// The key of this repository: names of calls mean nothing without it.
    pub key: &'g [u8; 32],
    /// Takes secrets out of a text that stands beside a key.
    pub redactor: &'g LeafRedactor<'g>,
    /// How a call may be put off.
    pub deferral: Deferral,
    /// How long the gate may take.
    pub timeout: Duration,
}

/// Whether whoever started the coding agent goes on with a run that was put down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deferral {
    /// It does.
    Offered,
    /// Nobody does.
    None,
}

/// What a gate says, and what is to be written into the trace.
#[derive(Debug, Clone, PartialEq)]
pub struct GateOutcome {
    /// The answer.
    pub verdict: GateVerdict,
    /// What happened, for the trace; nothing where no rule names the call.
    pub noted: Option<String>,
}

impl Gate<'_> {
    /// Answers. Before it returns, whatever follows from the answer is durable.
    ///
    /// # Errors
    /// Fails when the question cannot be asked, or its answer not be used: the call must not run.
    pub fn answer(&self) -> Result<GateOutcome, GateError> {
        let silent = GateOutcome { verdict: GateVerdict::Silent, noted: None };
        let call = self.call;
        let folder = call.folder.canonicalize().unwrap_or_else(|_| call.folder.clone());
        let checkout = self.space.repository().work_dir().unwrap_or(folder.as_path());
        let held = HeldCall {
            source: call.source,
            tool: &call.tool,
            input: &call.input,
            folder: &folder,
            checkout,
            home: self.rules.home(),
        };
        let Some(by) = self.rules.held_by(&held) else { return Ok(silent) };
        if by.enforce == Enforcement::Ask {
            let number = by.rule.as_ref().map_or(0, |rule| rule.number);
            let verdict = GateVerdict::Ask { number };
            return Ok(GateOutcome { verdict, noted: Some("hold asked".to_owned()) });
        }
        let key = CallKey::of(self.key, &folder, &call.tool, &call.input);
        let key = key.ok_or(GateError::Unnamed)?;
        self.decide(&by, &key, &folder)
    }

    fn decide(&self, by: &HeldBy, key: &CallKey, folder: &Path) -> Result<GateOutcome, GateError> {
        let begun = std::time::Instant::now();
        let patience = self.timeout.saturating_sub(MARGIN);
        loop {
            // Nobody waits for a gate that waits: the ledger is open only while it looks.
            let mut ledger = Ledger::open(self.space.repository().common_dir(), self.conversation)?;
            let request = match self.state(&mut ledger, by, key, folder)? {
                CallState::Decided(decided, n) => {
                    self.used(&mut ledger, key, n, &decided)?;
                    return Ok(self.outcome(&decided));
                }
                CallState::OfItsCall(decided, n) => {
                    self.used(&mut ledger, key, n, &decided)?;
                    // The trace has that use already.
                    return Ok(GateOutcome { noted: None, ..self.outcome(&decided) });
                }
                CallState::Repeated(decided) => return Ok(self.outcome(&decided)),
                CallState::Open(request) => request,
            };
            drop(ledger);
            let may_wait = by.enforce == Enforcement::Wait && self.is_call();
            if !may_wait || begun.elapsed() >= patience {
                return Ok(GateOutcome {
                    verdict: self.undecided(by.enforce, request),
                    noted: None,
                });
            }
            std::thread::sleep(LOOK.min(patience.saturating_sub(begun.elapsed())));
        }
    }

    /// Finds out how it stands with a call, and asks if nobody was asked.
    fn state(
        &self,
        ledger: &mut Ledger,
        by: &HeldBy,
        key: &CallKey,
        folder: &Path,
    ) -> Result<CallState, GateError> {
        if let Some((n, _)) = ledger.lasting(key) {
            let session = ledger.asked(key, n).map(str::to_owned);
            return Ok(CallState::Repeated(self.decided_before(session)?));
        }
        if let (false, Some((n, _))) = (self.is_call(), ledger.of_last_call(key)) {
            let session = ledger.asked(key, n).map(str::to_owned);
            return Ok(CallState::OfItsCall(self.decided_before(session)?, n));
        }
        let n = ledger.n_used(key);
        let permission = permission::PermissionQuestion { gate: self, by, key, n, folder };
        let known = ledger.asked(key, n).map(str::to_owned);
        let state = match known {
            // One that was written down may not have begun: a crash came before.
            Some(session) => permission::look_at(self.space, &session)?,
            None => None,
        };
        Ok(match state.map_or_else(|| permission.ask(ledger), Ok)? {
            PermissionState::Open(request) => CallState::Open(request),
            PermissionState::Decided(decided) => CallState::Decided(decided, n),
        })
    }

    fn decided_before(&self, session: Option<String>) -> Result<DecidedPermission, GateError> {
        let damaged = GateError::Damaged { what: "the record of a decision" };
        let Some(session) = session else { return Err(damaged) };
        match permission::look_at(self.space, &session)? {
            Some(PermissionState::Decided(decided)) => Ok(decided),
            Some(PermissionState::Open(_)) | None => Err(damaged),
        }
    }

    /// Makes the use of a decision durable.
    fn used(
        &self,
        ledger: &mut Ledger,
        key: &CallKey,
        n: u64,
        decided: &DecidedPermission,
    ) -> Result<(), GateError> {
        let lasts = if decided.lasts { UseScope::Conversation } else { UseScope::Once };
        let before = if self.is_call() { UseMoment::Call } else { UseMoment::Leave };
        let decision = decided.commit.clone();
        ledger.add(key, LedgerFact::Used { n, decision, lasts, before })
    }

    fn outcome(&self, decided: &DecidedPermission) -> GateOutcome {
        let verdict = decided.verdict(self.call, self.redactor);
        GateOutcome { verdict, noted: Some(format!("hold used {}", decided.commit)) }
    }

    fn undecided(&self, enforce: Enforcement, request: String) -> GateVerdict {
        match self.may_defer(enforce) {
            true => GateVerdict::Defer { request },
            false => GateVerdict::Held { request },
        }
    }

    /// Tells whether the run may be put down. Where a vendor would not honour that, the call would
    /// run.
    fn may_defer(&self, enforce: Enforcement) -> bool {
        enforce == Enforcement::Defer
            && self.deferral == Deferral::Offered
            && self.call.caller == CallingAgent::Conversation
            && self.call.source == Source::Claude
            && self.is_call()
    }

    /// Tells whether the call itself is asked about, and not the leave of somebody for it.
    fn is_call(&self) -> bool {
        self.call.question == GateQuestion::Call
    }
}

/// How it stands with a call.
enum CallState {
    /// It was decided, and the decision is not used: of which number.
    Decided(DecidedPermission, u64),
    /// It was decided for the call that this request for leave belongs to.
    OfItsCall(DecidedPermission, u64),
    /// A decision counts for it that needs no further use.
    Repeated(DecidedPermission),
    /// It waits for a person, by this name.
    Open(String),
}

/// Tells whether a call that has run should not have, since its question is still open, and remembers
/// that it was passed by. The key of the repository is asked for only if the conversation has questions.
///
/// # Errors
/// Fails when that cannot be told, or not be written down.
pub fn note_passed_by(
    space: &SessionSpace,
    conversation: &ConversationId,
    call: &GatedCall,
    key: impl FnOnce() -> Result<[u8; 32], GateError>,
) -> Result<bool, GateError> {
    let common = space.repository().common_dir();
    // Most conversations never ask.
    if !Ledger::path(common, conversation).exists() {
        return Ok(false);
    }
    let folder = call.folder.canonicalize().unwrap_or_else(|_| call.folder.clone());
    let Some(key) = CallKey::of(&key()?, &folder, &call.tool, &call.input) else {
        return Ok(false);
    };
    let mut ledger = Ledger::open(common, conversation)?;
    let n = ledger.n_used(&key);
    let Some(session) = ledger.asked(&key, n).map(str::to_owned) else { return Ok(false) };
    if !matches!(permission::look_at(space, &session)?, Some(PermissionState::Open(_))) {
        return Ok(false);
    }
    ledger.add(&key, LedgerFact::Passed { n, session })?;
    Ok(true)
}

/// A question that a coding agent did not wait for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassedHold {
    /// The session that asks.
    pub session: SessionId,
    /// How many calls ran meanwhile.
    pub n_calls: u64,
}

/// Lists the questions that calls did not wait for.
pub fn passed_holds(space: &SessionSpace) -> Vec<PassedHold> {
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    for session in Ledger::all_passed(space.repository().common_dir()) {
        *counts.entry(session).or_default() += 1;
    }
    let named = |(session, n_calls): (String, u64)| {
        Some(PassedHold { session: SessionId::parse(&session)?, n_calls })
    };
    counts.into_iter().filter_map(named).collect()
}
