//! Outages in the middle of a run, as a user meets them: the data or the service is gone for a while,
//! and the same command does what is left once it is back.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::folder::{Folder, Run, json};
use crate::service::Service;

fn done(run: &Run) -> &Run {
    assert_eq!(run.status, 0, "{}", run.stderr);
    run
}

/// A service that answers so many calls, and all others with 503.
struct Front {
    address: String,
    left: Arc<AtomicUsize>,
    refused: Arc<AtomicUsize>,
}

impl Front {
    /// Passes calls on to a service, over one connection for each.
    fn start(service: &Service, left: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let left = Arc::new(AtomicUsize::new(left));
        let refused = Arc::new(AtomicUsize::new(0));
        let front = Self { address, left: Arc::clone(&left), refused: Arc::clone(&refused) };
        let behind = service.address.strip_prefix("http://").unwrap().to_owned();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                // A client that leaves early is not this server's trouble.
                let _ = client.and_then(|client| serve(client, &behind, &left, &refused));
            }
        });
        front
    }

    fn heal(&self) {
        self.left.store(usize::MAX, Ordering::Relaxed);
    }
}

fn serve(
    mut client: TcpStream,
    behind: &str,
    left: &AtomicUsize,
    refused: &AtomicUsize,
) -> std::io::Result<()> {
    let request = request(&mut client)?;
    let counts_down = |left: usize| left.checked_sub(1);
    if left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, counts_down).is_err() {
        refused.fetch_add(1, Ordering::Relaxed);
        let answer = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
        return client.write_all(answer.as_bytes());
    }
    let mut service = TcpStream::connect(behind)?;
    let end = request.iter().position(|&byte| byte == b'\n').unwrap_or(0) + 1;
    service.write_all(&request[..end])?;
    service.write_all(b"Connection: close\r\n")?;
    service.write_all(&request[end..])?;
    let mut answer = Vec::new();
    service.read_to_end(&mut answer)?;
    client.write_all(&answer)
}

/// One request, to the end of its body.
fn request(client: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut request = Vec::new();
    let mut part = [0; 1 << 16];
    loop {
        let text = String::from_utf8_lossy(&request).to_lowercase();
        if let Some(end) = request.windows(4).position(|four| four == b"\r\n\r\n") {
            let body = text.split("content-length:").nth(1).unwrap_or("0");
            let body: usize = body.lines().next().unwrap().trim().parse().unwrap_or(0);
            if request.len() >= end + 4 + body {
                return Ok(request);
            }
        }
        let read = client.read(&mut part)?;
        if read == 0 {
            return Ok(request);
        }
        request.extend_from_slice(&part[..read]);
    }
}

/// All records of a run but for what takes time.
fn records(folder: &Folder, run: &str) -> Vec<Vec<String>> {
    done(&folder.run(&format!("export {run} -o records.csv")));
    let mut table = csv::Reader::from_path(folder.path("records.csv")).unwrap();
    let headers = table.headers().unwrap().clone();
    let timed = |at: usize| ["micros", "seconds"].iter().any(|word| headers[at].contains(word));
    let row = |row: csv::StringRecord| {
        let cells = row.iter().enumerate().filter(|(at, _)| !timed(*at));
        cells.map(|(_, cell)| cell.to_owned()).collect()
    };
    table.records().map(|one| row(one.unwrap())).collect()
}

/// Nothing is decided while too much is missing, and every format says why.
fn assert_inconclusive(folder: &Folder, open: u64, of: u64) {
    let check = folder.run("check run --junit verdicts.xml");
    assert_eq!(check.status, 3, "{}", check.stdout);
    let why = format!("of {of} trials {open} are open (");
    assert!(check.stdout.contains(&why), "{why}: {}", check.stdout);
    let junit = std::fs::read_to_string(folder.path("verdicts.xml")).unwrap();
    assert!(junit.contains("type=\"inconclusive\"") && junit.contains(&why), "{junit}");
    let checked = json(&folder.run("check run --json").stdout).remove(0);
    assert_eq!(
        (&checked["verdict"], &checked["complete"]),
        (&"inconclusive".into(), &false.into())
    );
    let missing = &checked["requirements"][0]["missing"];
    assert_eq!((&missing["open"], &missing["of"]), (&open.into(), &of.into()), "{missing}");
    for format in ["markdown", "html", "json"] {
        let report = done(&folder.run(&format!("report run --format {format}"))).stdout.clone();
        assert!(report.contains(&why), "{format}: {report}");
    }
    let text = done(&folder.run("report run --format text")).stdout.clone();
    assert!(text.contains("inconclusive") && text.contains("not complete"), "{text}");
}

#[test]
fn a_service_that_is_down_for_a_while_changes_nothing() {
    let folder = Folder::new("outage_service");
    let service = Service::start("world:signs-middle --as google");
    let front = Front::start(&service, usize::MAX);
    let text = format!(
        "targets: [{{name: wire, service: {{provider: google, endpoint: '{}', limits: {{retries: 1, \
         control: 0, concurrency: 2}}}}}}]\ncases: {{data: 'world:signs:20'}}\nfaults: [{{fault: \
         gaussian_noise, severity: [1, 3, 5]}}]\nrequirements: [{{rate: crashed, at_most: 0.9}}]\n",
        front.address
    );
    folder.text("c.yaml", &(text.clone() + "answers: filed\n"));
    done(&folder.run("run c.yaml -o whole"));
    let whole = records(&folder, "whole");
    assert_eq!(whole.len(), 60);

    folder.text("c.yaml", &(text + "answers: other\n"));
    front.left.store(30, Ordering::Relaxed);
    let down = folder.run("run c.yaml -o run --events events.jsonl");
    assert_eq!(down.status, 3, "{}", down.stderr);
    let recorded = records(&folder, "run");
    let open = 60 - recorded.len() as u64;
    assert!(open > 30 && recorded.iter().all(|row| whole.contains(row)), "{open}");
    let told = format!("{open} trials left open: target wire gave no answer (gave up after 1 retr");
    assert!(down.stderr.contains(&told), "{told}: {}", down.stderr);
    assert!(down.stderr.contains("not asked any more after that (limits.give_up_after)"));
    let refused = front.refused.load(Ordering::Relaxed);
    assert!((5..20).contains(&refused), "{refused} calls to a service that is down");
    let events = json(&std::fs::read_to_string(folder.path("events.jsonl")).unwrap());
    let left = events.iter().find(|event| event["event"] == "left_open").unwrap();
    assert_eq!((&left["target"], &left["trials"]), (&"wire".into(), &open.into()));
    assert_eq!(events.last().unwrap()["ending"], "incomplete");
    assert_inconclusive(&folder, open, 60);

    front.heal();
    done(&folder.run("run c.yaml -o run"));
    assert_eq!(records(&folder, "run"), whole);
    let check = folder.run("check run --json").stdout;
    assert_eq!(
        (&json(&check)[0]["verdict"], &json(&check)[0]["complete"]),
        (&"met".into(), &true.into())
    );
}

#[test]
fn images_that_are_gone_for_a_while_change_nothing() {
    let folder = Folder::new("outage_images");
    done(&folder.run("world export w --signs 200 --scenes 0"));
    folder.text(
        "c.yaml",
        "targets: [{model: world:signs-shallow}]\ncases: {data: w/signs/test}\nfaults: [{fault: \
         gaussian_noise, severity: [2, 4]}]\nrequirements: [{rate: crashed, at_most: 0.9}]\n",
    );
    done(&folder.run("run c.yaml -o whole"));
    let whole = records(&folder, "whole");
    assert_eq!(whole.len(), 80);

    // Links that lead nowhere, as to a share whose server is gone.
    std::fs::create_dir(folder.path("share")).unwrap();
    for (at, image) in images(&folder).iter().enumerate().skip(10) {
        let elsewhere = folder.path(&format!("share/{at}"));
        std::fs::rename(image, &elsewhere).unwrap();
        std::os::unix::fs::symlink(&elsewhere, image).unwrap();
    }
    std::fs::rename(folder.path("share"), folder.path("gone")).unwrap();
    let gone = folder.run("run c.yaml -o run");
    assert_eq!(gone.status, 3, "{}", gone.stderr);
    assert!(gone.stderr.contains("60 trials left open: images cannot be read now (cannot open"));
    assert!(gone.stderr.contains("incomplete, run the same command to resume: 20 trials"));
    assert_eq!(records(&folder, "run"), whole[..20]);
    assert_inconclusive(&folder, 60, 80);

    std::fs::rename(folder.path("gone"), folder.path("share")).unwrap();
    done(&folder.run("run c.yaml -o run"));
    assert_eq!(records(&folder, "run"), whole);
    assert_eq!(folder.run("check run").status, 0);

    // A file that is broken stays so: it is skipped by name, and too many of them decide nothing.
    for at in 10..13 {
        std::fs::write(folder.path(&format!("share/{at}")), b"no image").unwrap();
    }
    let broken = folder.run("run c.yaml -o broken");
    assert_eq!(done(&broken).stderr.matches("left skipped").count(), 3, "{}", broken.stderr);
    let check = folder.run("check broken");
    assert_eq!(check.status, 3, "{}", check.stdout);
    assert!(check.stdout.contains("of 80 trials 6 were skipped (7.5%), max_skipped is 5%"));
    let text = std::fs::read_to_string(folder.path("c.yaml")).unwrap();
    folder.text("c.yaml", &text.replace("at_most: 0.9", "at_most: 0.9, max_skipped: 0.08"));
    done(&folder.run("run c.yaml -o broken"));
    assert_eq!(folder.run("check broken").status, 0);
}

/// The images, as the data set orders them.
fn images(folder: &Folder) -> Vec<PathBuf> {
    let mut images = Vec::new();
    for class in std::fs::read_dir(folder.path("w/signs/test")).unwrap() {
        for image in std::fs::read_dir(class.unwrap().path()).unwrap() {
            images.push(image.unwrap().path());
        }
    }
    images.sort();
    images
}
