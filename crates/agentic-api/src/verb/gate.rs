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
