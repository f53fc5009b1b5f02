//! Other repositories: setting them up, pushing to them, fetching from them.

use agentic_federation::adoption::FollowChoice;
use agentic_federation::announce::{AnnounceRequest, announce};
use agentic_federation::bundle::{check_header, write_bundle};
use agentic_federation::exchange::{RemoteMode, relay};
use agentic_federation::id::announce_ref;
use agentic_federation::leaving::LeavingRules;
use agentic_federation::own::is_joining;
use agentic_model::{AgentName, LibraryName};
use agentic_session::SessionSpace;
use agentic_session::hosted::{BranchDecision, branch_decisions};
use agentic_space::error::contest_hint;
use agentic_space::library::Library;
use agentic_space::sync::{
    FetchOutcome, PushScope, fetch, fetch_to_look_at, init, push, push_purged,
};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::caller::agent_name;
use crate::redaction::redactor;
use crate::verb::announce::{
    OtherRemotes, PeerSearch, ReceivedPeers, adopt_own, announce_to, ending, follow_own,
    foreign_names, mode, recover_own, recovered_notices, require_announcer,
};
use crate::verb::peer::{cid, petname};
use crate::verb::peer_reply::{TakenReplies, take_replies};
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::{AnnouncedView, FetchView, InitView, PeerFetchView, PushView};
use crate::{Caller, HeldRequest, Notice, Refusal};

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
    /// A file that the announcement is written to instead of a remote.
    pub bundle: Option<String>,
    /// An announcement of ours that whoever gets the file has.
    pub since: Option<String>,
    /// A peer: what was accepted of it is carried on to the remote.
    pub relay: Option<String>,
}

impl Verb for Push {
    type Answer = PushView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<PushView>, Refusal> {
        let agents = names(&self.agents)?;
        if let Some(file) = &self.bundle {
            return push_bundle(caller, file, self.since.as_deref());
        }
        let remote = chosen_remote(caller.space, self.remote)?;
        if let Some(peer) = &self.relay {
            require_announcer(caller)?;
            let pushed = relay(caller.space, &remote, &petname(peer)?)?;
            return Ok(Reply::plain(PushView { remote, pushed, announced: None }));
        }
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
    let reply = announce_to(caller, remote, &AnnounceRequest::default(), &[])?;
    Ok(reply.map(|answer| PushView {
        remote: remote.to_owned(),
        pushed: answer.pushed,
        announced: Some(answer.made),
    }))
}

/// Writes our announcement to a file.
fn push_bundle(
    caller: &Caller<'_>,
    file: &str,
    since: Option<&str>,
) -> Result<Reply<PushView>, Refusal> {
    require_announcer(caller)?;
    let since = since.map(|text| cid(text, "an announcement")).transpose()?;
    let redactor = redactor(caller)?;
    let rules = LeavingRules { redactor: &redactor, allow: &[], remote: None };
    let made = announce(caller.space, &AnnounceRequest::default(), rules)?;
    write_bundle(caller.space, &made, &caller.path(file.as_ref()), since)?;
    let said = &made.wrapped.signed.announcement;
    let pushed = vec![announce_ref(said.peer, said.space)];
    let announced = Some(AnnouncedView::from(&made));
    Ok(Reply::plain(PushView { remote: file.to_owned(), pushed, announced }))
}

/// What becomes of the plain branches and notes of a remote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PlainRefs {
    /// Agents go on with them, and notes are united.
    Followed,
    /// They can be read.
    LookedAt,
    /// They are not fetched.
    Left,
}

impl Fetch {
    /// Says what becomes of plain refs. Whoever names peers wants nothing else.
    fn plain_refs(&self, mode: RemoteMode) -> PlainRefs {
        match mode {
            RemoteMode::Signed => PlainRefs::Left,
            RemoteMode::Both | RemoteMode::Shared if !self.peers.is_empty() => PlainRefs::Left,
            RemoteMode::Both if !self.unsigned => PlainRefs::LookedAt,
            RemoteMode::Both | RemoteMode::Shared => PlainRefs::Followed,
        }
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
    /// Whether those of other spaces of ours go on with the ones there at every fetch.
    pub follow: bool,
    /// Peers whose spaces are received, whatever the mode of the remote; all in signed mode without.
    pub peers: Vec<String>,
    /// A bundle that is read instead of a remote.
    pub bundle: Option<String>,
    /// Whether what this very space announced is taken over, where this repository is an older state of it.
    pub recover: bool,
    /// Whether agents go on with plain branches of a remote that has signed ones, too, and notes are united.
    pub unsigned: bool,
}

impl Verb for Fetch {
    type Answer = FetchView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<FetchView>, Refusal> {
        let (foreign, adopt): (Vec<_>, Vec<_>) =
            self.adopt.iter().cloned().partition(|name| name.contains('/'));
        let choice = if self.follow { FollowChoice::Follows } else { FollowChoice::Stays };
        let (foreign, adopt) = (foreign_names(&foreign)?, names(&adopt)?);
        let (remote, mode) = match &self.bundle {
            Some(file) => (bundle_file(caller, file)?, RemoteMode::Signed),
            None => {
                let remote = chosen_remote(caller.space, self.remote.clone())?;
                let mode = mode(caller, &remote)?;
                (remote, mode)
            }
        };
        let plain = self.plain_refs(mode);
        let others = match (&self.bundle, &self.remote) {
            (None, None) => OtherRemotes::Tried,
            (Some(_), _) | (_, Some(_)) => OtherRemotes::Left,
        };
        let began = caller.space.now();
        let recovered = match self.recover {
            true => recover_own(caller, &remote)?,
            false => None,
        };
        let fetched = fetch_plain(caller, &remote, &adopt, plain)?;
        let is_asked = mode != RemoteMode::Shared || !self.peers.is_empty();
        let source = is_asked.then_some(remote.as_str());
        let received = PeerSearch { source, only: &self.peers, others }.receive(caller)?;
        let is_received = received.is_some();
        let ReceivedPeers { outcomes: received, unreachable } = received.unwrap_or_default();
        // The locks of peers are free again: a session may go on for long.
        let replies = match is_received {
            true => take_replies(caller, began)?,
            false => TakenReplies::default(),
        };
        let not_told = tell_engines(caller)?;
        let adopted = adopt_own(caller, &foreign, choice)?;
        let followed = follow_own(caller, &received, adopted)?;
        let left_out = fetched.left_out.iter();
        let left_out = left_out.map(|why| Notice::Unreadable { what: format!("left out: {why}") });
        let mut notices: Vec<Notice> = left_out.collect();
        notices.extend(purged_elsewhere(caller, &fetched.notes_united)?);
        if is_received && is_joining(caller.space.repository())? {
            notices.push(Notice::Remark {
                what: "no space of this peer that was received lists this one: `agentic peer space --add \
                       ID KEY` on another machine, and `agentic push` there"
                    .to_owned(),
            });
        }
        let (told, completion) = ending(&received, unreachable);
        notices.extend(told);
        notices.extend(replies.notices);
        notices.extend(not_told);
        let peers = received.iter().map(PeerFetchView::from);
        let peers = recovered.iter().map(PeerFetchView::from).chain(peers).collect();
        let replies = replies.views;
        let mut answer = FetchView { peers, replies, ..FetchView::from(&fetched) };
        answer.add(&followed.moved);
        answer.rewound = followed.rewound.iter().map(ToString::to_string).collect();
        if let Some(recovered) = &recovered {
            notices.extend(recovered_notices(recovered));
            answer.add(&recovered.moved);
        }
        Ok(Reply { answer, notices, completion })
    }
}

/// Fetches plain branches and notes, as the mode of the remote has them. What nobody signed is only looked at
/// where others sign, unless somebody wants it.
fn fetch_plain(
    caller: &Caller<'_>,
    remote: &str,
    adopt: &[AgentName],
    plain: PlainRefs,
) -> Result<FetchOutcome, Refusal> {
    let nothing = FetchOutcome { remote: remote.to_owned(), ..FetchOutcome::default() };
    match plain {
        PlainRefs::Followed => {
            agentic_session::seal_open(caller.space)?;
            Ok(fetch(caller.space, remote, adopt)?)
        }
        PlainRefs::Left => Ok(nothing),
        PlainRefs::LookedAt => match adopt.first() {
            Some(agent) => Err(Refusal::not_allowed(
                &format!("`{remote}/{agent}` is a plain branch that nobody signed"),
                "`agentic fetch --unsigned` takes it all the same",
            )),
            None => Ok(fetch_to_look_at(caller.space, remote).map(|()| nothing)?),
        },
    }
}

/// Tells the engines that drive runs from here what was decided of their holds in other clones, once it came
/// with the branches of their agents. Returns what could not be told: the next fetch tells it.
fn tell_engines(caller: &Caller<'_>) -> Result<Vec<Notice>, Refusal> {
    let mut not_told = Vec::new();
    for made in branch_decisions(caller.space)? {
        let BranchDecision { session, request, draft } = made;
        let told = caller.host_of(&session).and_then(|found| match found {
            Some((host, engines)) => {
                let hold = HeldRequest { session, request };
                engines.decide(&host, caller.space, hold, &draft).map(drop)
            }
            None => Ok(()),
        });
        not_told.extend(told.err().map(|why| Notice::NotFollowed { why: why.sentence() }));
    }
    Ok(not_told)
}

/// Says what of agents was purged elsewhere, and is still here.
fn purged_elsewhere(caller: &Caller<'_>, agents: &[AgentName]) -> Result<Vec<Notice>, Refusal> {
    let mut notices = Vec::new();
    for agent in agents {
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
    Ok(notices)
}

/// Returns the full path of a bundle.
fn bundle_file(caller: &Caller<'_>, file: &str) -> Result<String, Refusal> {
    let path = caller.path(file.as_ref());
    let path = std::path::absolute(&path).unwrap_or(path);
    match path.is_file() {
        true => check_header(&path).map(|()| path.display().to_string()).map_err(Refusal::from),
        false => Err(Refusal::refused(
            &format!("there is no bundle `{file}`"),
            "`agentic push --bundle FILE` writes one",
        )),
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
