//! One branch of a run on a stack of its own, which can stop in the middle of any call.
//!
//! The interpreter keeps its state on the machine's stack, and scripts reach the outside from
//! inside native functions (`map`, `sort`), whose frames no error can leave and come back to. So
//! each branch is a coroutine. A native function suspends it through the [`BranchExit`], which knows
//! the branch that runs at the moment.
//!
//! The library hands the means of suspending to the body of a coroutine as a reference into its
//! stack. Functions registered with the interpreter must be `'static` and cannot borrow it. The
//! one `unsafe` line of this crate follows a pointer to it in its place.

use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;
use std::rc::Rc;

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use crate::limits::STACK_BYTES;

/// A branch that takes `I` when it is resumed, gives `O` when it suspends and `R` when it ends.
pub(crate) struct FlowStrand<I, O, R> {
    coroutine: Coroutine<I, O, R, DefaultStack>,
}

/// What a branch did.
pub(crate) enum StrandTurn<O, R> {
    /// It waits.
    Suspended(O),
    /// It is over.
    Ended(R),
    /// The interpreter panicked.
    Panicked,
}

/// The way out of the branch that runs at the moment.
pub(crate) struct BranchExit<I, O> {
    yielder: Cell<Option<NonNull<Yielder<I, O>>>>,
}

impl<I, O> BranchExit<I, O> {
    pub(crate) fn new() -> BranchExit<I, O> {
        BranchExit { yielder: Cell::new(None) }
    }

    /// Suspends the running branch until it is resumed. Gives nothing if no branch runs.
    pub(crate) fn suspend(&self, output: O) -> Option<I> {
        let yielder = self.yielder.take()?;
        let input = suspend_through(yielder, output);
        self.yielder.set(Some(yielder));
        Some(input)
    }
}

#[allow(unsafe_code)]
fn suspend_through<I, O>(yielder: NonNull<Yielder<I, O>>, output: O) -> I {
    // SAFETY: The pointer comes from the baton, which holds one only while the coroutine that put
    // it there is running: `Strand::new` puts it there when the body begins and takes it out when
    // the body ends, `Baton::suspend` takes it out before control leaves and puts it back when
    // control returns. So this code runs on the stack of that very coroutine, above the frame of
    // its body, for whose length the library lends the yielder. It is only ever shared, and
    // neither type is `Send`, so no other thread is involved.
    unsafe { yielder.as_ref() }.suspend(output)
}

impl<I: 'static, O: 'static, R: 'static> FlowStrand<I, O, R> {
    /// Makes a branch; it begins when it is resumed first.
    pub(crate) fn new(
        baton: &Rc<BranchExit<I, O>>,
        body: impl FnOnce(I) -> R + 'static,
    ) -> io::Result<FlowStrand<I, O, R>> {
        let stack = DefaultStack::new(STACK_BYTES)?;
        let baton = Rc::clone(baton);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<I, O>, input| {
            baton.yielder.set(Some(NonNull::from(yielder)));
            let clear = ClearOnDrop(&baton);
            let result = body(input);
            drop(clear);
            result
        });
        Ok(FlowStrand { coroutine })
    }

    /// Says whether the branch stands somewhere in its body.
    pub(crate) fn is_suspended(&self) -> bool {
        self.coroutine.started() && !self.coroutine.done()
    }

    /// Runs the branch until it suspends or ends. A branch that has ended is not resumed again.
    pub(crate) fn resume(&mut self, input: I) -> StrandTurn<O, R> {
        match catch_unwind(AssertUnwindSafe(|| self.coroutine.resume(input))) {
            Ok(CoroutineResult::Yield(output)) => StrandTurn::Suspended(output),
            Ok(CoroutineResult::Return(result)) => StrandTurn::Ended(result),
            Err(_) => StrandTurn::Panicked,
        }
    }
}

/// Takes the pointer out of the baton when the body ends, by a panic too.
struct ClearOnDrop<'b, I, O>(&'b BranchExit<I, O>);

impl<I, O> Drop for ClearOnDrop<'_, I, O> {
    fn drop(&mut self) {
        self.0.yielder.set(None);
    }
}
