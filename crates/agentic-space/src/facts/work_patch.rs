//! What the commits of agents changed, kept by their heads: a head that has moved costs its new commits.

use std::collections::BTreeMap;
use std::rc::Rc;

use agentic_model::Oid;

use super::SpaceFacts;
use super::cache::{PackedReader, PackedWriter};
use super::derived::{LineDerivation, OlderContent};
use super::line::{CommitLine, LineCommit};
use super::patch::WorkPatch;
use super::roster::FactAgent;
use super::rows::FactRows;
use crate::{Result, Space};

impl SpaceFacts<'_> {
    /// Returns what the commits of the lines of agents changed, agent by agent.
    pub(super) fn work_patches(
        &self,
        agents: &[Rc<FactAgent>],
        rows: &mut FactRows<'_, '_>,
    ) -> BTreeMap<Oid, WorkPatch> {
        let space = self.space;
        let how = LineDerivation {
            what: "files that agents changed",
            cache: &self.caches.patches,
            key: &|agent| agent.head.to_string(),
            make: &|_, line, older| read_patches(space, line, older),
        };
        let mut found = BTreeMap::new();
        for (agent, content) in agents.iter().zip(self.derived_of_lines(agents, &how)) {
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

/// Reads what the commits of a line changed; of a head that was read before only what came since.
fn read_patches(
    space: &Space,
    line: &CommitLine,
    older: Option<OlderContent<'_>>,
) -> Result<Vec<u8>> {
    let older = older.and_then(|older| Some((Oid::parse(older.key).ok()?, older.content)));
    let new = line.after(older.map(|it| it.0));
    let (mut out, mut below) = (PackedWriter::default(), new.below);
    for commit in new.oldest_first {
        if let Some(patch) = patch_of(space, &commit, below.as_ref())? {
            patch.encode(&mut out);
        }
        below = Some(commit);
    }
    let kept = older.filter(|_| new.below.is_some()).map_or(&[][..], |(_, content)| content);
    Ok([kept, &out.into_bytes()].concat())
}

/// Reads what a commit of a line changed, by the trees that the line has.
fn patch_of(
    space: &Space,
    commit: &LineCommit<'_>,
    below: Option<&LineCommit<'_>>,
) -> Result<Option<WorkPatch>> {
    let parents: Vec<Oid> = commit.parents().collect();
    match below.filter(|below| parents == [below.oid]) {
        Some(below) => WorkPatch::changed(space, commit.oid, [below.tree, commit.tree]),
        None => WorkPatch::between(space, commit.oid, commit.tree, &parents),
    }
}
