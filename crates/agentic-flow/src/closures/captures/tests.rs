//! Which joins are refused.

use agentic_model::{Instant, Value};
use agentic_replay::{End, Program, Seed, Start};

use crate::{Flow, NoModules};

/// Runs a script that asks nothing, and tells whether its join was refused.
fn is_refused(source: &str, semantics: u32) -> bool {
    let flow = Flow::parse_as(source, NoModules, semantics).expect("the source is valid");
    let start = Start { input: Value::Null, seed: Seed([7; 32]), at: Instant::from_millis(0) };
    match flow.program().start(&start).end {
        Some(End::Failed(failure)) => {
            assert!(failure.message.contains("map"), "{source}: {}", failure.message);
            true
        }
        Some(End::Done(_)) => false,
        other => panic!("{source}: {other:?}"),
    }
}

#[test]
fn closures_that_share_what_their_loop_changes_are_refused() {
    for source in [
        "let t = []; for p in [1, 2] { t.push(|| p) } all(t)",
        "let t = []; for p in [1, 2] { t += || p; } any(t)",
        "let t = []; for (p, i) in [1, 2] { t.push(|| i) } all(t)",
        "let t = []; for p in [1, 2] { let f = || p + 1; t.push(f) } all(t)",
        "let t = []; for p in [1, 2] { if p > 0 { t.push(|| p) } } all(t)",
        "let t = []; let i = 0; while i < 2 { t.push(|| i); i += 1; } all(t)",
        "let t = []; let i = 0; loop { i += 1; t.push(|| i); if i > 2 { break } } all(t)",
        "let t = []; let i = 0; do { t.push(|| i); i += 1; } while i < 2; all(t)",
        "let t = []; let q = 0; for p in [1, 2] { q = p; t.push(|| q) } all(t)",
        "let t = []; let q = #{}; for p in [1, 2] { q.a = p; t.push(|| q.a) } all(t)",
        "let t = []; for p in [1, 2] { t.push(|| { let f = || p; f.call() }) } all(t)",
        "let t = []; for p in [1, 2] { t.push(|| p) } all([|| all(t)])",
        "fn f(ps) { let t = []; for p in ps { t.push(|| p) } all(t) } f([1, 2])",
    ] {
        assert!(is_refused(source, 2), "{source}");
        assert!(!is_refused(source, 1), "{source}");
    }
}

#[test]
fn other_closures_may_share() {
    for source in [
        "all([1, 2].map(|p| || p))",
        "let base = 5; all([1, 2].map(|p| || p + base))",
        "let base = 5; let t = []; for p in [1, 2] { t.push(|| base) } all(t)",
        "let t = []; for p in [1, 2] { let q = p; t.push(|| q) } all(t)",
        "let t = []; for p in [1, 2] { let q = p; q += 1; t.push(|| q) } all(t)",
        "for p in [1, 2] { all([|| p, || p + 1]) } 0",
        "for p in [1, 2] { all([|| p, || p]) } 0",
        "for p in [1, 2] { let t = []; t.push(|| p); all(t) } 0",
        "let x = 1; all([|| { x += 1; x }, || { x += 1; x }])",
        "let t = []; for p in [1, 2] { t.push([p].map(|q| || q)[0]) } all(t)",
        "fn f(p) { || p } let t = []; for p in [1, 2] { t.push(f(p)) } all(t)",
        "let t = []; for p in [1] { t.push(|| p) } all(t)",
    ] {
        assert!(!is_refused(source, 2), "{source}");
    }
}

#[test]
fn looking_leaves_the_values_as_they_were() {
    let source = "let t = []; for p in [1, 2] { t.push(|| p) } \
        try { all(t) } catch { } if t[0].call() != 2 || t[1].call() != 2 { throw `map: ${t[0].call()}` } 0";
    assert!(!is_refused(source, 2));
}
