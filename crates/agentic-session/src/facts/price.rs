//! What models cost, as git's configuration says it: `agentic.price`, whose values are the name of a
//! model and the prices of a million tokens, read and written; after them, where they differ from
//! those of tokens read, the prices of tokens read from a cache and written to it.

use std::collections::BTreeMap;

use crate::{Result, SessionSpace};

/// The setting that names the prices.
const PRICE: &str = "agentic.price";
/// For how many tokens a price is.
const TOKENS: f64 = 1_000_000.0;

/// The prices of models.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ModelPrices {
    prices: BTreeMap<String, TokenPrices>,
    /// The values that name no price.
    pub(super) flaws: Vec<String>,
}

/// The prices of a million tokens: read, written, read from a cache, written to a cache.
type TokenPrices = [f64; 4];

impl ModelPrices {
    /// Reads the setting.
    ///
    /// # Errors
    /// Fails when git cannot be asked.
    pub(super) fn read(space: &SessionSpace) -> Result<ModelPrices> {
        let settings = space.repository().git(&["config", "--get-all", PRICE])?.stdout;
        Ok(ModelPrices::of(&settings))
    }

    /// Reads its values, a line each. Of two for one model the last counts.
    fn of(settings: &str) -> ModelPrices {
        let mut found = ModelPrices::default();
        for line in settings.lines().filter(|line| !line.trim().is_empty()) {
            match price_of(line) {
                Some((model, prices)) => _ = found.prices.insert(model, prices),
                None => {
                    found.flaws.push(format!("`{PRICE}` has a value that names no price: {line}"))
                }
            }
        }
        found
    }

    /// Computes what tokens of a model cost; nothing if nobody has said what they cost, or how many
    /// were read and written.
    pub(super) fn cost(&self, model: &str, tokens: [Option<i64>; 4]) -> Option<f64> {
        let prices = self.prices.get(model)?;
        if tokens[0].is_none() && tokens[1].is_none() {
            return None;
        }
        let each = tokens.iter().zip(prices).map(|(n, price)| n.unwrap_or(0) as f64 * price);
        Some(each.sum::<f64>() / TOKENS)
    }
}

/// Reads one value; nothing if it names no price.
fn price_of(line: &str) -> Option<(String, TokenPrices)> {
    let mut words = line.split_whitespace();
    let model = words.next()?.to_owned();
    let prices = words.map(|word| word.parse::<f64>().ok().filter(|it| (0.0..1e12).contains(it)));
    match *prices.collect::<Option<Vec<f64>>>()? {
        [input, output] => Some((model, [input, output, input, input])),
        [input, output, read] => Some((model, [input, output, read, input])),
        [input, output, read, written] => Some((model, [input, output, read, written])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_tokens_cost_what_the_setting_says() {
        let prices = ModelPrices::of("fast 1 5\nslow 3 15 0.3 3.75\nfast 2 5\n");
        assert_eq!(prices.flaws, Vec::<String>::new());
        let cost = |model, tokens| prices.cost(model, tokens);
        assert_eq!(cost("fast", [Some(1_000_000), Some(1_000_000), None, None]), Some(7.0));
        assert_eq!(cost("fast", [Some(0), None, Some(500_000), None]), Some(1.0));
        assert_eq!(cost("slow", [Some(0), Some(0), Some(1_000_000), Some(0)]), Some(0.3));
        assert_eq!(cost("slow", [None, None, Some(1), None]), None);
        assert_eq!(cost("other", [Some(1), Some(1), None, None]), None);
    }

    #[test]
    fn a_value_that_names_no_price_is_told() {
        for flawed in ["fast", "fast 1", "fast 1 x", "fast -1 2", "fast inf 2", "fast 1 2 3 4 5"] {
            let prices = ModelPrices::of(flawed);
            assert_eq!(prices.flaws.len(), 1, "{flawed}");
            assert_eq!(prices.cost("fast", [Some(1), Some(1), None, None]), None, "{flawed}");
        }
    }
}
