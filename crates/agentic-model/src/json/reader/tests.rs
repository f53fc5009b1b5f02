//! What is read, where reading stops, and that `serde_json` agrees.

use proptest::prelude::*;
use serde_json::Value as Theirs;

use super::*;

const LIKE_THEIRS: ReaderOptions =
    ReaderOptions { nesting_max: 127, values_max: usize::MAX, half_pairs: HalfPairs::Refuse };

/// Builds what `serde_json` builds.
struct TheirsSink;

impl<'t> Sink<'t> for TheirsSink {
    type Value = Theirs;
    type Key = String;
    type Members = serde_json::Map<String, Theirs>;

    fn scalar(&mut self, scalar: Scalar<'t>) -> Result<Theirs, JsonReason> {
        Ok(match scalar {
            Scalar::Null => Theirs::Null,
            Scalar::Bool(truth) => Theirs::Bool(truth),
            Scalar::Number(text) => number(text).ok_or(JsonReason::NumberOutOfRange)?,
            Scalar::Text(text) => Theirs::String(text.into_owned()),
        })
    }

    fn list(&mut self, items: Vec<Theirs>) -> Result<Theirs, JsonReason> {
        Ok(Theirs::Array(items))
    }

    fn key(&mut self, text: Cow<'t, str>) -> String {
        text.into_owned()
    }

    fn member(&mut self, members: &mut Self::Members, key: String, value: Theirs) {
        members.insert(key, value);
    }

    fn object(&mut self, members: Self::Members) -> Result<Theirs, JsonReason> {
        Ok(Theirs::Object(members))
    }
}

fn number(text: &str) -> Option<Theirs> {
    let whole = text.parse::<i64>().ok().filter(|whole| *whole != 0 || text == "0");
    let whole = whole.map(Theirs::from).or_else(|| text.parse::<u64>().ok().map(Theirs::from));
    let float = || text.parse::<f64>().ok().filter(|float| float.is_finite()).map(Theirs::from);
    whole.or_else(float)
}

fn check(text: &str, half_pairs: HalfPairs, wanted: Result<&str, (usize, JsonReason)>) {
    let read = read(
        text,
        ReaderOptions { nesting_max: 2, values_max: usize::MAX, half_pairs },
        TheirsSink,
    );
    let read = read.map(|value| value.to_string()).map_err(|fault| (fault.at, fault.reason));
    assert_eq!(read, wanted.map(str::to_owned), "{text:?}");
}

#[test]
fn reading_stops_where_the_text_is_wrong() {
    let cases = [
        ("", 0, JsonReason::ValueMissing),
        (" [1, ", 5, JsonReason::ValueMissing),
        ("[1,]", 3, JsonReason::NotAValue),
        ("tru", 0, JsonReason::NotAValue),
        ("{a:1}", 1, JsonReason::KeyExpected),
        ("{\"a\":1,}", 7, JsonReason::KeyExpected),
        ("{\"a\" 1}", 5, JsonReason::ColonExpected),
        ("[1 2]", 3, JsonReason::ListGoesOn),
        ("[1}", 2, JsonReason::ListGoesOn),
        ("{\"a\":1", 6, JsonReason::ObjectGoesOn),
        ("1 2", 2, JsonReason::TrailingText),
        ("[[[]]]", 2, JsonReason::TooDeep),
        ("-", 1, JsonReason::NotANumber),
        ("01", 2, JsonReason::NotANumber),
        ("1.", 2, JsonReason::FractionMissing),
        ("1e+", 3, JsonReason::ExponentMissing),
        ("1e999", 5, JsonReason::NumberOutOfRange),
        ("\"é", 3, JsonReason::TextOpen),
        ("\"a\u{1}\"", 2, JsonReason::ControlCharacter),
        ("\"\\", 2, JsonReason::EscapeMissing),
        ("\"\\x\"", 2, JsonReason::EscapeUnknown),
        ("\"\\u12g4\"", 3, JsonReason::EscapeDigits),
        ("\"\\u12é\"", 3, JsonReason::EscapeDigits),
        ("\"\\ud800\"", 7, JsonReason::HalfPair),
        ("\"\\ud800\\u0041\"", 13, JsonReason::HalfPair),
    ];
    for (text, at, reason) in cases {
        check(text, HalfPairs::Refuse, Err((at, reason)));
    }
}

#[test]
fn half_pairs_are_replaced_one_by_one_where_that_is_asked_for() {
    let cases = [
        (r#""\ud800\n""#, "\"\u{fffd}\\n\""),
        (r#""\udc00\ud83d\ude00""#, "\"\u{fffd}😀\""),
        (r#""\ud800\u0041""#, "\"\u{fffd}A\""),
        (r#""\ud800\ud83d\ude00""#, "\"\u{fffd}😀\""),
    ];
    for (text, wanted) in cases {
        check(text, HalfPairs::Replace, Ok(wanted));
    }
}

/// Pieces of JSON, whole and broken.
const PIECES: [&str; 44] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    "\"a\"",
    "\"a\":",
    "\"b\" : ",
    "{\"a\":",
    "[1,",
    "],",
    "null",
    "true",
    "false",
    "nul",
    "0",
    "-0",
    "-",
    "1",
    "01",
    "1.",
    ".5",
    "2.5",
    "1e",
    "1e5",
    "1E-400",
    "1e400",
    "9223372036854775808",
    "123456789012345678901234567890",
    "\"\\ud800\"",
    "\"\\ud83d\\ude00\"",
    "\"\\udc00\\u0041\"",
    "\"\\u12\"",
    "\"\\n\\/\\x\"",
    "\"é\n\"",
    "\"\u{7f}é\"",
    " ",
    "\n",
    "\t\r",
    "\0",
    "\u{feff}",
];

/// Texts that are JSON now and then.
fn texts() -> impl Strategy<Value = String> {
    let pieces = proptest::collection::vec(proptest::sample::select(&PIECES[..]), 0..12);
    let leaf = proptest::sample::select(&PIECES[14..40]).prop_map(str::to_owned);
    let nested = leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..5)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            proptest::collection::vec(inner, 0..5).prop_map(|items| {
                let members = items.iter().enumerate();
                let members: Vec<String> =
                    members.map(|(at, item)| format!("\"k{}\" :{item}", at % 3)).collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    });
    let cut = (nested.clone(), any::<proptest::sample::Index>(), any::<char>());
    let cut = cut.prop_map(|(text, at, put)| {
        let mut letters: Vec<char> = text.chars().collect();
        let at = at.index(letters.len());
        letters[at] = put;
        letters.into_iter().collect()
    });
    prop_oneof![pieces.prop_map(|pieces| pieces.concat()), nested, cut, any::<String>()]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn serde_json_takes_the_same_texts_for_the_same_values(text in texts()) {
        let theirs = serde_json::from_str::<Theirs>(&text);
        let ours = read(&text, LIKE_THEIRS, TheirsSink);
        prop_assert_eq!(ours.ok(), theirs.ok());
    }
}

#[test]
fn serde_json_stops_at_the_same_depth() {
    for depth in [127, 128] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        let theirs = serde_json::from_str::<Theirs>(&text);
        assert_eq!(read(&text, LIKE_THEIRS, TheirsSink).is_ok(), theirs.is_ok(), "{depth}");
    }
}
