//! Replies that are prepared in a file.

use agentic_lang_context::json::{self, Json};

use crate::context::Context;
use crate::failure::CommandFailure;

/// Reads a list of replies, `{"text"}`, `{"value"}` or `{"error"}` each.
pub fn read(context: &Context, file: &str) -> Result<Vec<Json>, CommandFailure> {
    let text = context.read_text(file)?;
    match json::parse(&text) {
        Ok(Json::List(replies)) => Ok(replies),
        Ok(_) | Err(_) => Err(CommandFailure::refused(
            &format!("`{file}` is no JSON list of replies"),
            r#"write [{"text":"…"},{"value":…},{"error":"…"}]"#,
        )),
    }
}
