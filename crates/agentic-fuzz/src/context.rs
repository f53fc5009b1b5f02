//! Programs of the context language.
//!
//! In the dialect that the text shows and in every one that the input names: whatever parses is laid
//! out anew, once and for all, and what is wrong with it stays wrong for the same reasons.

use agentic_diag::SourceText;
use agentic_lang_context::{
    CheckOptions, Dialect, Outline, Version, check as checked, format, outline,
};

use crate::{take_byte, text_of};

/// Checks one input: the dialect, then the program.
pub fn check(mut data: &[u8]) {
    let choice = usize::from(take_byte(&mut data));
    let Some(text) = text_of(data) else { return };
    let dialect = match choice % 9 {
        0 | 8 => Dialect::detect(text),
        n => Dialect::strict(Version::ALL[n - 1]),
    };
    let _: Outline = outline(text, dialect);
    let before = codes(text, dialect);
    let Ok(formatted) = format(text, Some(dialect)) else {
        assert!(!before.is_empty(), "it does not parse, so something is wrong");
        return;
    };
    let again = format(&formatted, Some(dialect));
    assert_eq!(again.as_deref().ok(), Some(formatted.as_str()), "a second time");
    assert_eq!(codes(&formatted, dialect), before, "{formatted}");
}

fn codes(text: &str, dialect: Dialect) -> Vec<&'static str> {
    let options = CheckOptions { dialect: Some(dialect), ..CheckOptions::default() };
    let mut nothing = |_: &str| Err("there is no other file".to_owned());
    let found = checked(SourceText::new("main.as", text), &options, &mut nothing).findings;
    found.into_iter().map(|finding| finding.diagnostic.code).collect()
}
