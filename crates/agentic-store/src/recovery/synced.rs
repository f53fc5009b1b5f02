//! Making durable what others made, once for each commit.
//!
//! Git syncs no commit by itself. So whoever builds upon one has the whole filesystem synced, and waits for
//! all that anybody has written there. A commit that was synced stays so: a few of them are remembered.

use agentic_model::Oid;

use super::sync_stamp;
use crate::Result;
use crate::file::{self, Persistence};
use crate::ground::GroundStore;
use crate::layout::Layout;
use crate::lock::Patience;

/// How many commits are remembered, those that were synced last.
const REMEMBERED_MAX: usize = 16;

/// Has the filesystem of a repository synced. Of many who ask at once two or three sync.
///
/// # Errors
/// Fails when the disk does.
pub fn sync_beside_others<G: GroundStore>(repository: &G) -> Result<()> {
    sync_stamp::shared(repository.layout(), || repository.sync_filesystem())
}

/// Makes a commit durable that somebody else made, with all that it names, unless that was done before.
/// Tells whether it is, or others sync for longer than somebody wants to wait.
///
/// # Errors
/// Fails when the disk does.
pub fn make_durable<G: GroundStore>(
    repository: &G,
    commit: Oid,
    patience: Patience,
) -> Result<bool> {
    let layout = repository.layout();
    let sync = || sync_stamp::shared_within(layout, patience, || repository.sync_filesystem());
    once(layout, commit, sync)
}

fn once(layout: &Layout, commit: Oid, sync: impl FnOnce() -> Result<bool>) -> Result<bool> {
    if remembered(layout).contains(&commit) {
        return Ok(true);
    }
    if !sync()? {
        return Ok(false);
    }
    // Read once more: others may have added theirs. What is lost here is synced again.
    let mut commits = remembered(layout);
    commits.retain(|other| *other != commit);
    commits.insert(0, commit);
    commits.truncate(REMEMBERED_MAX);
    let lines: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
    let _derived = file::replace(&layout.synced_commits(), lines.as_bytes(), Persistence::Cache);
    Ok(true)
}

/// Reads which commits were synced. Of a list that a power cut has damaged nothing counts.
fn remembered(layout: &Layout) -> Vec<Oid> {
    let text = std::fs::read_to_string(layout.synced_commits()).unwrap_or_default();
    let commits = text.lines().map(Oid::parse).collect::<std::result::Result<Vec<Oid>, _>>();
    commits.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;

    fn commit(number: usize) -> Oid {
        Oid::parse(&format!("{number:040x}")).expect("an id")
    }

    #[test]
    fn a_commit_is_synced_once_and_one_that_could_not_be_again() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.root()).expect("writable");
        let mut n_syncs = 0;
        let mut ask = |number, answer: Result<bool>| {
            once(&layout, commit(number), || {
                n_syncs += 1;
                answer
            })
        };
        ask(1, Err(Error::corrupt("the disk", "it is gone"))).expect_err("it failed");
        assert!(!ask(1, Ok(false)).expect("others sync"), "nobody knows that it is durable");
        ask(1, Ok(true)).expect("it syncs");
        ask(1, Err(Error::corrupt("the disk", "it is gone"))).expect("it is remembered");
        ask(2, Ok(true)).expect("it syncs");
        ask(1, Err(Error::corrupt("the disk", "it is gone"))).expect("it is remembered");
        assert_eq!(n_syncs, 4);
    }

    #[test]
    fn the_last_are_remembered_and_nothing_of_a_damaged_list() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let layout = Layout::new(folder.path());
        std::fs::create_dir_all(layout.root()).expect("writable");
        for number in 0..=REMEMBERED_MAX {
            once(&layout, commit(number), || Ok(true)).expect("it syncs");
        }
        let known = remembered(&layout);
        assert_eq!(known.len(), REMEMBERED_MAX);
        assert!(!known.contains(&commit(0)) && known.contains(&commit(REMEMBERED_MAX)));
        let whole = std::fs::read(layout.synced_commits()).expect("it is there");
        std::fs::write(layout.synced_commits(), &whole[..whole.len() - 5]).expect("writable");
        assert!(remembered(&layout).is_empty());
    }
}
