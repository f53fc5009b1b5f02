//! `agentic credential …`

use std::process::ExitCode;
use std::time::Duration;

use agentic_api::LocalVerb as _;
use agentic_api::verb::{CredentialLogin, ForgetCredential, ListCredentials};
use agentic_providers::credential::CALLBACK_LIMIT;
use clap::Subcommand;

use super::VerbOutcome;
use super::flow::identity;
use crate::context::Context;
use crate::output::talk;

/// Keep the tokens with which agents act in somebody's name
///
/// Tokens stand sealed in one folder, AGENTIC_TOKENS or agentic/tokens among the data of the user;
/// AGENTIC_TOKEN_KEY, 64 hexadecimal digits, opens them. They never enter a repository.
#[derive(Debug, Subcommand)]
pub enum CredentialVerb {
    /// Let somebody authorize agents at a provider
    ///
    /// git's settings agentic.oauth.PROVIDER.authorizeUrl, .tokenUrl and .clientId describe the
    /// provider.
    ///
    /// Example: agentic credential login example --as user:alice --scope mail.read
    #[command(verbatim_doc_comment)]
    Login {
        /// The provider
        provider: String,
        /// Who authorizes
        #[arg(long = "as", value_name = "ID", value_parser = identity)]
        identity: String,
        /// What is to be allowed; may be repeated
        #[arg(long, value_name = "SCOPE")]
        scope: Vec<String>,
        /// How many seconds to wait for the person
        #[arg(long, value_name = "N", default_value_t = CALLBACK_LIMIT.as_secs())]
        timeout_s: u64,
    },
    /// List whose tokens of which providers there are
    ///
    /// Example: agentic credential list --json
    #[command(verbatim_doc_comment)]
    List,
    /// Remove somebody's tokens of a provider
    ///
    /// Example: agentic credential forget example --as user:alice
    #[command(verbatim_doc_comment)]
    Forget {
        /// The provider
        provider: String,
        /// Whose
        #[arg(long = "as", value_name = "ID", value_parser = identity)]
        identity: String,
    },
}

/// Runs the verb.
pub fn run(context: &Context, verb: CredentialVerb) -> VerbOutcome {
    let here = context.surroundings();
    let views = match verb {
        CredentialVerb::Login { provider, identity, scope, timeout_s } => {
            let login = CredentialLogin { provider, identity, scope }.begin(&here)?;
            talk(&format!("open this address: {}", login.address()));
            vec![login.finish(Duration::from_secs(timeout_s))?]
        }
        CredentialVerb::List => ListCredentials {}.run_here(&here)?.answer,
        CredentialVerb::Forget { provider, identity } => {
            vec![ForgetCredential { provider, identity }.run_here(&here)?.answer]
        }
    };
    context.format.answer(views.as_slice(), |views| {
        views.iter().map(|view| format!("{} {}\n", view.identity, view.provider)).collect()
    });
    Ok(ExitCode::SUCCESS)
}
