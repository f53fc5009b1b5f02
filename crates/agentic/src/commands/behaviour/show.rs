//! Behaviours as text.

use agentic_api::view::{
    AdoptionView, BehaviourDiffView, BehaviourNodeView, BehaviourShowView, BehaviourVersionView,
    BehaviourView, ComparedSideView, ComparisonView,
};

use crate::output::talk;

/// How many characters of an id tell it from others on a screen.
const SHORT_CHARS: usize = 17;

fn short(cid: &str) -> &str {
    cid.get(..SHORT_CHARS).unwrap_or(cid)
}

/// Writes a line for a name.
pub fn line(view: &BehaviourView) -> String {
    let what = match (&view.damaged, &view.adopted) {
        (Some(why), _) => format!("damaged: {why}"),
        (None, None) => format!("nothing adopted, versions: {}", view.versions),
        (None, Some(version)) => {
            let form = view.language.as_deref().or(view.form.as_deref()).unwrap_or_default();
            let n = view.versions;
            let here = if view.here_alone { ", here alone" } else { "" };
            format!("{} {form} by {}, versions: {n}{here}", short(&version.cid), version.by)
        }
    };
    let mut text = format!("{:24} {what}\n", view.name);
    text += &other("offered", view.offered.as_ref());
    text += &other("contested", view.contested.as_ref());
    text
}

fn other(word: &str, version: Option<&BehaviourVersionView>) -> String {
    version.map_or_else(String::new, |there| {
        let adoption = there.adoption.as_deref().unwrap_or_default();
        format!("  {word}: {} by {} at {}, adoption {adoption}\n", there.cid, there.by, there.at)
    })
}

/// Says what is known of a behaviour, and writes its text.
pub fn shown(view: &BehaviourShowView) -> String {
    let list = |word: &str, texts: &[String]| {
        if !texts.is_empty() {
            talk(&format!("{word}: {}", texts.join(", ")));
        }
    };
    let what = view.language.as_deref().unwrap_or(&view.form);
    talk(&format!("{} ({what})", view.cid));
    list("in force as", &view.adopted_as);
    list("added as", &view.names);
    list("made from", &view.parents);
    list("evidence", &view.evidence);
    for trial in &view.trials {
        let verdict = trial.verdict.as_deref().unwrap_or("not known here");
        talk(&format!("tried: {} (number {}), {verdict}", trial.trial, trial.attempt));
    }
    if let Some(allow) = &view.allow {
        talk(&format!("may be granted: {}", allow.join(", ")));
    }
    if let Some(by) = &view.proposed_by {
        talk(&format!("proposed by {by}"));
    }
    if !view.note.is_empty() {
        talk(&view.note);
    }
    let mut text = match (&view.instructions, &view.source) {
        (Some(filled), _) => ended(filled),
        (None, Some(source)) => ended(source),
        (None, None) => String::new(),
    };
    for (word, version, source) in [
        ("offered", &view.offered, &view.offered_source),
        ("contested", &view.contested, &view.contested_source),
    ] {
        if version.is_some() {
            text += &other(word, version.as_ref());
            let lines = source.iter().flat_map(|source| source.lines());
            text += &lines.map(|line| format!("  | {line}\n")).collect::<String>();
        }
    }
    text
}

fn ended(text: &str) -> String {
    format!("{}\n", text.trim_end_matches('\n'))
}

/// Writes an adoption.
pub fn adoption(view: &AdoptionView) -> String {
    let mark = if view.in_force { "* " } else { "" };
    let signed = if view.signed { " (signed)" } else { "" };
    let to = view.to.as_deref().unwrap_or("-");
    let mut text = format!("{mark}{} {} {} {to}{signed}\n", view.commit, view.at, view.decided_by);
    text += &view.reason.lines().map(|line| format!("    {line}\n")).collect::<String>();
    for cid in &view.evidence {
        text += &format!("    evidence {cid}\n");
    }
    if let Some(over) = &view.over {
        text += &format!("    over {over}\n");
    }
    text
}

/// Writes how two behaviours differ, as git marks words.
pub fn difference(view: &BehaviourDiffView) -> String {
    if view.same {
        return String::new();
    }
    let mut text = String::new();
    for field in &view.fields {
        let old = field.old.as_deref().unwrap_or("nothing");
        let new = field.new.as_deref().unwrap_or("nothing");
        text += &format!("{}: {old} -> {new}\n", field.field);
    }
    for piece in &view.words {
        text += &piece.same;
        if !piece.old.is_empty() {
            text += &format!("[-{}-]", piece.old);
        }
        if !piece.new.is_empty() {
            text += &format!("{{+{}+}}", piece.new);
        }
    }
    if text.ends_with('\n') { text } else { text + "\n" }
}

/// Writes a version below what it was made from.
pub fn node(view: &BehaviourNodeView) -> String {
    let by = view.proposed_by.as_deref().unwrap_or("-");
    let note = view.note.lines().next().unwrap_or_default();
    let text = format!("{}{} {} {by} {note}", "  ".repeat(view.depth), view.cid, view.state);
    text.trim_end().to_owned() + "\n"
}

/// Tells in words how two behaviours compare.
pub(super) fn compared(view: &ComparisonView) -> String {
    let mut lines = Vec::new();
    for metric in &view.metrics {
        let begin =
            if view.metrics.len() > 1 { format!("{}: ", metric.metric) } else { String::new() };
        lines.extend(metric.words.iter().map(|words| format!("{begin}{words}")));
    }
    let side =
        |side: &ComparedSideView| format!("{} {}, closed {}", side.cases, side.named, side.closed);
    lines.push(format!(
        "cases: {}; {}. Intervals of {:.1} %.",
        side(&view.first),
        side(&view.second),
        view.certainty * 100.0
    ));
    lines.join("\n")
}
