//! The commands, one file each; `doctor` has a folder of its own.

mod acl;
mod audit;
mod bench;
mod hold;
mod inspect;
mod list;
mod revoke;
mod run;
mod runs;
mod watch;

use crate::args::{Args, Command};
use crate::doctor::doctor;
use crate::exit::{Exit, Failure};

pub(crate) async fn run(args: Args) -> Result<Exit, Failure> {
    let form = args.form();
    match args.command {
        Command::List(list) => list::list(&args.connection, list, form).await,
        Command::Watch(watch) => watch::watch(&args.connection, watch, form).await,
        Command::Inspect(inspect) => inspect::inspect(&args.connection, inspect, form).await,
        Command::Revoke(revoke) => revoke::revoke(&args.connection, revoke, form).await,
        Command::Audit(audit) => audit::audit(&args.connection, audit, form).await,
        Command::Runs(runs) => runs::runs(&args.connection, runs, form).await,
        Command::Hold(hold) => hold::hold(&args.connection, hold, form).await,
        Command::Run(run) => run::run(&args.connection, run).await,
        Command::Doctor(asked) => doctor(&args.connection, asked, form).await,
        Command::Acl(acl) => acl::acl(&args.connection, &acl, form),
        Command::Bench(bench) => bench::bench(&args.connection, bench, form).await,
    }
}
