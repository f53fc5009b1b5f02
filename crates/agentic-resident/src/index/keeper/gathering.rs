//! Agents that were told of and are read together: what is read of one costs more than each of its commits does.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::super::kept::{AgentToRead, KeptIndex};
use super::IndexKeeper;

/// The agents that were told of since some were read.
#[derive(Debug)]
pub(super) struct GatheredAgents {
    agents: BTreeMap<String, AgentToRead>,
    /// When some were read last; nothing before the first.
    read_at: Option<Instant>,
}

impl GatheredAgents {
    /// Begins with none.
    pub fn begin() -> GatheredAgents {
        GatheredAgents { agents: BTreeMap::new(), read_at: None }
    }

    /// Takes agents that were told of. Of one that was told of twice the last counts.
    pub fn add(&mut self, agents: Vec<AgentToRead>) {
        self.agents.extend(agents.into_iter().map(|agent| (agent.name().to_owned(), agent)));
    }

    /// Returns how long it takes until they are to be read, so long after those before; nothing if there are none.
    pub fn wait(&self, pause: Duration, now: Instant) -> Option<Duration> {
        let passed = self.read_at.map_or(Duration::MAX, |at| now.duration_since(at));
        (!self.agents.is_empty()).then(|| pause.saturating_sub(passed))
    }

    /// Takes them out, for they are read now.
    fn take(&mut self, now: Instant) -> Vec<AgentToRead> {
        self.read_at = Some(now);
        std::mem::take(&mut self.agents).into_values().collect()
    }
}

impl<I: KeptIndex> IndexKeeper<I> {
    /// Reads the agents that were told of, if it is time.
    pub(super) fn read_gathered_if_due(&mut self) {
        if self.gathered.wait(I::GATHERED, Instant::now()) == Some(Duration::ZERO) {
            self.read_gathered();
        }
    }

    /// Reads the agents that were told of: somebody asks, or it is time.
    pub(super) fn read_gathered(&mut self) {
        let agents = self.gathered.take(Instant::now());
        if !agents.is_empty() {
            self.read_agents(&agents);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{AgentToRead, GatheredAgents};

    fn named(names: &[&str]) -> Vec<AgentToRead> {
        names.iter().map(|name| AgentToRead::Named((*name).to_owned())).collect()
    }

    const PAUSE: Duration = Duration::from_secs(1);

    #[test]
    fn the_first_is_read_at_once_and_more_a_pause_later() {
        let (mut gathered, now) = (GatheredAgents::begin(), Instant::now());
        assert_eq!(gathered.wait(PAUSE, now), None, "nobody was told of");
        gathered.add(named(&["alice"]));
        assert_eq!(gathered.wait(PAUSE, now), Some(Duration::ZERO));
        assert_eq!(gathered.take(now).len(), 1);
        assert_eq!(gathered.wait(PAUSE, now), None, "all were taken");
        gathered.add(named(&["alice", "bob"]));
        gathered.add(named(&["alice"]));
        assert_eq!(gathered.wait(PAUSE, now), Some(PAUSE));
        assert_eq!(gathered.wait(PAUSE, now + PAUSE), Some(Duration::ZERO));
        assert_eq!(gathered.take(now + PAUSE).len(), 2);
    }
}
