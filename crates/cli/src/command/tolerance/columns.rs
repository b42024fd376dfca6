//! Which column of a file of answers is what.

use anyhow::{anyhow, bail, ensure};
use faultlens::did_you_mean;
use faultlens::report::plain;

/// The columns of single answers.
#[derive(Debug)]
pub(super) struct AnswerColumns {
    /// One column, or two that only together say which image it is.
    pub(super) image: Vec<usize>,
    pub(super) kind: usize,
    /// `None` where the file has none; the user names the fault then.
    pub(super) fault: Option<usize>,
    /// `None` where nobody knows the truth.
    pub(super) truth: Option<usize>,
    pub(super) answer: usize,
    pub(super) change: Change,
}

/// How a file says how much an image was changed.
#[derive(Debug, Clone, Copy)]
pub(super) enum Change {
    /// As a visual change.
    Visual(usize),
    /// As visual information fidelity, of which the visual change is what is missing from 1.
    Vif(usize),
}

/// The columns of a table by visual change.
#[derive(Debug)]
pub(super) struct TableColumns {
    pub(super) edge: usize,
    pub(super) n: usize,
    pub(super) hits: usize,
    pub(super) rate: Option<usize>,
    /// Whether hits are answers as on the original, and not right ones.
    pub(super) agreement: bool,
}

const EDGE: [&str; 2] = ["visual_change", "IQA"];
const RIGHT: [&str; 2] = ["Num_Accs", "Accuracy"];
const SAME: [&str; 2] = ["Num_Pre", "Preserved"];

/// What a file holds, as its header says.
#[derive(Debug)]
pub(super) enum Columns {
    Answers(AnswerColumns),
    Table(TableColumns),
}

impl Columns {
    /// Finds the columns by their names.
    pub(super) fn new(names: &[String]) -> anyhow::Result<Self> {
        let header = Header(names);
        let [right, same] = [RIGHT, SAME].map(|of| of.iter().any(|name| header.has(name)));
        match (right, same) {
            (false, false) => header.answers().map(Self::Answers),
            (true, true) => bail!("it counts both right and preserved answers; split it in two"),
            (_, agreement) => header.table(agreement).map(Self::Table),
        }
    }
}

/// The names of the columns.
struct Header<'a>(&'a [String]);

impl Header<'_> {
    fn has(&self, name: &str) -> bool {
        self.0.iter().any(|known| known == name)
    }

    fn answers(&self) -> anyhow::Result<AnswerColumns> {
        let image = match self.one(&["image"])? {
            Some(image) => vec![image],
            None if self.has("batch") && self.has("index") => {
                vec![self.needed("the batch", &["batch"])?, self.needed("the index", &["index"])?]
            }
            None => return Err(self.missing("the image", &["image"])),
        };
        let visual = self.one(&["visual_change"])?.map(Change::Visual);
        let change = match (visual, self.one(&["IQA", "vif"])?.map(Change::Vif)) {
            (Some(_), Some(_)) => bail!("visual_change and IQA mean the same; drop one of them"),
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => return Err(self.missing("the visual change", &["visual_change"])),
        };
        Ok(AnswerColumns {
            image,
            kind: self.needed("the kind (original or changed)", &["kind"])?,
            fault: self.one(&["fault", "transformation"])?,
            truth: self.one(&["truth", "ground_truth"])?,
            answer: self.needed("the answer", &["answer", "human_label"])?,
            change,
        })
    }

    fn table(&self, agreement: bool) -> anyhow::Result<TableColumns> {
        let [hits, rate] = if agreement { SAME } else { RIGHT };
        Ok(TableColumns {
            edge: self.needed("the visual change", &EDGE)?,
            n: self.needed("the number of answers", &["Count"])?,
            hits: self.needed("the hits", &[hits])?,
            rate: self.one(&[rate])?,
            agreement,
        })
    }

    fn needed(&self, what: &str, names: &[&str]) -> anyhow::Result<usize> {
        self.one(names)?.ok_or_else(|| self.missing(what, names))
    }

    /// The column that has one of the names.
    fn one(&self, names: &[&str]) -> anyhow::Result<Option<usize>> {
        let all: Vec<usize> =
            (0..self.0.len()).filter(|&at| names.contains(&self.0[at].as_str())).collect();
        if let [first, second, ..] = all[..] {
            let [first, second] = [first, second].map(|at| plain(&self.0[at]));
            ensure!(first != second, "two columns are called {first}; rename one");
            bail!("{first} and {second} mean the same; drop one of them");
        }
        Ok(all.first().copied())
    }

    fn missing(&self, what: &str, names: &[&str]) -> anyhow::Error {
        let known = self.0.iter().map(String::as_str).filter(|name| !name.is_empty());
        let close = names.iter().find_map(|name| did_you_mean(name, known.clone()));
        let wanted = names.join(" or ");
        match close {
            Some(close) => {
                anyhow!("no column holds {what}: rename {} to {}?", plain(close), names[0])
            }
            None => {
                let known = known.take(20).map(plain).collect::<Vec<_>>().join(", ");
                anyhow!("no column holds {what} ({wanted}); there are {known}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(header: &str) -> anyhow::Result<Columns> {
        Columns::new(&header.split(',').map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn published_and_own_names_are_known() {
        let published = "kind,set,batch,index,transformation,ground_truth,human_label,IQA";
        let Columns::Answers(of) = columns(published).unwrap() else { panic!() };
        assert_eq!((of.image.as_slice(), of.kind, of.fault, of.truth), {
            (&[2, 3][..], 0, Some(4), Some(5))
        });
        assert!(matches!(of.change, Change::Vif(7)));
        let own = "participant,image,fault,truth,answer,visual_change,kind";
        let Columns::Answers(of) = columns(own).unwrap() else { panic!() };
        assert_eq!((of.image.as_slice(), of.answer, of.kind), (&[1][..], 4, 6));
        assert!(matches!(of.change, Change::Visual(5)));
        let Columns::Table(of) = columns("IQA,Preserved,Count,Num_Pre").unwrap() else { panic!() };
        assert_eq!((of.edge, of.n, of.hits, of.rate, of.agreement), (0, 2, 3, Some(1), true));
        let Columns::Table(of) = columns("visual_change,Num_Accs,Count").unwrap() else { panic!() };
        assert_eq!((of.hits, of.rate, of.agreement), (1, None, false));
    }

    #[test]
    fn other_headers_are_refused_with_a_hint() {
        for (header, wanted) in [
            ("image,kind,anser,visual_change", "the answer: rename anser to answer?"),
            ("image,kind,Answer,visual_change", "rename Answer to answer?"),
            ("picture,kind,answer,visual_change", "no column holds the image (image); there are"),
            ("image,kind,answer", "no column holds the visual change (visual_change)"),
            ("image,answer,visual_change", "the kind (original or changed)"),
            ("image,kind,answer,answer,visual_change", "two columns are called answer"),
            ("image,kind,answer,human_label,visual_change", "answer and human_label mean the same"),
            ("image,kind,answer,IQA,visual_change", "visual_change and IQA mean the same"),
            ("IQA,Accuracy,Count", "no column holds the hits (Num_Accs)"),
            ("IQA,Num_Accs,Num_Pre,Count", "split it in two"),
            ("IQA,Num_Pre,Counts", "rename Counts to Count?"),
        ] {
            let error = columns(header).err().unwrap().to_string();
            assert!(error.contains(wanted), "{header}: {error}");
        }
    }
}
