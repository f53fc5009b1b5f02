//! What answers come of what programs print and endpoints say.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;

use agentic_plan::CredentialError;
use agentic_providers::endpoint::EndpointReply;
use agentic_providers::executable::ProgramOutcome;
use agentic_providers::provider::ProviderResponse;
use agentic_replay::{CancelExtent, RequestAnswer};

use super::{ReplyForm, SHOWN_CHARS_MAX};

const FORMS: [ReplyForm; 2] = [ReplyForm::Json, ReplyForm::HandlerLine];

/// Says what came of something: a value as JSON, or the code of a failure.
fn told(response: &ProviderResponse) -> String {
    let told = match &response.answer {
        RequestAnswer::Ok(value) => agentic_model::json::to_text(value),
        RequestAnswer::Failed(failure) => failure.code.clone(),
        RequestAnswer::TimedOut => "timed out".to_owned(),
        RequestAnswer::Cancelled(extent) => format!("{extent:?}"),
    };
    let nobody = if response.unanswered.is_some() { "nobody: " } else { "" };
    format!("{nobody}{told}")
}

fn printed(form: ReplyForm, outcome: ProgramOutcome) -> ProviderResponse {
    form.printed("./handler", Ok(outcome))
}

fn done(form: ReplyForm, text: &[u8]) -> String {
    told(&printed(form, ProgramOutcome::Done(text.to_vec())))
}

#[test]
fn a_program_prints_one_json_value() {
    for (text, wanted) in [
        ("5\n", "5"),
        (" {\"a\": [1, null]} ", r#"{"a":[1,null]}"#),
        ("", "InvalidOutput"),
        ("5 6", "InvalidOutput"),
        ("{'a':1}", "InvalidOutput"),
        (r#"{"a":1,"a":2}"#, "InvalidOutput"),
    ] {
        assert_eq!(done(ReplyForm::Json, text.as_bytes()), wanted, "{text:?}");
    }
    assert_eq!(done(ReplyForm::Json, b"\"\xff\""), "InvalidOutput");
}

#[test]
fn a_handler_prints_a_result_or_an_error_of_its_own_class() {
    for (line, wanted) in [
        (r#"{"class":"NotFound","message":"no such file"}"#, "NotFound"),
        (r#"{"class":"NotFound"}"#, "HandlerError"),
        (r#"{"message":"no such file"}"#, "HandlerError"),
        (r#"{"class":5,"message":"m"}"#, "HandlerError"),
        ("[]", "HandlerError"),
        ("ok", "HandlerError"),
        ("", "HandlerError"),
    ] {
        assert_eq!(done(ReplyForm::HandlerLine, line.as_bytes()), wanted, "{line:?}");
    }
    let response = printed(ReplyForm::HandlerLine, ProgramOutcome::Done(br#"{"ok":[1]}"#.to_vec()));
    assert!(matches!(response.answer, RequestAnswer::Ok(_)), "{response:?}");
}

#[test]
fn a_program_that_breaks_down_has_failed_by_its_form() {
    let crashed = |code: i32| ProgramOutcome::Crashed {
        status: ExitStatus::from_raw(code),
        complaint: "no bread".to_owned(),
    };
    let lost = || ProgramOutcome::Lost(std::io::ErrorKind::NotFound.into());
    let codes =
        |outcome: &dyn Fn() -> ProgramOutcome| FORMS.map(|form| told(&printed(form, outcome())));
    assert_eq!(codes(&|| crashed(256)), ["AgentFailed", "HandlerError"]);
    assert_eq!(codes(&lost), ["ConfigurationError", "HandlerError"]);
    assert_eq!(codes(&|| ProgramOutcome::Flooded), ["OutputTooLarge"; 2]);
    assert_eq!(codes(&|| ProgramOutcome::TimedOut), ["timed out"; 2]);
    assert_eq!(codes(&|| ProgramOutcome::Stopped), ["Stopped"; 2]);
}

#[test]
fn how_a_program_ended_is_told() {
    let message = |status, complaint: &str| {
        let status = ExitStatus::from_raw(status);
        let outcome = ProgramOutcome::Crashed { status, complaint: complaint.to_owned() };
        match printed(ReplyForm::Json, outcome).answer {
            RequestAnswer::Failed(failure) => failure.message,
            other @ (RequestAnswer::Ok(_)
            | RequestAnswer::TimedOut
            | RequestAnswer::Cancelled(_)) => panic!("{other:?}"),
        }
    };
    assert_eq!(message(2 << 8, " no bread\n"), "the program ended with status 2: no bread");
    assert_eq!(message(9, ""), "the program ended by a signal");
    let long = message(256, &"x".repeat(5 * SHOWN_CHARS_MAX));
    assert!(long.len() < 2 * SHOWN_CHARS_MAX, "{long}");
}

fn responded(form: ReplyForm, reply: EndpointReply) -> String {
    told(&form.responded("http://localhost/x", Ok(reply)))
}

fn status(status: u16, body: &[u8]) -> EndpointReply {
    EndpointReply::Said { status, body: body.to_vec() }
}

#[test]
fn an_endpoint_succeeds_with_a_status_of_success_and_a_value() {
    for (code, wanted) in [
        (200, "5"),
        (204, "5"),
        (299, "5"),
        (300, "AgentFailed"),
        (404, "AgentFailed"),
        (500, "AgentFailed"),
        (199, "AgentFailed"),
    ] {
        assert_eq!(responded(ReplyForm::Json, status(code, b"5")), wanted, "{code}");
    }
    assert_eq!(responded(ReplyForm::Json, status(200, b"oh")), "InvalidOutput");
    assert_eq!(responded(ReplyForm::Json, status(200, b"\xff")), "InvalidOutput");
    assert_eq!(responded(ReplyForm::Json, status(500, b"\xff")), "AgentFailed");
}

#[test]
fn who_is_not_let_in_has_not_been_answered() {
    for code in [401, 403] {
        for form in FORMS {
            assert_eq!(responded(form, status(code, b"no")), "nobody: MissingCredential", "{code}");
        }
    }
}

#[test]
fn what_was_sent_to_an_endpoint_may_have_been_acted_on() {
    assert_eq!(responded(ReplyForm::Json, EndpointReply::Stopped), "Unknown");
    assert_eq!(responded(ReplyForm::Json, EndpointReply::TimedOut), "timed out");
    assert_eq!(responded(ReplyForm::Json, EndpointReply::Flooded), "OutputTooLarge");
    assert_eq!(responded(ReplyForm::Json, EndpointReply::Lost("gone".into())), "AgentFailed");
    let extent = RequestAnswer::Cancelled(CancelExtent::Unknown);
    assert_eq!(ReplyForm::Json.responded("u", Ok(EndpointReply::Stopped)).answer, extent);
}

#[test]
fn a_call_that_wants_for_a_credential_was_not_made() {
    let missing = || CredentialError::MissingCredential {
        identity: "ada".to_owned(),
        provider: "bank".to_owned(),
    };
    let nobody = || CredentialError::MissingIdentity { provider: "bank".to_owned() };
    let form = ReplyForm::Json;
    assert_eq!(told(&form.printed("x", Err(missing().into()))), "nobody: MissingCredential");
    assert_eq!(told(&form.responded("x", Err(missing().into()))), "nobody: MissingCredential");
    // Waiting would not help: in whose name a run goes on was said when it began.
    assert_eq!(told(&form.printed("x", Err(nobody().into()))), "MissingIdentity");
}
