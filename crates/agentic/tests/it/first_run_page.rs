//! `docs/first-run.md` shows what the demo prints: it runs here at a time that does not pass, and so
//! with the same ids each time. `cargo xtask docs` writes what this test compares.

use std::path::PathBuf;

use crate::query_page::{DemoRepository, WRITE, between};

/// Where the page says that the demo ran.
const SHOWN_FOLDER: &str = "/tmp/agentic-demo";

#[test]
fn first_run_page_shows_what_the_demo_prints() {
    let path = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/first-run.md"));
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let demo = DemoRepository::make();
    let printed = demo.printed.replace(&*demo.stage().to_string_lossy(), SHOWN_FOLDER);
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let renewed = between(&page, "demo", &format!("```\n{}\n```", lines.join("\n")));
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(&path, renewed).expect("the page can be written");
    } else {
        let first = page.lines().zip(renewed.lines()).find(|(old, new)| old != new);
        assert!(page == renewed, "docs/first-run.md is stale at {first:?}; run `cargo xtask docs`");
    }
}
