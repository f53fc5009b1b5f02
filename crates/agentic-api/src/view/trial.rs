//! Trials as JSON.

use schemars::JsonSchema;
use serde::Serialize;

/// What a trial would do.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrialPlanView {
    /// Its name.
    pub name: String,
    /// The behaviours, the one that is there first.
    pub arms: Vec<String>,
    /// How many tasks there are.
    pub tasks: usize,
    /// How many runs it has.
    pub runs: usize,
    /// The how manieth trial with an arm that is in force this is.
    pub attempt: u32,
    /// How often it may mislead.
    pub alpha: f64,
    /// Whether so many tasks can show anything.
    pub can_show: bool,
}

/// What a trial came to.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrialView {
    /// Its name.
    pub name: String,
    /// The behaviours, the one that was there first.
    pub arms: Vec<String>,
    /// The how manieth trial with an arm that was in force it is.
    pub attempt: i64,
    /// How often it may mislead.
    pub alpha: f64,
    /// How its session stands.
    pub state: String,
    /// Its session.
    pub session: Option<String>,
    /// The object with all scores, which is evidence; once it is over.
    pub cid: Option<String>,
    /// How many blocks were run: each task with both.
    pub blocks: usize,
    /// How many do not count, because a run could not be scored.
    pub dropped: usize,
    /// How many runs touched what was protected.
    pub tampered: usize,
    /// How many tasks have a block that counts.
    pub tasks: usize,
    /// The mean difference over tasks, the second less the first.
    pub difference: Option<f64>,
    /// Not below, with 95 % certainty.
    pub low: Option<f64>,
    /// Not above.
    pub high: Option<f64>,
    /// How likely chance alone makes the second as much better (exact sign flips over tasks).
    pub p: Option<f64>,
    /// The same by signs alone, on either side.
    pub sign_p: Option<f64>,
    /// `better`, `worse`, `no-difference` or `inconclusive`; once it is over.
    pub verdict: Option<String>,
}
