//! Writing the next state of a library: a commit of its ref, journalled as that of a branch.

use agentic_git::{LibraryEdit, NotesState};
use agentic_model::commit::CommitData;
use agentic_model::{Oid, Person};
use agentic_store::Stream;
use agentic_store::journal::{BranchMove, Transaction};

use crate::signing::SigningChoice;
use crate::write::LockedStream;
use crate::written::WriteNotices;
use crate::{Result, Space};

/// What is to be written.
pub(super) struct LibraryWrite {
    /// The ref.
    pub ref_name: &'static str,
    /// The verb, for reflogs.
    pub verb: &'static str,
    /// What changes.
    pub edit: LibraryEdit,
    /// The message of the commit.
    pub message: String,
    /// Who writes, to git; whom git knows here without.
    pub author: Option<Person>,
    /// A commit that becomes a parent, too.
    pub over: Option<Oid>,
}

/// Writes the next state; nothing if somebody else's came first.
pub(super) fn write(
    space: &Space,
    on: &NotesState<'_>,
    writing: &LibraryWrite,
) -> Result<Option<WriteNotices>> {
    let (repository, tip) = (space.repository(), on.tip());
    let Some(tree) = repository.library_tree(on, &writing.edit)? else {
        return Ok(Some(WriteNotices::default()));
    };
    let signatures = match &writing.author {
        Some(author) => space.signatures_of(author.clone())?,
        None => space.own_signatures()?,
    };
    let data = CommitData {
        tree: tree.tree,
        parents: tip.into_iter().chain(writing.over).collect(),
        author: signatures.author.clone(),
        committer: signatures.committer.clone(),
        message: writing.message.clone(),
    };
    // Where it is signed a program of the user's runs: not under the lock.
    let (new, commit) = SigningChoice::of_people(space)?.make(repository, &data)?;
    let name = writing.ref_name;
    let mut locked = LockedStream::stream(space, &Stream::of_branch(name))?;
    if repository.find_ref(name)? != tip {
        return Ok(None);
    }
    locked.begin(None, tip)?;
    locked.settle_parents(true)?;
    let mut objects = tree.objects;
    objects.push(commit);
    let transaction = Transaction {
        objects,
        branch: Some(BranchMove { name: name.to_owned(), expect: tip, new }),
        ..signatures.transaction(writing.verb)
    };
    Ok(Some(locked.decide(transaction, None, space.durability())?.follow().written))
}
