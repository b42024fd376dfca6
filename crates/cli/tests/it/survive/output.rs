//! Tables for people, and the page.

use super::{ATTACKS, table};

const ASK: &str = "survive data.csv --duration seconds --event succeeded";

#[test]
fn people_get_a_table() {
    let folder = table("words", ATTACKS);
    let run = folder.run(&format!("{ASK} --model weibull"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    for wanted in [
        "weibull: 12 rows, 9 events",
        "parameter  covariate",
        "defence=none",
        "Levels of defence are compared with noise.",
        "log-likelihood -",
        "concordance 0.",
    ] {
        assert!(run.stdout.contains(wanted), "{wanted}: {}", run.stdout);
    }
    let cox = folder.run(&format!("{ASK} --model cox")).stdout;
    assert!(cox.contains("proportional hazards: p ") && cox.contains("partial log-likelihood"));
    let all = folder.run(&format!("{ASK} --test 0"));
    assert!(all.stdout.contains("\nRecommended: "), "{}{}", all.stdout, all.stderr);
}

#[test]
fn the_page_holds_everything_and_loads_nothing() {
    let hostile = ATTACKS.replace("noise", "<script>alert(1)</script>");
    let folder = table("page", &hostile);
    for (args, sections) in [
        ("--model weibull", &["effects", "curves", "calibration", "qq", "coefficients"][..]),
        ("--test 0", &["models", "effects", "curves", "calibration", "qq"]),
        ("--model km --strata defence", &["curves"]),
        ("--model cox", &["effects", "curves", "qq", "coefficients"]),
    ] {
        let run = folder.run(&format!("{ASK} {args} -o page.html"));
        assert_eq!(run.status, 0, "{args}: {}", run.stderr);
        let page = std::fs::read_to_string(folder.path("page.html")).unwrap();
        for section in sections {
            assert!(page.contains(&format!("<section id=\"{section}\"")), "{args}: {section}");
        }
        assert!(!page.contains("<script>alert"), "{args}");
        let links = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!links.contains("http://") && !links.contains("https://"), "{args}");
    }
}

#[test]
fn names_do_not_speak_to_the_terminal() {
    let folder = table("hostile", &ATTACKS.replace("noise", "\u{1b}[31mred"));
    let run = folder.run(&format!("{ASK} --model weibull"));
    assert!(!run.stdout.contains('\u{1b}') && !run.stderr.contains('\u{1b}'), "{}", run.stdout);
}
