//! Trials of scripted behaviours, drawn many times: how often the better one is found, and how often one
//! that is no better would be adopted.
//!
//! All 2,000 seeds: `cargo test -p agentic-statistics --test it simulation -- --ignored --nocapture`.

use agentic_statistics::trial::{attempt_alpha, better_p};

/// How many tasks a trial has.
const TASKS: usize = 10;
/// How often each task is run with each behaviour.
const RUNS: usize = 5;
/// By how much the better behaviour passes more often, and the worse one less often.
const STEP: f64 = 0.2;
/// How often trials of this size find that, in parts of 100.
const FOUND_PLANNED: f64 = 40.0;
/// How far from the plan they may be.
const FOUND_NEAR: f64 = 5.0;
/// How many trials in a row are made with one that is no better.
const ATTEMPTS: u32 = 10;

/// Numbers that follow from a seed (xorshift64*), apart from those that the analysis draws.
struct Draws(u64);

impl Draws {
    fn share(&mut self) -> f64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns how often a behaviour passes a task of so many runs.
    fn passes(&mut self, rate: f64) -> f64 {
        let n_passed = (0..RUNS).filter(|_| self.share() < rate).count();
        n_passed as f64 / RUNS as f64
    }

    /// Tells whether a trial finds a behaviour better that passes by `more` more often than the one in
    /// force. Tasks differ: some are easier than others for both.
    fn finds_better(&mut self, more: f64, alpha: f64) -> bool {
        let difference = |_| {
            let rate = 0.2 + 0.6 * self.share();
            let before = self.passes(rate);
            self.passes(rate + more) - before
        };
        let differences: Vec<f64> = (0..TASKS).map(difference).collect();
        better_p(&differences, 0).is_some_and(|p| p <= alpha)
    }
}

/// How often trials said that a behaviour is better.
#[derive(Debug, PartialEq)]
struct FoundBetter {
    seeds: u64,
    better: u64,
    same: u64,
    worse: u64,
    same_in_ten: u64,
}

fn simulate(seeds: u64) -> FoundBetter {
    let mut found = FoundBetter { seeds, better: 0, same: 0, worse: 0, same_in_ten: 0 };
    for seed in 1..=seeds {
        let mut draws = Draws(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let first = attempt_alpha(1);
        found.better += u64::from(draws.finds_better(STEP, first));
        found.same += u64::from(draws.finds_better(0.0, first));
        found.worse += u64::from(draws.finds_better(-STEP, first));
        let one_of_ten = (1..=ATTEMPTS).any(|k| draws.finds_better(0.0, attempt_alpha(k)));
        found.same_in_ten += u64::from(one_of_ten);
    }
    found
}

fn check(found: &FoundBetter, near: f64) {
    let percent = 100.0 * found.better as f64 / found.seeds as f64;
    assert!((percent - FOUND_PLANNED).abs() <= near, "{percent} %: {found:?}");
    assert_eq!(found.worse, 0, "{found:?}");
}

#[test]
fn what_a_few_seeds_find_is_as_planned() {
    let found = simulate(200);
    check(&found, 3.0 * FOUND_NEAR);
    // One in forty, and one in twenty over all attempts, and what chance adds.
    assert!(found.same <= 12, "{found:?}");
    assert!(found.same_in_ten <= 20, "{found:?}");
}

#[test]
#[ignore = "it takes some seconds"]
fn the_better_is_found_as_planned_and_one_that_is_no_better_seldom() {
    let found = simulate(2_000);
    println!("{found:?}");
    check(&found, FOUND_NEAR);
    assert!(found.same <= 70, "{found:?}");
    assert!(found.same_in_ten <= 120, "{found:?}");
}
