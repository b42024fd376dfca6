//! Pictures of trials as elements of the page.

use super::{Writer, escaped, swatch};
use crate::document::{
    Block, Card, Document, Gallery, GalleryCell, InlinePicture, Line, Picture, Pictures, Stamp,
    TrialOutcome,
};
use crate::image::{Album, Room, base64};
use std::fmt::Write as _;

/// Takes every picture of the document into the album. What is shown largest comes first, so that
/// examples of failed trials find room before all others.
pub(super) fn load(document: &Document, album: &mut Album) {
    let mut found = Vec::new();
    for part in &document.parts {
        collect(&part.block, &mut found);
    }
    let mut wanted: Vec<(&str, Room)> = Vec::new();
    for (picture, room) in found {
        if let Ok(path) = &picture.source {
            wanted.push((path, room));
        }
    }
    wanted.sort_by_key(|(_, room)| *room);
    album.load(&wanted);
}

fn collect<'a>(block: &'a Block, found: &mut Vec<(&'a Picture, Room)>) {
    match block {
        Block::Pictures(pictures) => found.extend(pictures.each()),
        Block::Beside(blocks) => blocks.iter().for_each(|block| collect(block, found)),
        Block::Group(group) => group.blocks.iter().for_each(|block| collect(block, found)),
        Block::Prose(_)
        | Block::List(_)
        | Block::Facts(_)
        | Block::Table(_)
        | Block::Chart(_)
        | Block::Charts(_)
        | Block::Legend(_) => {}
    }
}

impl Writer<'_> {
    pub(super) fn pictures(&mut self, pictures: &Pictures) {
        match pictures {
            Pictures::Cards(cards) => self.cards(cards),
            Pictures::Stamps(stamps) => self.stamps(stamps),
            Pictures::Gallery(gallery) => self.gallery(gallery),
            Pictures::Strip(pictures) => self.strip(pictures),
        }
    }

    /// The drawing of a picture, or why there is none.
    fn drawing(&mut self, picture: &Picture) -> Result<String, &'static str> {
        self.album.show(picture.source.as_ref().map_err(|why| *why)?, &picture.alt)
    }

    fn figure(&mut self, picture: &Picture) {
        self.push("<figure>");
        match self.drawing(picture) {
            Ok(drawing) => self.push(&drawing),
            Err(why) => {
                let _ = write!(self.out, "<p class=\"absent\">{why}</p>");
            }
        }
        if let Some(caption) = picture.caption {
            let _ = write!(self.out, "<figcaption>{caption}</figcaption>");
        }
        self.push("</figure>");
    }

    fn cards(&mut self, cards: &[Card]) {
        if self.album.is_lesser() {
            self.push(
                "<p class=\"small\">Large images are scaled down here. The run directory keeps \
                 them in full size, and <code>replay</code> shows a trial again.</p>\n",
            );
        }
        self.push("<div class=\"cards\">\n");
        for card in cards {
            self.cards += 1;
            self.card(self.cards, card);
        }
        self.push("</div>\n");
    }

    fn card(&mut self, at: usize, card: &Card) {
        let (outcome, class) = &card.outcome;
        let _ = write!(
            self.out,
            "<article class=\"card\" aria-labelledby=\"trial-{at}\">\n<h3 \
             id=\"trial-{at}\"><bdi>{}</bdi></h3>\n<p class=\"outcome\">{}{}</p>\n",
            escaped(&card.title),
            swatch(class),
            escaped(outcome)
        );
        if !card.pictures.is_empty() {
            self.push(if card.wide {
                "<div class=\"images wide\">"
            } else {
                "<div class=\"images\">"
            });
            for picture in &card.pictures {
                self.figure(picture);
            }
            self.push("</div>\n");
        }
        self.push("<dl class=\"facts\">");
        for (name, values) in &card.facts {
            let _ = write!(self.out, "<div><dt>{name}</dt><dd>");
            for value in values {
                let _ = write!(
                    self.out,
                    "<span class=\"line-of\"><bdi>{}</bdi></span>",
                    escaped(value)
                );
            }
            self.push("</dd></div>");
        }
        self.push("</dl>\n<div class=\"answers\">");
        for (title, lines) in &card.predictions {
            self.prediction(title, lines);
        }
        let command = escaped(&card.command);
        let _ = write!(
            self.out,
            "</div>\n<p class=\"command\"><code>{command}</code></p>\n</article>\n"
        );
    }

    fn prediction(&mut self, title: &str, lines: &[Line]) {
        let _ = write!(self.out, "<div><h4>{title}</h4>");
        if lines.is_empty() {
            self.push("<p class=\"absent\">no prediction</p></div>");
            return;
        }
        self.push("<ol class=\"answer\">");
        for line in lines {
            let _ = write!(
                self.out,
                "<li><span class=\"what\"><bdi>{}</bdi></span> <span class=\"n\">{}</span>{}</li>",
                escaped(&line.label),
                escaped(&line.score),
                line.bar.as_deref().unwrap_or_default()
            );
        }
        self.push("</ol></div>");
    }

    fn stamps(&mut self, stamps: &[Stamp]) {
        let pairs = stamps.iter().any(|stamp| stamp.pictures.len() > 1);
        self.push(if pairs {
            "<ul class=\"classes pairs\">\n"
        } else {
            "<ul class=\"classes\">\n"
        });
        for stamp in stamps {
            self.push("<li><div class=\"images\">");
            for picture in &stamp.pictures {
                self.figure(picture);
            }
            self.push("</div>");
            let _ = write!(self.out, "<p><b><bdi>{}</bdi></b>", escaped(&stamp.name));
            for note in &stamp.notes {
                let _ = write!(self.out, "<span class=\"why\">{}</span>", escaped(note));
            }
            self.push("</p></li>\n");
        }
        self.push("</ul>\n");
    }

    fn strip(&mut self, pictures: &[InlinePicture]) {
        self.push("<div class=\"strip\">");
        for InlinePicture { jpeg, alt, caption } in pictures {
            let _ = write!(
                self.out,
                "<figure><img loading=\"lazy\" src=\"data:image/jpeg;base64,{}\" \
                 alt=\"{}\"/><figcaption>{}</figcaption></figure>",
                base64(jpeg),
                escaped(alt),
                escaped(caption)
            );
        }
        self.push("</div>\n");
    }

    fn gallery(&mut self, gallery: &Gallery) {
        let caption = escaped(&gallery.caption);
        let _ = write!(
            self.out,
            "<div class=\"box\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\"><table \
             class=\"gallery\">\n<caption class=\"unseen\">{caption}</caption>\n<thead><tr>"
        );
        for column in &gallery.columns {
            let _ = write!(self.out, "<th scope=\"col\"><bdi>{}</bdi></th>", escaped(column));
        }
        self.push("</tr></thead>\n<tbody>");
        for row in &gallery.rows {
            let _ = write!(self.out, "<tr aria-label=\"{}\">", escaped(&row.name));
            for cell in &row.cells {
                self.gallery_cell(cell);
            }
            self.push("</tr>\n");
        }
        self.push("</tbody>\n</table></div>\n");
    }

    fn gallery_cell(&mut self, cell: &GalleryCell) {
        self.push("<td>");
        for picture in &cell.pictures {
            match self.drawing(picture) {
                Ok(drawing) => self.push(&drawing),
                Err(why) => {
                    let _ = write!(self.out, "<span class=\"note\">{why}</span>");
                }
            }
            if let Some(caption) = picture.caption {
                let _ = write!(self.out, "<p class=\"below\">{caption}</p>");
            }
        }
        if let Some(TrialOutcome { class, name, why, number }) = &cell.outcome {
            let why = why.as_deref().map(|why| format!(": {}", escaped(why))).unwrap_or_default();
            let _ = write!(
                self.out,
                "<p class=\"ending\">{}<b>{}</b>{why} <span class=\"why\">trial {}</span></p>",
                swatch(class),
                escaped(name),
                escaped(number)
            );
        }
        self.push("</td>");
    }
}
