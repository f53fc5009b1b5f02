//! Transactions: one write, whole, so that everything after its record can be redone from it.

use agentic_model::{Cid, Instant, Kind, Oid, Person, Signature, Value};

use super::fold::RefFold;
use super::record::{Fields, StreamPin, StreamStanding, oid_or_null};
use crate::{Error, Result};

/// The verb of transactions whose commit is a decision because they say so.
pub const DECIDE: &str = "decide";

/// The most that a record holds of objects, in bytes: 8 MiB.
pub const RECORD_OBJECT_BYTES_MAX: usize = 8 << 20;

/// The kinds of git objects that a write makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GitKind {
    /// The content of a file or link.
    Blob,
    /// A folder.
    Tree,
    /// A commit.
    Commit,
}

/// A git object, not yet or already stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitObject {
    /// What it is.
    pub kind: GitKind,
    /// Its bytes, without git's header.
    pub bytes: Vec<u8>,
}

/// A branch on its way from one commit to another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BranchMove {
    /// The full name of the ref.
    pub name: String,
    /// Where it must be; nothing if it must not exist.
    pub expect: Option<Oid>,
    /// Where it goes.
    pub new: Oid,
}

/// What changes in a notes tree, whatever its tip is when the change is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotesEdit {
    /// The full name of the notes ref.
    pub name: String,
    /// Notes to set: the commit and the text of ours.
    pub notes: Vec<(Oid, String)>,
    /// Typed objects to keep.
    pub objects: Vec<KeptObject>,
}

/// A typed object on its way into a notes tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptObject {
    /// Its type.
    pub kind: Kind,
    /// Its id.
    pub cid: Cid,
    /// Its canonical bytes, or where they are.
    pub content: Content,
}

/// The bytes of an object that goes into a notes tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// In the record itself.
    Inline(Vec<u8>),
    /// In this blob, which was made durable before the record was written.
    Stored(Oid),
}

impl From<&agentic_model::Object> for KeptObject {
    fn from(object: &agentic_model::Object) -> KeptObject {
        KeptObject {
            kind: object.kind().clone(),
            cid: object.cid(),
            content: Content::Inline(object.bytes().to_vec()),
        }
    }
}

/// The trace entries that a write binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TakenEntries {
    /// Entries with a number below this one had been bound before.
    pub from: u64,
    /// How many are bound by this write.
    pub count: u64,
}

/// What a worktree does when its branch moves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Follow {
    /// Its files are what was committed; only its index follows.
    Index(String),
    /// Its files follow; they were clean.
    Files(String),
}

/// One write.
#[derive(Debug, Clone, PartialEq)]
pub struct Transaction {
    /// The verb that writes, for reflogs and notes commits.
    pub verb: String,
    /// Every object by which the new commit differs from what the journal already holds.
    pub objects: Vec<GitObject>,
    /// The branch, if it moves.
    pub branch: Option<BranchMove>,
    /// The notes, if they change.
    pub notes: Option<NotesEdit>,
    /// The trace entries that are bound.
    pub taken: TakenEntries,
    /// The worktree that follows the branch.
    pub follow: Option<Follow>,
    /// The refs that the archive keeps instead, or gives back.
    pub fold: Option<RefFold>,
    /// The behaviour that the agent has after it; unless it is unknown the one of before. It stands in
    /// the record as what is true after that.
    pub pin: StreamPin,
    /// Who did the work.
    pub author: Signature,
    /// In whose repository.
    pub committer: Signature,
}

impl Transaction {
    /// Makes a write that only keeps objects in a notes ref.
    pub fn keeping(
        verb: impl Into<String>,
        notes_ref: impl Into<String>,
        objects: Vec<KeptObject>,
        (author, committer): (Signature, Signature),
    ) -> Transaction {
        Transaction {
            verb: verb.into(),
            objects: Vec::new(),
            branch: None,
            notes: Some(NotesEdit { name: notes_ref.into(), notes: Vec::new(), objects }),
            taken: TakenEntries::default(),
            follow: None,
            fold: None,
            pin: StreamPin::Unknown,
            author,
            committer,
        }
    }

    /// Tells which behaviour the agent has after it. A branch that somebody else moved in between says
    /// nothing.
    pub(super) fn pin_after(&self, before: &StreamStanding) -> StreamPin {
        match self.pin {
            StreamPin::Unknown => {
                let is_next =
                    self.branch.as_ref().is_none_or(|branch| branch.expect == before.head);
                if is_next { before.pin } else { StreamPin::Unknown }
            }
            known @ (StreamPin::Nothing | StreamPin::Behaviour(_)) => known,
        }
    }

    /// Returns the commit, if this record makes it a decision.
    pub fn decision(&self) -> Option<Oid> {
        let branch = self.branch.as_ref().filter(|_| self.verb == DECIDE)?;
        Some(branch.new)
    }

    /// Counts the bytes of all objects in the record, git's and typed ones.
    pub fn object_bytes(&self) -> usize {
        let kept = self.notes.iter().flat_map(|notes| &notes.objects);
        let inline = |object: &KeptObject| match &object.content {
            Content::Inline(bytes) => bytes.len(),
            Content::Stored(_) => 0,
        };
        let objects = self.objects.iter().map(|object| object.bytes.len());
        objects.sum::<usize>() + kept.map(inline).sum::<usize>()
    }

    pub(super) fn to_value(&self) -> Value {
        let mut map = agentic_model::Map::from([
            ("verb".to_owned(), Value::text(&self.verb)),
            ("objects".to_owned(), Value::List(self.objects.iter().map(object_value).collect())),
            ("author".to_owned(), signature_value(&self.author)),
            ("committer".to_owned(), signature_value(&self.committer)),
            ("from".to_owned(), Value::Int(self.taken.from as i64)),
            ("count".to_owned(), Value::Int(self.taken.count as i64)),
        ]);
        if let Some(branch) = &self.branch {
            let expect = branch.expect.map_or(Value::Null, oid_value);
            let items = vec![Value::text(&branch.name), expect, oid_value(branch.new)];
            map.insert("branch".to_owned(), Value::List(items));
        }
        if let Some(notes) = &self.notes {
            map.insert("notes".to_owned(), notes_value(notes));
        }
        match &self.follow {
            Some(Follow::Index(path)) => map.insert("index".to_owned(), Value::text(path)),
            Some(Follow::Files(path)) => map.insert("files".to_owned(), Value::text(path)),
            None => None,
        };
        if let Some(fold) = &self.fold {
            map.insert("fold".to_owned(), fold.to_value());
        }
        Value::Map(map)
    }

    pub(super) fn from_value(value: &Value) -> Result<Transaction> {
        let fields = Fields(value);
        let objects = fields.list("objects")?.iter().map(read_object).collect::<Result<_>>()?;
        Ok(Transaction {
            verb: fields.text("verb")?.to_owned(),
            objects,
            branch: fields.optional("branch").map(read_branch).transpose()?,
            notes: fields.optional("notes").map(read_notes).transpose()?,
            taken: TakenEntries { from: fields.count("from")?, count: fields.count("count")? },
            follow: read_follow(&fields),
            fold: fields.optional("fold").map(RefFold::from_value).transpose()?,
            pin: StreamPin::Unknown,
            author: read_signature(fields.get("author")?)?,
            committer: read_signature(fields.get("committer")?)?,
        })
    }
}

fn read_follow(fields: &Fields<'_>) -> Option<Follow> {
    let path = |field| fields.optional(field).and_then(Value::as_text).map(str::to_owned);
    path("index").map(Follow::Index).or_else(|| path("files").map(Follow::Files))
}

fn damaged(what: &str) -> Error {
    Error::corrupt("a transaction record", format!("its {what} is missing or wrong"))
}

fn oid_value(oid: Oid) -> Value {
    Value::Bytes(oid.as_bytes().to_vec())
}

fn object_value(object: &GitObject) -> Value {
    let kind = match object.kind {
        GitKind::Blob => "blob",
        GitKind::Tree => "tree",
        GitKind::Commit => "commit",
    };
    Value::List(vec![Value::text(kind), Value::Bytes(object.bytes.clone())])
}

fn read_object(value: &Value) -> Result<GitObject> {
    let [kind, bytes] = value.as_list().unwrap_or_default() else {
        return Err(damaged("object"));
    };
    let kind = match kind.as_text() {
        Some("blob") => GitKind::Blob,
        Some("tree") => GitKind::Tree,
        Some("commit") => GitKind::Commit,
        _ => return Err(damaged("object kind")),
    };
    let bytes = bytes.as_bytes().ok_or_else(|| damaged("object"))?.to_vec();
    Ok(GitObject { kind, bytes })
}

fn read_branch(value: &Value) -> Result<BranchMove> {
    let [name, expect, new] = value.as_list().unwrap_or_default() else {
        return Err(damaged("branch"));
    };
    Ok(BranchMove {
        name: name.as_text().ok_or_else(|| damaged("branch"))?.to_owned(),
        expect: oid_or_null(expect)?,
        new: oid_or_null(new)?.ok_or_else(|| damaged("branch"))?,
    })
}

fn notes_value(edit: &NotesEdit) -> Value {
    let note = |(oid, text): &(Oid, String)| Value::List(vec![oid_value(*oid), Value::text(text)]);
    let object = |object: &KeptObject| {
        let mut items = vec![Value::text(object.kind.as_str())];
        match &object.content {
            Content::Inline(bytes) => items.push(Value::Bytes(bytes.clone())),
            Content::Stored(oid) => items.extend([Value::Link(object.cid), oid_value(*oid)]),
        }
        Value::List(items)
    };
    Value::map([
        ("name", Value::text(&edit.name)),
        ("notes", Value::List(edit.notes.iter().map(note).collect())),
        ("objects", Value::List(edit.objects.iter().map(object).collect())),
    ])
}

fn read_notes(value: &Value) -> Result<NotesEdit> {
    let fields = Fields(value);
    let note = |item: &Value| match item.as_list().unwrap_or_default() {
        [oid, Value::Text(text)] => {
            Ok((oid_or_null(oid)?.ok_or_else(|| damaged("note"))?, text.clone()))
        }
        _ => Err(damaged("note")),
    };
    let object = |item: &Value| {
        let (kind, cid, content) = match item.as_list().unwrap_or_default() {
            [Value::Text(kind), Value::Bytes(bytes)] => {
                (kind, Cid::of(bytes), Content::Inline(bytes.clone()))
            }
            [Value::Text(kind), Value::Link(cid), blob] => {
                let oid = oid_or_null(blob)?.ok_or_else(|| damaged("kept object"))?;
                (kind, *cid, Content::Stored(oid))
            }
            _ => return Err(damaged("kept object")),
        };
        let kind = Kind::parse(kind).map_err(|_| damaged("object type"))?;
        Ok(KeptObject { kind, cid, content })
    };
    Ok(NotesEdit {
        name: fields.text("name")?.to_owned(),
        notes: fields.list("notes")?.iter().map(note).collect::<Result<_>>()?,
        objects: fields.list("objects")?.iter().map(object).collect::<Result<_>>()?,
    })
}

fn signature_value(signature: &Signature) -> Value {
    Value::List(vec![
        Value::text(&signature.person.name),
        Value::text(&signature.person.email),
        Value::Int(signature.at.millis()),
        Value::Int(i64::from(signature.offset_minutes)),
    ])
}

fn read_signature(value: &Value) -> Result<Signature> {
    match value.as_list().unwrap_or_default() {
        [Value::Text(name), Value::Text(email), Value::Int(millis), Value::Int(offset)] => {
            Ok(Signature {
                person: Person::new(name, email),
                at: Instant::from_millis(*millis),
                offset_minutes: i32::try_from(*offset).map_err(|_| damaged("signature"))?,
            })
        }
        _ => Err(damaged("signature")),
    }
}
