//! Runs that another host drives: what it needs of a space, and what keeps everybody else from them.
//!
//! A run has one host. Before it begins there, a file in its folder says so, durably, and its first
//! record names the host too, for those who get it by fetch. No driver of ours takes such a session up.
//! The host makes records by the same [`Session`](agentic_replay::Session), has effects performed here,
//! and seals its records into the notes in the form that all sessions have: they are read like any.

mod child;
mod claim;
mod decision;
mod effect;
mod gone;
mod outside;
mod place;
mod probing;
mod program;
mod sealed;
mod sealing;
mod telling;

use agentic_model::{AgentName, Cid, Value};
use agentic_replay::record::StoredValue;
use agentic_replay::{Engine, SessionId, StartRecord};

pub use self::child::{HostedSpawn, child_answer, continue_hosted, continued_as, spawn_hosted};
pub use self::claim::{
    HostClaim, HostedOpening, claim, claimed, disclaim, host_of, hosted_run, retire,
};
pub(crate) use self::claim::{is_hosted, refuse, refuse_claimed};
pub use self::decision::{
    BranchDecision, HostedDecision, HostedFate, HostedVote, branch_decisions, decide_hosted,
    expire_hosted, withdraw_hosted,
};
pub use self::effect::{HostedOutcome, perform_hosted};
pub use self::gone::{HostedRemains, end_hosted, take_over};
pub use self::outside::{CarriedProgram, EffectPlace, perform_outside};
pub use self::place::{adopt_space_id, new_space_id, space_id};
pub use self::probing::{LostEffect, probe_hosted};
pub use self::program::{HostedProgram, HostedRun, load_hosted, program_of_hosted};
pub use self::sealed::{SealedRun, n_sealed};
pub use self::sealing::{HostedRecords, ValuePiece, seal_hosted};
pub use self::telling::{Teller, ToldLine};
pub use crate::children::{Close, begins_a_session, close_policy};
pub use crate::drive::timer_answer;
pub use crate::inbox::token as signal_id;
pub use crate::process::PROBE;
pub use crate::retry::pause_before_next;

/// How a run of another host began, as far as whoever works for it has to know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostedStart {
    /// The session.
    pub session: SessionId,
    /// The agent that it runs as.
    pub agent: AgentName,
    /// The program.
    pub flow: Cid,
    /// What runs the program.
    pub engine: Engine,
    /// The start key.
    pub key: String,
    /// The kinds of effects it may perform unasked.
    pub allow: Vec<String>,
    /// Whether its commits name the program that makes them.
    pub stamp: bool,
}

impl HostedStart {
    /// Returns the start record, without what only the program itself is given.
    fn record(&self) -> StartRecord {
        let nothing = agentic_model::canonical::encode(&Value::Null);
        StartRecord {
            stamp: self.stamp,
            session: self.session,
            agent: self.agent.clone(),
            flow: self.flow,
            engine: self.engine.clone(),
            input: StoredValue::Inline(nothing.expect("nothing has a canonical form")),
            seed: self.session.seed(),
            key: self.key.clone(),
            allow: self.allow.clone(),
            head: None,
            configuration: None,
            host: None,
            parent: None,
        }
    }
}

#[cfg(test)]
mod tests;
