//! The fixed lines: what the user calls the action, which change is wanted, which tool makes it, and when.

use super::ask::Ask;
use super::examine::{Around, Examined, Filled, Findings};
use super::location::Pointer;
use super::look_up::look_up_all;
use super::shape::Shape;
use super::slot::{Party, SlotKind, SlotState, Unknown};
use super::source::{Lookup, SourceKind, SourceSet};
use crate::call::Reported;
use crate::gate::Addressee;
use crate::schema::json::Json;
use crate::schema::text;

/// The slots, as a model's report names them.
const ACTION: &str = "@action";
const CHANGE: &str = "@change";
const WHEN: &str = "@when";
const TOOL: &str = "@tool";

/// Looks up the fixed lines that are switched on. A place in what the user wrote fills them, and nothing else: a model's
/// own words are no place.
pub(super) async fn look_up(around: Around<'_>, call: &Examined<'_>, findings: &mut Findings) {
    let fixed = around.list.fixed;
    let reported = call.call.reported();
    if fixed.intent {
        change(around, call, reported.get(CHANGE), findings);
        let asks = "what should be done, in the user's own words";
        if said(around, call, ACTION, reported.get(ACTION), findings).await.is_err() {
            findings.unknowns.push(Unknown::of_line(ACTION, Party::User, asks));
        }
    }
    if fixed.timing
        && let Err(slot) = said(around, call, WHEN, reported.get(WHEN), findings).await
    {
        // A go-ahead says "now", so that this costs no question of its own.
        findings.has_to_agree("it is done now".to_owned(), Addressee::User, slot);
    }
}

/// Does the place hold words of the user? `Err` has the slot, which is open then.
async fn said(
    around: Around<'_>,
    call: &Examined<'_>,
    slot: &str,
    at: Option<&str>,
    findings: &mut Findings,
) -> Result<(), usize> {
    let open = |why: &str| SlotState::Open { party: Party::User, why: why.to_owned() };
    if let Some(recorded) = around.recorded {
        let known = recorded.slot(slot, SlotKind::Intent);
        let known = known.filter(|known| matches!(known.state(), SlotState::Found { .. } | SlotState::Answered(_)));
        return match known {
            Some(known) => {
                findings.intent(slot, known.value().map(str::to_owned), known.state().clone());
                Ok(())
            }
            None => Err(findings.intent(slot, None, open("the record doesn't have it"))),
        };
    }
    for filled in call.filled {
        if let Filled::Said(name, words, question) = filled
            && **name == *slot
        {
            let value = Json::string(text::excerpt(words, 400)).to_string();
            findings.intent(slot, Some(value), SlotState::Answered(question.clone()));
            return Ok(());
        }
    }
    let Some(at) = at else {
        return Err(findings.intent(slot, None, open("nothing was reported")));
    };
    let pointer = match at.parse::<Pointer>() {
        Ok(pointer) if matches!(pointer.source(), SourceKind::Answer | SourceKind::Instruction) => pointer,
        Ok(_) => {
            return Err(findings.intent(slot, None, open("the place that was reported is none where the user speaks")));
        }
        Err(_) => {
            return Err(findings.intent(slot, None, open("no place was reported")));
        }
    };
    let ask = Ask::new(call.tool.name(), slot, Shape::Words).with_hint(pointer);
    let from = SourceSet::from([SourceKind::Answer, SourceKind::Instruction]);
    let tried = look_up_all(around.sources, [(from, ask)]).await.into_iter().next();
    match tried.map(|tried| tried.outcome) {
        Some(Lookup::Hit(hit)) => {
            let read = Json::parse(&hit.value).ok();
            let words = text::excerpt(read.as_ref().and_then(Json::as_str).unwrap_or(&hit.value), 400);
            let state = SlotState::Found { at: hit.location, normalisation: hit.normalisation, excerpt: hit.excerpt };
            findings.intent(slot, Some(Json::string(words).to_string()), state);
            Ok(())
        }
        Some(Lookup::Failed(why)) => Err(findings.intent(slot, None, SlotState::Open { party: Party::Host, why })),
        _ => Err(findings.intent(slot, None, open("nothing stands at the place that was reported"))),
    }
}

/// Which tool it is, is the model's choice where several can make the change: code can't catch a wrong one. The user is
/// asked, in the words of what it does, and sees no names of tools; how many there were to choose among is recorded.
fn which(around: Around<'_>, call: &Examined<'_>, change: &str, findings: &mut Findings) {
    let makers = around.list.makers(change).max(1);
    let state = if makers > 1 { SlotState::Unconfirmed } else { SlotState::Holds };
    let slot = findings.intent(TOOL, Some(makers.to_string()), state);
    if makers > 1 {
        let name = call.tool.name();
        let does = call.tool.schema().description().lines().next().unwrap_or_default().replace(name, "it");
        let (change, does) = (text::shown(change, 80), text::excerpt(&does, 200));
        let words = format!("{makers} things can make the change \"{change}\", and this one is meant: {does}");
        findings.has_to_agree(words, Addressee::User, slot);
    }
}

/// A tool that can't make the change that is wanted is the wrong one, whatever it is called.
fn change(around: Around<'_>, call: &Examined<'_>, wanted: Option<&str>, findings: &mut Findings) {
    let value = |wanted: &str| Some(Json::string(text::excerpt(wanted, 200)).to_string());
    let mut changes = call.tool.changes();
    if wanted.is_none()
        && let (Some(only), None) = (changes.next(), changes.next())
    {
        // It can do nothing else: which change it is needs no report, and whether it is wanted the other lines ask.
        findings.intent(CHANGE, value(only), SlotState::Holds);
        which(around, call, only, findings);
        return;
    }
    match wanted {
        Some(wanted) if call.tool.changes().any(|change| change == wanted) => {
            findings.intent(CHANGE, value(wanted), SlotState::Holds);
            which(around, call, wanted, findings);
        }
        Some(wanted) if wanted != Reported::NO_RESULT => {
            findings.intent(CHANGE, value(wanted), SlotState::Fails);
            let can: Vec<&str> = call.tool.changes().collect();
            let can =
                if can.is_empty() { "nothing that is declared".to_owned() } else { text::listed(can.into_iter(), 8) };
            let shown = text::shown(wanted, 80);
            findings.unmet.push(format!("the change that is wanted is \"{shown}\", and this tool can change {can}"));
        }
        _ => {
            let why = "the change that is wanted was not reported".to_owned();
            findings.intent(CHANGE, None, SlotState::Open { party: Party::User, why });
            findings.unknowns.push(Unknown::of_line(CHANGE, Party::User, "which change is wanted"));
        }
    }
}
