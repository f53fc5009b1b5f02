//! Reverts on branches of people, as git writes them. A revert of a revert undoes it.

use std::collections::BTreeMap;

use agentic_model::{Instant, Oid};

use super::young_branch::BranchCommit;

/// What git writes into the message of a commit that undoes another.
const REVERTS: &str = "This reverts commit ";

/// Finds which commits are reverted, by commits that are not reverted themselves, and when.
pub(super) fn standing_reverts(newest_first: &[BranchCommit]) -> BTreeMap<Oid, Instant> {
    let mut reverted: BTreeMap<Oid, Instant> = BTreeMap::new();
    for commit in newest_first {
        let Some(undone) = reverted_by(&commit.message) else { continue };
        // Whoever comes later has the last word: what undoes this one stands before it here.
        if !reverted.contains_key(&commit.oid) {
            reverted.insert(undone, commit.at);
        }
    }
    reverted
}

/// Reads which commit a message says is reverted.
fn reverted_by(message: &str) -> Option<Oid> {
    let line = message.lines().find_map(|line| line.trim_start().strip_prefix(REVERTS))?;
    let digits: String = line.chars().take_while(char::is_ascii_hexdigit).collect();
    Oid::parse(&digits).ok()
}

#[cfg(test)]
mod tests {
    use agentic_model::{Instant, Oid};

    use super::super::young_branch::BranchCommit;
    use super::standing_reverts;

    fn oid(digit: u8) -> Oid {
        Oid::parse(&digit.to_string().repeat(40)).expect("an id")
    }

    fn commit(digit: u8, message: &str) -> BranchCommit {
        let at = Instant::from_millis(i64::from(digit) * 1000);
        let (oid, tree, parents) = (oid(digit), oid(0), Vec::new());
        BranchCommit { oid, tree, parents, at, message: message.to_owned() }
    }

    #[test]
    fn a_revert_of_a_revert_undoes_it() {
        let says = |digit: u8| format!("Revert \"x\"\n\nThis reverts commit {}.\n", oid(digit));
        let all = [commit(4, &says(3)), commit(3, &says(2)), commit(2, &says(1)), commit(1, "x")];
        let reverted =
            |from: usize| -> Vec<Oid> { standing_reverts(&all[from..]).into_keys().collect() };
        assert_eq!(reverted(3), []);
        assert_eq!(reverted(2), [oid(1)]);
        assert_eq!(reverted(1), [oid(2)]);
        assert_eq!(reverted(0), [oid(1), oid(3)]);
    }

    #[test]
    fn what_reverts_nothing_that_has_an_id_reverts_nothing() {
        for message in ["This reverts commit", "This reverts commit 12.", "I say: revert", ""] {
            assert_eq!(standing_reverts(&[commit(1, message)]).len(), 0, "{message}");
        }
    }
}
