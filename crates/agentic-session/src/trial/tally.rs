//! What the session of a trial gave: its blocks and their runs, and what is counted of them.

use agentic_model::Value;

/// What is counted of a trial that is over.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct TrialTally {
    /// How many blocks were run.
    pub n_blocks: usize,
    /// How many of them do not count.
    pub n_dropped: usize,
    /// How many runs of first tries were lost, or could not be scored; their blocks were run once more.
    pub n_lost_first: usize,
    /// How many runs touched what was protected.
    pub n_tampered: usize,
    /// How many scores were given where a network could be reached.
    pub n_open: usize,
    /// What all runs cost, as far as that is known.
    pub cost: f64,
    /// Of how many calls of models it is not known.
    pub n_unpriced: u64,
    /// Whether the budget ended it.
    pub is_out_of_budget: bool,
}

/// One run, as far as it counts.
pub(super) struct CountedRun {
    /// The number of its behaviour.
    pub arm: usize,
    /// What it scored; nothing where it failed.
    pub score: Option<f64>,
    /// What it counts for.
    pub outcome: RunOutcome,
}

/// What a run counts for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RunOutcome {
    /// With a score, or as one that failed.
    Counted,
    /// As one that failed, for it touched what is protected.
    Tampered,
    /// For nothing: it was lost, or nobody could score it.
    Lost,
}

impl TrialTally {
    /// Counts what a session gave.
    pub fn of(result: &Value) -> TrialTally {
        let blocks = result.get("blocks").and_then(Value::as_list).unwrap_or_default();
        let is_tampered = |run: &CountedRun| run.outcome == RunOutcome::Tampered;
        let number = |block: &Value, name: &str| block.get(name).and_then(Value::as_number);
        let sum = |name: &str| blocks.iter().filter_map(|block| number(block, name)).sum::<f64>();
        let is_open = |run: &&Value| run.get("network").and_then(Value::as_text) == Some("open");
        TrialTally {
            n_blocks: blocks.len(),
            n_dropped: blocks.iter().filter(|block| !is_counted(block)).count(),
            n_lost_first: blocks.iter().flat_map(CountedRun::lost_first).count(),
            n_tampered: blocks.iter().flat_map(CountedRun::of_block).filter(is_tampered).count(),
            n_open: blocks.iter().flat_map(run_values).filter(is_open).count(),
            cost: sum("cost"),
            n_unpriced: sum("unpriced") as u64,
            is_out_of_budget: is_out_of_budget(result),
        }
    }

    /// Says what whoever decides has to know, of the how manieth trial of a name it is.
    pub fn warnings(&self, attempt: u32) -> Vec<String> {
        let mut warnings = Vec::new();
        if attempt > 1 {
            warnings.push(format!("this is attempt number {attempt}"));
        }
        if self.n_dropped > 0 {
            warnings.push(format!("{} blocks were dropped", self.n_dropped));
        }
        if self.n_lost_first > 0 {
            warnings
                .push(format!("{} runs were lost at first, and run once more", self.n_lost_first));
        }
        if self.n_tampered > 0 {
            warnings.push(format!("{} runs touched what is protected", self.n_tampered));
        }
        warnings
    }
}

impl CountedRun {
    /// Lists the runs of a block.
    pub fn of_block(block: &Value) -> Vec<CountedRun> {
        CountedRun::of_list(block, "runs")
    }

    /// Lists those of its first try that were lost, where it was run once more.
    pub fn lost_first(block: &Value) -> Vec<CountedRun> {
        let mut runs = CountedRun::of_list(block, "first");
        runs.retain(|run| run.outcome == RunOutcome::Lost);
        runs
    }

    fn of_list(block: &Value, name: &str) -> Vec<CountedRun> {
        let run = |run: &Value| {
            let outcome = match run.get("outcome").and_then(Value::as_text)? {
                "scored" | "failed" => RunOutcome::Counted,
                "tampered" => RunOutcome::Tampered,
                _ => RunOutcome::Lost,
            };
            let score = run.get("score").and_then(Value::as_number);
            let score = score.filter(|it| it.is_finite() && outcome == RunOutcome::Counted);
            let arm = usize::try_from(run.get("arm")?.as_int()?).ok()?;
            Some(CountedRun { arm, score, outcome })
        };
        values(block, name).iter().filter_map(run).collect()
    }
}

/// Says whether a block counts.
pub(super) fn is_counted(block: &Value) -> bool {
    block.get("counted").and_then(Value::as_bool) == Some(true)
}

/// Says whether the budget ended a trial.
pub(super) fn is_out_of_budget(result: &Value) -> bool {
    result.get("out_of_budget").and_then(Value::as_bool) == Some(true)
}

fn run_values(block: &Value) -> &[Value] {
    values(block, "runs")
}

fn values<'v>(block: &'v Value, name: &str) -> &'v [Value] {
    block.get(name).and_then(Value::as_list).unwrap_or_default()
}
