//! Trials of behaviours, as far as what they say has to be believed: by whoever decides, and by the effect
//! that adopts.
//!
//! Anybody can store an object that calls itself a trial. What counts is what a session came to here, of a
//! flow that ships with the program, given what was fixed in the briefing of the trial's agent. It is
//! judged anew from that, by all trials that are known by then.

mod evidence;
mod known;
mod proof;
mod score_proof;
mod standing;
mod tally;
mod terms;

pub use self::evidence::TrialEvidence;
pub(crate) use self::evidence::doubt_of_question;
pub use self::known::{KnownTrial, KnownTrials, in_force_of, runs_of};
pub use self::proof::{ProvenTrial, TrialDoubt, is_asked_in_trial};
pub use self::standing::{TrialStanding, TriedAdoption};
pub use self::tally::TrialTally;
pub use self::terms::{JudgedArm, JudgedTrial, TrialTerms, differences_by_task};

/// The field in which the briefing of a trial's agent has what was fixed before the first run.
pub const TRIAL_FIXED: &str = "trial";
/// The field in which it has the first commits of the trials that were known then.
pub const TRIAL_AFTER: &str = "after";
/// How the name of the agent of a trial begins.
pub const TRIAL_AGENT: &str = "trial-";
/// What the name of an agent that scores a run ends with.
pub const SCORER_END: &str = "-s";
/// The start key of its session: an agent runs one trial.
pub const TRIAL_KEY: &str = "trial";
