//! The models and servers of tools that programs can use.

use agentic_providers::configuration::Configuration;
use agentic_providers::host::CancelFlag;
use agentic_providers::listing::{self, ListedProvider, ProviderOrigin};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::verb::{LocalVerb, Reply, VerbCompletion};
use crate::view::ProviderView;
use crate::{Refusal, Surroundings};

/// List the models and servers of tools that programs can use.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ListProviders {
    /// Only these: names of `agentic.toml`, or addresses like `openai://NAME`.
    pub names: Vec<String>,
    /// See whether they answer. The answer is a short one if one does not that somebody named.
    pub probe: bool,
}

impl LocalVerb for ListProviders {
    type Answer = Vec<ProviderView>;

    fn run_here(self, here: &Surroundings) -> Result<Reply<Vec<ProviderView>>, Refusal> {
        let configuration = Configuration::find(&here.folder)?;
        let mut reply = Reply::plain(Vec::new());
        for listed in &choose(&configuration, &self.names)? {
            let mut view = ProviderView::from(listed);
            if self.probe {
                let probe = listed.probe(&configuration, &CancelFlag::new());
                view.probe = Some(probe.into());
                let is_wanted = listed.origin != ProviderOrigin::Environment || listed.is_default;
                let is_bad = view.probe.as_ref().is_some_and(|probe| !probe.ok);
                if is_wanted && is_bad && matches!(reply.completion, VerbCompletion::Whole) {
                    reply.completion = VerbCompletion::Short(Refusal::refused(
                        &format!("`{}` does not answer", listed.name),
                        "the list says why; keys and addresses stand in `agentic.toml` and the environment",
                    ));
                }
            }
            reply.answer.push(view);
        }
        Ok(reply)
    }
}

fn choose(configuration: &Configuration, names: &[String]) -> Result<Vec<ListedProvider>, Refusal> {
    if names.is_empty() {
        return Ok(listing::list(configuration));
    }
    let one = |name: &String| {
        listing::find(configuration, name).ok_or_else(|| {
            Refusal::refused(
                &format!("there is no provider `{name}`"),
                "`agentic providers` lists them; an address is like `openai://NAME`",
            )
        })
    };
    names.iter().map(one).collect()
}
