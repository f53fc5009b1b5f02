//! Who is told of what, and who it is that answers.

use std::collections::{BTreeMap, BTreeSet};

use crate::message::{ChannelMessage, MessageSeverity};

/// The way of messages to people.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// The channel that takes them.
    pub channel: String,
    /// Whom it takes them to, in its own words; may be empty.
    pub target: String,
    /// How much a message must matter.
    pub severity_min: MessageSeverity,
    /// What a message must be about; anything without.
    pub subject: Option<String>,
    /// The agent whose run it must be of, or of one whose name begins with its name and `-`; any
    /// without.
    pub agent: Option<String>,
}

/// Where a message goes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Destination {
    /// The channel.
    pub channel: String,
    /// Whom it takes it to.
    pub target: String,
}

/// Says which messages go where.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Router {
    /// The ways there are.
    pub routes: Vec<Route>,
}

impl Router {
    /// Returns where a message goes: along every route that it meets, nowhere twice.
    pub fn route(&self, message: &ChannelMessage, agent: &str) -> Vec<Destination> {
        let met = self.routes.iter().filter(|route| route.takes(message, agent));
        let mut seen = BTreeSet::new();
        let all = met.map(|route| Destination {
            channel: route.channel.clone(),
            target: route.target.clone(),
        });
        all.filter(|destination| seen.insert(destination.clone())).collect()
    }
}

impl Route {
    fn takes(&self, message: &ChannelMessage, agent: &str) -> bool {
        let of_agent = |wanted: &String| {
            let rest = agent.strip_prefix(wanted.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        message.severity >= self.severity_min
            && self.subject.as_ref().is_none_or(|subject| *subject == message.subject)
            && self.agent.as_ref().is_none_or(of_agent)
    }
}

/// Says who it is whom a channel knows by another name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identities {
    /// Our names, by those of channels (`slack:U123`).
    pub names: BTreeMap<String, String>,
}

impl Identities {
    /// Returns our name of somebody. Who has none keeps the one that the channel knows; nothing if
    /// that is no name `KIND:NAME`.
    pub fn resolve<'a>(&'a self, native: &'a str) -> Option<&'a str> {
        let name = self.names.get(native).map_or(native, String::as_str);
        is_identity(name).then_some(name)
    }
}

/// Says whether a text names somebody: `KIND:NAME`, such as `user:alice` or `slack:U123`.
pub fn is_identity(text: &str) -> bool {
    let is_name =
        |name: &str| !name.is_empty() && !name.chars().any(|c| c.is_control() || c == ' ');
    text.split_once(':').is_some_and(|(kind, name)| is_name(kind) && is_name(name))
}
