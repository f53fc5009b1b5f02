//! Rules that come with the program: each a file of its own, used and asked by its name.

/// A rule file that comes with the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShippedRules {
    /// Its name.
    pub name: &'static str,
    /// Its text, which begins with a comment that says what it is for.
    pub text: &'static str,
}

/// The text of a rule file: one of ours, or that of the crate that decides by it.
macro_rules! text {
    ($name:literal) => {
        include_str!(concat!("shipped/", $name, ".dl"))
    };
    ($name:literal, $text:path) => {
        $text
    };
}

macro_rules! shipped {
    ($($name:literal $(= $text:path)?,)*) => {
        /// All of them, by name.
        pub const SHIPPED_RULES: &[ShippedRules] = &[
            $(ShippedRules { name: $name, text: text!($name $(, $text)?) },)*
        ];
    };
}

shipped! {
    "audit",
    "behaviour-outcomes",
    "conflicts-ahead",
    "cost-by-agent",
    "decisions-of",
    "direct-sub-agents",
    "family",
    "hold-outcomes",
    "hot-files",
    "landed-work",
    "landings",
    "lineage",
    "lost-work",
    "may" = agentic_federation::permission::MAY_RULE,
    "merged",
    "relations",
    "repeat-failures",
    "reviewers",
    "slow-requests",
    "stale-agents",
    "stuck",
    "sub-agents",
    "unmerged-findings",
    "unreviewed",
    "waiting-for-me",
    "who-touched",
}

impl ShippedRules {
    /// Finds the rules of a name.
    pub fn find(name: &str) -> Option<&'static ShippedRules> {
        SHIPPED_RULES.iter().find(|rules| rules.name == name)
    }

    /// Returns what they are for.
    pub fn purpose(&self) -> &'static str {
        self.text.lines().next().unwrap_or_default().trim_start_matches("// ")
    }
}
