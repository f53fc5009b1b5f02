//! Pins: which behaviour an agent has. Its genesis says so, or the latest change on its own line.
//!
//! The journal knows it at the head that it knows, so that nobody walks back to the genesis for each
//! commit.

use agentic_model::behaviour::BEHAVIOUR_CHANGE;
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Cid, Oid};
use agentic_store::Stream;
use agentic_store::journal::{self, StreamPin};

use crate::agent::{is_genesis_of, kind_on};
use crate::signing::SigningChoice;
use crate::{Result, Space};

impl Space {
    /// Finds the behaviour that an agent has.
    ///
    /// # Errors
    /// Fails when there is no such agent, and when its history cannot be read.
    pub fn pin(&self, agent: &AgentName) -> Result<Option<Cid>> {
        self.pin_at(agent, self.head(agent)?)
    }

    /// Does the same for a head that the agent has, or had.
    ///
    /// # Errors
    /// Fails when its history cannot be read.
    pub fn pin_at(&self, agent: &AgentName, head: Oid) -> Result<Option<Cid>> {
        // Where people sign, what the journal took over may be a change that nobody signed.
        let signing = SigningChoice::of_people(self)?;
        let known = match signing {
            SigningChoice::Plain => self.journalled_pin(agent)?,
            SigningChoice::Signed => None,
        };
        for step in self.walk_own_commits(agent, head) {
            let (commit, claims) = step?;
            if let Some((at, pin)) = known
                && at == commit.oid
            {
                return Ok(pin);
            }
            if is_genesis_of(agent, &claims)
                || self.changes_pin(agent, signing, commit.oid, &claims)?
            {
                return Ok(claims.behaviour);
            }
        }
        Ok(None)
    }

    /// Returns the behaviour that the journal of an agent knows, and at which head.
    fn journalled_pin(&self, agent: &AgentName) -> Result<Option<(Oid, Option<Cid>)>> {
        let tail = journal::tail(self.repository().layout(), &Stream::Agent(agent.clone()))?;
        let Some(standing) = tail.map(|record| record.standing) else { return Ok(None) };
        let pin = match standing.pin {
            StreamPin::Unknown => return Ok(None),
            StreamPin::Nothing => None,
            StreamPin::Behaviour(cid) => Some(cid),
        };
        Ok(standing.head.map(|head| (head, pin)))
    }

    /// Tells whether a commit gives its agent another behaviour.
    fn changes_pin(
        &self,
        agent: &AgentName,
        signing: SigningChoice,
        commit: Oid,
        claims: &Claims,
    ) -> Result<bool> {
        Ok(claims.behaviour.is_some()
            && kind_on(agent, claims).as_str() == BEHAVIOUR_CHANGE
            && self.counts(signing, commit)?)
    }

    fn counts(&self, signing: SigningChoice, commit: Oid) -> Result<bool> {
        match signing {
            SigningChoice::Plain => Ok(true),
            SigningChoice::Signed => Ok(self.repository().read_commit_and_signing(commit)?.1),
        }
    }
}

/// The behaviour of an agent while its own line is read, oldest first.
pub(crate) struct LinePin<'s> {
    /// Where it is read.
    pub space: &'s Space,
    /// Whether only changes count that somebody signed.
    pub signing: SigningChoice,
    /// Whose line it is.
    pub agent: &'s AgentName,
    /// The behaviour after the commit that was read last.
    pub pin: Option<Cid>,
}

impl LinePin<'_> {
    /// Takes the next commit.
    pub fn take(&mut self, commit: Oid, claims: &Claims) -> Result<()> {
        if is_genesis_of(self.agent, claims)
            || self.space.changes_pin(self.agent, self.signing, commit, claims)?
        {
            self.pin = claims.behaviour;
        }
        Ok(())
    }
}
