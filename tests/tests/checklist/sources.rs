//! Where values are looked up: the sentences of the seed about sources, each by its gist.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tool_runtime::{
    Ask, Came, Hit, Location, Lookup, Normalisation, Pointer, Shape, Source, SourceKind, SourceSet, look_up,
    look_up_all, source_fn,
};

fn ask(slot: &str, value: &str) -> Ask {
    Ask::new("pay", slot, Shape::Text).with_value(value)
}

fn hit(value: &str) -> Lookup {
    let location = Location::whole(Pointer::Preset("x".into()), value);
    Lookup::Hit(Hit::new(location, value, Normalisation::Exact))
}

fn saying(kind: SourceKind, says: Lookup) -> Arc<dyn Source> {
    source_fn(kind, move |_| std::future::ready(says.clone()))
}

/// "The user's answer → the instruction → preset values → observed values → prior state."
#[tokio::test]
async fn sources_are_searched_in_one_order_whatever_the_order_in_which_they_are_given() {
    let searched = Arc::new(Mutex::new(Vec::new()));
    let sources: Vec<Arc<dyn Source>> = [4, 2, 0, 3, 1]
        .into_iter()
        .map(|index| {
            let (kind, searched) = (SourceKind::ALL[index], searched.clone());
            source_fn(kind, move |_| {
                searched.lock().unwrap().push(kind);
                std::future::ready(Lookup::NoResult)
            })
        })
        .collect();
    let tried = look_up(&sources, SourceSet::ALL, ask("/to", "\"alice\"")).await;
    assert_eq!(*searched.lock().unwrap(), SourceKind::ALL);
    assert_eq!(tried.outcome, Lookup::NoResult);
    assert_eq!(tried.tried, SourceKind::ALL.map(|kind| (kind, Came::NoResult)));
}

/// "When an answer is found, you stop there."
#[tokio::test]
async fn the_search_stops_where_an_answer_is_found() {
    let after = Arc::new(AtomicUsize::new(0));
    let counted = after.clone();
    let sources = [
        source_fn(SourceKind::Observed, move |_| {
            counted.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Lookup::NoResult)
        }),
        saying(SourceKind::Answer, Lookup::NoResult),
        saying(SourceKind::Instruction, hit("\"alice\"")),
    ];
    let tried = look_up(&sources, SourceSet::ALL, ask("/to", "\"alice\"")).await;
    assert_eq!(tried.outcome, hit("\"alice\""));
    assert_eq!(tried.tried, [(SourceKind::Answer, Came::NoResult), (SourceKind::Instruction, Came::Hit)]);
    assert_eq!(tried.by(), Some(SourceKind::Instruction));
    assert_eq!(after.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn a_source_that_says_something_else_ends_the_search() {
    let Lookup::Hit(other) = hit("\"bob\"") else { unreachable!() };
    let says = Lookup::Conflict(vec![other]);
    let sources = [saying(SourceKind::Instruction, says.clone()), saying(SourceKind::Prior, hit("\"alice\""))];
    let tried = look_up(&sources, SourceSet::ALL, ask("/to", "\"alice\"")).await;
    assert_eq!((tried.outcome, tried.tried.len()), (says, 1));
}

/// "A lookup is only a lookup if each slot has a designated source."
#[tokio::test]
async fn a_slot_is_looked_up_in_its_designated_sources_only() {
    let sources = SourceKind::ALL.map(|kind| saying(kind, hit("\"alice\"")));
    let from = SourceSet::from([SourceKind::Prior, SourceKind::Preset]);
    let tried = look_up(&sources, from, ask("/to", "\"alice\"")).await;
    assert_eq!(tried.tried, [(SourceKind::Preset, Came::Hit)]);
    let tried = look_up(&sources, SourceSet::none(), ask("/to", "\"alice\"")).await;
    assert_eq!((tried.outcome, tried.tried), (Lookup::NoResult, vec![]));
}

#[tokio::test]
async fn a_source_that_fails_or_panics_is_not_one_without_result() {
    let panics_at_once = source_fn(SourceKind::Preset, |_| -> std::future::Ready<Lookup> { panic!("no map") });
    let panics_later = source_fn(SourceKind::Preset, |_| async { panic!("no map") });
    let fails = saying(SourceKind::Preset, Lookup::Failed("no map".into()));
    for source in [panics_at_once, panics_later, fails] {
        // What a later source says doesn't stand in for it.
        let sources = [source, saying(SourceKind::Prior, hit("\"alice\""))];
        let tried = look_up(&sources, SourceSet::ALL, ask("/to", "\"alice\"")).await;
        let Lookup::Failed(reason) = &tried.outcome else { panic!("{tried:?}") };
        assert!(reason.contains("no map"), "{reason}");
        assert_eq!(tried.tried, [(SourceKind::Preset, Came::Failed)]);
    }
}

/// Nobody's value is vouched for by a source that doesn't look at it.
#[tokio::test]
async fn a_hit_with_another_value_is_a_conflict_and_one_with_none_a_failure() {
    let look = |says: &str, asked: Ask| {
        let sources = [saying(SourceKind::Prior, hit(says))];
        async move { look_up(&sources, SourceSet::ALL, asked).await }
    };
    let Lookup::Hit(other) = hit("\"bob\"") else { unreachable!() };
    let tried = look("\"bob\"", ask("/to", "\"alice\"")).await;
    assert_eq!(tried.outcome, Lookup::Conflict(vec![other]));
    assert_eq!(tried.tried, [(SourceKind::Prior, Came::Conflict)]);
    // Without a value there is none to be unlike.
    assert_eq!(look("\"bob\"", Ask::new("pay", "/to", Shape::Text)).await.outcome, hit("\"bob\""));
    let (spelt, asked) = (r#"{"b":1,"a":2}"#, ask("/to", r#"{"a":2,"b":1}"#));
    assert_eq!(look(spelt, asked).await.outcome, hit(spelt));
    for asked in [ask("/to", "\"alice\""), Ask::new("pay", "/to", Shape::Text)] {
        let tried = look("alice", asked).await;
        assert!(matches!(&tried.outcome, Lookup::Failed(why) if why.contains("no JSON text")), "{tried:?}");
        assert_eq!(tried.tried, [(SourceKind::Prior, Came::Failed)]);
    }
}

/// A source needn't know how little of a secret is kept.
#[tokio::test]
async fn of_a_secret_no_excerpt_is_kept_whatever_the_source_does() {
    for conflict in [false, true] {
        let source = source_fn(SourceKind::Prior, move |_| {
            let location = Location::whole(Pointer::Prior("safe".into()), "hunter");
            let mut hit = Hit::new(location, "\"hunter\"", Normalisation::Exact);
            hit.excerpt = Some("the pin is hunter".into());
            std::future::ready(if conflict { Lookup::Conflict(vec![hit]) } else { Lookup::Hit(hit) })
        });
        let tried = look_up(&[source], SourceSet::ALL, ask("/pin", "\"hunter\"").secret()).await;
        let hit = match &tried.outcome {
            Lookup::Hit(hit) => hit,
            Lookup::Conflict(hits) => &hits[0],
            _ => panic!("{tried:?}"),
        };
        assert!(hit.secret && hit.excerpt.is_none(), "{tried:?}");
        let bare = Location::whole(Pointer::Prior("safe".into()), "hunter");
        assert_ne!(hit.location, bare);
    }
}

/// "Lookups run in parallel."
#[tokio::test]
async fn lookups_of_several_slots_run_together() {
    // Each waits for all others: one after the other they would never end.
    let barrier = Arc::new(tokio::sync::Barrier::new(3));
    let source = source_fn(SourceKind::Prior, move |ask: Ask| {
        let barrier = barrier.clone();
        async move {
            barrier.wait().await;
            hit(ask.value().unwrap_or_default())
        }
    });
    let asks = ["1", "2", "3"].map(|value| (SourceSet::ALL, ask("/n", value)));
    let tried = look_up_all(&[source], asks).await;
    assert_eq!(tried.into_iter().map(|tried| tried.outcome).collect::<Vec<_>>(), ["1", "2", "3"].map(hit));
}

/// "Unknown should not be part of the model's vocabulary."
#[test]
fn unknown_is_no_location() {
    for word in ["unknown", "Unknown", "null", "none", "no result", "?"] {
        assert!(word.parse::<Pointer>().is_err(), "{word}");
    }
}

#[test]
fn a_secret_hit_shows_nothing_of_itself() {
    let ask = ask("/pin", "\"4711\"").secret();
    let mut hit = Hit::new(Location::whole(Pointer::Turn(1), "4711"), "\"4711\"", Normalisation::Exact);
    hit.excerpt = Some("it is 4711".into());
    let hit = hit.answering(&ask);
    assert_eq!((hit.value.as_str(), hit.location.digest()), ("\"4711\"", None));
    for text in [format!("{hit:?}"), serde_json::to_string(&hit).unwrap()] {
        assert!(!text.contains("4711"), "{text}");
    }
}
