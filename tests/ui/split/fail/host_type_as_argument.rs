use tool_runtime::tool;

struct Database;

/// Runs a query.
#[tool]
fn query(
    /// The query.
    sql: String,
    /// The database.
    database: Database,
) -> u32 {
    let Database = database;
    sql.len() as u32
}

fn main() {}
