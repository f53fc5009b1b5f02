//! A commit whose trace is proved, with the lines that it brought and who wrote them.

use std::collections::{BTreeMap, BTreeSet};

use agentic_git::CommitInfo;
use agentic_model::commit::Claims;
use agentic_model::{AgentName, Cid, ConsoleTrace, Oid, Value};
use agentic_session::SessionSpace;

use super::ExportError;
use crate::blame::{AttributedLine, BlameRequest, EditWitness, LineAuthor, LineBlame};
use crate::origin::{CommitOrigin, NotedTrace, OriginProof};

/// A commit of which something is proved.
#[derive(Debug)]
pub(super) struct ProvedCommit {
    pub info: CommitInfo,
    pub claims: Claims,
    pub origin: CommitOrigin,
    /// The traces that were found, each with what it says.
    pub traces: Vec<(NotedTrace, ConsoleTrace)>,
    /// What it brought, by path.
    pub files: BTreeMap<String, Vec<ProvedRange>>,
}

/// Lines that follow each other, of which the same is proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ProvedRange {
    pub first: usize,
    pub last: usize,
    /// The lines, each ended by a line feed.
    pub content: String,
    pub traces: Vec<Cid>,
    /// The call that wrote these very lines; nothing where only the trace is known.
    pub edit: Option<EditWitness>,
}

impl ProvedCommit {
    /// Reads a commit; nothing if nothing proves where it comes from, or two answers are as good.
    pub fn read(
        space: &SessionSpace,
        blame: &mut LineBlame<'_>,
        oid: Oid,
    ) -> Result<Option<ProvedCommit>, ExportError> {
        let Some(origin) = blame.origin(oid)? else { return Ok(None) };
        if origin.proof == OriginProof::Claim || origin.is_ambiguous() {
            return Ok(None);
        }
        let info = space.read_commit(oid)?;
        let mut files = BTreeMap::new();
        // What its parents have is not looked at: their history may be long.
        let own = format!("{oid}^!");
        for path in changed_files(space, oid)? {
            let request = BlameRequest {
                folder: space.repository().work_dir().unwrap_or(space.repository().common_dir()),
                file: &path,
                range: None,
                revision: Some(&own),
                unlinked: BTreeSet::new(),
            };
            let ranges = ranges(blame.lines(&request)?, oid);
            if !ranges.is_empty() {
                files.insert(path, ranges);
            }
        }
        let read = |noted: &NotedTrace| {
            let shown = space.trace_in_notes(Some(noted.notes), noted.cid, noted.commit)?;
            Ok((noted.clone(), shown.trace))
        };
        let traces: agentic_space::Result<Vec<_>> = origin.traces.iter().map(read).collect();
        let claims = Claims::read(&info.message);
        Ok(Some(ProvedCommit { info, claims, traces: traces?, origin, files }))
    }

    /// Lists the agents whose traces these are.
    pub fn agents(&self) -> Vec<&AgentName> {
        let agents: BTreeSet<&AgentName> = self.traces.iter().map(|(it, _)| &it.agent).collect();
        agents.into_iter().collect()
    }

    /// Lists the traces.
    pub fn cids(&self) -> Vec<Cid> {
        let cids: BTreeSet<Cid> = self.traces.iter().map(|(noted, _)| noted.cid).collect();
        cids.into_iter().collect()
    }

    /// Lists the conversations that the traces come from, `SOURCE:ID`.
    pub fn conversations(&self) -> BTreeSet<String> {
        self.traces.iter().flat_map(|(_, trace)| conversations_of(trace)).collect()
    }

    /// Names the conversation of some traces, if it is one.
    pub fn conversation_of(&self, cids: &[Cid]) -> Option<String> {
        let of = self.traces.iter().filter(|(noted, _)| cids.contains(&noted.cid));
        let mut all: BTreeSet<String> = of.flat_map(|(_, it)| conversations_of(it)).collect();
        all.pop_first().filter(|_| all.is_empty())
    }
}

fn conversations_of(trace: &ConsoleTrace) -> BTreeSet<String> {
    let named = |entry: &agentic_model::Entry| {
        entry.meta.get("conversation").and_then(Value::as_text).map(str::to_owned)
    };
    trace.entries.iter().filter_map(named).collect()
}

/// Joins the lines of one commit of which a trace is proved.
fn ranges(lines: Vec<AttributedLine>, oid: Oid) -> Vec<ProvedRange> {
    let mut ranges: Vec<ProvedRange> = Vec::new();
    for line in lines {
        let known = line.attribution;
        let is_proved = matches!(known.by, LineAuthor::Edit | LineAuthor::Commit);
        if known.commit != Some(oid) || !is_proved {
            continue;
        }
        let text = format!("{}\n", line.text);
        match ranges.last_mut() {
            Some(last)
                if last.last + 1 == line.number
                    && last.traces == known.traces
                    && last.edit == known.edit =>
            {
                last.last = line.number;
                last.content.push_str(&text);
            }
            Some(_) | None => ranges.push(ProvedRange {
                first: line.number,
                last: line.number,
                content: text,
                traces: known.traces,
                edit: known.edit,
            }),
        }
    }
    ranges
}

/// Lists the files that a commit brought or changed, against its first parent. What is no text to git
/// has no lines.
fn changed_files(space: &SessionSpace, oid: Oid) -> Result<Vec<String>, ExportError> {
    let id = oid.to_string();
    let arguments = [
        "log",
        "-1",
        "-m",
        "--first-parent",
        "--root",
        "--numstat",
        "--no-renames",
        "-z",
        "--format=",
        &id,
        "--",
    ];
    let repository = space.repository();
    let listed = repository.git(&arguments).and_then(|done| done.checked(&arguments));
    let listed = listed.map_err(agentic_space::Error::from)?;
    let file = |line: &str| {
        let mut fields = line.trim_start_matches('\n').splitn(3, '\t');
        let added: u64 = fields.next()?.parse().ok()?;
        let path = fields.nth(1)?;
        // A name that is no text cannot be told of.
        let is_text = !path.contains(char::REPLACEMENT_CHARACTER);
        (added > 0 && is_text).then(|| path.to_owned())
    };
    Ok(listed.split('\0').filter_map(file).collect())
}
