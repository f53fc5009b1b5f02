//! Trials as JSON.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
    /// How often it is looked at.
    pub looks: usize,
    /// The how manieth trial with an arm that is in force this is.
    pub attempt: u32,
    /// How often it may mislead.
    pub alpha: f64,
    /// Whether so many tasks can show anything.
    pub can_show: bool,
    /// The smallest difference of two shares that is found in four of five simulated trials; nothing
    /// where none is.
    pub finds: Option<f64>,
    /// How many runs people would score, by a decision each; none where a behaviour does.
    pub decisions: usize,
    /// What it would cost, by what runs of these behaviours have cost; nothing where that is not known.
    pub cost: Option<f64>,
    /// What it may cost at most; nothing where only the number of runs bounds that.
    pub budget: Option<f64>,
}

/// What a trial came to.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct TrialView {
    /// Its name; `REMOTE/NAME` of the agent of one in another clone.
    pub name: String,
    /// The behaviours, the one that was there first.
    pub arms: Vec<String>,
    /// The how manieth trial with an arm that was in force it is.
    pub attempt: i64,
    /// How often it may mislead.
    pub alpha: f64,
    /// How its session stands; `elsewhere` of one in another clone.
    pub state: String,
    /// Its session.
    pub session: Option<String>,
    /// The object with all scores, which is evidence; once it is over.
    pub cid: Option<String>,
    /// How many blocks were run: each task with every behaviour.
    pub blocks: usize,
    /// How many do not count, because a run was lost or could not be scored.
    pub dropped: usize,
    /// How many runs were lost at first, or could not be scored: their blocks were run once more.
    pub lost_first: usize,
    /// How many runs touched what was protected.
    pub tampered: usize,
    /// How many scores were given where a network could be reached.
    pub open_scores: usize,
    /// What all runs cost, as far as that is known.
    pub cost: f64,
    /// Of how many calls of models it is not known.
    pub unpriced: u64,
    /// Whether the budget ended it.
    pub out_of_budget: bool,
    /// How often it was to be looked at.
    pub looks: usize,
    /// The look that the figures are of.
    pub look: usize,
    /// How often that look might mislead, each behaviour by itself.
    pub bound: f64,
    /// The behaviour that won, or else the second, against the first.
    #[serde(flatten)]
    pub figures: TrialFiguresView,
    /// Each behaviour but the first, against that.
    pub compared: Vec<TrialArmView>,
    /// The behaviour that is better than the first, and by the most.
    pub winner: Option<String>,
    /// `better`, `worse`, `no-difference` or `inconclusive`; once it is over.
    pub verdict: Option<String>,
    /// The requests that wait for people: to score a run each.
    pub waits: Vec<String>,
}

/// By how much one behaviour is better than the one that was there.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct TrialFiguresView {
    /// How many tasks have a block that counts.
    pub tasks: usize,
    /// The mean difference over tasks, less the first.
    pub difference: Option<f64>,
    /// Not below, with 95 % certainty for all behaviours together.
    pub low: Option<f64>,
    /// Not above.
    pub high: Option<f64>,
    /// How likely chance alone makes it as much better (exact sign flips over tasks).
    pub p: Option<f64>,
    /// The same by signs alone, on either side.
    pub sign_p: Option<f64>,
}

/// One behaviour against the one that was there.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TrialArmView {
    /// The behaviour.
    pub arm: String,
    /// By how much.
    #[serde(flatten)]
    pub figures: TrialFiguresView,
    /// `better`, `worse`, `no-difference` or `inconclusive`.
    pub verdict: String,
}

/// A trial that a behaviour was in.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TriedView {
    /// Its agent; `REMOTE/NAME` of one in another clone.
    pub trial: String,
    /// The behaviours, the one that was there first.
    pub arms: Vec<String>,
    /// The how manieth trial with an arm that is in force it is, by all that are known now.
    pub attempt: u32,
    /// The object with all scores, once it is over here.
    pub cid: Option<String>,
    /// What it came to.
    pub verdict: Option<String>,
}

/// How a trial that goes on stands.
#[derive(Debug, Serialize, JsonSchema)]
pub struct TrialLookView {
    /// The look that its blocks reach.
    pub look: usize,
    /// `better`, `worse`, `no-difference` or `inconclusive`.
    pub verdict: String,
    /// Whether that is enough to end it.
    pub enough: bool,
}

/// What a step of a trial came to.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
pub struct TrialStepView {
    /// In a word.
    pub outcome: TrialStepOutcome,
    /// Why, where it did not go well.
    pub why: String,
    /// The last commit of a run.
    pub commit: Option<String>,
    /// The session that ran.
    pub session: Option<String>,
    /// What a scorer gave.
    pub score: Option<f64>,
    /// `pass` or `fail`.
    pub verdict: Option<String>,
    /// Whether a scorer found a network: `open` or `hidden`.
    pub network: Option<String>,
    /// What it cost, as far as that is known.
    pub cost: f64,
    /// Of how many calls of models it is not known.
    pub unpriced: u64,
}

/// A run as it is laid before a person who scores it.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct TrialPresentView {
    /// `done` where it can be scored, else `tampered`.
    pub outcome: TrialStepOutcome,
    /// Why, where it cannot.
    pub why: String,
    /// What the person is asked.
    pub question: Option<String>,
    /// What the person is shown: what was asked of the run, where it is checked out, and what it changed.
    pub shown: Option<String>,
}

/// What a step of a trial came to, in a word.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TrialStepOutcome {
    /// A run came to its end.
    Done,
    /// A run failed, or waits for somebody.
    Failed,
    /// A run touched what is protected.
    Tampered,
    /// A scorer gave a score and a verdict.
    Scored,
    /// It gave none that counts.
    Unscored,
    /// Nobody can say: what had to answer could not be reached, or what happened is in doubt.
    #[default]
    Lost,
}
