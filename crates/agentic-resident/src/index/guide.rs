//! Which notes keep what, as the index of agents knows it: looking through those of very many agents would
//! take seconds.

use std::sync::{Arc, Weak};

use agentic_git::{KeptLeaf, RefName};
use agentic_index::{LedgerRows, MainIndex};
use agentic_model::AgentName;
use agentic_space::NotesGuide;

use super::desk::KeeperDesk;
use super::ledger::mark_of;

/// Makes a guide from an index, as long as there is one.
pub fn notes_guide(main: &Arc<KeeperDesk<MainIndex>>) -> NotesGuide {
    let (first, possible) = (Arc::downgrade(main), Arc::downgrade(main));
    NotesGuide {
        first: Arc::new(move |leaf| {
            let named = first_keepers(&first, leaf).unwrap_or_default();
            named.iter().filter_map(|name| AgentName::parse(name).ok()).collect()
        }),
        possible: Arc::new(move |leaf, mut notes| {
            if let Some(main) = possible.upgrade() {
                let kept = main.kept();
                let rows = kept.rows.rows();
                notes.retain(|notes| may_keep(&rows, leaf, notes));
            }
            notes
        }),
    }
}

fn first_keepers(main: &Weak<KeeperDesk<MainIndex>>, leaf: &KeptLeaf) -> Option<Vec<String>> {
    Some(main.upgrade()?.kept().rows.rows().objects.keepers(mark_of(leaf)))
}

/// Tells whether notes may keep something: those that were read in another state always may.
fn may_keep(rows: &LedgerRows, leaf: &KeptLeaf, notes: &RefName) -> bool {
    let agent = notes.name.strip_prefix(AgentName::NOTES_REFS).unwrap_or_default();
    let row = rows.agents.get(agent).filter(|row| row.seen().notes == Some(notes.target));
    row.is_none() || rows.objects.may_keep(agent, mark_of(leaf))
}
