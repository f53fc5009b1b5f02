//! Tracking refs are what the record says, whatever somebody did to them and to the mark of what was drawn.

use std::path::PathBuf;

use agentic_federation::fetch::fetch_peers;
use agentic_federation::tracking::{misplaced, settle, tracked_spaces};
use agentic_model::AgentName;

use crate::{FederatedPlace, git};

/// How often is fetched; longer than the round of what is done meanwhile.
const ROUNDS: usize = 24;

impl FederatedPlace {
    /// Makes a commit on an agent of `ada`, which may be new.
    fn work_on(&self, agent: &str) {
        let folder = self.path("ada");
        let name = format!("refs/heads/agents/{agent}");
        let there = git(&folder, &format!("for-each-ref --format=%(objectname) {name}"));
        let parent = if there.is_empty() { "main" } else { there.as_str() };
        let commit = git(&folder, &format!("commit-tree -m more -p {parent} main^{{tree}}"));
        git(&folder, &format!("update-ref {name} {commit}"));
    }

    /// Finds the mark of what was drawn of `ada`.
    fn mark(&self) -> PathBuf {
        self.path("bob").join(".git/agentic/peer/drawn/ada")
    }

    /// Does something to the refs that were drawn, or to their mark; another thing each round.
    fn meddle(&self, round: usize, older: &str) {
        let folder = self.path("bob");
        let main = git(&folder, "rev-parse main");
        let agent = |name: &str| format!("refs/remotes/ada/agents/{name}");
        match round % 7 {
            0 => drop(git(&folder, &format!("update-ref {} {main}", agent("a")))),
            1 => drop(git(&folder, &format!("update-ref -d {}", agent("b")))),
            2 => drop(git(&folder, &format!("update-ref {} {main}", agent("stranger")))),
            3 => std::fs::remove_file(self.mark()).expect("it was drawn"),
            4 => std::fs::write(self.mark(), older).expect("it was drawn"),
            _ => {}
        }
    }

    /// Fetches, and checks that every ref is what the record says. Returns which had been moved.
    fn draw(&self, told: &str) -> Vec<String> {
        let outcomes = fetch_peers(&self.open("bob"), "origin", &[]);
        let outcomes = outcomes.unwrap_or_else(|error| panic!("{told}: {error}"));
        let space = self.open("bob");
        for tracked in tracked_spaces(&space).expect("whole") {
            assert_eq!(misplaced(&space, &tracked).expect("whole"), [""; 0], "{told}");
        }
        outcomes.into_iter().flat_map(|outcome| outcome.put_back).collect()
    }
}

#[test]
fn refs_are_what_the_record_says_whatever_happens_to_them() {
    for limit in ["1000", "2"] {
        let place = FederatedPlace::new();
        git(&place.path("bob"), &format!("config agentic.trackRefs {limit}"));
        for agent in ["a", "b", "c"] {
            place.work_on(agent);
        }
        place.announce().expect("nothing fails");
        place.draw("at first");
        settle(&place.open("bob"), "ada", &AgentName::parse("c").expect("a name")).expect("whole");
        let mut older = String::new();
        for round in 0..ROUNDS {
            let mark = std::fs::read_to_string(place.mark()).expect("it was drawn");
            match round % 5 {
                0 => place.work_on("a"),
                1 => place.work_on("c"),
                2 => place.work_on(&format!("b{round}")),
                3 => drop(git(&place.path("ada"), "update-ref -d refs/heads/agents/b")),
                _ => {}
            }
            if round % 5 < 4 {
                place.announce().expect("nothing fails");
            }
            place.meddle(round, &older);
            place.draw(&format!("at most {limit}, round {round}"));
            older = mark;
            place.work_on("b");
        }
        place.announce().expect("nothing fails");
        place.draw("at last");
        place.check("at last");
    }
}

#[test]
fn a_ref_that_somebody_moved_is_found_beside_the_mark_of_what_was_drawn() {
    let place = FederatedPlace::new();
    place.work_on("a");
    place.work_on("b");
    place.announce().expect("nothing fails");
    place.draw("at first");
    let mark = std::fs::read_to_string(place.mark()).expect("it was drawn");
    for round in 0..3 {
        assert_eq!(place.draw("with nothing new"), [""; 0]);
        let folder = place.path("bob");
        git(&folder, "update-ref refs/remotes/ada/agents/b main");
        assert_eq!(place.draw("with one moved"), ["refs/remotes/ada/agents/b"], "round {round}");
        assert_eq!(std::fs::read_to_string(place.mark()).expect("it is there"), mark);
    }
}
