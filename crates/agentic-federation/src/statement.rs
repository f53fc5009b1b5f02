//! Statements: of a space, the announcement with this number is that one.
//!
//! Whoever signs says two things: which one this is, and which one was before. Two statements with one
//! number and different announcements prove themselves: the peer has said two things of one space.

use std::collections::BTreeMap;

use agentic_model::Cid;

use crate::announcement::{ChainNumber, SignedAnnouncement};
use crate::id::SpaceId;
use crate::identity::IdentityChain;

/// One statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Statement {
    /// The space.
    pub space: SpaceId,
    /// The number.
    pub number: ChainNumber,
    /// The announcement.
    pub cid: Cid,
}

/// Two statements that cannot both be true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Contradiction {
    /// The space.
    pub space: SpaceId,
    /// The number.
    pub number: ChainNumber,
    /// What was heard first.
    pub known: Cid,
    /// What was heard then.
    pub other: Cid,
}

/// What was heard of a peer's spaces.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Statements(BTreeMap<(SpaceId, ChainNumber), Cid>);

/// Returns what an announcement that counts states.
pub fn statements_of(identity: &IdentityChain, signed: &SignedAnnouncement) -> Vec<Statement> {
    let said = &signed.announcement;
    let (space, number) = (said.space, said.number());
    let mut stated = vec![Statement { space, number, cid: signed.cid() }];
    let resume = identity.in_epoch(space, said.epoch).and_then(|listed| listed.resume);
    let before = said.previous.filter(|previous| Some(*previous) != resume);
    if let (Some(cid), Some(seq)) = (before, said.seq.checked_sub(1)) {
        let number = ChainNumber { epoch: said.epoch, seq };
        stated.push(Statement { space, number, cid });
    }
    stated
}

impl Statements {
    /// Takes a statement in; returns the contradiction if something else was heard of its number.
    pub fn hear(&mut self, stated: Statement) -> Option<Contradiction> {
        let Statement { space, number, cid } = stated;
        let known = *self.0.entry((space, number)).or_insert(cid);
        (known != cid).then_some(Contradiction { space, number, known, other: cid })
    }

    /// Lists what was heard.
    pub fn all(&self) -> impl Iterator<Item = Statement> + '_ {
        let stated = self.0.iter();
        stated.map(|((space, number), cid)| Statement { space: *space, number: *number, cid: *cid })
    }

    /// Counts what was heard.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether nothing was heard.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaves statements out that something else keeps.
    pub fn retain(&mut self, keep: impl Fn(Statement) -> bool) {
        self.0.retain(|(space, number), cid| {
            keep(Statement { space: *space, number: *number, cid: *cid })
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stated(seq: u64, what: &str) -> Statement {
        let number = ChainNumber { epoch: 0, seq };
        Statement { space: SpaceId([1; 16]), number, cid: Cid::of(what.as_bytes()) }
    }

    #[test]
    fn two_things_of_one_number_contradict_each_other() {
        let mut heard = Statements::default();
        assert_eq!(heard.hear(stated(1, "a")), None);
        assert_eq!(heard.hear(stated(1, "a")), None);
        assert_eq!(heard.hear(stated(2, "b")), None);
        let other = Statement { space: SpaceId([2; 16]), ..stated(1, "c") };
        assert_eq!(heard.hear(other), None, "another space");
        let found = heard.hear(stated(1, "c")).expect("it said `a` before");
        assert_eq!((found.known, found.other), (Cid::of(b"a"), Cid::of(b"c")));
        // What was heard first goes on counting.
        assert!(heard.hear(stated(1, "c")).is_some());
        assert_eq!(heard.hear(stated(1, "a")), None);
    }
}
