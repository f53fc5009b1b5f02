//! Names and texts, each kept once and then compared as a number.

/// A name or text of a [`Symbols`] table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Symbol(pub u32);

/// Every name and text literal of one source, each once.
#[derive(Debug, Clone, Default)]
pub(crate) struct Symbols {
    text: String,
    entries: Vec<SymbolEntry>,
    /// A hash table with open addressing: one more than the index of an entry, or 0.
    table: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct SymbolEntry {
    start: u32,
    end: u32,
    hash: u32,
}

const TABLE_LENGTH_MIN: usize = 256;

impl Symbols {
    /// Returns the symbol of a text, which it gets if it has none.
    pub fn intern(&mut self, text: &str) -> Symbol {
        if self.entries.len() * 2 >= self.table.len() {
            self.grow();
        }
        let hash = hash(text.as_bytes());
        let slot = match self.probe(text, hash) {
            Ok(symbol) => return symbol,
            Err(slot) => slot,
        };
        let start = self.text.len() as u32;
        self.text.push_str(text);
        self.entries.push(SymbolEntry { start, end: self.text.len() as u32, hash });
        self.table[slot] = self.entries.len() as u32;
        Symbol(self.entries.len() as u32 - 1)
    }

    /// Returns the text of a symbol.
    pub fn text(&self, symbol: Symbol) -> &str {
        let entry = self.entries[symbol.0 as usize];
        &self.text[entry.start as usize..entry.end as usize]
    }

    /// Counts the symbols.
    pub fn count(&self) -> usize {
        self.entries.len()
    }

    /// Finds the entry of a text, or the free slot it would take.
    fn probe(&self, text: &str, hash: u32) -> Result<Symbol, usize> {
        let mask = self.table.len() - 1;
        let mut slot = hash as usize & mask;
        loop {
            let Some(index) = (self.table[slot] as usize).checked_sub(1) else {
                return Err(slot);
            };
            let symbol = Symbol(index as u32);
            if self.entries[index].hash == hash && self.text(symbol) == text {
                return Ok(symbol);
            }
            slot = (slot + 1) & mask;
        }
    }

    fn grow(&mut self) {
        let length = (self.table.len() * 2).max(TABLE_LENGTH_MIN);
        self.table = vec![0; length];
        for (index, entry) in self.entries.iter().enumerate() {
            let mut slot = entry.hash as usize & (length - 1);
            while self.table[slot] != 0 {
                slot = (slot + 1) & (length - 1);
            }
            self.table[slot] = index as u32 + 1;
        }
    }
}

/// Hashes by folded multiplication, eight bytes at a time.
fn hash(bytes: &[u8]) -> u32 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    const SALT: u64 = 0x2545_f491_4f6c_dd1d;
    let fold = |state: u64, word: u64| {
        let product = u128::from(state ^ word) * u128::from(FACTOR);
        (product as u64) ^ ((product >> 64) as u64)
    };
    let mut state = SALT ^ bytes.len() as u64;
    let mut chunks = bytes.chunks_exact(8);
    for chunk in &mut chunks {
        let word = u64::from_le_bytes(chunk.try_into().expect("a chunk has eight bytes"));
        state = fold(state, word);
    }
    let rest = chunks.remainder().iter().fold(0, |word, byte| (word << 8) | u64::from(*byte));
    state = fold(state, rest ^ SALT);
    (state ^ (state >> 32)) as u32
}

/// What is known under names of one kind: an index for each symbol that has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct SymbolIndex(Vec<u32>);

const NOTHING: u32 = u32::MAX;

impl SymbolIndex {
    /// Returns the index under a name.
    pub fn get(&self, name: Symbol) -> Option<usize> {
        self.0.get(name.0 as usize).filter(|found| **found != NOTHING).map(|found| *found as usize)
    }

    /// Puts an index under a name.
    pub fn set(&mut self, name: Symbol, index: usize) {
        let at = name.0 as usize;
        if at >= self.0.len() {
            self.0.resize((at + 1).max(self.0.len() * 2), NOTHING);
        }
        self.0[at] = index as u32;
    }

    /// Forgets a name.
    pub fn remove(&mut self, name: Symbol) {
        if let Some(slot) = self.0.get_mut(name.0 as usize) {
            *slot = NOTHING;
        }
    }
}
