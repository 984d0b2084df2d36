//! Which sources a run has: this machine, ourselves, the server where it is seen, the database.
//!
//! Not here: how each is read.

use std::sync::Arc;

use model::{Around, Database, Fact};

use super::{
    Counted, Hand, Locate, Lookout, Machine, Make, Process, SharedTasks, Source, Whereabouts, proxy,
};

/// What a run has around it.
pub(crate) struct Surroundings {
    /// What is asked for.
    pub(crate) around: Around,
    /// Our own threads.
    pub(crate) threads: SharedTasks,
    /// The database that is loaded.
    pub(crate) database: Option<Arc<dyn Database>>,
    /// The processes of servers that were started for the run, by what they are called; none if
    /// there is no such server.
    pub(crate) processes: Option<Vec<(String, Locate)>>,
}

/// Who looks, and what is to be known of it.
pub(crate) fn lookout(of: Surroundings) -> (Lookout, Vec<Fact>) {
    let hand = Hand::default();
    let mut sources: Vec<Make> = Vec::new();
    let mut facts = Vec::new();
    if of.around == Around::None {
        return (Lookout::over(sources, hand), facts);
    }
    let threads = of.threads;
    sources.push(Box::new(|| Some(Box::new(Machine::default()))));
    sources.push(Box::new(move || Some(Box::new(Process::generator(threads)))));
    if let Some(database) = of.database {
        let processes = match of.processes {
            Some(processes) => processes,
            None => found(database.as_ref(), &mut facts),
        };
        for (about, locate) in processes {
            sources.push(Box::new(move || Some(Box::new(Process::server(about, locate)))));
        }
        let (all, of_source) = (of.around == Around::All, hand.clone());
        sources.push(Box::new(move || {
            let counted = Counted::of(database, all, of_source)?;
            Some(Box::new(counted) as Box<dyn Source>)
        }));
    }
    (Lookout::over(sources, hand), facts)
}

/// The process of a server that somebody else started. A database without hosts lives within us.
fn found(database: &dyn Database, facts: &mut Vec<Fact>) -> Vec<(String, Locate)> {
    match database.hosts().map(|hosts| Whereabouts::of(&hosts.list())) {
        None => Vec::new(),
        Some(Whereabouts::Elsewhere) => {
            let text = "not read: it is not known to be on this machine";
            facts.push(Fact::new("around", "server", text));
            Vec::new()
        }
        Some(whereabouts) => {
            if let Some(name) = whereabouts.process().and_then(proxy) {
                let text = format!("not read: {name}, a proxy, listens there and not the server");
                facts.push(Fact::new("around", "server", text));
                return Vec::new();
            }
            let locate: Locate = Box::new(move || whereabouts.process());
            vec![("server".to_owned(), locate)]
        }
    }
}
