//! What has to be known and agreed to before money moves.
//!
//! First a checklist: a blank is asked for in one batch, a rule is added to the file while the host runs, and the record
//! and the report for the tool's provider are shown. Then approvals that outlast a process: what is approved is bound to
//! its values, another process goes on with the call, and an edited record is refused.
//!
//! ```text
//! cargo run --example approvals
//! ```

use std::path::Path;
use std::process::{Command, ExitCode};
use std::{env, fs, io};

use examples::approvals::{checklist, durable};
use tool_runtime::CaseId;

type Outcome = Result<(), Box<dyn std::error::Error + Send + Sync>>;

/// This program again, as another process.
fn second(database: &Path, case: CaseId) -> io::Result<String> {
    let output = Command::new(env::current_exe()?).arg(database).arg(case.to_string()).output()?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(io::Error::other(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}

async fn play() -> Outcome {
    let words: Vec<String> = env::args().skip(1).collect();
    if let [database, case] = &words[..] {
        let ledger = durable::shared(Path::new(database), "second").await?;
        return durable::resume(&ledger, case.parse()?, &mut io::stdout()).await;
    }
    let folder = env::temp_dir().join(format!("approvals-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let played = async {
        checklist::run(&folder, &mut io::stdout()).await?;
        println!();
        durable::run(&folder, second, &mut io::stdout()).await
    };
    let played = played.await;
    fs::remove_dir_all(&folder)?;
    played
}

fn main() -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    match runtime.map_err(Into::into).and_then(|runtime| runtime.block_on(play())) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("approvals: {error}");
            ExitCode::FAILURE
        }
    }
}
