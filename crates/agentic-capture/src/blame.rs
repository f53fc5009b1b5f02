//! Who wrote each line of a file: which agent, in which conversation, by which edit.
//!
//! Git says which commit a line comes from, notes say which trace that commit has, and the trace says
//! which call of a tool wrote that very line into that file. Nothing is taken for likely.

mod edit;
mod porcelain;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use agentic_git::run_git;
use agentic_model::{AgentName, Cid, Oid};
use agentic_space::{Result, Space};

pub use self::edit::{EditPlace, EditWitness, TraceEdits};
pub use self::porcelain::BlamedLine;
use crate::gate::without_detours;
use crate::origin::{CommitOrigin, CommitOrigins, OriginProof};

/// The end of the addresses of agents.
const AGENT_ADDRESS: &str = "@agents.invalid";

/// Which lines are asked for.
#[derive(Debug, Clone)]
pub struct BlameRequest<'r> {
    /// The folder from which the file is named.
    pub folder: &'r Path,
    /// The file.
    pub file: &'r str,
    /// The first and the last line, as git takes them; all without.
    pub range: Option<&'r str>,
    /// The state of the repository; else the file as it lies there.
    pub revision: Option<&'r str>,
    /// Commits of which it is known that an agent may have made them, and not which.
    pub unlinked: BTreeSet<Oid>,
}

/// Who wrote a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineAuthor {
    /// A call of a tool wrote this very line.
    Edit,
    /// The trace of its commit is known, the edit of this line is not.
    Commit,
    /// Somebody who is no agent.
    Human,
    /// Nobody can say.
    Unknown,
}

impl LineAuthor {
    /// Returns the word that answers use.
    pub fn as_str(self) -> &'static str {
        match self {
            LineAuthor::Edit => "edit",
            LineAuthor::Commit => "commit",
            LineAuthor::Human => "human",
            LineAuthor::Unknown => "unknown",
        }
    }
}

/// What is known of some lines that follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributedLines {
    /// The first line, from 1.
    pub first: usize,
    /// The last line.
    pub last: usize,
    /// Who wrote them, and how that is known.
    pub attribution: LineAttribution,
}

/// What is known of one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineAttribution {
    /// The commit; nothing where it was not committed yet.
    pub commit: Option<Oid>,
    /// How the trace of the commit was found.
    pub proof: Option<OriginProof>,
    /// Who wrote the line.
    pub by: LineAuthor,
    /// The agents whose traces those are, or whom the message claims.
    pub agents: Vec<AgentName>,
    /// The traces.
    pub traces: Vec<Cid>,
    /// The call of a tool that wrote the line.
    pub edit: Option<EditWitness>,
}

/// Tells who wrote the lines of a file.
///
/// # Errors
/// Fails when git knows no such file, lines or state, and when notes or traces cannot be read.
pub fn blame(space: &Space, request: &BlameRequest<'_>) -> Result<Vec<AttributedLines>> {
    let mut found: Vec<AttributedLines> = Vec::new();
    for line in LineBlame::new(space, &request.unlinked)?.lines(request)? {
        match found.last_mut() {
            Some(before)
                if before.last + 1 == line.number && before.attribution == line.attribution =>
            {
                before.last = line.number;
            }
            Some(_) | None => found.push(AttributedLines {
                first: line.number,
                last: line.number,
                attribution: line.attribution,
            }),
        }
    }
    Ok(found)
}

/// One line of a file, and what is known of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AttributedLine {
    /// Its number in the file, from 1.
    pub number: usize,
    /// The line, without its end.
    pub text: String,
    /// Who wrote it, and how that is known.
    pub attribution: LineAttribution,
}

fn ask_git(request: &BlameRequest<'_>) -> Result<Vec<BlamedLine>> {
    let file = named_to_git(request);
    // Commits that the repository's configuration would leave out are somebody's all the same.
    let mut arguments = vec!["-c", "core.quotePath=false", "blame", "--no-ignore-revs-file"];
    arguments.push("--porcelain");
    arguments.extend(request.range.into_iter().flat_map(|range| ["-L", range]));
    arguments.extend(request.revision);
    arguments.extend(["--", file.as_ref()]);
    let printed = run_git(request.folder, &arguments)?.checked(&arguments[2..])?;
    Ok(porcelain::read(&printed))
}

/// Names a file so that git finds it: a name that leaves the repository and comes back is taken only
/// as a whole path.
fn named_to_git<'r>(request: &BlameRequest<'r>) -> Cow<'r, str> {
    let file = Path::new(request.file);
    if file.is_absolute() || !file.components().any(|part| part == Component::ParentDir) {
        return Cow::Borrowed(request.file);
    }
    let whole = without_detours(&request.folder.join(file));
    whole.to_str().map_or(Cow::Borrowed(request.file), |whole| Cow::Owned(whole.to_owned()))
}

/// Tells who wrote lines of many files; what is read for one serves all others.
pub struct LineBlame<'w> {
    space: &'w Space,
    origins: CommitOrigins<'w>,
    unlinked: &'w BTreeSet<Oid>,
    roots: Vec<PathBuf>,
    commits: BTreeMap<Oid, (Option<CommitOrigin>, LineAuthor)>,
    edits: BTreeMap<Cid, TraceEdits>,
}

impl<'w> LineBlame<'w> {
    /// Begins to look. Of the commits in `unlinked` it is known that an agent may have made them, and
    /// not which.
    ///
    /// # Errors
    /// Fails when worktrees cannot be listed.
    pub fn new(space: &'w Space, unlinked: &'w BTreeSet<Oid>) -> Result<LineBlame<'w>> {
        let roots = space.repository().worktrees()?.into_iter().map(|found| found.path).collect();
        let (commits, edits) = (BTreeMap::new(), BTreeMap::new());
        Ok(LineBlame { space, origins: CommitOrigins::new(space), unlinked, roots, commits, edits })
    }

    /// Finds where a commit comes from; nothing if nothing proves or claims it.
    ///
    /// # Errors
    /// Fails when notes, the archive or commits cannot be read.
    pub fn origin(&mut self, commit: Oid) -> Result<Option<CommitOrigin>> {
        Ok(self.commit(commit)?.0)
    }

    /// Tells who wrote each line of a file.
    ///
    /// # Errors
    /// Fails as [`blame`] does.
    pub fn lines(&mut self, request: &BlameRequest<'_>) -> Result<Vec<AttributedLine>> {
        let attributed = |line: BlamedLine| {
            let attribution = self.attribute(&line)?;
            Ok(AttributedLine { number: line.number, text: line.text, attribution })
        };
        ask_git(request)?.into_iter().map(attributed).collect()
    }

    fn attribute(&mut self, line: &BlamedLine) -> Result<LineAttribution> {
        let mut attribution = LineAttribution {
            commit: line.commit,
            proof: None,
            by: LineAuthor::Unknown,
            agents: Vec::new(),
            traces: Vec::new(),
            edit: None,
        };
        let Some(commit) = line.commit else { return Ok(attribution) };
        let (origin, by) = self.commit(commit)?;
        attribution.by = by;
        let Some(origin) = origin else { return Ok(attribution) };
        attribution.proof = Some(origin.proof);
        let agents = origin.traces.iter().map(|noted| &noted.agent).chain(&origin.claimed);
        attribution.agents = agents.cloned().collect::<BTreeSet<AgentName>>().into_iter().collect();
        let traces: BTreeSet<Cid> = origin.traces.iter().map(|noted| noted.cid).collect();
        attribution.traces = traces.into_iter().collect();
        if by == LineAuthor::Commit {
            self.find_edit(line, &origin, &mut attribution)?;
        }
        Ok(attribution)
    }

    fn commit(&mut self, commit: Oid) -> Result<(Option<CommitOrigin>, LineAuthor)> {
        if let Some(known) = self.commits.get(&commit) {
            return Ok(known.clone());
        }
        let origin = self.origins.find(commit)?;
        let by = match &origin {
            Some(origin) if origin.is_ambiguous() => LineAuthor::Unknown,
            Some(CommitOrigin { proof: OriginProof::Claim, .. }) => LineAuthor::Unknown,
            Some(_) => LineAuthor::Commit,
            None if self.is_human(commit)? => LineAuthor::Human,
            None => LineAuthor::Unknown,
        };
        self.commits.insert(commit, (origin.clone(), by));
        Ok((origin, by))
    }

    fn is_human(&self, commit: Oid) -> Result<bool> {
        let author = self.space.read_commit(commit)?.author_email;
        Ok(!author.ends_with(AGENT_ADDRESS) && !self.unlinked.contains(&commit))
    }

    /// Finds the call that wrote a line: of several traces, the only one that has such a call.
    fn find_edit(
        &mut self,
        line: &BlamedLine,
        origin: &CommitOrigin,
        attribution: &mut LineAttribution,
    ) -> Result<()> {
        let place = EditPlace { path: &line.path, roots: &self.roots };
        let mut found = Vec::new();
        for noted in &origin.traces {
            if let std::collections::btree_map::Entry::Vacant(slot) = self.edits.entry(noted.cid) {
                let trace =
                    self.space.trace_in_notes(Some(noted.notes), noted.cid, noted.commit)?.trace;
                slot.insert(TraceEdits::read(&trace.entries));
            }
            let edits = self.edits.get(&noted.cid).and_then(|it| it.find(&place, &line.text));
            found.extend(edits.map(|edit| (noted.clone(), edit)));
        }
        found.dedup_by(|left, right| left.0.cid == right.0.cid);
        if let [(noted, edit)] = found.as_slice() {
            attribution.by = LineAuthor::Edit;
            attribution.agents = vec![noted.agent.clone()];
            attribution.traces = vec![noted.cid];
            attribution.edit = Some(edit.clone());
        }
        Ok(())
    }
}
