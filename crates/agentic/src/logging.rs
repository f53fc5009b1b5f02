//! What the crates below log: warnings always, more where it is asked for.
//!
//! Lines go to standard error. They name refs, sessions, paths of requests and programs with their
//! arguments; what prompts, payloads and answers say is not logged.

use std::fmt::{self, Write as _};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::failure::CommandFailure;
use crate::output::talk;

/// Names a level (`debug`), or levels by module (`agentic_store=debug,agentic_space=info`).
const LOG_VARIABLE: &str = "AGENTIC_LOG";
/// Where our crates log.
const OURS: &str = "agentic";

/// Shows from now on what is logged: what `AGENTIC_LOG` says, else with `-v` everything down to
/// `debug`, else warnings.
pub fn begin(is_verbose: bool) -> Result<(), CommandFailure> {
    let asked = std::env::var(LOG_VARIABLE).ok().filter(|asked| !asked.is_empty());
    let levels = match (asked, is_verbose) {
        (Some(asked), _) => levels(&asked)?,
        (None, true) => Targets::new().with_target(OURS, Level::DEBUG),
        (None, false) => {
            // Nobody else has named a subscriber in this process.
            let _ = tracing::subscriber::set_global_default(Warnings);
            return Ok(());
        }
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(false);
    let _ = tracing_subscriber::registry().with(levels).with(lines).try_init();
    Ok(())
}

fn levels(asked: &str) -> Result<Targets, CommandFailure> {
    if let Ok(level) = asked.parse::<LevelFilter>() {
        return Ok(Targets::new().with_target(OURS, level));
    }
    // A word alone would be taken for the name of a module.
    let levels = asked.split(',').all(|part| part.contains('=')).then(|| asked.parse::<Targets>());
    levels.and_then(Result::ok).ok_or_else(|| {
        let message = format!("{LOG_VARIABLE} is `{asked}`, which names no level");
        CommandFailure::usage(
            &message,
            "use error, warn, info, debug, trace, or `agentic_store=debug,…`",
        )
    })
}

/// Shows warnings as other talk, and nothing else. It costs a command nothing to have it.
struct Warnings;

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with(OURS)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::WARN)
    }

    fn event(&self, event: &Event<'_>) {
        let mut message = LogMessage::default();
        event.record(&mut message);
        talk(&message.0);
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}

/// What an event says.
#[derive(Default)]
struct LogMessage(String);

impl Visit for LogMessage {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            let _ = write!(self.0, "{value:?}");
        }
    }
}
