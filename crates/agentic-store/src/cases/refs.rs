//! Cases of refs.

use super::*;
use crate::Error;
use crate::error::RefError;
use crate::ground::RefMove;

impl<G: Refs + ObjectStore> CaseRepository<G> {
    /// Takes a step and says what came of it.
    fn answer(&self, step: &str) -> String {
        let words: Vec<&str> = step.split_whitespace().collect();
        let full = |name: &str| format!("refs/heads/{name}");
        match words[..] {
            ["find", name] => self.said(self.ground.find_ref(&full(name)), |oid| self.word(oid)),
            ["list", prefix] => {
                let listed = self.ground.list_refs(&full(prefix));
                self.said(listed, |refs| {
                    let short = |name: &str| name["refs/heads/".len()..].to_owned();
                    let one = refs.iter().map(|it| (short(&it.name), self.word(Some(it.target))));
                    one.map(|(name, at)| format!("{name}={at}")).collect::<Vec<_>>().join(" ")
                })
            }
            ["move", name, expect, new] => {
                let new = self.commit(new).expect("cases name commits");
                let step = BranchMove { name: full(name), expect: self.commit(expect), new };
                self.said(self.ground.move_ref(&step, &ada(), "a case"), |moved| match moved {
                    RefMove::Moved => "moved".to_owned(),
                    RefMove::Lost { found } => format!("lost to {}", self.word(found)),
                })
            }
            ["delete", ref pairs @ ..] => {
                let pair = |pair: &[&str]| (full(pair[0]), self.commit(pair[1]).expect("a commit"));
                let refs: Vec<_> = pairs.chunks(2).map(pair).collect();
                self.said(self.ground.delete_refs(&refs), |()| "ok".to_owned())
            }
            ["place", name] => {
                self.said(self.ground.check_place_of_ref(&full(name)), |()| "free".to_owned())
            }
            _ => panic!("no such step: {step}"),
        }
    }

    fn said<T>(&self, answer: crate::Result<T>, say: impl FnOnce(T) -> String) -> String {
        match answer {
            Ok(value) => say(value),
            Err(Error::Ref(RefError::InTheWay { .. })) => "in the way".to_owned(),
            Err(Error::Injected(_)) => "failed".to_owned(),
            Err(error) => panic!("{error}"),
        }
    }

    fn answers(&self, steps: &str) -> String {
        steps.split(';').map(|step| self.answer(step)).collect::<Vec<_>>().join("; ")
    }
}

/// Runs a case.
fn check<G: GroundStore>(make: &impl Fn(&Path) -> G, steps: &str, expected: &str) {
    on(make, |ground| assert_eq!(CaseRepository::new(ground).answers(steps), expected, "{steps}"));
}

/// Runs a case with one step failing.
fn check_failing<G: GroundStore>(
    make: &impl Fn(&Path) -> G,
    moment: FailureMoment,
    n: u64,
    steps: &str,
    expected: &str,
) {
    on(make, |ground| check_one(CaseRepository::new(ground).failing(moment, n), steps, expected));
}

fn check_one<G: Refs + ObjectStore>(
    bench: CaseRepository<FailingAt<G>>,
    steps: &str,
    expected: &str,
) {
    assert_eq!(bench.answers(steps), expected, "{steps}");
    assert!(bench.ground.has_failed());
}

/// A ref is made where there is none.
pub fn a_ref_is_made_where_there_is_none<G: GroundStore>(make: impl Fn(&Path) -> G) {
    check(&make, "find a; move a - 1; find a", "-; moved; 1");
    check(&make, "move a - 1; move a - 2; find a", "moved; lost to 1; 1");
}

/// A ref moves only from where it is expected.
pub fn a_ref_moves_only_from_where_it_is_expected<G: GroundStore>(make: impl Fn(&Path) -> G) {
    check(&make, "move a - 1; move a 1 2; find a", "moved; moved; 2");
    check(&make, "move a - 1; move a 2 3; find a", "moved; lost to 1; 1");
    check(&make, "move a 1 2; find a", "lost to -; -");
    check(&make, "move a - 1; move a 1 1; find a", "moved; moved; 1");
}

/// A listing is in order and below its prefix.
pub fn a_listing_is_in_order_and_below_its_prefix<G: GroundStore>(make: impl Fn(&Path) -> G) {
    let moves = "move x/b - 2; move x/a - 1; move y - 3";
    check(&make, &format!("{moves}; list x/; list z"), "moved; moved; moved; x/a=1 x/b=2; ");
}

/// Refs are deleted where they are expected and the others stay.
pub fn refs_are_deleted_where_they_are_expected_and_the_others_stay<G: GroundStore>(
    make: impl Fn(&Path) -> G,
) {
    let moves = "move x/a - 1; move x/b - 2; move x/c - 3";
    check(
        &make,
        &format!("{moves}; delete x/a 1 x/b 1 x/c 3; list x/"),
        "moved; moved; moved; ok; x/b=2",
    );
    check(&make, "delete a 1; find a", "ok; -");
}

/// A ref has a place unless another stands in it.
pub fn a_ref_has_a_place_unless_another_stands_in_it<G: GroundStore>(make: impl Fn(&Path) -> G) {
    check(&make, "place a; move a - 1; place a", "free; moved; free");
    check(&make, "move a - 1; place a/b", "moved; in the way");
    check(&make, "move a/b - 1; place a", "moved; in the way");
    check(&make, "move a/b - 1; place a/c; place ab", "moved; free; free");
    check(&make, "move a/b - 1; delete a/b 1; place a", "moved; ok; free");
}

/// A step that fails has done nothing or all of it.
pub fn a_step_that_fails_has_done_nothing_or_all_of_it<G: GroundStore>(make: impl Fn(&Path) -> G) {
    let steps = "move a - 1; find a; move a 1 2; find a";
    check_failing(&make, FailureMoment::Before, 1, steps, "failed; -; lost to -; -");
    check_failing(&make, FailureMoment::After, 1, steps, "failed; 1; moved; 2");
    check_failing(&make, FailureMoment::Before, 3, steps, "moved; 1; failed; 1");
    check_failing(&make, FailureMoment::After, 3, steps, "moved; 1; failed; 2");
}
