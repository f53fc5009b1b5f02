//! What one announcement may change of the one before it.

use std::collections::BTreeSet;

use agentic_model::{AgentName, Oid};
use agentic_store::ground::ObjectStore;

use crate::announcement::{RewoundTip, SpaceAnnouncement};
use crate::fields::MalformedInput;
use crate::folder::{TreeFolder, read_file, read_subfolder};
use crate::given::check_given;
use crate::identity::{IdentityChain, SignedDocument};
use crate::own::{IDENTITY, read_documents};
use crate::reply::check_replies;
use crate::shard::{HeadChange, HeadEntry, changed_heads};
use crate::wrapping::{WrappedAnnouncement, body_of, carried_tips};
use crate::{Error, Result};

/// The files of a snapshot that name the tip of a chain of commits.
pub const CHAIN_TIPS: [&str; 4] = ["archive", "behaviours", "kinds", "rules"];
/// The longest such file, in bytes: an id and the end of a line.
const TIP_BYTES_MAX: usize = 65;

/// Checks an announcement against the one before, and returns what it changes.
///
/// # Errors
/// Fails with [`Error::Malformed`] when it is no step from there.
pub fn check_step(
    store: &impl ObjectStore,
    identity: &IdentityChain,
    before: Option<&WrappedAnnouncement>,
    this: &WrappedAnnouncement,
) -> Result<Vec<HeadChange>> {
    let said = &this.signed.announcement;
    check_numbers(identity, before, said)?;
    let old = match before {
        Some(before) => body_of(store, before)?,
        None => TreeFolder::new(),
    };
    let new = body_of(store, this)?;
    let old_heads = read_subfolder(store, &old, "heads")?;
    let new_heads = read_subfolder(store, &new, "heads")?;
    let changes = changed_heads(store, &old_heads, &new_heads)?;
    let carried = carried_tips(store, said)?;
    let mut n_entries = before.map_or(0, |before| before.signed.announcement.entries);
    for change in &changes {
        check_change(store, said, &carried, change)?;
        match (&change.old, &change.new) {
            (None, Some(_)) => n_entries = n_entries.saturating_add(1),
            (Some(_), None) => n_entries = n_entries.saturating_sub(1),
            (Some(_), Some(_)) | (None, None) => {}
        }
    }
    if n_entries != said.entries {
        return Err(refused(format!("it counts {} agents and has {n_entries}", said.entries)));
    }
    for name in CHAIN_TIPS {
        check_chain_tip(store, name, &carried, [&old, &new])?;
    }
    check_documents(store, before, this, [&old, &new])?;
    check_given(store, said, [&old, &new])?;
    check_replies(store, &carried, [&old, &new])?;
    Ok(changes)
}

fn check_numbers(
    identity: &IdentityChain,
    before: Option<&WrappedAnnouncement>,
    said: &SpaceAnnouncement,
) -> Result<()> {
    let Some(before) = before else {
        return match (said.previous, &said.cut) {
            (None, None) if said.seq == 0 => Ok(()),
            (Some(_), Some(_)) if said.seq > 0 => Ok(()),
            (None | Some(_), None | Some(_)) => {
                Err(refused("it begins a chain in the middle".to_owned()))
            }
        };
    };
    let (cid, before_commit) = (before.signed.cid(), before.commit);
    let before = &before.signed.announcement;
    if said.previous != Some(cid) {
        return Err(refused("it names another one as the one before".to_owned()));
    }
    if Some(said.seq) != before.seq.checked_add(1) {
        return Err(refused(format!("its number is {} after {}", said.seq, before.seq)));
    }
    if said.parents.first() != Some(&before_commit) {
        return Err(refused("its first parent is not the one before".to_owned()));
    }
    if said.epoch < before.epoch || said.time < before.time || said.hash != before.hash {
        return Err(refused("its epoch, its time or its hash goes back".to_owned()));
    }
    if said.epoch > before.epoch {
        let listed = identity.in_epoch(said.space, said.epoch);
        if listed.and_then(|listed| listed.resume) != Some(cid) {
            return Err(refused("its epoch begins elsewhere than its document says".to_owned()));
        }
    }
    let number = |cid| identity.number_of(cid);
    if number(said.identity) < number(before.identity) {
        return Err(refused("its identity is an older one".to_owned()));
    }
    Ok(())
}

fn check_change(
    store: &impl ObjectStore,
    said: &SpaceAnnouncement,
    carried: &BTreeSet<Oid>,
    change: &HeadChange,
) -> Result<()> {
    let agent = &change.agent;
    let Some(new) = &change.new else {
        let is_said = said.removed.iter().any(|gone| {
            let was = HeadEntry { head: gone.head, notes: gone.notes, from: None };
            let old = change.old.as_ref().map(|old| HeadEntry { from: None, ..old.clone() });
            gone.agent == *agent && Some(was) == old
        });
        return match is_said {
            true => Ok(()),
            false => Err(refused(format!("`{agent}` vanished without being removed"))),
        };
    };
    let old = change.old.as_ref();
    let head =
        TipChange { agent, of: RewoundTip::Head, old: old.map(|old| old.head), new: new.head };
    check_tip(store, said, carried, &head)?;
    match (old.and_then(|old| old.notes), new.notes) {
        (old, Some(new)) => {
            let notes = TipChange { agent, of: RewoundTip::Notes, old, new };
            check_tip(store, said, carried, &notes)
        }
        (Some(_), None) => Err(refused(format!("the notes of `{agent}` vanished"))),
        (None, None) => Ok(()),
    }
}

/// One tip that may have moved.
struct TipChange<'a> {
    agent: &'a AgentName,
    of: RewoundTip,
    old: Option<Oid>,
    new: Oid,
}

fn check_tip(
    store: &impl ObjectStore,
    said: &SpaceAnnouncement,
    carried: &BTreeSet<Oid>,
    tip: &TipChange<'_>,
) -> Result<()> {
    let TipChange { agent, of, old, new } = *tip;
    if old == Some(new) {
        return Ok(());
    }
    let what = of.as_str();
    if !carried.contains(&new) {
        return Err(refused(format!("the {what} of `{agent}` is not among its parents")));
    }
    let Some(old) = old else { return Ok(()) };
    let is_said = said.rewinds.iter().any(|rewind| {
        rewind.agent == *agent && rewind.of == of && rewind.from == old && rewind.to == new
    });
    match is_said || store.is_ancestor(old, new)? {
        true => Ok(()),
        false => Err(refused(format!("the {what} of `{agent}` was set back without a rewind"))),
    }
}

/// Checks that a snapshot has the document that its announcement goes by, and all before.
fn check_documents(
    store: &impl ObjectStore,
    before: Option<&WrappedAnnouncement>,
    this: &WrappedAnnouncement,
    [old, new]: [&TreeFolder; 2],
) -> Result<()> {
    let said = this.signed.announcement.identity;
    let before = before.map(|before| before.signed.announcement.identity);
    if before == Some(said) && old.get(IDENTITY) == new.get(IDENTITY) {
        return Ok(());
    }
    let documents = read_documents(store, new)?;
    if documents.last().map(SignedDocument::cid) != Some(said) {
        return Err(refused(
            "its snapshot has other documents than those of its identity".to_owned(),
        ));
    }
    IdentityChain::read(documents).map(drop).map_err(Error::from)
}

fn check_chain_tip(
    store: &impl ObjectStore,
    name: &str,
    carried: &BTreeSet<Oid>,
    [old, new]: [&TreeFolder; 2],
) -> Result<()> {
    if old.get(name) == new.get(name) {
        return Ok(());
    }
    let Some(tip) = read_tip(store, new, name)? else {
        return Err(refused(format!("`{name}` vanished")));
    };
    if !carried.contains(&tip) {
        return Err(refused(format!("the tip of `{name}` is not among its parents")));
    }
    match read_tip(store, old, name)? {
        Some(before) if !store.is_ancestor(before, tip)? => {
            Err(refused(format!("`{name}` was set back")))
        }
        Some(_) | None => Ok(()),
    }
}

/// Reads the tip that a file of a snapshot names.
///
/// # Errors
/// Fails when the file is no id and the end of a line.
pub fn read_tip(store: &impl ObjectStore, body: &TreeFolder, name: &str) -> Result<Option<Oid>> {
    let Some(bytes) = read_file(store, body, name, TIP_BYTES_MAX)? else { return Ok(None) };
    let text = std::str::from_utf8(&bytes).ok().and_then(|text| text.strip_suffix('\n'));
    let tip = text.and_then(|text| Oid::parse(text).ok().filter(|oid| oid.to_string() == text));
    match tip {
        Some(tip) => Ok(Some(tip)),
        None => Err(refused(format!("`{name}` names no tip"))),
    }
}

fn refused(why: String) -> Error {
    Error::Malformed(MalformedInput(why))
}
