//! Image faults without a campaign: `fault` and `preview`, on good images and bad ones.

use crate::folder::Folder;
use image::{DynamicImage, ImageBuffer, Luma, Rgb, RgbImage, Rgba};

/// A picture with something to see in it.
fn picture(width: u32, height: u32) -> RgbImage {
    let pixel =
        |x: u32, y: u32| Rgb([(x * 7 % 256) as u8, (y * 11 % 256) as u8, ((x + y) % 200) as u8]);
    ImageBuffer::from_fn(width, height, pixel)
}

fn done(folder: &Folder, args: &str) -> String {
    let run = folder.run(args);
    assert_eq!(run.status, 0, "{args}: {}", run.stderr);
    run.stdout
}

fn pixels(folder: &Folder, name: &str) -> RgbImage {
    image::open(folder.path(name)).unwrap().to_rgb8()
}

#[test]
fn the_same_seed_gives_the_same_pixels_alone_and_in_a_folder() {
    let folder = Folder::new("images_seed");
    std::fs::create_dir_all(folder.path("in/deep")).unwrap();
    for name in ["in/a.png", "in/b.png", "in/deep/c.png"] {
        picture(40, 30).save(folder.path(name)).unwrap();
    }
    folder.text("in/notes.txt", "no image");
    done(&folder, "fault in/a.png --fault gaussian_noise --severity 4 --seed 9 -o alone.png");
    for threads in [1, 3] {
        let args = "fault in --fault gaussian_noise --severity 4 --seed 9";
        let said = done(&folder, &format!("{args} -o out{threads} --threads {threads} --json"));
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!((said["written"].as_u64(), said["left_out"].as_u64()), (Some(3), Some(0)));
    }
    let alone = pixels(&folder, "alone.png");
    assert_eq!(alone, pixels(&folder, "out1/a.png"));
    for name in ["a.png", "b.png", "deep/c.png"] {
        let [one, three] = ["out1", "out3"].map(|out| pixels(&folder, &format!("{out}/{name}")));
        assert_eq!(one, three, "{name}");
    }
    assert_ne!(alone, pixels(&folder, "out1/b.png"), "each image has its own numbers");
    done(&folder, "fault in/a.png --fault gaussian_noise --severity 4 --seed 8 -o other.png");
    assert_ne!(alone, pixels(&folder, "other.png"));
}

#[test]
fn every_kind_of_image_is_taken() {
    let folder = Folder::new("images_kinds");
    let grey16 = ImageBuffer::from_fn(20, 10, |x, y| Luma([(x * 3000 + y) as u16]));
    DynamicImage::ImageLuma16(grey16).save(folder.path("grey16.png")).unwrap();
    let clear = ImageBuffer::from_fn(20, 10, |x, y| Rgba([x as u8, y as u8, 9, (x * 12) as u8]));
    DynamicImage::ImageRgba8(clear).save(folder.path("clear.png")).unwrap();
    for (name, (width, height)) in [("dot.png", (1, 1)), ("small.png", (8, 8)), ("a.jpg", (33, 17))]
    {
        picture(width, height).save(folder.path(name)).unwrap();
    }
    for name in ["grey16.png", "clear.png", "dot.png", "small.png", "a.jpg"] {
        for fault in ["motion_blur", "elastic_transform", "snow", "jpeg_compression"] {
            done(&folder, &format!("fault {name} --fault {fault} --severity 5 -o out.png"));
            let size = image::image_dimensions(folder.path(name)).unwrap();
            assert_eq!(image::image_dimensions(folder.path("out.png")).unwrap(), size, "{name}");
        }
    }
    for ending in ["jpg", "bmp", "webp"] {
        done(&folder, &format!("fault small.png --fault fog --severity 1 -o out.{ending}"));
        assert_eq!(image::image_dimensions(folder.path(&format!("out.{ending}"))).unwrap(), (8, 8));
    }
}

#[test]
fn what_cannot_be_done_is_told() {
    let folder = Folder::new("images_wrong");
    picture(40, 30).save(folder.path("a.png")).unwrap();
    let whole = std::fs::read(folder.path("a.png")).unwrap();
    folder.bytes("cut.png", &whole[..whole.len() / 2]);
    // A header of 30,000×30,000 pixels on a file of a few bytes.
    let mut huge = b"BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0".to_vec();
    huge.extend([30_000u32, 30_000].map(u32::to_le_bytes).concat());
    huge.extend(b"\x01\0\x18\0\0\0\0\0\x10\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    huge.extend([0; 16]);
    let palette = include_bytes!("../../../../data/tests/fixtures/hostile/palette.png");
    folder
        .bytes("huge.bmp", &huge)
        .bytes("palette.png", palette)
        .text("empty.png", "")
        .text("text.png", "no image at all");
    for (args, wanted) in [
        ("cut.png --fault fog --severity 1 -o o.png", "truncated"),
        ("huge.bmp --fault fog --severity 1 -o o.png", "too large"),
        ("palette.png --fault fog --severity 1 -o o.png", "damaged"),
        ("empty.png --fault fog --severity 1 -o o.png", "empty"),
        ("text.png --fault fog --severity 1 -o o.png", "no PNG, JPEG, WebP or BMP"),
        ("none.png --fault fog --severity 1 -o o.png", "none.png"),
        ("a.png --fault fog --severity 0 -o o.png", "from 1 to 5"),
        ("a.png --fault fog --severity 6 -o o.png", "from 1 to 5"),
        ("a.png --fault fog -o o.png", "set severity (1 to 5), or density and decay"),
        ("a.png --fault fogg --severity 1 -o o.png", "did you mean \"fog\"?"),
        ("a.png --fault zero -o o.png", "a fault inside models"),
        ("a.png --fault fog --set density=x --set decay=2 -o o.png", "density takes a number"),
        ("a.png --fault fog --set dens=1 -o o.png", "has no parameter \"dens\""),
        ("a.png --fault fog --severity 1 -o o.gif", ".png, .jpg, .webp or .bmp"),
        ("a.png --fault fog --severity 1 -o a.png", "would replace"),
        ("a.png --fault fog --severity 1 -o none/o.png", "none/o.png"),
    ] {
        let run = folder.run(&format!("fault {args}"));
        assert_eq!(run.status, 2, "{args}: {}", run.stdout);
        assert!(run.stderr.contains(wanted), "{args}: {}", run.stderr);
        assert!(!run.stderr.contains("panicked"), "{args}: {}", run.stderr);
    }
    assert_eq!(std::fs::read(folder.path("a.png")).unwrap(), whole);
}

#[test]
fn a_folder_with_bad_images_keeps_the_good_ones() {
    let folder = Folder::new("images_mixed");
    std::fs::create_dir_all(folder.path("in")).unwrap();
    picture(40, 30).save(folder.path("in/a.png")).unwrap();
    folder.text("in/b.png", "no image at all");
    let run = folder.run("fault in --fault fog --severity 2 -o out");
    assert_eq!(run.status, 2, "{}", run.stderr);
    assert!(run.stderr.contains("b.png") && folder.path("out/a.png").exists(), "{}", run.stderr);
    let inside = folder.run("fault in --fault fog --severity 2 -o in/out");
    assert!(inside.status == 2 && inside.stderr.contains("among the images"), "{}", inside.stderr);
    let empty = folder.run("fault out/none --fault fog --severity 2 -o other");
    assert_eq!(empty.status, 2, "{}", empty.stderr);
}

#[test]
fn a_sheet_shows_every_fault() {
    let folder = Folder::new("images_sheet");
    picture(60, 40).save(folder.path("a<b>.png")).unwrap();
    done(&folder, "preview a<b>.png --size 48");
    let page = std::fs::read_to_string(folder.path("preview.html")).unwrap();
    for plugin in faultlens::faults::IMAGE_FAULTS {
        assert!(page.contains(&format!("<section id=\"{}\"", plugin.name)), "{}", plugin.name);
    }
    assert!(!page.contains("a<b>"), "names are escaped");
    done(&folder, "preview a<b>.png -o s.png --fault fog --fault snow --severity 2 --size 48");
    let (width, height) = image::image_dimensions(folder.path("s.png")).unwrap();
    assert!(width >= 48 && height > 3 * 32, "{width}×{height}");
    for (args, wanted) in [
        ("preview a<b>.png --fault fogg", "did you mean \"fog\"?"),
        ("preview a<b>.png -o s.gif", ".png or an .html"),
        ("preview a<b>.png --severity 6", "6"),
    ] {
        let run = folder.run(args);
        assert!(run.status == 2 && run.stderr.contains(wanted), "{args}: {}", run.stderr);
    }
}

/// The page is made by an example, which nobody must forget to run.
#[test]
fn the_page_of_faults_has_all_of_them() {
    let root = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/faults.md")).unwrap();
    for plugin in faultlens::faults::IMAGE_FAULTS {
        let name = plugin.name;
        let (_, own) = page.split_once(&format!("\n## {name}\n")).unwrap_or(("", ""));
        let own = own.split("\n## ").next().unwrap();
        assert!(own.contains(&format!("(images/faults/{name}.jpg)")), "{name}");
        assert!(root.join(format!("docs/images/faults/{name}.jpg")).exists(), "{name}");
        for parameter in plugin.parameters {
            let row = format!("| `{}` |", parameter.name);
            assert!(own.contains(&row) && own.contains(parameter.about), "{name} {row}");
        }
    }
}
