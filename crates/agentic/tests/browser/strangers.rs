//! Pages of others in the same browser: nothing of ours is to be read there, however it is asked for.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener, TcpStream};

use serde_json::{Value as Json, json};

use crate::stage::{ServedRepository, beside, go};

/// A question that nobody else may read.
const SECRET: &str = "Deploy the secret build?";

/// Asks for each address in each way that pages have, and says what came of it.
const TRY_ALL: &str = "
    const done = arguments[arguments.length - 1], [addresses, names] = arguments;
    const load = (name, set) => new Promise((tell) => {
      const one = document.createElement(name);
      one.onload = () => tell('loaded ' + (one.naturalWidth || ''));
      one.onerror = () => tell('refused');
      set(one);
      document.body.append(one);
    });
    const ask = (address, how) => fetch(address, { credentials: 'include', ...how })
      .then(async (answer) => `${answer.type} ${answer.status} ${await answer.text()}`, () => 'refused');
    const ways = {
      'no-cors': (address) => ask(address, { mode: 'no-cors' }),
      'cors': (address) => ask(address, { mode: 'cors' }),
      'post': (address) => ask(address, { mode: 'no-cors', method: 'POST', body: 'action=approve' }),
      'script': (address) => load('script', (one) => { one.src = address; }),
      'image': (address) => load('img', (one) => { one.src = address; }),
      'style': (address) => load('link', (one) => { one.rel = 'stylesheet'; one.href = address; }),
      'module': (address) => import(address).then(() => 'loaded', () => 'refused'),
    };
    (async () => {
      const found = [];
      for (const address of addresses)
        for (const name of names) found.push([name, address, await ways[name](address)]);
      done(found);
    })().catch((error) => done([['all', '', String(error)]]));";

/// The ways.
const WAYS: [&str; 7] = ["no-cors", "cors", "post", "script", "image", "style", "module"];

/// Opens an address in another tab, and says what can be seen of it once it is cut off from us.
const OPEN: &str = "
    const done = arguments[arguments.length - 1], [address] = arguments;
    const opened = window.open(address);
    if (!opened) return done('not opened');
    const peek = (look) => { try { return String(look()); } catch { return 'refused'; } };
    const begun = performance.now();
    const look = () => {
      if (!opened.closed && performance.now() - begun < 20000) return setTimeout(look, 20);
      done([peek(() => opened.closed), peek(() => opened.length),
        peek(() => opened.document.body.textContent), peek(() => opened.location.href)]);
    };
    look();";

/// A server of somebody else on this machine, which has one empty page.
fn serve_elsewhere() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("it listens").port();
    // It ends with the process.
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // Browsers also open connections on which they ask nothing yet.
            std::thread::spawn(move || answer_elsewhere(stream));
        }
    });
    port
}

fn answer_elsewhere(mut stream: TcpStream) {
    let _what_it_asks = stream.read(&mut [0; 4096]);
    let body = "<!doctype html><title>elsewhere</title><body>";
    let _it_may_be_gone = write!(
        stream,
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    );
}

#[test]
fn another_page_reads_nothing_of_ours() {
    let served = ServedRepository::begin();
    let request = served.ask("alice", &format!("hold(\"{SECRET}\").action"));
    let browser = served.visit();
    let asset = "return document.querySelector(\"script[src^='/assets/']\").src";
    let asset = browser.run(asset, &[]).expect("a script runs");
    let asset = asset.as_str().expect("an address").to_owned();
    let paths = ["/", &format!("/holds/{request}"), "/api/v1/pending", "/api/v1/health"];
    let mut ours = paths.map(|path| beside(&browser, path)).to_vec();
    ours.push(asset);
    // What cannot be read elsewhere can be read here.
    let own = browser.run_long(TRY_ALL, &[json!(ours), json!(["cors"])]).expect("a script runs");
    let is_read = |one: &Json| one[0] == "cors" && one[2].as_str().is_some_and(reads);
    assert_eq!(own.as_array().map(|own| own.iter().filter(|one| is_read(one)).count()), Some(3));

    let port = serve_elsewhere();
    for host in ["127.0.0.1", "evil.localhost"] {
        let begun = std::time::Instant::now();
        let elsewhere = format!("http://{host}:{port}/");
        browser.go(&elsewhere).expect("the page opens");
        let found = browser.run_long(TRY_ALL, &[json!(ours), json!(WAYS)]).expect("a script runs");
        let found = found.as_array().expect("a list");
        assert_eq!(found.len(), ours.len() * WAYS.len());
        for one in found {
            assert_eq!(one[2], "refused", "{host}: {one}");
        }
        for address in &ours[..2] {
            is_unreadable_in_a_frame(&browser, address);
            let opened = browser.run_long(OPEN, &[json!(address)]).expect("a script runs");
            println!("{host}: {address} after {:?}", begun.elapsed());
            let nothing = json!(["true", "0", "refused", "refused"]);
            assert!(opened == nothing || opened == *"not opened", "{host}: {address}: {opened}");
        }
    }
    browser.go(&ours[0]).expect("the page opens");
    go(&browser, "/");
    browser.wait_for(".holds", SECRET).expect("who is logged in still is, and nobody has decided");
}

fn reads(text: &str) -> bool {
    text.contains(SECRET)
}

/// Puts a page into a frame, and looks at what stands there as a person would.
fn is_unreadable_in_a_frame(browser: &agentic_testkit::Browser, address: &str) {
    let frame = "const done = arguments[arguments.length - 1];
        document.querySelector('iframe')?.remove();
        const frame = document.createElement('iframe');
        frame.onload = () => { let text = 'refused';
          try { text = frame.contentDocument?.body?.textContent ?? 'refused'; } catch { /* It is. */ }
          done(text); };
        frame.src = arguments[0];
        document.body.append(frame);";
    let read = browser.run_long(frame, &[json!(address)]).expect("a script runs");
    assert_eq!(read, "refused", "{address}");
    browser.enter_frame().expect("there is one");
    let seen = browser.run("return document.documentElement.innerHTML", &[]);
    browser.leave_frame().expect("the page is there");
    let seen = seen.expect("a script runs");
    let is_blocked =
        seen.as_str().is_some_and(|seen| !seen.contains("id=\"main\"") && !reads(seen));
    assert!(is_blocked, "{address}: {seen}");
}
