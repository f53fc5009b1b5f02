//! What is measured: repositories of many agents, writers at the same time, and questions over facts.
//!
//! [`make`] makes a repository of a [`Scale`], [`put_under_load`] has processes and threads write into one, and
//! [`EvaluationBench`] asks questions of facts in memory. Tests ask such questions with [`ask_facts`].

mod evaluation;
mod fleet;
mod load;
mod question;
mod scale;
mod worker;

pub use crate::evaluation::{
    COPY_LOOKUPS, ENDLESS_QUESTION, EVALUATION_QUESTIONS, EvaluationBench, EvaluationFacts,
    EvaluationTime,
};
pub use crate::load::{Load, LoadReport, LoadWork, put_under_load};
pub use crate::question::{answer_rows, ask_facts, ask_facts_while};
pub use crate::scale::{Scale, ScaleTime, make};
pub use crate::worker::{small_draft, work, work_each};
