//! How capture stands: which coding agents are wired, where, what was heard of them, and what went
//! wrong.

use std::path::Path;

use agentic_capture::gate::passed_holds;
use agentic_capture::link::unlinked_commits;
use agentic_capture::status::{SourceStanding, archive_ended, standing};
use agentic_capture::wiring::{self, AgentHomes, EntryRole, WiringScope, switches};
use agentic_capture::{HookEnvironment, Source, bindings};

use crate::verb::gate::gate_gaps;
use crate::verb::import::refused;
use crate::verb::wiring::{CAPTURE, checkout};
use crate::verb::{Reply, Verb};
use crate::view::{
    AmbiguousCommitView, CaptureStatusView, PassedHoldView, SourceStatusView, WiredPlaceView,
};
use crate::{Caller, Refusal};

/// Show which coding agents are wired, what was heard of them, and what went wrong. Agents whose
/// conversations are over go to the archive.
#[derive(Debug, Clone)]
pub struct CaptureStatus {
    /// Where coding agents look.
    pub homes: AgentHomes,
    /// Where vendors keep what they write.
    pub environment: HookEnvironment,
}

impl Verb for CaptureStatus {
    type Answer = CaptureStatusView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<CaptureStatusView>, Refusal> {
        let checkout = checkout(caller, WiringScope::User)?;
        let space = caller.space;
        let on = space.repository().config(CAPTURE).as_deref() == Some("on");
        if on {
            bindings::rebuild(space).and_then(|()| archive_ended(space)).map_err(refused)?;
        }
        let gaps = gate_gaps(caller, &self.homes);
        let mut known = standing(space, &self.environment).map_err(refused)?;
        let sources = Source::ALL.into_iter().filter_map(|source| {
            let standing = known.sources.remove(&source);
            let is_heard_of = standing.is_some();
            let mut view = self.view(source, &checkout, standing.unwrap_or_default());
            let gaps = gaps.iter().filter(|gap| gap.source == source);
            view.reports.extend(gaps.map(|gap| gap.said.clone()));
            (view.here || !view.wired.is_empty() || is_heard_of).then_some(view)
        });
        let sources = sources.collect();
        let ambiguous = unlinked_commits(space.repository().layout()).into_iter();
        let ambiguous = ambiguous.map(|it| AmbiguousCommitView {
            commit: it.commit,
            agent: it.agent,
            reason: it.reason.as_str().to_owned(),
        });
        let passed = passed_holds(space).into_iter();
        let passed =
            passed.map(|it| PassedHoldView { session: it.session.short(), calls: it.n_calls });
        Ok(Reply::plain(CaptureStatusView {
            on,
            sources,
            ambiguous: ambiguous.collect(),
            passed: passed.collect(),
            errors: known.errors,
        }))
    }
}

impl CaptureStatus {
    fn view(&self, source: Source, checkout: &Path, known: SourceStanding) -> SourceStatusView {
        let wired = self.places(source, checkout);
        SourceStatusView {
            source: source.to_string(),
            here: self.homes.has(source),
            reports: self.reports(source, checkout, (&wired, &known)),
            wired,
            last: known.last.map(|at| at.to_string()),
            unread: known.n_unread,
            conversations: known.n_conversations,
            unbound: known.n_unbound,
            gone: known.n_gone,
            endangered: known.n_endangered,
            redactions: known.redactions,
            errors: known.errors,
        }
    }

    /// Says what keeps hooks from running, and what a person still has to do.
    fn reports(
        &self,
        source: Source,
        checkout: &Path,
        (wired, known): (&[WiredPlaceView], &SourceStanding),
    ) -> Vec<String> {
        let is_unheard = known.last.is_none() && wired.iter().any(|place| place.captures);
        let trust = wiring::trust_hint(source).filter(|_| is_unheard);
        let gate = wiring::gate_hint(source).filter(|_| wired.iter().any(|place| place.holds));
        let mut reports = switches(&self.homes, source, checkout);
        reports.extend(trust.into_iter().chain(gate).map(str::to_owned));
        reports
    }

    fn places(&self, source: Source, checkout: &Path) -> Vec<WiredPlaceView> {
        let mut places: Vec<WiredPlaceView> = Vec::new();
        for scope in [WiringScope::User, WiringScope::Local, WiringScope::Project] {
            let roles = wiring::wired_roles(&self.homes, source, scope, checkout);
            let file = self.homes.hooks_file(source, scope, checkout).display().to_string();
            // Most have one file for a checkout, whoever sees it.
            if roles.is_empty() || places.iter().any(|known| known.file == file) {
                continue;
            }
            places.push(WiredPlaceView {
                scope: scope.as_str().to_owned(),
                file,
                captures: roles.contains(&EntryRole::Capture),
                holds: roles.contains(&EntryRole::Gate),
            });
        }
        places
    }
}
