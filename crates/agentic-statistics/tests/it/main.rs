//! Figures that others have published come out here, too: `vectors.json` says whose.

mod simulation;

use agentic_statistics::trial::{
    PlannedTrial, TrialLooks, attempt_alpha, better_p, can_show, flip_interval,
};
use agentic_statistics::{
    MultipleViews, Proportion, Stratum, SurvivalCurve, SurvivalTime, cases_a_side,
    difference_interval, log_rank, median_interval, quartiles, rank_sum, sign_flip, sign_test,
    spending, stratified_difference, z_of,
};
use serde_json::Value;

/// How the tables of the articles are rounded.
const ROUNDED: f64 = 6e-5;

fn vectors() -> Value {
    serde_json::from_str(include_str!("vectors.json")).expect("the file is JSON")
}

/// Runs a check over the vectors of a name, of which there must be some.
fn each(name: &str, check: impl Fn(&Value)) {
    let all = vectors();
    let list = all[name].as_array().expect("a list");
    assert!(!list.is_empty(), "{name}");
    list.iter().for_each(check);
}

fn number(vector: &Value, field: &str) -> f64 {
    vector[field].as_f64().unwrap_or_else(|| panic!("`{field}` of {vector}"))
}

fn numbers(vector: &Value, field: &str) -> Vec<f64> {
    let list = vector[field].as_array().expect("a list");
    list.iter().map(|one| one.as_f64().expect("a number")).collect()
}

fn proportion(pair: &Value) -> Proportion {
    let at = |i: usize| pair[i].as_u64().expect("a count");
    Proportion { n_true: at(0), n: at(1) }
}

fn near(found: f64, vector: &Value, field: &str, within: f64) {
    let wanted = number(vector, field);
    assert!((found - wanted).abs() <= within, "{field} {found} of {vector}");
}

#[test]
fn wilson() {
    each("wilson", |vector| {
        let n = |field: &str| vector[field].as_u64().expect("a count");
        let found =
            Proportion { n_true: n("n_true"), n: n("n") }.wilson(z_of(0.05)).expect("cases");
        near(found.low, vector, "low", ROUNDED);
        near(found.high, vector, "high", ROUNDED);
    });
    assert_eq!(Proportion { n_true: 0, n: 0 }.wilson(z_of(0.05)), None);
}

#[test]
fn differences() {
    each("difference", |vector| {
        let (first, second) = (proportion(&vector["first"]), proportion(&vector["second"]));
        let (_, found) = difference_interval(first, second, z_of(0.05)).expect("cases");
        near(found.low, vector, "low", ROUNDED);
        near(found.high, vector, "high", ROUNDED);
    });
}

#[test]
fn signs() {
    each("sign_flip", |vector| {
        let differences = numbers(vector, "differences");
        let found = sign_flip(&differences).expect("few");
        near(found.n_as_great as f64, vector, "n_as_great", 0.0);
        near(found.n_as_far as f64, vector, "n_as_far", 0.0);
        near(found.n_ways as f64, vector, "n_ways", 0.0);
        near(sign_test(&differences).expect("some"), vector, "sign_test", 6e-6);
    });
    assert_eq!(sign_flip(&[]), None);
    assert_eq!(sign_flip(&[1.0; 21]), None);
    let tied = sign_flip(&[0.1, 0.2, -0.3]).expect("few");
    assert_eq!((tied.n_as_great, tied.n_as_far), (5, 8), "sums that are one count as one");
}

#[test]
fn ranks() {
    each("rank_sum", |vector| {
        let (first, second) = (numbers(vector, "first"), numbers(vector, "second"));
        let found = rank_sum(&first, &second, 0.05).expect("both have values");
        near(found.shift, vector, "shift", 1e-9);
        let interval = found.interval.expect("there are enough values");
        near(interval.low, vector, "low", 1e-9);
        near(interval.high, vector, "high", 1e-9);
        near(found.p, vector, "p", ROUNDED);
    });
    let many: Vec<f64> = (0..60).map(f64::from).collect();
    let later: Vec<f64> = (0..60).map(|i| f64::from(i) + 30.0).collect();
    let found = rank_sum(&many, &later, 0.05).expect("both have values");
    let is_far = found.interval.is_some_and(|it| it.low > 20.0);
    assert!(found.shift == 30.0 && found.p < 1e-6 && is_far, "{found:?}");
}

#[test]
fn few_values_bound_no_shift_with_more_certainty_than_they_have() {
    let (first, second) = ([1.0, 2.0, 3.0, 4.0, 5.0], [11.0, 12.5, 13.3, 14.1, 15.7]);
    // The most that five and five can show is 2 of 252.
    let found = rank_sum(&first, &second, 0.05).expect("both have values");
    assert!(found.interval.is_some_and(|it| it.low > 0.0) && found.p < 0.05, "{found:?}");
    let found = rank_sum(&first, &second, 0.05 / 8.0).expect("both have values");
    assert_eq!(found.interval, None, "{found:?}");
    assert!(found.p > 0.05 / 8.0, "{found:?}");
}

#[test]
fn survival() {
    let cases = |vector: &Value| -> Vec<SurvivalTime> {
        let over = |field, is_over| {
            numbers(vector, field).into_iter().map(move |time| SurvivalTime { time, is_over })
        };
        over("times", true).chain(over("open", false)).collect()
    };
    each("survival", |vector| {
        let curve = SurvivalCurve::of(&cases(vector));
        near(curve.median().expect("reached"), vector, "median", 0.0);
        near(curve.share_after(number(vector, "after")), vector, "share", ROUNDED);
    });
    let all = vectors();
    let [treated, placebo] = [0, 1].map(|i| cases(&all["survival"][i]));
    // 16.79 with one degree of freedom, as the textbooks print it.
    let p = log_rank(&treated, &placebo).expect("some are over");
    assert!((p - 4.17e-5).abs() < 1e-6, "{p}");
    let open = [SurvivalTime { time: 1.0, is_over: false }];
    assert_eq!(SurvivalCurve::of(&open).median(), None);
    assert_eq!(log_rank(&open, &open), None);
}

#[test]
fn spent() {
    each("spending", |vector| {
        let shares = numbers(vector, "shares");
        let spent = shares.iter().map(|share| spending(number(vector, "alpha"), *share));
        for (found, wanted) in spent.zip(numbers(vector, "spent")) {
            assert!((found - wanted).abs() <= 6e-6, "{found} {wanted}");
        }
    });
}

#[test]
fn sizes() {
    each("cases_a_side", |vector| {
        let (first, second) = (number(vector, "first"), number(vector, "second"));
        let found =
            cases_a_side(first, second, 0.05, number(vector, "power")).expect("they differ");
        near(found as f64, vector, "n", 0.0);
    });
    assert_eq!(cases_a_side(0.5, 0.5, 0.05, 0.8), None);
    assert!((MultipleViews(5).z() - z_of(0.01)).abs() < 1e-12);
}

#[test]
fn strata() {
    each("strata", |vector| {
        let side = |field: &str, i: usize| proportion(&vector[field][i]);
        let n = vector["first"].as_array().expect("a list").len();
        let strata: Vec<Stratum> = (0..n)
            .map(|i| Stratum { first: side("first", i), second: side("second", i) })
            .collect();
        let found = stratified_difference(&strata).expect("cases");
        near(found.crude, vector, "crude", ROUNDED);
        near(found.pooled.expect("both sides"), vector, "pooled", ROUNDED);
        assert_eq!(Value::from(found.warns()), vector["warns"]);
    });
    let none = Proportion { n_true: 0, n: 0 };
    let some = Proportion { n_true: 1, n: 2 };
    let apart = [Stratum { first: some, second: none }, Stratum { first: none, second: some }];
    let found = stratified_difference(&apart).expect("cases");
    assert!(found.pooled.is_none() && found.one_sided_share == 1.0 && found.warns());
}

#[test]
fn quarters() {
    each("quartiles", |vector| {
        let found = quartiles(&numbers(vector, "values")).expect("values");
        near(found.lower, vector, "lower", 0.0);
        near(found.median, vector, "median", 0.0);
        near(found.upper, vector, "upper", 0.0);
    });
    assert_eq!(quartiles(&[]), None);
    assert_eq!(median_interval(&[1.0; 5], 0.05), None);
    let ten: Vec<f64> = (1..=10).map(f64::from).collect();
    // 97.9 %: the second and the ninth of ten.
    let found = median_interval(&ten, 0.05).expect("enough");
    assert_eq!((found.low, found.high), (2.0, 9.0));
    let six: Vec<f64> = (1..=6).map(f64::from).collect();
    let found = median_interval(&six, 0.05).expect("enough");
    assert_eq!((found.low, found.high), (1.0, 6.0));
}

/// Darwin's maize (Fisher 1935).
const MAIZE: [f64; 15] =
    [49., -67., 8., 16., 6., 23., 28., 41., 14., 29., 56., 24., 75., 60., -48.];

#[test]
fn a_trial_is_judged_by_all_ways_in_which_signs_can_fall() {
    let p = better_p(&MAIZE, 1).expect("differences");
    assert!((p - 863.0 / 32_768.0).abs() < 1e-12, "{p}");
    let found = flip_interval(&MAIZE, 0.05, 1).expect("differences");
    let mean = MAIZE.iter().sum::<f64>() / 15.0;
    assert!(found.low < mean && mean < found.high, "{found:?}");
    // The test rejects no difference in one direction at 2.6 %, so that zero is just inside.
    assert!(found.low < 0.0 && found.low > -2.0, "{found:?}");
    assert_eq!(better_p(&[], 1), None);
    assert_eq!(flip_interval(&[1.0], 0.05, 1).map(|it| it.low), Some(f64::NEG_INFINITY));
}

#[test]
fn more_tasks_than_can_be_flipped_are_drawn_by_the_seed() {
    let many: Vec<f64> = MAIZE.iter().chain(&MAIZE).copied().collect();
    let p = better_p(&many, 7).expect("differences");
    assert!(p > 0.0 && p < 0.01, "{p}");
    assert_eq!(better_p(&many, 7), Some(p));
    let alike = better_p(&[1.0, -1.0].repeat(15), 7).expect("differences");
    assert!(alike > 0.3, "{alike}");
}

#[test]
fn each_attempt_has_less_of_what_all_may_err() {
    assert!((attempt_alpha(1) - 0.025).abs() < 1e-12);
    assert!((attempt_alpha(2) - 0.05 / 6.0).abs() < 1e-12);
    let all: f64 = (1..=10_000).map(attempt_alpha).sum();
    assert!(all < 0.05 && all > 0.0499, "{all}");
    assert!(!can_show(5, attempt_alpha(1)) && can_show(6, attempt_alpha(1)));
    assert!(can_show(1_000_000, attempt_alpha(1)));
}

#[test]
fn looks_share_what_a_trial_may_err_as_it_is_spent() {
    let looks = TrialLooks { alpha: 0.025, n_looks: 4 };
    let shares = [1, 2, 3, 4].map(|look| looks.alpha_at(look));
    for (share, spent) in shares.iter().zip([0.00001, 0.00152, 0.00812, 0.01535]) {
        assert!((share - spent).abs() < 0.00001, "{shares:?}");
    }
    assert!((shares.iter().sum::<f64>() - 0.025).abs() < 1e-9, "{shares:?}");
    let after = [1, 2, 3, 4].map(|look| looks.n_blocks_at(look, 10));
    assert_eq!(after, [3, 5, 8, 10]);
    let once = TrialLooks { alpha: 0.025, n_looks: 1 };
    assert_eq!(once.alpha_at(1), 0.025);
}

#[test]
fn a_plan_finds_in_simulated_trials_what_they_would_find() {
    let plan = |n_tasks| PlannedTrial { n_tasks, n_runs: 5, alpha: 0.025 };
    // Simulated by another program: 34 % and 78 %.
    for (n_tasks, power) in [(10, 0.34), (20, 0.78)] {
        let found = plan(n_tasks).power(0.2);
        assert!((found - power).abs() < 0.05, "{n_tasks} tasks: {found}");
    }
    let found = plan(20).smallest_found().expect("it finds something");
    assert!(found > 0.18 && found < 0.26, "{found}");
    let more = plan(40).smallest_found().expect("it finds something");
    assert!(more < found, "{more}");
    // Five tasks show nothing at this α, whatever the difference is.
    assert_eq!(plan(5).smallest_found(), None);
    assert_eq!(plan(0).smallest_found(), None);
    // No difference is found no more often than it may.
    let by_chance = plan(20).power(0.0);
    assert!(by_chance < 0.05, "{by_chance}");
}
