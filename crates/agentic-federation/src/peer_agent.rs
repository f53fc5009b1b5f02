//! An agent of a peer as it is believed: what verbs read in place of refs, and what may be done with it.

use std::collections::BTreeSet;

use agentic_model::commit::Claims;
use agentic_model::{AgentName, Cid, Kind, Oid};
use agentic_session::SessionSpace;
use agentic_space::agent::{is_genesis_of, kind_on};

use crate::acceptance::{Acceptance, HeldAgent};
use crate::capability::TriggerName;
use crate::freshness::require_fresh;
use crate::id::{Petname, SELF};
use crate::in_force::{PolicyInForce, PolicySubject};
use crate::peer_kind::KindTranslation;
use crate::permission::why_refused;
use crate::policy::PolicyQuestion;
use crate::shard::HeadEntry;
use crate::tracking::{TrackedSpace, followed_peers, tracked_spaces_of};
use crate::whole::require_whole;
use crate::wrapping::{body_of, read_wrapped};
use crate::{Error, Result};

/// How many commits are judged at once.
const COMMITS_MAX: usize = 100_000;

/// An agent of a peer.
#[derive(Debug, Clone)]
pub struct PeerAgent {
    /// The space that it is of.
    pub tracked: TrackedSpace,
    /// The agent.
    pub agent: AgentName,
    /// What is believed of it.
    pub believed: Option<HeadEntry>,
    /// What waits for a grant.
    pub held: Option<HeldAgent>,
    /// The announcement that was accepted last.
    pub announcement: Cid,
    /// The commit of that.
    pub announced: Oid,
}

impl PeerAgent {
    /// Finds what `bob/x` or `bob+NICK/x` means; nothing if that is no name of a peer.
    ///
    /// # Errors
    /// Fails when the policy or a record is damaged, and when nothing of such a peer is known.
    pub fn find(space: &SessionSpace, text: &str) -> Result<Option<PeerAgent>> {
        let Some((label, name)) = text.rsplit_once('/') else { return Ok(None) };
        let petname = label.split('+').next().unwrap_or(label);
        let petname = if petname == SELF { Ok(Petname::own()) } else { Petname::parse(petname) };
        let (Ok(petname), Ok(agent)) = (petname, AgentName::parse(name)) else {
            return Ok(None);
        };
        let Some(followed) = followed_peers(space)?.remove(&petname) else { return Ok(None) };
        let repository = space.repository();
        let tracked = tracked_spaces_of(repository, &petname, &followed)?;
        let Some(tracked) = tracked.into_iter().find(|tracked| tracked.label == label) else {
            return Err(Error::refused(
                format!("nothing of `{label}` is here"),
                "`agentic fetch` asks remotes; `agentic peer list` lists what there is",
            ));
        };
        let mut record = Acceptance::read(repository, tracked.record)?;
        let (believed, held) = (record.believed.remove(&agent), record.held.remove(&agent));
        if believed.is_none() && held.is_none() {
            return Err(Error::refused(
                format!("`{label}` has no agent `{agent}`"),
                "`agentic agents` lists those that it has",
            ));
        }
        Ok(Some(PeerAgent {
            tracked,
            agent,
            believed,
            held,
            announcement: record.announcement,
            announced: record.announced,
        }))
    }

    /// Returns the name by which it is read.
    pub fn name(&self) -> String {
        format!("{}/{}", self.tracked.label, self.agent)
    }

    /// Returns what a merge says of where its work came from.
    pub fn origin(&self) -> String {
        format!("{}/{} {}", self.tracked.origin(), self.agent, self.announcement)
    }

    /// Returns what is believed of it, or refuses: it waits for a grant.
    ///
    /// # Errors
    /// Fails with what would have to be granted.
    pub fn require_believed(&self) -> Result<&HeadEntry> {
        self.believed.as_ref().ok_or_else(|| {
            let (trigger, kind) = match &self.held {
                Some(held) => (held.trigger.to_string(), held.kind.clone()),
                None => ("spawn".to_owned(), "spawn".to_owned()),
            };
            Error::not_allowed(
                format!("nothing of `{}` is believed", self.name()),
                format!(
                    "`agentic grant {} --kind {kind} --on {trigger}` would",
                    self.tracked.petname
                ),
            )
        })
    }

    /// Refuses a merge that nobody granted: each commit that is new to the target is looked at.
    ///
    /// # Errors
    /// Fails with the first commit that may not be merged, when the peer is not trusted, and when it lists the space
    /// no more.
    pub fn require_merge(&self, space: &SessionSpace, target: Oid) -> Result<()> {
        let head = self.require_believed()?.head;
        self.tracked.require_listed()?;
        let repository = space.repository();
        if let Some(followed) = followed_peers(space)?.get(&self.tracked.petname) {
            require_fresh(space, followed, (&self.tracked.label, self.tracked.space))?;
        }
        let in_force = PolicyInForce::read(space, PolicySubject::Peer(self.tracked.peer))?;
        let permissions = in_force.permissions()?;
        let any = Kind::agent_commit();
        // Every kind of commits is below this one.
        if permissions.allows(self.merging(&any)).is_some() {
            return Ok(());
        }
        require_whole(repository)?;
        let body = body_of(repository, &read_wrapped(repository, self.announced)?)?;
        let translation = KindTranslation::new(repository, &in_force.kinds, &body);
        let mut new: BTreeSet<Oid> = self.new_commits(space, [target, head])?;
        let refused = |kind: &Kind, commit: Oid| {
            let refused =
                why_refused(&in_force.state.policy, in_force.moment(), self.merging(kind));
            Error::not_allowed(
                format!("{commit} of `{}` may not be merged: {}", self.name(), refused.why),
                refused.hint,
            )
        };
        for commit in repository.first_parents(head).take(COMMITS_MAX) {
            let commit = commit?;
            let claims = Claims::read(&commit.message);
            if new.remove(&commit.oid) {
                let kind = translation.here(kind_on(&self.agent, &claims));
                if permissions.allows(self.merging(&kind)).is_none() {
                    return Err(refused(&kind, commit.oid));
                }
            }
            if is_genesis_of(&self.agent, &claims) {
                break;
            }
        }
        // What came in from the side, or was there before, is of no kind that was recorded on its branch.
        match new.first() {
            Some(commit) => Err(refused(&any, *commit)),
            None => Ok(()),
        }
    }

    fn merging<'a>(&'a self, kind: &'a Kind) -> PolicyQuestion<'a> {
        let (peer, trigger) = (self.tracked.peer, TriggerName::Merge.shown());
        PolicyQuestion { peer, kind, trigger, agent: Some(&self.agent) }
    }

    fn new_commits(&self, space: &SessionSpace, [target, head]: [Oid; 2]) -> Result<BTreeSet<Oid>> {
        let most = format!("--max-count={}", COMMITS_MAX + 1);
        let (head, not) = (head.to_string(), format!("^{target}"));
        let arguments = ["--no-replace-objects", "rev-list", &most, &head, &not];
        let listed = space.repository().git(&arguments)?.checked(&arguments[1..])?;
        let new: BTreeSet<Oid> = listed.lines().filter_map(|line| Oid::parse(line).ok()).collect();
        match new.len() <= COMMITS_MAX {
            true => Ok(new),
            false => Err(Error::refused(
                format!("`{}` brings more than {COMMITS_MAX} commits", self.name()),
                "merge what its agent began from first, with `git merge`",
            )),
        }
    }
}
