//! A run's side of the broker: the agents that answer, and its conversations with them.
//!
//! Not here: which agents a run takes (fleet).

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use app::run::ClockOffset;
use monitor::wall_clock;

use crate::broker::{Broker, Listener, Message};
use crate::conversation::Conversation;
use crate::frame::Frame;
use crate::messages::{Here, Who, decode, encode};
use crate::subjects::{HERE, WHO, sender_of};

/// Interval at which agents are asked again, since a question is lost if nobody reads yet.
const ASK_EVERY: Duration = Duration::from_millis(200);

/// An agent that has answered.
#[derive(Clone, Debug)]
pub(crate) struct Answered {
    pub(crate) here: Here,
    /// Offset of the agent's clock from that of this host, by the quickest exchange.
    pub(crate) offset: ClockOffset,
}

type Conversations = HashMap<(u32, String), Weak<Conversation>>;

/// Agents and conversations of a run.
#[derive(Default)]
pub(crate) struct Desk {
    answered: Mutex<BTreeMap<u32, Answered>>,
    changed: Condvar,
    conversations: Mutex<Conversations>,
}

impl Desk {
    fn answered(&self) -> MutexGuard<'_, BTreeMap<u32, Answered>> {
        self.answered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn conversations(&self) -> MutexGuard<'_, Conversations> {
        self.conversations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Passes frames of the agent at `place` with this word to a conversation.
    pub(crate) fn attend(&self, place: u32, word: String, conversation: &Arc<Conversation>) {
        let mut all = self.conversations();
        all.retain(|_, conversation| conversation.strong_count() > 0);
        all.insert((place, word), Arc::downgrade(conversation));
    }

    /// Asks who is there until `is_enough`, or until `limit` has passed. Returns the agents by
    /// place.
    pub(crate) fn ask(
        &self,
        broker: &Broker,
        limit: Duration,
        is_enough: &dyn Fn(&BTreeMap<u32, Answered>) -> bool,
    ) -> BTreeMap<u32, Answered> {
        let began: Instant = wall_clock::now();
        let mut answered = self.answered();
        answered.clear();
        loop {
            let passed = began.elapsed();
            if passed >= limit || (is_enough(&answered) && passed >= ASK_EVERY) {
                return answered.clone();
            }
            broker.publish(WHO, encode(&Who { asked_unix_ns: wall_clock::unix_ns() }));
            let wait = ASK_EVERY.min(limit - passed);
            let until = |_: &mut BTreeMap<u32, Answered>| true;
            let waited = self.changed.wait_timeout_while(answered, wait, until);
            answered = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn here(&self, place: u32, bytes: &[u8]) {
        let now_ns = wall_clock::unix_ns();
        let Some(here) = decode::<Here>(bytes) else { return };
        let offset = ClockOffset::of_exchange(here.asked_unix_ns, here.unix_ns, now_ns);
        let mut answer = Answered { here, offset };
        let mut answered = self.answered();
        // The newest state, with the offset of the quickest exchange.
        if let Some(known) = answered.get(&place)
            && known.offset.error_ns < offset.error_ns
        {
            answer.offset = known.offset;
        }
        answered.insert(place, answer);
        self.changed.notify_all();
    }

    fn each(&self, act: impl Fn(&Conversation)) {
        let all: Vec<_> = self.conversations().values().filter_map(Weak::upgrade).collect();
        all.iter().for_each(|conversation| act(conversation));
    }
}

impl Listener for Desk {
    fn message(&self, message: &Message<'_>, _broker: &Broker) {
        let Some((place, word)) = sender_of(message.subject) else { return };
        if word == HERE {
            self.here(place, message.bytes);
            return;
        }
        let known = self.conversations().get(&(place, word.to_owned())).and_then(Weak::upgrade);
        match (known, Frame::decode(message.bytes)) {
            (Some(conversation), _) if message.has_no_responder => conversation.no_responder(),
            (Some(conversation), Some(frame)) => conversation.frame(frame),
            _ => {}
        }
    }

    fn connected(&self, _broker: &Broker) {
        self.each(Conversation::connected);
    }

    fn tick(&self, _broker: &Broker) {
        self.each(Conversation::tick);
    }
}

#[cfg(test)]
mod tests {
    use store::Process;

    use super::*;

    #[test]
    fn the_newest_answer_counts_with_the_offset_of_the_quickest_exchange() {
        let desk = Desk::default();
        let say = |earlier_ns: u64, busy_with: Option<&str>| {
            let now_ns = wall_clock::unix_ns();
            let here = Here {
                asked_unix_ns: now_ns - earlier_ns,
                unix_ns: now_ns,
                name: "gen".to_owned(),
                machine: "host".to_owned(),
                process: Process::current(),
                version: String::new(),
                n_cpus: 2,
                load: 0.0,
                busy_with: busy_with.map(str::to_owned),
                permissions: app::run::Permissions::default(),
            };
            desk.here(7, &encode(&here));
            desk.answered().get(&7).cloned().unwrap()
        };
        // An exchange of a minute, and one of an hour.
        let busy = say(60_000_000_000, Some("a run"));
        let free = say(3_600_000_000_000, None);
        assert!(busy.here.busy_with.is_some() && free.here.busy_with.is_none());
        assert_eq!(free.offset, busy.offset);
    }
}
