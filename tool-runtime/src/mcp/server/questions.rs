//! Questions as forms, and what a filled form says of them.

use std::collections::BTreeMap;

use rmcp::model::{
    BooleanSchema, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, PrimitiveSchemaDefinition,
    StringSchema,
};

use crate::gate::{Answer, Blank, Question, QuestionSet};
use crate::schema::text;

/// The field of a form that is for a question.
fn field(index: usize, of: usize) -> String {
    if of == 1 { "go_ahead".to_owned() } else { format!("go_ahead_{}", index + 1) }
}

/// The field of a form that is for a blank of a question.
fn blank_field(index: usize, of: usize, place: usize) -> String {
    format!("{}_blank_{}", field(index, of), place + 1)
}

/// What a blank takes, as far as that is known.
fn choices(blank: &Blank) -> String {
    let choices: Vec<String> = blank.choices.iter().take(20).map(|choice| text::visible(choice, 80)).collect();
    match choices.is_empty() {
        true => text::visible(&blank.types, 80),
        false => format!("{}: {}", text::visible(&blank.types, 80), choices.join(", ")),
    }
}

/// Writes what was filled in into the blanks. What the tool doesn't take stays open, and the call doesn't run.
pub(super) fn fill(set: &QuestionSet, result: &ElicitResult) {
    let Some(content) = &result.content else { return };
    let count = set.questions.len();
    for (index, question) in set.questions.iter().enumerate() {
        for (place, blank) in question.blanks.iter().enumerate() {
            let Some(typed) = content.get(blank_field(index, count, place)).and_then(serde_json::Value::as_str) else {
                continue;
            };
            if let Err(error) = set.fill_text(&question.id, &blank.slot, typed) {
                tracing::debug!(target: "tool_runtime", %error, slot = blank.slot, "a blank was not filled");
            }
        }
    }
}

/// How much of the arguments is shown, in characters: all of what can be read by a person.
const SHOWN: usize = 4_000;

/// A form with a yes or no for each question.
pub(super) fn form(set: &QuestionSet) -> ElicitRequestParams {
    let count = set.questions.len();
    let mut properties = BTreeMap::new();
    let mut message = String::new();
    for notice in &set.notices {
        message.push_str(&text::visible(notice, 1_000));
        message.push('\n');
    }
    for (index, question) in set.questions.iter().enumerate() {
        describe(&mut message, question);
        let title = format!("Let `{}` run", text::visible(&question.tool, 80));
        let schema = BooleanSchema::new().title(title);
        properties.insert(field(index, count), PrimitiveSchemaDefinition::Boolean(schema));
        for (place, blank) in question.blanks.iter().enumerate() {
            let asks = StringSchema::new().title(text::visible(&blank.asks, 200)).description(choices(blank));
            properties.insert(blank_field(index, count, place), PrimitiveSchemaDefinition::String(asks));
        }
    }
    let required: Vec<String> = properties.keys().cloned().collect();
    let mut schema = ElicitationSchema::new(properties);
    schema.required = Some(required);
    ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema }
}

fn describe(message: &mut String, question: &Question) {
    let mut line = |text: String| {
        message.push_str(&text);
        message.push('\n');
    };
    match &question.card {
        Some(card) => {
            line(text::visible(&card.title, 500));
            if let Some(body) = &card.body {
                line(text::visible(body, SHOWN));
            }
        }
        None => line(format!("May `{}` run?", text::visible(&question.tool, 80))),
    }
    line(format!("`{}` with {}", text::visible(&question.tool, 80), text::excerpt(&question.arguments, SHOWN)));
    for reason in &question.reasons {
        line(format!("Asked because: {}", text::visible(reason, 500)));
    }
}

/// What a filled form says of each question. Nothing is a yes but a yes.
pub(super) fn read(questions: &[Question], result: &ElicitResult) -> Vec<Answer> {
    let count = questions.len();
    let answer = |index: usize| match &result.action {
        ElicitationAction::Accept => {
            match result.content.as_ref().and_then(|content| content.get(field(index, count))) {
                Some(serde_json::Value::Bool(true)) => Answer::Yes,
                Some(serde_json::Value::Bool(false)) => Answer::No,
                _ => Answer::Unavailable,
            }
        }
        ElicitationAction::Decline => Answer::No,
        // The question was closed, and not answered.
        _ => Answer::Unavailable,
    };
    (0..count).map(answer).collect()
}
