//! Writes the first inputs of every target below `corpus/`.

use std::fs;
use std::path::Path;

fn main() -> std::io::Result<()> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let corpus = here.join("corpus");
    let seeds = agentic_fuzz::seeds(&here.join("../conformance"))?;
    for (n, seed) in seeds.iter().enumerate() {
        let folder = corpus.join(seed.target);
        fs::create_dir_all(&folder)?;
        fs::write(folder.join(format!("seed-{n:05}")), &seed.bytes)?;
    }
    println!("{} seeds below {}", seeds.len(), corpus.display());
    Ok(())
}
