//! Which engine keeps durable runs.
//!
//! `local:` is the embedded one in the repository of the current folder, `local:DIR` that of
//! another. Verbs speak to either as to any [`DurableEngine`](agentic_replay::engine::DurableEngine).

#[cfg(feature = "temporal")]
mod server;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use agentic_api::view::ServedHoldView;
use agentic_api::{Caller, EngineFinder, Refusal, Surroundings};
use agentic_session::SessionSpace;

use crate::context::Context;
use crate::failure::CommandFailure;

#[cfg(feature = "temporal")]
pub use self::server::{ServerWork, set_up, work};

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
    /// Its address, where that is not the embedded one.
    address: Option<String>,
}

impl Address {
    /// Finds the engine.
    pub fn reach(&self, context: &Context) -> Result<ReachedEngine, CommandFailure> {
        let address = self.remote().map(str::to_owned);
        if let Some(address) = &address {
            check(address)?;
        }
        let space = self.context(context).watched_space()?;
        Ok(ReachedEngine { space, address })
    }

    /// Returns the settings of verbs where the engine is.
    fn context(&self, context: &Context) -> Context {
        let folder = self.sibyl_addr.as_deref().and_then(|address| address.strip_prefix(LOCAL));
        let folder = PathBuf::from(folder.unwrap_or_default());
        context.at(match folder.as_os_str().is_empty() {
            true => context.directory.clone(),
            false => context.directory.join(folder),
        })
    }

    /// Returns the address of a server, where that is one that this program can speak to.
    pub fn server(&self) -> Result<Option<&str>, CommandFailure> {
        let address = self.remote();
        address.map_or(Ok(()), check)?;
        Ok(address)
    }

    /// Returns the address of a server, where that is one.
    pub fn remote(&self) -> Option<&str> {
        self.sibyl_addr.as_deref().filter(|address| !address.starts_with(LOCAL))
    }

    /// Returns this address, or that of the server that is configured where none was given.
    pub fn or_configured(self, context: &Context) -> Result<Address, CommandFailure> {
        match self.sibyl_addr {
            Some(_) => Ok(self),
            None => Ok(Address { sibyl_addr: configured(&context.directory)? }),
        }
    }
}

impl ReachedEngine {
    /// Returns the space that the engine keeps its runs in.
    pub fn space(&self) -> &SessionSpace {
        &self.space
    }

    /// Makes the caller of a verb, who speaks to the engine.
    pub fn caller<'s>(&'s self, context: &Context) -> Caller<'s> {
        self.caller_at(context, context.surroundings())
    }

    /// Makes the caller of a verb who stands somewhere.
    pub fn caller_at<'s>(&'s self, context: &Context, here: Surroundings) -> Caller<'s> {
        let here = Surroundings { engine: self.address.clone(), ..here };
        context.caller_at(&self.space, here)
    }
}

/// Lists what waits for a human at the server of an address.
pub fn waiting(context: &Context, address: &str) -> Result<Vec<ServedHoldView>, CommandFailure> {
    check(address)?;
    let found = finder(&context.directory).map(|engines| engines.waiting(address));
    Ok(found.transpose()?.unwrap_or_default())
}

/// Finds the engines that are not the embedded one.
#[cfg(feature = "temporal")]
pub fn finder(folder: &Path) -> Option<Arc<dyn EngineFinder>> {
    Some(Arc::new(self::server::Servers { folder: folder.to_owned() }))
}

/// Finds the engines that are not the embedded one: this program has none.
#[cfg(not(feature = "temporal"))]
pub fn finder(_folder: &Path) -> Option<Arc<dyn EngineFinder>> {
    None
}

/// Returns the address of the server that is configured in a folder, if one is.
#[cfg(feature = "temporal")]
fn configured(folder: &Path) -> Result<Option<String>, Refusal> {
    self::server::configured(folder)
}

/// Returns the address of the server that the user's own files name: this program speaks to none.
#[cfg(not(feature = "temporal"))]
fn configured(folder: &Path) -> Result<Option<String>, Refusal> {
    let tables = agentic_providers::configuration::server::ServerTables::find(folder);
    Ok(tables.map_err(Refusal::from)?.address().map(str::to_owned))
}

/// Refuses what is no address of a server.
#[cfg(feature = "temporal")]
fn check(address: &str) -> Result<(), CommandFailure> {
    Ok(self::server::check(address)?)
}

/// Refuses the address of any server.
#[cfg(not(feature = "temporal"))]
fn check(address: &str) -> Result<(), CommandFailure> {
    Err(Refusal::unreachable(
        &format!("there is no engine at `{address}`"),
        "build with `--features temporal`, or use `--sibyl-addr local:`",
    )
    .into())
}
