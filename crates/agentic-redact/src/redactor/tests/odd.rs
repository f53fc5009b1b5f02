//! Texts of odd pieces: what is redacted stays so, and findings stand in the text.

use proptest::prelude::*;

use super::redactor;

/// Pieces of which texts are made that a redactor looks at closely.
const PIECES: [&str; 61] = [
    "password",
    "token",
    "api_key",
    "=",
    ":",
    " ",
    "\n",
    "\"",
    "'",
    "`",
    "\\",
    "\\n",
    "\\\"",
    "://",
    "@",
    "user:",
    "Bearer ",
    "Authorization: ",
    "Cookie: a=",
    ";",
    "&",
    "?",
    "--",
    "-----BEGIN ",
    "PRIVATE KEY-----",
    "-----END ",
    "k7Qz9vWm2XpL4tRb",
    "0123456789abcdef",
    "ghp_",
    "sk-",
    "curl -u ",
    "[redacted:",
    "key-value:1a2b3c4d]",
    "\u{1b}[1m",
    "\\\n",
    "é",
    "→",
    "value: ",
    "<",
    ">",
    "</password>",
    "<password>",
    "<![CDATA[",
    "]]>",
    "pass\\u0077ord",
    "\\/",
    "\0",
    "**",
    "|",
    ",",
    "\n---|---\n",
    "\n\n",
    "ENV ",
    "machine h login u ",
    "{ default = ",
    "\"\"\"",
    "：",
    "IDENTIFIED BY ",
    "echo ",
    " | sudo -S",
    ")",
];

fn odd_text() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => (0..PIECES.len()).prop_map(|at| PIECES[at].to_owned()),
        1 => "[a-zA-Z0-9+/=]{1,30}",
        1 => ".{0,6}",
    ];
    proptest::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn redacting_twice_is_redacting_once(text in odd_text()) {
        let redactor = redactor(&["k7Qz9vWm2XpL4tRb!"]);
        let once = redactor.redact_text(&text).text.into_owned();
        let twice = redactor.redact_text(&once);
        prop_assert_eq!(twice.text.as_ref(), once.as_str());
        let once = redactor.redact_beside("password", &text).text.into_owned();
        let twice = redactor.redact_beside("password", &once);
        prop_assert_eq!(twice.text.as_ref(), once.as_str());
    }

    #[test]
    fn findings_are_apart_in_order_and_in_the_text(text in odd_text()) {
        let found = redactor(&[]).findings(&text);
        let mut at = 0;
        for finding in found {
            prop_assert!(at <= finding.start && finding.start < finding.end);
            prop_assert!(text.get(finding.start..finding.end).is_some());
            at = finding.end;
        }
    }
}
