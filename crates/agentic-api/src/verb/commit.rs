//! What an agent did, as a typed commit on its branch.

use std::collections::BTreeMap;
use std::fs::canonicalize;
use std::io::Read;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use agentic_model::{AgentName, Map, Oid, json};
use agentic_session::SessionSpace;
use agentic_space::commit::{
    CommitDraft, Edit, Emptiness, FileMode, TraceBinding, TreeSource, commit,
};
use agentic_space::error::{BranchError, Error as SpaceError, WorktreeError};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use crate::redaction::CallerRedactor;
use crate::verb::log::kind_name;
use crate::verb::long_changes::{LongChanges, TextSifter};
use crate::verb::long_text::not_utf8;
use crate::verb::{Reply, Verb, VerbCompletion, value};
use crate::view::CommitView;
use crate::{Caller, Notice, Refusal};

/// How many bytes of changes are kept in memory, in bytes; more are looked through for long contents.
const EDITS_BYTES_MAX: u64 = 16 << 20;
/// How much is read at a time beyond, in bytes.
const PART_BYTES: usize = 64 << 10;
/// What a map of changes looks like, for whoever gave something else.
pub(super) const EDITS_HINT: &str =
    "give a JSON map such as {\"src/a.rs\": \"text\", \"old\": null}";

/// Commit what an agent did. A refusal leaves nothing.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Commit {
    /// The message.
    pub message: String,
    /// The agent; else the caller's.
    pub agent: Option<String>,
    /// The kind; `agent-commit` without one.
    pub kind: Option<String>,
    /// Open fields.
    #[serde(deserialize_with = "value::read_map")]
    #[schemars(with = "BTreeMap<String, Json>")]
    pub fields: Map,
    /// Bind the pending trace to the commit.
    pub trace: bool,
    /// Where the new tree comes from.
    pub source: CommitSource,
    /// Refuse unless the head is this commit.
    pub expect: Option<String>,
    /// Commit even if nothing changed.
    pub allow_empty: bool,
}

/// Where the tree of a commit comes from.
#[derive(Debug, Clone, PartialEq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CommitSource {
    /// Everything in the agent's worktree. Without one a commit can bind a trace, or be empty.
    #[default]
    Worktree,
    /// Everything in this folder, on top of the commit that is expected.
    Folder(PathBuf),
    /// These paths of the worktree where the caller stands.
    Paths(Vec<PathBuf>),
    /// Changes: by path `"text"`, `{"base64": …}`, `{"text": …, "executable": true}`,
    /// `{"symlink": …}` or null, which deletes.
    Edits(#[schemars(with = "BTreeMap<String, Json>")] serde_json::Map<String, Json>),
    /// Such changes, with contents that are too long to be kept in memory.
    #[serde(skip)]
    LongEdits(LongChanges),
}

impl CommitSource {
    /// Reads changes from a file or a stream.
    ///
    /// # Errors
    /// Fails when they are no JSON map; what the changes are is looked at when the verb runs.
    pub fn of_edits(bytes: Vec<u8>) -> Result<CommitSource, Refusal> {
        Ok(CommitSource::Edits(map_of(bytes)?))
    }

    /// Reads changes from a stream. Where they are many, long contents among them go to the disk while
    /// they are read.
    ///
    /// # Errors
    /// Fails as [`CommitSource::of_edits`] does, and when the stream or the disk does.
    pub fn of_stream(stream: &mut dyn Read, space: &SessionSpace) -> Result<CommitSource, Refusal> {
        let failed = |error| Refusal::io("read standard input", &error);
        let mut begin = Vec::new();
        let few = Read::take(&mut *stream, EDITS_BYTES_MAX).read_to_end(&mut begin);
        let few = few.map_err(failed)?;
        if (few as u64) < EDITS_BYTES_MAX {
            return CommitSource::of_edits(begin);
        }
        let mut sifter = TextSifter::new(space);
        sifter.take(&begin)?;
        drop(begin);
        let mut part = vec![0; PART_BYTES];
        loop {
            let n_read = stream.read(&mut part).map_err(failed)?;
            if n_read == 0 {
                break;
            }
            sifter.take(&part[..n_read])?;
        }
        let (kept, texts) = sifter.finish();
        Ok(CommitSource::LongEdits(LongChanges::new(map_of(kept)?, texts)))
    }
}

/// Reads a map of changes.
fn map_of(bytes: Vec<u8>) -> Result<serde_json::Map<String, Json>, Refusal> {
    let text = String::from_utf8(bytes).map_err(|_| not_utf8())?;
    let map = json::parse(&text)
        .map_err(|error| Refusal::schema(&format!("standard input is {error}"), EDITS_HINT))?;
    let Json::Object(map) = map else {
        return Err(Refusal::schema("standard input is not a JSON map", EDITS_HINT));
    };
    Ok(map)
}

impl Verb for Commit {
    type Answer = CommitView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<CommitView>, Refusal> {
        let agent = caller.agent(self.agent.as_deref())?;
        if self.fields.contains_key("") {
            return Err(Refusal::usage("a field needs a key", "give each field a name"));
        }
        let needs_no_tree = self.allow_empty || self.trace;
        let is_expected = self.expect.is_some();
        let source = match self.source {
            CommitSource::Edits(map) => TreeSource::Edits(edits(map)?),
            CommitSource::LongEdits(changes) => TreeSource::Edits(long_edits(changes)?),
            CommitSource::Folder(folder) => snapshot(caller, &agent, &folder, is_expected)?,
            CommitSource::Paths(paths) => in_worktree(caller, &paths)?,
            CommitSource::Worktree => match caller.space.worktree_of(&agent) {
                Ok(worktree) => TreeSource::Worktree(worktree),
                Err(_) if needs_no_tree => TreeSource::Edits(BTreeMap::new()),
                Err(error) => return Err(error.into()),
            },
        };
        let expect = self.expect.map(|text| expected(caller, &agent, &text)).transpose()?;
        let mut redactor = CallerRedactor::new(caller)?;
        let draft = CommitDraft {
            behaviour: None,
            message: redactor.text("the message", self.message),
            kind: self.kind.as_deref().map(kind_name).transpose()?,
            fields: redactor.map("a field", self.fields),
            source,
            capture: if self.trace { TraceBinding::WithTrace } else { TraceBinding::Nothing },
            expect,
            emptiness: if self.allow_empty { Emptiness::Allowed } else { Emptiness::Refused },
            asker: None,
        };
        let done = commit(caller.space, &agent, &draft)?;
        let answer = CommitView::from(&done);
        let mut notices: Vec<Notice> = Notice::of(&done.written).into_iter().collect();
        if !done.left_out.is_empty() {
            notices.push(Notice::LeftOut { repositories: done.left_out });
        }
        notices.extend(Notice::left_behind(done.worktree_left_behind.as_ref()));
        notices.extend(redactor.notices());
        Ok(Reply { answer, notices, completion: VerbCompletion::Whole })
    }
}

/// Resolves the commit that is expected. What names none here cannot be the head, so it is a conflict
/// too.
fn expected(caller: &Caller<'_>, agent: &AgentName, text: &str) -> Result<Oid, Refusal> {
    caller.space.repository().resolve_commit(text).map_err(|_| {
        let found = caller.space.head(agent).ok();
        let (branch, expected) = (agent.to_string(), text.to_owned());
        SpaceError::Branch(BranchError::HeadMoved { branch, expected, found }).into()
    })
}

/// Takes a whole folder. That of the agent's worktree knows what it was made from; of any other the
/// caller has to say it.
fn snapshot(
    caller: &Caller<'_>,
    agent: &AgentName,
    folder: &Path,
    is_expected: bool,
) -> Result<TreeSource, Refusal> {
    let folder = caller.path(folder);
    if let Ok(worktree) = caller.space.worktree_of(agent)
        && same_folder(&worktree.path, &folder)
    {
        return Ok(TreeSource::Worktree(worktree));
    }
    if !is_expected {
        return Err(Refusal::usage(
            "a snapshot of a folder needs `--expect`",
            "name the commit that the folder was made from: `--expect OID`",
        ));
    }
    if !folder.is_dir() {
        return Err(Refusal::refused(
            &format!("`{}` is not a folder", folder.display()),
            "name a folder that exists",
        ));
    }
    Ok(TreeSource::Folder(folder))
}

fn same_folder(left: &Path, right: &Path) -> bool {
    match (canonicalize(left), canonicalize(right)) {
        (Ok(left), Ok(right)) => left == right,
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Turns paths of the caller's folder into paths of its worktree.
fn in_worktree(caller: &Caller<'_>, paths: &[PathBuf]) -> Result<TreeSource, Refusal> {
    let root = caller.space.repository().work_dir();
    let root = root.ok_or(SpaceError::Worktree(WorktreeError::Bare))?;
    let root = canonicalize(root).map_err(|error| Refusal::io("read the worktree", &error))?;
    let here = canonicalize(&caller.surroundings.folder)
        .map_err(|error| Refusal::io("read the current folder", &error))?;
    let prefix = here.strip_prefix(&root).unwrap_or(Path::new(""));
    let relative = paths.iter().map(|path| {
        let inside = path.strip_prefix(&root).map_or_else(|_| prefix.join(path), Path::to_owned);
        inside.as_os_str().as_bytes().to_vec()
    });
    Ok(TreeSource::Paths { paths: relative.collect(), root })
}

fn edits(map: serde_json::Map<String, Json>) -> Result<BTreeMap<String, Edit>, Refusal> {
    let one = |(path, change): (String, Json)| match edit(change) {
        Some(edit) => Ok((path, edit)),
        None => Err(unknown_change(&path)),
    };
    map.into_iter().map(one).collect()
}

fn unknown_change(path: &str) -> Refusal {
    let message = format!("the change of `{path}` is none that is known");
    Refusal::schema(&message, EDITS_HINT)
}

/// Does the same where contents wait on the disk.
fn long_edits(mut changes: LongChanges) -> Result<BTreeMap<String, Edit>, Refusal> {
    let mut edits = BTreeMap::new();
    for (path, change) in std::mem::take(&mut changes.map) {
        if changes.is_mark(&path) {
            return Err(Refusal::schema("a path is too long", EDITS_HINT));
        }
        let long = changes.edit(&change)?;
        // Of its form it is looked at as if it were short.
        let short = edit(without_long(&changes, change)).ok_or_else(|| unknown_change(&path))?;
        edits.insert(path, long.unwrap_or(short));
    }
    Ok(edits)
}

/// Returns a change as it would be if its contents were empty.
fn without_long(changes: &LongChanges, change: Json) -> Json {
    match change {
        Json::String(text) if changes.is_mark(&text) => Json::String(String::new()),
        Json::Object(mut form) => {
            for value in form.values_mut() {
                *value = without_long(changes, value.take());
            }
            Json::Object(form)
        }
        other @ (Json::Null
        | Json::Bool(_)
        | Json::Number(_)
        | Json::String(_)
        | Json::Array(_)) => other,
    }
}

fn edit(change: Json) -> Option<Edit> {
    let write = |content: Vec<u8>, mode| Some(Edit::Write { content, mode });
    match change {
        Json::Null => Some(Edit::Delete),
        Json::String(text) => write(text.into_bytes(), FileMode::Plain),
        Json::Object(form) => {
            let mode = match form.get("executable").map(Json::as_bool) {
                None | Some(Some(false)) => FileMode::Plain,
                Some(Some(true)) => FileMode::Executable,
                Some(None) => return None,
            };
            let known =
                |key: &String| matches!(key.as_str(), "text" | "base64" | "symlink" | "executable");
            let n_contents =
                ["text", "base64", "symlink"].iter().filter(|key| form.contains_key(**key)).count();
            if n_contents != 1 || !form.keys().all(known) {
                return None;
            }
            let text = |key: &str| form.get(key).map(Json::as_str);
            match (text("text"), text("base64"), text("symlink")) {
                (Some(text), _, _) => write(text?.as_bytes().to_vec(), mode),
                (_, Some(text), _) => write(BASE64.decode(text?).ok()?, mode),
                (_, _, Some(target)) => write(target?.as_bytes().to_vec(), FileMode::Link),
                (None, None, None) => None,
            }
        }
        Json::Bool(_) | Json::Number(_) | Json::Array(_) => None,
    }
}
