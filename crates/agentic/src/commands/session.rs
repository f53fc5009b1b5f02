//! `agentic session …`

use std::process::ExitCode;

use agentic_api::Verb as _;
use agentic_api::verb::{
    FlowSource, ForkedChildren, ReplaySessions, ScriptOutcome, SessionCancel, SessionDiff,
    SessionFork, SessionList, SessionResume, SessionShow, SessionSignal, SessionStart, SessionTick,
    SessionUpgrade, SessionVerify, SessionWatch, SetAnswer,
};
use agentic_model::{AgentName, Cid, Value, json};
use clap::{Subcommand, ValueEnum};

use self::show::{diff, list, replay, show, verify};
use self::watch::watch;
use super::{VerbOutcome, agent_name};
use crate::context::Context;
use crate::engine::Address;
use crate::failure::CommandFailure;
use crate::output::{Format, warn_of};
use crate::program::{show as show_findings, source};

mod show;
mod watch;

pub use self::show::{answer, brief_line};
pub use self::watch::print_record;

/// Run flows durably on behalf of agents
#[derive(Debug, Subcommand)]
pub enum SessionVerb {
    /// Start a session, and run it as far as it goes
    ///
    /// The same agent, flow, input and key give the same session.
    ///
    /// Example: agentic session start fix-auth --flow review.rhai --input '{"n":3}' --allow exec
    #[command(verbatim_doc_comment)]
    Start {
        /// The agent
        #[arg(value_parser = agent_name)]
        agent: AgentName,
        /// A file with the flow, or the id of a stored one
        #[arg(long, value_name = "FILE|CID", required_unless_present = "behaviour")]
        flow: Option<String>,
        /// The behaviour to run instead: a name, PEER/NAME, or an id
        #[arg(long, value_name = "B", conflicts_with = "flow")]
        behaviour: Option<String>,
        /// The input
        #[arg(long, value_name = "JSON", default_value = "null", value_parser = json_value)]
        input: Value,
        /// The start key; a fresh one without
        #[arg(long, value_name = "K")]
        key: Option<String>,
        /// A kind of effect that it may perform unasked; * for all
        #[arg(long, value_name = "KIND", num_args = 1..)]
        allow: Vec<String>,
        #[command(flatten)]
        address: Address,
    },
    /// Finish what a crash left of a session, and run it as far as it goes
    ///
    /// Example: agentic session resume fix-auth
    #[command(verbatim_doc_comment)]
    Resume {
        /// An id or a prefix of it, or an agent
        session: String,
        /// Take it from another engine that is gone for good, and go on from what is sealed of it
        #[arg(long)]
        take_over: bool,
    },
    /// Show a session with everything it asked
    ///
    /// Example: agentic session show fix-auth --at 3
    #[command(verbatim_doc_comment)]
    Show {
        /// An id or a prefix of it, or an agent
        session: String,
        /// As it stood after so many records
        #[arg(long, value_name = "N")]
        at: Option<u64>,
    },
    /// Follow a session: print each record as it is made, to its end
    ///
    /// Exits with 0 when it is done, with 1 when it has failed or was cancelled.
    ///
    /// Example: agentic session watch fix-auth --until-held
    #[command(verbatim_doc_comment)]
    Watch {
        /// An id or a prefix of it, or an agent
        session: String,
        /// Only until it waits for a human, or for somebody who could not be reached; then exits with 4
        #[arg(long)]
        until_held: bool,
    },
    /// List sessions, oldest first
    ///
    /// Example: agentic session list --agent fix-auth
    #[command(verbatim_doc_comment)]
    List {
        /// Only of this agent
        #[arg(long, value_name = "A", value_parser = agent_name)]
        agent: Option<AgentName>,
    },
    /// Name the first record in which two sessions differ
    ///
    /// Example: agentic session diff 1a2b3c4d 5e6f7a8b
    #[command(verbatim_doc_comment)]
    Diff {
        /// The one
        left: String,
        /// The other
        right: String,
    },
    /// Go another way from some point, on a branch of its own
    ///
    /// Example: agentic session fork fix-auth --set 2='{"status":0}'
    #[command(verbatim_doc_comment)]
    Fork {
        /// An id or a prefix of it, or an agent
        session: String,
        /// After so many records
        #[arg(long, value_name = "N")]
        at: Option<u64>,
        /// With another program
        #[arg(long, value_name = "FILE|CID")]
        flow: Option<String>,
        /// As this agent
        #[arg(long = "as", value_name = "AGENT", value_parser = agent_name)]
        agent: Option<AgentName>,
        /// Set an answer by hand, by the position of its request or its own; may be repeated
        #[arg(long, value_name = "N=JSON", value_parser = setting)]
        set: Vec<(u64, Value)>,
        /// What becomes of the children that it waits for
        #[arg(long, value_name = "HOW", default_value = "share")]
        children: ChildrenForm,
    },
    /// Go on with another program, if it made every recorded request
    ///
    /// Example: agentic session upgrade fix-auth --flow review-2.rhai
    #[command(verbatim_doc_comment)]
    Upgrade {
        /// An id or a prefix of it, or an agent
        session: String,
        /// The program
        #[arg(long, value_name = "FILE|CID")]
        flow: String,
    },
    /// Run sessions again from their records, compare, perform nothing
    ///
    /// Exits with 5 when one diverges.
    ///
    /// Example: agentic session replay --all --flow review-2.rhai
    #[command(verbatim_doc_comment)]
    Replay {
        /// An id or a prefix of it, or an agent
        #[arg(required_unless_present = "all", conflicts_with = "all")]
        session: Option<String>,
        /// All sessions
        #[arg(long)]
        all: bool,
        /// With another program
        #[arg(long, value_name = "FILE|CID")]
        flow: Option<String>,
    },
    /// Check a session's records, and replay it
    ///
    /// --rebuild makes its commits again in an empty repository and compares their ids.
    ///
    /// Example: agentic session verify fix-auth --rebuild
    #[command(verbatim_doc_comment)]
    Verify {
        /// An id or a prefix of it, or an agent
        session: String,
        /// Make its commits again
        #[arg(long)]
        rebuild: bool,
    },
    /// Stop a session, its children first
    ///
    /// Example: agentic session cancel fix-auth -m "not needed any more"
    #[command(verbatim_doc_comment)]
    Cancel {
        /// An id or a prefix of it, or an agent
        session: String,
        /// At once, without a chance to clean up
        #[arg(long)]
        kill: bool,
        /// Why
        #[arg(short, long, value_name = "WHY", default_value = "")]
        message: String,
    },
    /// Send a session what it waits for with `suspend(NAME)`
    ///
    /// What nobody waits for yet is kept until somebody does.
    ///
    /// Example: agentic session signal fix-auth deployed --value '{"at":"v1.2"}'
    #[command(verbatim_doc_comment)]
    Signal {
        /// An id or a prefix of it, or an agent
        session: String,
        /// The name
        #[arg(value_parser = signal_name)]
        name: String,
        /// The value
        #[arg(long, value_name = "JSON", default_value = "null", value_parser = json_value)]
        value: Value,
    },
    /// Fire timers that are due and expire holds, in all sessions
    ///
    /// Example: agentic session tick
    #[command(verbatim_doc_comment)]
    Tick,
}

/// What a fork makes of children.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ChildrenForm {
    /// It waits for the same ones
    Share,
    /// It has forks of its own of them
    Fork,
}

/// Runs the verb.
pub fn run(context: &Context, verb: SessionVerb) -> VerbOutcome {
    let space = context.watched_space()?;
    let caller = context.caller(&space);
    let named = |agent: Option<AgentName>| agent.map(|agent| agent.to_string());
    match verb {
        SessionVerb::Start { agent, flow, behaviour, input, key, allow, address } => {
            let agent = agent.to_string();
            let flow = match (flow, behaviour) {
                (Some(flow), _) => flow_of(context, flow)?,
                (None, behaviour) => FlowSource::Behaviour(behaviour.unwrap_or_default()),
            };
            let reached = address.or_configured(context)?.reach(context)?;
            let start = SessionStart { agent, flow, input, key, allow };
            let id = start.drive(&reached.caller(context))?;
            answer(context, reached.space(), &id)
        }
        SessionVerb::Resume { session, take_over } => {
            answer(context, &space, &SessionResume { session, take_over }.drive(&caller)?)
        }
        SessionVerb::Show { session, at } => show(context, &caller, SessionShow { session, at }),
        SessionVerb::Watch { session, until_held } => {
            let (after, patience_ms) = (None, None);
            watch(context, &space, SessionWatch { session, until_held, after, patience_ms })
        }
        SessionVerb::List { agent } => list(context, &caller, SessionList { agent: named(agent) }),
        SessionVerb::Diff { left, right } => diff(context, &caller, SessionDiff { left, right }),
        SessionVerb::Fork { session, at, flow, agent, set, children } => {
            let flow = flow.map(|flow| flow_of(context, flow)).transpose()?;
            let set = set.into_iter().map(|(seq, value)| SetAnswer { seq, value }).collect();
            let children = match children {
                ChildrenForm::Share => ForkedChildren::Share,
                ChildrenForm::Fork => ForkedChildren::Fork,
            };
            let fork = SessionFork { session, at, flow, agent: named(agent), set, children };
            answer(context, &space, &fork.drive(&caller)?)
        }
        SessionVerb::Upgrade { session, flow } => {
            let upgrade = SessionUpgrade { session, flow: flow_of(context, flow)? };
            answer(context, &space, &upgrade.drive(&caller)?)
        }
        SessionVerb::Replay { session, all: _, flow } => {
            let flow = flow.map(|flow| flow_of(context, flow)).transpose()?;
            replay(context, &caller, ReplaySessions { session, flow })
        }
        SessionVerb::Verify { session, rebuild } => {
            verify(context, &caller, SessionVerify { session, rebuild })
        }
        SessionVerb::Cancel { session, kill, message } => {
            let stopped = SessionCancel { session, kill, why: message }.run(&caller)?;
            warn_of(&stopped.notices);
            context.format.answer(&stopped.answer, brief_line);
            Ok(ExitCode::SUCCESS)
        }
        SessionVerb::Signal { session, name, value } => {
            let told = SessionSignal { session, name, value }.run(&caller)?.answer;
            context.format.answer(&told, brief_line);
            Ok(ExitCode::SUCCESS)
        }
        SessionVerb::Tick => {
            let reply = SessionTick {}.run(&caller)?;
            warn_of(&reply.notices);
            context
                .format
                .answer(reply.answer.as_slice(), |views| views.iter().map(brief_line).collect());
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Reads a flow: a stored one by its id, else a file, which must parse.
fn flow_of(context: &Context, text: String) -> Result<FlowSource, CommandFailure> {
    if text.starts_with(Cid::PREFIX) {
        return Ok(FlowSource::Stored(text));
    }
    let file = source(context, &text, None)?;
    match FlowSource::of_script(file, &context.surroundings())? {
        ScriptOutcome::Flow(flow) => Ok(flow),
        ScriptOutcome::Faulty(findings, refusal) => {
            if context.format == Format::Text {
                show_findings(&findings);
            }
            Err(refusal.into())
        }
    }
}

fn json_value(text: &str) -> Result<Value, String> {
    json::from_text(text).map_err(|error| error.to_string())
}

fn signal_name(text: &str) -> Result<String, String> {
    SessionSignal::fault_of_name(text).map_or_else(|| Ok(text.to_owned()), Err)
}

fn setting(text: &str) -> Result<(u64, Value), String> {
    let (seq, value) = text.split_once('=').ok_or("a setting is N=JSON")?;
    let seq = seq.parse().map_err(|_| "a position is a number".to_owned())?;
    Ok((seq, json_value(value)?))
}
