//! The checklist: what has to be known before a call runs, where it may be looked up, and who is asked.
//!
//! Its seed is the essay "Who Fills In the Form". Each sentence of it that states a rule has a row here, in its order,
//! and tests that bear the rule's gist: those of this crate by module and name, others with their group before that.
//!
//! | | rule | tests |
//! |---|---|---|
//! | 1 | what happens before execution asks questions by an external list, and validates nothing | `seed::what_is_asked_is_what_stands_on_the_list` |
//! | 2 | a list decides what to ask, and the model asks | `blanks::all_blanks_of_a_turn_are_asked_in_one_batch`, `turns::what_can_only_be_one_blank_s_is_taken`, `turns::nothing_is_guessed`, `ledger::what_the_user_writes_next_goes_into_the_call_that_waits`, `ledger::a_turn_is_no_yes` |
//! | 3 | what goes into the form is looked up; for what is missing only the user can be | `calls::a_value_without_a_source_becomes_no_argument`, `blanks::no_result_for_a_required_value_is_asked_for_and_not_refused` |
//! | 4 | what isn't defined outside goes back to the model | `seed::what_is_asked_is_what_stands_on_the_list` |
//! | 5 | a slot is one line item that has to be confirmed | `calls::the_record_of_a_block_has_every_slot_with_what_was_tried` |
//! | 6 | an unknown is what is empty after every designated source | `sources::a_slot_is_looked_up_in_its_designated_sources_only` |
//! | 7 | the goal is the list of unknowns; its length decides | `blanks::a_remaining_blank_halts_execution` |
//! | 8 | correcting a wrong answer is filling one slot | `given::a_wrong_answer_is_corrected_by_filling_the_slot_again` |
//! | 9 | slots don't relate to one another | `sources::lookups_of_several_slots_run_together` |
//! | 10 | lookups are no further inference | `blanks::no_result_for_a_required_value_is_asked_for_and_not_refused`, `replay::a_replay_asks_nobody_and_looks_nothing_up` |
//! | 11 | round trips collapse into one | `blanks::all_blanks_of_a_turn_are_asked_in_one_batch` |
//! | 12 | execution accepts a recorded verdict only | `invariants::inv04_a_blocked_verdict_gives_no_permit`, `invariants::inv10_what_is_not_recorded_does_not_run` |
//! | 13 | the list is divided by who can answer | `asking::two_who_can_answer_get_two_sets_each_with_what_is_theirs` |
//! | 14 | wrong, uninstructed, off target: values, conditions, intent | `seed::a_block_is_of_a_value_a_condition_or_the_intent` |
//! | 15 | what is added goes into the tool list and the schema | `judging::a_line_of_the_provider_that_cant_be_judged_is_not_asked_of_the_user` |
//! | 16 | balance, recipient, time, circumstance, authority, safety | `expressions::a_condition_compares_an_argument_with_the_state`, `judging::a_condition_can_be_not_met`, `seed::authority_and_safety_are_lines_like_any_other` |
//! | 17 | values and conditions on one list, handled in one way | `seed::values_and_conditions_stand_on_one_list` |
//! | 18 | providers write conditions in prose already | `seed::prose_without_a_label_is_reported_to_its_provider` |
//! | 19 | intent is a slot: what the user calls it, which change is wanted | `intent::a_tool_that_cant_make_the_wanted_change_is_filtered_out` |
//! | 20 | a tool chosen while these are empty is off target | `intent::a_tool_that_cant_make_the_wanted_change_is_filtered_out` |
//! | 21 | tools match by what they can change, not by name | `intent::a_tool_that_cant_make_the_wanted_change_is_filtered_out` |
//! | 22 | the fixed list: which tool, when, what the user calls it | `seed::the_fixed_lines_can_be_switched_off`, `seed::several_that_can_do_it_are_asked_about_without_their_names` |
//! | 23 | the provider's list | `judging::a_confirm_is_asked_although_the_policy_allows`, `judging::a_condition_can_be_not_met`, `asking::an_extra_approval_is_asked_of_who_is_named` |
//! | 24 | the user's list | `seed::a_users_list_has_intent_context_limits_confirmation_and_preferences`, `limits::a_sum_is_counted_exactly_and_in_the_order_of_the_model`, `limits::beyond_the_limit_somebody_may_be_asked` |
//! | 25 | each slot has designated sources | `sources::a_slot_is_looked_up_in_its_designated_sources_only` |
//! | 26 | the five sources in their order | `sources::sources_are_searched_in_one_order_whatever_the_order_in_which_they_are_given` |
//! | 27 | the order isn't trust: the search stops where an answer is | `sources::the_search_stops_where_an_answer_is_found`, `sources::a_source_that_says_something_else_ends_the_search` |
//! | 28 | unknown is what remains, and not what the model declares | `sources::unknown_is_no_location` |
//! | 29 | what is needed and empty is asked of the user | `blanks::no_result_for_a_required_value_is_asked_for_and_not_refused` |
//! | 30 | no inference | `calls::a_value_without_a_source_becomes_no_argument` |
//! | 31 | a whitelist of places, each recorded | `calls::without_files_and_labels_the_rest_holds`, `conversation::the_assistant_s_turns_are_no_source` |
//! | 32 | everything to be confirmed is written down | `seed::what_is_asked_is_what_stands_on_the_list` |
//! | 33 | the model records what it finds, or no result | `blanks::no_result_for_a_required_value_is_asked_for_and_not_refused` |
//! | 34 | unknown isn't in the model's vocabulary | `sources::unknown_is_no_location` |
//! | 35 | it has to be able to write "no result" | `blanks::no_result_for_a_required_value_is_asked_for_and_not_refused` |
//! | 36 | the instruction is the entire conversation | `conversation::the_instruction_is_the_whole_conversation` |
//! | 37 | a principle only where code can catch a violation | `seed::every_principle_names_what_catches_its_violation` |
//! | 38 | slots from the list, values from lookup, the absent from the user | `calls::without_files_and_labels_the_rest_holds` |
//! | 39 | when, and what it was called; then the tool | `intent::a_tool_that_cant_make_the_wanted_change_is_filtered_out` |
//! | 40 | unclear timing is asked, never immediate | `intent::unclear_timing_is_asked_and_costs_no_question_of_its_own` |
//! | 41 | of several candidates no names: the user clarifies the action | `seed::several_that_can_do_it_are_asked_about_without_their_names` |
//! | 42 | point to the location, not the value | `calls::a_value_is_read_where_the_model_points`, `calls::a_place_that_holds_no_such_value_fills_nothing` |
//! | 43 | what is used again is recorded with consent | `given::what_is_kept_with_consent_is_looked_up_and_can_be_withdrawn`, `given::nothing_is_kept_without_consent_and_no_secret_at_all`, `given::what_the_user_has_kept_is_looked_up_in_the_next_conversation`, `given::secrets_are_not_kept_and_nothing_is_without_a_memory`, `ledger::what_a_reply_agrees_to_is_kept_by_whoever_goes_on` |
//! | 44 | what is recorded is looked up, not asked again | `blanks::what_was_answered_once_is_not_asked_again` |
//! | 45 | nothing is retrieved from a model's memory | `calls::a_value_without_a_source_becomes_no_argument` |
//! | 46 | blanks in one batch | `blanks::all_blanks_of_a_turn_are_asked_in_one_batch` |
//! | 47 | principles stand outside the prompt, whenever a tool is involved | `seed::principles_go_along_with_every_request_that_offers_tools` |
//! | 48 | code doesn't catch the choice of a tool | `seed::several_that_can_do_it_are_asked_about_without_their_names` |
//! | 49 | what the user calls it is recorded | `intent::a_tool_that_cant_make_the_wanted_change_is_filtered_out` |
//! | 50 | code builds the list and counts | `calls::the_record_of_a_block_has_every_slot_with_what_was_tried` |
//! | 51 | the place is checked for the value | `conversation::a_location_proves_nothing_by_itself` |
//! | 52 | labels are enforced; an approval is of a slot and its value | `judging::a_confirm_is_asked_although_the_policy_allows`, `invariants::inv09_any_other_value_is_another_set_and_another_spelling_is_not` |
//! | 53 | the verdict is recorded, the blocked one too | `calls::the_record_of_a_block_has_every_slot_with_what_was_tried`, `invariants::inv10_blocked_calls_are_records_too` |
//! | 54 | code knows form only; slots and labels are data | `calls::a_rule_changes_without_a_deployment_and_never_by_half` |
//! | 55 | only the remainder goes to conversation | `seed::only_what_is_still_empty_is_asked` |
//! | 56 | the timing and the words are the user's | `intent::unclear_timing_is_asked_and_costs_no_question_of_its_own` |
//! | 57 | what isn't on the list can't be chosen | `seed::an_invented_tool_cant_be_chosen` |
//! | 58 | which was empty, which was wrong, which didn't exist | `blanks::a_conflict_is_asked_as_a_choice`, `calls::the_record_of_a_block_has_every_slot_with_what_was_tried` |
//! | 59 | what the user didn't say, and what the provider didn't declare | `judging::a_line_of_the_provider_that_cant_be_judged_is_not_asked_of_the_user`, `calls::a_source_that_failed_is_the_hosts` |
//! | 60 | that case can be sent to the provider | `seed::a_report_for_the_provider_holds_nothing_of_the_user` |
//! | 61 | without the last two sections everything runs as it is | `calls::without_files_and_labels_the_rest_holds` |
//! | 62 | a rule changes without a deployment | `calls::a_rule_changes_without_a_deployment_and_never_by_half` |
//! | 63 | which rules applied | `judging::the_order_of_judgement_is_one`, `replay::another_policy_is_seen_before_it_decides` |
//! | 64 | why a case is in the queue | `seed::the_record_says_why_a_case_waits_for_approval` |
//! | 65 | a rule is one line in the same place | `calls::a_rule_changes_without_a_deployment_and_never_by_half` |
//! | 66 | rules of others stand under the provider's list | `seed::authority_and_safety_are_lines_like_any_other` |
//! | 67 | "the condition was not met" can be answered | `judging::a_condition_can_be_not_met` |
//! | 68 | `[required]`: what isn't found is unknown | `seed::a_required_value_that_no_source_has_is_unknown` |
//! | 69 | `[confirm]`: not without the user | `judging::a_confirm_is_asked_although_the_policy_allows`, `asking::nobody_agrees_in_anothers_place` |
//! | 70 | `[notice]`: in advance | `notices::a_notice_is_shown_before_the_run_and_costs_no_answer`, `notices::a_notice_that_nobody_can_be_shown_keeps_the_call_from_running`, `asking::a_notice_is_the_users` |
//! | 71 | the vocabulary is fixed | `ui::labels_unknown` |
//! | 72 | a condition says what it is checked against, in the schema too | `seed::a_condition_can_stand_in_the_attribute_of_its_tool`, `judging::a_line_of_the_provider_that_cant_be_judged_is_not_asked_of_the_user` |
//! | 73 | reads pass | `calls::reads_pass_without_slots_unless_they_have_labels` |
//! | 74 | what means nothing is switched off | `seed::the_fixed_lines_can_be_switched_off` |
//! | 75 | a tool's list sits where its schema does | `judging::a_line_of_the_provider_that_cant_be_judged_is_not_asked_of_the_user` |
//! | 76 | no source, no argument; a blank halts; no verdict, no path | `calls::a_value_without_a_source_becomes_no_argument`, `blanks::a_remaining_blank_halts_execution` |
//! | 77 | cause and responsibility stay in the record | `calls::the_record_of_a_block_has_every_slot_with_what_was_tried`, `replay::a_verdict_held_against_its_own_list_and_policy_is_the_same_again` |
//! | 78 | which slot, which source, which stage | `calls::the_record_of_a_block_has_every_slot_with_what_was_tried` |
//! | 79 | a forged record | `ledger::every_edit_of_a_byte_is_found`, `ledger::what_was_forged_or_edited_is_refused` |

mod asking;
mod bench;
mod blanks;
mod calls;
mod conversation;
#[cfg(feature = "cel")]
mod expressions;
mod given;
mod intent;
mod judging;
mod limits;
mod notices;
mod replay;
mod secrets;
mod seed;
mod sources;
mod turns;

use std::path::Path;

/// The rows of the table: number and tests.
fn table() -> Vec<(usize, Vec<&'static str>)> {
    let rows = include_str!("main.rs").lines().filter_map(|line| {
        let cells: Vec<&str> = line.strip_prefix("//! | ")?.trim_end_matches(" |").split(" | ").collect();
        let [number, _, tests] = cells[..] else { return None };
        Some((number.parse().ok()?, tests.split(", ").map(|test| test.trim_matches('`')).collect()))
    });
    rows.collect()
}

#[test]
fn the_table_has_every_rule_once() {
    let numbers: Vec<usize> = table().into_iter().map(|(number, _)| number).collect();
    assert_eq!(numbers, (1..=79).collect::<Vec<_>>());
}

/// Is there a test of this name in a file, or in one of the files of a folder?
fn holds(path: &Path, name: &str) -> bool {
    let head = format!("fn {name}(");
    let in_file = |path: &Path| std::fs::read_to_string(path).is_ok_and(|source| source.contains(&head));
    match std::fs::read_dir(path) {
        Ok(files) => files.flatten().any(|file| in_file(&file.path())),
        Err(_) => in_file(&path.with_extension("rs")),
    }
}

/// Every test that a row names exists where the row says.
#[test]
fn the_table_names_tests_that_exist() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let tests = package.join("tests");
    for (number, named) in table() {
        assert!(!named.is_empty(), "rule {number}");
        for test in named {
            let (place, name) = test.split_once("::").unwrap_or_else(|| panic!("rule {number}: {test}"));
            let exists = match place {
                "ui" => {
                    let (theme, case) = name.split_once('_').unwrap_or_default();
                    package.join(format!("ui/{theme}/fail/{case}.stderr")).exists()
                }
                "invariants" | "ledger" => holds(&tests.join(place), name),
                module => holds(&tests.join("checklist").join(module), name),
            };
            assert!(exists, "rule {number} names {test}, which isn't there");
        }
    }
}
