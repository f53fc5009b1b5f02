//! Long texts, hostile ones among them: they hide nothing, and cost as much as they are long.

use super::{redactor, untagged};
use crate::steps;

/// Texts that make a scanner look again and again at the same bytes, if it does.
fn hostile(len: usize) -> Vec<String> {
    let pieces = [
        "token=",
        "password=",
        "%2",
        "%70assword=",
        "password=\"",
        "key=\\\"",
        "://",
        "-----BEGIN A-----",
        "curl -u ",
        "a:@",
        "Cookie: a=",
        "\"password\": '",
        "ghp_",
        "sk-",
        "AKIA",
        "bearer ",
        "=",
        "a",
        "[redacted:",
        "\u{1b}[",
        "\\\n",
        "eyJ",
        "secret,",
        "pass(",
        "xoxb-1",
        "-----BEGIN PRIVATE KEY-----\nAAAAAAAAAAAAAAAAAAAAAAAA\n",
        "Private-Lines: ",
        "a:-----BEGIN A-----\n",
        "token=\\\\\"secret=\\\"",
        "curl ",
        "curlcurl",
        "http://a:b",
        "http://a:b/",
        "curl -su ",
        "identified with ",
        "<password>",
        "<a b=\"password\">",
        "\"token\" {",
        "token:\n\n",
        "password|\n---|\n",
        "secret,password\n",
        "secret\t",
        "|token|",
        "set token -",
        "name=\"password\"\n",
        "password='''",
        "password=\"\"\"",
        "\\u0070",
        "\\/",
        "p\0",
        "echo a|sudo -S ",
        "chpasswd <<< a",
        "password=Ab1xyz9)a1",
        "password for ",
        "Authorization: Digest response=",
    ];
    let mut texts: Vec<String> =
        pieces.iter().map(|piece| piece.repeat(len / piece.len())).collect();
    texts.push(pieces.concat().repeat(len / pieces.concat().len()));
    texts
}

#[test]
fn time_grows_as_texts_do() {
    // Ten times as long may take ten times as many steps; what rounding leaves over is little.
    let redactor = redactor(&["aaaaaaaaaaaaaaab", "token=token=token=!"]);
    let n_steps = |text: &String| {
        steps::taken();
        redactor.redact_text(text);
        steps::taken()
    };
    for (short, long) in hostile(6_000).iter().zip(&hostile(60_000)) {
        let (few, many) = (n_steps(short), n_steps(long));
        let begin: String = long.chars().take(20).collect();
        assert!(few >= short.len(), "{begin:?}: {few} steps are too few to have read it");
        assert!(many < few * 12, "{begin:?}: {few} steps, then {many}");
    }
}

/// Lines without secrets.
fn plain_lines(len: usize) -> String {
    "let answer = 42; // plain words of a program\n".repeat(len / 45)
}

#[test]
fn long_texts_hide_nothing_behind_codes_and_ends_of_lines() {
    let plain = plain_lines(100_000);
    let hidden = [
        ("password: \\\nk7Qz9vWm2XpL\n", "password: \\\n[redacted:key-value:*]\n"),
        ("curl -s \\\n -u ada:k7Qz9vWm2XpL x\n", "curl -s \\\n -u ada:[redacted:flag:*] x\n"),
        ("password: k7Qz\u{1b}[1m9vWm2XpL\n", "password: [redacted:key-value:*]\n"),
    ];
    for (text, expected) in hidden {
        let redacted =
            redactor(&[]).redact_text(&format!("{plain}{text}{plain}")).text.into_owned();
        assert_eq!(untagged(&redacted), format!("{plain}{expected}{plain}"));
    }
}

#[test]
fn a_part_of_a_long_text_begins_and_ends_in_nothing() {
    let line = "MIIDdzCCAl+gAwIBAgIEAgAAuTANBgkqhkiG9w0BAQUFADBaMQswCQYDVQQGEwJ\n";
    let body = line.repeat(200);
    let certificate = format!("-----BEGIN CERTIFICATE-----\n{body}-----END CERTIFICATE-----\n");
    let run = "aZ9+bY8/".repeat(2_000);
    let plain = plain_lines(100_000);
    for public in [certificate.as_str(), run.as_str()] {
        let text = format!("{plain}{public} \\\n\u{1b}[1m {public}{plain}");
        assert_eq!(redactor(&[]).redact_text(&text).text, text);
    }
}

#[test]
fn codes_and_ends_of_lines_cost_what_stands_around_them() {
    let redactor = redactor(&["aaaaaaaaaaaaaaab"]);
    let n_steps = |text: &str| {
        steps::taken();
        redactor.redact_text(text);
        steps::taken()
    };
    let plain = plain_lines(400_000);
    let once = n_steps(&plain);
    let few = n_steps(&format!("{plain}a \\\n b \u{1b}[1m c\n{plain}")) / 2;
    assert!(few < once * 13 / 10, "{once} steps, and {few} with a code and a joint");
    // What is found costs one more look.
    let found = n_steps(&format!("{plain}a \\\n\u{1b}[1m password: k7Qz9vWm2XpL\n{plain}")) / 2;
    assert!(found < once * 23 / 10, "{once} steps, and {found} with a secret");
    for piece in ["\u{1b}[1m", "\\\n", "-----BEGIN A-----\\\n"] {
        let apart = |len: usize| format!("{piece}{}", " ".repeat(9_000)).repeat(len / 9_000);
        let (few, many) = (n_steps(&apart(90_000)), n_steps(&apart(900_000)));
        assert!(many < few * 12, "{piece:?}: {few} steps, then {many}");
    }
}

#[test]
fn what_is_found_in_a_very_long_text_costs_one_look_more_at_what_stands_around_it() {
    let redactor = redactor(&["k7Qz9vWm2XpL4tRb!"]);
    let plain = plain_lines(800_000);
    let secret = "→ password: k7Qz9vWm2XpL\n→ token k7Qz9vWm2XpL4tRb! → b4Rt8uYw3ZqM\n";
    let text = format!("{plain}{secret}{plain}{secret}");
    steps::taken();
    assert_eq!(redactor.redact_text(&format!("{plain}{plain}")).findings, []);
    let once = steps::taken();
    let redacted = redactor.redact_text(&text);
    let found = steps::taken();
    assert_eq!(redacted.findings.len(), 4);
    assert!(found < once * 13 / 10, "{once} steps, and {found} with secrets");
    let again = redactor.redact_text(&redacted.text);
    assert_eq!((again.text.as_ref(), again.findings.len()), (redacted.text.as_ref(), 0));
}
