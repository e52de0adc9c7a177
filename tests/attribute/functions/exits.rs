//! Every way out of a body.

use lock_runtime::distributed_lock;

use super::check::{AppError, inside, locks, pausing};

#[derive(Clone, Copy)]
enum Exit {
    Value,
    Return,
    Question,
    Select,
    Macro,
}

const EXITS: [(Exit, Result<u8, ()>); 5] = [
    (Exit::Value, Ok(0)),
    (Exit::Return, Ok(1)),
    (Exit::Question, Err(())),
    (Exit::Select, Ok(2)),
    (Exit::Macro, Ok(3)),
];

fn failing() -> Result<u8, AppError> {
    Err(AppError::Own)
}

macro_rules! give_up {
    ($value:expr) => {
        return Ok($value)
    };
}

#[distributed_lock(key = "exit")]
async fn asynchronous(exit: Exit) -> Result<u8, AppError> {
    pausing().await;
    match exit {
        Exit::Value => (),
        Exit::Return => return Ok(1),
        Exit::Question => return Ok(failing()? + 1),
        Exit::Select => tokio::select! {
            biased;
            () = std::future::ready(()) => return Ok(2),
            () = std::future::pending() => (),
        },
        Exit::Macro => give_up!(3),
    }
    Ok(0)
}

#[distributed_lock(key = "exit of a future")]
fn future(exit: Exit) -> impl std::future::Future<Output = Result<u8, AppError>> {
    async move {
        pausing().await;
        match exit {
            Exit::Value => Ok(0),
            Exit::Return => return Ok(1),
            Exit::Question => Ok(failing()? + 1),
            Exit::Select => tokio::select! {
                biased;
                () = std::future::ready(()) => return Ok(2),
                () = std::future::pending() => failing(),
            },
            Exit::Macro => give_up!(3),
        }
    }
}

#[distributed_lock(key = "exit blocking")]
fn blocking(exit: Exit) -> Result<u8, AppError> {
    inside();
    match exit {
        Exit::Value => Ok(0),
        Exit::Return => return Ok(1),
        Exit::Question => Ok(failing()? + 1),
        Exit::Select => Ok(2),
        Exit::Macro => give_up!(3),
    }
}

#[tokio::test]
async fn every_exit_releases_the_lock() {
    for (exit, expected) in EXITS {
        let outcomes = [
            locks("exit", async || asynchronous(exit).await).await,
            locks("exit of a future", async || future(exit).await).await,
            locks("exit blocking", async || blocking(exit)).await,
        ];
        for outcome in outcomes {
            let outcome = outcome.map_err(|error| assert!(matches!(error, AppError::Own)));
            assert_eq!(outcome, expected);
        }
    }
}
