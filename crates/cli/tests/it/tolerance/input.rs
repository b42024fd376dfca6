//! Files that are not as they should be: a clear refusal, or the right answer, explained.

use super::{number, object, refused, study, table, with};
use crate::folder::Folder;

const HEADER: &str = "image,kind,fault,visual_change,truth,answer\n";

#[test]
fn what_cannot_be_used_is_refused() {
    let rows = |rows: &str| format!("{HEADER}{rows}");
    let cases: &[(&str, String, &str)] = &[
        ("nothing", String::new(), "no header"),
        ("rows", HEADER.into(), "no rows"),
        ("columns", "a,b\n1,2\n".into(), "no column holds the image (image); there are a, b"),
        ("typo", HEADER.replace("answer", "anser"), "rename anser to answer?"),
        ("twice", HEADER.replace("truth", "answer"), "two columns are called answer"),
        ("kind", rows("1,blur,fog,0.1,car,car\n"), "line 2: the kind is \"blur\""),
        ("above", rows("1,changed,fog,1.1,car,car\n"), "line 2: the visual change is \"1.1\""),
        ("below", rows("1,changed,fog,-0.1,car,car\n"), "a number from 0 to 1 is needed"),
        ("nan", rows("1,changed,fog,NaN,car,car\n"), "the visual change is \"NaN\""),
        (
            "label",
            rows("1,changed,fog,0.1,car,cat\n"),
            "line 2: the answer is \"cat\", which is not the truth of any image; did you mean \"car\"?",
        ),
        ("only_originals", rows("1,original,,0,car,car\n"), "no answers on changed images"),
        ("ragged", rows("1,changed\n"), "line 2 has 2 values, the header 6"),
        ("no_fault", HEADER.replace("fault,", "") + "1,changed,0.1,car,car\n", "give --fault NAME"),
        ("unnamed", table("Num_Accs", "Accuracy"), "give --fault NAME"),
    ];
    for (name, text, wanted) in cases {
        let said = refused(&with(&format!("wrong_{name}"), "data.csv", text), "data.csv");
        assert!(said.contains("data.csv") || *name == "only_originals", "{name}: {said}");
        assert!(said.contains(wanted), "{name}: {said}");
    }
}

#[test]
fn options_that_cannot_be_are_refused() {
    let folder = with("options", "a_c_p_fog.csv", &table("Num_Accs", "Accuracy"));
    for (args, wanted) in [
        ("a_c_p_fog.csv", "give --originals-accuracy RATE"),
        ("a_c_p_fog.csv --originals-accuracy 97", "a rate above 0 and up to 1"),
        ("a_c_p_fog.csv --rule defualt", "default"),
        ("a_c_p_fog.csv --rounds 39", "40 to 1000000 rounds"),
        ("a_c_p_fog.csv --originals-accuracy 0.9 -o page.pdf", ".html"),
        ("b.csv", "b.csv"),
        (".", "the directory has no answers.csv"),
        ("", "required"),
    ] {
        let said = refused(&folder, args);
        assert!(said.contains(wanted), "{args}: {said}");
    }
}

#[test]
fn too_few_answers_have_no_threshold() {
    let text: String = study("fog").lines().take(600).map(|line| format!("{line}\n")).collect();
    let said = refused(&with("few", "data.csv", &text), "data.csv");
    let wanted = "no threshold can be found; fog: 0 of 90 bins of visual change hold more than 10 \
                  answers, and a curve needs 4";
    assert!(said.contains(wanted), "{said}");
    // Beside a fault with enough answers it is left out and named.
    let folder = with("few_beside", "data.csv", &text);
    folder.text("more.csv", &study("frost"));
    let run = folder.run("tolerance data.csv more.csv --rounds 40 --json");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("note: fog left out: 0 of 90 bins"), "{}", run.stderr);
    let object: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert!(object["left_out"]["fog"].as_str().unwrap().contains("ask more people"));
    assert!(object["faults"]["fog"].is_null());
}

#[test]
fn without_originals_only_a_given_accuracy_helps() {
    let all = study("fog");
    let text: String = all
        .lines()
        .filter(|line| !line.contains("original"))
        .map(|line| format!("{line}\n"))
        .collect();
    let folder = with("no_originals", "data.csv", &text);
    let said = refused(&folder, "data.csv --rounds 40");
    assert!(said.contains("no answer on an original has a known truth"), "{said}");
    assert!(said.contains("there are no answers on the originals"), "{said}");
    let object = object(&folder, "data.csv --rounds 40 --originals-accuracy 0.95");
    assert!(number(&object, "/faults/fog/t_c/value") < 0.7);
    assert!(object["faults"]["fog"]["t_p"].is_null());
    let why = object["faults"]["fog"]["missing"]["t_p"].as_str().unwrap();
    assert_eq!(why, "there are no answers on the originals");
}

#[test]
fn without_truth_there_is_still_a_threshold_of_agreement() {
    let all = study("fog");
    let text = all.replace(",truth,", ",unused,");
    let object = object(&with("no_truth", "data.csv", &text), "data.csv --rounds 40");
    assert!(number(&object, "/faults/fog/t_p/value") < 0.7);
    assert!(object["faults"]["fog"]["t_c"].is_null() && object["originals"].is_null());
}

#[test]
fn equal_answers_show_no_drop_and_say_so() {
    let all = study("fog").replace(",not car,q", ",car,q").replace(",not car,p", ",car,p");
    let folder = with("equal", "data.csv", &all);
    let run = folder.run("tolerance data.csv --rounds 40 --json");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("every answer is \"car\""), "{}", run.stderr);
    let object: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let same = &object["faults"]["fog"]["t_p"];
    assert_eq!((&same["value"], &same["share_without_drop"]), (&1.0.into(), &1.0.into()));
    assert_eq!((&same["low"], &same["high"]), (&1.0.into(), &1.0.into()));
}

#[test]
fn all_right_on_the_originals_is_said() {
    let text: String = study("fog")
        .lines()
        .map(|line| match line.split(',').collect::<Vec<_>>()[..] {
            [image, "original", fault, change, truth, _, who] => {
                format!("{image},original,{fault},{change},{truth},{truth},{who}\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    let run = with("all_right", "data.csv", &text).run("tolerance data.csv --rounds 40");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("everybody is right on the originals"), "{}", run.stderr);
}

#[test]
fn rows_without_an_answer_are_left_out_and_counted() {
    let text = study("fog");
    let holes = format!("{text}1,changed,fog,0.5,car,,p9\n1,original,,0,car,,p9\n");
    let folder = with("holes", "data.csv", &holes);
    folder.text("whole.csv", &text);
    let run = folder.run("tolerance data.csv --rounds 40 --json");
    assert!(run.stderr.contains("note: 2 rows without an answer left out"), "{}", run.stderr);
    let [holes, whole] =
        ["data.csv", "whole.csv"].map(|file| object(&folder, &format!("{file} --rounds 40")));
    assert_eq!(holes["faults"], whole["faults"]);
}

#[test]
fn files_are_merged_by_fault_and_directories_read() {
    let text = study("fog");
    let lines: Vec<&str> = text.lines().collect();
    let half = |from: usize, to: usize| format!("{}\n{}\n", lines[0], lines[from..to].join("\n"));
    let folder = with("merged", "whole.csv", &text);
    let middle = lines.len() / 2;
    folder.text("a.csv", &half(1, middle)).text("b.csv", &half(middle, lines.len()));
    std::fs::create_dir(folder.path("run")).unwrap();
    folder.text("run/answers.csv", &text.replace(',', ";"));
    let whole = object(&folder, "whole.csv --rounds 40");
    assert_eq!(object(&folder, "a.csv b.csv --rounds 40")["faults"], whole["faults"]);
    assert_eq!(object(&folder, "run --rounds 40")["faults"], whole["faults"]);
    // Tables of one fault add up; they do not mix with single answers.
    folder.text("a_c_p_fog.csv", &table("Num_Accs", "Accuracy"));
    folder.text("b_c_p_fog.csv", &table("Num_Accs", "Accuracy"));
    let both = object(&folder, "a_c_p_fog.csv b_c_p_fog.csv --originals-accuracy 0.96 --rounds 40");
    assert_eq!(number(&both, "/faults/fog/t_c/bins/0/n"), 100.0);
    let said = refused(&folder, "a_c_p_fog.csv whole.csv");
    assert!(said.contains("fog comes as single answers and as a table"), "{said}");
}

#[test]
fn a_fault_that_faultlens_does_not_have_is_told() {
    let run = with("unknown", "data.csv", &study("frosst")).run("tolerance data.csv --rounds 40");
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(run.stderr.contains("no image fault is called frosst"), "{}", run.stderr);
    assert!(run.stderr.contains("did you mean frost?"), "{}", run.stderr);
    let folder = Folder::new("tolerance_named");
    folder.text("counts.csv", &table("Num_Pre", "Preserved"));
    let named = object(&folder, "counts.csv --fault RGB --rounds 40");
    assert!(number(&named, "/faults/rgb_shift/t_p/value") < 0.7);
    assert_eq!(
        named["faults"]["rgb_shift"]["missing"]["t_c"],
        "there is no table of right answers"
    );
}
