//! `agentic object …`

use std::process::ExitCode;

use agentic_api::verb::{ObjectCid, ObjectGet, ObjectPut, ObjectSource};
use agentic_api::{LocalVerb as _, Verb as _};
use agentic_model::AgentName;
use clap::Subcommand;

use super::{VerbOutcome, agent_name};
use crate::context::{Context, read_file_or_stdin};
use crate::failure::CommandFailure;
use crate::output::{print_bytes, print_raw, warn_of};

/// Store and read typed objects
#[derive(Debug, Subcommand)]
pub enum ObjectVerb {
    /// Store an object with an agent and print its id
    ///
    /// Example: echo '{"type":"plan","steps":[]}' | agentic object put --agent fix-auth
    #[command(verbatim_doc_comment)]
    Put {
        /// A file, or - for standard input
        #[arg(default_value = "-")]
        file: String,
        /// The agent; else AGENTIC_AGENT, else the current branch
        #[arg(long, value_name = "NAME", value_parser = agent_name)]
        agent: Option<AgentName>,
        /// The input is canonical DAG-CBOR, not JSON
        #[arg(long)]
        cbor: bool,
    },
    /// Print an object
    ///
    /// Example: agentic object get bafyr4icjtp
    #[command(verbatim_doc_comment)]
    Get {
        /// The id, or a unique prefix of ten or more characters
        cid: String,
        /// Print the canonical bytes, not JSON
        #[arg(long)]
        cbor: bool,
    },
    /// Print the id of an object without storing it
    ///
    /// Example: echo '{"type":"plan","steps":[]}' | agentic object cid
    #[command(verbatim_doc_comment)]
    Cid {
        /// A file, or - for standard input
        #[arg(default_value = "-")]
        file: String,
        /// The input is canonical DAG-CBOR, not JSON
        #[arg(long)]
        cbor: bool,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: ObjectVerb) -> VerbOutcome {
    match verb {
        ObjectVerb::Put { file, agent, cbor } => {
            let agent = agent.map(|agent| agent.to_string());
            let put = ObjectPut { object: read(&file, cbor)?, agent };
            let space = context.space()?;
            let reply = put.run(&context.caller(&space))?;
            warn_of(&reply.notices);
            context.format.answer(&reply.answer, |view| view.cid.clone());
        }
        ObjectVerb::Get { cid, cbor } => {
            let (get, space) = (ObjectGet { cid }, context.space()?);
            let caller = context.caller(&space);
            match cbor {
                true => print_bytes(get.read(&caller)?.bytes()),
                false => print_raw(&get.run(&caller)?.answer.0.to_string()),
            }
        }
        ObjectVerb::Cid { file, cbor } => {
            let cid = ObjectCid { object: read(&file, cbor)? };
            let found = cid.run_here(&context.surroundings())?.answer;
            context.format.answer(&found, |view| view.cid.clone());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &str, cbor: bool) -> Result<ObjectSource, CommandFailure> {
    let bytes = read_file_or_stdin(file)?;
    Ok(match cbor {
        true => ObjectSource::Canonical(bytes),
        false => ObjectSource::of_json(&bytes)?,
    })
}
