use super::*;
use faultlens_core::{Seed, Setting, Settings, Unset};

const ROAD: [u8; 3] = [100, 100, 100];
const RED: [u8; 3] = [255, 0, 0];

fn image(width: usize, height: usize, colour: [u8; 3]) -> Image {
    Image::from_rgb(width, height, colour.repeat(width * height)).unwrap()
}

fn bounds(left: f32, top: f32, right: f32, bottom: f32) -> Bounds {
    Bounds { left, top, right, bottom }
}

fn found(class: usize, b: Bounds) -> Detection {
    Detection { class, score: 0.9, bounds: b }
}

/// A red square of each of these labels.
struct Red(&'static [&'static str]);

impl Supply for Red {
    fn object(&self, label: &str, _likes: &[Bounds]) -> Option<Cutout> {
        self.0.contains(&label).then(|| Cutout {
            label: label.to_owned(),
            source: "elsewhere".to_owned(),
            id: format!("{label}-1"),
            hash: 0,
            image: image(10, 10, RED),
            alpha: vec![255; 100],
        })
    }
}

fn built(name: &str, set: &[(&'static str, Setting)]) -> Box<dyn SceneFault> {
    let plugin = SCENE_FAULTS.iter().find(|plugin| plugin.name == name).unwrap();
    let mut settings = Settings::default();
    for parameter in plugin.parameters {
        if let Unset::Is(setting) = &parameter.unset {
            settings.set(parameter.name, setting.clone());
        }
    }
    set.iter().for_each(|(name, setting)| settings.set(name, setting.clone()));
    (plugin.build)(&settings).unwrap_or_else(|error| panic!("{error}"))
}

fn word(word: &'static str) -> Setting {
    Setting::Word(word.into())
}

fn names() -> Names {
    Names::Listed(["car", "dog"].map(str::to_owned).into())
}

fn draw(fault: &dyn SceneFault, view: &View<'_>, seed: u64) -> Result<Scene, Reason> {
    fault.change(view, &mut Seed::new(seed).stream())
}

#[test]
fn objects_come_in_the_size_of_their_kind_and_touch_nothing() {
    let road = image(200, 150, ROAD);
    let names = names();
    let there = [
        found(0, bounds(40.0, 40.0, 60.0, 70.0)),
        found(0, bounds(120.0, 20.0, 150.0, 40.0)),
        found(1, bounds(100.0, 100.0, 120.0, 130.0)),
    ];
    let supply = Red(&["car"]);
    let view =
        View { repeat: 0, image: &road, found: &there, names: &names, masks: &[], supply: &supply };
    for placing in ["guided", "random"] {
        let insert = built("insert_object", &[("placing", word(placing))]);
        for seed in 0..50 {
            let scene = draw(insert.as_ref(), &view, seed).unwrap();
            let b = scene.touched.bounds;
            // The cars are 20×30 and 30×20.
            assert_eq!((b.right - b.left, b.bottom - b.top), (25.0, 25.0));
            assert!(view.is_free(&b), "{b:?}");
            assert_eq!((scene.touched.class, scene.touched.label.as_str()), (0, "car"));
            assert_eq!(scene.stays, there);
            let changed = scene.image.rgb().as_chunks::<3>().0.iter().enumerate();
            let changed: Vec<usize> =
                changed.filter(|(_, pixel)| **pixel != ROAD).map(|(at, _)| at).collect();
            let outside = |at: &usize| {
                let x = (at % 200) as f32;
                let y = (at / 200) as f32;
                x < b.left || x >= b.right || y < b.top || y >= b.bottom
            };
            assert!(!changed.is_empty() && !changed.iter().any(outside), "{b:?}");
            let middle = (b.top as usize + 12) * 200 + b.left as usize + 12;
            assert_eq!(scene.image.rgb()[middle * 3..][..3], RED);
            // Soft edges: the corner is a mixture.
            let corner = (b.top as usize) * 200 + b.left as usize;
            let corner = scene.image.rgb()[corner * 3];
            assert!(corner > ROAD[0] && corner < RED[0], "{corner}");
            assert_eq!(draw(insert.as_ref(), &view, seed).unwrap().image, scene.image);
        }
    }
}

#[test]
fn what_cannot_be_done_has_a_reason() {
    let road = image(60, 40, ROAD);
    let names = names();
    let car = [found(0, bounds(10.0, 10.0, 20.0, 20.0))];
    let large = [found(0, bounds(0.0, 0.0, 59.0, 39.0))];
    let (cars, dogs) = (Red(&["car"]), Red(&["dog"]));
    let insert = built("insert_object", &[]);
    let remove = built("remove_object", &[]);
    let couple = [car[0], found(1, bounds(15.0, 15.0, 30.0, 30.0))];
    for (fault, there, supply, wanted) in [
        (&insert, &[][..], &cars, Reason::GoldenEmpty),
        (&insert, &car[..], &dogs, Reason::NoObject),
        (&insert, &large[..], &cars, Reason::NoRoom),
        (&remove, &[][..], &cars, Reason::GoldenEmpty),
        (&remove, &couple[..], &cars, Reason::NoRoom),
    ] {
        let view =
            View { repeat: 0, image: &road, found: there, names: &names, masks: &[], supply };
        assert_eq!(draw(fault.as_ref(), &view, 1).err(), Some(wanted));
    }
    let nan = [found(0, bounds(f32::NAN, f32::NAN, f32::NAN, f32::NAN))];
    let view =
        View { repeat: 0, image: &road, found: &nan, names: &names, masks: &[], supply: &cars };
    // A box that is none has no place beside it.
    assert_eq!(draw(insert.as_ref(), &view, 1).err(), Some(Reason::NoRoom));
    assert_eq!(draw(remove.as_ref(), &view, 1).err(), Some(Reason::NoRoom));
    let vast = [found(0, bounds(0.0, 0.0, 16_000.0, 16_000.0))];
    let view = View { found: &vast, ..view };
    assert_eq!(draw(insert.as_ref(), &view, 1).err(), Some(Reason::NoRoom));
}

#[test]
fn what_is_found_of_the_touched_thing_is_told_from_the_rest() {
    let touched = Touched {
        class: 0,
        label: "car".to_owned(),
        bounds: bounds(10.0, 10.0, 30.0, 30.0),
        object: None,
        beside: None,
    };
    for (one, wanted) in [
        (found(0, bounds(10.0, 10.0, 30.0, 30.0)), true),
        // Another class, centred on it.
        (found(1, bounds(15.0, 15.0, 25.0, 25.0)), true),
        (found(0, bounds(31.0, 10.0, 51.0, 30.0)), false),
        // Beside it, reaching over a part of it.
        (found(1, bounds(25.0, 10.0, 45.0, 30.0)), false),
    ] {
        assert_eq!(touched.is(&one), wanted, "{one:?}");
    }
}

#[test]
fn a_box_around_an_inserted_object_is_its_own_answer() {
    let own = bounds(40.0, 40.0, 60.0, 60.0);
    let scene = |stays: &[Detection], inserted: bool| Scene {
        image: image(1, 1, ROAD),
        touched: Touched {
            class: 0,
            label: "car".to_owned(),
            bounds: own,
            object: None,
            beside: None,
        },
        stays: stays.to_vec(),
        inserted: Red(&["car"]).object("car", &[]).filter(|_| inserted),
    };
    // Beside the object, of its class: smaller and larger than it.
    let small = found(0, bounds(62.0, 45.0, 72.0, 55.0));
    let large = found(0, bounds(62.0, 10.0, 122.0, 90.0));
    let wide = bounds(38.0, 5.0, 64.0, 62.0);
    for (what, one, stays, inserted, wanted) in [
        ("encloses it", found(0, wide), &[][..], true, true),
        ("of another class", found(1, wide), &[], true, false),
        ("nothing came", found(0, wide), &[], false, false),
        ("covers four fifths", found(0, bounds(44.0, 0.0, 90.0, 60.0)), &[], true, true),
        ("covers seven tenths", found(0, bounds(46.0, 0.0, 90.0, 60.0)), &[], true, false),
        ("it and a smaller one", found(0, bounds(38.0, 10.0, 90.0, 62.0)), &[small], true, true),
        ("it and a larger one", found(0, bounds(40.0, 10.0, 122.0, 90.0)), &[large], true, false),
        ("no box", found(0, bounds(f32::NAN, 0.0, 90.0, 90.0)), &[], true, false),
    ] {
        // By the overlap or the centre, none of them would be.
        assert!(!scene(stays, inserted).touched.is(&one), "{what}");
        let (own, rest) = scene(stays, inserted).parted(vec![one]);
        assert_eq!((own.len(), rest.len()), if wanted { (1, 0) } else { (0, 1) }, "{what}");
    }
    // A neighbour that was found again needs no second box.
    let both = found(0, bounds(40.0, 10.0, 122.0, 90.0));
    let again = found(0, bounds(63.0, 11.0, 121.0, 90.0));
    let (own, rest) = scene(&[large], true).parted(vec![again, both]);
    assert_eq!((own, rest), (vec![both], vec![again]));
}

#[test]
fn an_object_goes_and_its_place_is_filled() {
    let mut road = image(60, 40, ROAD);
    let pixels = road.rgb_mut().as_chunks_mut::<3>().0;
    for y in 10..20 {
        pixels[y * 60 + 10..y * 60 + 20].fill(RED);
    }
    let there = [found(0, bounds(10.0, 10.0, 20.0, 20.0)), found(1, bounds(40.0, 5.0, 50.0, 30.0))];
    let names = names();
    let bits =
        (0..60 * 40).map(|at| (10..20).contains(&(at % 60)) && (10..20).contains(&(at / 60)));
    let mask = Mask::new(60, bits.collect()).unwrap();
    let masks = [(there[0].bounds, &mask)];
    let remove = built("remove_object", &[]);
    for masks in [&masks[..], &[]] {
        let supply = Red(&[]);
        let view =
            View { repeat: 0, image: &road, found: &there, names: &names, masks, supply: &supply };
        let scene = draw(remove.as_ref(), &view, 1).unwrap();
        let other = draw(remove.as_ref(), &View { repeat: 1, ..view }, 1).unwrap();
        assert_eq!((scene.touched.class, other.touched.class), (0, 1));
        let third = draw(remove.as_ref(), &View { repeat: 2, ..view }, 1);
        assert_eq!(third.err(), Some(Reason::TooFewObjects));
        assert_eq!(scene.image, image(60, 40, ROAD));
        assert_eq!(scene.stays, there[1..]);
        assert!(scene.at(&view, [5.0, 5.0]).is_none(), "nothing came that could go elsewhere");
    }
}

/// The shares of the way that are tried, where answers are disturbed up to `last`.
fn tried(last: f64, length: f32) -> (Vec<f64>, f64) {
    let road = image(1000, 100, ROAD);
    let names = names();
    let there = [found(0, bounds(0.0, 0.0, 12.0, 12.0))];
    let supply = Red(&["car"]);
    let view =
        View { repeat: 0, image: &road, found: &there, names: &names, masks: &[], supply: &supply };
    let scene = draw(built("insert_object", &[]).as_ref(), &view, 1).unwrap();
    let from = centre(&scene.touched.bounds);
    let Some(mut way) = Relocation::new(&scene, [from[0] + length, from[1]]) else {
        return (Vec::new(), 0.0);
    };
    let mut shares = Vec::new();
    while let Some((share, _)) = way.next() {
        shares.push(share);
        way.tell(share, share <= last);
    }
    (shares, way.share())
}

#[test]
fn the_way_is_halved_until_places_are_close() {
    // The object is 12×12: places closer than 12·√2/6 = 2.83 pixels are the same.
    assert_eq!(tried(1.0, 100.0), (vec![1.0], 1.0));
    let (shares, done) = tried(0.0, 24.0);
    assert_eq!((shares, done), (vec![1.0, 0.5, 0.25, 0.125], 0.0));
    let (shares, done) = tried(0.6, 24.0);
    assert_eq!((shares, done), (vec![1.0, 0.5, 0.75, 0.625], 0.5));
    assert_eq!(tried(1.0, 2.0), (vec![], 0.0), "it stands there already");
}

#[test]
fn destinations_are_what_is_set() {
    let road = image(200, 100, ROAD);
    let names = names();
    let there = [found(0, bounds(0.0, 0.0, 20.0, 20.0)), found(0, bounds(60.0, 40.0, 100.0, 80.0))];
    let supply = Red(&["car"]);
    let view =
        View { repeat: 0, image: &road, found: &there, names: &names, masks: &[], supply: &supply };
    let towards = |set: &[(&'static str, Setting)]| built("insert_object", set).destination(&view);
    assert_eq!(towards(&[]), Some([45.0, 35.0]));
    assert_eq!(towards(&[("towards", word("centre"))]), Some([100.0, 50.0]));
    assert_eq!(towards(&[("towards", word("nowhere"))]), None);
    let point = [
        ("towards", word("point")),
        ("towards_x", Setting::Number(0.25)),
        ("towards_y", Setting::Number(1.0)),
    ];
    assert_eq!(towards(&point), Some([50.0, 100.0]));
    let plugin = SCENE_FAULTS.iter().find(|plugin| plugin.name == "insert_object").unwrap();
    let mut settings = Settings::default();
    settings.set("placing", word("guided"));
    settings.set("towards", word("point"));
    assert!((plugin.build)(&settings).is_err());
}
