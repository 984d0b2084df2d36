//! A transport that reaches client processes by TCP on this machine, instead of by pipes.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use app::run::{AGENT, Incoming, Link, Outgoing, Peer, Transport, read_framed, write_framed};

pub(crate) static SOCKETS: Sockets = Sockets;

pub(crate) struct Sockets;

impl Transport for Sockets {
    fn name(&self) -> &'static str {
        "sockets"
    }

    fn start(&self, _number: u32) -> io::Result<(Link, Box<dyn Peer>)> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?.to_string();
        let child = Command::new("/proc/self/exe")
            .args([AGENT, self.name(), &address])
            .env_clear()
            .stdin(Stdio::null())
            .spawn()?;
        let peer = Box::new(Spawned(child));
        let (socket, _) = listener.accept()?;
        Ok((link(socket)?, peer))
    }

    fn join(&self, words: &[String]) -> io::Result<Link> {
        let [address] = words else { return Err(io::Error::other("one address is needed")) };
        link(TcpStream::connect(address)?)
    }
}

fn link(socket: TcpStream) -> io::Result<Link> {
    let incoming = Box::new(Received(socket.try_clone()?));
    Ok(Link { incoming, outgoing: Arc::new(Sent(Mutex::new(socket))) })
}

struct Received(TcpStream);

impl Incoming for Received {
    fn receive(&mut self) -> Option<Vec<u8>> {
        read_framed(&mut self.0).ok()
    }
}

struct Sent(Mutex<TcpStream>);

impl Outgoing for Sent {
    fn send(&self, message: &[u8]) -> io::Result<()> {
        write_framed(&mut *self.0.lock().expect("no sender has panicked"), message)
    }
}

struct Spawned(Child);

impl Peer for Spawned {
    fn process_id(&self) -> Option<u32> {
        Some(self.0.id())
    }

    fn how_it_ended(&mut self, _has_closed: bool) -> Option<String> {
        self.0.try_wait().ok().flatten().map(|status| status.to_string())
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
