//! Arguments whose destructor reads the value that the body set last. The compiler calls such a value "never read",
//! unless it sees that the body drops the argument.

use std::cell::Cell;
use std::rc::Rc;

use lock_runtime::distributed_lock;

use super::check::{AppError, assert_locks, at_once, inside, pausing};

type Answer = Result<(), AppError>;

struct Guard {
    armed: bool,
    fired: Rc<Cell<u32>>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        if self.armed {
            self.fired.set(self.fired.get() + 1);
        }
    }
}

impl Guard {
    #[distributed_lock(key = "defused")]
    async fn defuse(mut self) -> Answer {
        pausing().await;
        self.armed = false;
        Ok(())
    }

    #[distributed_lock(key = "defused blocking")]
    fn defuse_blocking(mut self) -> Answer {
        inside();
        self.armed = false;
        Ok(())
    }

    #[distributed_lock(key = "defused box")]
    fn defuse_box(mut self: Box<Self>) -> Answer {
        inside();
        self.armed = false;
        Ok(())
    }
}

#[distributed_lock(key = "defused argument")]
async fn defuse(mut guard: Guard) -> Answer {
    pausing().await;
    guard.armed = false;
    Ok(())
}

#[distributed_lock(key = "defused arguments")]
fn defuse_blocking((mut guard, mut _other): (Guard, Guard)) -> Answer {
    inside();
    guard.armed = false;
    _other.armed &= false;
    Ok(())
}

#[tokio::test]
async fn value_set_for_a_destructor_is_read() {
    let fired = Rc::new(Cell::new(0));
    let guard = || Guard {
        armed: true,
        fired: fired.clone(),
    };
    // Each trial that does not reach the end fires the guard. A blocking body reaches it where an async one is cancelled.
    assert_locks!("defused", guard().defuse().await, ());
    assert_eq!(fired.take(), 3);
    assert_locks!(at_once("defused blocking"), guard().defuse_blocking(), ());
    assert_eq!(fired.take(), 2);
    assert_locks!(at_once("defused box"), Box::new(guard()).defuse_box(), ());
    assert_eq!(fired.take(), 2);
    assert_locks!("defused argument", defuse(guard()).await, ());
    assert_eq!(fired.take(), 3);
    assert_locks!(
        at_once("defused arguments"),
        defuse_blocking((guard(), guard())),
        ()
    );
    assert_eq!(fired.take(), 4);
}
