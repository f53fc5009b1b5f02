//! `agentic decide`

mod choice;

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::process::ExitCode;

use agentic_model::{AgentName, Value, json};
use agentic_space::decide::{Action, Decision, Draft, decide};
use agentic_space::hold::{Named, Pending, find_hold};
use agentic_space::session::{find_run, resume};
use agentic_space::{Error, Space};
use agentic_view::{DecideView, state_name};

use super::Outcome;
use super::session::principal;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::{Format, print_text, talk, warn, warn_deferred};

/// Answer a hold; the answer is a commit on the agent's branch
///
/// On a terminal and without an action it shows what is asked, and asks.
///
/// Example: agentic decide fix-auth approve -m "looked at the diff"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct Args {
    /// A request as `agentic pending` prints it, or an agent with one open hold
    request: String,
    /// approve, reject, edit or respond
    #[arg(value_parser = action)]
    action: Option<Action>,
    /// The value, where the action takes one
    #[arg(long, value_name = "JSON", value_parser = json_value)]
    value: Option<Value>,
    /// Why
    #[arg(short, long, value_name = "WHY", default_value = "")]
    message: String,
    /// Refuse unless the request has this hash
    #[arg(long, value_name = "HASH")]
    expect: Option<String>,
    /// Who decides, such as user:ada
    #[arg(long, value_name = "PRINCIPAL", visible_alias = "as")]
    by: Option<String>,
    /// The node of a pipeline that asks, where the request is the key of its run
    #[arg(long, value_name = "NODE")]
    hold: Option<String>,
    /// One of the choices of a pipeline's hold: accept approves, reject rejects, others respond
    #[arg(long, value_name = "C", conflicts_with_all = ["action", "value"])]
    choice: Option<String>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.space()?;
    refuse_agents(&space)?;
    let args = spelled_out(&space, args)?;
    let principal = match args.by {
        Some(principal) => principal,
        None => principal(&space)?,
    };
    let pending = match find_hold(&space, &args.request)? {
        Named::Open(pending) => *pending,
        Named::Decided { session, id, commit, decision } => {
            let request = session.short_request(&id);
            return repeated(
                context,
                &space,
                &args.action,
                &args.value,
                &principal,
                Earlier { request, session, commit, decision },
            );
        }
    };
    let (action, value) = match args.action {
        Some(action) => (action, args.value),
        None => ask(&pending)?,
    };
    choice::refuse_not_offered(&pending, action, value.as_ref())?;
    let draft = Draft {
        action,
        value,
        rationale: args.message,
        expect: args.expect,
        principal,
        client: "cli",
    };
    let done = match decide(&space, &pending, &draft) {
        Ok(done) => done,
        Err(error) => {
            if matches!(error, Error::HoldExpired { .. }) {
                // The session records the expiry and goes on.
                resume(&space, &pending.hold.session)?;
            }
            return Err(error.into());
        }
    };
    warn_deferred(&done.written);
    // The human is told at once; what follows is the session's.
    if context.format == Format::Text {
        print_text(&format!("{} {}", done.decision.action.name(), done.commit));
    }
    if let Err(error) = resume(&space, &done.session) {
        warn(&format!("the decision stands; the session cannot go on: {error}"));
    }
    if context.format == Format::Json {
        show(
            context,
            &space,
            &pending.hold.session.short_request(&pending.hold.id),
            &done.decision,
            done.commit.to_string(),
            &done.session,
        )?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Replaces what is said of a pipeline by the request and the action that it stands for.
fn spelled_out(space: &Space, args: Args) -> Result<Args, Failure> {
    let request = match &args.hold {
        Some(node) => choice::request_at(space, &args.request, node)?,
        None if find_hold(space, &args.request).is_ok() => args.request.clone(),
        // The key of a run stands for its agent; anything else is told as it was said.
        None => {
            let run = find_run(space, &args.request).and_then(|id| space.session(&id));
            run.map_or(args.request.clone(), |run| run.agent.to_string())
        }
    };
    let (action, value) = match &args.choice {
        Some(choice) => {
            let (action, value) = choice::action_of(choice);
            (Some(action), value)
        }
        None => (args.action, args.value),
    };
    Ok(Args { request, action, value, ..args })
}

/// What was decided before.
struct Earlier {
    request: String,
    session: agentic_replay::SessionId,
    commit: Option<agentic_model::Oid>,
    decision: Option<Box<Decision>>,
}

/// Says who was first; the same principal repeating the same answer succeeds.
fn repeated(
    context: &Context,
    space: &Space,
    action: &Option<Action>,
    value: &Option<Value>,
    principal: &str,
    earlier: Earlier,
) -> Outcome {
    if let (Some(decision), Some(commit)) = (&earlier.decision, earlier.commit) {
        let same = *action == Some(decision.action) && *value == decision.value;
        if same && decision.principal == principal {
            match context.format {
                Format::Text => print_text(&format!("{} {commit}", decision.action.name())),
                Format::Json => show(
                    context,
                    space,
                    &earlier.request,
                    decision,
                    commit.to_string(),
                    &earlier.session,
                )?,
            }
            return Ok(ExitCode::SUCCESS);
        }
    }
    let (principal, action) = match &earlier.decision {
        Some(decision) => (decision.principal.clone(), decision.action.name()),
        None => ("the session".to_owned(), "answered"),
    };
    let commit = earlier.commit;
    if action == "expire" {
        let deadline = space.now();
        return Err(Error::HoldExpired { request: earlier.request, deadline }.into());
    }
    Err(Error::AlreadyDecided { request: earlier.request, principal, action, commit }.into())
}

fn show(
    context: &Context,
    space: &Space,
    request: &str,
    decision: &Decision,
    commit: String,
    session: &agentic_replay::SessionId,
) -> Result<(), Failure> {
    let summary = space.session(session)?;
    let view = DecideView {
        request: request.to_owned(),
        action: decision.action.name().to_owned(),
        commit,
        agent: summary.agent.to_string(),
        principal: decision.principal.clone(),
        state: state_name(summary.state).to_owned(),
        session: session.to_string(),
    };
    context.format.answer(&view, |view| view.commit.clone());
    Ok(())
}

/// An agent does not decide its own holds. This stops mistakes; only signatures would stop a
/// hostile process of the same user.
fn refuse_agents(space: &Space) -> Result<(), Failure> {
    let hint = "decide from your own checkout, without AGENTIC_AGENT";
    if std::env::var_os("AGENTIC_AGENT").is_some_and(|agent| !agent.is_empty()) {
        return Err(Failure::not_allowed("an agent may not decide: AGENTIC_AGENT is set", hint));
    }
    let in_worktree = space.repository().git_dir() != space.repository().common_dir();
    let agent: Option<AgentName> = space.current_agent().filter(|_| in_worktree);
    match agent {
        Some(agent) => Err(Failure::not_allowed(
            &format!("this is the worktree of `{agent}`, and an agent may not decide"),
            hint,
        )),
        None => Ok(()),
    }
}

/// Shows what is asked and asks, on a terminal.
fn ask(pending: &Pending) -> Result<(Action, Option<Value>), Failure> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage("no action was given", "say approve, reject, edit or respond"));
    }
    let view = agentic_view::PendingView::new(pending, pending.hold.asked_at);
    talk(&format!("{} asks: {}", view.agent, view.question.as_deref().unwrap_or(&view.kind)));
    let payload = serde_json::to_string_pretty(&view.payload).expect("views have text keys");
    talk(&payload);
    talk(&format!("[{}]? ", view.actions.join("/")));
    let answer = read_line()?;
    let action = Action::parse(answer.trim()).ok_or_else(|| {
        Failure::usage(&format!("`{}` is no action", answer.trim()), "nothing was decided")
    })?;
    if !matches!(action, Action::Edit | Action::Respond) {
        return Ok((action, None));
    }
    talk("value as JSON: ");
    let value = json::from_text(read_line()?.trim())
        .map_err(|error| Failure::schema(&error.to_string(), "nothing was decided"))?;
    Ok((action, Some(value)))
}

fn read_line() -> Result<String, Failure> {
    // The question stands on the terminal before the answer is read.
    let _ = std::io::stderr().flush();
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    read.map_err(|error| Failure::io("read the answer", &error))?;
    Ok(line)
}

fn action(text: &str) -> Result<Action, String> {
    Action::parse(text).ok_or_else(|| "say approve, reject, edit or respond".to_owned())
}

fn json_value(text: &str) -> Result<Value, String> {
    json::from_text(text).map_err(|error| error.to_string())
}
