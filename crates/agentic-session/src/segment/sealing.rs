//! Which notes have sealed sessions at all.
//!
//! Most agents have none, and where refs are packed that cannot change without another file of packed
//! refs. So those that have are remembered for that file; only refs that stand in files of their own are
//! looked at each time.

use std::collections::BTreeSet;
use std::path::PathBuf;

use agentic_git::{PackedRefsMark, RefName};
use agentic_model::{AgentName, Oid, Value, canonical};
use agentic_store::file::{self, Persistence};

use super::Segments;
use super::cache::{sealed_content, unsealed_content};
use crate::{Result, SessionSpace};

/// Of fewer refs than this each is looked at.
const REMEMBERED_MIN: usize = 64;

/// The notes refs that may have sealed sessions, for one file of packed refs.
#[derive(Debug, Clone)]
pub(super) struct SealingNotes {
    pub(super) mark: PackedRefsMark,
    pub(super) names: BTreeSet<String>,
}

/// Lists the notes refs that may have sealed sessions: all others have none.
///
/// # Errors
/// Fails when refs cannot be listed.
pub fn notes_with_sessions(space: &SessionSpace) -> Result<BTreeSet<String>> {
    match remembered(space) {
        Some(names) => Ok(names),
        None => found(space),
    }
}

/// Answers from what is remembered; nothing where that is of other refs.
fn remembered(space: &SessionSpace) -> Option<BTreeSet<String>> {
    let repository = space.repository();
    let mark = repository.packed_refs_mark()?;
    let known = space.segments().sealing().filter(|known| known.mark == mark);
    let known = match known {
        Some(known) => known,
        None => {
            let read = SealingNotes::read(space).filter(|read| read.mark == mark)?;
            space.segments().set_sealing(read.clone());
            read
        }
    };
    let mut names = known.names;
    names.extend(repository.loose_ref_names(AgentName::NOTES_REFS).ok()?);
    // A ref that was packed meanwhile may have been in neither place.
    (repository.packed_refs_mark() == Some(mark)).then_some(names)
}

/// Looks at all notes.
fn found(space: &SessionSpace) -> Result<BTreeSet<String>> {
    let repository = space.repository();
    let before = repository.packed_refs_mark();
    let mut names: BTreeSet<String> =
        repository.loose_ref_names(AgentName::NOTES_REFS)?.into_iter().collect();
    let name_and_target = |name: &str, target: Oid| Some(RefName { name: name.to_owned(), target });
    // Whoever reads those that cannot be read finds out why: they are among the loose ones.
    let refs = repository.list_sound_refs_as(AgentName::NOTES_REFS, name_and_target)?.found;
    let n_refs = refs.len();
    for notes in refs {
        let may_have = Segments::of_found(space, &notes)
            .map_or(true, |segments| segments.sessions().next().is_some());
        if may_have {
            names.insert(notes.name);
        }
    }
    let mark = before.filter(|mark| mark.is_settled() && repository.packed_refs_mark() == before);
    if let Some(mark) = mark.filter(|_| n_refs >= REMEMBERED_MIN) {
        let known = SealingNotes { mark, names: names.clone() };
        known.write(space);
        space.segments().set_sealing(known);
    }
    Ok(names)
}

impl SealingNotes {
    fn place(space: &SessionSpace) -> PathBuf {
        space.repository().layout().cache().join("sealing")
    }

    fn read(space: &SessionSpace) -> Option<SealingNotes> {
        let value = canonical::decode(&unsealed_content(&SealingNotes::place(space))?).ok()?;
        let names = value.get("names")?.as_list()?.iter();
        let names = names.map(|name| name.as_text().map(str::to_owned)).collect::<Option<_>>()?;
        let mark = value.get("mark")?.as_list()?.iter().map(Value::as_int);
        let mark: Vec<i64> = mark.collect::<Option<_>>()?;
        Some(SealingNotes { mark: PackedRefsMark::of_numbers(mark.try_into().ok()?), names })
    }

    /// Writes it for others. That nobody can is no failure.
    pub(super) fn write(&self, space: &SessionSpace) {
        let names = Value::List(self.names.iter().map(Value::text).collect());
        let mark = Value::List(self.mark.numbers().map(Value::Int).to_vec());
        let value = Value::map([("mark", mark), ("names", names)]);
        let Ok(bytes) = canonical::encode(&value) else { return };
        let place = SealingNotes::place(space);
        let folder = place.parent().expect("caches stand in a folder");
        let _ = std::fs::create_dir_all(folder);
        let _ = file::replace(&place, &sealed_content(&bytes), Persistence::Lazy);
    }
}
