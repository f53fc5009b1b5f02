//! How many lines a change adds and takes away, as git itself counts them.

use agentic_model::Oid;
use agentic_store::{Error, Result};

use super::Repository;

/// What git counts lines with: neither the user's settings nor the attributes of the folder that
/// happens to be checked out have a say in it.
const COUNT: [&str; 10] = [
    "-c",
    "core.attributesFile=/dev/null",
    "diff-tree",
    "--stdin",
    "-r",
    "-z",
    "--numstat",
    "--no-renames",
    "--no-ext-diff",
    "--diff-algorithm=myers",
];

/// How many lines of a file a change added and deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineCount {
    /// The path of the file; bytes that are not UTF-8 are replaced.
    pub path: String,
    /// How many were added and how many deleted; nothing where the content is no text.
    pub lines: Option<(u64, u64)>,
}

impl Repository {
    /// Counts the lines by which the trees of each pair differ, file by file.
    ///
    /// # Errors
    /// Fails when git cannot read one of them.
    pub fn line_counts(&self, pairs: &[(Oid, Oid)]) -> Result<Vec<Vec<LineCount>>> {
        let asked: String = pairs.iter().map(|(old, new)| format!("{old} {new}\n")).collect();
        if asked.is_empty() {
            return Ok(Vec::new());
        }
        let environment = [
            ("GIT_ATTR_NOSYSTEM", "1".to_owned()),
            ("GIT_ATTR_SOURCE", self.empty_tree().to_string()),
        ];
        let environment = environment.map(|(name, value)| (name.to_owned(), value.into()));
        let printed =
            self.git_with(&COUNT, asked.as_bytes(), environment.into())?.checked(&COUNT[2..])?;
        read_counts(&printed, pairs)
    }
}

/// Reads what git printed: for each pair a line that names it, then records that end in zeros. Of
/// equal trees it prints nothing.
fn read_counts(printed: &str, pairs: &[(Oid, Oid)]) -> Result<Vec<Vec<LineCount>>> {
    let damaged = || Error::corrupt("what git counted", "it is not as git prints it");
    let mut counts = vec![Vec::new(); pairs.len()];
    let headers: Vec<String> = pairs.iter().map(|(old, new)| format!("{old} {new}\n")).collect();
    let (mut rest, mut next) = (printed, 0);
    while !rest.is_empty() {
        let header = headers[next..].iter().position(|header| rest.starts_with(header.as_str()));
        if let Some(skipped) = header {
            rest = &rest[headers[next + skipped].len()..];
            next += skipped + 1;
            continue;
        }
        let (record, after) = rest.split_once('\0').ok_or_else(damaged)?;
        let mut parts = record.splitn(3, '\t');
        let (Some(added), Some(deleted), Some(path)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(damaged());
        };
        let lines = added.parse().ok().zip(deleted.parse().ok());
        let place = next.checked_sub(1).ok_or_else(damaged)?;
        counts[place].push(LineCount { path: path.to_owned(), lines });
        rest = after;
    }
    Ok(counts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_belong_to_the_pair_before_them() {
        let oid = |digit: &str| Oid::parse(&digit.repeat(40)).expect("an id");
        let pairs = [(oid("a"), oid("b")), (oid("a"), oid("a")), (oid("b"), oid("c"))];
        let (first, last) = (
            format!("{} {}\n", pairs[0].0, pairs[0].1),
            format!("{} {}\n", pairs[2].0, pairs[2].1),
        );
        let printed = format!("{first}1\t2\ta b\0-\t-\tl\n1\0{last}0\t3\tc\0");
        let counts = read_counts(&printed, &pairs).expect("it is as git prints it");
        let found: Vec<usize> = counts.iter().map(Vec::len).collect();
        assert_eq!(found, [2, 0, 1]);
        assert_eq!(counts[0][0], LineCount { path: "a b".to_owned(), lines: Some((1, 2)) });
        assert_eq!(counts[0][1], LineCount { path: "l\n1".to_owned(), lines: None });
        assert!(read_counts("1\t2\ta\0", &pairs).is_err());
    }
}
