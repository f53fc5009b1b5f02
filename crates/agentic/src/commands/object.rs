//! `agentic object …`

use std::process::ExitCode;

use agentic_api::view::{CidView, PutView};
use agentic_model::{AgentName, Object, Value, json};
use clap::Subcommand;

use super::{Outcome, agent_name};
use crate::context::{Context, read_file_or_stdin};
use crate::failure::Failure;
use crate::output::{print_bytes, print_raw, warn_deferred};

/// Store and read typed objects
#[derive(Debug, Subcommand)]
pub enum Verb {
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
pub fn run(context: &Context, verb: Verb) -> Outcome {
    match verb {
        Verb::Put { file, agent, cbor } => {
            let object = read(&file, cbor)?;
            let space = context.space()?;
            let agent = context.agent(&space, agent.as_ref())?;
            warn_deferred(&space.put_object(&agent, &object)?);
            context.format.answer(&PutView::new(&object, &agent), |view| view.cid.clone());
        }
        Verb::Get { cid, cbor } => {
            let space = context.space()?;
            let object = space.object(space.find_object(&cid)?)?;
            match cbor {
                true => print_bytes(object.bytes()),
                false => print_raw(&json::to_text(&Value::Map(object.map().clone()))),
            }
        }
        Verb::Cid { file, cbor } => {
            let object = read(&file, cbor)?;
            context.format.answer(&CidView::from(&object), |view| view.cid.clone());
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn read(file: &str, cbor: bool) -> Result<Object, Failure> {
    let bytes = read_file_or_stdin(file)?;
    let refuse = |error: agentic_model::object::ObjectError| agentic_session::Error::from(error);
    if cbor {
        return Ok(Object::decode(&bytes).map_err(refuse)?);
    }
    let hint = "give a JSON map such as {\"type\": \"plan\", \"steps\": []}";
    let text = std::str::from_utf8(&bytes)
        .map_err(|_| Failure::schema("the object is not UTF-8 text", hint))?;
    let value = json::from_text(text).map_err(|error| Failure::schema(&error.to_string(), hint))?;
    Ok(Object::from_value(value).map_err(refuse)?)
}
