//! Ends owners in the background until nothing of them can be left: owners whose callers gave up, and owners whose
//! release was not answered. [`Ending`] decides when to end an owner again.

use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::sleep;

use crate::backend::engine::ending::{Command, Ending, Then};
use crate::backend::engine::event_of;
use crate::backend::remote::Remote;
use crate::backend::remote::registered_owner::RegisteredOwner;
use crate::backend::wire::End;
use crate::background::clock::SETTLING;
use crate::background::in_flight::Counted;
use crate::background::random;
use crate::key::RecordNames;
use crate::lease::Mode;
use crate::lease::owner_id::OwnerId;

/// Ends an owner in the background, unless nothing of it can be left. The receiver completes when the first end was
/// answered, or its command timed out.
pub(crate) fn end(remote: &Arc<Remote>, mut owner: RegisteredOwner) -> oneshot::Receiver<()> {
    let (first, done) = oneshot::channel();
    let Some(mut ending) = Ending::of_owner(&owner.outstanding) else {
        return done;
    };
    // Counted here, not in the task, since a shutdown may check the count before the task runs.
    let counted = remote.unsettled.one();
    let remote_of_task = remote.clone();
    remote.spawn(async move {
        let remote = remote_of_task;
        let command = ending.command(|| SETTLING.now());
        let then = send(&remote, &mut owner, &mut ending, command).await;
        drop(first);
        settle(&remote, owner, ending, then, Some(counted)).await;
    });
    done
}

/// Once more ends an owner of this client that ended recently: a message announced a grant for it, so its end has
/// overtaken one of its commands.
pub(crate) fn end_again(remote: &Arc<Remote>, owner_id: OwnerId, mode: Mode, lock: &[u8]) {
    let lock = String::from_utf8(lock.to_vec());
    let Some(names) = lock.ok().and_then(|lock| RecordNames::of_lock(lock).ok()) else {
        return;
    };
    let owner = RegisteredOwner::ended_before(owner_id, names, mode, &remote.notifier);
    drop(end(remote, owner));
}

/// Continues an end whose first command failed, or was not enough. Drops `counted`, for which a shutdown waits, as soon as
/// it need no longer wait.
pub(crate) async fn settle(
    remote: &Arc<Remote>,
    mut owner: RegisteredOwner,
    mut ending: Ending,
    mut then: Then,
    mut counted: Option<Counted>,
) {
    loop {
        counted = counted.filter(|_| ending.is_awaited());
        let command = match then {
            Then::Send(command) => command,
            Then::Pause(pause) => {
                sleep(pause).await;
                ending.command(|| SETTLING.now())
            }
            Then::BackOff(_) => unreachable!("no caller waits for this end, so it never backs off"),
            Then::Keep => {
                keep(remote, owner, ending);
                break;
            }
            Then::Over => break,
        };
        counted = counted.filter(|_| ending.is_awaited());
        then = send(remote, &mut owner, &mut ending, command).await;
    }
    drop(counted);
}

/// How often an owner that is kept is ended, in case that nothing else needs a connection.
const RETRY: Duration = Duration::from_secs(5);

/// An owner whose end nobody has answered, and the state of that end.
pub(crate) type UnendedOwner = (RegisteredOwner, Ending);

/// Keeps an owner until there is another connection.
fn keep(remote: &Arc<Remote>, owner: RegisteredOwner, ending: Ending) {
    if remote.unended.keep((owner, ending)) {
        remote.spawn(retry(Arc::downgrade(remote)));
    }
}

/// Ends one owner that is kept every now and then, which also makes a connection, until none is left. Boxed, since an
/// end may keep its owner again.
fn retry(remote: Weak<Remote>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        loop {
            sleep(RETRY.mul_f64(0.8 + 0.4 * random::jitter())).await;
            let Some(remote) = remote.upgrade() else {
                return;
            };
            let Some(((owner, ending), _retry)) = remote.unended.retry_first() else {
                return;
            };
            end_kept(&remote, owner, ending).await;
        }
    })
}

/// Ends all owners that are kept, since there is another connection: one after the other, since callers need it, too.
pub(crate) fn connected(remote: &Arc<Remote>) {
    let owners = remote.unended.take();
    if owners.is_empty() {
        return;
    }
    let ender = remote.clone();
    remote.spawn(async move {
        for (owner, ending) in owners {
            end_kept(&ender, owner, ending).await;
        }
    });
}

/// Ends an owner that was kept. No shutdown waits for it.
async fn end_kept(remote: &Arc<Remote>, mut owner: RegisteredOwner, mut ending: Ending) {
    let command = ending.command(|| SETTLING.now());
    let then = send(remote, &mut owner, &mut ending, command).await;
    settle(remote, owner, ending, then, None).await;
}

/// Sends one command of an end, and notes its outcome.
async fn send(
    remote: &Remote,
    owner: &mut RegisteredOwner,
    ending: &mut Ending,
    command: Command,
) -> Then {
    let how = match command {
        Command::Reserve(time) => End::Reserve { time },
        _ => End::Whole { successor: None },
    };
    let ended = remote.wire.end(owner, how).await;
    let event = event_of(&ended.map(|answered| answered.answer));
    let reaction = ending.on(event, &owner.outstanding, || SETTLING.now(), random::jitter);
    reaction.then
}
