//! How people are reached: channels, the ways of messages to them, and who they are.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use agentic_plan::{Identities, MessageSeverity, Route, Router, is_identity};
use serde::Deserialize;

use super::check_server;
use crate::channel::{Channel, ChannelCapability, Transport};

/// How long a channel may take where nothing says otherwise: people need time.
const TIME_LIMIT_DEFAULT: Duration = Duration::from_secs(600);

/// How people are reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct People {
    /// The channels that have names.
    pub channels: BTreeMap<String, Channel>,
    /// Which messages go where.
    pub router: Router,
    /// Who it is whom a channel knows by another name.
    pub identities: Identities,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileChannel {
    command: Option<Vec<String>>,
    url: Option<String>,
    can: Vec<String>,
    timeout_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileRoute {
    channel: String,
    #[serde(default)]
    target: String,
    severity: Option<String>,
    subject: Option<String>,
    agent: Option<String>,
}

/// What the file says, as it is written.
pub(super) struct FilePeople {
    pub channels: BTreeMap<String, FileChannel>,
    pub routes: Vec<FileRoute>,
    pub identities: BTreeMap<String, String>,
}

impl FilePeople {
    /// Checks the entries; of a wrong one its name and the reason are returned.
    pub fn check(self, folder: &Path) -> Result<People, (String, String)> {
        let mut channels = BTreeMap::new();
        for (name, channel) in self.channels {
            let checked = channel.check(folder);
            let channel = checked.map_err(|reason| (format!("channels.{name}"), reason))?;
            channels.insert(name, channel);
        }
        let mut routes = Vec::new();
        for (index, route) in self.routes.into_iter().enumerate() {
            let checked = route.check(&channels);
            routes.push(checked.map_err(|reason| (format!("routes[{index}]"), reason))?);
        }
        for (native, name) in &self.identities {
            if !is_identity(name) {
                let reason = format!("`{name}` is nobody: write KIND:NAME, such as user:alice");
                return Err((format!("identities.{native}"), reason));
            }
        }
        let identities = Identities { names: self.identities };
        Ok(People { channels, router: Router { routes }, identities })
    }
}

impl FileChannel {
    fn check(self, folder: &Path) -> Result<Channel, String> {
        let transport = match (self.command, self.url) {
            (Some(argv), None) if !argv.is_empty() => Transport::Program(argv, folder.to_owned()),
            (None, Some(url)) => {
                check_server(&url)?;
                Transport::Endpoint(url)
            }
            (Some(_), _) | (None, _) => {
                return Err("it has either a `command`, a list of words, or a `url`".to_owned());
            }
        };
        if self.timeout_ms == Some(0) {
            return Err("`timeout_ms` is above 0".to_owned());
        }
        let capability = |word: &String| {
            let unknown = || format!("nothing can `{word}`: write notify, await or converse");
            ChannelCapability::parse(word).ok_or_else(unknown)
        };
        let can = self.can.iter().map(capability).collect::<Result<_, String>>()?;
        let limit = self.timeout_ms.map_or(TIME_LIMIT_DEFAULT, Duration::from_millis);
        Ok(Channel { transport, can, limit })
    }
}

impl FileRoute {
    fn check(self, channels: &BTreeMap<String, Channel>) -> Result<Route, String> {
        if !channels.contains_key(&self.channel) {
            return Err(format!("there is no channel `{}`", self.channel));
        }
        let severity_min = match &self.severity {
            None => MessageSeverity::Info,
            Some(word) => MessageSeverity::parse(word).ok_or_else(|| {
                format!("`{word}` is no severity: write info, low, medium, high or critical")
            })?,
        };
        let FileRoute { channel, target, subject, agent, .. } = self;
        Ok(Route { channel, target, severity_min, subject, agent })
    }
}
