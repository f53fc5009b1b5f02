use super::*;

mod corpus;
mod pieces;
