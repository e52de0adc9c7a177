//! A command and the processes that it starts: a process group, like a shell's job.

use std::fs::File;
use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::process::ExitStatus;
use std::time::Duration;

use nix::sys::signal::{SigSet, SigmaskHow, Signal as Held};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitOptions, getpgrp, getsid, kill_current_process_group,
    kill_process_group, test_kill_process_group, waitid, waitpgid,
};
use rustix::termios::{tcgetpgrp, tcsetpgrp};
use tokio::process::{Child, Command};
use tokio::signal::unix::{self, SignalKind};
use tokio::time::{sleep, timeout};

use crate::output::complain;

/// How long processes may take to end after SIGTERM, and to be gone after SIGKILL.
const TO_END: Duration = Duration::from_secs(5);

/// Poll interval for a group's end: only children notify us.
const LOOK: Duration = Duration::from_millis(10);

/// A command in a process group of its own. A terminal is lent to the group.
pub(crate) struct Job {
    child: Child,
    group: Pid,
    children: unix::Signal,
    terminal: Option<Terminal>,
}

impl Job {
    pub(crate) fn start(mut command: Command) -> io::Result<Job> {
        let children = unix::signal(SignalKind::child())?;
        let terminal = Terminal::open();
        // If the command reads before it has the terminal, SIGTTIN stops it until then. If that signal is ignored, as in a
        // tmux window, the read would fail instead. A signal that is handled here has its default action in the child.
        let _asks = unix::signal(SignalKind::from_raw(Signal::TTIN.as_raw()))?;
        let child = command.process_group(0).spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
        let group = group.ok_or_else(|| io::Error::other("a command that runs has an id"))?;
        // The reader of a pipe may need the terminal too, as a pager does. The command then gets it once it asks.
        if let Some(terminal) = &terminal
            && io::stdin().is_terminal()
            && !is_pipe(io::stdout())
        {
            terminal.lend(group);
            // The command may have asked, and stopped, before.
            let _ = kill_process_group(group, Signal::CONT);
        }
        Ok(Job {
            child,
            group,
            children,
            terminal,
        })
    }

    /// Completes when the command itself has ended.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: the next call completes as this one would have.
    pub(crate) async fn ended(&mut self) -> io::Result<ExitStatus> {
        loop {
            tokio::select! {
                ended = self.child.wait() => return ended,
                _ = self.children.recv() => {}
            }
            let stop = waitid(
                WaitId::Pid(self.group),
                WaitIdOptions::STOPPED | WaitIdOptions::NOHANG,
            );
            if let Ok(Some(stop)) = stop
                && let Some(signal) = stop.stopping_signal()
            {
                self.stopped(signal);
            }
        }
    }

    /// Sends a signal to all processes of the group.
    pub(crate) fn send(&self, signal: Signal) {
        // They may have ended already.
        let _ = kill_process_group(self.group, signal);
    }

    /// Continues after a stop, with the terminal if this process has it.
    pub(crate) fn go_on(&self) {
        if let Some(terminal) = &self.terminal
            && io::stdin().is_terminal()
            && !is_pipe(io::stdout())
        {
            terminal.lend(self.group);
        }
        self.send(Signal::CONT);
    }

    /// Ends a command that must not go on, and all processes that it has started.
    pub(crate) async fn end(&mut self) -> io::Result<()> {
        self.send(Signal::TERM);
        // A stopped process acts on SIGTERM only once it continues.
        self.send(Signal::CONT);
        if let Ok(ended) = timeout(TO_END, self.child.wait()).await {
            ended?;
        }
        self.kill().await
    }

    /// Waits up to [`TO_END`] for the remaining processes of a command that has ended, and then kills them.
    pub(crate) async fn end_rest(&mut self) -> io::Result<()> {
        match timeout(TO_END, self.gone()).await {
            Ok(gone) => gone,
            Err(_) => self.kill().await,
        }
    }

    /// Kills all processes of the group, and waits until they are gone.
    pub(crate) async fn kill(&mut self) -> io::Result<()> {
        self.send(Signal::KILL);
        match timeout(TO_END, self.gone()).await {
            Ok(gone) => gone,
            // For example processes of another user, or zombies that their parent does not reap.
            Err(_) => {
                let group = self.group;
                complain(&format!("processes of group {group} do not end"));
                Ok(())
            }
        }
    }

    /// Completes when no process of the group is left.
    async fn gone(&mut self) -> io::Result<()> {
        self.child.wait().await?;
        // As the first process of a container, this one inherits orphans and must reap them.
        while let Ok(Some(_)) | Err(Errno::INTR) = waitpgid(self.group, WaitOptions::NOHANG) {}
        while test_kill_process_group(self.group) != Err(Errno::SRCH) {
            sleep(LOOK).await;
            while let Ok(Some(_)) | Err(Errno::INTR) = waitpgid(self.group, WaitOptions::NOHANG) {}
        }
        Ok(())
    }

    /// Handles a stop of the command: lends it the terminal that it asked for, or stops this job as a whole.
    fn stopped(&self, signal: i32) {
        let Some(terminal) = &self.terminal else {
            return;
        };
        let has_asked = [Signal::TTIN, Signal::TTOU]
            .map(Signal::as_raw)
            .contains(&signal);
        if has_asked && (terminal.is_ours() || terminal.is_of(self.group)) {
            // It may have asked just before it got the terminal, and stopped just after.
            terminal.lend(self.group);
            self.send(Signal::CONT);
        } else if has_asked || signal == Signal::TSTP.as_raw() {
            terminal.take_back(self.group);
            match getsid(None) {
                // No shell would continue it.
                Ok(session) if session == getpgrp() => self.go_on(),
                // Including a shell script that started this process. SIGCONT ends the stop.
                _ => drop(kill_current_process_group(Signal::STOP)),
            }
        }
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        if let Some(terminal) = &self.terminal {
            terminal.take_back(self.group);
        }
    }
}

/// The terminal of this process's session, if it has one.
struct Terminal(File);

impl Terminal {
    fn open() -> Option<Terminal> {
        File::open("/dev/tty").ok().map(Terminal)
    }

    /// Returns whether this process's group is in the foreground.
    fn is_ours(&self) -> bool {
        tcgetpgrp(&self.0) == Ok(getpgrp())
    }

    fn is_of(&self, group: Pid) -> bool {
        tcgetpgrp(&self.0) == Ok(group)
    }

    fn lend(&self, group: Pid) {
        if self.is_ours() {
            // If this fails, the command stops when it reads, like a background job.
            let _ = tcsetpgrp(&self.0, group);
        }
    }

    fn take_back(&self, group: Pid) {
        if !self.is_of(group) {
            return;
        }
        // The call stops a background process, unless it blocks the signal.
        let signal = SigSet::from(Held::SIGTTOU);
        if let Ok(before) = signal.thread_swap_mask(SigmaskHow::SIG_BLOCK) {
            let _ = tcsetpgrp(&self.0, getpgrp());
            let _ = before.thread_set_mask();
        }
    }
}

fn is_pipe(stream: impl AsFd) -> bool {
    let file = stream.as_fd().try_clone_to_owned().map(File::from);
    let metadata = file.and_then(|file| file.metadata());
    metadata.is_ok_and(|metadata| metadata.file_type().is_fifo())
}
