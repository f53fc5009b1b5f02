//! Every verb of the command line can be asked for as data too, and the other way round.

use std::collections::BTreeSet;

use agentic_api::Command;

use crate::cli::command;

/// Verbs of the command line that are data under another name.
const RENAMED: &[(&str, &str)] =
    &[("unrelate", "relate"), ("flow-fmt", "fmt"), ("peer-show", "peer-list")];

/// Verbs as data that the command line has as options of others, as part of a dialog, or only for other
/// programs that serve people.
const OPTIONS: &[&str] = &[
    "answer-hold-form",
    "ask-human",
    "flow-diagnostics",
    "flow-explain-stored",
    "hold-form",
    "kind-activities",
    "restore",
    "list-archive",
    "question",
    "hand-out",
    "decide-from",
    "allow-examine",
    "allow-list",
    "allow-revoke",
    "trial-list",
    "trial-look",
    "trial-plan",
    "trial-present",
    "trial-run",
    "trial-score",
    "trial-show",
];

/// Verbs of the command line alone: they are a dialog, serve others, or are about the command line itself.
const OWN: &[&str] = &[
    "capture",
    "completions",
    "conformance",
    "credential-login",
    "demo",
    "hook",
    "import",
    "man",
    "mcp",
    "purge",
    "repl",
    "serve",
    "ui",
];

/// Lists the verbs, with the verbs of verbs.
fn verbs() -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for verb in command().get_subcommands() {
        let name = verb.get_name();
        let is_own = OWN.contains(&name);
        match verb.has_subcommands() && !is_own {
            true => all
                .extend(verb.get_subcommands().map(|inner| format!("{name}-{}", inner.get_name()))),
            false => drop(all.insert(name.to_owned())),
        }
    }
    all
}

#[test]
fn what_can_be_typed_can_be_asked_for() {
    let renamed = |name: String| {
        RENAMED
            .iter()
            .find(|(typed, _)| *typed == name)
            .map_or(name, |(_, data)| (*data).to_owned())
    };
    let typed: BTreeSet<String> =
        verbs().into_iter().filter(|name| !OWN.contains(&name.as_str())).map(renamed).collect();
    let data: BTreeSet<String> = Command::NAMES
        .iter()
        .filter(|name| !OPTIONS.contains(name))
        .map(|name| (*name).to_owned())
        .collect();
    let missing: Vec<&String> = typed.difference(&data).collect();
    assert!(missing.is_empty(), "no verb as data: {missing:?}");
    let left: Vec<&String> = data.difference(&typed).collect();
    assert!(left.is_empty(), "nobody can type: {left:?}");
    for name in OWN.iter().chain(OPTIONS) {
        let exists = verbs().contains(*name) || Command::NAMES.contains(name);
        assert!(exists, "there is no `{name}` any more");
    }
}
