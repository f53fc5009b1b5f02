//! What was done over time, how long people were waited for, and what came of programs.

use std::collections::BTreeMap;

use agentic_api::view::{OutcomeView, StatisticsTable, StatisticsView, WaitBucketView, WaitView};
use maud::{Markup, PreEscaped, html};

use super::clip::short_line;
use super::{PageFrame, duration, short};

/// How many days or weeks stand in a plot and in the table beneath it.
pub const BUCKETS_MAX: usize = 120;
/// How many rows a table beneath a plot has; the file has all.
const ROWS_MAX: usize = 30;
/// How many kinds have a pattern of their own.
const KINDS_MAX: usize = 7;
/// How many programs are listed.
const FLOWS_MAX: usize = 20;
/// Fewer cases than this are too few to say anything.
const CASES_MIN: usize = 5;
/// How high a plot is, and how wide.
const HEIGHT: usize = 160;
const WIDTH: usize = 720;
/// What all other kinds are called together.
const OTHER: &str = "other";

/// What statistics are of.
#[derive(Debug, Clone, Default)]
pub struct StatisticsFilter {
    /// From which day on.
    pub from: String,
    /// Until which.
    pub to: String,
    /// `day` or `week`.
    pub by: String,
    /// Only of this agent.
    pub agent: String,
    /// The address of all of it, without what stands before `?`.
    pub query: String,
}

/// Shows statistics; `buckets` are all days or weeks of the span.
pub fn page(
    frame: &PageFrame,
    view: &StatisticsView,
    buckets: &[String],
    filter: &StatisticsFilter,
) -> Markup {
    let begin = buckets.len().saturating_sub(BUCKETS_MAX);
    let buckets = &buckets[begin..];
    frame.around(&html! {
        h1 { "Statistics" }
        (form(filter))
        p.about {
            "from " (super::instant(&view.from)) " to " (super::instant(&view.to)) " by " (view.by)
            @if let Some(agent) = &view.agent { " · only " a href={ "/agents/" (agent) } { (agent) } }
            @if begin > 0 { " · the newest " (buckets.len()) " here; the files have all" }
        }
        @if !view.left_out.is_empty() {
            p.refusal { (view.left_out.len()) " things could not be read: " (short_line(&view.left_out[0], 300)) }
        }
        (patterns())
        (commits(view, buckets, filter))
        (waits(view, buckets, filter))
        (outcomes(view, filter))
    })
}

fn form(filter: &StatisticsFilter) -> Markup {
    html! {
        form.filter method="get" action="/statistics" {
            label { "From " input type="date" name="from" value=(filter.from); }
            label { "To " input type="date" name="to" value=(filter.to); }
            label {
                "By "
                select name="by" {
                    @for by in ["day", "week"] { option value=(by) selected[filter.by == by] { (by) } }
                }
            }
            label { "Agent " input name="agent" value=(filter.agent) size="14"; }
            button type="submit" { "Show" }
        }
    }
}

/// Defines what tells bars apart that are not told apart by colour alone.
fn patterns() -> Markup {
    let marks = [
        "M0 0V8M4 0V8",
        "M0 0H8M0 4H8",
        "M0 8L8 0",
        "M0 0L8 8",
        "M0 0H8V8",
        "M2 2H4V4H2Z",
        "M0 0L8 8M0 8L8 0",
        "",
    ];
    let pattern = |(at, mark): (usize, &&str)| {
        format!(
            "<pattern id=\"p{at}\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">\
             <rect width=\"8\" height=\"8\" class=\"tint t{at}\"/><path d=\"{mark}\" class=\"mark\"/></pattern>"
        )
    };
    let patterns: String = marks.iter().enumerate().map(pattern).collect();
    html! { svg.defs width="0" height="0" aria-hidden="true" { (PreEscaped(format!("<defs>{patterns}</defs>"))) } }
}

fn csv_link(table: StatisticsTable, filter: &StatisticsFilter) -> Markup {
    html! { p { a href={ "/statistics/" (table.name()) ".csv?" (filter.query) } download { "as CSV" } } }
}

/// Counts by kind and by day or week, of the kinds that are most frequent.
struct KindCounts<'a> {
    kinds: Vec<&'a str>,
    /// For each day or week, in their order, a count for each kind.
    counts: Vec<Vec<usize>>,
}

impl<'a> KindCounts<'a> {
    fn of(view: &'a StatisticsView, buckets: &[String]) -> KindCounts<'a> {
        let places: BTreeMap<&str, usize> =
            buckets.iter().enumerate().map(|(at, bucket)| (bucket.as_str(), at)).collect();
        let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
        for one in view.commits.iter().filter(|one| places.contains_key(one.bucket.as_str())) {
            *totals.entry(&one.kind).or_default() += one.count;
        }
        let mut kinds: Vec<&str> = totals.keys().copied().collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(totals[kind]));
        if kinds.len() > KINDS_MAX {
            kinds.truncate(KINDS_MAX);
            kinds.push(OTHER);
        }
        let mut counts = vec![vec![0; kinds.len()]; buckets.len()];
        for one in &view.commits {
            let Some(at) = places.get(one.bucket.as_str()) else { continue };
            let kind = kinds.iter().position(|kind| *kind == one.kind);
            let kind = kind.or_else(|| kinds.len().checked_sub(1));
            if let Some(kind) = kind {
                counts[*at][kind] += one.count;
            }
        }
        KindCounts { kinds, counts }
    }
}

fn commits(view: &StatisticsView, buckets: &[String], filter: &StatisticsFilter) -> Markup {
    let found = KindCounts::of(view, buckets);
    let totals: Vec<usize> = found.counts.iter().map(|counts| counts.iter().sum()).collect();
    let most = totals.iter().copied().max().unwrap_or_default();
    let n_all: usize = totals.iter().sum();
    let rows: Vec<usize> = (0..buckets.len()).filter(|at| totals[*at] > 0).collect();
    html! {
        section aria-labelledby="commits-title" {
            h2 id="commits-title" { "Commits by kind" }
            p.about { (n_all) @if n_all == 1 { " commit" } @else { " commits" } }
            @if n_all > 0 {
                (plot("Commits by kind, stacked", html! {
                    @for kind in 0..found.kinds.len() {
                        path fill={ "url(#p" (kind) ")" } d=(bars(&found.counts, kind, most)) {}
                    }
                    (axis(buckets, most))
                }))
                ul.legend {
                    @for (at, kind) in found.kinds.iter().enumerate() {
                        li { svg width="16" height="16" aria-hidden="true" { rect width="16" height="16" fill={ "url(#p" (at) ")" } {} } " " (short_line(kind, 80)) }
                    }
                }
                (table(
                    "Commits",
                    &std::iter::once(view.by.as_str()).chain(found.kinds.iter().copied()).chain(["all"]).collect::<Vec<_>>(),
                    &rows.iter().rev().take(ROWS_MAX).map(|at| {
                        let counts = found.counts[*at].iter().map(usize::to_string);
                        std::iter::once(buckets[*at].clone()).chain(counts).chain([totals[*at].to_string()]).collect()
                    }).collect::<Vec<_>>(),
                    rows.len(),
                ))
                (csv_link(StatisticsTable::Commits, filter))
            }
        }
    }
}

fn plot(label: &str, content: Markup) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label=(label) {
            svg.plot viewBox={ "0 0 " (WIDTH) " " (HEIGHT + 20) } width=(WIDTH) height=(HEIGHT + 20) role="img" aria-label=(label) {
                (content)
            }
        }
    }
}

/// Draws the bars of one kind, each on top of those of the kinds before it.
fn bars(counts: &[Vec<usize>], kind: usize, most: usize) -> String {
    let mut path = String::new();
    let step = step(counts.len());
    for (at, counts) in counts.iter().enumerate() {
        let below: usize = counts[..kind].iter().sum();
        let scaled = |count: usize| count * HEIGHT / most.max(1);
        let (bottom, top) = (HEIGHT - scaled(below), HEIGHT - scaled(below + counts[kind]));
        if counts[kind] > 0 && bottom > top {
            let (x, width) = (at * step / 10, (step * 8 / 100).max(1));
            path.push_str(&format!("M{x} {bottom}V{top}h{width}V{bottom}Z"));
        }
    }
    path
}

/// Returns how far bars stand apart, in tenths.
fn step(n: usize) -> usize {
    (WIDTH * 10 / n.max(1)).min(480)
}

fn axis(buckets: &[String], most: usize) -> Markup {
    let last = buckets.len().saturating_sub(1);
    html! {
        path.axis d={ "M0 " (HEIGHT) "H" (WIDTH) } {}
        text x="0" y="12" { (most) }
        @if let Some(first) = buckets.first() { text x="0" y=(HEIGHT + 16) { (first) } }
        @if last > 0 { text x=((last * step(buckets.len()) / 10).min(WIDTH - 80)) y=(HEIGHT + 16) { (buckets[last]) } }
    }
}

fn table(caption: &str, heads: &[&str], rows: &[Vec<String>], n_all: usize) -> Markup {
    html! {
        div.wide tabindex="0" role="region" aria-label={ (caption) ", as a table" } {
            table {
                caption { (caption) @if rows.len() < n_all { ", the newest " (rows.len()) " of " (n_all) } }
                thead { tr { @for (at, head) in heads.iter().enumerate() { th scope="col" class=[(at > 0).then_some("number")] { (short_line(head, 80)) } } } }
                tbody {
                    @for row in rows {
                        tr { @for (at, cell) in row.iter().enumerate() { @if at == 0 { th scope="row" { (cell) } } @else { td.number { (cell) } } } }
                    }
                }
            }
        }
    }
}

fn waits(view: &StatisticsView, buckets: &[String], filter: &StatisticsFilter) -> Markup {
    let shown: Vec<&WaitView> =
        view.waits.iter().filter(|one| buckets.contains(&one.bucket)).collect();
    let n_all: usize = shown.iter().map(|one| one.count).sum();
    html! {
        section aria-labelledby="waits-title" {
            h2 id="waits-title" { "Waiting time of holds" }
            p.about { (n_all) @if n_all == 1 { " hold was" } @else { " holds were" } " decided" }
            @if n_all > 0 {
                (plot("Waiting time: half and nine of ten, logarithmic", html! {
                    path.axis d=(spans(&shown, buckets, |x, half, most| format!("M{x} {half}V{most}"))) {}
                    path.dot d=(spans(&shown, buckets, |x, half, _| format!("M{x} {half}h0"))) {}
                    path.tick d=(spans(&shown, buckets, |x, _, most| format!("M{} {most}h8", x - 4))) {}
                    path.axis d={ "M0 " (HEIGHT) "H" (WIDTH) } {}
                    text x="0" y="12" { (duration(LONGEST_MS)) }
                    text x="0" y=(HEIGHT - 4) { (duration(SHORTEST_MS)) }
                    text x="80" y=(HEIGHT + 16) { "● half waited no longer, ▬ nine of ten" }
                }))
                (table(
                    "Waiting time",
                    &[view.by.as_str(), "decided", "p50", "p90"],
                    &shown.iter().rev().take(ROWS_MAX).map(|one| {
                        let said = |millis: i64| if one.count < CASES_MIN { format!("{} (too few)", duration(millis)) } else { duration(millis) };
                        vec![one.bucket.clone(), one.count.to_string(), said(one.p50_ms), said(one.p90_ms)]
                    }).collect::<Vec<_>>(),
                    shown.len(),
                ))
                (histogram(&shown))
                (csv_link(StatisticsTable::Waits, filter))
            }
        }
    }
}

/// The shortest and the longest wait that have places of their own.
const SHORTEST_MS: i64 = 1_000;
const LONGEST_MS: i64 = 14 * 24 * 3600 * 1000;

/// Returns how high a wait stands: by its logarithm.
fn height_of(millis: i64) -> usize {
    let steps = |millis: i64| millis.clamp(SHORTEST_MS, LONGEST_MS).ilog2() - SHORTEST_MS.ilog2();
    let most = steps(LONGEST_MS) as usize;
    HEIGHT - (steps(millis) as usize * (HEIGHT - 20) / most.max(1))
}

/// Draws something for each day or week: where it stands, how high half and nine of ten.
fn spans(
    waits: &[&WaitView],
    buckets: &[String],
    draw: impl Fn(usize, usize, usize) -> String,
) -> String {
    let drawn = waits.iter().map(|one| {
        let at = buckets.iter().position(|bucket| *bucket == one.bucket).unwrap_or_default();
        let x = at * step(buckets.len()) / 10 + 6;
        draw(x, height_of(one.p50_ms), height_of(one.p90_ms))
    });
    drawn.collect()
}

fn histogram(waits: &[&WaitView]) -> Markup {
    let mut counts: BTreeMap<i64, usize> = BTreeMap::new();
    for WaitBucketView { below_ms, count } in waits.iter().flat_map(|one| &one.histogram) {
        *counts.entry(*below_ms).or_default() += count;
    }
    let most = counts.values().copied().max().unwrap_or_default();
    let shown: Vec<Vec<usize>> = counts.values().map(|count| vec![*count]).collect();
    html! {
        h3 { "How many waited how long" }
        (plot("How many holds waited how long", html! {
            path fill="url(#p2)" d=(bars(&shown, 0, most)) {}
            path.axis d={ "M0 " (HEIGHT) "H" (WIDTH) } {}
            text x="0" y="12" { (most) }
            @for (at, below) in counts.keys().enumerate().step_by(counts.len().div_ceil(8).max(1)) {
                text x=(at * step(counts.len()) / 10) y=(HEIGHT + 16) { "< " (duration(*below)) }
            }
        }))
        (table(
            "Holds",
            &["less than", "holds"],
            &counts.iter().take(ROWS_MAX).map(|(below, count)| vec![duration(*below), count.to_string()]).collect::<Vec<_>>(),
            counts.len().min(ROWS_MAX),
        ))
    }
}

fn outcomes(view: &StatisticsView, filter: &StatisticsFilter) -> Markup {
    let shown = &view.outcomes[..view.outcomes.len().min(FLOWS_MAX)];
    let n_sessions: usize = view.outcomes.iter().map(n_sessions).sum();
    html! {
        section aria-labelledby="outcomes-title" {
            h2 id="outcomes-title" { "Outcomes by behaviour or flow" }
            p.about { (n_sessions) @if n_sessions == 1 { " session was" } @else { " sessions were" } " started; what a session runs is its behaviour" }
            @if n_sessions > 0 {
                (outcome_plot(shown))
                div.wide tabindex="0" role="region" aria-label="Outcomes, as a table" {
                    table {
                        caption { "Sessions" @if shown.len() < view.outcomes.len() { ", the first " (shown.len()) " of " (view.outcomes.len()) " flows" } }
                        thead { tr { th scope="col" { "behaviour or flow" } @for head in ["done", "failed", "cancelled", "held", "open", "commits"] { th.number scope="col" { (head) } } } }
                        tbody { @for one in shown { (outcome_row(one)) } }
                    }
                }
                (csv_link(StatisticsTable::Outcomes, filter))
            }
        }
    }
}

fn n_sessions(one: &OutcomeView) -> usize {
    one.done + one.failed + one.cancelled + one.held + one.open
}

/// Draws a bar for each flow: what came of its sessions, one after the other.
fn outcome_plot(shown: &[OutcomeView]) -> Markup {
    let most = shown.iter().map(n_sessions).max().unwrap_or_default().max(1);
    let words = ["done", "failed", "cancelled", "held", "open"];
    let counts = |one: &OutcomeView| [one.done, one.failed, one.cancelled, one.held, one.open];
    let height = shown.len() * 20;
    let path = |part: usize| -> String {
        let bar = |(at, one): (usize, &OutcomeView)| {
            let counts = counts(one);
            let before: usize = counts[..part].iter().sum();
            let (x, end) = (before * WIDTH / most, (before + counts[part]) * WIDTH / most);
            let y = at * 20 + 2;
            if end > x { format!("M{x} {y}H{end}v16H{x}Z") } else { String::new() }
        };
        shown.iter().enumerate().map(bar).collect()
    };
    html! {
        div.wide tabindex="0" role="region" aria-label="Outcomes by flow, drawn" {
            svg.plot viewBox={ "0 0 " (WIDTH) " " (height) } width=(WIDTH) height=(height) role="img" aria-label="Outcomes by flow, in the order of the table" {
                @for part in 0..words.len() { path fill={ "url(#p" (part) ")" } d=(path(part)) {} }
            }
        }
        ul.legend {
            @for (at, word) in words.iter().enumerate() {
                li { svg width="16" height="16" aria-hidden="true" { rect width="16" height="16" fill={ "url(#p" (at) ")" } {} } " " (word) }
            }
        }
    }
}

fn outcome_row(one: &OutcomeView) -> Markup {
    html! {
        tr {
            th scope="row" {
                a href={ "/objects/" (one.behaviour) } {
                    @match &one.name { Some(name) => (short_line(name, 80)), None => code { (short(&one.behaviour)) } }
                }
                @if n_sessions(one) < CASES_MIN { " (too few)" }
            }
            @for count in [one.done, one.failed, one.cancelled, one.held, one.open, one.commits] { td.number { (count) } }
        }
    }
}
