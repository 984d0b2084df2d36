//! `dbdyno hub`: the place where runs and agents meet.

use std::path::PathBuf;

use agents::{Address, Hub, HubOptions, PORT, VALID_S};
use app::Error;
use clap::{Arg, ArgMatches, Command};
use model::Host;

use super::{hub_flag, hub_folder};
use crate::cli::signals::end_on_signals;
use crate::cli::{DONE, Outcome};
use crate::shell::Shell;

pub(super) fn command() -> Command {
    Command::new("hub")
        .about("Lets agents on other hosts join, and runs use them")
        .after_help(
            "The hub starts a private nats-server (Debian's package nats-server) and prints the line \
             with which agents join. Everything is encrypted, with certificates made for it. Runs \
             on this host find the hub by its folder: see docs/how-to/several-hosts.md.",
        )
        .arg(Arg::new("listen").long("listen").value_name("ADDRESS[:PORT]").help(format!(
            "Where agents and runs connect [default: 127.0.0.1:{PORT}; 0.0.0.0: from everywhere]"
        )))
        .arg(
            Arg::new("address")
                .long("address")
                .value_name("nats://HOST:PORT")
                .help("Address to print for agents [default: that of --listen, or this host's name]"),
        )
        .arg(
            Arg::new("nats_server")
                .long("nats-server")
                .value_name("PATH")
                .help("Program of the broker [default: nats-server of the system]"),
        )
        .arg(hub_flag().help("Folder for the keys of the hub [default: hub in dbdyno's own folder]"))
}

pub(super) fn hub(matches: &ArgMatches, shell: &Shell) -> Outcome {
    let listen = matches.get_one::<String>("listen").map_or("127.0.0.1", String::as_str);
    let listen = Host::parse(listen).map_err(|bad| Error::Usage(format!("--listen: {bad}")))?;
    let address = matches.get_one::<String>("address").map(|text| Address::parse(text));
    let address = address.transpose().map_err(|bad| Error::Usage(format!("--address: {bad}")))?;
    let options = HubOptions {
        folder: hub_folder(matches, shell)?,
        listen: Address::from(listen),
        address,
        nats_server: matches.get_one::<String>("nats_server").map(PathBuf::from),
    };
    let stop = end_on_signals(
        "the hub ends; runs in progress on its agents fail, and agents wait until it is back",
        shell,
    );
    let mut hub = Hub::start(options)?;
    shell.print(&format!("the hub is ready at {}\n", hub.address()))?;
    tell_token(&hub, shell)?;
    hub.serve(&|| stop.is_asked(), &mut |sentence| shell.say(sentence), &mut |hub| {
        let _ = tell_token(hub, shell);
    })?;
    Ok(DONE)
}

fn tell_token(hub: &Hub, shell: &Shell) -> Result<(), Error> {
    let hours = VALID_S / 3600;
    shell.print(&format!(
        "an agent joins within {hours} hours by this line; replace HOST:PORT by the server that it \
         may load:\n  dbdyno agent join {} --token {} --allow HOST:PORT\n",
        hub.address(),
        hub.token()?.reveal(),
    ))?;
    Ok(())
}
