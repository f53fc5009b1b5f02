//! What people are told and asked, whatever they read it in.

use agentic_model::{Map, Value, json};

/// The longest title, in characters.
const TITLE_CHARS_MAX: usize = 200;
/// The longest body, in characters.
const BODY_CHARS_MAX: usize = 8_000;
/// The longest piece of evidence, in bytes of its JSON; of a longer one its beginning is shown.
const EVIDENCE_BYTES_MAX: usize = 64 << 10;
/// The standard choice of letting something go on.
const ACCEPT: &str = "accept";
/// The standard choice of refusing something.
const REJECT: &str = "reject";

/// The standard choice of deciding later: the question stays open.
pub const SNOOZE: &str = "snooze";

/// How much something matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum MessageSeverity {
    /// Good to know.
    Info,
    /// No hurry.
    Low,
    /// Somebody waits.
    Medium,
    /// Somebody waits for something that cannot be undone, or has waited for too long.
    High,
    /// Everything else has to wait.
    Critical,
}

/// All severities, with their words.
const SEVERITIES: [(MessageSeverity, &str); 5] = [
    (MessageSeverity::Info, "info"),
    (MessageSeverity::Low, "low"),
    (MessageSeverity::Medium, "medium"),
    (MessageSeverity::High, "high"),
    (MessageSeverity::Critical, "critical"),
];

impl MessageSeverity {
    /// Returns the word for it.
    pub fn as_str(self) -> &'static str {
        let found = SEVERITIES.iter().find(|(severity, _)| *severity == self);
        found.map(|(_, word)| *word).expect("every severity has a word")
    }

    /// Reads the word for it, in either case.
    pub fn parse(text: &str) -> Option<MessageSeverity> {
        let found = SEVERITIES.iter().find(|(_, word)| word.eq_ignore_ascii_case(text));
        found.map(|(severity, _)| *severity)
    }
}

/// What a person can be told or asked.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelMessage {
    /// What sort of thing it is about, such as `hold`.
    pub subject: String,
    /// Which one.
    pub id: String,
    /// One line.
    pub title: String,
    /// The rest.
    pub body: String,
    /// How much it matters.
    pub severity: MessageSeverity,
    /// What there is to look at.
    pub evidence: Vec<Value>,
    /// What may be chosen.
    pub actions: Vec<MessageChoice>,
    /// Where more can be read: names with addresses.
    pub links: Vec<(String, String)>,
    /// The run that tells or asks, as its engine names it.
    pub run: String,
    /// What else is known.
    pub metadata: Map,
}

/// Something that may be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MessageChoice {
    /// The choice.
    pub id: String,
    /// What people read.
    pub label: String,
    /// How it is shown.
    pub style: ActionStyle,
}

/// How a choice is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ActionStyle {
    /// As what lets things go on.
    Primary,
    /// As what stops them.
    Danger,
    /// As any other.
    Default,
}

impl MessageChoice {
    /// Makes the action of a choice; the standard ones have their own style.
    pub fn of_choice(choice: &str) -> MessageChoice {
        let style = match choice {
            ACCEPT => ActionStyle::Primary,
            REJECT => ActionStyle::Danger,
            _ => ActionStyle::Default,
        };
        MessageChoice { id: choice.to_owned(), label: choice.to_owned(), style }
    }

    fn to_value(&self) -> Value {
        let style = match self.style {
            ActionStyle::Primary => "primary",
            ActionStyle::Danger => "danger",
            ActionStyle::Default => "default",
        };
        Value::map([
            ("id", Value::text(&self.id)),
            ("label", Value::text(&self.label)),
            ("style", Value::text(style)),
        ])
    }
}

impl ChannelMessage {
    /// Returns the choices of a question: those that it offers, `accept`, `reject` and `snooze`.
    pub fn actions_of(offered: &[&str]) -> Vec<MessageChoice> {
        let mut choices: Vec<&str> = Vec::new();
        for choice in [ACCEPT, REJECT].iter().chain(offered).chain(&[SNOOZE]) {
            if !choices.contains(choice) {
                choices.push(choice);
            }
        }
        choices.into_iter().map(MessageChoice::of_choice).collect()
    }

    /// Returns the message as data. Texts and evidence that are too long are cut; who wants all of
    /// them reads the run.
    pub fn to_value(&self) -> Value {
        let link = |(name, address): &(String, String)| {
            Value::map([("name", Value::text(name)), ("url", Value::text(address))])
        };
        Value::map([
            (
                "subject",
                Value::map([("kind", Value::text(&self.subject)), ("id", Value::text(&self.id))]),
            ),
            ("title", Value::Text(clipped(&self.title, TITLE_CHARS_MAX))),
            ("body", Value::Text(clipped(&self.body, BODY_CHARS_MAX))),
            ("severity", Value::text(self.severity.as_str())),
            ("evidence", self.evidence.iter().map(shortened).collect::<Vec<_>>().into()),
            (
                "actions",
                self.actions.iter().map(MessageChoice::to_value).collect::<Vec<_>>().into(),
            ),
            ("links", self.links.iter().map(link).collect::<Vec<_>>().into()),
            ("run", Value::text(&self.run)),
            ("metadata", Value::Map(self.metadata.clone())),
        ])
    }
}

/// Cuts a text to so many characters.
fn clipped(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// Returns a piece of evidence as it is, or the beginning of its JSON.
fn shortened(evidence: &Value) -> Value {
    let text = json::to_text(evidence);
    match text.len() <= EVIDENCE_BYTES_MAX {
        true => evidence.clone(),
        false => {
            let cut = text.floor_char_boundary(EVIDENCE_BYTES_MAX);
            Value::Text(format!("{}…", &text[..cut]))
        }
    }
}
