//! Other repositories: setting them up, pushing to them, fetching from them.

use agentic_model::{AgentName, LibraryName};
use agentic_session::SessionSpace;
use agentic_space::error::contest_hint;
use agentic_space::library::Library;
use agentic_space::sync::{PushScope, fetch, init, push, push_purged};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{FetchView, InitView, PushView};
use crate::{Caller, Notice, Refusal};

/// Set up remotes, so that plain `git fetch` brings notes along. Safe to repeat.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Init {
    /// The remotes; all of them without.
    pub remotes: Vec<String>,
}

impl Verb for Init {
    type Answer = InitView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<InitView>, Refusal> {
        let remotes = match self.remotes.is_empty() {
            true => caller.space.repository().remotes(),
            false => self.remotes,
        };
        let changed = init(caller.space, &remotes)?;
        Ok(Reply::plain(InitView { remotes, changed: !changed.is_empty(), ..InitView::default() }))
    }
}

/// Push branches and notes of agents, and the registry of kinds, in one atomic push.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Push {
    /// The agents; all of them, and the archive, without.
    pub agents: Vec<String>,
    /// The remote; the only one, or `origin`, without.
    pub remote: Option<String>,
    /// Whether it replaces there what a purge made again here, and nothing else. A person's decision.
    pub purge: bool,
}

impl Verb for Push {
    type Answer = PushView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PushView>, Refusal> {
        let agents = names(&self.agents)?;
        let remote = chosen_remote(caller.space, self.remote)?;
        if self.purge {
            caller.require_person("replace what was purged on a remote")?;
            return Ok(Reply::plain(PushView::from(&push_purged(caller.space, &remote)?)));
        }
        let scope = match agents.as_slice() {
            [] => PushScope::All,
            named => PushScope::Named(named),
        };
        let pushed = push(caller.space, &remote, scope)?;
        let reply = Reply::plain(PushView::from(&pushed));
        Ok(match pushed.contested.first() {
            None => reply,
            Some((library, name)) => {
                Reply { completion: VerbCompletion::Short(stayed(*library, name)), ..reply }
            }
        })
    }
}

/// Fetch, unite notes, and move agents forward that have not diverged.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fetch {
    /// The remote; the only one, or `origin`, without.
    pub remote: Option<String>,
    /// Agents of the remote that are taken over.
    pub adopt: Vec<String>,
}

impl Verb for Fetch {
    type Answer = FetchView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<FetchView>, Refusal> {
        let adopt = names(&self.adopt)?;
        let remote = chosen_remote(caller.space, self.remote)?;
        let fetched = fetch(caller.space, &remote, &adopt)?;
        let left_out = fetched.left_out.iter();
        let left_out = left_out.map(|why| Notice::Unreadable { what: format!("left out: {why}") });
        let mut notices: Vec<Notice> = left_out.collect();
        for agent in &fetched.notes_united {
            for found in caller.space.foreign_tombstones(agent)? {
                let cid = found.cid;
                notices.push(Notice::Remark {
                    what: format!(
                        "something of `{agent}` was purged elsewhere, and is still here: \
                         `agentic purge --follow {cid}` takes that over"
                    ),
                });
            }
        }
        Ok(Reply { notices, ..Reply::plain(FetchView::from(&fetched)) })
    }
}

/// Says that a library was not pushed.
fn stayed(library: Library, name: &LibraryName) -> Refusal {
    let word = library.word();
    let message =
        format!("the {word} were not pushed: `{name}` was changed here and in another clone");
    Refusal::conflict(&message, &contest_hint(library, name))
}

fn names(texts: &[String]) -> Result<Vec<AgentName>, Refusal> {
    texts.iter().map(|text| agent_name(text)).collect()
}

/// Chooses the remote: the one that was named, else the only one, else `origin`.
fn chosen_remote(space: &SessionSpace, named: Option<String>) -> Result<String, Refusal> {
    if let Some(remote) = named {
        return Ok(remote);
    }
    let remotes = space.repository().remotes();
    match remotes.as_slice() {
        [] => {
            Err(Refusal::refused("there is no remote", "add one with `git remote add origin URL`"))
        }
        [only] => Ok(only.clone()),
        several if several.iter().any(|remote| remote == "origin") => Ok("origin".to_owned()),
        several => Err(Refusal::usage(
            "there are several remotes",
            &format!("name one of {} with `--remote`", several.join(", ")),
        )),
    }
}
