//! The doctor's report as JSON.

use agentic_capture::gate::PassedHold;
use agentic_session::doctor::DoctorReport;
use agentic_store::{Finding, PendingOutcome};
use agentic_store::{RecoveryAct, StreamRecovery};
use schemars::JsonSchema;
use serde::Serialize;

/// The answer of `agentic doctor`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct DoctorView {
    /// Whether nothing is damaged.
    pub sound: bool,
    /// What was mended.
    pub mended: Vec<MendedView>,
    /// What is damaged and could not be mended.
    pub damaged: Vec<String>,
    /// Whether nothing can be written here, so that nothing was mended.
    pub read_only: bool,
    /// Open holds of before that nobody could ask so any more, and what is wrong with them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questionable: Vec<String>,
    /// Open holds that the call of a coding agent did not wait for, and how many calls.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub passed: Vec<String>,
    /// Gates of coding agents that do not hold what the rules name, and what mends that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gates: Vec<String>,
    /// Locks of git on refs of agents.
    pub locks: Vec<String>,
    /// How many journals were looked at.
    pub journals: usize,
    /// How many journals were cut, because git holds everything they recorded.
    pub cut: usize,
    /// How many objects were checked against their ids.
    pub objects: usize,
    /// How many sessions were read.
    pub sessions: usize,
    /// How many of them went on.
    pub resumed: usize,
}

/// One thing that was mended.
#[derive(Debug, Serialize, JsonSchema)]
pub struct MendedView {
    /// The agent, or the name of another journal.
    pub stream: String,
    /// The same for people.
    #[serde(skip)]
    pub subject: String,
    /// What was done, as a sentence.
    pub done: String,
}

impl DoctorView {
    /// Shows what was examined, with the holds that were passed by.
    pub fn of(report: &DoctorReport, passed: &[PassedHold]) -> DoctorView {
        DoctorView {
            sound: report.damaged.is_empty(),
            mended: report.mended.iter().map(MendedView::from).collect(),
            damaged: report.damaged.clone(),
            read_only: report.is_read_only,
            questionable: report.questionable.clone(),
            passed: passed.iter().map(said_of_passed).collect(),
            gates: Vec::new(),
            locks: report.locks.iter().map(|path| path.display().to_string()).collect(),
            journals: report.n_journals,
            cut: report.n_cut,
            objects: report.n_objects,
            sessions: report.n_sessions,
            resumed: report.n_resumed,
        }
    }
}

fn said_of_passed(passed: &PassedHold) -> String {
    let calls = if passed.n_calls == 1 { "call" } else { "calls" };
    format!("{}: {} {calls} ran undecided", passed.session.short(), passed.n_calls)
}

impl From<&StreamRecovery> for MendedView {
    fn from(recovered: &StreamRecovery) -> MendedView {
        let done = match &recovered.mended {
            RecoveryAct::Opened(Finding::CutTail { bytes }) => {
                format!("cut {bytes} bytes of a record that was never finished")
            }
            RecoveryAct::Opened(Finding::RolledForward { commit: Some(commit) }) => {
                format!("finished the write of commit {commit}")
            }
            RecoveryAct::Opened(Finding::RolledForward { commit: None }) => {
                "finished a write of notes".to_owned()
            }
            RecoveryAct::Opened(Finding::GaveUp { kept: None, .. }) => {
                "gave up a write whose branch had moved".to_owned()
            }
            RecoveryAct::Opened(Finding::GaveUp { kept: Some(name), .. }) => {
                format!("gave up a write whose branch had moved, and kept it at {name}")
            }
            RecoveryAct::Opened(Finding::SetAside { aside, n_pending, fate }) => {
                set_aside(&aside.display().to_string(), *n_pending, *fate)
            }
            RecoveryAct::LeftOut(why) => {
                format!("left out until `agentic doctor` has looked at it: {why}")
            }
            RecoveryAct::Salvaged { aside, n_lost, n_pending } => format!(
                "set the damaged journal aside at `{}`: {n_lost} records cannot be read, {n_pending} entries go on to be pending",
                aside.display()
            ),
            RecoveryAct::NotYet(why) => format!("something unfinished waits: {why}"),
            RecoveryAct::WorktreeInPart { path, left } => {
                let (path, left) = (path.display(), left.join("`, `"));
                format!(
                    "brought `{path}` along but for `{left}`, edited meanwhile; see `agentic worktree sync`"
                )
            }
            RecoveryAct::Worktree(path) => {
                format!("brought `{}` to where its branch is", path.display())
            }
            RecoveryAct::Object(oid) => format!("wrote object {oid} again"),
            RecoveryAct::BranchMadeAgain(oid) => {
                format!("made the branch again at {oid}, which was gone after a restart")
            }
            RecoveryAct::Notes { name, count } => {
                format!("put back what `{name}` had lost: {count} notes and objects")
            }
            RecoveryAct::Branch(oid) => format!("moved the branch forward to {oid}"),
            RecoveryAct::Rescued { commit, name } => format!("kept commit {commit} at {name}"),
        };
        let stream = &recovered.stream;
        let subject = stream.agent().map_or_else(|| stream.subject(), ToString::to_string);
        MendedView { stream: stream.to_string(), subject, done }
    }
}

/// Says what became of the journal of an earlier branch.
fn set_aside(aside: &str, n_pending: u64, fate: PendingOutcome) -> String {
    let done = "set the journal of an earlier branch aside";
    match (n_pending, fate) {
        (0, _) => done.to_owned(),
        (1, PendingOutcome::CarriedOver) => format!("{done}, and carried its pending entry over"),
        (_, PendingOutcome::CarriedOver) => {
            format!("{done}, and carried its {n_pending} pending entries over")
        }
        (_, PendingOutcome::Shown) => {
            format!("{done}; `agentic trace pending` shows what is pending in it ({n_pending})")
        }
        (_, PendingOutcome::Left) => {
            format!("{done} at `{aside}`, with what no commit has of it ({n_pending})")
        }
    }
}
