//! Agents of remotes, as the last fetch found them.

use std::collections::BTreeMap;

use agentic_api::view::{EventName, EventView};
use agentic_model::Oid;
use agentic_session::SessionSpace;

use super::agents::AGENTS_READ_AT_ONCE;
use super::{Follower, blank};

/// Where git keeps the branches of remotes.
const REMOTES: &str = "refs/remotes/";
/// What stands between a remote and an agent of it.
const AGENTS: &str = "/agents/";

/// Where the notes of agents of remotes are kept.
const NOTES_REFS: &str = "refs/agentic/remotes/";
/// What stands between a remote and the notes of an agent of it.
const NOTES: &str = "/notes/";

/// The agents of remotes when they were told of, as `REMOTE/NAME`.
#[derive(Debug, Default)]
pub(super) struct SeenRemotes {
    heads: BTreeMap<String, Oid>,
    notes: BTreeMap<String, Oid>,
}

impl SeenRemotes {
    pub(super) fn read(space: &SessionSpace) -> Option<SeenRemotes> {
        // Remotes may be added while this process runs: which there are, their refs say.
        let read = |prefix: &str, between: &str| {
            let mut seen = BTreeMap::new();
            for found in space.repository().list_refs(prefix).ok()? {
                let name = found.name.strip_prefix(prefix).unwrap_or_default();
                if let Some((remote, agent)) = name.split_once(between) {
                    seen.insert(format!("{remote}/{agent}"), found.target);
                }
            }
            Some(seen)
        };
        Some(SeenRemotes { heads: read(REMOTES, AGENTS)?, notes: read(NOTES_REFS, NOTES)? })
    }
}

impl Follower {
    pub(super) fn sweep_remotes(&mut self) {
        let Some(now) = SeenRemotes::read(&self.space) else { return };
        let before = std::mem::replace(&mut self.remotes, now);
        let mut moved = moved(&before.heads, &self.remotes.heads);
        let noted = moved_notes(&before, &self.remotes);
        moved.extend(noted.iter().copied());
        if moved.len() <= AGENTS_READ_AT_ONCE {
            let moved: Vec<&str> = moved.into_iter().map(String::as_str).collect();
            self.index.follow_remotes(&moved);
        }
        let tell = |agent: &String, head: Option<&Oid>, state: &str| {
            let (agent, state) = (Some(agent.clone()), Some(state.to_owned()));
            let commit = head.map(Oid::to_string);
            self.tell(EventName::Agent, EventView { agent, commit, state, ..blank() });
        };
        for (agent, head) in &self.remotes.heads {
            match before.heads.get(agent) {
                None => tell(agent, Some(head), "new"),
                Some(old) if old != head => tell(agent, Some(head), "moved"),
                Some(_) => {}
            }
        }
        // Notes come along with commits, and alone where only they changed.
        for agent in noted {
            let agent = Some(agent.clone());
            self.tell(EventName::Trace, EventView { agent, ..blank() });
        }
        for agent in before.heads.keys().filter(|agent| !self.remotes.heads.contains_key(*agent)) {
            tell(agent, None, "gone");
        }
    }
}

/// Lists the agents that are where they were, and whose notes are not.
fn moved_notes<'h>(before: &'h SeenRemotes, now: &'h SeenRemotes) -> Vec<&'h String> {
    let moved = moved(&before.notes, &now.notes);
    let stays = |name: &&String| {
        before.heads.get(*name).is_some_and(|head| now.heads.get(*name) == Some(head))
    };
    moved.into_iter().filter(stays).collect()
}

/// Lists the agents that came, moved or went.
fn moved<'h>(before: &'h BTreeMap<String, Oid>, now: &'h BTreeMap<String, Oid>) -> Vec<&'h String> {
    let all = before.keys().chain(now.keys().filter(|name| !before.contains_key(*name)));
    all.filter(|name| before.get(*name) != now.get(*name)).collect()
}
