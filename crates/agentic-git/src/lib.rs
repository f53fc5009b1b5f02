//! Ground state as git keeps it, through gix: objects, refs, notes, packs, and worktrees.
//!
//! Nothing above this crate names a gix type. [`Repository`] answers the traits of
//! `agentic_store::ground`; what is asked of it beyond them, such as snapshots and merges, the verbs
//! ask here.

mod ancestors;
mod archive;
mod blob_intake;
mod blob_name;
mod branch_rewriting;
mod cached_tree;
mod candidate;
mod checkout;
mod command;
mod commit;
mod commit_graph;
mod configuration;
mod database;
mod difference;
mod file_pair;
pub mod follow;
mod forgetting;
mod ground;
mod handout;
mod index;
mod line_count;
mod loose;
mod loose_ref;
mod made_pack;
mod merge;
mod notes;
mod object;
mod object_cache;
mod object_file;
mod occupied;
mod openpgp;
mod pack;
mod pack_file;
mod pack_merge;
mod pack_offset;
mod pack_replaced;
mod packed_line;
mod prefix;
mod quarantine;
mod quoted;
mod recall;
mod ref_list;
mod ref_place;
mod ref_removal;
mod reference;
mod remote_program;
mod rename;
mod repair;
mod repository;
mod signature;
mod signer;
mod snapshot;
mod spool;
mod stream;
mod text_difference;
mod trail;
mod tree;
mod worktree;
mod worktree_lock;
mod zone;

pub use self::archive::{
    ARCHIVE_REF, ArchiveDraft, ArchiveEntry, ArchivedBy, PRIVATE_REF, PrivacyChange, archive_order,
};
pub use self::blob_intake::{BlobIntake, PackedBlobs};
pub use self::branch_rewriting::{BranchPart, BranchScrub, RewrittenBranches, RewrittenObjects};
pub use self::command::{GitEnd, run_git, run_git_with_input};
pub(crate) use self::command::{HELD_LOCK, by_command_line};
pub use self::commit::{CommitInfo, CommitterLine, FirstParents};
pub use self::database::{DatabaseCount, StoredObject};
pub use self::difference::{ChangedFile, FileStatus};
pub use self::file_pair::{FilePair, FileSide, FileSort};
pub use self::index::IndexUpdate;
pub use self::line_count::LineCount;
pub use self::merge::{Conflict, MergeBase, MergeOutcome, Stages};
pub use self::notes::{
    ChangedNote, FoundPointer, HistoryLeaf, HistoryRoot, HistorySort, KeptLeaf, LeafRewrites,
    LibraryEdit, LibraryTree, NoteVersion, NotesHistory, NotesState, POINTERS_MAX, PointerEdit,
};
pub use self::object::name_object;
pub use self::openpgp::{OpenPgpSigner, has_openpgp, openpgp_signer};
#[cfg(feature = "fuzz-access")]
pub use self::pack_offset::PackOffsets;
pub use self::quarantine::{DownloadSource, GlimpseDepth, GlimpsedRefs, Quarantine};
pub use self::quoted::unquoted;
pub use self::ref_list::{DamagedRef, PackedRefsMark, RefsMark, SoundRefs};
pub(crate) use self::ref_place::remove_if_hollow;
pub use self::repository::{Repository, Scratch, SharedRepository, is_repository_above, leads_to};
pub use self::signer::Signer;
pub use self::snapshot::{Snapshot, SnapshotSource};
pub use self::spool::{SpoolWriter, SpooledContent};
pub use self::stream::{deflate, inflate, inflate_any};
pub use self::text_difference::{LineChange, is_text, line_changes, split_lines};
pub use self::tree::{FileMode, TreeChange, TreeEdit, check_path};
pub use self::worktree::{Checkout, Worktree};
pub use self::worktree_lock::WorktreeLock;
pub use self::zone::local_zone;

use agentic_model::Oid;

pub use agentic_store::error::RemoteStop;
pub use agentic_store::ground::{NotesGap, PACKED_REFS, RefMove, RefName, RefState, Upkeep};
use agentic_store::journal::GitKind;
use agentic_store::{Error, Result};

/// The right to write to one stream of a repository of git's.
pub type GitWriter<'a> = agentic_store::Writer<'a, Repository>;

/// Turns a git id of gix into ours.
fn to_oid(id: &gix::oid) -> Oid {
    Oid::from_bytes(id.as_bytes()).expect("git ids have 20 or 32 bytes")
}

/// Turns an id of ours into gix's.
fn to_id(oid: Oid) -> gix::ObjectId {
    gix::ObjectId::from_bytes_or_panic(oid.as_bytes())
}

/// Turns a kind of object of ours into gix's.
fn to_gix(kind: GitKind) -> gix::objs::Kind {
    match kind {
        GitKind::Blob => gix::objs::Kind::Blob,
        GitKind::Tree => gix::objs::Kind::Tree,
        GitKind::Commit => gix::objs::Kind::Commit,
    }
}

/// Turns a kind of object of gix into ours; the store reads no tags.
fn from_gix(kind: gix::objs::Kind) -> Result<GitKind> {
    match kind {
        gix::objs::Kind::Blob => Ok(GitKind::Blob),
        gix::objs::Kind::Tree => Ok(GitKind::Tree),
        gix::objs::Kind::Commit => Ok(GitKind::Commit),
        gix::objs::Kind::Tag => Err(Error::corrupt("a tree", "it holds a tag")),
    }
}
