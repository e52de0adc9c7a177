//! `audit`: shows what operators did to locks.

use crate::args::{Audit, Connection};
use crate::exit::{Exit, Failure};
use crate::output::{Form, print};

pub(crate) async fn audit(
    connection: &Connection,
    audit: Audit,
    form: Form,
) -> Result<Exit, Failure> {
    let client = connection.connect(&connection.operator()).await?;
    let mut entries = client.audit();
    if let Some(since) = audit.since {
        entries = entries.max_age(*since);
    }
    if let Some(key) = audit.key {
        entries = entries.key(key);
    }
    while let Some(page) = entries.next_page().await? {
        for entry in &page {
            print(form, entry)?;
        }
    }
    client.shutdown().await;
    Ok(Exit::DONE)
}
