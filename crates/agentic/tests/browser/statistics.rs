//! Statistics: what is drawn is what the table says, the file says the same, and so does the log.

use std::collections::BTreeMap;

use agentic_testkit::Browser;
use serde_json::{Value as Json, json};

use crate::stage::{ServedRepository, go, is_silent};

/// Reads the first plot: the kinds, and of each bar of each kind where it begins and how high it is.
const BARS: &str = "
    const section = document.querySelector('section[aria-labelledby=commits-title]');
    const kinds = [...section.querySelectorAll('.legend li')].map((one) => one.textContent.trim());
    const paths = [...section.querySelectorAll('.plot path[fill]')];
    const bar = ([, x, bottom, top]) => [Number(x), Number(bottom) - Number(top)];
    return paths.map((path, at) => ({ kind: kinds[at], fill: path.getAttribute('fill'),
      bars: [...path.getAttribute('d').matchAll(/M(\\d+) (\\d+)V(\\d+)h/g)].map(bar) }));";
/// Reads the tables: the words of each row.
const TABLES: &str = "return [...document.querySelectorAll('section')].map((section) =>
    [...section.querySelectorAll('tr')].map((row) => [...row.children].map((one) => one.textContent)));";
/// Fetches files as the links to them do.
const FILES: &str = "
    const done = arguments[arguments.length - 1];
    const links = [...document.querySelectorAll('a[download]')].map((link) => link.href);
    Promise.all(links.map((link) => fetch(link).then((answer) => answer.text()))).then(done);";

/// Days with what was committed on each, by kind.
const DAYS: [(&str, &[(&str, usize)]); 4] = [
    ("2026-10-05T08:00:00Z", &[("finding", 4), ("refactor", 1)]),
    ("2026-10-06T23:59:59Z", &[("finding", 1)]),
    ("2026-10-07T00:00:00Z", &[("refactor", 8), ("finding", 2), ("test", 1)]),
    ("2026-10-20T12:00:00Z", &[("finding", 3)]),
];
const SPAN: &str = "/statistics?from=2026-10-01&to=2026-10-25&by=day";

#[test]
fn plots_tables_files_and_the_log_say_the_same() {
    let served = ServedRepository::begin();
    commit_over_days(&served);
    decide_after(&served, &[("a1", 60), ("a2", 3_600), ("a3", 7_200)]);
    let logged = logged(&served);
    let browser = served.visit();
    go(&browser, SPAN);
    let tables = browser.run(TABLES, &[]).expect("a script runs");
    let files = browser.run_long(FILES, &[]).expect("a script runs");
    let table = counts_of_table(&tables[0]);
    assert_eq!(table, logged, "the table counts what the log lists");
    assert_eq!(counts_of_file(&files[0]), logged, "and so does the file: {}", files[0]);
    is_drawn(&browser, &logged);
    waits_agree(&tables[1], &files[1]);
    outcomes_agree(&served, &tables[2], &files[2]);
    is_silent(&browser, "statistics");
}

/// A day and a kind, and how often.
type DayCounts = BTreeMap<(String, String), usize>;

fn commit_over_days(served: &ServedRepository) {
    served.at("2026-10-05T07:00:00Z", &["spawn", "alice", "--empty", "-m", "x"]);
    let mut n = 0;
    for (now, counts) in DAYS {
        let kinds = counts.iter().flat_map(|(kind, count)| std::iter::repeat_n(*kind, *count));
        for kind in kinds {
            n += 1;
            let subject = format!("Step {n}");
            let commit = ["commit", "--agent", "alice", "--allow-empty", "--kind", kind, "-m"];
            served.at(now, &[&commit[..], &[&subject]].concat());
        }
    }
}

/// Has people asked, and decides after so many seconds.
fn decide_after(served: &ServedRepository, waits: &[(&str, i64)]) {
    let begun = agentic_model::Instant::parse("2026-10-12T09:00:00Z").expect("an instant");
    for (agent, seconds) in waits {
        let file = format!("{agent}.rhai");
        served.write(&file, b"hold(\"Go?\").action");
        let (asked, decided) =
            (begun, agentic_model::Instant::from_millis(begun.millis() + seconds * 1_000));
        served.at(&asked.to_string(), &["spawn", agent, "--empty", "-m", "x"]);
        served.at(&asked.to_string(), &["session", "start", agent, "--flow", &file]);
        served.at(&decided.to_string(), &["decide", agent, "approve"]);
    }
}

/// Counts what the log of all agents lists.
fn logged(served: &ServedRepository) -> DayCounts {
    let mut counts = DayCounts::new();
    for agent in ["alice", "a1", "a2", "a3"] {
        for commit in served.json(&["log", agent]).as_array().expect("a list") {
            let text = |name: &str| commit[name].as_str().expect("a text").to_owned();
            *counts.entry((text("at")[..10].to_owned(), text("kind"))).or_default() += 1;
        }
    }
    counts
}

fn cells(row: &Json) -> Vec<String> {
    let cells = row.as_array().expect("a row").iter();
    cells.map(|cell| cell.as_str().expect("a text").to_owned()).collect()
}

fn counts_of_table(table: &Json) -> DayCounts {
    let rows: Vec<Vec<String>> = table.as_array().expect("rows").iter().map(cells).collect();
    let (heads, rows) = rows.split_first().expect("a head");
    let mut counts = DayCounts::new();
    for row in rows {
        let n_cells = row.len();
        for (kind, cell) in heads.iter().zip(row).take(n_cells - 1).skip(1) {
            let count: usize = cell.parse().expect("a number");
            if count > 0 {
                counts.insert((row[0].clone(), kind.clone()), count);
            }
        }
        let all: usize =
            row[1..n_cells - 1].iter().map(|cell| cell.parse::<usize>().expect("one")).sum();
        assert_eq!(all.to_string(), row[n_cells - 1], "{row:?}");
    }
    counts
}

fn counts_of_file(file: &Json) -> DayCounts {
    let lines = file.as_str().expect("a text").lines().skip(1);
    let count = |line: &str| {
        let parts: Vec<&str> = line.split(',').collect();
        ((parts[0].to_owned(), parts[1].to_owned()), parts[2].parse().expect("a number"))
    };
    lines.map(count).collect()
}

/// Checks that bars stand where their days are, and are as high as the counts, one above the other.
fn is_drawn(browser: &Browser, logged: &DayCounts) {
    let drawn = browser.run(BARS, &[]).expect("a script runs");
    let drawn = drawn.as_array().expect("a list");
    let fills: std::collections::BTreeSet<String> =
        drawn.iter().map(|one| one["fill"].to_string()).collect();
    assert_eq!(fills.len(), drawn.len(), "each kind has a pattern of its own");
    let day = |text: &str| text[8..10].parse::<usize>().expect("a day") - 1;
    let mut totals: BTreeMap<usize, usize> = BTreeMap::new();
    for ((at, _), count) in logged {
        *totals.entry(day(at)).or_default() += count;
    }
    let most = *totals.values().max().expect("there are some");
    let mut n_bars = 0;
    for one in drawn {
        let kind = one["kind"].as_str().expect("a kind");
        let of_kind: Vec<(usize, usize)> = logged
            .iter()
            .filter(|((_, found), _)| found == kind)
            .map(|((at, _), count)| (day(at), *count))
            .collect();
        let bars = one["bars"].as_array().expect("a list");
        assert_eq!(bars.len(), of_kind.len(), "{kind}: {bars:?} {of_kind:?}");
        n_bars += bars.len();
        for (bar, (at, count)) in bars.iter().zip(of_kind) {
            // 24 days in 720 points; 160 points are the most.
            let (x, height) = (at * 720 / 24, 160 * count / most);
            let near = |found: &Json, wanted: usize| {
                found.as_f64().is_some_and(|found| (found - wanted as f64).abs() <= 2.0)
            };
            assert!(near(&bar[0], x), "{kind} on {at}: {bar} {x}");
            assert!(near(&bar[1], height), "{kind} on {at}: {bar} {height}");
        }
    }
    assert_eq!(n_bars, logged.len(), "every count is drawn");
}

/// Checks that three holds were decided, after a minute, an hour and two.
fn waits_agree(table: &Json, file: &Json) {
    let rows: Vec<Vec<String>> = table.as_array().expect("rows").iter().map(cells).collect();
    assert!(rows.iter().flatten().any(|cell| cell == "3"), "{rows:?}");
    let file = file.as_str().expect("a text");
    assert!(file.lines().any(|line| line.contains(",3,3600000,")), "half waited an hour: {file}");
}

/// Checks that the outcomes are those of the sessions.
fn outcomes_agree(served: &ServedRepository, table: &Json, file: &Json) {
    let sessions = served.json(&["session", "list"]);
    let done = sessions.as_array().expect("a list").iter();
    let n_done = done.filter(|one| one["state"] == *"done").count();
    assert_eq!(n_done, 3, "{sessions}");
    let said = json!(table).to_string();
    assert!(said.contains("\"3\""), "{said}");
    assert!(file.as_str().is_some_and(|file| file.contains(",3,")), "{file}");
}
