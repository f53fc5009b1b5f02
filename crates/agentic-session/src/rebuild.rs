//! Rebuilding: a session's commits made again from its records, in an empty repository.
//!
//! Everything that the session did not make (where it began, decisions, commits by others) is
//! copied as it is; what it made is made anew, from the recorded requests and answers alone. The
//! ids must be the same, byte for byte.

use std::path::Path as FilePath;

use agentic_git::{Repository, TreeChange, TreeEdit, run_git};
use agentic_model::commit::{Claims, CommitData, OpenFields};
use agentic_model::{Instant, Kind, Oid, Person, Signature, Value};
use agentic_replay::{AskedRequest, RequestAnswer, SessionId, Summary};
use agentic_space::commit::Edit;
use agentic_store::error::GitError;
use agentic_store::journal::{GitKind, GitObject};

use super::effect::edits;
use crate::error::SessionError;
use crate::{Error, Result, SessionSpace};

/// Makes the commits of a session again in an empty repository at `folder`, and returns their ids.
///
/// # Errors
/// Fails when a commit gets another id, and when what the session did not make cannot be copied.
pub fn rebuild(space: &SessionSpace, id: &SessionId, folder: &FilePath) -> Result<Vec<Oid>> {
    let summary = space.session(id)?;
    let format = match space.repository().empty_tree().as_bytes().len() {
        32 => "--object-format=sha256",
        _ => "--object-format=sha1",
    };
    std::fs::create_dir_all(folder).map_err(agentic_store::Error::io("create", folder))?;
    let init = ["init", "--quiet", "--bare", format, "."];
    run_git(folder, &init)?.checked(&init)?;
    let target = Repository::open(folder)?;
    let mut rebuilt = Vec::new();
    for asked in &summary.asked {
        let Some((_, RequestAnswer::Ok(answer), _)) = &asked.answer else { continue };
        if asked.kind == "commit" {
            let made = remake(space, &target, &summary, asked, answer, &rebuilt)?;
            rebuilt.push(made);
        }
    }
    Ok(rebuilt)
}

fn remake(
    space: &SessionSpace,
    target: &Repository,
    summary: &Summary,
    asked: &AskedRequest,
    answer: &Value,
    rebuilt: &[Oid],
) -> Result<Oid> {
    let oid =
        |key: &str| answer.get(key).and_then(Value::as_text).and_then(|text| Oid::parse(text).ok());
    let wrong = |reason: &str| {
        Error::Session(SessionError::NotRebuilt {
            id: summary.id.short(),
            reason: reason.to_owned(),
        })
    };
    let recorded = oid("commit").ok_or_else(|| wrong("the answer names no commit"))?;
    let parent = oid("parent").ok_or_else(|| wrong("the answer names no parent"))?;
    if !target.has_object(parent) {
        copy(space, target, parent, rebuilt)?;
    }
    let committer = answer.get("committer").and_then(Value::as_text).and_then(signature);
    let committer = committer.ok_or_else(|| wrong("the answer names no committer"))?;
    let changes = edits(&asked.payload).ok_or_else(|| wrong("the request names no files"))?;
    let scratch = target.scratch();
    let mut edit = TreeEdit::new();
    for (path, change) in changes {
        let change = match change {
            Edit::Write { content, mode } => {
                TreeChange::Set { mode, blob: scratch.write_blob(&content)? }
            }
            Edit::WriteSpooled { content, mode } => {
                TreeChange::Set { mode, blob: scratch.write_blob(&content.read()?)? }
            }
            Edit::Delete => TreeChange::Remove,
        };
        edit.insert(path.into_bytes(), change);
    }
    let base = target.read_commit(parent)?.tree;
    let tree = scratch.edit_tree(base, &edit)?;
    target.write_loose(&scratch.difference(base, tree)?)?;
    let text = |key: &str| asked.payload.get(key).and_then(Value::as_text);
    let fields = asked.payload.get("fields").and_then(Value::as_map).cloned().unwrap_or_default();
    let claims = Claims {
        kind: text("kind").map_or(Some(Kind::agent_commit()), |kind| Kind::parse(kind).ok()),
        agent: Some(summary.agent.clone()),
        behaviour: asked.behaviour,
        session: Some(summary.id.to_string()),
        request: Some(asked.id.to_string()),
        fields: OpenFields::place(fields)?.0,
        ..Claims::default()
    };
    let author = Signature { person: Person::of_agent(&summary.agent), ..committer.clone() };
    let message = claims.write(text("message").unwrap_or_default());
    let message = message.map_err(agentic_space::Error::from)?;
    let data = CommitData { tree, parents: vec![parent], author, committer, message };
    let object = GitObject { kind: GitKind::Commit, bytes: data.to_bytes() };
    let made = target.name_object(&object);
    target.write_loose(&[object])?;
    if made != recorded {
        return Err(wrong(&format!("commit {recorded} became {made}")));
    }
    Ok(made)
}

/// Copies a commit with its history, except for what was rebuilt.
fn copy(space: &SessionSpace, target: &Repository, commit: Oid, rebuilt: &[Oid]) -> Result<()> {
    let mut script = format!("{commit}\n");
    for made in rebuilt {
        script.push_str(&format!("^{made}\n"));
    }
    let list = target.common_dir().join("copy.list");
    std::fs::write(&list, script).map_err(agentic_store::Error::io("write", &list))?;
    let (from, to) = (quoted(space.repository().common_dir()), quoted(target.common_dir()));
    let command = format!(
        "git --git-dir={from} pack-objects --revs --stdout -q <{} | git --git-dir={to} unpack-objects -q",
        quoted(&list)
    );
    let output = std::process::Command::new("sh").arg("-c").arg(&command).output();
    let output =
        output.map_err(agentic_store::Error::io("copy commits to", target.common_dir()))?;
    if !output.status.success() {
        let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(agentic_store::Error::Git(GitError::Program {
            command: "pack-objects".to_owned(),
            message,
        })
        .into());
    }
    Ok(())
}

fn quoted(path: &FilePath) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\\''"))
}

/// Reads a committer from the header of a commit: `name <email> seconds +hhmm`.
fn signature(text: &str) -> Option<Signature> {
    let (name, rest) = text.split_once(" <")?;
    let (email, rest) = rest.split_once("> ")?;
    let (seconds, offset) = rest.split_once(' ')?;
    let offset: i32 = offset.parse().ok()?;
    Some(Signature {
        person: Person::new(name, email),
        at: Instant::from_millis(seconds.parse::<i64>().ok()?.checked_mul(1000)?),
        offset_minutes: offset / 100 * 60 + offset % 100,
    })
}

#[cfg(test)]
mod tests;
