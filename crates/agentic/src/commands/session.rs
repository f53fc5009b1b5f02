//! `agentic session …`

use std::process::ExitCode;

use agentic_diag::Source;
use agentic_model::{AgentName, Cid, Object, Value, json};
use agentic_replay::record::CancelMode;
use agentic_replay::{Path, SessionId};
use agentic_space::Space;
use agentic_space::session::{self, Begin, ForkPlan, State, Summary, Verdict};
use agentic_view::{DiffView, SessionView, VerdictView, VerifyView};
use clap::Subcommand;

use super::{Outcome, agent_name};
use crate::context::Context;
use crate::failure::Failure;
use crate::language::Language;
use crate::output::talk;
use crate::program::{Checked, Program};

/// Run flows durably on behalf of agents
#[derive(Debug, Subcommand)]
pub enum Verb {
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
        #[arg(long, value_name = "FILE|CID")]
        flow: String,
        /// The input
        #[arg(long, value_name = "JSON", default_value = "null", value_parser = json_value)]
        input: Value,
        /// The start key; a fresh one without
        #[arg(long, value_name = "K")]
        key: Option<String>,
        /// A kind of effect that it may perform unasked; * for all
        #[arg(long, value_name = "KIND", num_args = 1..)]
        allow: Vec<String>,
    },
    /// Finish what a crash left of a session, and run it as far as it goes
    ///
    /// Example: agentic session resume fix-auth
    #[command(verbatim_doc_comment)]
    Resume {
        /// An id or a prefix of it, or an agent
        session: String,
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
        /// Set the answer of a request by hand, as PATH=JSON; may be repeated
        #[arg(long, value_name = "PATH=JSON", value_parser = setting)]
        set: Vec<(Path, Value)>,
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
    /// Fire timers that are due and expire holds, in all sessions
    ///
    /// Example: agentic session tick
    #[command(verbatim_doc_comment)]
    Tick,
}

/// Runs the verb.
pub fn run(context: &Context, verb: Verb) -> Outcome {
    let space = context.space()?;
    match verb {
        Verb::Start { agent, flow, input, key, allow } => {
            let flow = flow_of(context, &space, &flow)?;
            let key = key.unwrap_or_else(|| fresh_key(&space));
            let id = session::start(&space, Begin { agent, flow, input, key, allow })?;
            answer(context, &space, &id)
        }
        Verb::Resume { session } => {
            let id = space.find_session(&session)?;
            session::resume(&space, &id)?;
            answer(context, &space, &id)
        }
        Verb::Show { session, at } => show(context, &space, &session, at),
        Verb::List { agent } => list(context, &space, agent.as_ref()),
        Verb::Diff { left, right } => diff(context, &space, &left, &right),
        Verb::Fork { session, at, flow, agent, set } => {
            let id = space.find_session(&session)?;
            let flow = flow.map(|flow| flow_of(context, &space, &flow)).transpose()?;
            let plan = ForkPlan { at, flow, agent, set, who: principal(&space)? };
            let id = session::fork(&space, &id, &plan)?;
            answer(context, &space, &id)
        }
        Verb::Upgrade { session, flow } => {
            let id = space.find_session(&session)?;
            session::upgrade(&space, &id, &flow_of(context, &space, &flow)?)?;
            answer(context, &space, &id)
        }
        Verb::Replay { session, all: _, flow } => {
            let flow = flow.map(|flow| flow_of(context, &space, &flow)).transpose()?;
            let ids = match session {
                Some(session) => vec![space.find_session(&session)?],
                None => space.sessions()?,
            };
            replay(context, &space, &ids, flow.as_ref())
        }
        Verb::Verify { session, rebuild } => verify(context, &space, &session, rebuild),
        Verb::Cancel { session, kill, message } => {
            let id = space.find_session(&session)?;
            let mode = if kill { CancelMode::Kill } else { CancelMode::Cooperative };
            session::cancel(&space, &id, mode, &principal(&space)?, &message)?;
            let summary = space.session(&id)?;
            context.format.answer(&SessionView::whole(&summary), |_| line(&summary));
            Ok(ExitCode::SUCCESS)
        }
        Verb::Tick => {
            let moved = session::tick(&space)?;
            let views = summaries(&space, &moved)?;
            context.format.answer(views.as_slice(), |views| views.iter().map(brief_line).collect());
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// Returns who the person at the command line is: `user:` and the local part of git's address.
pub fn principal(space: &Space) -> Result<String, Failure> {
    let person = space.repository().committer()?;
    let local = person.email.split('@').next().filter(|local| !local.is_empty());
    Ok(format!("user:{}", local.unwrap_or(&person.name)))
}

/// Prints how a session stands, and returns its exit code.
pub fn answer(context: &Context, space: &Space, id: &SessionId) -> Outcome {
    let summary = space.session(id)?;
    space.take_mended().iter().for_each(|what| talk(what));
    context.format.answer(&SessionView::whole(&summary), |_| line(&summary));
    for hold in &summary.holds {
        let request = summary.id.short_request(&hold.id);
        talk(&format!(
            "held: `agentic decide {request} approve` or `reject`; `agentic pending` shows what is asked"
        ));
    }
    if let Some(failure) = &summary.failure {
        talk(&format!("error: {}: {}", failure.code, failure.message));
        talk("hint: `agentic session show` shows every request and answer");
    }
    Ok(exit_code(space, &summary))
}

/// A session that waits for a held child is held too.
fn exit_code(space: &Space, summary: &Summary) -> ExitCode {
    match summary.state {
        State::Done | State::Running => ExitCode::SUCCESS,
        State::Waiting if summary.until.is_none() && has_held_child(space, summary) => {
            ExitCode::from(4)
        }
        State::Waiting => ExitCode::SUCCESS,
        State::Held => ExitCode::from(4),
        State::Failed | State::Cancelled => ExitCode::from(1),
    }
}

fn has_held_child(space: &Space, summary: &Summary) -> bool {
    let prefix = format!("child {} ", summary.id);
    let all = space.sessions().unwrap_or_default();
    all.iter().filter_map(|id| space.session(id).ok()).any(|child| {
        child.key.starts_with(&prefix) && exit_code(space, &child) == ExitCode::from(4)
    })
}

fn line(summary: &Summary) -> String {
    brief_line(&SessionView::brief(summary))
}

fn brief_line(view: &SessionView) -> String {
    let result = view.result.as_ref().map(|result| format!(" {result}")).unwrap_or_default();
    let until = view.until.as_ref().map(|until| format!(" until {until}")).unwrap_or_default();
    let error = view.error.as_ref().map(|error| format!(" {}", error.message)).unwrap_or_default();
    format!("{} {}{result}{until}{error}\n", &view.session[..12], view.state)
}

fn show(context: &Context, space: &Space, session: &str, at: Option<u64>) -> Outcome {
    let id = space.find_session(session)?;
    let summary = match at {
        Some(at) => space.session_at(&id, at)?,
        None => space.session(&id)?,
    };
    context.format.answer(&SessionView::whole(&summary), |view| {
        let mut text = line(&summary);
        for request in view.requests.iter().flatten() {
            let answer =
                request.answer.as_ref().map_or("open".to_owned(), |answer| answer.to_string());
            text.push_str(&format!(
                "  {} {} {} → {answer}\n",
                request.path, request.kind, request.payload
            ));
        }
        text
    });
    Ok(ExitCode::SUCCESS)
}

fn list(context: &Context, space: &Space, agent: Option<&AgentName>) -> Outcome {
    let mut views = summaries(space, &space.sessions()?)?;
    views.retain(|view| agent.is_none_or(|agent| view.agent == agent.as_str()));
    context.format.answer(views.as_slice(), |views| {
        let line = |view: &SessionView| format!("{} {}", view.agent, brief_line(view));
        views.iter().map(line).collect()
    });
    Ok(ExitCode::SUCCESS)
}

fn summaries(space: &Space, ids: &[SessionId]) -> Result<Vec<SessionView>, Failure> {
    let mut views = Vec::new();
    for id in ids {
        match space.session(id) {
            Ok(summary) => views.push(SessionView::brief(&summary)),
            Err(error) => views.push(SessionView::corrupt(id, &error.to_string())),
        }
    }
    Ok(views)
}

fn diff(context: &Context, space: &Space, left: &str, right: &str) -> Outcome {
    let (left, right) = (space.find_session(left)?, space.find_session(right)?);
    let found = session::diff(space, &left, &right)?;
    context.format.answer(&DiffView::new(found.as_ref()), |view| match view.at {
        None => "same".to_owned(),
        Some(at) => {
            let side = |side: &Option<serde_json::Value>| {
                side.as_ref().map_or("(nothing)".to_owned(), ToString::to_string)
            };
            format!("record {at} differs\n- {}\n+ {}\n", side(&view.left), side(&view.right))
        }
    });
    Ok(ExitCode::SUCCESS)
}

fn replay(context: &Context, space: &Space, ids: &[SessionId], flow: Option<&Object>) -> Outcome {
    let mut views = Vec::new();
    let mut code = 0;
    for id in ids {
        let verdict = session::replay(space, id, flow)?;
        code = code.max(match &verdict {
            Verdict::Same => 0,
            Verdict::Diverged(_) => 5,
            Verdict::Corrupt(_) => 6,
        });
        views.push(VerdictView::new(id.to_string(), &verdict));
    }
    context.format.answer(views.as_slice(), |views| {
        let line = |view: &VerdictView| {
            let reason =
                view.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            format!("{} {}{reason}\n", &view.session[..12], view.verdict)
        };
        views.iter().map(line).collect()
    });
    if code == 5 {
        talk("error: a program does something else than was recorded");
        talk(
            "hint: keep the pinned program, or fork before the record that differs with `agentic session fork --at N --flow F`",
        );
    }
    Ok(ExitCode::from(code))
}

fn verify(context: &Context, space: &Space, session: &str, rebuild: bool) -> Outcome {
    let id = space.find_session(session)?;
    let summary = space.session(&id)?;
    match session::replay(space, &id, None)? {
        Verdict::Same => {}
        Verdict::Diverged(divergence) => {
            return Err(agentic_space::Error::Diverged { id: id.short(), divergence }.into());
        }
        Verdict::Corrupt(reason) => {
            let what = format!("session {}", id.short());
            return Err(agentic_store::Error::corrupt(what, reason).into());
        }
    }
    let rebuilt = match rebuild {
        false => None,
        true => {
            let folder =
                std::env::temp_dir().join(format!("agentic-rebuild-{}", std::process::id()));
            let made = session::rebuild(space, &id, &folder);
            // What was made for the comparison alone goes with it.
            let _ = std::fs::remove_dir_all(&folder);
            Some(made?.iter().map(ToString::to_string).collect())
        }
    };
    let view = VerifyView {
        session: id.to_string(),
        records: summary.n_records,
        chain: summary.chain.to_string(),
        rebuilt,
    };
    context.format.answer(&view, |view| {
        let rebuilt = view.rebuilt.as_ref().map(|made| format!(", {} commits rebuilt", made.len()));
        format!(
            "{} {} records sound{}",
            &view.session[..12],
            view.records,
            rebuilt.unwrap_or_default()
        )
    });
    Ok(ExitCode::SUCCESS)
}

/// Reads a flow: a stored one by its id, else a file, which must parse.
fn flow_of(context: &Context, space: &Space, text: &str) -> Result<Object, Failure> {
    if text.starts_with(Cid::PREFIX) {
        let cid = space.find_object(text)?;
        return Ok(space.object(cid)?);
    }
    let program = Program::read(context, text, Some(Language::Rhai))?;
    let source = Source::new(text, program.text()?);
    let findings = agentic_flow::check(source.text());
    if let Some(first) = findings.first().cloned() {
        if context.format == crate::output::Format::Text {
            Checked::of(source, findings).show();
        }
        return Err(Failure::refused(
            &format!("the flow `{text}` does not parse: {}", first.message),
            "`agentic flow check FILE` shows where",
        ));
    }
    Ok(session::flow_object(source.text())?)
}

/// A key that no other start has: two starts without a key are two sessions.
pub fn fresh_key(space: &Space) -> String {
    format!(
        "{}-{}-{}",
        space.now().millis(),
        std::process::id(),
        space.sessions().map_or(0, |all| all.len())
    )
}

fn json_value(text: &str) -> Result<Value, String> {
    json::from_text(text).map_err(|error| error.to_string())
}

fn setting(text: &str) -> Result<(Path, Value), String> {
    let (path, value) = text.split_once('=').ok_or("a setting is PATH=JSON")?;
    let path = Path::parse(path).map_err(|error| error.to_string())?;
    Ok((path, json_value(value)?))
}
