//! `agentic session watch`

use agentic_api::Verb as _;
use agentic_api::verb::SessionWatch;
use agentic_api::view::{RecordView, visible_line};
use agentic_lang_agent::TraceCapture;
use agentic_session::SessionSpace;
use serde_json::Value as Json;

use super::show::{brief, duration};
use crate::commands::{VerbOutcome, ended};
use crate::context::Context;
use crate::follower::{EventPrinter, followed};
use crate::live::RunDisplay;
use crate::output::{Format, is_reader_gone, print_raw, print_text, warn_of};

/// Prints the records of a session as they are made, until it is over, nobody reads any more or this
/// program is told to stop.
pub(super) fn watch(context: &Context, space: &SessionSpace, verb: SessionWatch) -> VerbOutcome {
    let stop = context.listen()?;
    space.repository().follow_configuration();
    let mut printer = EventPrinter::new(context, RunDisplay::of(context.format, TraceCapture::Off));
    let show = |event| {
        printer.show(event);
        if is_reader_gone() {
            stop.set();
        }
    };
    let reply = followed(context, &stop, show, |here| verb.run(&context.caller_at(space, here)))?;
    warn_of(&reply.notices);
    ended(reply.completion)
}

/// Prints a record of a session.
pub fn print_record(context: &Context, view: &RecordView) {
    match context.format {
        Format::Json => print_raw(&serde_json::to_string(view).expect("views have text keys")),
        Format::Text => print_text(&line(view)),
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
