//! Who wrote each line of a file.

use std::collections::BTreeSet;

use agentic_capture::blame::{BlameRequest, blame};
use agentic_capture::link::unlinked_commits;
use agentic_model::Oid;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{Reply, Verb};
use crate::view::BlameView;
use crate::{Caller, Refusal};

/// Tell who wrote each line of a file: which agent, in which conversation, by which edit.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BlameFile {
    /// The file, from the caller's folder.
    pub file: String,
    /// The first and the last line, as `git blame -L` takes them; all without.
    pub lines: Option<String>,
    /// The state of the repository; else the file as it lies there.
    pub revision: Option<String>,
}

impl Verb for BlameFile {
    type Answer = Vec<BlameView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<BlameView>>, Refusal> {
        // A revision that begins like a flag must not become one of git's.
        let revision = self.revision.as_deref();
        let revision =
            revision.map(|it| caller.space.repository().resolve_commit(it)).transpose()?;
        let revision = revision.map(|oid| oid.to_string());
        let request = BlameRequest {
            folder: &caller.surroundings.folder,
            file: &self.file,
            range: self.lines.as_deref(),
            revision: revision.as_deref(),
            unlinked: unlinked(caller),
        };
        let found = blame(caller.space, &request)?;
        Ok(Reply::plain(found.iter().map(BlameView::from).collect()))
    }
}

/// Lists the commits that an agent may have made, and of which nobody can prove it.
pub(super) fn unlinked(caller: &Caller<'_>) -> BTreeSet<Oid> {
    let listed = unlinked_commits(caller.space.repository().layout());
    listed.iter().filter_map(|one| Oid::parse(&one.commit).ok()).collect()
}
