//! `agentic decide`

mod choice;
mod prompt;
mod reply;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use agentic_api::principal;
use agentic_api::view::interop::Protocol;
use agentic_api::view::question::RENDERER;
use agentic_api::view::{DecideView, PendingView};
use agentic_model::{Value, json};
use agentic_session::decide::{
    Action, ApprovalScope, COMMAND_LINE, Decided, Decision, Draft, Shown, decide, proposed,
};
use agentic_session::engine::request_at;
use agentic_session::error::DecisionError;
use agentic_session::hold::{Filter, Named, Pending, find_hold, winner};
use agentic_session::outlook::outlook;
use agentic_session::{Error, SessionSpace, find_run, go_on};
use clap::ValueEnum;

use super::Outcome;
use super::pending::{hint_unattended, paragraph};
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
    /// A request as `agentic pending` prints it, an agent with one open hold, or the key of a run
    ///
    /// Without one it lists what is open.
    request: Option<String>,
    /// approve, reject, edit or respond
    #[arg(value_parser = action)]
    action: Option<Action>,
    /// The value, where the action takes one
    #[arg(long, value_name = "JSON", value_parser = json_value)]
    value: Option<Value>,
    /// One of the choices that are offered: accept, reject or another
    #[arg(long, value_name = "CHOICE", conflicts_with_all = ["action", "value"])]
    choice: Option<String>,
    /// The node of a pipeline that asks, where the run has several holds
    #[arg(long, value_name = "NODE", conflicts_with = "from")]
    hold: Option<String>,
    /// Make an unverified decision your own
    #[arg(long, value_name = "OID", conflicts_with_all = ["action", "value", "choice"])]
    accept: Option<String>,
    /// For how long an approval counts: once, or rest-of-session
    ///
    /// With rest-of-session this session may from now on do the same kind of effect with the same
    /// program without asking; `agentic pending REQUEST` says what exactly. Of a line for the shell
    /// that is more than one plain command, that very line. A fork asks anew.
    #[arg(long, value_name = "SCOPE", value_parser = scope, conflicts_with = "choice")]
    scope: Option<ApprovalScope>,
    /// Why
    #[arg(short, long, value_name = "WHY", default_value = "")]
    message: String,
    /// Refuse unless the request has this hash
    #[arg(long, value_name = "HASH")]
    expect: Option<String>,
    /// Who decides, such as user:ada
    #[arg(long, value_name = "PRINCIPAL", visible_alias = "as")]
    by: Option<String>,
    /// Decide only: the session runs on elsewhere
    #[arg(long)]
    only: bool,
    /// Read the answers of a client from standard input, in this form
    #[arg(long, value_name = "FORMAT", conflicts_with_all =
        ["request", "action", "value", "choice", "accept", "scope", "message", "expect", "only"])]
    from: Option<Form>,
}

/// The forms of answers.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Form {
    /// What an MCP client sends back
    Mcp,
    /// An A2A message
    A2a,
}

/// What a person answers.
struct Said {
    action: Action,
    value: Option<Value>,
    why: String,
    shown: Option<Shown>,
    accepts: Option<(agentic_model::Oid, String)>,
}

/// Runs the verb.
pub fn run(context: &Context, args: Args) -> Outcome {
    let space = context.watched_space()?;
    context.caller(&space).require_person("decide")?;
    let principal = match &args.by {
        Some(principal) => principal.clone(),
        None => principal(&space)?,
    };
    match args.from {
        Some(Form::Mcp) => return reply::run(context, &space, Protocol::Mcp, principal),
        Some(Form::A2a) => return reply::run(context, &space, Protocol::A2a, principal),
        None => {}
    }
    if args.request.is_none() {
        return list(context, &space, &args);
    }
    if let Some(choice) = &args.choice {
        return choice::run(context, &space, &args, (choice, principal));
    }
    let pending = match named(&space, &args)? {
        Named::Open(pending) => *pending,
        Named::Decided { session, id, commit, decision, cancelled_by } => {
            let request = session.short_request(&id);
            let earlier = Earlier { request, session, commit, decision, cancelled_by };
            // The name of an agent does not say which question was meant.
            let is_named = args.request.as_ref().is_some_and(|request| request.contains('.'));
            let action = args.action.filter(|_| is_named);
            let scope = args.scope.unwrap_or_default();
            let answer = RepeatedAnswer { action, value: args.value, scope };
            return repeated(context, &space, &answer, &principal, earlier);
        }
    };
    let said = said(&space, &pending, &args)?;
    let draft = Draft {
        action: said.action,
        value: said.value,
        scope: args.scope.unwrap_or_default(),
        rationale: said.why,
        expect: args.expect,
        principal,
        client: COMMAND_LINE,
        shown: said.shown,
        accepts: said.accepts,
    };
    let done = match decide(&space, &pending, &draft) {
        Ok(done) => done,
        Err(error) => {
            if matches!(error, Error::Decision(DecisionError::HoldExpired { .. })) {
                // The session records the expiry and goes on; then it can be said who won.
                go_on(&space, &pending.hold.session)?;
                open_hold(&space, &pending.hold.session.short_request(&pending.hold.id))?;
            }
            return Err(error.into());
        }
    };
    told(context, &space, (&pending, &done), args.only)
}

/// Tells the human at once, and lets the session go on.
fn told(
    context: &Context,
    space: &SessionSpace,
    (pending, done): (&Pending, &Decided),
    only: bool,
) -> Outcome {
    warn_deferred(&done.written);
    // The human is told at once; what follows is the session's.
    if context.format == Format::Text {
        print_text(&format!("{} {}", done.decision.action.name(), done.commit));
    }
    let follows = if only { Ok(()) } else { go_on(space, &done.session) };
    space.take_mended().iter().for_each(|what| talk(what));
    let stopped = match follows {
        // The answer could not be recorded, or what comes after: whoever opens the session next does.
        Err(Error::Space(agentic_space::Error::Store(fault))) if fault.is_fault() => {
            Some(Failure::refused(
                &format!("the decision is committed; the session cannot go on: {fault}"),
                "when that is mended, `agentic session resume` or any other command goes on with it",
            ))
        }
        Err(error) => {
            warn(&format!("the decision stands; the session cannot go on: {error}"));
            None
        }
        Ok(()) => None,
    };
    if context.format == Format::Json {
        let request = pending.hold.session.short_request(&pending.hold.id);
        let commit = done.commit.to_string();
        show(context, space, &request, &done.decision, commit, &done.session)?;
    }
    stopped.map_or(Ok(ExitCode::SUCCESS), Err)
}

/// Lists what is open, for whoever did not say what to decide.
fn list(context: &Context, space: &SessionSpace, args: &Args) -> Outcome {
    let decides = args.action.is_some() || args.choice.is_some() || args.accept.is_some();
    if decides || args.value.is_some() || args.hold.is_some() {
        return Err(Failure::usage("no request was named", "`agentic pending` lists what is open"));
    }
    let now = space.now();
    let found = outlook(space, &Filter::default())?;
    hint_unattended(&found.unattended);
    let views: Vec<PendingView> =
        found.holds.iter().map(|one| PendingView::new(one, now)).collect();
    context.format.answer(views.as_slice(), |views| match views {
        [] => "nothing waits for a human\n".to_owned(),
        views => views.iter().map(paragraph).collect(),
    });
    Ok(ExitCode::SUCCESS)
}

/// Finds the open hold that a text names; one that was decided is an error that says by whom.
pub(super) fn open_hold(space: &SessionSpace, name: &str) -> Result<Pending, Failure> {
    match named_so(space, name)? {
        Named::Open(pending) => Ok(*pending),
        Named::Decided { session, id, commit, decision, cancelled_by } => {
            let request = session.short_request(&id);
            let earlier = Earlier { request, session, commit, decision, cancelled_by };
            Err(overtaken(space, earlier).into())
        }
    }
}

/// Finds the hold that the arguments name.
fn named(space: &SessionSpace, args: &Args) -> Result<Named, Failure> {
    let request = args.request.as_deref().unwrap_or_default();
    if let Some(node) = &args.hold {
        let run = find_run(space, request)?;
        return Ok(find_hold(space, &request_at(space, &run, node)?)?);
    }
    named_so(space, request)
}

fn named_so(space: &SessionSpace, request: &str) -> Result<Named, Failure> {
    find_hold(space, request).or_else(|error| {
        // The key of a run stands for its agent; anything else is told as it was said.
        let run = find_run(space, request).and_then(|id| space.session(&id));
        Ok(find_hold(space, run.map_err(|_| error)?.agent.as_str())?)
    })
}

/// Takes the answer from the arguments, from the decision that is accepted, or from the person.
fn said(space: &SessionSpace, pending: &Pending, args: &Args) -> Result<Said, Failure> {
    let (why, shown, accepts) = (args.message.clone(), None, None);
    if let Some(oid) = &args.accept {
        let commit = space.repository().resolve_commit(oid)?;
        let proposed = proposed(space, pending, commit)?;
        let why = if why.is_empty() { proposed.rationale } else { why };
        let (action, value) = (proposed.action, proposed.value);
        return Ok(Said { action, value, why, shown, accepts: Some((commit, proposed.principal)) });
    }
    if let Some(action) = args.action {
        return Ok(Said { action, value: args.value.clone(), why, shown, accepts });
    }
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Failure::usage("no action was given", "say approve, reject, edit or respond"));
    }
    let view = PendingView::new(pending, pending.hold.asked_at);
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr().lock());
    let at = space.now();
    let asked = prompt::ask(&view, &mut input, &mut output)?;
    let why = if why.is_empty() { asked.why } else { why };
    let shown = Some(Shown { hash: asked.shown, renderer: RENDERER, at });
    Ok(Said { action: asked.action, value: asked.value, why, shown, accepts })
}

/// What was decided before.
struct Earlier {
    request: String,
    session: agentic_replay::SessionId,
    commit: Option<agentic_model::Oid>,
    decision: Option<Box<Decision>>,
    cancelled_by: Option<String>,
}

/// An answer to what was decided before.
struct RepeatedAnswer {
    action: Option<Action>,
    value: Option<Value>,
    scope: ApprovalScope,
}

/// Says who was first; the same principal repeating the same answer succeeds.
fn repeated(
    context: &Context,
    space: &SessionSpace,
    answer: &RepeatedAnswer,
    principal: &str,
    earlier: Earlier,
) -> Outcome {
    if let (Some(decision), Some(commit)) = (&earlier.decision, earlier.commit) {
        let same = answer.action == Some(decision.action)
            && answer.value == decision.value
            && Some(answer.scope) == decision.scope();
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
    Err(overtaken(space, earlier).into())
}

/// Says who was first, or that nobody was in time.
fn overtaken(space: &SessionSpace, earlier: Earlier) -> Error {
    let (principal, action) = winner(earlier.decision.as_deref(), earlier.cancelled_by.as_deref());
    let commit = earlier.commit;
    if action == "expire" {
        let recorded = earlier.decision.as_ref().and_then(|decision| decision.deadline());
        return Error::Decision(DecisionError::HoldExpired {
            request: earlier.request,
            deadline: recorded.unwrap_or(space.now()),
            value: earlier.decision.and_then(|decision| decision.value),
            commit,
        });
    }
    Error::Decision(DecisionError::AlreadyDecided {
        request: earlier.request,
        principal,
        action,
        commit,
    })
}

fn show(
    context: &Context,
    space: &SessionSpace,
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
        state: summary.state.as_str().to_owned(),
        session: session.to_string(),
    };
    context.format.answer(&view, |view| view.commit.clone());
    Ok(())
}

fn action(text: &str) -> Result<Action, String> {
    Action::parse(text).ok_or_else(|| "say approve, reject, edit or respond".to_owned())
}

fn scope(text: &str) -> Result<ApprovalScope, String> {
    ApprovalScope::parse(text).ok_or_else(|| "say once or rest-of-session".to_owned())
}

fn json_value(text: &str) -> Result<Value, String> {
    json::from_text(text).map_err(|error| error.to_string())
}
