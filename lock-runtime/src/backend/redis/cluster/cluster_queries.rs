//! Queries the node of a lock, and follows redirections.

use std::sync::Arc;
use std::time::Instant;

use redis::Value;

use super::Cluster;
use super::cluster_node::ClusterNode;
use super::route::Route;
use super::router::left;
use crate::backend::redis::encoder::Argument;
use crate::backend::redis::node::NodeError;
use crate::backend::redis::node::queries::{Answers, Command, is_of_another_type};
use crate::backend::redis::redirect::Redirect;
use crate::backend::redis::side_by_side::side_by_side;
use crate::backend::wire::error::WireError;
use crate::backend::wire::inspection::ServerReply;

impl Cluster {
    /// Queries the node of a slot, with commands that it runs as one transaction. While the slot moves, its keys are on
    /// two nodes. Then each command runs on its own, on the node that has its key.
    pub(in crate::backend::redis) async fn ask_together(
        &self,
        slot: u16,
        commands: &[Command<'_>],
    ) -> Result<Vec<Value>, WireError> {
        let router = &self.router;
        let until = router.until();
        let mut route = Route::default();
        loop {
            let node = router.node_of(slot, until).await?;
            let asking = self.ask_once(&node, commands, until);
            let asked = router.unless_moved(slot, &node, until, asking).await;
            let error = match asked.unwrap_or_else(|| Err(left(&node))) {
                Ok(answers) => return Ok(answers),
                Err(error) => error,
            };
            self.go_on(&mut route, slot, &node, error, until).await?;
        }
    }

    /// Sends commands to each primary, or to the named one.
    pub(in crate::backend::redis) async fn ask_servers(
        &self,
        server: Option<&str>,
        commands: &[Vec<String>],
    ) -> Result<Vec<(String, ServerReply)>, WireError> {
        let until = self.router.until();
        let mut primaries = self.router.primaries(until).await?;
        primaries.retain(|node| server.is_none_or(|server| node.name.to_string() == server));
        let asking = primaries.iter().map(|node| node.ask_words(commands, until));
        let asked = side_by_side(asking).await;
        for (node, _) in primaries
            .iter()
            .zip(&asked)
            .filter(|(_, reply)| reply.is_err())
        {
            self.router.note_failed(node);
        }
        let names = primaries.iter().map(|node| node.name.to_string());
        Ok(names.zip(asked).collect())
    }

    async fn ask_once(
        &self,
        node: &Arc<ClusterNode>,
        commands: &[Command<'_>],
        until: Instant,
    ) -> Result<Vec<Value>, NodeError> {
        match node.ask_together(commands, until).await {
            Err(NodeError::Redirected(redirect, _)) if !redirect.is_moved => {
                self.ask_both(node, &redirect, commands, until).await
            }
            asked => asked,
        }
    }

    /// Queries the node that owns a slot, and then the importing node for the keys that the first one no longer has. A
    /// key that moves between the two queries is found: by the second one it has arrived.
    async fn ask_both(
        &self,
        node: &Arc<ClusterNode>,
        redirect: &Redirect,
        commands: &[Command<'_>],
        until: Instant,
    ) -> Result<Vec<Value>, NodeError> {
        let Answers {
            connection,
            mut values,
        } = node.ask_all(commands, until).await?;
        let mut moved = Vec::new();
        for (number, value) in values.iter().enumerate() {
            match node.error_in(&connection, value) {
                Some(NodeError::Redirected(redirect, _)) if !redirect.is_moved => {
                    moved.push(number)
                }
                None => {}
                Some(_) if is_of_another_type(value) => {}
                Some(error) => return Err(error),
            }
        }
        if moved.is_empty() {
            return Ok(values);
        }
        let to = self
            .router
            .nodes
            .named(redirect, node)
            .map_err(NodeError::Final)?;
        // Each ASKING permits one command.
        let permitted = moved
            .iter()
            .flat_map(|&number| [vec![Argument::Text("ASKING")], commands[number].clone()]);
        let permitted: Vec<Command<'_>> = permitted.collect();
        let answers = to.ask_all(&permitted, until).await?;
        let mut of_commands = answers.values.into_iter();
        for number in moved {
            let (Some(asking), Some(value)) = (of_commands.next(), of_commands.next()) else {
                break;
            };
            // If ASKING was refused, the command is only redirected back, so the refusal is the error.
            if let Some(error) = to.error_in(&answers.connection, &asking) {
                return Err(error);
            }
            match to.error_in(&answers.connection, &value) {
                Some(error) if !is_of_another_type(&value) => return Err(error),
                _ => values[number] = value,
            }
        }
        Ok(values)
    }
}
