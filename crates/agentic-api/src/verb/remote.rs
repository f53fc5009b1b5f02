//! Other repositories: setting them up, pushing to them, fetching from them.

use agentic_federation::announce::AnnounceRequest;
use agentic_federation::exchange::RemoteMode;
use agentic_model::{AgentName, LibraryName};
use agentic_session::SessionSpace;
use agentic_space::error::contest_hint;
use agentic_space::library::Library;
use agentic_space::sync::{FetchOutcome, PushScope, fetch, init, push, push_purged};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::verb::announce::{announce_to, ending, mode, receive_peers, require_announcer};
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{FetchView, InitView, PeerFetchView, PushView};
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
        let mode = mode(caller, &remote)?;
        if mode == RemoteMode::Signed {
            return push_signed(caller, &remote, &agents);
        }
        let scope = match agents.as_slice() {
            [] => PushScope::All,
            named => PushScope::Named(named),
        };
        let pushed = push(caller.space, &remote, scope)?;
        let mut reply = Reply::plain(PushView::from(&pushed));
        if mode == RemoteMode::Both && agents.is_empty() {
            let signed = push_signed(caller, &remote, &[])?;
            reply.answer.pushed.extend(signed.answer.pushed);
            reply.answer.announced = signed.answer.announced;
            reply.notices.extend(signed.notices);
        }
        Ok(match pushed.contested.first() {
            None => reply,
            Some((library, name)) => {
                Reply { completion: VerbCompletion::Short(stayed(*library, name)), ..reply }
            }
        })
    }
}

/// Announces all agents to a remote in signed mode.
fn push_signed(
    caller: &Caller<'_>,
    remote: &str,
    agents: &[AgentName],
) -> Result<Reply<PushView>, Refusal> {
    if !agents.is_empty() {
        return Err(Refusal::usage(
            &format!("`{remote}` is in signed mode, in which all agents go together"),
            "leave the names out; `agentic agent private NAME` keeps one here",
        ));
    }
    require_announcer(caller)?;
    let reply = announce_to(caller, remote, &AnnounceRequest::default())?;
    Ok(reply.map(|answer| PushView {
        remote: remote.to_owned(),
        pushed: answer.pushed,
        announced: Some(answer.made),
    }))
}

/// Fetch, unite notes, and move agents forward that have not diverged.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Fetch {
    /// The remote; the only one, or `origin`, without.
    pub remote: Option<String>,
    /// Agents of the remote that are taken over.
    pub adopt: Vec<String>,
    /// Peers whose spaces are received, whatever the mode of the remote; all in signed mode without.
    pub peers: Vec<String>,
}

impl Verb for Fetch {
    type Answer = FetchView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<FetchView>, Refusal> {
        let adopt = names(&self.adopt)?;
        let remote = chosen_remote(caller.space, self.remote)?;
        let mode = mode(caller, &remote)?;
        let is_plain = mode != RemoteMode::Signed && self.peers.is_empty();
        let fetched = match is_plain {
            true => fetch(caller.space, &remote, &adopt)?,
            false => FetchOutcome { remote: remote.clone(), ..FetchOutcome::default() },
        };
        let is_received = mode != RemoteMode::Shared || !self.peers.is_empty();
        let received = match is_received {
            true => receive_peers(caller, &remote, &self.peers)?,
            false => Vec::new(),
        };
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
        let (told, completion) = ending(&received);
        notices.extend(told);
        let peers = received.iter().map(PeerFetchView::from).collect();
        Ok(Reply { answer: FetchView { peers, ..FetchView::from(&fetched) }, notices, completion })
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
pub(super) fn chosen_remote(
    space: &SessionSpace,
    named: Option<String>,
) -> Result<String, Refusal> {
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
