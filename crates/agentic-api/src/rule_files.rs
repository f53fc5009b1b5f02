//! The rule files that a query uses, and those that they use.

use std::collections::{BTreeMap, BTreeSet};

use agentic_diag::SourceText;
use agentic_query::used_rules;

use crate::shipped::ShippedRules;

/// How many rule files a query uses at most.
const RULE_FILES_MAX: usize = 100;

/// Rule files that were found.
#[derive(Debug, Default)]
pub(crate) struct RuleFiles {
    /// The texts by name.
    pub files: BTreeMap<String, SourceText>,
    /// The texts in the order in which findings number them.
    pub order: Vec<SourceText>,
}

impl RuleFiles {
    /// Finds the rules of a name.
    pub fn find(name: &str) -> Option<SourceText> {
        ShippedRules::find(name).map(|rules| SourceText::new(rules.name, rules.text))
    }

    /// Finds the files that a text uses, directly or not. What is not found is a finding later.
    pub fn used_by(text: &str) -> RuleFiles {
        let mut found = RuleFiles::default();
        let mut known = BTreeSet::new();
        let mut next = 0;
        let mut wanted = used_rules(text);
        loop {
            for name in wanted.into_iter().filter(|name| known.insert(name.clone())) {
                if let Some(source) = RuleFiles::find(&name).filter(|_| next < RULE_FILES_MAX) {
                    found.order.push(source.clone());
                    found.files.insert(name, source);
                }
            }
            let Some(source) = found.order.get(next) else { return found };
            wanted = used_rules(source.text());
            next += 1;
        }
    }
}
