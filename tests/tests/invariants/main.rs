//! The invariants of the design, from outside: one module for each, whose tests bear its number.
//!
//! | invariant | what it says | where it is tested |
//! |---|---|---|
//! | 1 | four fields | `inv01_four_fields`; facts of types: trybuild |
//! | 2 | host stays | `inv02_host_stays`; facts of types: trybuild |
//! | 3 | one result per call | `inv03_one_result_per_call`; a dropped turn: `behaviours::cancellation` |
//! | 4 | no permit, no run | `inv04_no_permit_no_run`; facts of types: trybuild |
//! | 5 | what was judged is what ran | `inv05_what_was_judged_is_what_ran`; layers: `behaviours::gate` |
//! | 6 | the schema shown is the schema enforced | `inv06_schema_shown_is_enforced`; generated schemas: `properties` |
//! | 7 | deny beats ask beats allow | `inv07_deny_ask_allow`; remembered grants: `behaviours::approvals` |
//! | 8 | no answer is not yes | `inv08_no_answer_is_no_yes` |
//! | 9 | an approval binds the whole set | `inv09_an_approval_binds_the_whole_set`; over files and databases: `ledger` |
//! | 10 | record first | `inv10_record_first`; the switch: `ledger::failing` |
//! | 11 | the model reads narrations | `inv11_model_reads_narrations` |
//! | 12 | never reject on results | `inv12_never_reject_on_results`; a reject takes proof: trybuild |
//! | 13 | same input, same bytes | `inv13_same_input_same_bytes` |
//! | 14 | bad input is data | `inv14_bad_input_is_data`; any bytes at all: `properties` |
//! | 15 | nobody's build opens the gate | `inv15_nobodys_build_opens_the_gate`, and all others once more with each feature |

#![allow(missing_docs, reason = "the types here say what they are by their fields")]

mod inv01_four_fields;
mod inv02_host_stays;
mod inv03_one_result_per_call;
mod inv04_no_permit_no_run;
mod inv05_what_was_judged_is_what_ran;
mod inv06_schema_shown_is_enforced;
mod inv07_deny_ask_allow;
mod inv08_no_answer_is_no_yes;
mod inv09_an_approval_binds_the_whole_set;
mod inv10_record_first;
mod inv11_model_reads_narrations;
mod inv12_never_reject_on_results;
mod inv13_same_input_same_bytes;
mod inv14_bad_input_is_data;
mod inv15_nobodys_build_opens_the_gate;
mod support;
