//! Which commits became which where somebody rewrote a whole history: the map that `git filter-repo`
//! leaves in `.git/filter-repo/commit-map`.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::rewrite::REWRITE_FROM_MAX;
use agentic_model::{AgentName, Oid, Rewrite};
use agentic_session::SessionSpace;

use crate::origin::NotedCommits;

/// Who said so, in the rewrites that are kept.
const BY: &str = "commit-map";
/// How many rewrites are kept in one write.
const REWRITES_MAX: usize = 1_000;

/// A map of commits: what each became, and from what.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitMap {
    origins: BTreeMap<Oid, BTreeSet<Oid>>,
}

/// A line of a map that says nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("line {line} of the map is no pair of commits")]
pub struct BadCommitMap {
    /// Its number, from 1.
    pub line: usize,
}

/// What became of a map.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptRewrites {
    /// How many rewrites are kept with each agent.
    pub kept: BTreeMap<AgentName, usize>,
    /// Archived agents with whom nothing can be kept before they are restored.
    pub archived: BTreeSet<AgentName>,
}

impl CommitMap {
    /// Reads a map: the old commit and the new one on each line, after an optional line `old new`. A
    /// commit that was dropped, whose new one is zeros, became nothing.
    ///
    /// # Errors
    /// Fails with a line that is no pair.
    pub fn parse(text: &str) -> Result<CommitMap, BadCommitMap> {
        let mut map = CommitMap::default();
        for (at, line) in text.lines().enumerate() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let pair = match words.as_slice() {
                [] => continue,
                ["old", "new"] if at == 0 => continue,
                [from, to] => Oid::parse(from).ok().zip(Oid::parse(to).ok()),
                _ => None,
            };
            let (from, to) = pair.ok_or(BadCommitMap { line: at + 1 })?;
            let is_dropped = to.as_bytes().iter().all(|byte| *byte == 0);
            if from != to && !is_dropped {
                map.origins.entry(to).or_default().insert(from);
            }
        }
        Ok(map)
    }

    /// Keeps what leads to traces, with the agents whose traces those are. What is kept already makes
    /// nothing new.
    ///
    /// # Errors
    /// Fails when notes cannot be read or written.
    pub fn keep(&self, space: &SessionSpace) -> agentic_space::Result<KeptRewrites> {
        let noted = NotedCommits::read(space)?;
        let rewritten = noted.keepers_of_rewrites(space)?;
        let mut by_agent: BTreeMap<AgentName, BTreeMap<Oid, BTreeSet<Oid>>> = BTreeMap::new();
        for (to, origins) in &self.origins {
            for from in origins {
                let traced = noted.of(*from, None).into_iter().map(|trace| trace.agent);
                let again = rewritten.get(from).into_iter().flatten().cloned();
                for agent in traced.chain(again) {
                    let own = by_agent.entry(agent).or_default();
                    own.entry(*to).or_default().insert(*from);
                }
            }
        }
        let mut outcome = KeptRewrites::default();
        for (agent, origins) in by_agent {
            if space.head(&agent).is_err() {
                outcome.archived.insert(agent);
                continue;
            }
            let rewrite = |(to, from): (Oid, BTreeSet<Oid>)| Rewrite {
                from: from.into_iter().take(REWRITE_FROM_MAX).collect(),
                to,
                by: BY.to_owned(),
            };
            let rewrites: Vec<Rewrite> = origins.into_iter().map(rewrite).collect();
            for part in rewrites.chunks(REWRITES_MAX) {
                let _written = space.keep_rewrites(&agent, part)?;
            }
            outcome.kept.insert(agent, rewrites.len());
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_has_pairs_and_what_was_dropped_is_nothing() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let none = "0".repeat(40);
        let map =
            CommitMap::parse(&format!("old   new\n{one} {two}\n{two} {none}\n{two} {two}\n\n"));
        let oid = |text: &str| Oid::parse(text).expect("valid");
        let origins = BTreeMap::from([(oid(&two), BTreeSet::from([oid(&one)]))]);
        assert_eq!(map, Ok(CommitMap { origins }));
        for (bad, line) in [("x y", 1), ("old new\n1 2 3", 2), (&format!("{one}\n"), 1)] {
            assert_eq!(CommitMap::parse(bad), Err(BadCommitMap { line }), "{bad}");
        }
    }
}
