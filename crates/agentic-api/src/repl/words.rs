//! What a line of a query may go on with: names of predicates, columns, rules and commands.

use std::collections::BTreeMap;

use agentic_query::query_words;

/// How many words are offered at most.
const OFFERED_MAX: usize = 200;

/// The words that a repl knows.
#[derive(Debug, Clone, Default)]
pub struct ReplWords {
    /// Predicates with their columns: facts, and what the rules of this time define.
    pub predicates: BTreeMap<String, Vec<String>>,
    /// Rules that have a name.
    pub rules: Vec<String>,
    /// Parameters of this time.
    pub params: Vec<String>,
    /// Commands, with the colon.
    pub commands: Vec<&'static str>,
}

/// What a word may become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedWords {
    /// Where the word begins that they take the place of, in bytes.
    pub start: usize,
    /// The words, in order.
    pub words: Vec<String>,
}

impl ReplWords {
    /// Says what the word before a place of a line may become.
    pub fn complete(&self, line: &str, at: usize) -> OfferedWords {
        let before = line.get(..at).unwrap_or(line);
        let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '/' | '.');
        let mut start = before.trim_end_matches(is_part).len();
        if before[..start].ends_with(['$', ':']) && !before[..start].ends_with(" :") {
            let is_command = before[..start].trim() == ":";
            let is_param = before[..start].ends_with('$');
            start -= usize::from(is_command || is_param);
        }
        let (head, word) = before.split_at(start);
        let mut words: Vec<String> = self.candidates(head, word).into_iter().collect();
        words.retain(|candidate| candidate.starts_with(word));
        words.sort();
        words.dedup();
        words.truncate(OFFERED_MAX);
        OfferedWords { start, words }
    }

    fn candidates(&self, head: &str, word: &str) -> Vec<String> {
        let predicates = || self.predicates.keys().cloned();
        if word.starts_with(':') {
            return self.commands.iter().map(|command| (*command).to_owned()).collect();
        }
        if word.starts_with('$') {
            return self.params.iter().map(|param| format!("${param}")).collect();
        }
        match head.trim_end_matches('"').split_whitespace().next_back().unwrap_or_default() {
            ":schema" => return predicates().collect(),
            ":named" | "use" => return self.rules.clone(),
            _ => {}
        }
        let mut found: Vec<String> = predicates().map(|name| format!("{name}(")).collect();
        if let Some(columns) = self.columns_at(head) {
            return columns.iter().map(|column| format!("{column}: ")).collect();
        }
        found.extend(query_words().into_iter().map(str::to_owned));
        found
    }

    /// Returns the columns of the predicate whose arguments a text ends in, where one begins.
    fn columns_at(&self, head: &str) -> Option<&[String]> {
        let mut depth = 0_usize;
        let trimmed = head.trim_end();
        if !trimmed.ends_with(['(', ',']) {
            return None;
        }
        for (at, c) in trimmed.char_indices().rev() {
            match c {
                ')' | '}' => depth += 1,
                '(' | '{' if depth > 0 => depth -= 1,
                '(' => {
                    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
                    let before = &trimmed[..at];
                    let name = &before[before.trim_end_matches(is_name).len()..];
                    return self.predicates.get(name).map(Vec::as_slice);
                }
                '{' => return None,
                _ => {}
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(line: &str, expected: &[&str]) {
        let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let words = ReplWords {
            predicates: BTreeMap::from([
                ("commit".to_owned(), columns(&["id", "agent", "kind"])),
                ("committer".to_owned(), columns(&["commit", "name"])),
                ("below".to_owned(), Vec::new()),
            ]),
            rules: columns(&["stuck", "bob/mine"]),
            params: columns(&["root"]),
            commands: vec![":help", ":schema", ":named"],
        };
        let offered = words.complete(line, line.len());
        let whole = offered.words.iter().map(|word| format!("{}{word}", &line[..offered.start]));
        assert_eq!(whole.collect::<Vec<_>>(), expected, "{line}");
    }

    #[test]
    fn predicates_columns_rules_and_commands_are_offered_where_they_may_stand() {
        check("? comm", &["? commit(", "? committer("]);
        check("? commit(", &["? commit(agent: ", "? commit(id: ", "? commit(kind: "]);
        check("? commit(id: C, k", &["? commit(id: C, kind: "]);
        check(
            "? commit(id: C), comm",
            &["? commit(id: C), commit(", "? commit(id: C), committer("],
        );
        check("? N = count { committer(n", &["? N = count { committer(name: "]);
        check("use st", &["use stuck"]);
        check("use \"bob/", &["use \"bob/mine"]);
        check(":named bo", &[":named bob/mine"]);
        check(":sch", &[":schema"]);
        check(":schema be", &[":schema below"]);
        check("? X = lo", &["? X = lower"]);
        check("? commit(agent: $r", &["? commit(agent: $root"]);
        check("? nothing_like_it", &[]);
    }

    #[test]
    fn any_place_of_any_line_can_be_asked_about() {
        let words = ReplWords::default();
        for line in ["", "é(", "$", ":", "? p(\"é", "((((", "))))", "? é: "] {
            for at in 0..=line.len() + 1 {
                let offered = words.complete(line, at);
                assert!(offered.start <= line.len(), "{line} {at}");
            }
        }
    }
}
