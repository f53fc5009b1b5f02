//! Which refs all agents were compared with last: as long as those are the same, nothing has to be listed.

use agentic_model::Value;

use crate::error::{IndexError, Result};
use crate::value::{seal, unseal};

/// Refs with which all agents were compared, so that an index has each as it was there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SweptRefs {
    /// What changes whenever a ref does.
    pub mark: [u8; 32],
    /// How many agents there were.
    pub n_agents: usize,
}

impl SweptRefs {
    pub(super) fn sealed(&self) -> Vec<u8> {
        let n_agents = i64::try_from(self.n_agents).unwrap_or(i64::MAX);
        seal(&Value::List(vec![Value::Bytes(self.mark.to_vec()), Value::Int(n_agents)]))
    }

    pub(super) fn read(sealed: &[u8]) -> Result<SweptRefs> {
        let value = unseal(sealed)?;
        let read = || {
            let [mark, n_agents] = value.as_list()? else { return None };
            let mark = mark.as_bytes()?.try_into().ok()?;
            Some(SweptRefs { mark, n_agents: usize::try_from(n_agents.as_int()?).ok()? })
        };
        read().ok_or_else(|| IndexError::damaged("what was compared"))
    }
}
