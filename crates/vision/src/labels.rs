//! Names for classes, from the files that people have.

use std::collections::BTreeMap;

use serde_json::Value;

use super::VisionError;
use super::coco::COCO;

/// The names of a model's classes; a class without a name is shown as its index.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Labels(pub(crate) BTreeMap<usize, String>);

/// How a labels file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelFormat {
    /// One name per line.
    Text,
    /// A list of names, or an object from index to name; where a name is a list (as in the
    /// ImageNet class index, `["n01440764", "tench"]`), its last part counts.
    Json,
    /// An index and a name per line, with or without a header.
    Csv,
}

/// Lists of names that need no file, and what they are.
pub const BUILT_IN: [(&str, &str); 2] = [
    ("coco", "COCO's 80 categories in their order"),
    ("coco-91", "COCO's categories by their numbers, which go to 90 with gaps"),
];

impl LabelFormat {
    /// The format that a file's extension promises; text when it promises none.
    pub fn of_extension(extension: &str) -> Self {
        match extension.to_ascii_lowercase().as_str() {
            "json" => Self::Json,
            "csv" => Self::Csv,
            _ => Self::Text,
        }
    }
}

impl Labels {
    /// Reads names; an empty file is an error, for it is never meant.
    pub fn parse(text: &str, format: LabelFormat) -> Result<Self, VisionError> {
        let text = text.trim_start_matches('\u{feff}');
        let names = match format {
            LabelFormat::Text => {
                text.trim_end().lines().map(str::trim).map(str::to_owned).enumerate().collect()
            }
            LabelFormat::Json => from_json(text)?,
            LabelFormat::Csv => from_csv(text)?,
        };
        if text.trim().is_empty() || names.is_empty() {
            return Err(VisionError::Labels("the file is empty".to_owned()));
        }
        Ok(Self(names))
    }

    /// The list of this name, of those in [`BUILT_IN`].
    pub fn built_in(name: &str) -> Option<Self> {
        let names = match name {
            "coco" => COCO.iter().map(|(_, name)| (*name).to_owned()).enumerate().collect(),
            // Background, which is no class, has the number 0.
            "coco-91" => {
                COCO.iter().map(|(number, name)| (number - 1, (*name).to_owned())).collect()
            }
            _ => return None,
        };
        Some(Self(names))
    }

    /// The class's name, or its index as text.
    pub fn name(&self, class: usize) -> String {
        self.0.get(&class).cloned().unwrap_or_else(|| class.to_string())
    }

    /// How many classes have a name.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no class has a name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

fn from_json(text: &str) -> Result<BTreeMap<usize, String>, VisionError> {
    let value: Value =
        serde_json::from_str(text).map_err(|error| VisionError::Labels(error.to_string()))?;
    match value {
        Value::Array(entries) => entries
            .iter()
            .enumerate()
            .map(|(index, entry)| Ok((index, name_in(entry, &index.to_string())?)))
            .collect(),
        Value::Object(entries) => entries
            .iter()
            .map(|(key, entry)| {
                let index = key
                    .parse()
                    .map_err(|_| VisionError::Labels(format!("`{key}` is no class index")))?;
                Ok((index, name_in(entry, key)?))
            })
            .collect(),
        _ => Err(VisionError::Labels(
            "a list of names or an object from index to name is needed".to_owned(),
        )),
    }
}

/// The name that an entry gives: itself, or the last part of a list, as in ImageNet's class index.
fn name_in(entry: &Value, at: &str) -> Result<String, VisionError> {
    let name = match entry {
        Value::String(name) => Some(name.as_str()),
        Value::Array(parts) => parts.last().and_then(Value::as_str),
        _ => None,
    };
    name.map(str::to_owned).ok_or_else(|| {
        VisionError::Labels(format!("entry {at} is neither a name nor a list of names"))
    })
}

/// Names that a CSV header may give to the column of indices, and to that of names.
const INDEX_COLUMNS: &[&str] = &["index", "class_index", "id", "class_id"];
const NAME_COLUMNS: &[&str] = &["label", "name", "class", "class_name", "display_name"];

fn from_csv(text: &str) -> Result<BTreeMap<usize, String>, VisionError> {
    let mut rows = text.lines().map(fields).enumerate().filter(|(_, row)| row != &[""]).peekable();
    let mut index_at = 0;
    let mut name_at = 1;
    if let Some((_, header)) = rows.next_if(|(_, row)| row[0].parse::<usize>().is_err()) {
        let column = |known: &[&str]| {
            header.iter().position(|name| known.contains(&name.to_ascii_lowercase().as_str()))
        };
        (index_at, name_at) = column(INDEX_COLUMNS).zip(column(NAME_COLUMNS)).ok_or_else(|| {
            VisionError::Labels("the CSV header needs the columns index and label".to_owned())
        })?;
    }
    rows.map(|(number, row)| {
        let index = row.get(index_at).and_then(|field| field.parse().ok());
        index
            .zip(row.get(name_at).cloned())
            .ok_or_else(|| VisionError::Labels(format!("line {} is not `index,label`", number + 1)))
    })
    .collect()
}

/// The fields of one CSV line; quotes protect commas, doubled quotes stand for one.
fn fields(line: &str) -> Vec<String> {
    let mut fields = vec![String::new()];
    let mut quoted = false;
    let mut chars = line.trim().chars().peekable();
    while let Some(c) = chars.next() {
        let field = fields.len() - 1;
        match c {
            // RFC 4180: quotes protect commas, a doubled quote stands for one.
            '"' if quoted && chars.next_if_eq(&'"').is_some() => fields[field].push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            c => fields[field].push(c),
        }
    }
    fields.iter().map(|field| field.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_gives_the_same_names() {
        for (format, text) in [
            (LabelFormat::Text, "tench\ngoldfish, carp\r\n\n"),
            (LabelFormat::Json, r#"["tench", "goldfish, carp"]"#),
            (LabelFormat::Json, r#"{"1": ["n01443537", "goldfish, carp"], "0": "tench"}"#),
            (LabelFormat::Csv, "0,tench\n1,\"goldfish, carp\"\n"),
            (LabelFormat::Csv, "\u{feff}label,wnid,index\ntench,n0,0\n\"goldfish, carp\",n1,1\n"),
        ] {
            let labels = Labels::parse(text, format).unwrap();
            assert_eq!(labels.len(), 2, "{text}");
            assert_eq!(labels.name(0), "tench");
            assert_eq!(labels.name(1), "goldfish, carp");
            assert_eq!(labels.name(7), "7");
        }
    }

    #[test]
    fn coco_is_known_by_order_and_by_number() {
        let [order, number] = BUILT_IN.map(|(name, _)| Labels::built_in(name).unwrap());
        assert_eq!((order.len(), number.len()), (80, 80));
        assert_eq!((order.name(0), number.name(0)), ("person".into(), "person".into()));
        // Number 12 is of no category, 13 is the stop sign.
        assert_eq!((order.name(11), number.name(12)), ("stop sign".into(), "stop sign".into()));
        assert_eq!((number.name(11), order.name(9)), ("11".into(), "traffic light".into()));
        assert_eq!((order.name(79), number.name(89)), ("toothbrush".into(), "toothbrush".into()));
        assert_eq!(Labels::built_in("voc"), None);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (format, text, wanted) in [
            (LabelFormat::Text, " \n", "empty"),
            (LabelFormat::Json, "{\"tench\": 0}", "`tench` is no class index"),
            (LabelFormat::Json, "[1]", "entry 0"),
            (LabelFormat::Json, "[\"a\"", "EOF"),
            (LabelFormat::Csv, "file,class_index\na.jpg,3\n", "index and label"),
            (LabelFormat::Csv, "0,a\nx,b\n", "line 2"),
        ] {
            let error = Labels::parse(text, format).unwrap_err().to_string();
            assert!(error.contains(wanted), "{error}");
        }
    }
}
