//! `agentic tree`

use std::process::ExitCode;

use agentic_api::Verb;
use agentic_api::verb::Tree;
use agentic_api::view::FamilyView;

use super::VerbOutcome;
use crate::context::Context;
use crate::output::warn_of;
use crate::text::{Colour, Text};

/// Draw the family of agents: who was forked from whom, how each stands, what it did and took in
///
/// `←` names the agents whose work it took in, `→` who took its own in.
///
/// Example: agentic tree
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct TreeArgs {}

/// Runs the verb.
pub fn run(context: &Context, _: TreeArgs) -> VerbOutcome {
    let space = context.space()?;
    let reply = Tree {}.run(&context.caller(&space))?;
    warn_of(&reply.notices);
    context.format.answer_coloured(reply.answer.as_slice(), draw);
    Ok(ExitCode::SUCCESS)
}

/// Draws the families without recursion, because a chain of agents may be long.
fn draw(families: &[FamilyView]) -> Text {
    let mut text = Text::default();
    let mut todo: Vec<(&FamilyView, String, String)> =
        families.iter().rev().map(|family| (family, String::new(), String::new())).collect();
    while let Some((family, first, rest)) = todo.pop() {
        text.add(&line(family, &first));
        let n_children = family.children.len();
        for (at, child) in family.children.iter().enumerate().rev() {
            let (branch, below) =
                if at + 1 == n_children { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            todo.push((child, format!("{rest}{branch}"), format!("{rest}{below}")));
        }
    }
    text
}

fn line(family: &FamilyView, first: &str) -> Text {
    let kinds: Vec<String> = family.kinds.iter().map(|(kind, n)| format!("{kind} {n}")).collect();
    let rest = format!(
        " {} ({}){}{}\n",
        family.state,
        kinds.join(", "),
        listed(" ← ", &family.merges),
        listed(" → ", &family.merged_into),
    );
    let name = Text::from(first).coloured(Colour::Bold, &family.agent).plain(" ");
    name.coloured(Colour::Yellow, &family.head[..10]).plain(&rest)
}

fn listed(arrow: &str, names: &[String]) -> String {
    if names.is_empty() { String::new() } else { format!("{arrow}{}", names.join(", ")) }
}
