//! `agentic credential …`

use std::process::ExitCode;
use std::time::Duration;

use agentic_api::view::CredentialView;
use agentic_providers::credential::{Authorization, CALLBACK_LIMIT, Error, Keyring, Settings};
use clap::Subcommand;

use super::Outcome;
use super::flow::identity;
use crate::context::Context;
use crate::failure::Failure;
use crate::output::talk;

/// Keep the tokens with which agents act in somebody's name
///
/// Tokens stand sealed in one folder, AGENTIC_TOKENS or agentic/tokens among the data of the user;
/// AGENTIC_TOKEN_KEY, 64 hexadecimal digits, opens them. They never enter a repository.
#[derive(Debug, Subcommand)]
pub enum Verb {
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
pub fn run(context: &Context, verb: Verb) -> Outcome {
    let settings = Settings::of_process(context.directory.clone());
    let views = match verb {
        Verb::Login { provider, identity, scope, timeout_s } => {
            let asked = Authorization::begin(settings, &identity, &provider, scope);
            let asked = asked.map_err(|error| refused(&error))?;
            talk(&format!("open this address: {}", asked.address()));
            let limit = Duration::from_secs(timeout_s).min(CALLBACK_LIMIT);
            let identity = asked.finish(limit).map_err(|error| refused(&error))?;
            vec![CredentialView { identity, provider }]
        }
        Verb::List => {
            let stored = Keyring::new(settings, None).list().map_err(|error| refused(&error))?;
            let view = |(identity, provider)| CredentialView { identity, provider };
            stored.into_iter().map(view).collect()
        }
        Verb::Forget { provider, identity } => {
            let keyring = Keyring::new(settings, None);
            if !keyring.forget(&identity, &provider).map_err(|error| refused(&error))? {
                return Err(Failure::refused(
                    &format!("there are no tokens of `{identity}` for `{provider}`"),
                    "`agentic credential list` shows those that there are",
                ));
            }
            vec![CredentialView { identity, provider }]
        }
    };
    context.format.answer(views.as_slice(), |views| {
        views.iter().map(|view| format!("{} {}\n", view.identity, view.provider)).collect()
    });
    Ok(ExitCode::SUCCESS)
}

fn refused(error: &Error) -> Failure {
    let hint = match error {
        Error::Configuration { .. } => "`agentic help credential` says what has to be set",
        Error::Store { .. } => "check the folder and the key; `agentic help credential` names both",
        Error::Refused { .. } => "ask again with `agentic credential login`",
        Error::Credential(_) => "nothing was stored; ask again with `agentic credential login`",
    };
    Failure::refused(&error.to_string(), hint)
}
