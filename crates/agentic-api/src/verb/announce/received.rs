//! What of peers is received, and from which remotes.

use std::collections::BTreeMap;

use agentic_federation::caps::read_policy;
use agentic_federation::exchange::RemoteMode;
use agentic_federation::fetch::{PeerOutcome, fetch_peers};
use agentic_federation::freshness::PeerFreshness;
use agentic_federation::id::{Petname, SELF};
use agentic_federation::policy::PeerTrust;
use agentic_federation::receive::SpaceResult;

use super::mode;
use crate::{Caller, Refusal};

/// Whether other remotes are asked for what one does not serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OtherRemotes {
    /// They are: nobody named one.
    Tried,
    /// They are not.
    Left,
}

/// What was received of peers.
#[derive(Default)]
pub(crate) struct ReceivedPeers {
    /// What became of their spaces.
    pub outcomes: Vec<PeerOutcome>,
    /// Why a remote was not asked, while another one was.
    pub unreachable: Option<Refusal>,
}

/// Where peers are looked for, and which ones.
pub(crate) struct PeerSearch<'a> {
    /// The remote, or the bundle; nothing where it is not asked for peers.
    pub source: Option<&'a str>,
    /// The peers; all without.
    pub only: &'a [String],
    /// Whether other remotes are asked.
    pub others: OtherRemotes,
}

impl PeerSearch<'_> {
    /// Receives what a remote serves of peers. Where nobody named one, each peer is asked for at its own remote, too,
    /// and what is not served at the other remotes that are in a mode for that. Nothing where no remote is asked.
    pub fn receive(&self, caller: &Caller<'_>) -> Result<Option<ReceivedPeers>, Refusal> {
        let space = caller.space;
        let own = |name: &String| match name == SELF {
            true => Ok(Petname::own()),
            false => crate::verb::peer::petname(name),
        };
        let only: Vec<Petname> = self.only.iter().map(own).collect::<Result<_, _>>()?;
        let of_peers = remotes_of_peers(caller, self.others)?;
        if self.source.is_none() && of_peers.is_empty() {
            return Ok(None);
        }
        let further = self.further_remotes(caller)?;
        let mut received = ReceivedPeers::default();
        if let Some(source) = self.source {
            match fetch_peers(space, source, &only) {
                Ok(outcomes) => received.outcomes = outcomes,
                Err(error) if further.is_empty() => return Err(error.into()),
                Err(error) => received.unreachable = Some(error.into()),
            }
        }
        let mut asked = Vec::new();
        for (remote, peers) in of_peers {
            let is_meant = |name: &Petname| only.is_empty() || only.contains(name);
            let meant: Vec<Petname> = peers.into_iter().filter(is_meant).collect();
            if Some(remote.as_str()) != self.source && !meant.is_empty() {
                received.add(fetch_peers(space, &remote, &meant).map_err(Refusal::from));
                asked.push(remote);
            }
        }
        // What nothing connects may be a fork: it is asked for everywhere.
        let unserved = received.outcomes.iter().filter(|found| {
            found.outcome.result == SpaceResult::Unserved
                || found.freshness == PeerFreshness::Unconnected
        });
        let unserved: Vec<Petname> = unserved.map(|found| found.petname.clone()).collect();
        let wanted = if received.unreachable.is_some() { &only } else { &unserved };
        if received.unreachable.is_some() || !unserved.is_empty() {
            for remote in further.iter().filter(|remote| !asked.contains(remote)) {
                received.add(fetch_peers(space, remote, wanted).map_err(Refusal::from));
            }
        }
        received.require(&only);
        Ok(Some(received))
    }

    /// Lists the other remotes that are in a mode for peers, where they are asked.
    fn further_remotes(&self, caller: &Caller<'_>) -> Result<Vec<String>, Refusal> {
        let mut further = Vec::new();
        if self.others == OtherRemotes::Left {
            return Ok(further);
        }
        for remote in caller.space.repository().remotes() {
            if Some(remote.as_str()) != self.source && mode(caller, &remote)? != RemoteMode::Shared
            {
                further.push(remote);
            }
        }
        Ok(further)
    }
}

impl ReceivedPeers {
    fn add(&mut self, received: Result<Vec<PeerOutcome>, Refusal>) {
        match received {
            Ok(outcomes) => self.outcomes.extend(outcomes),
            Err(refusal) => self.unreachable = Some(refusal),
        }
    }

    /// Says of peers that somebody named and of whom nothing was served that it is so.
    fn require(&mut self, named: &[Petname]) {
        let is_there = |name: &Petname| self.outcomes.iter().any(|found| found.petname == *name);
        let missing = named.iter().find(|name| **name != Petname::own() && !is_there(name));
        if let (Some(name), None) = (missing, &self.unreachable) {
            self.unreachable = Some(Refusal::refused(
                &format!("nothing of `{name}` is served there"),
                "its owner announces with `agentic push`; or name another remote",
            ));
        }
    }
}

/// Lists the remotes from which peers are fetched, as somebody said when these were added, with the peers of each.
fn remotes_of_peers(
    caller: &Caller<'_>,
    others: OtherRemotes,
) -> Result<BTreeMap<String, Vec<Petname>>, Refusal> {
    let mut remotes: BTreeMap<String, Vec<Petname>> = BTreeMap::new();
    if others == OtherRemotes::Left {
        return Ok(remotes);
    }
    let policy = read_policy(caller.space)?.policy;
    for (name, followed) in policy.peers {
        if let Some(remote) = followed.remote.filter(|_| followed.trust != PeerTrust::Blocked) {
            remotes.entry(remote).or_default().push(name);
        }
    }
    Ok(remotes)
}
