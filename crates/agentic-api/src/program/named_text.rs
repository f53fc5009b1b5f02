//! Texts that stand in a file, or come with what is asked for.

use std::borrow::Cow;
use std::io::Read as _;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};

use crate::{Refusal, Surroundings};

/// The longest program, registry, input or script that is read, in bytes: 64 MiB.
pub const TEXT_BYTES_MAX: u64 = 64 << 20;

/// A text, and what it is called.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NamedText {
    /// The file that it stands in; where the text is given, what it is called in messages.
    pub name: String,
    /// The text; that of the file without.
    #[serde(default, deserialize_with = "read_bytes")]
    #[schemars(with = "Option<String>")]
    pub text: Option<Vec<u8>>,
}

fn read_bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<u8>>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(String::into_bytes))
}

impl NamedText {
    /// Names the text of a file.
    pub fn file(name: &str) -> NamedText {
        NamedText { name: name.to_owned(), text: None }
    }

    /// Takes a text as it is.
    pub fn given(name: &str, text: impl Into<Vec<u8>>) -> NamedText {
        NamedText { name: name.to_owned(), text: Some(text.into()) }
    }

    /// Reads it, up to a bound: a file may have no end.
    ///
    /// # Errors
    /// Fails when the file cannot be read, and when there is more than anybody needs.
    pub fn bytes(&self, here: &Surroundings) -> Result<Cow<'_, [u8]>, Refusal> {
        let name = &self.name;
        let bytes = match &self.text {
            Some(text) => Cow::from(text),
            None => {
                let mut bytes = Vec::new();
                std::fs::File::open(here.folder.join(name))
                    .and_then(|file| file.take(TEXT_BYTES_MAX + 1).read_to_end(&mut bytes))
                    .map_err(|error| Refusal::io(&format!("read `{name}`"), &error))?;
                Cow::from(bytes)
            }
        };
        if bytes.len() as u64 > TEXT_BYTES_MAX {
            let message = format!("`{name}` is longer than {TEXT_BYTES_MAX} bytes");
            return Err(Refusal::refused(&message, "split it"));
        }
        Ok(bytes)
    }

    /// Reads what has to be UTF-8 text.
    ///
    /// # Errors
    /// Fails as [`NamedText::bytes`] does, and where it is no such text.
    pub fn read(&self, here: &Surroundings) -> Result<String, Refusal> {
        utf8(&self.name, &self.bytes(here)?).map(str::to_owned)
    }
}

/// Takes bytes for UTF-8 text.
pub(super) fn utf8<'b>(name: &str, bytes: &'b [u8]) -> Result<&'b str, Refusal> {
    std::str::from_utf8(bytes).map_err(|error| {
        let at = error.valid_up_to();
        let message = format!("`{name}` is not UTF-8 text from byte {at} on");
        Refusal::refused(&message, "save the file as UTF-8")
    })
}
