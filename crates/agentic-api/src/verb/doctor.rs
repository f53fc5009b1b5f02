//! Checking and repairing.

use agentic_capture::gate::passed_holds;
use agentic_capture::wiring::AgentHomes;
use agentic_model::guidance::ErrorClass;
use agentic_session::doctor::{Locks, ReplayChoice, Treatment, examine};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::gate::gate_gaps;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::DoctorView;
use crate::{Caller, Notice, Refusal};

/// Check and repair: unfinished writes, journals, notes, objects and stale locks. What is damaged and
/// could not be mended is an answer, and makes it a short one.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Doctor {
    /// Remove locks of git on refs of agents and on packed refs; no git may be running.
    pub break_locks: bool,
    /// Replay every journal, as after a power cut or onto an older copy of the repository.
    pub replay: bool,
}

impl Verb for Doctor {
    type Answer = DoctorView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<DoctorView>, Refusal> {
        let treatment = Treatment {
            replay: if self.replay { ReplayChoice::Always } else { ReplayChoice::AsNeeded },
            locks: if self.break_locks { Locks::Broken } else { Locks::Reported },
        };
        let report = examine(caller.space, treatment)?;
        let mut view = DoctorView::of(&report, &passed_holds(caller.space));
        if let Some(homes) = AgentHomes::from_environment() {
            let gaps = gate_gaps(caller, &homes).into_iter();
            view.gates = gaps.map(|gap| format!("{}: {}", gap.source, gap.said)).collect();
        }
        let mut notices = Notice::mended(caller.space);
        notices.extend(view.read_only.then_some(Notice::NothingMended));
        let completion = match view.sound {
            true => VerbCompletion::Whole,
            false => VerbCompletion::Short(Refusal::new(
                ErrorClass::Corrupt,
                &format!("{} things are damaged", view.damaged.len()),
                match self.replay {
                    false => {
                        "`agentic doctor --replay` puts back what journals have; else `agentic fetch` from a clone"
                    }
                    true => {
                        "fetch them from a clone with `agentic fetch`, or restore the files from a backup"
                    }
                },
            )),
        };
        Ok(Reply { answer: view, notices, completion })
    }
}
