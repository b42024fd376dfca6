//! Pools of objects: written, read, and lying.

use crate::scratch::Scratch;
use faultlens_core::{Bounds, Cutout, Image};
use faultlens_data::{DataError, Pool, PoolObject, write_pool};
use serde_json::{Value, json};
use std::fs;

/// An object of 3×2 pixels, the first of which is not its own.
fn object(label: &str, id: &str, hash: u64) -> Result<PoolObject, DataError> {
    let image =
        Image::from_rgb(3, 2, (0..18).map(|n: u8| (n * 7).wrapping_add(hash as u8)).collect())
            .unwrap();
    let alpha = vec![0, 255, 255, 255, 255, 255];
    let label = label.to_owned();
    let source = "a b.jpg".to_owned();
    let id = id.to_owned();
    let bounds = Bounds { left: 5.0, top: 4.0, right: 8.0, bottom: 6.0 };
    let score = (hash == 1).then_some(0.75);
    Ok(PoolObject { cutout: Cutout { label, source, id, hash, image, alpha }, bounds, score })
}

fn three() -> Vec<Result<PoolObject, DataError>> {
    vec![
        object("traffic light", "a/1", u64::MAX),
        object("traffic_light", "a_1", 1),
        object("../..", "", 2).map(|mut object| {
            object.cutout.id = "ü".into();
            object
        }),
    ]
}

#[test]
fn a_pool_comes_back_as_it_was_written() {
    let scratch = Scratch::new();
    let dir = scratch.path().join("pool");
    let written = write_pool(&dir, "three by hand", three()).unwrap();
    let pool = Pool::open(&dir).unwrap();
    assert_eq!(
        (pool.objects.as_slice(), pool.source.as_str()),
        (&written.objects[..], "three by hand")
    );
    let files: Vec<&str> = pool.objects.iter().map(|entry| entry.file.as_str()).collect();
    assert_eq!(files, ["traffic_light/a_1.png", "traffic_light_2/a_1.png", "_____/_.png"]);
    for (at, wanted) in three().into_iter().enumerate() {
        let wanted = wanted.unwrap();
        let entry = &pool.objects[at];
        assert_eq!(pool.cutout(at).unwrap(), wanted.cutout);
        assert_eq!((entry.bounds, entry.score, entry.pixels), (wanted.bounds, wanted.score, 5));
        assert_eq!((entry.width, entry.height, entry.hash), (3, 2, wanted.cutout.hash));
    }
    let error = pool.cutout(3).unwrap_err().to_string();
    assert_eq!(error, "there is no object 3; the pool has 3");
    // The same objects are the same pool, one pixel more is another.
    let again = write_pool(scratch.path().join("again"), "from elsewhere", three()).unwrap();
    assert_eq!(again.digest(), pool.digest());
    let mut other = three();
    other[0].as_mut().unwrap().cutout.image.rgb_mut()[0] ^= 1;
    let other = write_pool(scratch.path().join("other"), "three by hand", other).unwrap();
    assert_ne!(other.digest(), pool.digest());
}

#[test]
fn what_cannot_be_a_pool_is_not_written() {
    let wrong = |change: fn(&mut PoolObject)| {
        let mut objects = three();
        change(objects[1].as_mut().unwrap());
        objects
    };
    let cases = [
        (vec![], "no object to keep"),
        (wrong(|o| o.cutout.id = "a/1".into()), "is there twice"),
        (wrong(|o| o.cutout.label.clear()), "no label"),
        (wrong(|o| o.cutout.alpha = vec![0; 6]), "has no pixel"),
        (wrong(|o| o.cutout.alpha.push(255)), "6 pixels and 7 of opacity"),
        (wrong(|o| o.bounds.right = 9.0), "another size"),
    ];
    for (objects, wanted) in cases {
        let scratch = Scratch::new();
        let dir = scratch.path().join("pool");
        let error = write_pool(&dir, "", objects).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
        // Nobody takes it for a pool.
        let error = Pool::open(&dir).unwrap_err().to_string();
        assert!(error.contains("was not finished"), "{error}");
        let error = write_pool(scratch.path(), "", three()).unwrap_err().to_string();
        assert!(error.contains("not empty"), "{error}");
    }
}

/// A pool whose index was changed afterwards.
fn changed(scratch: &Scratch, change: impl FnOnce(&mut Value)) -> Result<Pool, String> {
    let dir = scratch.path().join("pool");
    write_pool(&dir, "", three()).unwrap();
    let path = dir.join("index.json");
    let mut index: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    change(&mut index);
    fs::write(&path, index.to_string()).unwrap();
    Pool::open(&path).map_err(|error| error.to_string())
}

#[test]
fn an_index_that_lies_is_refused() {
    let cases = [
        ("file", json!("../secret.png"), "outside of the data set"),
        ("file", json!("/etc/passwd"), "outside of the data set"),
        ("file", json!("a\\..\\..\\b.png"), "outside of the data set"),
        ("id", json!("a/1"), "is there twice"),
        ("id", json!(""), "no name"),
        ("hash", json!("12"), "16 hexadecimal digits"),
        ("hash", json!("+00000000000000f"), "16 hexadecimal digits"),
        ("crc", json!("xx"), "8 hexadecimal digits"),
        ("width", json!(4), "another size"),
        ("pixels", json!(7), "more than its box"),
        ("pixels", json!(-1), "can be read"),
        ("box", json!([5, 4, 5, 6]), "ends before it starts"),
        ("box", json!([0, 0, u64::MAX, 2]), "beyond every image"),
        ("score", json!("high"), "can be read"),
        ("colour", json!("red"), "unknown field"),
    ];
    for (key, value, wanted) in cases {
        let error = changed(&Scratch::new(), |index| index["objects"][1][key] = value);
        let error = error.unwrap_err();
        assert!(error.contains(wanted), "{key}: {error}");
    }
    let version = changed(&Scratch::new(), |index| index["version"] = json!(2)).unwrap_err();
    assert!(version.contains("version 2, and version 1 is read"), "{version}");
    let empty = changed(&Scratch::new(), |index| index["objects"] = json!([])).unwrap_err();
    assert!(empty.contains("holds no object"), "{empty}");
    let large = |index: &mut Value| {
        index["objects"][1]["box"] = json!([0, 0, 20_000, 20_000]);
        index["objects"][1]["width"] = json!(20_000);
        index["objects"][1]["height"] = json!(20_000);
    };
    let large = changed(&Scratch::new(), large).unwrap_err();
    assert!(large.contains("more pixels than are read"), "{large}");
}

#[test]
fn objects_that_changed_are_not_shown() {
    let scratch = Scratch::new();
    let pool = changed(&scratch, |_| ()).unwrap();
    let file = |at: usize| scratch.path().join("pool").join(&pool.objects[at].file);
    let bytes = fs::read(file(0)).unwrap();
    let opaque = Image::from_rgb(3, 2, vec![0; 18]).unwrap();
    let cases = [
        (vec![], "the image file is empty"),
        (bytes[..bytes.len() / 2].to_vec(), "truncated"),
        (b"GIF89a".to_vec(), "no PNG"),
        (faultlens_data::encode_png(&opaque).unwrap(), "no transparency"),
        (fs::read(file(1)).unwrap(), "changed after the pool was made"),
    ];
    for (bytes, wanted) in cases {
        fs::write(file(0), bytes).unwrap();
        let error = pool.cutout(0).unwrap_err().to_string();
        assert!(error.contains(wanted), "{error}");
    }
    fs::remove_file(file(0)).unwrap();
    assert!(pool.cutout(0).unwrap_err().to_string().contains("cannot open the image"));
}
