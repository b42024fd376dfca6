//! Class folders and tables of labels.

use crate::scratch::Scratch;
use faultlens_data::{DataSet, Format, Options};

const PNG: &[u8] = include_bytes!("../fixtures/coco/0.png");

#[test]
fn classes_are_folders_by_name() {
    let scratch = Scratch::new();
    for name in ["dog/b.PNG", "dog/a.png", "cat/a.png", ".git/x.png", "dog/.a.png", "dog/notes.txt"]
    {
        scratch.write(name, PNG);
    }
    scratch.write("README.md", "not a class");
    let set = DataSet::open(scratch.path()).unwrap();
    assert_eq!(set.classes, ["cat", "dog"]);
    let cases: Vec<_> = (0..set.len()).map(|index| set.case(index).unwrap()).collect();
    let names: Vec<_> = cases.iter().map(|case| (case.name.as_str(), case.label)).collect();
    assert_eq!(names, [("cat/a.png", Some(0)), ("dog/a.png", Some(1)), ("dog/b.PNG", Some(1))]);
    assert_eq!(cases[0].image.width(), 40);
}

#[test]
fn an_empty_class_is_an_error_unless_it_is_allowed() {
    let scratch = Scratch::new();
    scratch.write("cat/a.png", PNG);
    scratch.write("dog/a.gif", "GIF89a");
    let error = DataSet::open(scratch.path()).unwrap_err().to_string();
    assert!(error.contains("class \"dog\" has no PNG, JPEG, WebP or BMP file"), "{error}");
    let allowed = Options { allow_empty_classes: true, ..Options::default() };
    let set = DataSet::open_with(scratch.path(), &allowed).unwrap();
    assert_eq!((set.classes.len(), set.len()), (2, 1));
}

#[test]
fn unreadable_images_are_named_and_can_be_left_out() {
    let scratch = Scratch::new();
    scratch.write("cat/a.png", PNG);
    scratch.write("cat/b.png", &PNG[..PNG.len() / 2]);
    scratch.write("cat/c.png", "");
    scratch.write("cat/d.png", PNG);
    let set = DataSet::open(scratch.path()).unwrap();
    assert!(set.case(0).is_ok());
    let (good, broken) = set.readable();
    let broken: Vec<_> = broken.into_iter().map(|(at, error)| (at, error.to_string())).collect();
    assert_eq!((good.len(), broken.len()), (2, 2));
    assert!(broken[0].0 == 1 && broken[0].1.ends_with("cat/b.png"), "{broken:?}");
    assert!(broken[1].1.starts_with("the image file is empty"), "{broken:?}");
}

#[test]
fn what_is_no_set_is_refused() {
    let scratch = Scratch::new();
    let error = DataSet::open(scratch.path()).unwrap_err().to_string();
    assert!(
        error.contains("no data set that is known (npz, idx, cifar, coco, yolo, csv, class-"),
        "{error}"
    );
    let error = DataSet::open(scratch.path().join("x")).unwrap_err().to_string();
    assert!(error.starts_with("cannot open the data set") && error.ends_with('x'), "{error}");
    for name in ["class-folders", "idx", "cifar", "coco", "csv", "npz"] {
        let format = Format::named(name).unwrap();
        assert!(DataSet::open_as(scratch.path(), format).is_err(), "{name}");
    }
}

/// Opens a table and tries its cases, before the folder is gone.
fn table(text: &str, options: &Options) -> Result<DataSet, String> {
    let scratch = Scratch::new();
    for name in ["a.png", "in/b.png", "c, d.png"] {
        scratch.write(name, PNG);
    }
    let list = scratch.write("labels.csv", text);
    let set = DataSet::open_with(&list, options).map_err(|error| error.to_string())?;
    assert!(set.readable().1.is_empty());
    Ok(set)
}

#[test]
fn tables_name_files_labels_and_strata() {
    let plain = Options::default();
    let labels = |set: &DataSet| (0..set.len()).map(|i| set.label(i)).collect::<Vec<_>>();
    let set = table("file,label\na.png,dog\nin/b.png,cat\n\"c, d.png\",dog\n", &plain).unwrap();
    assert_eq!(
        (set.classes.join(" "), labels(&set)),
        ("cat dog".into(), vec![Some(1), Some(0), Some(1)])
    );
    // Numbers are positions, whichever occur; other headers, separators and line ends.
    let set = table("\u{feff}Class_Id;File name\r\n10;a.png\r\n2;in\\b.png\r\n", &plain).unwrap();
    assert_eq!((set.classes.len(), labels(&set)), (11, vec![Some(10), Some(2)]));
    let named = Options { label_column: Some("sex".into()), ..Options::default() };
    let set = table("image,age,sex\na.png,30,f\nin/b.png,4,m\n", &named).unwrap();
    assert_eq!(set.classes, ["f", "m"]);
    let set = table("image,age\na.png,30\n", &plain).unwrap();
    assert_eq!((set.classes.len(), labels(&set)), (0, vec![None]));
}

#[test]
fn options_that_a_format_does_not_have_are_refused() {
    let part = Options { part: Some("train".into()), ..Options::default() };
    let error = table("file,label\na.png,x\n", &part).unwrap_err();
    assert!(error.contains("the format csv has no parts"), "{error}");
    let scratch = Scratch::new();
    scratch.write("cat/a.png", PNG);
    let column = Options { label_column: Some("x".into()), ..Options::default() };
    let error = DataSet::open_with(scratch.path(), &column).unwrap_err().to_string();
    assert!(error.contains("the format class-folders has no columns"), "{error}");
}

#[test]
fn further_columns_are_strata() {
    let scratch = Scratch::new();
    scratch.write("a.png", PNG);
    let list = scratch.write("labels.csv", "light,path,class,Weather\nnight,a.png,x, rain \n");
    for path in [list.as_path(), scratch.path()] {
        let case = DataSet::open(path).unwrap().case(0).unwrap();
        let strata: Vec<_> = case.strata.iter().map(|(k, v)| format!("{k}={v}")).collect();
        assert_eq!(strata, ["Weather=rain", "light=night"]);
    }
}

#[test]
fn tables_that_are_wrong_say_where() {
    let cases = [
        ("file,label\na.png,x\nmissing.png,x\n", "line 3 names an image that does not exist"),
        ("file,label\n../a.png,x\n", "line 2 names \"../a.png\", which is outside"),
        ("file,label\n/etc/passwd,x\n", "outside of the data set"),
        ("file,label\na.png,\n", "line 2 has no label"),
        ("file,label\na.png\n", "the table cannot be read"),
        ("file,label\na.png,x\na.png,y\n", "line 3 names \"a.png\" again"),
        ("file,label\n", "holds no case"),
        ("file,label\na.png,65536\n", "label 65536 of a.png is no class"),
        ("file,light,light\na.png,1,2\n", "two columns are called \"light\""),
        ("name,label\n", "no column is called file, path, image"),
    ];
    for (text, wanted) in cases {
        let error = table(text, &Options::default()).unwrap_err();
        assert!(error.contains(wanted), "{error}");
    }
    let named = Options { label_column: Some("labl".into()), ..Options::default() };
    let error = table("file,label\n", &named).unwrap_err();
    assert!(error.contains("did you mean \"label\"?"), "{error}");
}
