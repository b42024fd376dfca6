//! The top class of an answer, the rank and confidence of another, and whether it is correct.

use faultlens_core::{Response, Truth};

/// The top class of an answer; `None` where it ranks none.
pub fn top_class(answer: &Response) -> Option<usize> {
    match answer {
        Response::Scores(scores) => scores.top(),
        Response::Ranking(ranking) => ranking.top().map(|top| top.index),
        _ => None,
    }
}

/// The rank of a class in an answer, from 1; `None` where the answer does not rank it.
pub fn rank_of(answer: &Response, class: usize) -> Option<usize> {
    match answer {
        Response::Scores(scores) => scores.rank_of(class),
        Response::Ranking(ranking) => ranking.rank_of(class),
        _ => None,
    }
}

/// The score of a class in an answer; `None` where the answer does not rank it.
pub fn confidence(answer: &Response, class: usize) -> Option<f32> {
    match answer {
        Response::Scores(scores) => scores.scores.get(class).copied(),
        Response::Ranking(ranking) => {
            ranking.places().iter().find(|place| place.index == class).map(|place| place.score)
        }
        _ => None,
    }
}

/// Whether an answer is correct: the top class is the case's, or the text is its label. `None` where
/// the truth is unknown, or for answers of other kinds.
pub fn is_correct(answer: &Response, truth: Truth<'_>) -> Option<bool> {
    match answer {
        Response::Text(text) => truth.label.map(|label| same_letters(&text.text(), label)),
        Response::Scores(_) | Response::Ranking(_) => {
            truth.class.map(|class| top_class(answer) == Some(class))
        }
        _ => None,
    }
}

/// Whether two texts are the same up to upper case and spaces, as scene text recognition is scored.
pub fn same_letters(a: &str, b: &str) -> bool {
    letters(a).eq(letters(b))
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase)
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::{Names, Ranking, Scores, Text, class_called};

    #[test]
    fn answers_of_both_kinds_are_read_alike() {
        let names = Names::reported(["cat"]);
        let scores = Response::Scores(Scores { scores: vec![0.1, 0.7, 0.2], names });
        let named = [("Dog".to_owned(), 0.7), ("Cat".to_owned(), 0.2)];
        let ranking = Response::Ranking(Ranking::of_names(named));
        let [dog, cat] = ["dog", "cat"].map(class_called);
        assert_eq!((top_class(&scores), top_class(&ranking)), (Some(1), Some(dog)));
        assert_eq!((rank_of(&scores, 2), rank_of(&ranking, cat)), (Some(2), Some(2)));
        assert_eq!((confidence(&scores, 2), confidence(&ranking, cat)), (Some(0.2), Some(0.2)));
        assert_eq!((rank_of(&scores, 3), rank_of(&ranking, class_called("bus"))), (None, None));
        for (answer, class, wanted) in [
            (&scores, Some(1), Some(true)),
            (&ranking, Some(cat), Some(false)),
            (&ranking, None, None),
        ] {
            assert_eq!(is_correct(answer, Truth { class, label: None }), wanted);
        }
    }

    #[test]
    fn texts_are_right_whatever_their_case_and_blanks() {
        let classes = "Way Out".chars().map(|letter| letter as usize).collect();
        let text = Response::Text(Text { classes, names: Names::Letters, finite: true });
        for (label, wanted) in [("WAY OUT", true), ("wayout", true), ("way 0ut", false)] {
            let truth = Truth { class: None, label: Some(label) };
            assert_eq!(is_correct(&text, truth), Some(wanted), "{label}");
        }
        assert_eq!(is_correct(&text, Truth::default()), None);
    }
}
