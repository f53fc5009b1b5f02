//! The commit itself, as bytes, and the transaction that brings it in.

use agentic_model::commit::{Claims, CommitData, OpenFields};
use agentic_model::{AgentName, Kind, Object, Oid};
use agentic_store::journal::{BranchMove, GitObject, KeptObject, NotesEdit, Taken, Transaction};

use super::{Bound, Draft};
use crate::signing::Signing;
use crate::space::Signatures;
use crate::{Result, Space};

/// What a commit is made of, besides its draft.
pub(crate) struct Making<'a> {
    pub kind: &'a Kind,
    pub head: Oid,
    pub tree: Oid,
}

/// A commit that is made, signed if it is to be, and not written yet.
pub(crate) struct Made {
    pub oid: Oid,
    object: GitObject,
    head: Oid,
    signatures: Signatures,
    fields: Option<Object>,
}

impl Made {
    /// Makes the commit of a draft. If it is signed a program of the user's runs: not under a lock.
    ///
    /// # Errors
    /// Fails when the message poses as one of ours, and when it cannot be signed.
    pub(crate) fn of(
        space: &Space,
        agent: &AgentName,
        draft: &Draft,
        making: &Making<'_>,
    ) -> Result<Made> {
        let signatures = space.signatures(agent)?;
        let (fields, fields_object) = OpenFields::place(draft.fields.clone())?;
        let claims = Claims {
            kind: Some(making.kind.clone()),
            agent: Some(agent.clone()),
            session: draft.asker.as_ref().map(|asker| asker.session.clone()),
            request: draft.asker.as_ref().and_then(|asker| asker.request.clone()),
            fields,
            ..Claims::default()
        };
        let data = CommitData {
            tree: making.tree,
            parents: vec![making.head],
            author: signatures.author.clone(),
            committer: signatures.committer.clone(),
            message: claims.write(&draft.message)?,
        };
        let signing = Signing::of(space, draft.asker.as_ref())?;
        let (oid, object) = signing.make(space.repository(), &data)?;
        Ok(Made { oid, object, head: making.head, signatures, fields: fields_object })
    }

    /// Writes the transaction that brings the commit in: after the `objects` that it needs, with the
    /// trace that is bound to it.
    pub(crate) fn transaction(
        self,
        agent: &AgentName,
        mut objects: Vec<GitObject>,
        bound: Option<Bound>,
    ) -> Transaction {
        let Made { oid: new, object, head, signatures, fields } = self;
        objects.push(object);
        let mut edit = NotesEdit {
            name: agent.notes_ref(),
            notes: Vec::new(),
            objects: fields.iter().map(KeptObject::from).collect(),
        };
        let mut taken = Taken::default();
        if let Some(bound) = bound {
            edit.objects.extend(bound.objects);
            edit.notes.push((new, bound.note));
            taken = bound.taken;
        }
        let has_edit = !edit.notes.is_empty() || !edit.objects.is_empty();
        Transaction {
            verb: "commit".to_owned(),
            objects,
            branch: Some(BranchMove { name: agent.branch_ref(), expect: Some(head), new }),
            notes: has_edit.then_some(edit),
            taken,
            follow: None,
            fold: None,
            author: signatures.author,
            committer: signatures.committer,
        }
    }
}
