//! How capture stands: which coding agents are wired, where, and what keeps it from running.

use agentic_capture::Source;
use agentic_capture::wiring::{self, AgentHomes, EntryRole, WiringScope, switches};

use crate::verb::wiring::{CAPTURE, checkout};
use crate::verb::{Reply, Verb};
use crate::view::{CaptureStatusView, SourceStatusView, WiredPlaceView};
use crate::{Caller, Refusal};

/// Show which coding agents are wired, and what keeps capture from running.
#[derive(Debug, Clone)]
pub struct CaptureStatus {
    /// Where coding agents look.
    pub homes: AgentHomes,
}

impl Verb for CaptureStatus {
    type Answer = CaptureStatusView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<CaptureStatusView>, Refusal> {
        let checkout = checkout(caller, WiringScope::User)?;
        let on = caller.space.repository().config(CAPTURE).as_deref() == Some("on");
        let status = |source: Source| SourceStatusView {
            source: source.to_string(),
            here: self.homes.has(source),
            wired: self.places(source, &checkout),
            reports: switches(&self.homes, source, &checkout),
        };
        let sources = Source::ALL.into_iter().map(status);
        let sources = sources.filter(|it| it.here || !it.wired.is_empty()).collect();
        Ok(Reply::plain(CaptureStatusView { on, sources }))
    }
}

impl CaptureStatus {
    fn places(&self, source: Source, checkout: &std::path::Path) -> Vec<WiredPlaceView> {
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
