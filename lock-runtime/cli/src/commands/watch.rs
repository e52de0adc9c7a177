//! `watch`: the locks as they come and go.

use std::fmt;
use std::io::{self, IsTerminal};
use std::pin::Pin;
use std::thread;
use std::time::Duration;

use lock_runtime::LockClient;
use lock_runtime::inspect::{Revocation, Revoked};
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::{MissedTickBehavior, interval};

use super::inspect::Report;
use super::list::PAGE;
use crate::args::{Connection, Watch};
use crate::exit::{Exit, Failure};
use crate::operator;
use crate::output::{Form, Plain, print};
use crate::signals::Signals;
use crate::watch::draw::draw;
use crate::watch::row::{Change, Row, changes};
use crate::watch::view::{Action, Press, View};

pub(crate) async fn watch(
    connection: &Connection,
    watch: Watch,
    form: Form,
) -> Result<Exit, Failure> {
    let client = connection.connect(&operator::name()).await?;
    let is_shown = form == Form::Text && io::stdout().is_terminal() && io::stdin().is_terminal();
    if !is_shown {
        return lines(&client, &watch, form).await;
    }
    let mut terminal = ratatui::try_init()?;
    let outcome = shown(&mut terminal, &client, &watch).await;
    // The terminal is as it was, however this ends.
    ratatui::restore();
    client.shutdown().await;
    outcome
}

/// All locks of the pattern, in the order of their keys.
async fn look(client: &LockClient, watch: &Watch) -> Result<Vec<Row>, Failure> {
    let mut locks = client.locks().page(PAGE);
    if let Some(pattern) = &watch.pattern {
        locks = locks.matching(pattern);
    }
    let mut rows = Vec::new();
    while let Some(page) = locks.next().await? {
        rows.extend(page.into_iter().filter_map(Row::of));
    }
    // A stable sort, which is quick with pages that are each in order.
    rows.sort_by(|one, other| one.key.cmp(&other.key));
    Ok(rows)
}

/// A line for each change, for a reader that is no person.
async fn lines(client: &LockClient, watch: &Watch, form: Form) -> Result<Exit, Failure> {
    let mut before = Vec::new();
    let mut ticks = ticks(*watch.interval);
    loop {
        ticks.tick().await;
        let now = look(client, watch).await?;
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
        let (key, holder) = (Plain(self.key), Plain(self.holder));
        match self.change {
            "freed" => write!(f, "freed  {key} (was {holder})"),
            change => write!(f, "{change:<6} {key} by {holder}"),
        }
    }
}

/// A look at the locks that is under way.
type Look<'a> = Pin<Box<dyn Future<Output = Result<Vec<Row>, Failure>> + 'a>>;

async fn shown(
    terminal: &mut DefaultTerminal,
    client: &LockClient,
    watch: &Watch,
) -> Result<Exit, Failure> {
    let title = watch.pattern.as_deref().unwrap_or("*");
    let title = Plain(title).to_string();
    let mut signals = Signals::listen()?;
    let (mut view, mut presses) = (View::new(), presses());
    let mut ticks = ticks(*watch.interval);
    // Keys and signals are heard meanwhile: a server that does not answer keeps nobody here.
    let mut looking: Option<Look<'_>> = None;
    loop {
        terminal.draw(|frame| draw(frame, &view, &title))?;
        tokio::select! {
            biased;
            press = presses.recv() => {
                // A size that has changed is drawn, and means nothing else.
                let Some(press) = press else { return Ok(Exit::DONE) };
                let Some(press) = press else { continue };
                match view.press(press) {
                    Action::None => {}
                    Action::Quit => return Ok(Exit::DONE),
                    action => tokio::select! {
                        () = act(client, &mut view, action) => {}
                        exit = signals.end() => return Ok(exit),
                    },
                }
            }
            exit = signals.end() => return Ok(exit),
            looked = finished(&mut looking) => {
                looking = None;
                match looked {
                    Ok(rows) => {
                        view.set_rows(rows);
                        view.recover();
                    }
                    // It may be back at the next look.
                    Err(failure) => view.fail(failure.to_string()),
                }
            }
            _ = ticks.tick(), if looking.is_none() => looking = Some(Box::pin(look(client, watch))),
        }
    }
}

/// Completes as what goes on does, or never.
async fn finished<F: Future + Unpin>(going_on: &mut Option<F>) -> F::Output {
    match going_on {
        Some(future) => future.await,
        None => std::future::pending().await,
    }
}

async fn act(client: &LockClient, view: &mut View, action: Action) {
    match action {
        Action::Inspect(key) => match client.inspect(key).await {
            Ok(lock) => view.show(Report::of(&lock).to_string()),
            Err(error) => view.say(error.to_string()),
        },
        Action::Revoke { key, seen, reason } => {
            let revocation = Revocation::new(operator::name(), reason);
            view.say(match client.revoke(key.as_str(), seen, revocation).await {
                Ok(Revoked::Done(done)) => {
                    format!(
                        "took `{key}` from {} (operation {})",
                        done.label, done.operation
                    )
                }
                Ok(Revoked::Changed(_)) => {
                    format!("`{key}` has another holder by now: nothing was done")
                }
                Ok(_) => format!("`{key}` is free: nothing was done"),
                Err(error) => error.to_string(),
            });
        }
        Action::None | Action::Quit => {}
    }
}

/// The keys that are pressed, and `None` for all else that the terminal says. A thread waits for them, since that blocks.
fn presses() -> mpsc::UnboundedReceiver<Option<Press>> {
    let (sender, receiver) = mpsc::unbounded_channel();
    thread::spawn(move || {
        while let Ok(event) = event::read() {
            let press = match event {
                Event::Key(key) if key.kind != KeyEventKind::Release => {
                    let is_interrupt = key.modifiers.contains(KeyModifiers::CONTROL)
                        && key.code == KeyCode::Char('c');
                    match is_interrupt {
                        true => Some(Press::Interrupt),
                        false => meaning(key.code),
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
