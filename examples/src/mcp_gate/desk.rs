use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::routing::{get, post};
use tokio::net::TcpListener;
use tool_runtime::mcp::McpApprover;
use tool_runtime::{
    Answer, Approver, BoxFuture, CaseState, Ledger, Query, QuestionId, QuestionSet, Reply, ReplyError, Signer,
};

/// Who is asked: the person behind the client, and where the client can't ask, whoever looks at the desk's page.
///
/// What the page shows are the calls that wait in the ledger, also those from before the gate was last started, and an
/// answer goes into the ledger. There it is found by the client that makes the same call again.
#[derive(Clone)]
pub(super) struct Desk(Arc<Inner>);

struct Inner {
    ledger: Arc<dyn Ledger>,
    secret: String,
    /// Somebody looks at a page.
    has_page: AtomicBool,
}

impl Desk {
    pub(super) fn new(ledger: Arc<dyn Ledger>) -> Self {
        let mut secret = [0; 16];
        // Without random numbers there is no page that only its owner finds.
        let secret = match getrandom::fill(&mut secret) {
            Ok(()) => hex(&secret),
            Err(_) => String::new(),
        };
        Desk(Arc::new(Inner { ledger, secret, has_page: AtomicBool::new(false) }))
    }

    pub(super) fn secret(&self) -> &str {
        &self.0.secret
    }

    async fn ask(&self, set: QuestionSet) -> Vec<Answer> {
        let answers = McpApprover::new().ask(set).await;
        if !self.0.has_page.load(Ordering::Relaxed) {
            return answers;
        }
        let or_page = |answer| match answer {
            // The client can't ask, or nobody was there.
            Answer::Unavailable | Answer::Expired => Answer::Later,
            answer => answer,
        };
        answers.into_iter().map(or_page).collect()
    }

    /// Serves the page, to this machine alone and under an address that nobody can guess.
    pub(super) async fn serve(self, listener: TcpListener) {
        if self.0.secret.is_empty() {
            eprintln!("mcp_gate: there are no random numbers, and so no page");
            return;
        }
        self.0.has_page.store(true, Ordering::Relaxed);
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
    let history = match desk.0.ledger.history(Query::unfinished()).await {
        Ok(history) => history,
        Err(error) => return failed(&error),
    };
    let mut any = false;
    for case in history.waiting().filter(|case| case.state() == CaseState::Waiting) {
        let Some((asked, question)) = case.asked().and_then(|asked| Some((asked, asked.question()?))) else { continue };
        any = true;
        let (tool, arguments) = (escaped(asked.tool()), escaped(asked.arguments().unwrap_or_default()));
        page.push_str(&format!("<h2>{tool}</h2><pre>{arguments}</pre>"));
        for reason in asked.reasons() {
            page.push_str(&format!("<p>{}</p>", escaped(reason)));
        }
        for (answer, says) in [("yes", "Let it run, once"), ("no", "No")] {
            let key = question.as_str();
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
    let reply = Reply::new(QuestionId::from(question), answer, Signer::new("desk", "page"));
    match desk.0.ledger.reply(reply).await {
        Ok(()) => Redirect::to(&format!("/{secret}")).into_response(),
        // The first answer counts.
        Err(ReplyError::Late(_)) => {
            (StatusCode::CONFLICT, "It has been answered, or nobody asks any more.").into_response()
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &dyn std::error::Error) -> Response {
    eprintln!("mcp_gate: the page: {error}");
    (StatusCode::INTERNAL_SERVER_ERROR, "The ledger failed.").into_response()
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut hex, byte| {
        let _infallible = write!(hex, "{byte:02x}");
        hex
    })
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
