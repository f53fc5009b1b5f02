use agentic_api::view::{CommitCountView, OutcomeView, StatisticsView, WaitBucketView, WaitView};

use super::{HOSTILE, frame, sound};
use crate::page::statistics::{self, StatisticsFilter};

/// How long a drawing may be, in bytes.
const DRAWING_BYTES_MAX: usize = 30 << 10;

fn day(n: usize) -> String {
    format!("2026-{:02}-{:02}", n / 28 + 1, n % 28 + 1)
}

fn view(n_days: usize) -> StatisticsView {
    let commit = |n: usize| CommitCountView {
        bucket: day(n / 20),
        kind: format!("kind-{}-{HOSTILE}", n % 20),
        count: n % 20 + 1,
    };
    let wait = |n: usize| WaitView {
        bucket: day(n),
        count: n % 9 + 1,
        p50_ms: 1_000 << (n % 20),
        p90_ms: i64::MAX,
        histogram: vec![WaitBucketView { below_ms: 1_000 << (n % 30), count: 3 }],
    };
    let outcome = |n: usize| OutcomeView {
        behaviour: format!("bafyr4i{n}"),
        name: Some(HOSTILE.to_owned()),
        done: n,
        ..OutcomeView::default()
    };
    StatisticsView {
        from: "2026-01-01T00:00:00Z".to_owned(),
        to: "2026-12-31T00:00:00Z".to_owned(),
        by: "day".to_owned(),
        agent: None,
        commits: (0..n_days * 20).map(commit).collect(),
        waits: (0..n_days).map(wait).collect(),
        outcomes: (0..200).map(outcome).collect(),
        left_out: vec![HOSTILE.to_owned()],
    }
}

#[test]
fn drawings_stay_small_and_say_what_the_tables_say() {
    for n_days in [0, 1, 60, 330] {
        let view = view(n_days);
        let buckets: Vec<String> = (0..n_days).map(day).collect();
        let filter =
            StatisticsFilter { query: "by=day&agent=".to_owned(), ..StatisticsFilter::default() };
        let page = sound(&statistics::page(&frame(), &view, &buckets, &filter));
        for drawing in page.split("<svg").skip(1) {
            let drawing = drawing.split_once("</svg>").expect("it ends").0;
            assert!(drawing.len() <= DRAWING_BYTES_MAX, "{n_days} days: {} bytes", drawing.len());
        }
        if n_days > 0 {
            assert!(page.contains("href=\"/statistics/commits.csv?by=day&amp;agent=\""), "{page}");
            assert!(page.contains("<caption>Commits"), "a table stands beneath");
            let n_shown = n_days.min(statistics::BUCKETS_MAX);
            assert!(page.contains(&format!("{} commits", n_shown * 210)), "{page}");
        }
    }
}
