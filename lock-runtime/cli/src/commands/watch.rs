//! `watch`: shows locks as they come and go.

use std::fmt;
use std::io::{self, IsTerminal};
use std::pin::Pin;
use std::thread;
use std::time::{Duration, Instant};

use lock_runtime::LockClient;
use lock_runtime::inspect::{Revocation, Revoked};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::inspect::Report;
use crate::args::{Connection, Watch};
use crate::exit::{Exit, Failure};
use crate::output::{Form, Whom, complain, escape, print};
use crate::signals::Signals;
use crate::watch::draw::{draw, rows_on};
use crate::watch::inspected::Inspected;
use crate::watch::look::{self, cpu_time};
use crate::watch::pace::Pace;
use crate::watch::row::{Change, Row, changes};
use crate::watch::update::Update;
use crate::watch::view::{Action, Order, Press, View};

pub(crate) async fn watch(
    connection: &Connection,
    watch: Watch,
    form: Form,
) -> Result<Exit, Failure> {
    let operator = connection.operator();
    let client = connection.connect(&operator).await?;
    let is_shown = form == Form::Text && io::stdout().is_terminal() && io::stdin().is_terminal();
    if !is_shown {
        return lines(&client, &watch, form).await;
    }
    let mut terminal = ratatui::try_init()?;
    let mut unanswered = None;
    let outcome = shown(&mut terminal, &client, &watch, operator, &mut unanswered).await;
    // Restored however this ends.
    ratatui::restore();
    match unanswered {
        // The server may have revoked it. Quitting does not wait for the answer.
        Some(key) => complain(&format!(
            "the revocation of `{key}` was not answered: see `lockctl audit`"
        )),
        None => {
            client.shutdown().await;
        }
    }
    outcome
}

/// Prints a line for each change, for programs.
async fn lines(client: &LockClient, watch: &Watch, form: Form) -> Result<Exit, Failure> {
    let mut before = Vec::new();
    let mut ticks = ticks(*watch.interval);
    loop {
        ticks.tick().await;
        let now = look::all(client, watch).await?;
        for change in changes(&before, &now) {
            print(form, &Told::of(&change))?;
        }
        before = now;
    }
}

fn ticks(time: Duration) -> tokio::time::Interval {
    let mut ticks = interval(time.max(Duration::from_millis(100)));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// A change in one line.
#[derive(Debug, Serialize)]
struct Told<'a> {
    change: &'static str,
    key: &'a str,
    holder: &'a str,
    token: Option<u64>,
}

impl<'a> Told<'a> {
    fn of(change: &'a Change) -> Told<'a> {
        let (change, row) = match change {
            Change::Taken(row) => ("taken", row),
            Change::Passed(row) => ("passed", row),
            Change::Freed(row) => ("freed", row),
        };
        Told {
            change,
            key: &row.key,
            holder: &row.holder,
            token: row.token,
        }
    }
}

impl fmt::Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (key, holder) = (escape(self.key), escape(self.holder));
        match self.change {
            "freed" => write!(f, "freed  {key} (was {holder})"),
            change => write!(f, "{change:<6} {key} by {holder}"),
        }
    }
}

/// An operation in flight. The view handles keys meanwhile, and quits even if a server does not answer.
type GoingOn<'a, T> = Pin<Box<dyn Future<Output = T> + 'a>>;

/// The outcome of an action.
enum Outcome {
    /// A lock, to show over the list.
    Inspected(Inspected),
    /// A message.
    Said(String),
}

/// Shows the locks until a key or a signal ends the view. Stores in `unanswered` the key of a revocation that is still in
/// flight.
async fn shown(
    terminal: &mut DefaultTerminal,
    client: &LockClient,
    watch: &Watch,
    operator: String,
    unanswered: &mut Option<String>,
) -> Result<Exit, Failure> {
    let title = watch.pattern.as_deref().unwrap_or("*");
    let title = escape(title).to_string();
    let mut signals = Signals::listen()?;
    let (mut view, mut presses) = (View::new(), presses());
    let mut ticks = ticks(*watch.interval);
    let mut looking: Option<GoingOn<'_, Result<Update, Failure>>> = None;
    let mut acting: Option<GoingOn<'_, Outcome>> = None;
    let (mut pace, mut began) = (Pace::default(), cpu_time());
    loop {
        let screen = terminal.draw(|frame| draw(frame, &view, &title, Instant::now()))?;
        let screen = screen.area;
        tokio::select! {
            biased;
            press = presses.recv() => {
                // The size changed: only draw.
                let Some(press) = press else { return Ok(Exit::DONE) };
                let Some(press) = press else { continue };
                match view.press(press) {
                    Action::None => {}
                    Action::Quit => return Ok(Exit::DONE),
                    _ if acting.is_some() => {
                        view.say("The last request is still in flight: nothing was done.".to_owned());
                    }
                    Action::Inspect(key) => {
                        view.say(format!("inspecting `{key}` …"));
                        acting = Some(Box::pin(inspected(client, key)));
                    }
                    Action::Revoke(order) => {
                        view.say(format!("revoking `{}` …", order.key));
                        *unanswered = Some(order.key.clone());
                        acting = Some(Box::pin(revoked(client, operator.clone(), order)));
                    }
                }
            }
            exit = signals.end() => return Ok(exit),
            outcome = finished(&mut acting) => {
                (acting, *unanswered) = (None, None);
                match outcome {
                    Outcome::Inspected(inspected) => {
                        view.say(String::new());
                        view.show(inspected);
                    }
                    Outcome::Said(text) => view.say(text),
                }
            }
            looked = finished(&mut looking) => {
                looking = None;
                match looked {
                    Ok(update) => {
                        let now = Instant::now();
                        if let Update::All(_) = update {
                            pace.note(now, cpu_time().saturating_sub(began));
                        }
                        view.see(update, now);
                    }
                    // The server may be back at the next read.
                    Err(failure) => view.fail(failure.to_string()),
                }
            }
            _ = ticks.tick(), if looking.is_none() => {
                began = cpu_time();
                looking = Some(if pace.is_due(Instant::now()) {
                    Box::pin(async { look::all(client, watch).await.map(Update::All) })
                } else {
                    let keys = view.keys_on(rows_on(screen));
                    Box::pin(async { Ok(look::some(client, keys).await) })
                });
            }
        }
    }
}

/// Completes with the operation in flight, or never.
async fn finished<F: Future + Unpin>(going_on: &mut Option<F>) -> F::Output {
    match going_on {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn inspected(client: &LockClient, key: String) -> Outcome {
    match client.inspect(key.as_str()).await {
        Ok(lock) => Outcome::Inspected(Inspected {
            text: Report(&lock).to_string(),
            row: Row::of_state(lock),
        }),
        Err(error) => Outcome::Said(error.to_string()),
    }
}

async fn revoked(client: &LockClient, operator: String, order: Order) -> Outcome {
    let Order {
        key, seen, reason, ..
    } = order;
    let revocation = Revocation::new(operator, reason);
    Outcome::Said(match client.revoke(key.as_str(), seen, revocation).await {
        Ok(Revoked::Done(done)) => {
            let (holder, operation) = (Whom(&done.label), done.operation);
            format!("took `{key}` from {holder} (operation {operation})")
        }
        Ok(nothing_done) => nothing_done.to_string(),
        Err(error) => error.to_string(),
    })
}

/// The keys that are pressed, and `None` for all other events of the terminal. A thread waits for them, since that blocks.
fn presses() -> mpsc::UnboundedReceiver<Option<Press>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    thread::spawn(move || {
        while let Ok(event) = event::read() {
            let press = match event {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    let is_interrupt = key.modifiers.contains(KeyModifiers::CONTROL)
                        && key.code == KeyCode::Char('c');
                    if is_interrupt {
                        Some(Press::Interrupt)
                    } else {
                        meaning(key.code)
                    }
                }
                _ => None,
            };
            if sender.send(press).is_err() {
                return;
            }
        }
    });
    receiver
}

fn meaning(code: KeyCode) -> Option<Press> {
    Some(match code {
        KeyCode::Char(letter) => Press::Char(letter),
        KeyCode::Enter => Press::Enter,
        KeyCode::Esc => Press::Escape,
        KeyCode::Backspace => Press::Backspace,
        KeyCode::Up => Press::Up,
        KeyCode::Down => Press::Down,
        KeyCode::PageUp => Press::PageUp,
        KeyCode::PageDown => Press::PageDown,
        KeyCode::Home => Press::Home,
        KeyCode::End => Press::End,
        _ => return None,
    })
}
