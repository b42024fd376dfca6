//! Blocks as elements of the page. Every text is escaped here; only finished drawings go in as
//! they are.

mod frame;
mod pictures;

use crate::document::{
    Block, Cell, Chart, Column, Document, Group, Header, Key, KeyFigure, Kind, Mark, Part, Plot,
    Row, Table,
};
use crate::escape::{plain, xml};
use crate::image::Album;
use crate::svg::line_sample;
use faultlens_analysis::Verdict;
use faultlens_analysis::format::{capitalised, counted};
use std::fmt::Write as _;
use std::path::Path;

/// Findings below the first that a page shows at once.
const FINDINGS: usize = 3;

/// The document as one page that loads nothing. Pictures come from below `dir`, where there is one.
pub(crate) fn page(document: &Document, dir: Option<&Path>) -> String {
    let mut album = Album::new(dir.unwrap_or(Path::new("")));
    pictures::load(document, &mut album);
    let mut writer = Writer { out: String::new(), album: &mut album, cards: 0 };
    writer.header(&document.header);
    writer.navigation(&document.parts);
    for row in document.parts.chunk_by(|left, right| left.shares_row && right.shares_row) {
        writer.row_of_parts(row);
    }
    let body = writer.out;
    frame::around(&body, &document.header, &album.images())
}

/// The text for an element or a quoted attribute. Characters that would act instead of being shown
/// are replaced by a visible sign.
fn escaped(text: &str) -> String {
    xml(&plain(text))
}

/// The class and the sign of a verdict, so that colour is never all there is.
fn sign(verdict: Verdict) -> (&'static str, &'static str) {
    match verdict {
        Verdict::Met => ("met", "✓"),
        Verdict::Inconclusive => ("inconclusive", "?"),
        Verdict::NotMet => ("not-met", "✕"),
    }
}

/// A rectangle in the colour of a class of the style sheet.
fn swatch(class: &str) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"swatch\" width=\"18\" height=\"14\" \
         aria-hidden=\"true\"><rect class=\"{}\" x=\"1\" y=\"1\" width=\"16\" height=\"12\"/></svg>",
        escaped(class)
    )
}

struct Writer<'a> {
    out: String,
    album: &'a mut Album,
    /// Cards so far, which have a number each.
    cards: usize,
}

impl Writer<'_> {
    fn push(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn header(&mut self, header: &Header) {
        let _ = write!(
            self.out,
            "<section class=\"hero\" aria-labelledby=\"title\">\n<p class=\"kicker\">{}</p>\n<h1 \
             id=\"title\"><bdi>{}</bdi></h1>\n",
            header.kind,
            escaped(&header.title)
        );
        if let Some((verdict, text)) = &header.verdict {
            let (class, sign) = sign(*verdict);
            let _ = writeln!(
                self.out,
                "<p class=\"verdict {class}\"><span class=\"sign\" aria-hidden=\"true\"><span>{sign}\
                 </span></span> {}</p>",
                escaped(&capitalised(text))
            );
        }
        let (lead, more) = match header.findings.split_first() {
            _ if !header.lead.is_empty() => (header.lead.as_str(), &header.findings[..]),
            Some((first, others)) => (first.as_str(), others),
            None => ("No findings yet.", &[][..]),
        };
        let _ = writeln!(self.out, "<p class=\"lead\">{}</p>", escaped(lead));
        if !header.population.is_empty() {
            let _ =
                writeln!(self.out, "<p class=\"population\">{}</p>", escaped(&header.population));
        }
        let (shown, folded) = more.split_at(more.len().min(FINDINGS));
        if !shown.is_empty() {
            self.list("findings", shown);
        }
        if !folded.is_empty() {
            let findings = counted(folded.len() as u64, "more finding");
            let _ = writeln!(self.out, "<details><summary>{findings}</summary>");
            self.list("findings", folded);
            self.push("</details>\n");
        }
        self.push("</section>\n\n");
        if !header.figures.is_empty() {
            self.figures(&header.figures);
        }
    }

    fn figures(&mut self, figures: &[KeyFigure]) {
        self.push(
            "<section aria-labelledby=\"figures-h\">\n<h2 id=\"figures-h\" class=\"unseen\">Key \
             figures</h2>\n<dl class=\"figures\">\n",
        );
        for figure in figures {
            let _ = writeln!(
                self.out,
                "<div><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"note\">{}</dd></div>",
                escaped(&figure.name),
                escaped(&figure.value),
                escaped(&figure.note)
            );
        }
        self.push("</dl>\n</section>\n\n");
    }

    fn navigation(&mut self, parts: &[Part]) {
        if parts.is_empty() {
            return;
        }
        self.push("<nav aria-label=\"Sections\" class=\"contents\"><ul>");
        for part in parts {
            let id = escaped(&part.id);
            let title = escaped(&part.title);
            let _ = write!(self.out, "<li><a href=\"#{id}\">{title}</a></li>");
        }
        self.push("</ul></nav>\n\n");
    }

    /// Sections that share a row, or a single one.
    fn row_of_parts(&mut self, parts: &[Part]) {
        let shared = parts.len() > 1;
        if shared {
            self.push("<div class=\"side\">\n");
        }
        for part in parts {
            self.part(part);
        }
        if shared {
            self.push("</div>\n\n");
        }
    }

    fn part(&mut self, part: &Part) {
        let id = escaped(&part.id);
        let title = escaped(&part.title);
        let _ = writeln!(self.out, "<section id=\"{id}\" aria-labelledby=\"{id}-h\">");
        let heading = format!("<h2 id=\"{id}-h\">{title}</h2>");
        if part.folded {
            let _ = writeln!(self.out, "<details class=\"part\"><summary>{heading}</summary>");
            self.block(&part.block, 3);
            self.push("</details>\n</section>\n\n");
        } else {
            self.push(&heading);
            self.push("\n");
            self.block(&part.block, 3);
            self.push("</section>\n\n");
        }
    }

    /// A block; titles of groups in it are headings of this level.
    fn block(&mut self, block: &Block, level: usize) {
        match block {
            Block::Prose(prose) => {
                let class = if prose.note { "small" } else { "intro" };
                let text = escaped(&prose.text);
                let _ = writeln!(self.out, "<p class=\"{class}\">{text}</p>");
            }
            Block::List(lines) => self.list("method", lines),
            Block::Facts(facts) => self.facts(facts),
            Block::Table(table) => self.table(table),
            Block::Chart(chart) => self.chart(chart),
            Block::Charts(charts) => {
                self.push("<div class=\"multiples\">\n");
                for chart in charts {
                    self.chart(chart);
                }
                self.push("</div>\n");
            }
            Block::Legend(keys) => self.legend(keys),
            Block::Pictures(pictures) => self.pictures(pictures),
            Block::Beside(blocks) => {
                self.push("<div class=\"beside\">\n");
                for block in blocks {
                    self.push("<div>");
                    self.block(block, level);
                    self.push("</div>\n");
                }
                self.push("</div>\n");
            }
            Block::Group(group) => self.group(group, level),
        }
    }

    fn group(&mut self, group: &Group, level: usize) {
        let title = group.title.as_deref().map(escaped);
        let id = group.id.as_deref().map(|id| format!(" id=\"{}\"", escaped(id)));
        let id = id.unwrap_or_default();
        match title {
            None => {
                for block in &group.blocks {
                    self.block(block, level);
                }
            }
            Some(title) if group.folded => {
                let _ = writeln!(self.out, "<details{id}><summary><bdi>{title}</bdi></summary>");
                for block in &group.blocks {
                    self.block(block, level);
                }
                self.push("</details>\n");
            }
            Some(title) => {
                let _ = writeln!(
                    self.out,
                    "<div{id} class=\"group\">\n<h{level} class=\"sub\"><bdi>{title}</bdi></h{level}>"
                );
                for block in &group.blocks {
                    self.block(block, level + 1);
                }
                self.push("</div>\n");
            }
        }
    }

    fn list(&mut self, class: &str, lines: &[String]) {
        let _ = write!(self.out, "<ul class=\"{class}\">");
        for line in lines {
            let _ = write!(self.out, "<li>{}</li>", escaped(line));
        }
        self.push("</ul>\n");
    }

    fn facts(&mut self, facts: &[(String, String)]) {
        self.push("<dl class=\"provenance\">");
        for (name, value) in facts {
            let _ = write!(
                self.out,
                "<div><dt>{}</dt><dd><bdi>{}</bdi></dd></div>",
                escaped(name),
                escaped(value)
            );
        }
        self.push("</dl>\n");
    }

    fn legend(&mut self, keys: &[Key]) {
        if keys.is_empty() {
            return;
        }
        self.push("<ul class=\"legend\" aria-label=\"Legend\">");
        for key in keys {
            let mark = match &key.mark {
                Mark::Line(style) => line_sample(*style),
                Mark::Swatch(class) => swatch(class),
            };
            let _ = write!(self.out, "<li>{mark} <bdi>{}</bdi></li>", escaped(&key.text));
        }
        self.push("</ul>");
    }

    fn chart(&mut self, chart: &Chart) {
        let class = match chart.plot {
            Plot::Whole => "whole",
            Plot::Dots => "plot-dots",
            Plot::Lines => "plot-lines",
            Plot::Xy => "plot-xy",
        };
        let _ = write!(self.out, "<figure class=\"{class}\">");
        if let Some(title) = &chart.title {
            let _ = write!(self.out, "<p class=\"plot-title\"><bdi>{}</bdi></p>", escaped(title));
        }
        self.legend(&chart.legend);
        self.push(&chart.svg);
        if let Some(caption) = &chart.caption {
            let _ = write!(self.out, "<figcaption>{}</figcaption>", escaped(caption));
        }
        if !chart.notes.is_empty() {
            self.list("method small", &chart.notes);
        }
        self.push("</figure>\n");
    }

    fn table(&mut self, table: &Table) {
        let caption = escaped(&table.caption);
        let sortable = if table.sortable { Some("sortable") } else { None };
        let classes: Vec<&str> = sortable.into_iter().chain(table.class).collect();
        let class = if classes.is_empty() {
            String::new()
        } else {
            format!(" class=\"{}\"", classes.join(" "))
        };
        // The box scrolls on its own, so the keyboard must be able to reach it.
        let _ = write!(
            self.out,
            "<div class=\"box tall\" role=\"region\" aria-label=\"{caption}\" tabindex=\"0\">\n\
             <table{class}>\n<caption class=\"unseen\">{caption}</caption>\n<thead><tr>"
        );
        for column in &table.columns {
            self.column(column);
        }
        self.push("</tr></thead>\n<tbody>\n");
        for row in &table.rows {
            self.row(row, &table.columns);
        }
        self.push("</tbody>");
        if !table.totals.is_empty() {
            self.push("\n<tfoot>");
            for row in &table.totals {
                self.row(row, &table.columns);
            }
            self.push("</tfoot>");
        }
        self.push("</table></div>\n");
    }

    fn column(&mut self, column: &Column) {
        let title = escaped(&column.title);
        let _ = match column.kind {
            Kind::Number => {
                write!(self.out, "<th scope=\"col\" class=\"n\"><bdi>{title}</bdi></th>")
            }
            Kind::Drawing => {
                write!(self.out, "<th scope=\"col\"><span class=\"unseen\">{title}</span></th>")
            }
            Kind::Name | Kind::Text => {
                write!(self.out, "<th scope=\"col\"><bdi>{title}</bdi></th>")
            }
        };
    }

    fn row(&mut self, row: &Row, columns: &[Column]) {
        self.push(match (row.part, row.chosen) {
            (true, _) => "<tr class=\"part\">",
            (false, Some(_)) => "<tr class=\"chosen\">",
            (false, None) => "<tr>",
        });
        for (cell, column) in row.cells.iter().zip(columns) {
            let mark = row.chosen.filter(|_| column.kind == Kind::Name);
            self.cell(cell, column.kind, mark);
        }
        self.push("</tr>\n");
    }

    /// A cell; `mark` stands behind the name of a row that is marked among the others.
    fn cell(&mut self, cell: &Cell, kind: Kind, mark: Option<&str>) {
        let mut classes: Vec<String> = Vec::new();
        match kind {
            Kind::Number => classes.push("n".into()),
            Kind::Drawing => classes.push(match cell.verdict {
                Some(verdict) => format!("drawing {}", sign(verdict).0),
                None => "drawn".into(),
            }),
            Kind::Name | Kind::Text => {}
        }
        classes.extend(cell.shade.map(|step| format!("shade{step}")));
        self.push(if kind == Kind::Name { "<th scope=\"row\"" } else { "<td" });
        if !classes.is_empty() {
            let _ = write!(self.out, " class=\"{}\"", classes.join(" "));
        }
        if let Some(value) = cell.sort {
            let _ = match value {
                // As scripts write it; Rust says `inf`.
                f64::INFINITY => write!(self.out, " data-v=\"Infinity\""),
                f64::NEG_INFINITY => write!(self.out, " data-v=\"-Infinity\""),
                value => write!(self.out, " data-v=\"{value}\""),
            };
        }
        if let Some(hint) = &cell.hint {
            let _ = write!(self.out, " title=\"{}\"", escaped(hint));
        }
        self.push(">");
        self.push(&cell.swatch.map(swatch).unwrap_or_default());
        let mut text = escaped(&cell.text);
        if let Some(id) = &cell.link {
            text = format!("<a href=\"#{}\">{text}</a>", escaped(id));
        }
        let _ = match (kind, cell.verdict) {
            (Kind::Drawing, _) => write!(self.out, "{}", cell.svg.as_deref().unwrap_or_default()),
            (_, Some(verdict)) => {
                let (class, sign) = sign(verdict);
                write!(
                    self.out,
                    "<span class=\"badge {class}\"><span aria-hidden=\"true\">{sign}</span> {text}\
                     </span>"
                )
            }
            (Kind::Number, None) => write!(self.out, "{text}"),
            (Kind::Name | Kind::Text, None) => write!(self.out, "<bdi>{text}</bdi>"),
        };
        if let Some(mark) = mark {
            let _ = write!(self.out, " <span class=\"badge met\">{mark}</span>");
        }
        if let Some(note) = &cell.note {
            let _ = write!(self.out, "<span class=\"why\"><bdi>{}</bdi></span>", escaped(note));
        }
        self.push(if kind == Kind::Name { "</th>" } else { "</td>" });
    }
}
