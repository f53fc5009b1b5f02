//! How long somebody waits for what others hold.

use std::io;
use std::thread;
use std::time::{Duration, Instant as Moment};

/// How long is waited between two looks.
const PAUSE: Duration = Duration::from_millis(1);

/// How long somebody waits for locks of others. What it does itself takes as long as it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// As long as they are held.
    Endless,
    /// Until then.
    Until(Moment),
}

impl Patience {
    /// Makes one that ends after some time.
    pub fn of(time: Duration) -> Patience {
        Patience::Until(Moment::now() + time)
    }

    /// Tells whether it is at its end.
    pub fn is_over(self) -> bool {
        match self {
            Patience::Endless => false,
            Patience::Until(end) => Moment::now() >= end,
        }
    }

    /// Tries again and again until something is had, or the time is over: then there is nothing.
    ///
    /// # Errors
    /// Fails as `attempt` does.
    pub fn keep_trying<T, E>(
        self,
        mut attempt: impl FnMut() -> Result<Option<T>, E>,
    ) -> Result<Option<T>, E> {
        loop {
            if let Some(had) = attempt()? {
                return Ok(Some(had));
            }
            if self.is_over() {
                return Ok(None);
            }
            thread::sleep(PAUSE);
        }
    }

    /// Waits for a lock: by itself where there is no end, else by looking at it again and again. Tells
    /// whether the wait was not in vain.
    pub(crate) fn wait(
        self,
        mut look: impl FnMut() -> io::Result<bool>,
        wait: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<bool> {
        match self {
            Patience::Endless => wait().map(|()| true),
            Patience::Until(_) => {
                let free = self.keep_trying(|| look().map(|is_free| is_free.then_some(())));
                free.map(|free| free.is_some())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_patience_tries_until_it_has_it_or_the_time_is_over() {
        let tries = |patience: Patience, needed: u32| {
            let mut n_tries = 0;
            let had = patience.keep_trying(|| -> Result<Option<u32>, ()> {
                n_tries += 1;
                Ok((n_tries >= needed).then_some(n_tries))
            });
            had.expect("no attempt fails")
        };
        assert_eq!(tries(Patience::Endless, 3), Some(3));
        assert_eq!(tries(Patience::of(Duration::ZERO), 1), Some(1), "it is tried once in any case");
        assert_eq!(tries(Patience::of(Duration::ZERO), 2), None);
        assert_eq!(tries(Patience::of(Duration::from_secs(3600)), 3), Some(3));
        let failed = Patience::Endless.keep_trying(|| Err::<Option<()>, &str>("broken"));
        assert_eq!(failed, Err("broken"));
    }
}
