//! Ledgers that outlast a process: what is written, what nobody can change unseen, calls that wait for an answer from
//! elsewhere, and what is left after a crash.

mod crash;
mod drafts;
mod extremes;
mod failing;
mod faults;
mod file;
mod keys;
mod limits;
mod processes;
mod queries;
mod repair;
mod rotation;
mod several;
mod sql;
mod support;
mod turns;
mod waiting;
