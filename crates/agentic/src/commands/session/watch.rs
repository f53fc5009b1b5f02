//! `agentic session watch`

use std::process::ExitCode;
use std::time::Duration;

use agentic_api::Notice;
use agentic_api::view::{RecordView, visible_line};
use agentic_session::{SessionSpace, SessionState, Watch};
use serde_json::Value as Json;

use super::show::{brief, duration};
use crate::commands::VerbOutcome;
use crate::context::Context;
use crate::output::{Format, is_reader_gone, print_raw, print_text, warn_of};

/// How long nobody looks between two looks.
const POLL: Duration = Duration::from_millis(250);

/// Prints the records of a session as they are made, until it is over, nobody reads any more or this
/// program is told to stop.
pub(super) fn watch(
    context: &Context,
    space: &SessionSpace,
    session: &str,
    until_held: bool,
) -> VerbOutcome {
    let stop = context.listen()?;
    let id = space.find_session(session)?;
    let mut watch = Watch::new(space, id);
    loop {
        if let Some((records, state)) = watch.look()? {
            for record in &records {
                let view = RecordView::from(record);
                match context.format {
                    Format::Json => {
                        print_raw(&serde_json::to_string(&view).expect("views have text keys"));
                    }
                    Format::Text => print_text(&line(&view)),
                }
            }
            match state {
                SessionState::Done => return Ok(ExitCode::SUCCESS),
                SessionState::Failed | SessionState::Cancelled => return Ok(ExitCode::from(1)),
                SessionState::Diverged => return Ok(ExitCode::from(5)),
                SessionState::Held if until_held => return Ok(ExitCode::from(4)),
                SessionState::Held | SessionState::Running | SessionState::Waiting => {}
            }
        }
        // A child may wait as well, of which the records of its parent say nothing.
        if until_held {
            let waits = Notice::unanswered(space, &space.session(&id)?);
            warn_of(&waits);
            if !waits.is_empty() {
                return Ok(ExitCode::from(4));
            }
        }
        if stop.is_set() || is_reader_gone() {
            return Ok(ExitCode::SUCCESS);
        }
        std::thread::sleep(POLL);
    }
}

/// Shows when, what, who and how long.
fn line(view: &RecordView) -> String {
    let path = view.path.as_ref().map(|path| format!(" {path}")).unwrap_or_default();
    let took = view.took_ms.map(|took| format!(" after {}", duration(took))).unwrap_or_default();
    let by = view.by.as_ref().map(|by| format!(" by {}", visible_line(by))).unwrap_or_default();
    format!("{} {}{path} {}{took}{by}\n", view.at, view.seq, said(view))
}

fn said(view: &RecordView) -> String {
    let text = |key: &str| view.record.get(key).and_then(Json::as_str).map(visible_line);
    let text = |key: &str| text(key).unwrap_or_default();
    let value = |key: &str| brief(view.record.get(key).unwrap_or(&Json::Null));
    let came = || match text("outcome").as_str() {
        "ok" => value("value"),
        "err" => format!("{}: {}", text("code"), text("message")),
        other => other.to_owned(),
    };
    match view.what.as_str() {
        "ask" => format!("{} {}", text("request"), value("payload")),
        "answer" => format!("→ {}", came()),
        "end" => format!("end → {}", came()),
        "start" => format!("start key {} {}", text("key"), value("input")),
        what => format!("{what} {}", brief(&view.record)),
    }
}
