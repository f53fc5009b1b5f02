//! What must hold for any program and any text.

use agentic_lang_context::json::{Json, compact, parse, pretty};
use agentic_lang_context::{Dialect, format};
use proptest::prelude::*;

use crate::engine::{drive, module, providers};

/// One statement of a generated program. Every value is a mark of its own, so that a prompt shows
/// which of them entered it.
#[derive(Debug, Clone)]
enum Piece {
    Secret,
    Use,
    Generate,
    Tool,
    If(Vec<Piece>),
    Repeat(Vec<Piece>),
    For(Vec<Piece>),
    Parallel(Vec<Piece>),
    Helper,
    Agent,
}

fn pieces() -> impl Strategy<Value = Vec<Piece>> {
    let leaf = prop_oneof![
        Just(Piece::Secret),
        Just(Piece::Use),
        Just(Piece::Generate),
        Just(Piece::Tool),
        Just(Piece::Helper),
        Just(Piece::Agent),
    ];
    let piece = leaf.prop_recursive(3, 24, 5, |inner| {
        let body = prop::collection::vec(inner, 0..5);
        prop_oneof![
            body.clone().prop_map(Piece::If),
            body.clone().prop_map(Piece::Repeat),
            body.clone().prop_map(Piece::For),
            body.prop_map(Piece::Parallel),
        ]
    });
    prop::collection::vec(piece, 1..8)
}

/// Writes a program and notes, for every `generate`, which marks its prompt must hold.
#[derive(Default)]
struct Writer {
    text: String,
    next: usize,
    /// By instruction: the marks of the visible sources, in order.
    expected: Vec<(String, Vec<String>)>,
}

impl Writer {
    fn mark(&mut self) -> usize {
        self.next += 1;
        self.next
    }

    fn write(&mut self, pieces: &[Piece], visible: &[String]) {
        let mut visible = visible.to_vec();
        for piece in pieces {
            let mark = self.mark();
            match piece {
                Piece::Secret => self.line(&format!("s{mark} = 'SECRET<{mark}>'")),
                Piece::Use => {
                    self.line(&format!("v{mark} = 'MARK<{mark}>'\nuse v{mark} as l{mark}"));
                    visible.push(format!("[l{mark}]\nsource: v{mark}\nMARK<{mark}>\n"));
                }
                Piece::Generate => {
                    self.line(&format!("generate({{ input: 'GO<{mark}>' }})"));
                    self.expected.push((format!("GO<{mark}>"), visible.clone()));
                }
                Piece::Tool => self.line(&format!("t{mark} = T.get({{ q: 'SECRET<{mark}>' }})")),
                Piece::Helper => self.line(&format!("h{mark} = helper('SECRET<{mark}>')")),
                Piece::Agent => self.line(&format!("a{mark} = B({{ s: 'SECRET<{mark}>' }})")),
                Piece::If(body) => self.block("if true", body, &visible),
                Piece::Repeat(body) => self.block("repeat * 2", body, &visible),
                Piece::For(body) => {
                    self.block("for item in ['SECRET<item>'] max 1", body, &visible);
                }
                Piece::Parallel(body) => {
                    self.text.push_str(&format!("p{mark} = "));
                    self.block("parallel for item in ['SECRET<item>'] max 1", body, &visible);
                }
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn block(&mut self, head: &str, body: &[Piece], visible: &[String]) {
        self.line(&format!("{head} {{"));
        self.write(body, visible);
        self.line("none\n}");
    }
}

fn program(pieces: &[Piece]) -> Writer {
    let mut writer = Writer::default();
    writer.line(
        "import llm M from 'SECRET<uri>://m'\nimport tool T from 'https://SECRET'\n\
         main agent A {\nmodel M\nrole 'R'\ndescription 'D'\nmain func(input) {",
    );
    writer.write(pieces, &[]);
    writer.line("none\n}\nfunc helper(s) {\ngenerate({ input: 'HELP' })\n}\n}");
    writer.line("agent B {\nmodel M\nrole 'R'\ndescription 'D'\nmain func(s) {");
    writer.line("generate({ input: 'AGENT' })\n}\n}");
    writer.expected.push(("HELP".to_owned(), Vec::new()));
    writer.expected.push(("AGENT".to_owned(), Vec::new()));
    writer
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn nothing_that_was_not_declared_enters_a_prompt(pieces in pieces()) {
        let writer = program(&pieces);
        let module = module(&writer.text);
        let mut drive = drive(&module);
        drive.input = parse(r#"{"s":"SECRET<input>"}"#).expect("valid");
        let record = drive.live(providers(None));
        for asked in record.asked.iter().filter(|asked| asked.request.kind == "model") {
            let field = |key: &str| asked.request.payload.get(key).and_then(|text| text.as_text());
            let user = field("user").expect("a prompt has a text");
            let expected = writer.expected.iter().find(|(go, _)| user.ends_with(go.as_str()));
            let (go, visible) = expected.expect("the prompt is that of a generate");
            let context = if visible.is_empty() { "" } else { "Context:\n" };
            prop_assert_eq!(user, format!("{context}{}Instruction:\n{go}", visible.concat()));
            prop_assert_eq!(field("system"), Some("You are R.\nD"));
        }
    }

    #[test]
    fn formatting_changes_no_token_and_settles_at_once(pieces in pieces(), joins in any::<u64>()) {
        let text = program(&pieces).text.replace(" = ", if joins % 2 == 0 { "=" } else { "  =  " });
        let once = format(&text, None).expect("the program parses");
        prop_assert_eq!(format(&once, None).expect("the result parses"), once.clone());
        let bare = |text: &str| text.split_whitespace().collect::<String>();
        prop_assert_eq!(bare(&once), bare(&text));
    }

    #[test]
    fn any_text_is_read_without_a_crash(text in "\\PC{0,200}") {
        let _ = Dialect::detect(&text);
        let _ = format(&text, None);
        let _ = parse(&text);
    }

    #[test]
    fn words_of_the_language_in_any_order_are_read_without_a_crash(
        words in prop::collection::vec(prop::sample::select(WORDS), 0..80)
    ) {
        let text = words.join(" ");
        let _ = format(&text, None);
        let _ = format(&format!("main agent A {{ main func(i) {{ {text} }} }}"), None);
    }

    #[test]
    fn json_survives_printing_and_parsing(json in json()) {
        prop_assert_eq!(parse(&compact(&json)).expect("compact text"), json.clone());
        prop_assert_eq!(parse(&pretty(&json)).expect("pretty text"), json);
    }
}

const WORDS: &[&str] = &[
    "use", "as", "max", "one", "of", "generate", "(", ")", "{", "}", "[", "]", "->", ":", ",", "=",
    "for", "in", "parallel", "loop", "until", "repeat", "*", "if", "else", "return", "x", "1",
    "2k", "'s'", "not", "and", "or", "+", "-", "<", ".", "\n", "model", "role", "selected",
    "empty", "main", "func", "agent", "import", "list", "string", "input", "none", "--", "//",
];

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        (-1e300..1e300).prop_map(Json::Number),
        any::<i32>().prop_map(|number| Json::Number(f64::from(number))),
        ".{0,12}".prop_map(Json::text),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::List),
            prop::collection::vec((".{0,6}", inner), 0..20).prop_map(Json::object),
        ]
    })
}
