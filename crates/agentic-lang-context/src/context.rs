//! What a model call may see: rendering, clipping by structure, and the layout of prompts.
//!
//! A prompt is made of the identity, the visible sources, the instruction and the schema, and of
//! nothing else; there is no other way into [`prompt::lay_out`].

pub(crate) mod clip;
pub(crate) mod measure;
pub(crate) mod prompt;
pub(crate) mod schema;

#[cfg(test)]
mod tests;
