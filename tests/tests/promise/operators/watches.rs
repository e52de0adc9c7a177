//! What watches cost their server.

use std::time::{Duration, Instant};

use harness::{
    Command, KEY, LOCK, LONG, Monitor, RedisServer, client, eventually, ms, patient,
    server_and_client, soon,
};
use lock_runtime::LockRecord;
use tokio::time::sleep;

/// The questions about the lock that have arrived: each reads the length of its record once.
fn questions(monitor: &mut Monitor) -> usize {
    let commands = monitor.take();
    let is_one = |words: &[&str]| words == ["STRLEN", LOCK];
    let commands = commands.iter().map(Command::words);
    commands.filter(|words| is_one(words)).count()
}

/// However many watches there are, and whatever their intervals.
#[tokio::test]
async fn watches_of_a_lock_share_one_question_an_interval() {
    const EVERY: Duration = ms(200);
    let (server, client) = server_and_client();
    let mut monitor = server.monitor();
    let began = Instant::now();
    let mut watches: Vec<_> = (0..10).map(|_| client.watch(KEY).every(EVERY)).collect();
    watches.push(client.watch(KEY).every(EVERY * 10));
    for watch in &mut watches {
        soon(watch.changed()).await.unwrap().unwrap();
    }
    let mut asked = 0;
    eventually("questions", LONG, async || {
        asked += questions(&mut monitor);
        asked >= 5
    })
    .await;
    let most = began.elapsed().as_millis() / EVERY.as_millis() + 1;
    assert!(
        asked <= usize::try_from(most).unwrap(),
        "{asked} questions, and not {most}"
    );
}

#[tokio::test]
async fn nothing_is_asked_before_the_first_call_or_after_the_last_watch() {
    let (server, client) = server_and_client();
    client.ping().await.unwrap();
    let mut monitor = server.monitor();
    let unused = client.watch(KEY).every(ms(100));
    sleep(ms(300)).await;
    assert_eq!(questions(&mut monitor), 0);
    drop(unused);
    let mut watch = client.watch(KEY).every(ms(100));
    watch.changed().await.unwrap().unwrap();
    drop(watch);
    // A question may be on its way.
    assert!(questions(&mut monitor) >= 1);
    eventually("last question", LONG, async || {
        sleep(ms(300)).await;
        questions(&mut monitor) == 0
    })
    .await;
    // A new one begins anew.
    let mut watch = client.watch(KEY).every(ms(100));
    assert!(!soon(watch.changed()).await.unwrap().unwrap().is_held());
}

/// A message about a lock in Redisson's record tells only by its channel which lock it is about.
#[tokio::test]
async fn message_about_one_lock_brings_no_question_about_another_forward() {
    let server = RedisServer::start();
    let client = || {
        let builder = patient(server.url()).record(LockRecord::Redisson);
        builder.build().expect("the settings are valid")
    };
    let (client, holder) = (client(), client());
    let mut watch = client.watch(KEY).every(Duration::from_secs(3600));
    watch.changed().await.unwrap().unwrap();
    let mut monitor = server.monitor();
    let guard = holder.lock("other").acquire().await.unwrap();
    let waiting = tokio::spawn(client.lock("other").wait(LONG).acquire());
    eventually("subscription", LONG, async || {
        let commands = monitor.take();
        commands.iter().any(|it| it.words()[0] == "SUBSCRIBE")
    })
    .await;
    guard.release().await.unwrap();
    let _guard = soon(waiting).await.unwrap().unwrap();
    sleep(ms(300)).await;
    let commands = monitor.take();
    let is_about_it = |it: &&Command| it.words().iter().any(|word| word.ends_with(KEY));
    assert_eq!(commands.iter().filter(is_about_it).count(), 0);
}

/// A watch that nobody reads keeps its changes, and one that fails goes on.
#[tokio::test]
async fn change_that_nobody_has_read_yet_is_kept_and_an_outage_is_reported() {
    let (server, watching) = server_and_client();
    let holder = client(server.url());
    let mut watch = watching.watch(KEY).every(ms(100));
    assert!(!watch.changed().await.unwrap().unwrap().is_held());
    let mut other = watching.watch(KEY).every(ms(100));
    assert!(!other.changed().await.unwrap().unwrap().is_held());
    let mut tokens = Vec::new();
    for _ in 0..3 {
        let guard = holder.lock(KEY).fenced().acquire().await.unwrap();
        tokens.push(guard.fencing_token().await.unwrap());
        // The other watch sees it, so that this one has been told.
        assert!(soon(other.changed()).await.unwrap().unwrap().is_held());
        guard.release().await.unwrap();
        assert!(!soon(other.changed()).await.unwrap().unwrap().is_held());
    }
    for token in tokens {
        let seen = watch.changed().await.unwrap().unwrap();
        assert_eq!(seen.holders[0].token, Some(token));
        assert!(!watch.changed().await.unwrap().unwrap().is_held());
    }

    drop(server);
    let failed = soon(watch.changed()).await.unwrap_err();
    assert!(failed.is_unavailable(), "{failed}");
    assert_eq!(failed.key(), Some(KEY));
}
