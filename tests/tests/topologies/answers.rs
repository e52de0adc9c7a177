//! Servers that answer every command in the same way, for ever: with every possible error, or with answers that should
//! never occur. However odd the answer, a caller sends a bounded number of commands.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use harness::{Form, Says, ScriptedServer, bulk, patient};
use lock_runtime::LockClient;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

/// The bound of `docs::production`, for one caller and one server: this many commands at first, including those of the
/// connection, and this many in each second.
const AT_FIRST: f64 = 100.0;
const IN_A_SECOND: f64 = 100.0;

/// The number of simultaneous scenes, so that a machine has room for other work.
const AT_ONCE: usize = 8;

/// How long a caller tries.
const TIME: Duration = Duration::from_secs(2);

/// A key and its slot.
const KEY: &str = "{foo}:1";
const SLOT: u16 = 12_182;

/// The answer of the server with this port, given by the server that stands in for it.
type Answer = fn(u16) -> String;

/// Errors by their codes, and the texts that servers send with them.
const ERRORS: &[&str] = &[
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "CLUSTERDOWN The cluster is down",
    "CROSSSLOT Keys in request don't hash to the same slot",
    "LOADING Redis is loading the dataset in memory",
    "MASTERDOWN Link with MASTER is down",
    "READONLY You can't write against a read only replica.",
    "BUSY Redis is busy running a script.",
    "UNKILLABLE Sorry the script already executed write commands",
    "NOSCRIPT No matching script. Please use EVAL.",
    "NOAUTH Authentication required.",
    "WRONGPASS invalid username-password pair or user is disabled.",
    "NOPERM User has no permissions",
    "DENIED Redis is running in protected mode",
    "OOM command not allowed when used memory > 'maxmemory'.",
    "MISCONF Redis is configured to save RDB snapshots",
    "NOREPLICAS Not enough good replicas to write.",
    "NOGOODSLAVE No suitable replica to promote",
    "EXECABORT Transaction discarded because of previous errors.",
    "WRONGTYPE Operation against a key holding the wrong kind of value",
    "LOCKQUEUEFULL too many waiters",
    "LOCKDELAY another delay",
    "MOVED",
    "MOVED 12182",
    "ASK 12182 nowhere",
    "ERR max number of clients reached",
    "ERR unknown command 'EVALSHA', with args beginning with: ",
    "ERR Script attempted to access a non local key in a cluster node",
    "ERR Error running script: @user_script:1: -CLUSTERDOWN the cluster is down",
    "ERR",
    "?",
];

/// Answers that depend on the server, and answers that are not errors.
const OTHERS: &[(&str, Answer)] = &[
    ("MOVED to itself", |port| {
        format!("-MOVED {SLOT} 127.0.0.1:{port}\r\n")
    }),
    ("MOVED to its host", |port| {
        format!("-MOVED {SLOT} :{port}\r\n")
    }),
    ("MOVED to an unknown host", |port| {
        format!("-MOVED {SLOT} ?:{port}\r\n")
    }),
    ("MOVED of another slot", |port| {
        format!("-MOVED 7 127.0.0.1:{port}\r\n")
    }),
    ("MOVED to nobody", |_| {
        format!("-MOVED {SLOT} 127.0.0.1:1\r\n")
    }),
    ("ASK itself", |port| {
        format!("-ASK {SLOT} 127.0.0.1:{port}\r\n")
    }),
    ("ASK its host", |port| format!("-ASK {SLOT} :{port}\r\n")),
    ("ASK nobody", |_| format!("-ASK {SLOT} 127.0.0.1:1\r\n")),
    ("OK", |_| "+OK\r\n".to_owned()),
    ("nil", |_| "_\r\n".to_owned()),
    ("old nil", |_| "$-1\r\n".to_owned()),
    ("0", |_| ":0\r\n".to_owned()),
    ("2", |_| ":2\r\n".to_owned()),
    ("text", |_| bulk("text")),
    ("nothing in a list", |_| "*0\r\n".to_owned()),
    ("nothing in a map", |_| "%0\r\n".to_owned()),
    ("busy for no time", |_| busy(0, 1, "someone else")),
    ("busy for no time, without a place", |_| {
        busy(0, 0, "someone else")
    }),
    ("busy by one of ours for no time", |_| {
        busy(0, 1, "abcdefghABCDEFGH012345 0000000000000016 api-7")
    }),
    ("busy by nobody, as a quorum's node has it", |_| {
        let now = wall_clock();
        format!("*4\r\n:0\r\n:0\r\n{}:{now}\r\n", bulk(""))
    }),
    ("without a vote for a moment", |_| {
        format!("*2\r\n:1\r\n:{}\r\n", wall_clock())
    }),
    ("a part of several locks is lost", |_| {
        format!("*4\r\n:-2\r\n:1000\r\n:1\r\n{}", bulk("someone else"))
    }),
];

/// In µs.
#[expect(clippy::disallowed_methods, reason = "a node answers its clock")]
fn wall_clock() -> u128 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    since.expect("it is after 1970").as_micros()
}

fn busy(remaining: u64, position: u64, holder: &str) -> String {
    format!("*3\r\n:{remaining}\r\n:{position}\r\n{}", bulk(holder))
}

type AnyAnswer = Arc<dyn Fn(u16) -> String + Send + Sync>;

/// All answers, with their names.
fn answers() -> Vec<(&'static str, AnyAnswer)> {
    let errors = ERRORS.iter().map(|&error| {
        let answer: AnyAnswer = Arc::new(move |_| format!("-{error}\r\n"));
        (error, answer)
    });
    let others = OTHERS.iter().map(|&(what, answer)| {
        let answer: AnyAnswer = Arc::new(answer);
        (what, answer)
    });
    errors.chain(others).collect()
}

/// Servers, and the URL of a client for them.
struct Scene {
    servers: Vec<ScriptedServer>,
    url: String,
}

/// A scripted server's map of the slots: it has all of them.
fn slots(port: u16) -> String {
    format!(
        "*1\r\n*3\r\n:0\r\n:16383\r\n*2\r\n{}:{port}\r\n",
        bulk("127.0.0.1")
    )
}

fn server(says: Says, answer: &AnyAnswer) -> ScriptedServer {
    let answer = answer.clone();
    ScriptedServer::start(says, move |port| move |_: &[String]| answer(port))
}

/// A scene of one server.
fn alone(scheme: &str, server: ScriptedServer) -> Scene {
    Scene {
        url: format!("{scheme}://127.0.0.1:{}", server.port()),
        servers: vec![server],
    }
}

fn one(answer: &AnyAnswer) -> Scene {
    alone("redis", server(Says::Standalone, answer))
}

/// The node knows the slots.
fn cluster(answer: &AnyAnswer) -> Scene {
    let answer = answer.clone();
    let script = move |port| {
        move |words: &[String]| match words[0].as_str() {
            "CLUSTER" => slots(port),
            _ => answer(port),
        }
    };
    alone(
        "redis-cluster",
        ScriptedServer::start(Says::Cluster, script),
    )
}

/// The node gives the same answer when asked for the slots.
fn ignorant_cluster(answer: &AnyAnswer) -> Scene {
    alone("redis-cluster", server(Says::Cluster, answer))
}

/// A sentinel that names a primary, which gives the answer.
fn sentinel(answer: &AnyAnswer) -> Scene {
    let primary = server(Says::Standalone, answer);
    let named = primary.port().to_string();
    let address = format!("*2\r\n{}{}", bulk("127.0.0.1"), bulk(&named));
    let script = move |words: &[String]| match words[1].as_str() {
        "MASTER" => format!("%1\r\n{}{}", bulk("config-epoch"), bulk("1")),
        _ => address.clone(),
    };
    let sentinel = ScriptedServer::start(Says::Sentinel, move |_| script);
    behind(sentinel, Some(primary))
}

/// A sentinel that gives the answer itself.
fn lost_sentinel(answer: &AnyAnswer) -> Scene {
    behind(server(Says::Sentinel, answer), None)
}

fn behind(sentinel: ScriptedServer, primary: Option<ScriptedServer>) -> Scene {
    Scene {
        url: format!("redis-sentinel://127.0.0.1:{}#mymaster", sentinel.port()),
        servers: [Some(sentinel), primary].into_iter().flatten().collect(),
    }
}

fn quorum(answer: &AnyAnswer) -> Scene {
    let servers: Vec<_> = (0..3).map(|_| server(Says::Standalone, answer)).collect();
    let hosts: Vec<String> = servers
        .iter()
        .map(|server| format!("127.0.0.1:{}", server.port()))
        .collect();
    Scene {
        url: format!("redlock://{}", hosts.join(",")),
        servers,
    }
}

/// Grants the lock to the first caller that requests it, and then gives the answer.
fn after_a_grant(answer: &AnyAnswer) -> AnyAnswer {
    let (answer, is_granted) = (answer.clone(), AtomicBool::new(false));
    Arc::new(move |port| {
        if is_granted.swap(true, Ordering::SeqCst) {
            answer(port)
        } else {
            bulk(" 0000000000000016")
        }
    })
}

/// The name of a topology, and a client of a topology whose servers give this answer.
type Scenery = (&'static str, fn(&AnyAnswer) -> Scene);

/// The index of the cluster, where most answers have the greatest effect.
const CLUSTER: usize = 1;

/// The index of the quorum, and the answers that only its nodes give.
const QUORUM: usize = 5;
const OF_QUORUMS: [&str; 2] = [
    "busy by nobody, as a quorum's node has it",
    "without a vote for a moment",
];

static TOPOLOGIES: [Scenery; 6] = [
    ("one server", one),
    ("a cluster", cluster),
    ("a cluster without a map", ignorant_cluster),
    ("behind a sentinel", sentinel),
    ("behind a lost sentinel", lost_sentinel),
    ("a quorum", quorum),
];

/// The result of one of many scenes: the commands to each server, and how many there may be.
#[derive(Debug)]
struct Outcome {
    what: String,
    commands: u64,
    most: f64,
    /// The commands to the server that got the most connections.
    connections: usize,
}

/// Plays a call in each scene. No call may send more commands than the bound.
async fn all_keep_the_bound<F>(
    scenes: impl IntoIterator<Item = (String, Box<dyn FnOnce() -> Scene>)>,
    call: impl Fn(LockClient) -> F,
) -> Vec<Outcome>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (mut playing, places) = (JoinSet::new(), Arc::new(Semaphore::new(AT_ONCE)));
    for (what, scene) in scenes {
        let place = places.clone().acquire_owned().await.expect("it is open");
        let Scene { servers, url } = scene();
        let client = patient(url).build().unwrap();
        let call = call(client);
        playing.spawn(async move {
            let _place = place;
            let began = Instant::now();
            call.await;
            let most = AT_FIRST + IN_A_SECOND * began.elapsed().as_secs_f64();
            let commands = servers.iter().map(ScriptedServer::commands).max();
            let connections = servers.iter().map(ScriptedServer::connections);
            Outcome {
                what,
                commands: commands.unwrap_or_default(),
                most,
                connections: connections.max().unwrap_or_default(),
            }
        });
    }
    let mut outcomes = playing.join_all().await;
    outcomes.sort_by_key(|outcome| std::cmp::Reverse(outcome.commands));
    for outcome in outcomes.iter().take(5) {
        let Outcome { what, most, .. } = outcome;
        println!("{} of {most:.0}: {what}", outcome.commands);
    }
    let beyond = |outcome: &&Outcome| outcome.commands as f64 > outcome.most;
    let beyond: Vec<_> = outcomes.iter().filter(beyond).collect();
    assert!(beyond.is_empty(), "{beyond:#?}");
    let asked = outcomes.iter().all(|outcome| outcome.commands > 0);
    assert!(asked, "a server was not asked at all");
    outcomes
}

/// Each answer on each of these topologies. In the short form on one of them, which is the cluster for every other
/// answer.
fn scenes(
    topologies: &'static [Scenery],
    change: fn(&AnyAnswer) -> AnyAnswer,
) -> Vec<(String, Box<dyn FnOnce() -> Scene>)> {
    let mut scenes: Vec<(String, Box<dyn FnOnce() -> Scene>)> = Vec::new();
    for (number, (what, answer)) in answers().into_iter().enumerate() {
        for (place, (topology, scene)) in topologies.iter().enumerate() {
            let turn = match number % 2 {
                _ if OF_QUORUMS.contains(&what) => QUORUM.min(topologies.len() - 1),
                0 => CLUSTER,
                _ => number % topologies.len(),
            };
            if place == turn || Form::of_this_run() == Form::Long {
                let answer = change(&answer);
                let scene = move || scene(&answer);
                scenes.push((format!("{topology}: {what}"), Box::new(scene)));
            }
        }
    }
    scenes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn caller_keeps_the_bound_for_any_repeated_answer() {
    let fenced = scenes(&TOPOLOGIES, Clone::clone);
    all_keep_the_bound(fenced, |client| async move {
        let over = tokio::time::Instant::now() + TIME;
        let refused = client.lock(KEY).wait(TIME).fenced().acquire().await;
        refused.expect_err("nobody grants it");
        // Commands that a call leaves to the background count, too.
        tokio::time::sleep_until(over).await;
    })
    .await;
    // Here `OK` is a grant.
    let without_a_token = scenes(&TOPOLOGIES, Clone::clone);
    all_keep_the_bound(without_a_token, |client| async move {
        let over = tokio::time::Instant::now() + TIME;
        if let Ok(guard) = client.lock(KEY).wait(TIME).acquire().await {
            let _ = guard.fencing_token().await;
            let _ = guard.release().await;
        }
        tokio::time::sleep_until(over).await;
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn holder_keeps_the_bound_until_its_lease_is_over_and_after_it() {
    let scenes = scenes(&TOPOLOGIES[..2], after_a_grant);
    all_keep_the_bound(scenes, |client| async move {
        let lock = client.lock(KEY).ttl(TIME / 2).wait(TIME);
        // On a busy machine the grant may come too late.
        if let Ok(guard) = lock.acquire().await {
            let lost = tokio::time::timeout(TIME * 2, guard.lost());
            lost.await.expect("nobody renews it");
            let _ = guard.release().await;
        }
    })
    .await;
}

/// Two nodes that each redirect the slot to the other. Their connections serve other slots, and stay.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn circles_of_redirections_keep_the_bound() {
    let scenes = ["MOVED", "ASK"].map(|word| {
        let second = Arc::new(std::sync::OnceLock::<u16>::new());
        let to = second.clone();
        let first = ScriptedServer::start(Says::Cluster, move |port| {
            move |words: &[String]| match words[0].as_str() {
                "CLUSTER" => slots(port),
                _ => format!("-{word} {SLOT} 127.0.0.1:{}\r\n", to.get().unwrap_or(&1)),
            }
        });
        let back = first.port();
        let other = ScriptedServer::start(Says::Cluster, move |_| {
            move |words: &[String]| match words[0].as_str() {
                "CLUSTER" => slots(back),
                _ => format!("-{word} {SLOT} 127.0.0.1:{back}\r\n"),
            }
        });
        second.set(other.port()).expect("it is set once");
        let scene = Scene {
            url: format!("redis-cluster://127.0.0.1:{back}"),
            servers: vec![first, other],
        };
        let scene: Box<dyn FnOnce() -> Scene> = Box::new(move || scene);
        (format!("{word} in a circle"), scene)
    });
    let outcomes = all_keep_the_bound(scenes, |client| async move {
        let refused = client.lock(KEY).wait(TIME).acquire().await;
        refused.expect_err("nobody grants it");
    })
    .await;
    let connections: Vec<_> = outcomes.iter().map(|outcome| outcome.connections).collect();
    assert_eq!(connections, [1, 1]);
}

/// The same for other calls, which take as long again.
mod long {
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn caller_of_several_locks_keeps_the_bound() {
        let scenes = scenes(&TOPOLOGIES[..4], Clone::clone);
        all_keep_the_bound(scenes, |client| async move {
            let locks = client.lock_all(["{foo}:1", "{foo}:2"]).wait(TIME);
            locks.acquire().await.expect_err("nobody grants them");
        })
        .await;
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn reader_and_operator_keep_the_bound() {
        let reading = scenes(&TOPOLOGIES, Clone::clone);
        all_keep_the_bound(reading, |client| async move {
            let _ = client.inspect(KEY).await;
            let refused = client.lock(KEY).read().wait(TIME / 2).acquire().await;
            // A quorum has no readers.
            refused.expect_err("nobody grants it");
            let _ = client.ping().await;
        })
        .await;
    }
}
