//! What `git blame --porcelain` prints.

use agentic_model::Oid;

/// A line of a file, and where git says it comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlamedLine {
    /// Its number in the file, from 1.
    pub number: usize,
    /// The commit; nothing where it was not committed yet.
    pub commit: Option<Oid>,
    /// The path of the file in that commit.
    pub path: String,
    /// The line, without its end. Bytes that are not UTF-8 are replaced.
    pub text: String,
}

/// Reads all lines.
pub(super) fn read(printed: &str) -> Vec<BlamedLine> {
    let mut lines = Vec::new();
    let mut paths = std::collections::BTreeMap::<String, String>::new();
    let mut current: Option<(String, usize)> = None;
    for line in printed.split('\n') {
        let Some((id, number)) = current.clone() else {
            current = header(line);
            continue;
        };
        if let Some(path) = line.strip_prefix("filename ") {
            paths.insert(id, agentic_git::unquoted(path));
        } else if let Some(text) = line.strip_prefix('\t') {
            let commit = Oid::parse(&id).ok().filter(|_| id.bytes().any(|byte| byte != b'0'));
            let path = paths.get(&id).cloned().unwrap_or_default();
            lines.push(BlamedLine { number, commit, path, text: text.to_owned() });
            current = None;
        }
    }
    lines
}

/// Reads `OID ORIGINAL FINAL [COUNT]`.
fn header(line: &str) -> Option<(String, usize)> {
    let mut words = line.split(' ');
    let id = words.next().filter(|id| Oid::parse(id).is_ok())?;
    let number = words.nth(1)?.parse().ok()?;
    Some((id.to_owned(), number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_described_once_and_names_its_path_for_all_its_lines() {
        let one = "1".repeat(40);
        let none = "0".repeat(40);
        let printed = format!(
            "{one} 1 1 1\nauthor A\nfilename old name\n\tfn main() {{\n\
             {none} 2 2 1\nauthor Not Committed Yet\nfilename new\n\t\tlet x;\n\
             {one} 4 3 1\n\t}}\n"
        );
        let lines = read(&printed);
        let shown: Vec<(usize, bool, &str, &str)> = lines
            .iter()
            .map(|line| (line.number, line.commit.is_some(), &*line.path, &*line.text))
            .collect();
        let expected = [
            (1, true, "old name", "fn main() {"),
            (2, false, "new", "\tlet x;"),
            (3, true, "old name", "}"),
        ];
        assert_eq!(shown, expected);
    }
}
