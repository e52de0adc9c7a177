//! The floor of a transfer: a message from one client to another.
//!
//! Two tasks, each with a connection that is subscribed to its own channel, answer each other's
//! PUBLISH. A client cannot notify another through the server with less than one message.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{PushInfo, PushKind};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};

use crate::contestants::raw;
use crate::stats::rate;

const CHANNELS: [&str; 2] = ["ping", "pong"];

struct Player {
    connection: MultiplexedConnection,
    pushes: UnboundedReceiver<PushInfo>,
    other: &'static str,
}

impl Player {
    async fn new(url: &str, number: usize) -> Player {
        let (sender, pushes) = unbounded_channel();
        let url = format!("{url}/?protocol=resp3");
        let mut connection = raw::connection(&url, raw::patient().set_push_sender(sender)).await;
        let subscribed = connection.subscribe(CHANNELS[number]).await;
        subscribed.expect("the server answers");
        Player {
            connection,
            pushes,
            other: CHANNELS[1 - number],
        }
    }

    async fn play(mut self, until: Instant, serves: bool) -> usize {
        let mut heard = 0;
        let game = async {
            if serves {
                self.publish().await;
            }
            while let Some(push) = self.pushes.recv().await {
                if push.kind == PushKind::Message {
                    heard += 1;
                    self.publish().await;
                }
            }
        };
        // The task ends when the time is over.
        let _ = timeout_at(until, game).await;
        heard
    }

    async fn publish(&mut self) {
        let mut publish = redis::cmd("PUBLISH");
        publish.arg(self.other).arg("yours");
        let sent = publish.exec_async(&mut self.connection).await;
        sent.expect("the server answers");
    }
}

/// The number of messages per second that they exchange.
pub(crate) async fn ping_pong(url: &str, time: Duration) -> f64 {
    let players = [Player::new(url, 0).await, Player::new(url, 1).await];
    let until = Instant::now() + time;
    let mut game = JoinSet::new();
    for (player, serves) in players.into_iter().zip([true, false]) {
        game.spawn(player.play(until, serves));
    }
    let heard = game.join_all().await.into_iter().sum();
    rate(heard, time)
}
