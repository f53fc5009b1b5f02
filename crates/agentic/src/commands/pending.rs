//! `agentic pending`

use std::process::ExitCode;

use agentic_api::principal;
use agentic_api::view::question::question;
use agentic_api::view::{PendingView, interop, visible_line};
use agentic_model::AgentName;
use agentic_replay::SessionId;
use agentic_session::SessionSpace;
use agentic_session::hold::{Filter, Overdue, Reach};
use agentic_session::outlook::{Outlook, outlook};
use agentic_session::ticket::hand_out;
use clap::ValueEnum;

use super::decide::open_hold;
use super::{Outcome, agent_name};
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{print_raw, talk};

/// How many lines of a hold are shown in a list.
const LINES_MAX: usize = 24;
/// How many characters of a line are shown in a list.
const LINE_CHARS_MAX: usize = 200;

/// List what waits for a human, oldest first
///
/// Example: agentic pending --overdue
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// One hold, whole: a request as it is listed, or an agent with one open hold
    #[arg(conflicts_with_all = ["agent", "kind", "assignee", "overdue", "format"])]
    request: Option<String>,
    /// Only of this agent, and of those that descend from it
    #[arg(long, value_name = "A", value_parser = agent_name)]
    agent: Option<AgentName>,
    /// Only requests of this kind
    #[arg(long, value_name = "K")]
    kind: Option<String>,
    /// Only what this principal may decide, such as user:ada or role:lead
    #[arg(long, value_name = "P")]
    assignee: Option<String>,
    /// Only what is overdue
    #[arg(long)]
    overdue: bool,
    /// Another form than ours
    #[arg(long, value_name = "FORMAT")]
    format: Option<Form>,
    /// Who will answer in that form, such as user:ada
    #[arg(long, value_name = "PRINCIPAL", requires = "format")]
    by: Option<String>,
}

/// The forms of the list.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// Ours
    Json,
    /// An MCP result that requires input
    Mcp,
    /// A2A tasks that require input
    A2a,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    if let Some(request) = &args.request {
        let pending = open_hold(&space, request)?;
        let view = PendingView::new(&pending, space.now());
        context.format.answer(&[view][..], |views| views.iter().map(whole).collect());
        return Ok(ExitCode::SUCCESS);
    }
    let filter = Filter {
        agent: args.agent,
        reach: Reach::Subtree,
        kind: args.kind,
        assignee: args.assignee,
        overdue_only: if args.overdue { Overdue::Only } else { Overdue::Any },
    };
    let Outlook { holds: found, unattended } = outlook(&space, &filter)?;
    hint_unattended(&unattended);
    let now = space.now();
    let views: Vec<PendingView> =
        found.iter().map(|pending| PendingView::new(pending, now)).collect();
    match args.format {
        Some(Form::Mcp) => {
            let ticket = hand_out(&space, &found, &who(&space, args.by)?)?;
            print_raw(&interop::mcp(&found, &ticket).to_string());
        }
        Some(Form::A2a) => {
            let ticket = hand_out(&space, &found, &who(&space, args.by)?)?;
            print_raw(&interop::a2a(&found, &ticket, now).to_string());
        }
        Some(Form::Json) => crate::output::Format::Json.answer(views.as_slice(), |_| String::new()),
        None => {
            context.format.answer(views.as_slice(), |views| views.iter().map(paragraph).collect())
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Says which sessions only want somebody to drive them: what a crash left behind a decision is no hold
/// any more.
pub(super) fn hint_unattended(unattended: &[(SessionId, AgentName)]) {
    match unattended {
        [] => {}
        [(id, agent)] => talk(&format!(
            "hint: session {} of {agent} can go on, and nobody drives it: `agentic session resume {}`",
            id.short(),
            id.short()
        )),
        all => talk(&format!(
            "hint: {} sessions can go on, and nobody drives them: `agentic session tick` does, `agentic session list` names them",
            all.len()
        )),
    }
}

/// Who the answers will come from: whom the caller names, else who the caller is.
fn who(space: &SessionSpace, named: Option<String>) -> Result<String, Failure> {
    Ok(named.map_or_else(|| principal(space), Ok)?)
}

/// Shows a hold in a list: what is asked, of whom, what each answer does, and the beginning of what it
/// is about.
pub(super) fn paragraph(view: &PendingView) -> String {
    let what = view.question.clone().unwrap_or_else(|| view.kind.clone());
    let first = format!("{} {} {}: {what}", view.request, view.agent, view.reason);
    let whole = question(view);
    // The two lines before repeat the first.
    let mut lines: Vec<&str> = whole.lines().collect();
    lines.drain(..lines.len().min(1 + what.lines().count().max(1)));
    let late = if view.overdue { ", overdue" } else { "" };
    let mut text = format!("{}\n", visible_line(&first));
    text.push_str(&format!("    asked {} ago{late}\n", age(view.age_ms)));
    for line in lines.iter().take(LINES_MAX) {
        let cut = line.char_indices().nth(LINE_CHARS_MAX).map(|(at, _)| at);
        let more = if cut.is_some() { "…" } else { "" };
        text.push_str(&format!("    {}{more}\n", &line[..cut.unwrap_or(line.len())]));
    }
    if lines.len() > LINES_MAX {
        let more = lines.len() - LINES_MAX;
        text.push_str(&format!("    … {more} more lines: `agentic pending {}`\n", view.request));
    }
    text.push_str(&unverified(view, "    "));
    text
}

/// Shows one hold whole: exactly what a decision names as shown, and then what changes by itself.
fn whole(view: &PendingView) -> String {
    let late = if view.overdue { ", overdue" } else { "" };
    let asked = format!("asked {} ago{late}, hash {}\n", age(view.age_ms), view.request_hash);
    format!("{}\n{asked}{}", question(view), unverified(view, ""))
}

fn unverified(view: &PendingView, indent: &str) -> String {
    let claims = view.unverified.iter().map(|claim| {
        let (action, principal) = (&claim.action, visible_line(&claim.principal));
        let (request, commit) = (&view.request, &claim.commit);
        format!("{indent}unverified: {action} by {principal}: `agentic decide {request} --accept {commit}`\n")
    });
    claims.collect()
}

/// Writes how long ago something was, as people say it.
pub(super) fn age(millis: i64) -> String {
    let seconds = millis.max(0) / 1_000;
    match seconds {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}
