//! `agentic show`

use std::process::ExitCode;

use agentic_api::Verb;
use agentic_api::verb::Show;
use agentic_api::view::ShowView;

use super::VerbOutcome;
use crate::context::Context;
use crate::output::warn_of;

/// Show a commit, an object or an agent
///
/// Example: agentic show bafyr4icjtp
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct ShowArgs {
    /// A commit, an object's id or a prefix of it, or an agent
    id: String,
}

/// Runs the verb.
pub fn run(context: &Context, args: ShowArgs) -> VerbOutcome {
    let space = context.space()?;
    let found = Show { id: args.id }.run(&context.caller(&space))?;
    warn_of(&found.notices);
    context.format.answer(&found.answer, text);
    Ok(ExitCode::SUCCESS)
}

fn text(view: &ShowView) -> String {
    match view {
        ShowView::Agent { agent, .. } => {
            let mut text =
                format!("agent {}\nhead {}\ncommits {}\n", agent.agent, agent.head, agent.commits);
            let lines = [
                ("genesis", &agent.genesis),
                ("parent", &agent.parent),
                ("briefing", &agent.briefing),
            ];
            for (name, value) in lines {
                if let Some(value) = value {
                    text.push_str(&format!("{name} {value}\n"));
                }
            }
            text
        }
        ShowView::Object { id, object } => {
            let pretty = serde_json::to_string_pretty(object).expect("views have text keys");
            format!("object {id}\n{pretty}\n")
        }
        ShowView::Commit { commit, .. } => {
            let mut text = format!(
                "commit {}\nkind {}\nauthor {}\nat {}\n",
                commit.commit, commit.kind, commit.author, commit.at
            );
            let lines = [
                ("copied-from", &commit.copied_from),
                ("merged", &commit.merged),
                ("trace", &commit.trace),
            ];
            if commit.unverified {
                text.push_str("unverified: no record here says that this is a decision\n");
            }
            for (name, value) in lines {
                if let Some(value) = value {
                    text.push_str(&format!("{name} {value}\n"));
                }
            }
            if commit.fields != serde_json::json!({}) {
                text.push_str(&format!("fields {}\n", commit.fields));
            }
            text.push_str(&format!("\n{}\n", commit.subject));
            if !commit.body.is_empty() {
                text.push_str(&format!("\n{}\n", commit.body));
            }
            text
        }
    }
}
