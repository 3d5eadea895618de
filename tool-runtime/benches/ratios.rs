//! What a call costs, as a multiple of what it costs at the least.
//!
//! `cargo bench` prints divan's table of absolute times, and after it lines `ratio NAME = X.XX`. A
//! ratio is measured apart from divan: thread CPU time, the cases in turn within one run, the
//! median of many rounds, so that it holds on a shared and noisy machine.

#[path = "slots/mod.rs"]
mod slots;

use std::hint::black_box;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use cpu_time::ThreadTime;
use serde::{Deserialize, Serialize};
use tool_runtime::agreement::{AgreementGate, Bounds, Epoch, PlanTools, Sample, SampleSet};
use tool_runtime::wire::export::{Export, Provider};
use tool_runtime::wire::openai_chat::Declarations;
use tool_runtime::{
    AllowAll, BoxFuture, DynamicTool, Entry, Harness, Ledger, LedgerError, MemoryLedger, Registry, Rule, Rules, Test,
    ToolCall, tool, tool_type,
};

const VALID: &str =
    r#"{"query":"rust macros","limit":10,"tags":["a","bc","def"],"filter":{"min_stars":5,"language":"rust"}}"#;
const ONE_PROBLEM: &str =
    r#"{"query":"rust macros","limit":"lots","tags":["a","bc","def"],"filter":{"min_stars":5,"language":"rust"}}"#;
const THREE_PROBLEMS: &str =
    r#"{"query":"rust macros","limit":"lots","tags":["a",7,"def"],"filter":{"min_star":5,"language":"rust"}}"#;

/// Which results to keep.
#[tool_type]
struct Filter {
    /// How many stars at the least.
    min_stars: u32,
    /// The language.
    language: String,
}

/// What was found.
#[tool_type]
struct Found {
    summary: String,
    count: u32,
}

/// Searches the index.
#[tool(host(timeout = "5s", read_only))]
async fn search(
    /// What to look for.
    query: String,
    /// How many results at the most.
    limit: u32,
    /// Words that have to be there.
    tags: Option<Vec<String>>,
    /// Which results to keep.
    filter: Filter,
) -> Found {
    body(query, limit, tags, filter.min_stars, &filter.language)
}

/// As `search`, of which it waits once.
#[tool(host(timeout = "5s", read_only))]
async fn search_later(
    /// What to look for.
    query: String,
    /// How many results at the most.
    limit: u32,
    /// Words that have to be there.
    tags: Option<Vec<String>>,
    /// Which results to keep.
    filter: Filter,
) -> Found {
    tokio::task::yield_now().await;
    body(query, limit, tags, filter.min_stars, &filter.language)
}

/// Takes a millisecond.
#[tool(host(concurrency_safe))]
async fn rest() -> u8 {
    tokio::time::sleep(Duration::from_millis(1)).await;
    1
}

fn body(query: String, limit: u32, tags: Option<Vec<String>>, min_stars: u32, language: &str) -> Found {
    let count = limit + min_stars + tags.map_or(0, |tags| tags.len() as u32) + language.len() as u32;
    Found { summary: query, count }
}

/// The least that a call can cost: text into derived structs, the body, the output to text.
mod floor {
    use super::*;

    #[derive(Deserialize)]
    struct Filter {
        min_stars: u32,
        language: String,
    }

    #[derive(Deserialize)]
    struct Args {
        query: String,
        limit: u32,
        tags: Option<Vec<String>>,
        filter: Filter,
    }

    #[derive(Serialize)]
    struct Found {
        summary: String,
        count: u32,
    }

    pub(crate) fn call(text: &str) -> Result<String, serde_json::Error> {
        let args: Args = serde_json::from_str(text)?;
        let found = body(args.query, args.limit, args.tags, args.filter.min_stars, &args.filter.language);
        serde_json::to_string(&Found { summary: found.summary, count: found.count })
    }
}

/// Takes every entry and keeps none: what is left is the path itself.
struct NoLedger;

impl Ledger for NoLedger {
    fn append(&self, entry: Entry) -> BoxFuture<'_, Result<(), LedgerError>> {
        drop(entry);
        Box::pin(Kept)
    }
}

/// Ends at once. Has no size, so boxing it allocates nothing.
struct Kept;

impl Future for Kept {
    type Output = Result<(), LedgerError>;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        Poll::Ready(Ok(()))
    }
}

fn registry() -> Registry {
    let tools = [SearchTool::host(), SearchLaterTool::host()];
    Registry::builder().tools(tools).build().expect("the tools are sound")
}

fn harness(ledger: impl Ledger + 'static) -> Harness {
    Harness::new(registry(), AllowAll).ledger(ledger)
}

/// Fifty rules, of which twenty look at arguments of the tool that is called.
fn rules(registry: &Registry) -> Rules {
    type OfArgument = fn(u32) -> (&'static str, Test);
    let tests: [OfArgument; 4] = [
        |n| ("limit", Test::above(1_000 + n)),
        |n| ("query", Test::equals(format!("secret {n}"))),
        |n| ("filter.language", Test::matches(format!("cobol-{n}*"))),
        |n| ("filter.min_stars", Test::at_least(1_000_000 + n)),
    ];
    let on_arguments = (0..20_u32).map(|n| {
        let (argument, test) = tests[n as usize % tests.len()](n);
        Rule::deny("search").because("not that").when(argument, test)
    });
    let on_others = (0..29_u32).map(|n| Rule::deny(format!("tool_{n:04}")).because("not that one"));
    let allowed = Rule::allow("search*");
    Rules::builder().rules(on_arguments.chain(on_others)).rule(allowed).build(registry).expect("the rules are sound")
}

/// The runtime's own time, not the thread's: what waits costs none of that.
fn batch(runtime: &tokio::runtime::Runtime) -> f64 {
    let registry = Registry::builder().tool(RestTool::host()).build().expect("the tool is sound");
    let harness = Harness::new(registry, AllowAll).max_concurrent(NonZeroUsize::new(20).expect("some room"));
    let time = |calls: usize| {
        let calls: Vec<ToolCall> = (0..calls).map(|n| ToolCall::new(format!("call_{n}"), "rest", "")).collect();
        let begun = Instant::now();
        runtime.block_on(harness.run(calls));
        begun.elapsed().as_secs_f64()
    };
    let (mut one, mut twenty) = (Vec::new(), Vec::new());
    for _ in 0..101 {
        one.push(time(1));
        twenty.push(time(20));
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_unstable_by(f64::total_cmp);
        times[times.len() / 2]
    };
    median(&mut twenty) / median(&mut one)
}

/// Finding one of many tools, against finding one of few.
fn lookup() -> f64 {
    let few = many(100);
    let many = many(100_000);
    let name =
        |registry: &Registry, n: usize| registry.iter().nth(n * 97 % registry.len()).map(|tool| tool.name().to_owned());
    let names: Vec<[String; 2]> = (0..64).filter_map(|n| Some([name(&few, n)?, name(&many, n)?])).collect();
    let find = |registry: &Registry, which: usize| {
        for _ in 0..20 {
            for pair in &names {
                black_box(registry.get(black_box(&pair[which])));
            }
        }
    };
    let mut cases: Vec<Case<'_>> = vec![("few", Box::new(|| find(&few, 0))), ("many", Box::new(|| find(&many, 1)))];
    ratios(&mut cases, 301)[1]
}

async fn run(harness: &Harness, arguments: &str) {
    call(harness, "search", arguments).await;
}

async fn call(harness: &Harness, tool: &str, arguments: &str) {
    let call = ToolCall::new("call_9pFvG3kQxT7wZsLrYb2dNcUe", tool, arguments);
    black_box(harness.run([call]).await);
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime")
}

/// Tools as a host has them, with schemas of an ordinary size.
fn many(count: usize) -> Registry {
    let parameters = r#"{"type":"object","properties":{"query":{"type":"string","description":"What to look for."},
        "limit":{"type":"integer","minimum":1,"maximum":100,"description":"How many results at the most.","default":10},
        "tags":{"type":"array","items":{"type":"string"},"description":"Words that have to be there."},
        "filter":{"type":"object","properties":{"min_stars":{"type":"integer"},"language":{"type":"string","enum":["rust","go","c"]}},
        "required":["min_stars"],"additionalProperties":false}},"required":["query"],"additionalProperties":false}"#;
    let tools = (0..count).map(|number| {
        DynamicTool::builder(format!("tool_{number:04}"), "Searches one of the thousand indexes of this host.")
            .parameters(parameters)
            .output("true")
            .run(|arguments, _| async move { Ok(arguments) })
            .expect("the tool is sound")
    });
    Registry::builder().tools(tools).build().expect("the tools are sound")
}

#[derive(Serialize)]
struct Function<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a serde_json::Value,
}

/// One round of a case.
type Case<'a> = (&'static str, Box<dyn FnMut() + 'a>);

/// The median, over many rounds, of the CPU time of each case against the first one's.
fn ratios(cases: &mut [Case<'_>], rounds: usize) -> Vec<f64> {
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); cases.len()];
    for round in 0..rounds {
        for step in 0..cases.len() {
            // A different case comes first in each round.
            let case = (round + step) % cases.len();
            let begun = ThreadTime::now();
            cases[case].1();
            times[case].push(begun.elapsed());
        }
    }
    let medians: Vec<f64> = times
        .iter_mut()
        .map(|times| {
            times.sort_unstable();
            times[times.len() / 2].as_secs_f64()
        })
        .collect();
    medians.iter().map(|median| median / medians[0]).collect()
}

fn print_ratios() {
    let runtime = runtime();
    let bare = harness(NoLedger);
    let kept = harness(MemoryLedger::new(1000));
    let others = many(29);
    let all = Registry::builder()
        .tools([SearchTool::host()])
        .tools(others.iter().cloned())
        .build()
        .expect("the tools are sound");
    let policy = rules(&all);
    let ruled = Harness::new(all, policy).ledger(NoLedger);
    const CALLS: usize = 200;
    let floor = |text: &'static str| {
        move || {
            for _ in 0..CALLS {
                black_box(floor::call(black_box(text)).map_err(|error| error.to_string())).ok();
            }
        }
    };
    let path = |harness, text: &'static str| {
        let runtime = &runtime;
        move || {
            runtime.block_on(async {
                for _ in 0..CALLS {
                    run(harness, black_box(text)).await;
                }
            });
        }
    };
    let later = || {
        runtime.block_on(async {
            for _ in 0..CALLS {
                call(&bare, "search_later", black_box(VALID)).await;
            }
        });
    };
    let mut calls: Vec<Case<'_>> = vec![
        ("floor", Box::new(floor(VALID))),
        ("layers", Box::new(path(&bare, VALID))),
        ("ledger", Box::new(path(&kept, VALID))),
        ("rules", Box::new(path(&ruled, VALID))),
        ("yields", Box::new(later)),
        ("invalid1", Box::new(path(&bare, ONE_PROBLEM))),
        ("invalid3", Box::new(path(&bare, THREE_PROBLEMS))),
    ];
    let found = ratios(&mut calls, 301);
    for ((name, _), ratio) in calls.iter().zip(found).skip(1) {
        println!("ratio {name} = {ratio:.2}");
    }

    println!("ratio lookup = {:.2}", lookup());
    println!("ratio batch = {:.2}", batch(&runtime));
    println!("ratio slots = {:.3}", slots::ratio(&runtime));

    let registry = many(1000);
    let parsed: Vec<serde_json::Value> =
        registry.schemas().map(|schema| serde_json::from_str(schema.parameters()).expect("schemas are JSON")).collect();
    let declarations = Declarations::of(registry.schemas());
    let mut declaring: Vec<Case<'_>> = vec![
        (
            "serialise",
            Box::new(|| {
                let functions: Vec<Function<'_>> = registry
                    .schemas()
                    .zip(&parsed)
                    .map(|(schema, parameters)| Function {
                        name: schema.name(),
                        description: schema.description(),
                        parameters,
                    })
                    .collect();
                black_box(serde_json::to_vec(&functions).ok());
            }),
        ),
        (
            "declare",
            Box::new(|| {
                let mut request = String::new();
                declarations.write(&mut request);
                black_box(request);
            }),
        ),
    ];
    let found = ratios(&mut declaring, 101);
    println!("ratio declare = {:.2}", found[1]);

    // What a first request costs, and every further one.
    let export = Export::new(Provider::OpenAiChat, registry.schemas());
    let mut exporting: Vec<Case<'_>> = vec![
        (
            "first",
            Box::new(|| {
                black_box(Export::new(Provider::OpenAiChat, registry.schemas()).to_json());
            }),
        ),
        (
            "again",
            Box::new(|| {
                black_box(export.to_json());
            }),
        ),
    ];
    println!("ratio export = {:.3}", ratios(&mut exporting, 11)[1]);

    println!("ratio ruling = {:.2}", ruling());
}

/// Ruling over 1,000 samples of 10 kB, against reading them as `serde_json::Value`s.
fn ruling() -> f64 {
    let texts: Vec<String> = (0..1000)
        .map(|sample| {
            let members: Vec<String> = (0..100)
                .map(|at| {
                    format!(
                        r#""member_{at}":{{"text":"{}","number":{}.5,"flags":[true,null]}}"#,
                        "x".repeat(50),
                        at * 7
                    )
                })
                .collect();
            format!(r#"{{"of":{},{}}}"#, sample / 800, members.join(","))
        })
        .collect();
    let epoch = Epoch::begin();
    let mut set = SampleSet::new(epoch.clone());
    for text in &texts {
        set.push(Sample::of([("search", text.as_str())]).within(&epoch)).expect("all are of one epoch");
    }
    let (gate, tools) = (AgreementGate::new(Bounds::seed()), PlanTools::new());
    let mut cases: Vec<Case<'_>> = vec![
        (
            "values",
            Box::new(|| {
                for text in &texts {
                    black_box(serde_json::from_str::<serde_json::Value>(text).ok());
                }
            }),
        ),
        (
            "ruling",
            Box::new(|| {
                black_box(gate.rule(&set, &tools));
            }),
        ),
    ];
    ratios(&mut cases, 11)[1]
}

#[divan::bench]
fn floor_valid() {
    black_box(floor::call(black_box(VALID)).ok());
}

#[divan::bench]
fn path_with_ledger(bencher: divan::Bencher<'_, '_>) {
    let runtime = runtime();
    let harness = harness(MemoryLedger::new(1000));
    bencher.bench_local(|| runtime.block_on(run(&harness, black_box(VALID))));
}

#[divan::bench]
fn path_with_three_problems(bencher: divan::Bencher<'_, '_>) {
    let runtime = runtime();
    let harness = harness(NoLedger);
    bencher.bench_local(|| runtime.block_on(run(&harness, black_box(THREE_PROBLEMS))));
}

fn main() {
    divan::main();
    print_ratios();
}
