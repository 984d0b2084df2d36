//! A headless browser for tests: loads and clicks pages and queries them through its DevTools
//! protocol (chromedevtools.github.io/devtools-protocol), and records requests and errors.
//!
//! Not here: expectations of a page.

use std::net::TcpStream;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket};

use crate::waiting::{LIMIT, Started};

const PROGRAM: &str = "/usr/bin/chromium";

/// Tab of a headless browser, with what the browser has reported so far.
pub(crate) struct Tab {
    socket: WebSocket<TcpStream>,
    session: String,
    n_asked: u64,
    events: Vec<Value>,
    _process: Started,
    _profile: TempDir,
}

impl Tab {
    /// Starts a browser with one empty tab.
    pub(crate) fn open() -> Tab {
        assert!(
            Path::new(PROGRAM).exists(),
            "{PROGRAM} is missing: install Debian's 'chromium' (apt-get install chromium)"
        );
        let profile = tempfile::tempdir().expect("temporary folders can be made");
        let mut command = Command::new(PROGRAM);
        // No background requests, and no sandbox, which may not be available.
        command
            .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic"])
            .args(["--no-first-run", "--disable-background-networking", "--disable-sync"])
            .args(["--disable-component-update", "--disable-dev-shm-usage"])
            .args(["--window-size=1400,900", "--remote-debugging-port=0"])
            // The certificate of a service under test is self-signed.
            .arg("--ignore-certificate-errors")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank");
        let mut process = Started::new(command);
        let mut address = String::new();
        process.wait_until("where the browser listens", |said| {
            let line = said.lines().find_map(|line| line.split_once("DevTools listening on "));
            address = line.map(|(_, address)| address.trim().to_owned()).unwrap_or_default();
            said.ends_with('\n') && !address.is_empty()
        });
        let host = address.trim_start_matches("ws://").split('/').next().expect("it has a host");
        let stream = TcpStream::connect(host).expect("the browser listens");
        stream.set_read_timeout(Some(LIMIT)).expect("a socket has a limit");
        let (socket, _) = tungstenite::client(&address, stream).expect("it speaks WebSocket");
        let mut tab = Tab {
            socket,
            session: String::new(),
            n_asked: 0,
            events: Vec::new(),
            _process: process,
            _profile: profile,
        };
        let target = tab.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = tab.call("Target.attachToTarget", attach);
        tab.session = session["sessionId"].as_str().expect("it has a session").to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            tab.call(&format!("{domain}.enable"), json!({}));
        }
        tab
    }

    /// Sends a command to the browser, and returns its result.
    #[track_caller]
    pub(crate) fn call(&mut self, method: &str, params: Value) -> Value {
        self.n_asked += 1;
        let id = self.n_asked;
        let mut asked = json!({"id": id, "method": method, "params": params});
        if !self.session.is_empty() {
            asked["sessionId"] = json!(self.session);
        }
        self.socket.send(Message::text(asked.to_string())).expect("the browser lives");
        loop {
            let said = self.hear();
            if said["id"] == id {
                assert!(said["error"].is_null(), "{method}: {}", said["error"]);
                return said["result"].clone();
            }
        }
    }

    /// Reads the next message of the browser. If it is an event, records it too.
    #[track_caller]
    fn hear(&mut self) -> Value {
        loop {
            let message = self.socket.read().expect("the browser answers in time");
            let Message::Text(text) = message else { continue };
            let said: Value = serde_json::from_str(&text).expect("it speaks JSON");
            if said["method"].is_string() {
                self.events.push(said.clone());
            }
            return said;
        }
    }

    /// Waits until a page is loaded that was requested after the first `since` events.
    #[track_caller]
    fn loaded(&mut self, since: usize) {
        let is_loaded = |events: &[Value]| {
            events[since..].iter().any(|event| event["method"] == "Page.loadEventFired")
        };
        let began = crate::waiting::now();
        while !is_loaded(&self.events) {
            // A live page keeps sending requests, so there is always a message.
            assert!(began.elapsed() < LIMIT, "no other page is loaded");
            self.hear();
        }
    }

    /// Opens a page, and waits until it is loaded.
    #[track_caller]
    pub(crate) fn go(&mut self, address: &str) {
        let since = self.events.len();
        self.call("Page.navigate", json!({"url": address}));
        self.loaded(since);
    }

    /// Returns the value of a JavaScript expression on the page; of a promise, the value that it
    /// resolves to.
    #[track_caller]
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", params);
        let wrong = &answer["exceptionDetails"];
        assert!(wrong.is_null(), "{expression}: {wrong:#}");
        answer["result"]["value"].clone()
    }

    /// Waits until a JavaScript expression is true on the page.
    #[track_caller]
    pub(crate) fn until(&mut self, condition: &str) {
        let limit = LIMIT.as_millis() / 2;
        let is_so = self.value(&format!(
            "new Promise((done) => {{
                const began = performance.now();
                const look = () => {{
                    if ({condition}) done(true);
                    else if (performance.now() - began > {limit}) done(document.body.innerText);
                    else setTimeout(look, 20);
                }};
                look();
            }})"
        ));
        assert_eq!(is_so, json!(true), "never so: {condition}");
    }

    /// Scrolls the first element that matches a CSS selector into view; returns its middle and its
    /// size in pixels.
    #[track_caller]
    fn middle(&mut self, selector: &str) -> (f64, f64, f64, f64) {
        let quoted = json!(selector);
        let found = self.value(&format!(
            "(() => {{
                const found = document.querySelector({quoted});
                if (!found) return null;
                found.scrollIntoView({{block: 'center', behavior: 'instant'}});
                const box = found.getBoundingClientRect();
                return [box.x + box.width / 2, box.y + box.height / 2, box.width, box.height];
            }})()"
        ));
        let part = |index: usize| found[index].as_f64();
        let all = part(0).zip(part(1)).zip(part(2).zip(part(3)));
        let ((x, y), (width, height)) = all.unwrap_or_else(|| panic!("there is no {selector}"));
        (x, y, width, height)
    }

    fn mouse(&mut self, what: &str, x: f64, y: f64, buttons: u8) {
        let button = if buttons > 0 || what == "mouseReleased" { "left" } else { "none" };
        let params = json!({
            "type": what, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1,
        });
        self.call("Input.dispatchMouseEvent", params);
    }

    /// Clicks the first element that matches a CSS selector.
    #[track_caller]
    pub(crate) fn click(&mut self, selector: &str) {
        let (x, y, ..) = self.middle(selector);
        self.mouse("mouseMoved", x, y, 0);
        self.mouse("mousePressed", x, y, 1);
        self.mouse("mouseReleased", x, y, 0);
    }

    /// Moves the mouse over the first element that matches a CSS selector.
    #[track_caller]
    pub(crate) fn point(&mut self, selector: &str) {
        let (x, y, ..) = self.middle(selector);
        self.mouse("mouseMoved", x, y, 0);
    }

    /// Double-clicks the first element that matches a CSS selector.
    #[track_caller]
    pub(crate) fn double_click(&mut self, selector: &str) {
        let (x, y, ..) = self.middle(selector);
        self.mouse("mouseMoved", x, y, 0);
        for count in [1, 2] {
            for (what, buttons) in [("mousePressed", 1), ("mouseReleased", 0)] {
                let params = json!({
                    "type": what, "x": x, "y": y, "button": "left", "buttons": buttons,
                    "clickCount": count,
                });
                self.call("Input.dispatchMouseEvent", params);
            }
        }
    }

    /// Presses the key of a character in the browser.
    pub(crate) fn type_key(&mut self, key: &str) {
        self.key(key, key, 0);
    }

    /// Presses the mouse on a link, holds it for `held`, and waits for the page after the release.
    #[track_caller]
    pub(crate) fn follow_slowly(&mut self, selector: &str, held: Duration) {
        let since = self.events.len();
        let (x, y, ..) = self.middle(selector);
        self.mouse("mouseMoved", x, y, 0);
        self.mouse("mousePressed", x, y, 1);
        self.hold(held);
        self.mouse("mouseReleased", x, y, 0);
        self.loaded(since);
    }

    fn hold(&mut self, held: Duration) {
        let ms = held.as_millis();
        self.value(&format!("new Promise((done) => setTimeout(done, {ms}))"));
    }

    /// Clicks a link, and waits until the next page is loaded.
    #[track_caller]
    pub(crate) fn follow(&mut self, selector: &str) {
        let since = self.events.len();
        self.click(selector);
        self.loaded(since);
    }

    /// Drags over the middle of an element, from left to right.
    #[track_caller]
    pub(crate) fn drag_over(&mut self, selector: &str) {
        self.drag_slowly_over(selector, Duration::ZERO);
    }

    /// Drags over the middle of an element, and holds the button for `held` halfway.
    #[track_caller]
    pub(crate) fn drag_slowly_over(&mut self, selector: &str, held: Duration) {
        let (x, y, width, _) = self.middle(selector);
        let (from, to) = (x - width / 4.0, x + width / 4.0);
        self.mouse("mouseMoved", from, y, 0);
        self.mouse("mousePressed", from, y, 1);
        for step in 1..=4 {
            self.mouse("mouseMoved", from + (to - from) * f64::from(step) / 4.0, y, 1);
            if step == 2 && !held.is_zero() {
                self.hold(held);
            }
        }
        self.mouse("mouseReleased", to, y, 0);
    }

    /// Types into the focused field, presses Enter, and waits until the next page is loaded.
    #[track_caller]
    pub(crate) fn type_and_enter(&mut self, text: &str) {
        self.type_text(text);
        self.enter();
    }

    /// Types into the focused field. A field with `autofocus` has the focus once the page is drawn,
    /// which may be after it is loaded.
    pub(crate) fn type_text(&mut self, text: &str) {
        self.until("!!document.activeElement && document.activeElement !== document.body");
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Presses Enter, and waits until the next page is loaded.
    #[track_caller]
    pub(crate) fn enter(&mut self) {
        let since = self.events.len();
        self.key("Enter", "\r", 13);
        self.loaded(since);
    }

    /// Presses Tab until the first element that matches a CSS selector has the focus.
    #[track_caller]
    pub(crate) fn tab_to(&mut self, selector: &str) {
        let is_there = format!("document.activeElement?.matches({})", json!(selector));
        for _ in 0..200 {
            if self.value(&is_there) == json!(true) {
                return;
            }
            self.key("Tab", "\t", 9);
        }
        panic!("the keyboard does not reach {selector}");
    }

    fn key(&mut self, name: &str, text: &str, code: u32) {
        for what in ["keyDown", "keyUp"] {
            let params = json!({
                "type": what, "key": name, "code": name, "text": text,
                "windowsVirtualKeyCode": code,
            });
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Waits until a JavaScript expression is true on the page, at most twice as long as
    /// [`Tab::until`].
    #[track_caller]
    pub(crate) fn until_at_last(&mut self, condition: &str) {
        let began = crate::waiting::now();
        while self.value(condition) != json!(true) {
            let page = self.value("document.body.innerText");
            assert!(began.elapsed() < LIMIT, "never so: {condition}\n{page}");
            self.hold(Duration::from_millis(200));
        }
    }

    /// Sets the preferred colour scheme: dark or light.
    pub(crate) fn prefer(&mut self, scheme: &str) {
        let features = json!([{"name": "prefers-color-scheme", "value": scheme}]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Returns the addresses that the browser has requested, without `data:` ones.
    pub(crate) fn requests(&self) -> Vec<String> {
        let asked =
            self.events.iter().filter(|event| event["method"] == "Network.requestWillBeSent");
        let address = |event: &Value| event["params"]["request"]["url"].as_str().map(str::to_owned);
        let is_own = |address: &String| {
            ["data:", "blob:", "about:"].iter().any(|scheme| address.starts_with(scheme))
        };
        asked.filter_map(address).filter(|address| !is_own(address)).collect()
    }

    /// Errors that the browser has reported: of scripts, of loading, and of our security policy.
    pub(crate) fn complaints(&self) -> Vec<String> {
        let is_bad = |event: &&Value| {
            let params = &event["params"];
            match event["method"].as_str() {
                Some("Runtime.exceptionThrown") => true,
                Some("Runtime.consoleAPICalled") => {
                    params["type"] == "error" || params["type"] == "warning"
                }
                Some("Log.entryAdded") => params["entry"]["level"] == "error",
                _ => false,
            }
        };
        self.events.iter().filter(is_bad).map(|event| event["params"].to_string()).collect()
    }
}
