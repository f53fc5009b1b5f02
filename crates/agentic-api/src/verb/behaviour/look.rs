//! Looking at behaviours: those that have a name, one of them, the adoptions of a name.

use std::collections::BTreeSet;

use agentic_federation::peer_behaviour::{peer_libraries, peer_library};
use agentic_model::behaviour::fill_prompt;
use agentic_model::{BehaviourForm, Cid, LibraryPointer, Value};
use agentic_space::library::{Library, LibraryState, NameInForce};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::behaviours::{BehaviourShelf, FoundBehaviour, behaviour_name};
use crate::caller::agent_name;
use crate::verb::{Reply, Verb, tried};
use crate::view::{AdoptionView, BehaviourShowView, BehaviourVersionView, BehaviourView};
use crate::{Caller, Notice, Refusal};

/// List the names of behaviours with what is adopted, here and in other spaces.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BehaviourList {}

impl Verb for BehaviourList {
    type Answer = Vec<BehaviourView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<BehaviourView>>, Refusal> {
        let shelf = BehaviourShelf::new(caller.space);
        let state = shelf.state()?;
        let all = caller.space.behaviours_in_force()?;
        let told = state.about_all()?;
        let damaged = all.damaged.into_iter().chain(told.damaged);
        let mut notices: Vec<Notice> =
            damaged.map(|why| Notice::Unreadable { what: format!("behaviours: {why}") }).collect();
        let mut views = Vec::new();
        let mut unnamed: std::collections::BTreeMap<_, BTreeSet<Cid>> = Default::default();
        for (cid, about) in &told.told {
            for name in &about.names {
                unnamed.entry(name.clone()).or_default().insert(*cid);
            }
        }
        for name in &all.names {
            let mut versions = unnamed.remove(&name.shared.name).unwrap_or_default();
            versions.extend(name.pointer.as_ref().map(|pointer| pointer.cid));
            let n_versions = versions.len();
            views.push(view_of(&shelf, &state, name, n_versions)?);
        }
        for (name, versions) in unnamed {
            views.push(BehaviourView::unadopted(name.to_string(), versions.len()));
        }
        views.extend(foreign(caller, &shelf, &all.names, &mut notices)?);
        Ok(Reply { notices, ..Reply::plain(views) })
    }
}

/// Lists what other spaces mean by names, where that differs: clones that share a remote, and peers.
fn foreign(
    caller: &Caller<'_>,
    shelf: &BehaviourShelf<'_>,
    here: &[NameInForce],
    notices: &mut Vec<Notice>,
) -> Result<Vec<BehaviourView>, Refusal> {
    let mut libraries = Vec::new();
    for remote in caller.space.repository().remotes() {
        let state = caller.space.library_of(Library::Behaviours, &remote)?;
        libraries.push((remote, state));
    }
    let peers = peer_libraries(caller.space)?.into_iter();
    libraries.extend(peers.map(|library| (library.label().to_owned(), library.state)));
    let mut views = Vec::new();
    for (origin, state) in libraries {
        let all = state.entries()?;
        let unreadable = all.damaged.into_iter();
        notices.extend(
            unreadable
                .map(|why| Notice::Unreadable { what: format!("behaviours ({origin}): {why}") }),
        );
        for entry in all.entries {
            let known = here.iter().find(|name| name.shared.name == entry.name);
            let told = known.into_iter().flat_map(|name| [&name.pointer, &name.offered]);
            let told: Vec<_> = told.flatten().map(|pointer| pointer.cid).collect();
            let Some(pointer) = entry.pointer.filter(|it| !told.contains(&it.cid)) else {
                continue;
            };
            let version = shelf.version(&state, &entry.name, &pointer)?;
            let name = format!("{origin}/{}", entry.name);
            let found = shelf.read_from(&state, pointer.cid);
            views.push(BehaviourView::of(name, &origin, found, version));
        }
    }
    Ok(views)
}

fn read(caller: &Caller<'_>, pointer: &LibraryPointer) -> Result<FoundBehaviour, Refusal> {
    FoundBehaviour::of(caller.space.object(pointer.cid)?)
}

fn view_of(
    shelf: &BehaviourShelf<'_>,
    state: &LibraryState<'_>,
    name: &NameInForce,
    n_versions: usize,
) -> Result<BehaviourView, Refusal> {
    let version =
        |pointer: &Option<LibraryPointer>| -> Result<Option<BehaviourVersionView>, Refusal> {
            let found =
                pointer.as_ref().map(|pointer| shelf.version(state, &name.shared.name, pointer));
            found.transpose()
        };
    let mut view = BehaviourView::unadopted(name.shared.name.to_string(), n_versions);
    if let Some(pointer) = &name.pointer {
        let kept = match name.is_here_alone {
            true => shelf.kept(pointer.cid),
            false => state.object(pointer.cid).map_err(Refusal::from),
        };
        view.describe(kept.and_then(FoundBehaviour::of));
    }
    view.here_alone = name.is_here_alone;
    view.adopted = version(&name.pointer)?;
    view.offered = version(&name.offered)?;
    view.contested = version(&name.shared.contested)?;
    Ok(view)
}

/// Show a behaviour with all that is known of it.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BehaviourShow {
    /// A name, `REMOTE/NAME`, `PEER/NAME`, or an id or its beginning.
    pub behaviour: String,
    /// Fill a prompt with the fields of this agent's briefing.
    pub agent: Option<String>,
}

impl Verb for BehaviourShow {
    type Answer = BehaviourShowView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<BehaviourShowView>, Refusal> {
        let shelf = BehaviourShelf::new(caller.space);
        let state = shelf.state()?;
        let named = match behaviour_name(&self.behaviour) {
            Ok(name) => Some(caller.space.behaviour_in_force(&name)?),
            Err(_) => None,
        };
        let found = match &named {
            // What another clone adopted can be looked at, too.
            Some(NameInForce { pointer: None, offered: Some(pointer), .. }) => {
                read(caller, pointer)?
            }
            Some(_) | None => shelf.find(&self.behaviour)?,
        };
        let about = shelf.about(&found)?;
        let names = shelf.in_force()?.remove(&found.cid()).unwrap_or_default();
        let mut view = BehaviourShowView::of(&found, &about);
        view.adopted_as = names.iter().map(ToString::to_string).collect();
        view.trials = tried(caller, &found.cid())?;
        if let Some(name) = &named {
            let others = [&name.offered, &name.shared.contested];
            let texts = others.map(|pointer| -> Result<_, Refusal> {
                let Some(pointer) = pointer else { return Ok((None, None)) };
                let version = shelf.version(&state, &name.shared.name, pointer)?;
                let source = state.object(pointer.cid).ok().map(FoundBehaviour::of).transpose()?;
                Ok((Some(version), source.and_then(|found| found.read.source)))
            });
            let [offered, contested] = texts;
            (view.offered, view.offered_source) = offered?;
            (view.contested, view.contested_source) = contested?;
        }
        if let Some(agent) = &self.agent {
            view.instructions = Some(instructions(caller, &found, agent)?);
        }
        Ok(Reply::plain(view))
    }
}

/// Fills a prompt with the fields of an agent's briefing.
fn instructions(
    caller: &Caller<'_>,
    found: &FoundBehaviour,
    agent: &str,
) -> Result<String, Refusal> {
    let (_, briefing) = caller.space.briefing(&agent_name(agent)?)?;
    filled(found, briefing.map())
}

/// Fills a prompt from the fields of a briefing.
pub(crate) fn filled(
    found: &FoundBehaviour,
    briefing: &agentic_model::Map,
) -> Result<String, Refusal> {
    if found.read.form != BehaviourForm::Prompt {
        let message = format!("{} is a flow, which nobody fills", found.cid());
        return Err(Refusal::usage(&message, "only a prompt has fields"));
    }
    let source = found.read.source.as_deref().unwrap_or_default();
    fill_prompt(source, briefing).map_err(|fault| {
        let hint = "give the briefing as JSON with that field, such as {\"type\":\"briefing\",\"text\":\"…\"}";
        Refusal::schema(&fault.to_string(), hint)
    })
}

/// List the adoptions of a name, newest first.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BehaviourLog {
    /// The name, `REMOTE/NAME` or `PEER/NAME`.
    pub name: String,
}

impl Verb for BehaviourLog {
    type Answer = Vec<AdoptionView>;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<Vec<AdoptionView>>, Refusal> {
        let shelf = BehaviourShelf::new(caller.space);
        let (state, bare) = match self.name.rsplit_once('/') {
            Some((origin, bare)) => match peer_library(caller.space, origin)? {
                Some(library) => (library.state, bare),
                None => (caller.space.library_of(Library::Behaviours, origin)?, bare),
            },
            None => (shelf.state()?, self.name.as_str()),
        };
        let name = behaviour_name(bare)?;
        let mut changes = match bare == self.name {
            true => caller.space.behaviour_changes(&name)?,
            false => state.changes(caller.space, &name)?,
        };
        if bare == self.name {
            changes.sort_by_key(|change| std::cmp::Reverse(change.at));
        }
        changes.retain(|change| change.fields.get("name").and_then(Value::as_text).is_some());
        if changes.is_empty() {
            return Err(shelf.unknown(&self.name)?);
        }
        let found = caller.space.behaviour_in_force(&name)?;
        let in_force = shelf.adoption(&found, found.pointer.as_ref())?;
        let view = |change| AdoptionView::of(change, in_force);
        Ok(Reply::plain(changes.iter().map(view).collect()))
    }
}
