use std::time::{Duration, Instant};

use agentic_api::view::{CommitDiffView, DiffHunkView, DiffLineView, FileDiffView};

use super::{ColourDesk, DiffColours};

/// How long is looked for colours where they all are to be found.
const PATIENCE: Duration = Duration::from_secs(60);

/// A difference of one file, in one hunk; each line begins with its sign.
fn diff(path: &str, lines: &[&str]) -> CommitDiffView {
    let line = |(n, line): (usize, &&str)| DiffLineView {
        sign: line.chars().next().expect("a line has a sign"),
        old: Some(n + 1),
        new: Some(n + 1),
        text: line[1..].to_owned(),
        unended: false,
    };
    let lines = lines.iter().enumerate().map(line).collect();
    let file = FileDiffView {
        path: path.to_owned(),
        content: "text".to_owned(),
        hunks: vec![DiffHunkView { lines }],
        ..FileDiffView::default()
    };
    CommitDiffView {
        commit: "3571b3f0".repeat(5),
        parent: None,
        parents: 0,
        changed: 1,
        added: 0,
        deleted: 0,
        partial: false,
        files: vec![file],
        next: None,
    }
}

/// Shows what has which colour: `class:text`, lines apart.
fn shown(diff: &CommitDiffView) -> String {
    let found = DiffColours::find(diff, Instant::now() + PATIENCE);
    let lines = diff.files[0].hunks[0].lines.iter().zip(found.of_hunk(0, 0));
    let line = |(line, parts): (&DiffLineView, &super::LineColours)| {
        let part = |part: &super::ColouredPart| {
            format!("{}:{}", part.sort.class(), &line.text[part.place.clone()])
        };
        parts.iter().map(part).collect::<Vec<_>>().join(" ")
    };
    lines.map(line).collect::<Vec<_>>().join(" / ")
}

#[track_caller]
fn check(path: &str, lines: &[&str], expected: &str) {
    assert_eq!(shown(&diff(path, lines)), expected, "{path}");
}

#[test]
fn words_of_many_languages_have_colours() {
    let rust = [" fn main() {", "-    let a = 1; // one", "+    let a = \"two\";\r"];
    check("src/main.rs", &rust, "k:fn f:main / k:let n:1 c:// one / k:let s:\"two\"");
    check(
        "a.py",
        &["+def f(x):", "+    return None  # nothing"],
        "k:def f:f / k:return n:None c:# nothing",
    );
    check("Makefile", &["+# all of it"], "c:# all of it");
    check("x.toml", &["+n = 5"], "k:n n:5");
    check("run", &["+#!/bin/sh", "+# a script"], "c:#!/bin/sh / c:# a script");
}

#[test]
fn a_side_goes_on_where_it_stood() {
    let lines = ["+/* a comment", " that goes on", "-let a = 1;", "+ and ends */", "+let b = 2;"];
    // What was there before began outside of the comment.
    let expected = "c:/* a comment / c:that goes on / k:let n:1 / c:and ends */ / k:let n:2";
    check("src/main.rs", &lines, expected);
}

#[test]
fn what_is_no_code_or_too_much_is_plain() {
    check("notes", &["+let it be"], "");
    let long = format!("+// {}", "x".repeat(997));
    let longer = format!("{long}x");
    check("a.rs", &[&longer, "+// y", &long[..5]], " / c:// y / c:// x");
    assert!(shown(&diff("a.rs", &[&long])).starts_with("c:"));
    for (sort, bytes) in [("text", Some(256 << 10 | 1)), ("bytes", None), ("unread", None)] {
        let mut large = diff("a.rs", &["+// y"]);
        large.files[0].content = sort.to_owned();
        large.files[0].new_bytes = bytes;
        assert_eq!(shown(&large), "", "{sort}");
    }
    let found = DiffColours::find(&diff("a.rs", &["+// y"]), Instant::now());
    assert!(found.is_empty(), "there was no time");
}

#[test]
fn nobody_waits_for_what_takes_long() {
    // Brackets within brackets, and words that nearly are what a pattern wants.
    let line = format!("+{}", "((((<a<b<".repeat(110));
    let lines: Vec<&str> = std::iter::repeat_n(line.as_str(), 2_000).collect();
    let names = ["a.cpp", "a.java", "a.ts", "a.md", "a.php", "a.rb", "a.html", "a.scala"];
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let desk = ColourDesk::default();
    for name in names {
        let diff = diff(name, &lines);
        let begun = Instant::now();
        runtime.block_on(desk.find(&diff));
        let took = begun.elapsed();
        assert!(took < Duration::from_secs(1), "{name}: {took:?}");
    }
}
