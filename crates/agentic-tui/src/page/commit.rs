//! What an agent did: its log, and one commit with what it changed and what led to it.

use agentic_api::view::{CommitDetailView, CommitDiffView, LogView, TraceView};
use agentic_model::Instant;

use super::{clip, short, trace};
use crate::age::since;
use crate::line::{LineTarget, PaneLine, Tone};

/// How much of a line of a difference is shown.
const LINE_CHARS_MAX: usize = 1_000;
/// How much of the fields of a commit.
const FIELDS_CHARS_MAX: usize = 2_000;

/// Lists commits, newest first; says if there are more than were asked for.
pub fn log(agent: &str, commits: &[LogView], limit: usize, now: Instant) -> Vec<PaneLine> {
    let title =
        PaneLine::default().say(Tone::Strong, agent).say(Tone::Faint, " · log · o opens a commit");
    let mut lines = vec![title];
    lines.extend(commits.iter().map(|commit| row(commit, now)));
    if commits.len() == limit {
        let more = format!("the newest {limit}: `agentic log {agent}` lists all");
        lines.push(PaneLine::default().say(Tone::Faint, &more));
    }
    lines
}

fn row(commit: &LogView, now: Instant) -> PaneLine {
    let trace = if commit.trace.is_some() { " ≡" } else { "" };
    let unverified = if commit.unverified { " unverified" } else { "" };
    PaneLine::default()
        .say(Tone::Id, &short(&commit.commit))
        .say(Tone::Kind, &format!(" {}", commit.kind))
        .say(Tone::Alarm, unverified)
        .say(Tone::Faint, &format!(" {}{trace} ", since(&commit.at, now)))
        .say(Tone::Plain, &commit.subject)
        .to(LineTarget::Commit(commit.commit.clone()))
}

/// Shows a commit: what it says, what it belongs to, what it changed, and its trace.
pub fn commit(
    view: &CommitDetailView,
    difference: Option<&CommitDiffView>,
    bound: Option<&TraceView>,
    now: Instant,
) -> Vec<PaneLine> {
    let commit = &view.commit;
    let title = PaneLine::default()
        .say(Tone::Id, &commit.commit)
        .say(Tone::Kind, &format!(" {}", commit.kind))
        .say(Tone::Faint, &format!(" {} ago by ", since(&commit.at, now)))
        .say(Tone::Plain, &commit.author);
    let mut lines = vec![title];
    if commit.unverified {
        let text = "looks like a decision, and no record here says that it is one";
        lines.push(PaneLine::default().say(Tone::Alarm, text));
    }
    lines.push(PaneLine::default().say(Tone::Strong, &commit.subject));
    if !commit.body.trim().is_empty() {
        lines.push(PaneLine::default());
        lines.extend(PaneLine::many(Tone::Plain, commit.body.trim()));
    }
    lines.push(PaneLine::default());
    lines.extend(belongings(view));
    lines.extend(difference.into_iter().flat_map(changes));
    lines.extend(
        bound
            .into_iter()
            .flat_map(|view| [PaneLine::default()].into_iter().chain(trace::trace(view, now))),
    );
    lines
}

/// Shows what a commit belongs to, and its fields.
fn belongings(view: &CommitDetailView) -> Vec<PaneLine> {
    let commit = &view.commit;
    let mut lines = Vec::new();
    let mut belongs = |name: &str, value: Option<&String>, target: Option<LineTarget>| {
        let Some(value) = value else { return };
        let line = PaneLine::default().say(Tone::Faint, &format!("{name} ")).say(Tone::Id, value);
        lines.push(match target {
            Some(target) => line.to(target),
            None => line,
        });
    };
    belongs("of", view.made_by.as_ref(), None);
    belongs("copied from", commit.copied_from.as_ref(), None);
    belongs("merged", commit.merged.as_ref(), None);
    belongs("briefing", view.briefing.as_ref(), None);
    let session = view.session.as_ref();
    belongs("session", session, session.cloned().map(LineTarget::Session));
    belongs("request", view.request.as_ref().map(|request| &request.request), None);
    for parent in &commit.parents {
        belongs("parent", Some(parent), Some(LineTarget::Commit(parent.clone())));
    }
    if commit.fields.as_object().is_some_and(|fields| !fields.is_empty()) {
        let fields = clip(&commit.fields.to_string(), FIELDS_CHARS_MAX);
        lines.push(PaneLine::default().say(Tone::Faint, "fields ").say(Tone::Plain, &fields));
    }
    lines
}

/// Shows what a commit changed.
fn changes(view: &CommitDiffView) -> Vec<PaneLine> {
    let head = format!("{} files, +{} −{}", view.changed, view.added, view.deleted);
    let mut lines = vec![PaneLine::default(), PaneLine::default().say(Tone::Strong, &head)];
    for file in &view.files {
        let from = file.moved_from.as_ref().map(|from| format!(" from {from}")).unwrap_or_default();
        let content = match file.content.as_str() {
            "text" | "same" => String::new(),
            other => format!(" ({other})"),
        };
        let about = format!(" {}{from}{content} +{} −{}", file.status, file.added, file.deleted);
        lines.push(PaneLine::default().say(Tone::Strong, &file.path).say(Tone::Faint, &about));
        for hunk in &file.hunks {
            lines.extend(hunk.lines.iter().map(|line| {
                let tone = match line.sign {
                    '+' => Tone::Added,
                    '-' => Tone::Removed,
                    _ => Tone::Plain,
                };
                let text = clip(&line.text, LINE_CHARS_MAX);
                PaneLine::default().say(tone, &format!("{} {text}", line.sign))
            }));
            lines.push(PaneLine::default().say(Tone::Faint, "···"));
        }
        if file.next.is_some() {
            lines.push(PaneLine::default().say(Tone::Faint, "this file has more: `git show`"));
        }
    }
    if view.next.is_some() || view.partial {
        lines.push(PaneLine::default().say(Tone::Faint, "there are more files: `git show`"));
    }
    lines
}
