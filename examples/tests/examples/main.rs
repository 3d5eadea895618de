//! The examples do what the README says of them.

mod agreement;
mod grounding;
mod hosts;
mod quickstart;
mod readme;
mod records;
mod replay;
mod ruling;
