//! Programs that speak to the page in a protocol of their own.

use std::process::ExitCode;
use std::sync::Arc;

use agentic_api::view::{ServeRevokeView, ServeTokenView};
use agentic_api::{PageFinder, Refusal, Surroundings};
use agentic_mcp::{DecidingAccess, HttpAnswer, HttpHeads, McpAccess, McpHttp, WriteAccess};
use agentic_model::AgentName;
use agentic_resident::{Resident, TokenBook, TokenGrant};
use agentic_web::{MountedProtocol, ProtocolAnswer, ProtocolRequest};

use crate::commands::{VerbOutcome, agent_name};
use crate::context::{Context, ServedPage};
use crate::failure::CommandFailure;
use crate::output::talk;

/// What a token is for.
#[derive(Debug, clap::Args)]
pub struct TokenArgs {
    /// What it is called, such as the program that has it
    #[arg(value_parser = token_name)]
    name: String,
    /// The agent that writes are made as; none without
    #[arg(long, value_name = "A", value_parser = agent_name)]
    agent: Option<AgentName>,
    /// Only read
    #[arg(long)]
    read_only: bool,
    /// Take it back
    #[arg(long, conflicts_with_all = ["agent", "read_only"])]
    revoke: bool,
}

fn token_name(text: &str) -> Result<String, String> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    match (1..=64).contains(&text.len()) && text.chars().all(is_name) {
        true => Ok(text.to_owned()),
        false => Err("a name has letters, digits, `-`, `_` and `.`, at most 64".to_owned()),
    }
}

/// Makes a token, or takes one back.
pub fn run(context: &Context, args: TokenArgs) -> VerbOutcome {
    let space = context.space_as_is()?;
    context.caller(&space).require_person("let programs in")?;
    let book = TokenBook::of(space.repository().layout());
    let refused = |error| Refusal::of(&error);
    if args.revoke {
        return match book.revoke(&args.name).map_err(refused)? {
            true => {
                talk(&format!("took the token `{}` back", args.name));
                let view = ServeRevokeView { name: args.name, revoked: true };
                context.format.answer_told(&view);
                Ok(ExitCode::SUCCESS)
            }
            false => Err(CommandFailure::refused(
                &format!("there is no token `{}`", args.name),
                "`agentic serve token NAME` makes one",
            )),
        };
    }
    if let Some(agent) = &args.agent {
        space.head(agent)?;
    }
    let agent = args.agent.map(|agent| agent.to_string());
    let grant = TokenGrant { name: args.name, agent, read_only: args.read_only };
    let token = book.issue(grant.clone()).map_err(refused)?;
    let TokenGrant { name, agent, read_only } = grant;
    let view = ServeTokenView { name, agent, read_only, token };
    context.format.answer(&view, |view| view.token.clone());
    talk("hint: this is the only time that it is shown; `agentic serve --mcp` serves `/mcp`");
    Ok(ExitCode::SUCCESS)
}

/// Makes what answers programs in the Model Context Protocol.
pub fn protocol(context: &Context, resident: &Resident) -> Result<MountedProtocol, CommandFailure> {
    // What the person had chosen for their own commands is not the agent of a program.
    let page = Some(Arc::new(ServedPage) as Arc<dyn PageFinder>);
    let folder = context.directory.clone();
    let mut here = Surroundings { folder, page, ..Surroundings::default() };
    here.watcher.stop = resident.options.stop.clone();
    let mcp = McpHttp::new(Arc::clone(&resident.space), here);
    let mcp = mcp.map_err(|error| Refusal::of(&error))?;
    let mcp = Arc::new(mcp);
    Ok(MountedProtocol::new(move |request: ProtocolRequest| {
        let mcp = Arc::clone(&mcp);
        let grant = &request.grant;
        let access = McpAccess {
            agent: grant.agent.as_ref().and_then(|agent| AgentName::parse(agent).ok()),
            writes: if grant.read_only { WriteAccess::ReadOnly } else { WriteAccess::Own },
            deciding: DecidingAccess::Never,
        };
        let heads = HttpHeads {
            revision: request.head("mcp-protocol-version"),
            method: request.head("mcp-method"),
            name: request.head("mcp-name"),
        };
        async move {
            match mcp.answer(access, heads, request.body).await {
                HttpAnswer::Message { status, body } => ProtocolAnswer::Json(status, body),
                HttpAnswer::Taken => ProtocolAnswer::Taken,
                HttpAnswer::Stream(events) => ProtocolAnswer::Events(events),
            }
        }
    }))
}
