//! A client process of a run on this host: the agent starts it, and passes messages between it and
//! the run.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use app::run::{Incoming, Link, Peer, Permissions, Work, start_limited, version_of_ours};

use crate::conversation::Conversation;
use crate::messages::{Opening, decode};

/// Time that a client process has to end, after which it is killed.
const END_WITHIN: Duration = Duration::from_secs(3);
/// Time that a process has to restore a settings file and restart the server.
const RESTORED_WITHIN: Duration = Duration::from_secs(400);

/// Serves a conversation until it or the client process has ended. `begin` makes the agent busy
/// with what is asked, or fails with the reason why it cannot be. Returns how it ended.
pub(crate) fn serve(
    conversation: &Arc<Conversation>,
    permissions: &Permissions,
    begin: &mut dyn FnMut(&Opening) -> Result<(), String>,
) -> String {
    match opened(conversation, permissions, begin) {
        Ok((link, peer, end_within)) => pass(conversation, link, peer, end_within),
        Err(why) => conversation.end(&why),
    }
    conversation.why_ended().unwrap_or_default()
}

fn opened(
    conversation: &Conversation,
    permissions: &Permissions,
    begin: &mut dyn FnMut(&Opening) -> Result<(), String>,
) -> Result<(Link, Box<dyn Peer>, Duration), String> {
    let first = conversation.receive().ok_or("the run has ended")?;
    let opening: Opening = decode(&first).ok_or("the run is of another version")?;
    let ours = version_of_ours();
    if opening.version != ours {
        return Err(format!(
            "the agent has dbdyno {ours}, and the run {}: install the same on both",
            opening.version
        ));
    }
    begin(&opening)?;
    let (link, peer) = start_limited(&permissions.for_work(opening.work))
        .map_err(|error| format!("no process can be started: {error}"))?;
    let end_within = match opening.work {
        Work::Control => RESTORED_WITHIN,
        Work::Clients | Work::Monitor => END_WITHIN,
    };
    Ok((link, peer, end_within))
}

/// Passes messages in both directions, until the process or the conversation has ended. A process
/// that does not end with its input is killed.
fn pass(conversation: &Arc<Conversation>, link: Link, peer: Box<dyn Peer>, end_within: Duration) {
    let Link { mut incoming, outgoing } = link;
    let peer = Arc::new(Mutex::new(Some(peer)));
    let (back, process) = (Arc::clone(conversation), Arc::clone(&peer));
    let (done, is_done) = channel();
    let spawned = thread::Builder::new().name("results".to_owned()).spawn(move || {
        pass_back(&back, incoming.as_mut());
        let mut process = process.lock().unwrap_or_else(PoisonError::into_inner);
        let how = process.as_mut().and_then(|process| process.how_it_ended(true));
        drop(process);
        let _ = done.send(());
        back.finish(&how.unwrap_or_else(|| "the client process has ended".to_owned()));
    });
    let Ok(results) = spawned else {
        conversation.end("the agent cannot start a thread");
        return;
    };
    while let Some(message) = conversation.receive() {
        if outgoing.send(&message).is_err() {
            break;
        }
    }
    // The process ends with its input.
    drop(outgoing);
    if is_done.recv_timeout(end_within).is_err() {
        drop(peer.lock().unwrap_or_else(PoisonError::into_inner).take());
    }
    let _ = results.join();
}

fn pass_back(conversation: &Conversation, incoming: &mut dyn Incoming) {
    while let Some(message) = incoming.receive() {
        if conversation.send(&message).is_err() {
            return;
        }
    }
}
