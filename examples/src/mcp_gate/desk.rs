use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tool_runtime::mcp::McpApprover;
use tool_runtime::{Answer, Approver, BoxFuture, Question, QuestionSet};

/// Who is asked: the person behind the client, and where the client can't ask, whoever looks at the desk's page.
///
/// A call waits for the page a while and ends as pending then. The question stays, and the same call made again finds
/// the answer: it is for these arguments of this definition, and for one call.
#[derive(Clone)]
pub(super) struct Desk(Arc<Inner>);

struct Inner {
    wait: Duration,
    secret: String,
    /// By what would run.
    open: Mutex<BTreeMap<String, Open>>,
    answered: Notify,
    /// Somebody looks at a page.
    has_page: Mutex<bool>,
}

struct Open {
    question: Question,
    answer: Option<Answer>,
    since: Instant,
}

/// How long a question and its answer stay.
const STAYS: Duration = Duration::from_secs(60 * 60);

/// How many questions stay.
const MOST: usize = 1_000;

impl Desk {
    pub(super) fn new(wait: Duration) -> Self {
        let mut secret = [0; 16];
        // Without random numbers there is no page that only its owner finds.
        let secret = match getrandom::fill(&mut secret) {
            Ok(()) => secret.iter().fold(String::new(), |mut hex, byte| {
                let _infallible = write!(hex, "{byte:02x}");
                hex
            }),
            Err(_) => String::new(),
        };
        let inner =
            Inner { wait, secret, open: Mutex::default(), answered: Notify::new(), has_page: Mutex::new(false) };
        Desk(Arc::new(inner))
    }

    pub(super) fn secret(&self) -> &str {
        &self.0.secret
    }

    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Open>> {
        self.0.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn has_page(&self) -> bool {
        *self.0.has_page.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes an answer away, which is spent by that.
    fn take(&self, key: &str) -> Option<Answer> {
        let mut open = self.open();
        open.retain(|_, open| open.since.elapsed() < STAYS);
        let answer = open.get(key)?.answer?;
        open.remove(key);
        Some(answer)
    }

    fn lay_down(&self, question: Question) {
        let mut open = self.open();
        if open.len() >= MOST
            && let Some(oldest) = open.iter().min_by_key(|(_, open)| open.since).map(|(key, _)| key.clone())
        {
            open.remove(&oldest);
        }
        let key = question.digest.to_string();
        open.entry(key).or_insert_with(|| Open { question, answer: None, since: Instant::now() });
    }

    async fn ask(&self, set: QuestionSet) -> Vec<Answer> {
        let mut answers = Vec::with_capacity(set.questions.len());
        for question in &set.questions {
            answers.push(self.take(&question.digest.to_string()));
        }
        if let Some(all) = answers.iter().copied().collect::<Option<Vec<_>>>() {
            return all;
        }
        let of_client = McpApprover::new().ask(set.clone()).await;
        if !self.has_page() || of_client.iter().any(|answer| *answer != Answer::Unavailable) {
            return answers.iter().zip(of_client).map(|(answer, of_client)| answer.unwrap_or(of_client)).collect();
        }
        for (question, answer) in set.questions.iter().zip(&answers) {
            if answer.is_none() {
                self.lay_down(question.clone());
            }
        }
        let until = tokio::time::Instant::now() + self.0.wait;
        loop {
            let answered = self.0.answered.notified();
            for (question, answer) in set.questions.iter().zip(&mut answers) {
                *answer = answer.or_else(|| self.take(&question.digest.to_string()));
            }
            let is_over = answers.iter().all(Option::is_some) || tokio::time::Instant::now() >= until;
            if is_over || tokio::time::timeout_at(until, answered).await.is_err() {
                return answers.into_iter().map(|answer| answer.unwrap_or(Answer::Later)).collect();
            }
        }
    }

    /// Serves the page, to this machine alone and under an address that nobody can guess.
    pub(super) async fn serve(self, listener: TcpListener) {
        if self.0.secret.is_empty() {
            eprintln!("mcp_gate: there are no random numbers, and so no page");
            return;
        }
        *self.0.has_page.lock().unwrap_or_else(PoisonError::into_inner) = true;
        let router = Router::new()
            .route("/{secret}", get(page))
            .route("/{secret}/{question}/{answer}", post(answer))
            .with_state(self);
        if let Err(error) = axum::serve(listener, router).await {
            eprintln!("mcp_gate: the page: {error}");
        }
    }

    /// Asked under its own name, and by whoever knows the address.
    fn admits(&self, headers: &HeaderMap, secret: &str) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or_default();
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let differs = secret.len() != self.0.secret.len()
            || secret.bytes().zip(self.0.secret.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) != 0;
        ["127.0.0.1", "localhost", "[::1]"].contains(&name) && !differs
    }
}

impl Approver for Desk {
    fn ask(&self, questions: QuestionSet) -> BoxFuture<'static, Vec<Answer>> {
        let desk = self.clone();
        // Here, in the call's own task: the client is found by it.
        Box::pin(async move { Desk::ask(&desk, questions).await })
    }
}

async fn page(State(desk): State<Desk>, headers: HeaderMap, Path(secret): Path<String>) -> Response {
    if !desk.admits(&headers, &secret) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let mut page = String::from(
        "<!doctype html><meta charset=utf-8><meta http-equiv=refresh content=5><title>Questions</title>\
         <style>body{font:16px sans-serif;max-width:50em;margin:2em auto}pre{white-space:pre-wrap;background:#eee;padding:1em}</style>\
         <h1>Questions</h1>",
    );
    let mut any = false;
    for (key, open) in desk.open().iter().filter(|(_, open)| open.answer.is_none()) {
        any = true;
        let Question { tool, arguments, reasons, .. } = &open.question;
        page.push_str(&format!("<h2>{}</h2><pre>{}</pre>", escaped(tool), escaped(arguments)));
        for reason in reasons {
            page.push_str(&format!("<p>{}</p>", escaped(reason)));
        }
        for (answer, says) in [("yes", "Let it run, once"), ("no", "No")] {
            page.push_str(&format!(
                "<form method=post action=\"/{secret}/{key}/{answer}\" style=display:inline><button>{says}</button></form> "
            ));
        }
    }
    if !any {
        page.push_str("<p>Nobody asks anything.</p>");
    }
    ([(header::REFERRER_POLICY, "no-referrer"), (header::CACHE_CONTROL, "no-store")], Html(page)).into_response()
}

async fn answer(
    State(desk): State<Desk>,
    headers: HeaderMap,
    Path((secret, question, answer)): Path<(String, String, String)>,
) -> Response {
    if !desk.admits(&headers, &secret) {
        return StatusCode::NOT_FOUND.into_response();
    }
    let answer = match answer.as_str() {
        "yes" => Answer::Yes,
        "no" => Answer::No,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let settled = match desk.open().get_mut(&question) {
        // The first answer counts.
        Some(open) if open.answer.is_none() => {
            open.answer = Some(answer);
            true
        }
        _ => false,
    };
    if !settled {
        return (StatusCode::CONFLICT, "It has been answered, or nobody asks any more.").into_response();
    }
    desk.0.answered.notify_waiters();
    Redirect::to(&format!("/{secret}")).into_response()
}

/// Text in a page. What can't be seen, or turns the text around, is shown by its number.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            ' '..='~' => out.push(c),
            c if c.is_alphanumeric() => out.push(c),
            c => out.extend(c.escape_unicode()),
        }
    }
    out
}
