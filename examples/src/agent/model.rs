//! A model behind an HTTP server that speaks OpenAI's Chat Completions.

use std::error::Error;
use std::io::{BufRead, BufReader};
use std::time::Duration;

use tool_runtime::wire::openai_chat::Stream;

use super::scripted::Server;

/// Where a model is, and how it is spoken to.
#[derive(Debug)]
pub struct Model {
    url: String,
    name: String,
    key: Option<String>,
    /// Kept as long as it is spoken to.
    _server: Option<Server>,
}

/// How long a server may take until it begins to answer.
const PATIENCE: Duration = Duration::from_secs(120);

impl Model {
    /// A model of a server, by the URL of its API, such as `http://localhost:11434/v1`.
    pub fn at(base_url: &str, name: &str, key: Option<String>) -> Self {
        let url = format!("{}/chat/completions", base_url.trim_end_matches('/'));
        Model { url, name: name.to_owned(), key, _server: None }
    }

    /// A model that follows a script, on a port of this machine. It needs no key and no network.
    ///
    /// # Errors
    /// If no port can be listened on.
    pub fn scripted() -> Result<Self, Box<dyn Error + Send + Sync>> {
        let server = Server::start()?;
        let url = format!("http://{}/v1", server.address());
        Ok(Model { _server: Some(server), ..Model::at(&url, "scripted", None) })
    }

    /// Sends the conversation, hands the text on as it comes, and gives what was said and called.
    ///
    /// # Errors
    /// If the server can't be reached, refuses, or answers in another format.
    pub(super) async fn speak(
        &self,
        messages: &[String],
        tools: &str,
        mut hear: impl FnMut(&str) + Send + 'static,
    ) -> Result<Stream, Box<dyn Error>> {
        let model = serde_json::Value::from(self.name.as_str());
        let body = format!(r#"{{"model":{model},"stream":true,"tools":{tools},"messages":[{}]}}"#, messages.join(","));
        let (url, key) = (self.url.clone(), self.key.clone());
        // The client blocks its thread; the runtime has others for that.
        let spoken = tokio::task::spawn_blocking(move || request(&url, key.as_deref(), &body, &mut hear)).await?;
        spoken.map_err(|error| error as Box<dyn Error>)
    }
}

fn request(
    url: &str,
    key: Option<&str>,
    body: &str,
    hear: &mut dyn FnMut(&str),
) -> Result<Stream, Box<dyn Error + Send + Sync>> {
    let config = ureq::Agent::config_builder().timeout_recv_response(Some(PATIENCE)).http_status_as_error(false);
    let mut request = ureq::Agent::from(config.build()).post(url).header("content-type", "application/json");
    if let Some(key) = key {
        request = request.header("authorization", &format!("Bearer {key}"));
    }
    let mut response = request.send(body)?;
    if !response.status().is_success() {
        let why = response.body_mut().read_to_string().unwrap_or_default();
        return Err(format!("the server answered {}: {}", response.status(), why.trim()).into());
    }
    let mut stream = Stream::new();
    let mut heard = 0;
    for line in BufReader::new(response.body_mut().as_reader()).lines() {
        // Server-sent events: what isn't data is a comment or the end of an event.
        if let Some(data) = line?.strip_prefix("data:") {
            stream.push(data.trim_start())?;
            hear(&stream.text()[heard..]);
            heard = stream.text().len();
        }
    }
    Ok(stream)
}
