//! Runs of all tests of a file: one after the other, whatever became of the one before.

use agentic_model::Value as Model;
use agentic_replay::End;

use crate::data::{Data, TooLarge, json};
use crate::program::fault::MachineFault;
use crate::program::machine::ModuleRun;
use crate::program::strand::RoutineId;

/// How one test went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TestResult {
    /// The name of the test.
    pub name: String,
    /// Why it failed, if it did.
    pub error: Option<String>,
}

impl ModuleRun {
    /// Starts the test after the last one that ended, or ends the run.
    pub(super) fn next_test(&mut self) -> Result<(), MachineFault> {
        let at = self.tests.len();
        if at == self.module.code.tests.len() {
            let report = test_report(&self.tests).map_err(MachineFault::too_large)?;
            self.end(End::Done(Model::Text(json::to_text(&report))));
            return Ok(());
        }
        let mut strand = self.outermost(RoutineId::Test(at), Vec::new());
        strand.scope = strand.scope.child(&format!("t{at}"));
        self.launch_first(strand)
    }

    /// Takes note of how a test ended, and goes on.
    pub(super) fn test_ended(
        &mut self,
        result: Result<Data, MachineFault>,
    ) -> Result<(), MachineFault> {
        let name = self.module.code.tests[self.tests.len()].name.to_string();
        self.tests.push(TestResult { name, error: result.err().map(|fault| fault.text) });
        self.next_test()
    }
}

fn test_report(tests: &[TestResult]) -> Result<Data, TooLarge> {
    let mut list = Vec::with_capacity(tests.len());
    for test in tests {
        let error = test.error.as_deref().map_or(Data::Null, Data::text);
        list.push(Data::object(vec![
            ("name".into(), Data::text(test.name.as_str())),
            ("passed".into(), Data::Bool(test.error.is_none())),
            ("error".into(), error),
        ])?);
    }
    Data::object(vec![("tests".into(), Data::list(list)?)])
}
