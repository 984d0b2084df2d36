//! A conversation between a run and an agent: messages in both directions, each delivered once and
//! in order as long as the other side is heard of.
//!
//! Not here: how that is achieved (delivery), and what the messages mean.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use app::run::{Incoming, Outgoing};
use model::NS_PER_S;
use monitor::wall_clock;

use crate::broker::Broker;
use crate::delivery::{Full, Inbox, Outbox, Taken};
use crate::frame::Frame;

/// Time without any frame after which the other side counts as lost.
pub(crate) const SILENT_NS: u64 = 20 * NS_PER_S;

/// Time with "no responders" after which the other side counts as disconnected. It is longer than a
/// reconnection to a restarted broker takes.
const NO_RESPONDER_NS: u64 = 5 * NS_PER_S;

/// A conversation, of one run with one agent.
pub(crate) struct Conversation {
    /// Subject on which the other side reads.
    subject: String,
    /// Reply subject on which the broker reports that `subject` has no responders.
    no_responder_at: Option<String>,
    /// Name of the other side in messages for the user.
    other: String,
    broker: Broker,
    began: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    outbox: Outbox,
    inbox: Inbox,
    /// Messages that have arrived and are not yet taken.
    received: VecDeque<Vec<u8>>,
    heard_ns: u64,
    /// Time of the first report of "no responders" since the last frame of the other side.
    no_responder_ns: Option<u64>,
    /// Why the conversation has ended; `None` while it lasts.
    ended: Option<String>,
}

impl Conversation {
    /// Begins a conversation with `other`, which reads on `subject`. It keeps at most
    /// `unacked_bytes_max` bytes that are not acknowledged.
    pub(crate) fn new(
        broker: Broker,
        (subject, no_responder_at): (String, Option<String>),
        other: String,
        unacked_bytes_max: usize,
    ) -> Arc<Conversation> {
        Arc::new(Conversation {
            subject,
            no_responder_at,
            other,
            broker,
            began: wall_clock::now(),
            state: Mutex::new(State {
                outbox: Outbox::new(unacked_bytes_max),
                inbox: Inbox::default(),
                received: VecDeque::new(),
                heard_ns: 0,
                no_responder_ns: None,
                ended: None,
            }),
            changed: Condvar::new(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now_ns(&self) -> u64 {
        self.began.elapsed().as_nanos() as u64
    }

    fn publish(&self, frame: &Frame) {
        self.broker.publish(&self.subject, frame.encode());
    }

    /// Sends what may be sent now.
    fn pump(&self, state: &mut State) {
        // Without a connection, a published part would be lost and retransmitted.
        while self.broker.is_connected()
            && let Some(frame) = state.outbox.take()
        {
            self.publish(&frame);
        }
    }

    /// Handles a frame of the other side.
    pub(crate) fn frame(&self, frame: Frame) {
        let now_ns = self.now_ns();
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        (state.heard_ns, state.no_responder_ns) = (now_ns, None);
        match frame {
            Frame::Part { number, is_last, bytes } => {
                match state.inbox.take(number, is_last, &bytes) {
                    Taken::Message(message) => {
                        state.received.push_back(message);
                        self.publish(&state.inbox.ack());
                        self.changed.notify_all();
                    }
                    Taken::Incomplete | Taken::Duplicate => self.publish(&state.inbox.ack()),
                    Taken::Gap => {
                        state.inbox.nack().iter().for_each(|frame| self.publish(frame));
                    }
                    Taken::TooLarge => {
                        let why = format!("{} sent a message larger than 256 MiB", self.other);
                        self.end_locked(&mut state, why);
                    }
                }
            }
            Frame::Ack { next } => {
                state.outbox.acknowledge(next, now_ns);
                self.pump(&mut state);
                self.changed.notify_all();
            }
            Frame::Nack { next } => {
                state.outbox.acknowledge(next, now_ns);
                state.outbox.retransmit(now_ns);
                self.pump(&mut state);
            }
            Frame::End { why } => {
                state.ended = Some(why);
                self.changed.notify_all();
            }
        }
    }

    /// Notes a report of "no responders": the other side, or the broker, was disconnected.
    pub(crate) fn no_responder(&self) {
        let now_ns = self.now_ns();
        self.state().no_responder_ns.get_or_insert(now_ns);
    }

    /// Sends due retransmissions and heartbeats. Call it ten times a second.
    pub(crate) fn tick(&self) {
        let now_ns = self.now_ns();
        let mut state = self.state();
        if state.ended.is_some() {
            return;
        }
        let silent_ns = now_ns.saturating_sub(state.heard_ns);
        if silent_ns >= SILENT_NS {
            let silent_s = SILENT_NS / NS_PER_S;
            let why = match self.broker.is_connected() {
                true => format!("nothing was heard of it for {silent_s} s"),
                // Whether the other side is well cannot be known then.
                false => format!("the connection to the hub has been lost for {silent_s} s"),
            };
            self.end_locked(&mut state, why);
            return;
        }
        if state.no_responder_ns.is_some_and(|since_ns| now_ns - since_ns >= NO_RESPONDER_NS) {
            let why = "its connection to the hub is closed".to_owned();
            self.end_locked(&mut state, why);
            return;
        }
        state.outbox.tick(now_ns);
        self.pump(&mut state);
        if let Some(sign) = state.inbox.tick(now_ns) {
            let no_responder_at = self.no_responder_at.as_deref();
            self.broker.publish_with_reply(&self.subject, no_responder_at, sign.encode());
        }
    }

    /// Retransmits all unacknowledged parts after a reconnection.
    pub(crate) fn connected(&self) {
        let mut state = self.state();
        state.outbox.retransmit(self.now_ns());
        self.pump(&mut state);
    }

    /// Ends the conversation at once, and sends the reason `why` to the other side.
    pub(crate) fn end(&self, why: &str) {
        let mut state = self.state();
        if state.ended.is_none() {
            self.end_locked(&mut state, why.to_owned());
        }
    }

    fn end_locked(&self, state: &mut State, why: String) {
        self.publish(&Frame::End { why: why.clone() });
        state.ended = Some(why);
        self.changed.notify_all();
    }

    /// Waits until everything that was sent has arrived, and then ends the conversation. Returns at
    /// once if it has ended.
    pub(crate) fn finish(&self, why: &str) {
        let mut state = self.state();
        while state.ended.is_none() && !state.outbox.is_empty() {
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.ended.is_none() {
            self.end_locked(&mut state, why.to_owned());
        }
    }

    /// Returns why the conversation has ended; `None` while it lasts.
    pub(crate) fn why_ended(&self) -> Option<String> {
        self.state().ended.clone()
    }

    /// Sends a message. Fails if the conversation has ended, or too much did not arrive, which ends
    /// it.
    pub(crate) fn send(&self, message: &[u8]) -> io::Result<()> {
        let now_ns = self.now_ns();
        let mut state = self.state();
        if let Some(why) = &state.ended {
            return Err(io::Error::other(why.clone()));
        }
        match state.outbox.push(message, now_ns) {
            Ok(()) => self.pump(&mut state),
            Err(Full) => {
                let why = format!(
                    "the results for {} could not be delivered, and there is no more room to keep \
                     them (--spool)",
                    self.other
                );
                self.end_locked(&mut state, why.clone());
                return Err(io::Error::other(why));
            }
        }
        Ok(())
    }

    /// Waits for the next message; `None` if the conversation has ended and all are taken.
    pub(crate) fn receive(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        loop {
            if let Some(message) = state.received.pop_front() {
                return Some(message);
            }
            if state.ended.is_some() {
                return None;
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// Receiving half of a conversation.
pub(crate) struct Received(pub(crate) Arc<Conversation>);

impl Incoming for Received {
    fn receive(&mut self) -> Option<Vec<u8>> {
        self.0.receive()
    }
}

/// Sending half of a conversation, which ends when this is dropped.
pub(crate) struct Sent(pub(crate) Arc<Conversation>);

impl Outgoing for Sent {
    fn send(&self, message: &[u8]) -> io::Result<()> {
        self.0.send(message)
    }
}

impl Drop for Sent {
    fn drop(&mut self) {
        self.0.end("the run has ended");
    }
}
