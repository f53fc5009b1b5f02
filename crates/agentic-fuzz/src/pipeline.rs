//! Programs of the pipeline language.
//!
//! Whatever parses is laid out anew, once and for all; layout changes no canonical form; the canonical
//! form is its own; and checking finds the same kinds of errors in all three.

use std::sync::LazyLock;

use agentic_lang_pipeline::{FindingKind, canonical, check as checked, format, parse, source_text};
use agentic_plan::Registry;

/// The builtins of the conformance suite.
// process: a target is one function that is called very often, and this is a constant to it.
static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let text = include_str!("../../../conformance/pipeline/registry.json");
    Registry::from_json(text).expect("the suite's registry is well-formed")
});

/// Checks one program.
pub fn check(data: &[u8]) {
    let Ok(text) = source_text(data) else { return };
    let Ok(script) = parse(text) else {
        assert!(format(text).is_err() && checked(text, &REGISTRY).is_err());
        return;
    };
    let form = canonical(&script);
    let formatted = format(text).expect("what parses is laid out");
    assert_eq!(format(&formatted).as_deref().ok(), Some(formatted.as_str()), "a second time");
    let canonical_of = |text: &str| canonical(&parse(text).expect("it still parses"));
    assert_eq!(canonical_of(&formatted), form, "{formatted}");
    assert_eq!(canonical_of(&form), form);
    let kinds = |text: &str| -> Vec<FindingKind> {
        let found = checked(text, &REGISTRY).err().unwrap_or_default();
        found.into_iter().map(|finding| finding.kind).collect()
    };
    assert_eq!(kinds(&formatted), kinds(text), "{formatted}");
    assert_eq!(kinds(&form), kinds(text), "{form}");
}
