//! Checking everything that is kept of peers, offline.

use agentic_federation::verify::verify;
use agentic_model::guidance::ErrorClass;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::peer::petname;
use crate::verb::{Reply, Verb, VerbCompletion};
use crate::view::FederationVerifyView;
use crate::{Caller, Refusal};

/// Check identities, signatures, chains and records of peers, without a network.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VerifyPeers {
    /// One peer; this space and all peers without.
    pub peer: Option<String>,
}

impl Verb for VerifyPeers {
    type Answer = FederationVerifyView;

    fn run(self, caller: &Caller<'_>) -> Result<Reply<FederationVerifyView>, Refusal> {
        let name = self.peer.as_deref().map(petname).transpose()?;
        let report = verify(caller.space, name.as_ref())?;
        let view = FederationVerifyView::from(&report);
        let gravest = view.findings.iter().min_by_key(|finding| finding.code);
        let completion = match gravest {
            None => VerbCompletion::Whole,
            Some(finding) if finding.code == ErrorClass::NotAllowed.exit_code() => {
                VerbCompletion::Over(ErrorClass::NotAllowed)
            }
            Some(_) => VerbCompletion::Over(ErrorClass::Corrupt),
        };
        Ok(Reply { completion, ..Reply::plain(view) })
    }
}
