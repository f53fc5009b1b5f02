//! Gates of coding agents: for which tools, and in which worktrees.

use std::path::Path;

use agentic_capture::Source;
use agentic_capture::gate::HoldRules;
use agentic_capture::wiring::{
    self, AgentHomes, EntryRole, GATE_SECONDS, Wiring, WiringPart, WiringPlace, WiringRun,
    WiringScope, add_exclusion,
};
use agentic_git::Repository;

use crate::Caller;
use crate::verb::wiring::{exclusion, said};

/// The rules by which gates are wired.
pub(super) struct GateRules {
    pub(super) rules: HoldRules,
    pub(super) seconds: i64,
}

/// What a gate does not do.
pub(super) struct GateGap {
    /// Whose gate it is.
    pub(super) source: Source,
    /// What, and what mends that.
    pub(super) said: String,
}

impl GateRules {
    pub(super) fn gate(&self, source: Source) -> WiringPart {
        WiringPart::Gate { matcher: self.rules.matcher(source), seconds: self.seconds }
    }
}

/// Reads how long a gate may take.
pub(super) fn gate_seconds(repository: &Repository) -> i64 {
    let set = repository.config("agentic.gateTimeout").and_then(|text| text.parse().ok());
    set.filter(|seconds| *seconds > 0).unwrap_or(GATE_SECONDS)
}

/// Says of the gates of a checkout which do not hold what the rules name, and what mends that: rules
/// may have been written after the gates were wired, or be such that nobody can read them.
pub(super) fn gate_gaps(caller: &Caller<'_>, homes: &AgentHomes) -> Vec<GateGap> {
    let repository = caller.space.repository();
    let Some(checkout) = repository.work_dir() else { return Vec::new() };
    let mut gaps: Vec<GateGap> = Vec::new();
    let mut rules = None;
    for source in Source::ALL {
        let mut seen = Vec::new();
        for scope in [WiringScope::Local, WiringScope::Project] {
            let file = homes.hooks_file(source, scope, checkout);
            let roles = wiring::wired_roles(homes, source, scope, checkout);
            if seen.contains(&file) || !roles.contains(&EntryRole::Gate) {
                continue;
            }
            let rules = rules.get_or_insert_with(|| {
                HoldRules::of(repository, checkout, Some(homes)).map_err(|error| error.to_string())
            });
            // Most have one file for a checkout; who has it ignored wired that one alone.
            let is_shared = file == homes.hooks_file(source, WiringScope::Project, checkout);
            let flag = match (roles.contains(&EntryRole::Capture), is_shared) {
                (_, true) if !is_excluded(repository, checkout, &file) => " --scope project",
                (true, _) => " --scope local",
                (false, _) => "",
            };
            let said = match rules {
                Err(error) => Some(format!("its gate lets no call run: {error}")),
                Ok(rules) => wiring::lacks_gates(&file, source, rules.matcher(source).as_deref())
                    .then(|| format!(
                        "its gate is not asked about all that rules name: `agentic init --agents {source}{flag} --holds`"
                    )),
            };
            gaps.extend(said.map(|said| GateGap { source, said }));
            seen.push(file);
        }
    }
    gaps
}

/// Tells whether git was told not to see a file of a checkout.
fn is_excluded(repository: &Repository, checkout: &Path, file: &Path) -> bool {
    let Ok(inside) = file.strip_prefix(checkout) else { return false };
    let excluded = std::fs::read_to_string(repository.common_dir().join("info/exclude"));
    let line = format!("/{}", inside.display());
    excluded.is_ok_and(|excluded| excluded.lines().any(|it| it == line))
}

/// Gives a new worktree the gates that this one has by files that git does not see. Returns why they
/// could not be written.
pub(crate) fn carry_gates(caller: &Caller<'_>, worktree: &Path) -> Option<String> {
    let repository = caller.space.repository();
    let main = repository.worktrees().ok()?.into_iter().next()?.path;
    let homes = AgentHomes::from_environment().unwrap_or_else(|| AgentHomes::at(worktree));
    let program = std::env::current_exe().ok()?;
    let place = WiringPlace {
        homes: &homes,
        checkout: worktree,
        program: program.to_str()?,
        run: WiringRun::Apply,
    };
    let scope = WiringScope::Local;
    let is_gated = |source: &Source| {
        wiring::wired_roles(&homes, *source, scope, &main).contains(&EntryRole::Gate)
    };
    let gated: Vec<Source> = Source::ALL.into_iter().filter(is_gated).collect();
    if gated.is_empty() {
        return None;
    }
    let seconds = gate_seconds(repository);
    // Of rules that cannot be read the gate itself says so, and it stops every call.
    let rules = HoldRules::of(repository, worktree, Some(&homes)).unwrap_or_default();
    let rules = GateRules { rules, seconds };
    let mut failed = None;
    for source in gated {
        let part = rules.gate(source);
        let wired = wiring::wire(&place, &Wiring { source, scope, part });
        if let Some(line) = exclusion(&place, &wired.file) {
            let _ = add_exclusion(repository.common_dir(), &line, WiringRun::Apply);
        }
        if let Err(failure) = &wired.outcome {
            failed = Some(format!("{}: {}", wired.file.display(), said(&failure.error)));
        }
    }
    failed
}
