//! Differences from the original that are meant, with their reasons.

use std::collections::BTreeMap;

/// Reads the list of explained differences: a name, a blank, and why.
pub fn explained() -> BTreeMap<String, String> {
    let path = crate::corpus::folder("explained.txt");
    let text = std::fs::read_to_string(path).expect("the list is in the project");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (name, reason) = line.split_once(' ').expect("a name and a reason");
            assert!(!reason.trim().is_empty(), "{name} has no reason");
            (name.to_owned(), reason.to_owned())
        })
        .collect()
}
