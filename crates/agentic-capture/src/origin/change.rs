//! What commits made of files: for each path and content the commits whose result that is.

use std::collections::{BTreeMap, BTreeSet};

use agentic_model::Oid;
use agentic_space::{Result, Space};

/// How many commits one git is asked about.
const COMMITS_MAX: usize = 1_000;

/// A path, and the content that a commit gave it: zeros where it was removed.
pub type FileResult = (String, Oid);
/// The commits that gave files their contents.
pub type ChangedBlobs = BTreeMap<FileResult, BTreeSet<Oid>>;

/// Reads what commits made of files, against their first parents. Commits that are gone are left out.
///
/// # Errors
/// Fails when git cannot be asked.
pub fn changed_blobs(space: &Space, commits: &[Oid]) -> Result<ChangedBlobs> {
    let mut found = ChangedBlobs::new();
    let present = commits.iter().filter(|oid| space.repository().has_object(**oid));
    let present: Vec<String> = present.map(Oid::to_string).collect();
    for part in present.chunks(COMMITS_MAX) {
        let mut arguments = vec![
            "log",
            "--no-walk=unsorted",
            // A merge by what it brought to its first parent; git 2.30 knows no other word for it.
            "-m",
            "--first-parent",
            "--root",
            "--raw",
            "--no-renames",
            "--no-abbrev",
            "--format=commit %H",
            "-z",
        ];
        arguments.extend(part.iter().map(String::as_str));
        arguments.push("--");
        let printed = space.repository().git(&arguments)?.checked(&arguments)?;
        read_raw(&printed, &mut found);
    }
    Ok(found)
}

/// Reads `commit OID`, then for each file `:MODES OLD NEW STATUS` and its path, all ended by NUL.
fn read_raw(printed: &str, into: &mut ChangedBlobs) {
    let mut commit = None;
    let mut result = None;
    for field in printed.split('\0') {
        let field = field.trim_start_matches('\n');
        if let Some(id) = field.strip_prefix("commit ").and_then(|id| Oid::parse(id.trim()).ok()) {
            (commit, result) = (Some(id), None);
        } else if let (Some(blob), Some(commit)) = (result.take(), commit) {
            into.entry((field.to_owned(), blob)).or_default().insert(commit);
        } else if let Some(described) = field.strip_prefix(':') {
            result = described.split(' ').nth(3).and_then(|new| Oid::parse(new).ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_of_each_commit_is_read() {
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let (new, gone) = ("a".repeat(40), "0".repeat(40));
        let raw = format!(
            "commit {one}\0\n:100644 100644 {two} {new} M\0a b.txt\0:100644 000000 {new} {gone} D\0c\0\
             commit {two}\0\n:000000 100644 {gone} {new} A\0commit x\0"
        );
        let mut found = ChangedBlobs::new();
        read_raw(&raw, &mut found);
        let oid = |text: &str| Oid::parse(text).expect("valid");
        let made = |path: &str, blob: &str| found.get(&(path.to_owned(), oid(blob))).cloned();
        assert_eq!(made("a b.txt", &new), Some(BTreeSet::from([oid(&one)])));
        assert_eq!(made("c", &gone), Some(BTreeSet::from([oid(&one)])));
        assert_eq!(made("commit x", &new), Some(BTreeSet::from([oid(&two)])));
    }
}
