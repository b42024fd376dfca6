//! Campaigns against a service that runs beside them, well-behaved and not, as a user types them.

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::folder::{Folder, Run, json};
use crate::service::Service;
use serde_json::Value;

/// The embedded model and the same behind a wire, on the same pictures.
fn campaign(service: &str) -> String {
    format!(
        "targets: [{{name: model, model: world:signs-middle, output: {{kind: logits, softmax: \
         true}}}}, {{name: wire, service: {service}}}]\ncases: {{data: 'world:signs:6'}}\nfaults: \
         [{{fault: gaussian_noise, severity: [1, 3, 5]}}, {{fault: exposure, factor: [0.3, 2]}}, \
         {{fault: unchanged}}]\n"
    )
}

fn google(service: &Service, limits: &str) -> String {
    let address = &service.address;
    campaign(&format!("{{provider: google, endpoint: '{address}', limits: {{{limits}}}}}"))
}

/// By target, what every trial came to, but for its number and time.
fn records(folder: &Folder, run: &str) -> BTreeMap<String, Vec<[String; 4]>> {
    assert_eq!(folder.run(&format!("export {run} -o records.csv")).status, 0);
    let mut table = csv::Reader::from_path(folder.path("records.csv")).unwrap();
    let headers = table.headers().unwrap().clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap();
    let columns = ["case", "fault_label", "outcome", "answer"].map(column);
    let target = column("target");
    let mut all = BTreeMap::<String, Vec<[String; 4]>>::new();
    for row in table.records() {
        let row = row.unwrap();
        let told = columns.map(|at| row[at].to_owned());
        all.entry(row[target].to_owned()).or_default().push(told);
    }
    all
}

fn done(run: &Run) -> &Run {
    assert_eq!(run.status, 0, "{}", run.stderr);
    run
}

/// Runs it until nothing is open: a dropped connection leaves its trial to the next run.
fn complete(folder: &Folder, command: &str) {
    for _ in 0..20 {
        let run = folder.run(command);
        if run.status == 0 {
            return;
        }
        assert_eq!(run.status, 3, "{}", run.stderr);
        assert!(run.stderr.contains("left open: target wire gave no answer ("), "{}", run.stderr);
    }
    panic!("never complete");
}

fn spent(folder: &Folder, run: &str) -> Value {
    let told = folder.run(&format!("report {run} --format json"));
    json(&done(&told).stdout)[0]["spending"]["services"][0].clone()
}

#[test]
fn a_wire_changes_no_answer_and_no_call_is_paid_twice() {
    let (folder, service) =
        (Folder::new("services_same"), Service::start("world:signs-middle --as google"));
    folder.text("c.yaml", &google(&service, "control: 2"));
    let dry = folder.run("run c.yaml --dry-run --json");
    assert_eq!(json(&done(&dry).stdout)[0]["calls"], 36 + 6 + 2);
    assert_eq!(service.calls(), 0);
    done(&folder.run("run c.yaml"));
    let calls = service.calls();
    // Undisturbed and unchanged images are one question.
    assert_eq!(calls, 36 + 2);
    let all = records(&folder, "runs/c");
    assert_eq!((all["model"].len(), &all["model"]), (36, &all["wire"]));
    done(&folder.run("run c.yaml"));
    done(&folder.run("run c.yaml -o runs/again"));
    done(&folder.run("replay runs/c 40"));
    assert_eq!(service.calls(), calls);
    assert_eq!(records(&folder, "runs/again"), all);
    let spent = spent(&folder, "runs/c");
    assert_eq!((&spent["control"], &spent["drifted"]), (&2.into(), &0.into()));
    assert_eq!(spent["account"]["campaign"]["answered"], calls);
}

#[test]
fn a_service_that_misbehaves_loses_trials_and_makes_none_up() {
    let folder = Folder::new("services_bad");
    let wrong = "throttle=0.1,error=0.05,drop=0.02,truncate=0.01,nonsense=0.02";
    let service = Service::start(&format!("world:signs-middle --as google --misbehave {wrong}"));
    folder.text("c.yaml", &google(&service, "retries: 12, control: 0, concurrency: 3"));
    complete(&folder, "run c.yaml");
    let all = records(&folder, "runs/c");
    assert_eq!(all["wire"].len(), 36);
    let mut lost = 0;
    for (model, wire) in all["model"].iter().zip(&all["wire"]) {
        match wire[2].as_str() {
            "skipped" => lost += 1,
            _ => assert_eq!(model, wire),
        }
    }
    assert!(lost < 12, "{lost}");
    let tally = spent(&folder, "runs/c")["account"]["campaign"].clone();
    let count = |name: &str| tally[name].as_u64().unwrap();
    let ends = ["answered", "throttled", "server_errors", "lost"].map(count);
    assert_eq!(ends.iter().sum::<u64>(), count("calls"), "{tally}");
    assert_eq!(count("calls"), service.calls());
    assert!(count("throttled") > 0, "{tally}");
    done(&folder.run("run c.yaml"));
    assert_eq!(count("calls"), service.calls());
}

#[test]
fn budgets_are_kept_and_the_run_goes_on_when_they_are_raised() {
    let (folder, service) =
        (Folder::new("services_budget"), Service::start("world:signs-middle --as google"));
    folder.text("c.yaml", &google(&service, "calls: 10, control: 0"));
    let stopped = folder.run("run c.yaml");
    assert_eq!(stopped.status, 2);
    assert!(stopped.stderr.contains("the budget of 10 calls is spent"), "{}", stopped.stderr);
    assert_eq!(service.calls(), 10);
    folder.text("c.yaml", &google(&service, "calls: 100, control: 0"));
    done(&folder.run("run c.yaml"));
    assert_eq!(service.calls(), 36);
    let all = records(&folder, "runs/c");
    assert_eq!(all["model"], all["wire"]);
}

#[test]
fn a_kill_pays_only_for_what_was_under_way_again() {
    let folder = Folder::new("services_kill");
    let service = Service::start("world:signs-middle --as google --misbehave latency=30ms");
    folder.text("c.yaml", &google(&service, "concurrency: 2, control: 0"));
    for calls in [5, 15] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_faultlens"))
            .args(["run", "c.yaml"])
            .current_dir(folder.path(""))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        while service.calls() < calls && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(5));
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    done(&folder.run("run c.yaml"));
    assert!(service.calls() <= 36 + 2 * 2, "{}", service.calls());
    let all = records(&folder, "runs/c");
    assert_eq!((all["wire"].len(), &all["model"]), (36, &all["wire"]));
}

#[test]
fn a_service_that_drifts_is_noticed() {
    let folder = Folder::new("services_drift");
    let service = Service::start("world:signs-middle --as google --misbehave drift=30");
    folder.text("c.yaml", &google(&service, "control: 3"));
    let run = folder.run("run c.yaml");
    assert!(done(&run).stderr.contains("the service has changed"), "{}", run.stderr);
}

#[test]
fn keys_are_in_no_file() {
    let folder = Folder::new("services_keys");
    let key = "AKIDFAULTLENSTEST:wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY";
    let service = Service::start(&format!("world:detector --as rekognition --key {key}"));
    let spec = format!(
        "{{provider: rekognition, task: objects, endpoint: '{}', region: eu-west-1, profile: test}}",
        service.address
    );
    let text = format!(
        "targets: [{{name: wire, service: {spec}}}]\ncases: {{data: 'world:scenes:2'}}\nfaults: \
         [{{fault: gaussian_noise, severity: 2}}]\noracle: same_detections\n"
    );
    let (id, secret) = key.split_once(':').unwrap();
    folder.text("c.yaml", &text).text(
        "credentials",
        &format!("[test]\naws_access_key_id = {id}\naws_secret_access_key = {secret}\n"),
    );
    let output = Command::new(env!("CARGO_BIN_EXE_faultlens"))
        .args(["run", "c.yaml", "--events", "events.jsonl"])
        .current_dir(folder.path(""))
        .env("AWS_SHARED_CREDENTIALS_FILE", folder.path("credentials"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{told}");
    std::fs::remove_file(folder.path("credentials")).unwrap();
    let mut files = 0;
    grep(&folder.path(""), &mut |path, bytes| {
        files += 1;
        for hidden in [id, secret] {
            let found = bytes.windows(hidden.len()).any(|part| part == hidden.as_bytes());
            assert!(!found, "{hidden} is in {}", path.display());
        }
    });
    assert!(files > 6 && !told.contains(secret) && !told.contains(id), "{files} {told}");
    // A wrong key is told as such.
    folder
        .text("credentials", "[test]\naws_access_key_id = AKIDOTHER\naws_secret_access_key = no\n");
    let output = Command::new(env!("CARGO_BIN_EXE_faultlens"))
        .args(["run", "c.yaml", "-o", "other/run"])
        .current_dir(folder.path(""))
        .env("AWS_SHARED_CREDENTIALS_FILE", folder.path("credentials"))
        .output()
        .unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(
        told.contains("target wire") && told.contains("does not accept these credentials"),
        "{told}"
    );
}

fn grep(folder: &Path, look: &mut dyn FnMut(&Path, &[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => grep(&path, look),
            false => look(&path, &std::fs::read(&path).unwrap()),
        }
    }
}

#[test]
fn what_cannot_be_asked_is_told() {
    let folder = Folder::new("services_wrong");
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = format!("http://{}", silent.local_addr().unwrap());
    for (service, wanted) in [
        ("{of: gogle}", "did you mean \"google\"?"),
        ("{provider: google, task: tensors}", "google cannot be asked for tensors"),
        ("{provider: google, taks: labels}", "taks"),
        ("{provider: google, endpoint: 'ftp://x'}", "must start with https:// or http://"),
        ("{provider: http, endpoint: 'http://127.0.0.1:1'}", "template"),
        ("{provider: google, most: 0}", "max_labels is 0"),
        (
            "{provider: http, endpoint: 'http://127.0.0.1:1', template: {headers: {X-Key: abc}, label: a}}",
            "the header X-Key holds a secret",
        ),
    ] {
        folder.text("c.yaml", &campaign(service));
        let run = folder.run("run c.yaml");
        assert_eq!(run.status, 2, "{service}: {}", run.stderr);
        assert!(run.stderr.contains(wanted), "{service}: {}", run.stderr);
    }
    // Nobody answers: that is no evidence, and nothing is asked 36 times.
    let limits = "limits: {timeout: 0.2, retries: 0, control: 0, concurrency: 1}";
    let spec = format!("{{provider: google, endpoint: '{silent}', {limits}}}");
    folder.text("c.yaml", &campaign(&spec));
    let run = folder.run("run c.yaml");
    let all = records(&folder, "runs/c");
    assert_eq!(run.status, 3, "{}", run.stderr);
    assert_eq!((all["model"].len(), all.get("wire")), (36, None));
    let told = "36 trials left open: target wire gave no answer (127.0.0.1:";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("did not answer within 0.2 s), and was not asked any more"));
    // Threads that were about to ask when the fifth query failed may ask once more.
    let asked = spent(&folder, "runs/c")["account"]["campaign"]["timed_out"].as_u64().unwrap();
    assert!((5..12).contains(&asked), "{asked}");
}

#[test]
fn a_service_is_attacked_by_asking_and_within_its_budget() {
    let folder = Folder::new("services_attacked");
    let service = Service::start("world:signs-middle --as google");
    let text = |faults: &str, limits: &str| {
        let address = &service.address;
        format!(
            "targets: [{{name: wire, service: {{provider: google, endpoint: '{address}', limits: \
             {{{limits}}}}}}}]\ncases: {{data: 'world:signs:2'}}\nfaults: [{faults}]\n"
        )
    };
    folder.text("white.yaml", &text("{fault: pgd}", ""));
    let white = folder.run("run white.yaml");
    assert_eq!((white.status, service.calls()), (2, 0), "{}", white.stderr);
    let told = &white.stderr;
    assert!(told.contains("it is a service") && told.contains("hop_skip_jump"), "{told}");

    let faults = "{fault: random_noise, epsilon: 0.9, tries: 8}, {fault: square, queries: 20}";
    folder.text("black.yaml", &text(faults, "control: 0"));
    let dry = folder.run("run black.yaml --dry-run --json");
    // Questions of both attacks at most, the first and the last one, for two cases.
    assert_eq!(json(&done(&dry).stdout)[0]["calls"], 2 * (10 + 22) + 2);
    done(&folder.run("run black.yaml"));
    assert!(service.calls() <= 2 * (1 + 9 + 21) + 2, "{}", service.calls());
    let report = folder.run("report runs/black --format json");
    let attacks = json(&done(&report).stdout)[0]["attacks"].clone();
    assert_eq!(attacks[0]["needs"], "answers");
    assert!(attacks[0]["changed"]["events"].as_u64() > Some(0), "{attacks}");

    // The budget ends in the middle of an attack: nothing is lost, and it goes on.
    folder.text("few.yaml", &text("{fault: hop_skip_jump, queries: 300}", "calls: 40"));
    let few = folder.run("run few.yaml");
    assert_ne!(few.status, 0, "{}", few.stderr);
    folder.text("few.yaml", &text("{fault: hop_skip_jump, queries: 300}", "calls: 5000"));
    done(&folder.run("run few.yaml"));
    let lines = records(&folder, "runs/few");
    assert_eq!(lines["wire"].len(), 2);
}

#[test]
fn scenes_are_changed_for_services_as_for_models() {
    let folder = Folder::new("services_scenes");
    let text = |of: &str, service: &Service| {
        let address = &service.address;
        format!(
            "targets: [{{name: model, model: world:detector}}, {{name: wire, service: {{provider: {of}, \
             task: objects, endpoint: '{address}', limits: {{control: 0, concurrency: 1}}}}}}]\n\
             cases: {{data: 'world:scenes:3'}}\nobjects: world:scenes:20\noracle: \
             same_detections\nfaults: [{{fault: insert_object, trials: 3, towards: nowhere}}]\n"
        )
    };
    for of in ["google", "ibm"] {
        let service = Service::start(&format!("world:detector --as {of}"));
        folder.text("c.yaml", &text(of, &service));
        let dry = folder.run("run c.yaml --dry-run --json");
        assert_eq!(json(&done(&dry).stdout)[0]["calls"], 9 + 2 * 3);
        done(&folder.run(&format!("run c.yaml --output runs/{of}")));
        assert!(service.calls() <= 9 + 2 * 3, "{}", service.calls());
        let report = folder.run(&format!("report runs/{of} --format json"));
        let scenes = json(&done(&report).stdout)[0]["scenes"].clone();
        assert_eq!(scenes.as_array().unwrap().len(), 2);
        assert!(scenes[1]["changed"]["n"].as_u64() > Some(4), "{scenes}");
        assert_eq!(scenes[1]["unsteady"], 0, "{scenes}");
        // Everything is on file: scenes are made again without a call.
        let calls = service.calls();
        done(&folder.run(&format!("findings runs/{of} --out found-{of} --all")));
        assert_eq!(service.calls(), calls);
    }
    // Between the first answer and the second another model takes over.
    let service = Service::start("world:detector --as google --misbehave drift=1");
    folder.text("c.yaml", &text("google", &service));
    done(&folder.run("run c.yaml --output runs/unsteady"));
    let report = folder.run("report runs/unsteady --format json");
    let scenes = json(&done(&report).stdout)[0]["scenes"].clone();
    assert_eq!(scenes[1]["unsteady"], 1, "{scenes}");
}

#[test]
fn a_scene_whose_answer_is_lost_is_not_judged() {
    let folder = Folder::new("services_lost_scenes");
    let service = Service::start("world:detector --as google --misbehave nonsense=0.25 --seed 3");
    let address = &service.address;
    folder.text(
        "c.yaml",
        &format!(
            "targets: [{{name: wire, service: {{provider: google, task: objects, endpoint: '{address}', \
             limits: {{control: 0, concurrency: 1, retries: 0}}}}}}]\ncases: {{data: \
             'world:scenes:6'}}\nobjects: world:scenes:20\noracle: same_detections\nfaults: \
             [{{fault: insert_object, trials: 6}}]\nanswers: filed\n"
        ),
    );
    done(&folder.run("run c.yaml --output run"));
    done(&folder.run("export run -o records.csv"));
    let mut table = csv::Reader::from_path(folder.path("records.csv")).unwrap();
    let rows: Vec<BTreeMap<String, String>> = table.deserialize().map(Result::unwrap).collect();
    let lost: Vec<_> = rows.iter().filter(|row| row["outcome"] == "skipped").collect();
    assert!(!lost.is_empty() && lost.len() < rows.len(), "{} of {}", lost.len(), rows.len());
    // What is told was answered: the places on an object's way too.
    let calls = service.calls();
    done(&folder.run("findings run --out found --all"));
    let found = std::fs::read(folder.path("found/findings.json")).unwrap();
    let found: Value = serde_json::from_slice(&found).unwrap();
    let judged: Vec<&str> =
        rows.iter().filter(|row| row["outcome"] != "skipped").map(|row| &*row["number"]).collect();
    for one in found.as_array().unwrap() {
        assert!(judged.contains(&one["number"].to_string().as_str()), "{one}");
        assert!(one["changes"].is_array() && one.get("no_answer").is_none(), "{one}");
        assert_eq!(one["changes"] == Value::Array(vec![]), one["outcome"] == "unchanged");
    }
    assert_eq!(service.calls(), calls, "everything was on file");
    // Without the files it is asked again, and what gets lost then has the reason.
    std::fs::remove_dir_all(folder.path("filed")).unwrap();
    let told = folder.run("findings run --out again --all");
    assert!(done(&told).stderr.contains("could not be queried again"), "{}", told.stderr);
    let again = std::fs::read(folder.path("again/findings.json")).unwrap();
    let again: Value = serde_json::from_slice(&again).unwrap();
    let lost = again.as_array().unwrap().iter().find(|one| one.get("no_answer").is_some());
    let lost = lost.unwrap();
    assert!(["changes", "observed", "drawn"].iter().all(|key| lost[key].is_null()), "{lost}");
    assert!(lost["no_answer"].as_str().unwrap().len() > 10, "{lost}");
}
