//! Takes secrets out of texts before anything writes them down.
//!
//! Pure: rules, known values and the key of the tags come in, texts go out. Who finds the values and
//! the key is `agentic-capture`'s and `agentic-api`'s affair.
