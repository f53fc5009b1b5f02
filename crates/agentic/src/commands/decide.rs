//! `agentic decide`

mod prompt;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use agentic_api::verb::{AfterDecision, Decide, DecideFrom, HoldAnswer, HoldQuestion};
use agentic_api::verb::{PendingHolds, SeenQuestion};
use agentic_api::view::AnsweredView;
use agentic_api::view::interop::Protocol;
use agentic_api::{Caller, Verb as _};
use agentic_model::{Instant, Value, json};
use agentic_session::decide::{Action, ApprovalScope};
use clap::ValueEnum;

use super::pending::paragraph;
use super::{VerbOutcome, ended};
use crate::context::{Context, read_stdin};
use crate::failure::CommandFailure;
use crate::output::{Format, print_text, warn_of};

/// Answer a hold; the answer is a commit on the agent's branch
///
/// On a terminal and without an action it shows what is asked, and asks.
///
/// Example: agentic decide fix-auth approve -m "looked at the diff"
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub struct DecideArgs {
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
    ///
    /// A hold of a peer's agent (`agentic pending --peer`) is decided like this: the decision is signed
    /// and kept, and leaves with the next `agentic push`.
    #[arg(long)]
    only: bool,
    /// For whom a hold of a peer is decided, such as user:ada
    #[arg(long = "for", value_name = "PERSON", requires_all = ["grant", "only"])]
    for_person: Option<String>,
    /// The capability by which that person lets you decide
    #[arg(long, value_name = "CID", requires_all = ["for_person", "only"])]
    grant: Option<String>,
    /// Read the answers of a client from standard input, in this form
    #[arg(long, value_name = "FORMAT", conflicts_with_all =
        ["request", "action", "value", "choice", "accept", "scope", "message", "expect", "only"])]
    from: Option<AnswerForm>,
}

/// The forms of answers.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum AnswerForm {
    /// What an MCP client sends back
    Mcp,
    /// An A2A message
    A2a,
}

/// Runs the verb.
pub fn run(context: &Context, args: DecideArgs) -> VerbOutcome {
    let space = context.watched_space()?;
    let caller = context.caller(&space);
    // Before anybody is asked.
    caller.require_person("decide")?;
    match args.from {
        Some(AnswerForm::Mcp) => return answers(context, &caller, Protocol::Mcp, args.by),
        Some(AnswerForm::A2a) => return answers(context, &caller, Protocol::A2a, args.by),
        None => {}
    }
    let Some(request) = args.request.clone() else { return list(context, &caller, &args) };
    let verb = match answer(&args) {
        Some(answer) => decision(args, request, answer),
        None => ask(&caller, args, request)?,
    };
    decide(context, &caller, verb)
}

/// Tells the human at once, and lets the session go on.
fn decide(context: &Context, caller: &Caller<'_>, verb: Decide) -> VerbOutcome {
    let recorded = verb.record(caller)?;
    warn_of(&recorded.notices);
    if context.format == Format::Text {
        print_text(&format!("{} {}", recorded.action, recorded.commit));
    }
    let followed = recorded.follow(caller);
    warn_of(&followed.notices);
    if context.format == Format::Text {
        recorded.next(caller).iter().for_each(|line| print_text(&format!("next: {line}")));
    }
    if context.format == Format::Json {
        context.format.answer(&recorded.view(caller)?, |view| view.commit.clone());
    }
    ended(followed.completion)
}

/// Takes the answer from the arguments; nothing, if the person is to be asked.
fn answer(args: &DecideArgs) -> Option<HoldAnswer> {
    let (value, scope) = (args.value.clone(), args.scope.unwrap_or_default());
    let chosen = args.choice.clone().map(HoldAnswer::Choice);
    let accepted = args.accept.clone().map(|commit| HoldAnswer::Accept { commit, scope });
    let acted = args.action.map(|action| HoldAnswer::Act { action, value, scope });
    chosen.or(accepted).or(acted)
}

fn decision(args: DecideArgs, request: String, answer: HoldAnswer) -> Decide {
    Decide {
        request,
        answer,
        node: args.hold,
        why: args.message,
        expect: args.expect,
        by: args.by,
        seen: None,
        then: if args.only { AfterDecision::Leave } else { AfterDecision::GoOn },
        for_person: args.for_person,
        grant: args.grant,
    }
}

/// Shows the person what is asked, and takes the answer.
fn ask(caller: &Caller<'_>, args: DecideArgs, request: String) -> Result<Decide, CommandFailure> {
    let shown = HoldQuestion { request, node: args.hold.clone() }.run(caller)?.answer;
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(CommandFailure::usage(
            "no action was given",
            "say approve, reject, edit or respond",
        ));
    }
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stderr().lock());
    let said = prompt::ask(&shown, &mut input, &mut output)?;
    let at = Instant::parse(&shown.at).expect("BUG: it was written as an instant");
    let (action, value) = (said.action, said.value);
    let answer = HoldAnswer::Act { action, value, scope: args.scope.unwrap_or_default() };
    // What was shown is decided, whatever the agent asks by now.
    let decision = Decide { node: None, ..decision(args, shown.hold.request, answer) };
    let why = if decision.why.is_empty() { said.why } else { decision.why };
    Ok(Decide { why, seen: Some(SeenQuestion { shown: shown.shown, at }), ..decision })
}

/// Applies the answers of a client on standard input.
fn answers(
    context: &Context,
    caller: &Caller<'_>,
    protocol: Protocol,
    by: Option<String>,
) -> VerbOutcome {
    let verb = DecideFrom::of_bytes(protocol, &read_stdin()?, by)?;
    let mut views = Vec::new();
    for reply in verb.apply(caller)? {
        let reply = reply?;
        warn_of(&reply.notices);
        views.push(reply.answer);
    }
    context.format.answer(views.as_slice(), |views| {
        let line = |view: &AnsweredView| match &view.commit {
            Some(commit) => format!("{} {commit}\n", view.action),
            None => format!("{} {}\n", view.action, view.request),
        };
        views.iter().map(line).collect()
    });
    Ok(ExitCode::SUCCESS)
}

/// Lists what is open, for whoever did not say what to decide.
fn list(context: &Context, caller: &Caller<'_>, args: &DecideArgs) -> VerbOutcome {
    if answer(args).is_some() || args.value.is_some() || args.hold.is_some() {
        return Err(CommandFailure::usage(
            "no request was named",
            "`agentic pending` lists what is open",
        ));
    }
    let reply = PendingHolds::default().run(caller)?;
    warn_of(&reply.notices);
    context.format.answer(reply.answer.as_slice(), |views| match views {
        [] => "nothing waits for a human\n".to_owned(),
        views => views.iter().map(paragraph).collect(),
    });
    Ok(ExitCode::SUCCESS)
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
