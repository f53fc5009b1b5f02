//! `agentic pending`

use std::process::ExitCode;

use agentic_api::verb::{HandOutHolds, HoldQuestion, PendingHolds};
use agentic_api::view::interop::Protocol;
use agentic_api::view::question::question;
use agentic_api::view::{PeerReplyView, PendingView, ServedHoldView, visible_line};
use agentic_api::{Caller, Verb as _};
use agentic_model::AgentName;
use clap::ValueEnum;

use super::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::engine::{Address, waiting};
use crate::failure::CommandFailure;
use crate::output::{Format, print_raw, warn_of};

/// How many lines of a hold are shown in a list.
const LINES_MAX: usize = 24;
/// How many characters of a line are shown in a list.
const LINE_CHARS_MAX: usize = 200;

/// List what waits for a human, oldest first
///
/// Example: agentic pending --overdue
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct PendingArgs {
    /// One hold, whole: a request as it is listed, or an agent with one open hold
    #[arg(conflicts_with_all = ["agent", "kind", "assignee", "overdue", "format"])]
    request: Option<String>,
    /// A server of durable runs, of whatever repositories: HOST:PORT
    #[arg(long, value_name = "ADDRESS", conflicts_with_all =
        ["request", "agent", "kind", "assignee", "overdue", "format", "by"])]
    sibyl_addr: Option<String>,
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
    /// Of a peer's agents, as far as their notes are believed here
    #[arg(long, value_name = "NAME", conflicts_with_all = ["request", "sibyl_addr", "format"])]
    peer: Option<String>,
    /// Another form than ours
    #[arg(long, value_name = "FORMAT")]
    format: Option<ListForm>,
    /// Who will answer in that form, such as user:ada
    #[arg(long, value_name = "PRINCIPAL", requires = "format")]
    by: Option<String>,
}

/// The forms of the list.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum ListForm {
    /// Ours
    Json,
    /// An MCP result that requires input
    Mcp,
    /// A2A tasks that require input
    A2a,
}

/// Runs the verb.
pub fn run(context: &Context, args: PendingArgs) -> VerbOutcome {
    if let Some(address) = &args.sibyl_addr {
        return served(context, address);
    }
    let space = context.space()?;
    let caller = context.caller(&space);
    if let Some(request) = args.request {
        let shown = HoldQuestion { request, node: None }.run(&caller)?.answer;
        context.format.answer(&[shown.hold][..], |views| views.iter().map(whole).collect());
        return Ok(ExitCode::SUCCESS);
    }
    let holds = PendingHolds {
        agent: args.agent.map(|agent| agent.to_string()),
        kind: args.kind,
        assignee: args.assignee,
        overdue: args.overdue,
        peer: args.peer,
    };
    let protocol = match args.format {
        None => return list(context.format, &caller, holds),
        Some(ListForm::Json) => return list(Format::Json, &caller, holds),
        Some(ListForm::Mcp) => Protocol::Mcp,
        Some(ListForm::A2a) => Protocol::A2a,
    };
    let reply = HandOutHolds { protocol, holds, by: args.by }.run(&caller)?;
    warn_of(&reply.notices);
    print_raw(&reply.answer.0.to_string());
    Ok(ExitCode::SUCCESS)
}

/// Lists what waits at a server.
fn served(context: &Context, address: &str) -> VerbOutcome {
    let address = Address { sibyl_addr: Some(address.to_owned()) };
    let Some(address) = address.remote() else {
        let hint = "leave the address out, or change to that repository";
        return Err(CommandFailure::usage("`local:` is no server", hint));
    };
    let holds = waiting(context, address)?;
    context.format.answer(holds.as_slice(), |views| {
        let line = |view: &ServedHoldView| {
            let ServedHoldView { request, agent, key, path, question, .. } = view;
            let text = format!("{request} {agent} key {key} at {path}: {question}");
            format!("{}\n", visible_line(&text))
        };
        views.iter().map(line).collect()
    });
    Ok(ExitCode::SUCCESS)
}

fn list(format: Format, caller: &Caller<'_>, holds: PendingHolds) -> VerbOutcome {
    let reply = holds.run(caller)?;
    warn_of(&reply.notices);
    format.answer(reply.answer.as_slice(), |views| views.iter().map(paragraph).collect());
    Ok(ExitCode::SUCCESS)
}

/// Shows a hold in a list: what is asked, of whom, what each answer does, and the beginning of what it
/// is about.
pub(super) fn paragraph(view: &PendingView) -> String {
    let what = view.question.clone().unwrap_or_else(|| view.kind.clone());
    let first = format!("{} {} {}: {what}", view.request, view.agent, view.reason);
    let whole = question(view);
    // A warning stands first; the two lines after it repeat the first.
    let mut lines: Vec<&str> = whole.lines().collect();
    let n_warnings = usize::from(view.warning.is_some());
    let warning: Vec<&str> = lines.drain(..lines.len().min(n_warnings)).collect();
    lines.drain(..lines.len().min(1 + what.lines().count().max(1)));
    let late = if view.overdue { ", overdue" } else { "" };
    let mut text = format!("{}\n", visible_line(&first));
    warning.iter().for_each(|line| text.push_str(&format!("    {line}\n")));
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
    let replies = view.replies.iter().map(|reply| format!("{indent}{}", reply_line(reply, view)));
    claims.chain(replies).collect()
}

/// Says what a peer decided of a hold, or what we did of one of theirs.
fn reply_line(reply: &PeerReplyView, view: &PendingView) -> String {
    let (request, commit) = (&view.request, &reply.commit);
    let accept = match reply.is_acceptable() {
        true => format!(": `agentic decide {request} --accept {commit}`"),
        false => String::new(),
    };
    format!("{}{accept}\n", reply.sentence())
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
