//! One pass over a text for all words that any rule asks for.
//!
//! What it finds decides which expressions are compiled and where they look. Words are found by
//! their first three bytes in a table, since most commands look at one short text only: an automaton
//! of all words would cost more to make than they cost altogether.

use crate::steps;

/// What a word asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trigger {
    /// The expression of a rule.
    Rule(usize),
    /// A look at the name around it.
    Name,
    /// A look at the address around it.
    Scheme,
    /// A look at what follows `bearer`.
    Bearer,
    /// A look at the options of a command.
    Command,
    /// A look at what a program reads from its input.
    Pipe,
    /// A look at how a user of a database is identified.
    Sql,
    /// A look at a block that begins there.
    Block,
    /// A look at the lines of a key of PuTTY.
    PuttyLines,
}

/// A word in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TriggerHit {
    pub(crate) trigger: Trigger,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// Bytes by which a word is found.
pub(crate) const WORD_BYTES_MIN: usize = 3;
/// Slots of the table.
const SLOTS: usize = 1 << 13;

/// The words of the built-in rules and of all layers; `build.rs` makes both tables.
static WORDS: &[TableWord<&'static [u8]>] = include!(concat!(env!("OUT_DIR"), "/words.rs"));
static WORD_SLOTS: &[u16; SLOTS] = include!(concat!(env!("OUT_DIR"), "/slots.rs"));

/// A word, and the next one of its slot. A slot has one more than the number of its first word; 0 is
/// none.
#[derive(Debug, Clone, Copy)]
struct TableWord<W> {
    /// In lower case.
    word: W,
    trigger: Trigger,
    next: u16,
}

/// Words of rules that were added.
#[derive(Debug)]
pub(crate) struct AddedWords {
    words: Vec<TableWord<Box<[u8]>>>,
    slots: Vec<u16>,
}

/// Calls back for each word of the built-in rules and of all layers, in the order in which they begin.
pub(crate) fn each_built_in(text: &[u8], found: impl FnMut(TriggerHit)) {
    each(WORDS, WORD_SLOTS, text, found);
}

impl AddedWords {
    /// Makes a table of words, each with the number of its rule.
    pub(crate) fn new<'w>(words: impl IntoIterator<Item = (&'w str, usize)>) -> AddedWords {
        let mut added = AddedWords { words: Vec::new(), slots: vec![0; SLOTS] };
        for (word, rule) in words {
            let word: Box<[u8]> = word.to_ascii_lowercase().into_bytes().into();
            let slot = &mut added.slots[slot(&word)];
            added.words.push(TableWord { word, trigger: Trigger::Rule(rule), next: *slot });
            let number = u16::try_from(added.words.len());
            *slot = number.expect("BUG: rules and their words are counted when they are added");
        }
        added
    }

    /// Calls back for each word of a text, in the order in which they begin.
    pub(crate) fn each(&self, text: &[u8], found: impl FnMut(TriggerHit)) {
        each(&self.words, &self.slots, text, found);
    }
}

fn each<W: AsRef<[u8]>>(
    words: &[TableWord<W>],
    slots: &[u16],
    text: &[u8],
    mut found: impl FnMut(TriggerHit),
) {
    steps::count(text.len());
    // Of four bytes, since those are read at once; the last three stand by themselves.
    let quads = text.windows(WORD_BYTES_MIN + 1);
    let keys = quads.map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]));
    let last = text
        .last_chunk()
        .map(|bytes: &[u8; WORD_BYTES_MIN]| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]));
    for (start, key) in keys.chain(last).enumerate() {
        let mut at = slots[slot_of(key)];
        while at > 0 {
            let word = &words[usize::from(at) - 1];
            steps::count(word.word.as_ref().len());
            let end = start + word.word.as_ref().len();
            let is_here = text
                .get(start..end)
                .is_some_and(|text| text.eq_ignore_ascii_case(word.word.as_ref()));
            if is_here {
                found(TriggerHit { trigger: word.trigger, start, end });
            }
            at = word.next;
        }
    }
}

/// Returns the slot of three bytes, in either case.
fn slot(bytes: &[u8]) -> usize {
    slot_of(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], 0]))
}

/// Returns the slot of three bytes that were read as a number.
fn slot_of(key: u32) -> usize {
    ((key | 0x0020_2020).wrapping_mul(0x9E37_79B1) >> 19) as usize
}
