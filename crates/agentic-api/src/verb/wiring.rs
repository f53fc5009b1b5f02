//! Wiring coding agents. Only a person may do that: it changes their settings.

use std::path::{Path, PathBuf};

use agentic_capture::Source;
use agentic_capture::gate::HoldRules;
use agentic_capture::wiring::{
    self, AgentHomes, EntryRole, GIT_HOOKS, WiredAction, WiredFile, Wiring, WiringPart,
    WiringPlace, WiringRun, WiringScope, WorktreeHooks, add_exclusion, hook_line, put_git_hooks,
    switches, write_claude_plugin,
};

use crate::verb::gate::{GateRules, gate_seconds};
use crate::verb::{Init, Reply, Verb, VerbCompletion};
use crate::view::{InitView, WiredView};
use crate::{Caller, Refusal};

/// The switch of git's configuration without which nothing is captured.
pub(super) const CAPTURE: &str = "agentic.capture";
/// The word for every coding agent that is here.
const AUTO: &str = "auto";

/// Whose settings are changed, and by what program.
#[derive(Debug, Clone)]
pub struct WiringHost {
    /// Where coding agents look.
    pub homes: AgentHomes,
    /// This program, by its whole path.
    pub program: PathBuf,
}

/// Wire coding agents, so that they tell us what they do.
#[derive(Debug, Clone)]
pub struct WireAgents {
    /// Whose settings are changed.
    pub host: WiringHost,
    /// The remotes to set up; all of them without.
    pub remotes: Vec<String>,
    /// Which: their names, or `auto`.
    pub agents: Vec<String>,
    /// For whom.
    pub scope: WiringScope,
    /// What else is wired.
    pub extras: Vec<WiringExtra>,
    /// Where a plugin of Claude Code is written.
    pub plugin: Option<PathBuf>,
    /// Whether anything is written.
    pub run: WiringRun,
}

/// What is wired only if it is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WiringExtra {
    /// Worktrees of conversations are made by us.
    Worktrees,
    /// Commits of plain git are linked by hooks of git.
    GitHooks,
    /// The coding agents get our server of MCP.
    Server,
    /// Calls that rules name are held.
    Holds,
}

impl Verb for WireAgents {
    type Answer = InitView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<InitView>, Refusal> {
        caller.require_person("wire coding agents")?;
        let sources = self.sources()?;
        let checkout = checkout(caller, self.scope)?;
        let program = program(&self.host)?;
        let place =
            WiringPlace { homes: &self.host.homes, checkout: &checkout, program, run: self.run };
        let mut work = WiringWork { caller, place: &place, files: Vec::new(), next: Vec::new() };
        let rules = self.rules(caller, &checkout)?;
        let wirings = sources.iter().flat_map(|source| self.wirings(*source, rules.as_ref()));
        for wiring in wirings {
            work.wire(&wiring)?;
        }
        for source in &sources {
            work.next.extend(switches(&self.host.homes, *source, &checkout));
            work.next.extend(self.wired_twice(*source, &checkout));
        }
        if self.has(WiringExtra::GitHooks) {
            work.git_hooks()?;
        }
        let mut reply = self.set_up(caller, &sources)?;
        let plugin = self.plugin.as_ref().map(|folder| self.write_plugin(&caller.path(folder)));
        reply.answer.wired = work.files.iter().map(WiredView::from).collect();
        reply.answer.wired.extend(plugin.transpose()?.unwrap_or_default());
        reply.completion = work.completion();
        reply.answer.next = work.next;
        Ok(reply)
    }
}

impl WireAgents {
    fn has(&self, extra: WiringExtra) -> bool {
        self.extras.contains(&extra)
    }

    fn sources(&self) -> Result<Vec<Source>, Refusal> {
        let mut chosen = Vec::new();
        for name in &self.agents {
            if name == AUTO {
                chosen.extend(found(&self.host.homes));
                continue;
            }
            let hint = "name coding agents, or `auto` for those that are here";
            chosen.push(
                Source::parse(name).map_err(|error| Refusal::usage(&error.to_string(), hint))?,
            );
        }
        chosen.sort();
        chosen.dedup();
        if chosen.is_empty() && !self.agents.is_empty() {
            let message = "there is no coding agent here that could be wired";
            return Err(Refusal::refused(message, "name one with `--agents NAME`"));
        }
        Ok(chosen)
    }

    /// Reads the rules whose tools gates are for.
    fn rules(&self, caller: &Caller<'_>, checkout: &Path) -> Result<Option<GateRules>, Refusal> {
        if !self.has(WiringExtra::Holds) {
            return Ok(None);
        }
        let repository = caller.space.repository();
        if repository.work_dir().is_none() {
            let message = "there is no checkout here whose calls could be held";
            return Err(Refusal::usage(message, "run it in a worktree"));
        }
        let rules = HoldRules::of(repository, checkout, Some(&self.host.homes));
        let rules = rules.map_err(|error| {
            Refusal::refused(&error.to_string(), "mend the rules, and run it again")
        })?;
        Ok(Some(GateRules { rules, seconds: gate_seconds(repository) }))
    }

    fn wirings(&self, source: Source, rules: Option<&GateRules>) -> Vec<Wiring> {
        let worktrees = match self.has(WiringExtra::Worktrees) {
            true => WorktreeHooks::Ours,
            false => WorktreeHooks::Theirs,
        };
        let server = self.has(WiringExtra::Server).then_some(WiringPart::Server);
        let parts = std::iter::once(WiringPart::Capture(worktrees)).chain(server);
        let wirings = parts.map(|part| Wiring { source, scope: self.scope, part });
        // In a file of all checkouts a gate whose program is gone would stop every project.
        let scope = match self.scope {
            WiringScope::User | WiringScope::Local => WiringScope::Local,
            WiringScope::Project => WiringScope::Project,
        };
        let gate = rules.map(|rules| Wiring { source, scope, part: rules.gate(source) });
        wirings.chain(gate).collect()
    }

    /// Says where else a coding agent is told to capture: it would start a hook for each.
    fn wired_twice(&self, source: Source, checkout: &Path) -> Vec<String> {
        let scopes = [WiringScope::User, WiringScope::Local, WiringScope::Project];
        let homes = &self.host.homes;
        // Most have one file for a checkout, whoever sees it.
        let mut seen = vec![homes.hooks_file(source, self.scope, checkout)];
        let captures = |scope: &WiringScope| {
            let file = homes.hooks_file(source, *scope, checkout);
            let is_other = !seen.contains(&file);
            seen.push(file);
            let roles = wiring::wired_roles(homes, source, *scope, checkout);
            is_other && roles.contains(&EntryRole::Capture)
        };
        let twice = scopes.into_iter().filter(captures).map(|scope| {
            let scope = scope.as_str();
            format!(
                "{source} is wired with `--scope {scope}` too, so events are kept twice: `agentic capture off {source} --scope {scope}`"
            )
        });
        twice.collect()
    }

    /// Does what `init` does without coding agents, and lets capture begin.
    fn set_up(&self, caller: &Caller<'_>, sources: &[Source]) -> Result<Reply<InitView>, Refusal> {
        if self.run == WiringRun::Dry {
            return Ok(Reply::plain(InitView::default()));
        }
        let mut reply = Init { remotes: self.remotes.clone() }.run(caller)?;
        let repository = caller.space.repository();
        if !sources.is_empty() && repository.config(CAPTURE).as_deref() != Some("on") {
            let set = ["config", "--local", CAPTURE, "on"];
            repository.configure(&set)?.checked(&set)?;
            reply.answer.changed = true;
        }
        Ok(reply)
    }

    fn write_plugin(&self, folder: &Path) -> Result<Vec<WiredView>, Refusal> {
        let worktrees = match self.has(WiringExtra::Worktrees) {
            true => WorktreeHooks::Ours,
            false => WorktreeHooks::Theirs,
        };
        let written = write_claude_plugin(folder, worktrees, self.run).map_err(refused)?;
        let view = |(name, action): (&'static str, WiredAction)| WiredView {
            source: Source::Claude.to_string(),
            file: folder.join(name).display().to_string(),
            action: action.as_str().to_owned(),
        };
        Ok(written.into_iter().map(view).collect())
    }
}

/// Files that are wired one after the other.
struct WiringWork<'w, 's> {
    caller: &'w Caller<'s>,
    place: &'w WiringPlace<'w>,
    files: Vec<WiredFile>,
    next: Vec<String>,
}

impl WiringWork<'_, '_> {
    fn wire(&mut self, wiring: &Wiring) -> Result<(), Refusal> {
        let file = wiring::file_of(self.place, wiring);
        let line = exclusion(self.place, &file).filter(|_| wiring.scope == WiringScope::Local);
        if let Some(line) = &line {
            self.refuse_tracked(line)?;
        }
        let wired = wiring::wire(self.place, wiring);
        if wired.outcome.is_ok() {
            self.next.extend(wiring::hints(wiring.source, &wiring.part));
            if let Some(line) = line {
                let common = self.caller.space.repository().common_dir();
                add_exclusion(common, &line, self.place.run).map_err(refused)?;
            }
            if wiring.scope == WiringScope::Project {
                let file = file.display();
                self.next.push(format!(
                    "{file} is for everybody: who has no `agentic` will see errors of hooks"
                ));
            }
        }
        self.files.push(wired);
        Ok(())
    }

    /// Refuses to make a committed file one of a single checkout.
    fn refuse_tracked(&self, line: &str) -> Result<(), Refusal> {
        let listed = ["ls-files", "--", line.trim_start_matches('/')];
        let listed = self.caller.space.repository().git(&listed)?;
        match listed.stdout.trim() {
            "" => Ok(()),
            tracked => Err(Refusal::refused(
                &format!("`{tracked}` is committed, and not for this checkout alone"),
                "use `--scope project`, or `--scope user`",
            )),
        }
    }

    fn git_hooks(&mut self) -> Result<(), Refusal> {
        let repository = self.caller.space.repository();
        let folder = repository.common_dir().join("hooks");
        if let Some(path) = repository.config("core.hooksPath") {
            let chosen = self.place.checkout.join(&path);
            let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
            if real(&chosen) != real(&folder) {
                let add = |hook: &str| format!("add to {path}/{hook}: {}", hook_line(hook));
                self.next.extend(GIT_HOOKS.map(add));
                return Ok(());
            }
        }
        put_git_hooks(&folder, self.place.program, self.place.run).map_err(refused)?;
        Ok(())
    }

    fn completion(&self) -> VerbCompletion {
        let refused = self.files.iter().find_map(|wired| {
            let failure = wired.outcome.as_ref().err()?;
            let message = format!("{} was left alone", wired.file.display());
            let hint = format!("put this into it:\n{}", failure.paste.trim_end());
            let mut refusal = Refusal::refused(&message, &hint);
            refusal.because = Some(said(&failure.error));
            Some(refusal)
        });
        refused.map_or(VerbCompletion::Whole, VerbCompletion::Short)
    }
}

/// Says which coding agents are here, and what wires them.
pub fn agents_found(homes: &AgentHomes) -> Vec<String> {
    let names: Vec<&str> = found(homes).into_iter().map(Source::as_str).collect();
    match names.as_slice() {
        [] => Vec::new(),
        names => vec![format!(
            "`agentic init --agents auto` keeps what {} do here as agents and traces",
            names.join(", ")
        )],
    }
}

fn found(homes: &AgentHomes) -> Vec<Source> {
    Source::ALL.into_iter().filter(|source| homes.has(*source)).collect()
}

/// Returns the top of the worktree. Where there is none, only what is the user's can be wired.
pub(super) fn checkout(caller: &Caller<'_>, scope: WiringScope) -> Result<PathBuf, Refusal> {
    let repository = caller.space.repository();
    match (repository.work_dir(), scope) {
        (Some(folder), _) => Ok(folder.to_owned()),
        (None, WiringScope::User) => Ok(repository.common_dir().to_owned()),
        (None, WiringScope::Local | WiringScope::Project) => Err(Refusal::usage(
            &format!("there is no checkout here for `--scope {}`", scope.as_str()),
            "run it in a worktree, or use `--scope user`",
        )),
    }
}

pub(super) fn program(host: &WiringHost) -> Result<&str, Refusal> {
    host.program.to_str().ok_or_else(|| {
        let message = format!("the path {} cannot be written down", host.program.display());
        Refusal::refused(&message, "install `agentic` in a folder whose name is plain text")
    })
}

/// Returns the line by which git does not see a file of the checkout.
pub(super) fn exclusion(place: &WiringPlace<'_>, file: &Path) -> Option<String> {
    let inside = file.strip_prefix(place.checkout).ok()?;
    Some(format!("/{}", inside.to_str()?))
}

pub(super) fn said(error: &wiring::WiringError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

pub(super) fn refused(error: wiring::WiringError) -> Refusal {
    let mut refusal = Refusal::refused(&error.to_string(), "look at the file, and try again");
    refusal.because = std::error::Error::source(&error).map(ToString::to_string);
    refusal
}
