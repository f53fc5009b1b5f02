//! Which engine keeps durable runs.
//!
//! `local:` is the embedded one in the repository of the current folder, `local:DIR` that of
//! another. Verbs speak to either as to any [`DurableEngine`].

use std::path::PathBuf;

use agentic_api::Refusal;
use agentic_session::SessionSpace;

use crate::context::Context;
use crate::failure::CommandFailure;

/// What the embedded engine is called.
const LOCAL: &str = "local:";

/// Where durable runs are kept.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct Address {
    /// Where durable runs are kept: local: for this repository, local:DIR for another
    #[arg(long, value_name = "ADDRESS")]
    pub sibyl_addr: Option<String>,
}

/// An engine that can be reached.
pub struct ReachedEngine {
    space: SessionSpace,
}

impl Address {
    /// Finds the engine.
    pub fn reach(&self, context: &Context) -> Result<ReachedEngine, CommandFailure> {
        let space = self.context(context)?.watched_space()?;
        Ok(ReachedEngine { space })
    }

    /// Returns the settings of verbs where the engine is.
    fn context(&self, context: &Context) -> Result<Context, CommandFailure> {
        let folder = match self.sibyl_addr.as_deref() {
            None => PathBuf::new(),
            Some(address) => match address.strip_prefix(LOCAL) {
                Some(folder) => PathBuf::from(folder),
                None => return Err(unreachable(address).into()),
            },
        };
        Ok(context.at(match folder.as_os_str().is_empty() {
            true => context.directory.clone(),
            false => context.directory.join(folder),
        }))
    }
}

impl ReachedEngine {
    /// Returns the space that the engine keeps its runs in.
    pub fn space(&self) -> &SessionSpace {
        &self.space
    }
}

fn unreachable(address: &str) -> Refusal {
    Refusal::unreachable(
        &format!("there is no engine at `{address}`"),
        "this program has the embedded engine only: use `--sibyl-addr local:`, or leave it out",
    )
}
