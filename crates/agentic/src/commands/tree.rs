//! `agentic tree`

use std::process::ExitCode;

use agentic_view::FamilyView;

use super::Outcome;
use crate::context::Context;

/// Draw the family of agents: who was forked from whom, how each stands, what it did and took in
///
/// `←` names the agents whose work it took in, `→` who took its own in.
///
/// Example: agentic tree
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {}

/// Runs the verb.
pub fn run(context: &Context, _: Args) -> Outcome {
    let space = context.space()?;
    let families: Vec<FamilyView> = space.families()?.iter().map(FamilyView::from).collect();
    context.format.answer(families.as_slice(), draw);
    Ok(ExitCode::SUCCESS)
}

/// Draws the families without recursion, because a chain of agents may be long.
fn draw(families: &[FamilyView]) -> String {
    let mut text = String::new();
    let mut todo: Vec<(&FamilyView, String, String)> =
        families.iter().rev().map(|family| (family, String::new(), String::new())).collect();
    while let Some((family, first, rest)) = todo.pop() {
        text.push_str(&line(family, &first));
        let n_children = family.children.len();
        for (at, child) in family.children.iter().enumerate().rev() {
            let (branch, below) =
                if at + 1 == n_children { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            todo.push((child, format!("{rest}{branch}"), format!("{rest}{below}")));
        }
    }
    text
}

fn line(family: &FamilyView, first: &str) -> String {
    let kinds: Vec<String> = family.kinds.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    format!(
        "{first}\u{1b}[1m{}\u{1b}[0m \u{1b}[33m{}\u{1b}[0m {} ({}){}{}\n",
        family.agent,
        &family.head[..10],
        family.state,
        kinds.join(", "),
        listed(" ← ", &family.merges),
        listed(" → ", &family.merged_into),
    )
}

fn listed(arrow: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{arrow}{}", names.join(", ")) }
}
