//! What the commits of agents changed, kept by their heads: a head that has moved costs its new commits.

use std::collections::BTreeMap;
use std::rc::Rc;

use agentic_model::Oid;

use super::SpaceFacts;
use super::cache::{PackedReader, PackedWriter};
use super::derived::{Derivation, OlderContent};
use super::patch::WorkPatch;
use super::roster::FactAgent;
use super::rows::FactRows;
use crate::pin::OwnCommits;
use crate::{Result, Space};

impl SpaceFacts<'_> {
    /// Returns what the commits of the lines of agents changed, agent by agent.
    pub(super) fn work_patches(
        &self,
        agents: &[Rc<FactAgent>],
        rows: &mut FactRows<'_, '_>,
    ) -> BTreeMap<Oid, WorkPatch> {
        let space = self.space;
        let how = Derivation {
            what: "files that agents changed",
            cache: &self.caches.patches,
            key: &|agent| agent.head.to_string(),
            make: &|agent, older| read_patches(space, agent, older),
        };
        let mut found = BTreeMap::new();
        for (agent, content) in agents.iter().zip(self.derived(agents, &how)) {
            let what = format!("the files that agent `{agent}` changed");
            let Some(content) = rows.noted(&what, content) else { continue };
            let mut reader = PackedReader::new(&content);
            while let Some(patch) = WorkPatch::decode(&mut reader) {
                found.insert(patch.commit, patch);
            }
        }
        found
    }
}

/// Reads what the commits of an agent changed; of a head that was read before only what came since.
fn read_patches(
    space: &Space,
    agent: &FactAgent,
    older: Option<OlderContent<'_>>,
) -> Result<Vec<u8>> {
    let older = older.and_then(|older| Some((Oid::parse(older.key).ok()?, older.content)));
    let new = OwnCommits::after(space, &agent.agent, agent.head, older.map(|it| it.0))?;
    let mut out = PackedWriter::default();
    for (commit, _) in &new.oldest_first {
        if let Some(patch) = WorkPatch::of(space, commit)? {
            patch.encode(&mut out);
        }
    }
    let kept = older.filter(|_| new.goes_on).map_or(&[][..], |(_, content)| content);
    Ok([kept, &out.into_bytes()].concat())
}
