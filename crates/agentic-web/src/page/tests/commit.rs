use std::time::{Duration, Instant};

use agentic_api::view::{
    BindingView, CommitDetailView, CommitDiffView, CommitRequestView, DiffHunkView, DiffLineView,
    EntryView, FileDiffView, LogView, TraceBindingView, TraceView,
};
use serde_json::json;

use super::{HOSTILE, elements, frame, link, number, sound};
use crate::colour::DiffColours;
use crate::page::commit::{self, CommitQuery, CommitSight};
use crate::page::diff::DiffQuery;
use crate::page::trace;

fn detail() -> CommitDetailView {
    CommitDetailView {
        commit: LogView {
            commit: "3571b3f0".repeat(5),
            kind: "finding".to_owned(),
            subject: HOSTILE.to_owned(),
            body: HOSTILE.repeat(20_000),
            at: "2026-11-23T10:00:00Z".to_owned(),
            author: HOSTILE.to_owned(),
            agent: Some("alice".to_owned()),
            parents: vec!["88ab01c0".repeat(5)],
            fields: (0..100)
                .map(|n| (format!("{HOSTILE}{n}"), json!(HOSTILE.repeat(100))))
                .collect(),
            copied_from: Some("bob".to_owned()),
            merged: None,
            trace: Some("bafyr4itrace".to_owned()),
            unverified: false,
        },
        archived: false,
        made_by: Some("alice".to_owned()),
        session: Some(HOSTILE.to_owned()),
        request: None,
        behaviour: None,
        briefing: Some("bafyr4ibriefing".to_owned()),
        waited_ms: None,
    }
}

fn text_line(n: usize, sign: char, text: &str) -> DiffLineView {
    DiffLineView { sign, old: Some(n), new: Some(n), text: text.to_owned(), unended: false }
}

/// A file with lines that come and go in turn, so that each wants an element of its own.
fn file(n: usize, n_lines: usize, text: &str) -> FileDiffView {
    let sign = |n: usize| if n.is_multiple_of(2) { '+' } else { '-' };
    let lines = (0..n_lines).map(|n| text_line(n + 1, sign(n), text)).collect();
    FileDiffView {
        n,
        path: format!("{HOSTILE}/{n}"),
        status: "changed".to_owned(),
        content: "text".to_owned(),
        lines: n_lines,
        added: n_lines / 2,
        deleted: n_lines / 2,
        hunks: vec![DiffHunkView { lines }],
        ..FileDiffView::default()
    }
}

fn diff(files: Vec<FileDiffView>) -> CommitDiffView {
    CommitDiffView {
        commit: "3571b3f0".repeat(5),
        parent: Some("88ab01c0".repeat(5)),
        parents: 1,
        changed: files.len(),
        added: 12,
        deleted: 3,
        partial: false,
        files,
        next: None,
    }
}

fn entries(n: usize, text: &str) -> TraceView {
    let entry = |n: usize| EntryView {
        kind: HOSTILE.to_owned(),
        at: "2026-11-23T10:00:00Z".to_owned(),
        text: (!n.is_multiple_of(7)).then(|| format!("{text} {n}")),
        base64: n.is_multiple_of(7).then(|| "AAECAwQ=".to_owned()),
        meta: Default::default(),
        from: None,
    };
    TraceView {
        commit: None,
        how: None,
        cid: "bafyr4itrace".to_owned(),
        agent: "alice".to_owned(),
        entries: (0..n).map(entry).collect(),
    }
}

#[test]
fn a_hostile_commit_is_text_and_small() {
    let files = (0..50).map(|n| file(n, 400, &HOSTILE.repeat(50))).collect();
    let trace = Some(entries(5_000, &HOSTILE.repeat(1_000)));
    let sight = CommitSight {
        detail: detail(),
        diff: Ok(diff(files)),
        colours: DiffColours::default(),
        trace,
    };
    for diff in [DiffQuery::default(), DiffQuery { file: Some(0), ..DiffQuery::default() }] {
        let page = sound(&commit::page(&frame(), &sight, CommitQuery { diff, entries: 0 }));
        assert!(page.contains("class=\"added\"") && page.contains("class=\"removed\""), "{page}");
        assert!(page.contains("was copied"), "it says that it is a copy");
    }
}

#[test]
fn short_lines_are_shown_as_far_as_elements_go_and_then_there_is_a_link() {
    let sight = CommitSight {
        detail: detail(),
        diff: Ok(diff(vec![file(0, 2_000, "x"), file(1, 1, "y")])),
        colours: DiffColours::default(),
        trace: Some(entries(200, "z")),
    };
    let page = sound(&commit::page(&frame(), &sight, CommitQuery::default()));
    let next = link(&page, "next").expect("there is more of the file");
    let line = number(&next, "line");
    assert!(next.contains("?file=0&line=") && (1..2_000).contains(&line), "{next}");
    assert!(page.contains("?first=1#diff"), "and the other file");
    assert!(elements(&page) > 500, "the room is used");
}

/// Shows a commit that changed these files, with all their colours and without them.
fn painted(files: Vec<FileDiffView>, trace: Option<TraceView>) -> [String; 2] {
    let (diff, colours) = (diff(files), DiffColours::default());
    let found = DiffColours::find(&diff, Instant::now() + Duration::from_secs(60));
    let mut sight = CommitSight { detail: detail(), diff: Ok(diff), colours, trace };
    let plain = sound(&commit::page(&frame(), &sight, CommitQuery::default()));
    sight.colours = found;
    [sound(&commit::page(&frame(), &sight, CommitQuery::default())), plain]
}

/// Leaves out the elements that are only colours.
fn without_colours(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once("<span class=\"") {
        let (class, inside) = after.split_once("\">").expect("a class ends");
        let (inside, after) = inside.split_once("</span>").expect("a span ends");
        text.push_str(before);
        match class.len() {
            1 => text.push_str(inside),
            _ => text.push_str(&format!("<span class=\"{class}\">{inside}</span>")),
        }
        rest = after;
    }
    text + rest
}

#[test]
fn code_has_colours_and_is_the_same_page() {
    let mut code = file(0, 0, "");
    code.path = "src/main.rs".to_owned();
    let lines = [text_line(1, ' ', "fn main() {"), text_line(2, '+', "    // <b>\u{202e}")];
    code.hunks = vec![DiffHunkView { lines: lines.into() }];
    code.lines = 2;
    let [page, plain] = painted(vec![code], None);
    let (fun, comment) = (
        "<span class=\"k\">fn</span> <span class=\"f\">main</span>() {\n",
        "⟦202E⟧</span>\n</ins>",
    );
    assert!(page.contains(&format!("    1   {fun}<ins class=\"added\">")), "{page}");
    assert!(
        page.contains(&format!("    2 +     <span class=\"c\">// &lt;b&gt;{comment}")),
        "{page}"
    );
    assert_eq!(without_colours(&page), plain, "nothing else is another");
}

#[test]
fn colours_take_the_room_that_is_left() {
    let long = || FileDiffView {
        path: "src/main.rs".to_owned(),
        ..file(0, 2_000, "let a = \"<&>\"; // one")
    };
    for trace in [None, Some(entries(200, "z"))] {
        let [page, plain] = painted(vec![file(1, 10, "x"), long()], trace);
        assert_eq!(without_colours(&page), plain, "lines come before colours");
        assert!(elements(&page) > elements(&plain), "there is room for some");
    }
    assert!(elements(&painted(vec![long()], None)[0]) > 1_400, "all of it is used");
}

#[test]
fn files_with_long_names_are_paged() {
    let named = |n: usize| FileDiffView {
        n,
        path: HOSTILE.repeat(40),
        moved_from: Some(HOSTILE.repeat(40)),
        status: "moved".to_owned(),
        content: "bytes".to_owned(),
        ..FileDiffView::default()
    };
    let sight = CommitSight {
        detail: detail(),
        diff: Ok(diff((0..50).map(named).collect())),
        colours: DiffColours::default(),
        trace: Some(entries(5_000, &HOSTILE.repeat(1_000))),
    };
    let page = sound(&commit::page(&frame(), &sight, CommitQuery::default()));
    let next = number(&page, "?first");
    assert!((1..50).contains(&next), "{next}");
    assert_eq!(page.matches("<h3 id=\"file-").count(), next);
}

// size: a table of every sort of change.
#[test]
fn every_sort_of_change_says_what_it_is() {
    let mode = |mode: &str| Some(mode.to_owned());
    let of = |status: &str, content: &str, old: Option<&str>, new: Option<&str>| FileDiffView {
        path: "new/path".to_owned(),
        status: status.to_owned(),
        content: content.to_owned(),
        old_mode: old.map(str::to_owned),
        new_mode: new.map(str::to_owned),
        ..FileDiffView::default()
    };
    let plain = Some("100644");
    let lines = |file: FileDiffView, lines: Vec<DiffLineView>| FileDiffView {
        lines: lines.len(),
        hunks: vec![DiffHunkView { lines }],
        ..file
    };
    let cases = [
        (
            FileDiffView {
                moved_from: mode("old/path"),
                alike: Some(96),
                ..of("moved", "same", plain, plain)
            },
            vec!["old/path → new/path", "moved · 96 % alike · the content is the same"],
        ),
        (of("changed", "same", plain, Some("100755")), vec!["mode 100644 → 100755"]),
        (
            FileDiffView {
                old_bytes: Some(3),
                new_bytes: Some(70_000),
                ..of("changed", "bytes", plain, plain)
            },
            vec!["binary: 3 bytes → 70000 bytes"],
        ),
        (of("added", "text", None, Some("120000")), vec!["added · symbolic link"]),
        (
            FileDiffView {
                old: mode("aaaaaaaaaaaa"),
                new: mode("bbbbbbbbbbbb"),
                ..of("changed", "submodule", Some("160000"), Some("160000"))
            },
            vec!["submodule · commit aaaaaaaaaa → bbbbbbbbbb"],
        ),
        (of("added", "text", None, plain), vec!["added · mode 100644 · empty"]),
        (
            lines(
                FileDiffView { crlf: true, ..of("changed", "text", plain, plain) },
                vec![text_line(1, '+', "x\r")],
            ),
            vec!["lines end in CR LF", "    1 + x\n"],
        ),
        (
            lines(
                of("changed", "text", plain, plain),
                vec![text_line(1, '-', "x\r"), text_line(1, '+', "x")],
            ),
            vec![
                "<del class=\"removed\">    1 - x⟦000D⟧\n</del>",
                "<ins class=\"added\">    1 + x\n</ins>",
            ],
        ),
        (
            lines(
                of("changed", "text", plain, plain),
                vec![DiffLineView { unended: true, ..text_line(1, '+', "x") }],
            ),
            vec!["no line feed at the end"],
        ),
    ];
    for (file, expected) in cases {
        let sight = CommitSight {
            detail: detail(),
            diff: Ok(diff(vec![file])),
            colours: DiffColours::default(),
            trace: None,
        };
        let page = sound(&commit::page(&frame(), &sight, CommitQuery::default()));
        for text in expected {
            assert!(page.contains(text), "{text}: {page}");
        }
    }
}

#[test]
fn a_decision_leads_to_its_hold_and_its_session() {
    let mut detail = detail();
    let session = "807e".repeat(16);
    detail.commit.kind = "decision".to_owned();
    detail.commit.fields = json!({
        "action": "approve", "principal": "user:ada", "shown": "bafyshown",
        "requested_at": "2026-11-23T10:00:00Z", "decided_at": "2026-11-23T10:01:30Z", "client": "web",
    });
    detail.session = Some(session.clone());
    detail.waited_ms = Some(90_000);
    detail.request = Some(CommitRequestView {
        request: "807e807e.12345678".to_owned(),
        path: "n7".to_owned(),
        kind: "hold".to_owned(),
        seq: 3,
    });
    let sight = CommitSight {
        detail,
        diff: Ok(diff(Vec::new())),
        colours: DiffColours::default(),
        trace: None,
    };
    let page = sound(&commit::page(&frame(), &sight, CommitQuery::default()));
    let to_request = format!("href=\"/sessions/{session}/requests/3\"");
    let to_session = format!("href=\"/sessions/{session}\"");
    for text in [
        "href=\"/holds/807e807e.12345678\"",
        &to_request,
        &to_session,
        "user:ada",
        "1 min 30 s",
        "bafyshown",
        "It changed no file.",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
fn five_thousand_entries_are_paged_without_a_gap() {
    let trace = entries(5_000, "an entry");
    let (mut from, mut n_pages) = (0, 0);
    loop {
        let page = sound(&trace::page(&frame(), &trace, from));
        assert!(page.contains(&format!("start=\"{}\"", from + 1)), "{from}");
        assert!(page.contains("5 bytes"), "bytes are a size");
        n_pages += 1;
        let Some(next) = link(&page, "next") else { break };
        let next = number(&next, "from");
        assert!(next > from && next <= from + trace::ENTRIES_MAX, "{from} to {next}");
        assert_eq!(page.matches("<li>").count(), next - from);
        from = next;
    }
    assert!(n_pages >= 25, "{n_pages}");
    assert!(sound(&trace::page(&frame(), &trace, usize::MAX)).contains("5000 entries"));
}

#[test]
fn a_long_entry_is_cut_and_leads_to_all_of_it() {
    let page = sound(&trace::page(&frame(), &entries(40, &HOSTILE.repeat(2_000)), 0));
    assert!(page.contains("href=\"/traces/bafyr4itrace?entry=2\""), "{page}");
    let one = &entries(2, &HOSTILE.repeat(20_000));
    let sight = trace::EntrySight { trace: entries(2, ""), place: 2 };
    let page = sound(&trace::entry_page(&frame(), &sight, &one.entries[1]));
    assert!(page.contains("href=\"/traces/bafyr4itrace/entries/2\""), "{page}");
}

#[test]
fn the_history_of_a_trace_names_what_came_and_went() {
    let binding = |cid: &str, added: &[usize], left_out: &[usize]| TraceBindingView {
        binding: BindingView {
            cid: Some(cid.to_owned()),
            at: "2026-11-23T10:00:00Z".to_owned(),
            note_commit: "9f2c".repeat(10),
        },
        entries: Some(2),
        added: added.to_vec(),
        left_out: left_out.to_vec(),
    };
    let bindings = [
        binding("bafyr4ithird", &[1, 2], &[]),
        binding("bafyr4isecond", &[2], &[1]),
        binding("bafyr4ifirst", &[1, 2], &[]),
    ];
    let page = sound(&commit::history_page(&frame(), &detail(), &bindings));
    for text in [
        "3 bindings",
        "href=\"/traces/bafyr4ifirst\"",
        "href=\"/traces/bafyr4isecond?entry=2\"",
        "href=\"/traces/bafyr4ifirst?entry=1\"",
        "notes commit",
    ] {
        assert!(page.contains(text), "{text}: {page}");
    }
}

#[test]
fn an_object_is_text() {
    let object = json!({ "type": HOSTILE, "deep": [HOSTILE.repeat(10_000)] });
    sound(&trace::object_page(&frame(), "bafyr4iobject", &object));
}
