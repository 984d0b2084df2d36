//! Being the only one who builds, drops or puts routines into a database, and waiting for a
//! server that comes back.
//!
//! What is held ends with its connection, so nobody who crashed locks others out. Not here: what
//! is done meanwhile; SQLite, whose loads keep each other out by their marks.

use std::thread;
use std::time::Duration;

use model::{Database, Refusal};

use crate::desk::Desk;
use crate::{Trouble, wall};

/// How long a build waits: a server takes a moment to notice that the one before is gone.
pub(crate) const A_MOMENT: Duration = Duration::from_secs(3);
/// How long who puts routines there waits: others do the same, and are soon done.
pub(crate) const A_WHILE: Duration = Duration::from_secs(60);
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How often one tries to connect anew, with a pause that grows to the last of these: half a
/// minute, in which a server recovers from a crash.
const RECONNECTS: u32 = 35;
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// Held by one process for one database, until it is dropped.
pub(crate) struct Alone {
    /// The session that holds it; none where the database has no means for that.
    desk: Option<Desk>,
}

impl Alone {
    /// Waits for its turn, at most `patience`.
    pub(crate) fn at(
        database: &dyn Database,
        patience: Duration,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<Alone, Trouble> {
        let Some((ask, first)) = database.dialect().alone.split_last() else {
            return Ok(Alone { desk: None });
        };
        let mut desk = Desk::at(database)?;
        for sql in first {
            desk.write(sql)?;
        }
        let began = wall::now();
        loop {
            match desk.number(ask) {
                Ok(Some(0)) => {}
                Ok(Some(_)) => return Ok(Alone { desk: Some(desk) }),
                // Some clusters and proxies know no such locks; marks still keep rows whole.
                Ok(None) => return Ok(Alone { desk: None }),
                Err(refusal) if !refusal.kind.breaks_session() => return Ok(Alone { desk: None }),
                Err(refusal) => return Err(refusal.into()),
            }
            if is_stopped() {
                return Err(Trouble::Interrupted("interrupted while waiting".to_owned()));
            }
            if began.elapsed() > patience {
                return Err(Trouble::Failed(
                    "another dbdyno builds or drops data in this database: try again when it has \
                     ended"
                        .to_owned(),
                ));
            }
            thread::park_timeout(LOOK_EVERY);
        }
    }

    /// A session beside the one that keeps others out, and whether it is the only one that is to
    /// be had: nobody else can build there then either, and ours that keeps them out is ended.
    pub(crate) fn desk_beside(&mut self, database: &dyn Database) -> Result<(Desk, bool), Refusal> {
        match Desk::at(database) {
            Err(no) if no.kind.breaks_session() && self.answers() => {
                self.desk = None;
                let why = "the server answers on one session and lets us have no second one";
                let desk = Desk::at(database);
                desk.map(|desk| (desk, true)).map_err(|_| no.during(why))
            }
            desk => desk.map(|desk| (desk, false)),
        }
    }

    /// Whether a session holds it, and the server answers there.
    fn answers(&mut self) -> bool {
        self.desk.as_mut().is_some_and(|desk| desk.number("SELECT 1").is_ok())
    }

    /// Takes it again if its connection was lost meanwhile.
    pub(crate) fn renew(
        &mut self,
        database: &dyn Database,
        is_stopped: &(dyn Fn() -> bool + Sync),
    ) -> Result<(), Trouble> {
        if let Some(desk) = &mut self.desk
            && desk.number("SELECT 1").is_err()
        {
            *self = Alone::at(database, A_MOMENT, is_stopped)?;
        }
        Ok(())
    }
}

/// Connects again after a connection was lost, as soon as the server lets us.
pub(crate) fn connect_again<T>(
    lost: Refusal,
    is_stopped: &(dyn Fn() -> bool + Sync),
    connect: &mut dyn FnMut() -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    let mut pause = PAUSES.0;
    let mut last = lost;
    for _ in 0..RECONNECTS {
        if is_stopped() {
            return Err(last);
        }
        match connect() {
            Ok(connected) => return Ok(connected),
            Err(refusal) if refusal.kind.breaks_session() => last = refusal,
            Err(refusal) => return Err(refusal),
        }
        thread::park_timeout(pause);
        pause = (pause * 2).min(PAUSES.1);
    }
    Err(last)
}
