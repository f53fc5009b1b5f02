//! Parallel blocks whose branches end without waiting for anything.

use agentic_lang_agent::TraceCapture;

use crate::corpus::{Setup, run};
use crate::host::Kit;

/// Pipelines that ask nothing, one that asks, and one that fails.
const PARTS: &str = "task countdown(current: Number) -> Obj{next: Number, done: Bool} {}\n\
    pipeline same(n: Number) -> Number { return n; }\n\
    pipeline asks(n: Number) -> Number { let c = countdown(n); return c.next; }\n\
    pipeline fails(n: Number) -> Number { assert false, \"failed\"; return n; }\n\
    pipeline deep(n: Number) -> Number { parallel { let a = deep(n); let b = same(n); } join; return a + b; }\n\
    pipeline pair(n: Number) -> Number { parallel { let a = same(n); let b = same(n); } join; return a + b; }\n";

/// Runs a block of branches, with so many at once; `wanted` is its sum or a part of its error.
fn check(block: &str, sum: &str, workers: &str, wanted: &str) {
    let text = format!(
        "{PARTS}pipeline go() -> Number {{ parallel {{ {block} }} join; return {sum}; }}\n"
    );
    let words = ["@SRC", "go", "--workers", workers].map(str::to_owned);
    let setup = Setup { kit: Kit::None, seed: 5 };
    let verdict = run(text.as_bytes(), &words, TraceCapture::On, setup);
    let given = verdict.result.unwrap_or(verdict.message);
    assert!(given.contains(wanted), "{block} with {workers} workers: {given}");
}

#[test]
fn branches_may_end_at_once() {
    for workers in ["1", "2", "3", "8"] {
        check("let a = same(1);", "a", workers, "{\"result\":1}");
        check("let a = same(1); let b = same(2);", "a + b", workers, "{\"result\":3}");
        let three = "let a = same(1); let b = same(2); let c = same(4);";
        check(three, "a + b + c", workers, "{\"result\":7}");
        let mixed = "let a = same(1); let b = asks(3); let c = same(4); let d = asks(9);";
        check(mixed, "a + b + c + d", workers, "{\"result\":15}");
        let nested = "let a = pair(1); let b = pair(2); let c = asks(2);";
        check(nested, "a + b + c", workers, "{\"result\":7}");
        check("let a = fails(1); let b = same(2);", "a + b", workers, "failed");
        check("let a = same(1); let b = fails(2); let c = asks(3);", "a + c", workers, "failed");
        check("let a = deep(1); let b = deep(2);", "a + b", workers, "recursion limit of 128");
    }
}
