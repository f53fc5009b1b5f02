//! Phases: pure functions that give a result or findings, and compose.

use crate::finding::PipelineFindings;

/// A step of the compiler. Every function from a value to a result or findings is one.
///
/// `then` is associative, and a phase that returns what it was given is its identity, so that
/// phases can be wrapped, timed or stored without changing what a compiler means.
pub trait CompilerPhase<A, B>: Sized {
    /// Runs the phase.
    ///
    /// # Errors
    /// Returns what is wrong with the input.
    fn run(&self, input: A) -> Result<B, PipelineFindings>;

    /// Puts another phase behind this one; it is not run when this one has findings.
    fn then<C>(self, next: impl CompilerPhase<B, C>) -> impl CompilerPhase<A, C> {
        move |input: A| next.run(self.run(input)?)
    }
}

impl<A, B, F> CompilerPhase<A, B> for F
where
    F: Fn(A) -> Result<B, PipelineFindings>,
{
    fn run(&self, input: A) -> Result<B, PipelineFindings> {
        self(input)
    }
}
