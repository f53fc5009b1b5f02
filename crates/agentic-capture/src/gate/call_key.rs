//! K: what names a call, whatever words the model puts around it.

use std::path::Path;

use agentic_model::{Map, Value, canonical};

/// What says how a call is put, not what it does.
const WORDING: [&str; 3] = ["description", "explanation", "timeout"];

/// The name of a call: a keyed hash of folder, tool and input.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct CallKey(String);

impl CallKey {
    /// Names a call; nothing where its input has no canonical form.
    pub fn of(key: &[u8; 32], folder: &Path, tool: &str, input: &Value) -> Option<CallKey> {
        let named = Value::map([
            ("cwd", Value::text(folder.to_string_lossy())),
            ("tool", Value::text(tool)),
            ("input", without_wording(input)),
        ]);
        let bytes = canonical::encode(&named).ok()?;
        let hash = blake3::keyed_hash(key, &bytes);
        Some(CallKey(hash.to_hex()[..32].to_owned()))
    }

    /// Returns it as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn without_wording(input: &Value) -> Value {
    let Some(members) = input.as_map() else { return input.clone() };
    let kept = members.iter().filter(|(key, _)| !WORDING.contains(&key.as_str()));
    Value::Map(kept.map(|(key, value)| (key.clone(), value.clone())).collect())
}

/// Gives an input the wording of another, where it has none of its own.
pub fn with_wording(input: &mut Map, of: &Value) {
    for key in WORDING {
        if let (None, Some(value)) = (input.get(key), of.get(key)) {
            input.insert(key.to_owned(), value.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use agentic_model::json;

    use super::CallKey;

    fn key(folder: &str, tool: &str, input: &str) -> CallKey {
        let input = json::from_text(input).expect("JSON");
        CallKey::of(&[7; 32], Path::new(folder), tool, &input).expect("canonical")
    }

    #[test]
    fn other_words_are_the_same_call_and_another_command_is_not() {
        let call = key("/w", "Bash", r#"{"command": "make", "description": "a"}"#);
        assert_eq!(
            call,
            key("/w", "Bash", r#"{"timeout": 9, "explanation": "", "command": "make"}"#)
        );
        for (folder, tool, input) in [
            ("/w", "Bash", r#"{"command": "make "}"#),
            ("/x", "Bash", r#"{"command": "make"}"#),
            ("/w", "Shell", r#"{"command": "make"}"#),
            ("/w", "Bash", r#"{"command": "make", "run_in_background": true}"#),
        ] {
            assert_ne!(call, key(folder, tool, input), "{folder} {tool} {input}");
        }
    }
}
