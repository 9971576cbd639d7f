//! Charts: cycles against bytes with the Pareto front, and cycles against size in double logarithmic scale.

use plotters::coord::Shift;
use plotters::prelude::*;

/// A point of a chart.
#[derive(Clone, PartialEq, Debug)]
pub struct Point {
    pub x: f64,
    pub y: f64,
    /// What it is, beside it.
    pub name: String,
    /// Is it on the front: does no other take less of both?
    pub front: bool,
}

/// Points of one name.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

const SIZE: (u32, u32) = (880, 520);

/// Colours that the colour-blind tell apart (Okabe and Ito 2008), for lines in this order.
const COLOURS: [RGBColor; 6] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(86, 120, 0),
    RGBColor(80, 80, 80),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// `text` as SVG, drawn on `draw`'s area; described for whoever does not see it.
fn drawn(
    description: &str,
    draw: impl FnOnce(&Area<'_>) -> Result<(), String>,
) -> Result<String, String> {
    let mut text = String::new();
    {
        let area = SVGBackend::with_string(&mut text, SIZE).into_drawing_area();
        area.fill(&WHITE).map_err(|e| e.to_string())?;
        draw(&area)?;
        area.present().map_err(|e| e.to_string())?;
    }
    let label = lozenge::draw::elements::escaped(description);
    let named = format!("<svg role=\"img\" aria-label=\"{label}\" ");
    Ok(text.replacen("<svg ", &named, 1))
}

/// The least and the largest value, with a margin as in a logarithmic scale.
fn range(values: impl Iterator<Item = f64>) -> std::ops::Range<f64> {
    let (mut least, mut most) = (f64::INFINITY, 0f64);
    for value in values {
        (least, most) = (least.min(value), most.max(value));
    }
    match least.is_finite() {
        true => (least / 1.25).max(0.5)..(most * 1.6).max(2.0),
        false => 1.0..10.0,
    }
}

/// The names of points, but for those that would stand on another.
fn apart(points: Vec<&Point>) -> Vec<String> {
    let mut told: Vec<(f64, f64)> = Vec::new();
    let name = |p: &Point| {
        let place = (p.x.ln(), p.y.ln());
        let near = |(x, y): &(f64, f64)| (place.0 - x).abs() < 0.9 && (place.1 - y).abs() < 0.12;
        if told.iter().any(near) {
            return String::new();
        }
        told.push(place);
        p.name.clone()
    };
    points.into_iter().map(name).collect()
}

/// Cycles against bytes: a dot for each kernel, a line through the front.
///
/// # Errors
/// When it cannot be drawn.
pub fn front(title: &str, points: &[Point]) -> Result<String, String> {
    let best = points.iter().filter(|p| p.front);
    let list: Vec<_> = best
        .clone()
        .map(|p| format!("{} ({} bytes, {} cycles)", p.name, p.x, p.y))
        .collect();
    let description = format!("{title}. On the front: {}", list.join("; "));
    drawn(&description, |area| {
        let x = range(points.iter().map(|p| p.x));
        let y = range(points.iter().map(|p| p.y));
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 18))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(76)
            .build_cartesian_2d(x.log_scale(), y.log_scale())
            .map_err(|e| e.to_string())?;
        let mesh = chart
            .configure_mesh()
            .x_desc("bytes of code")
            .y_desc("cycles of a call, at most")
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| format!("{y:.0}"))
            .light_line_style(TRANSPARENT)
            .x_labels(7)
            .draw();
        mesh.map_err(|e| e.to_string())?;
        let mut line: Vec<_> = best.clone().map(|p| (p.x, p.y)).collect();
        line.sort_by(|a, b| a.0.total_cmp(&b.0));
        let style = COLOURS[1].stroke_width(2);
        let drawn = chart.draw_series(LineSeries::new(line, style));
        drawn.map_err(|e| e.to_string())?;
        let rest = points.iter().filter(|p| !p.front);
        let rest = rest.map(|p| Circle::new((p.x, p.y), 4, COLOURS[0].mix(0.55).filled()));
        chart.draw_series(rest).map_err(|e| e.to_string())?;
        let names = apart(best.clone().collect());
        let dots = best.clone().zip(names).map(|(p, name)| {
            EmptyElement::at((p.x, p.y))
                + TriangleMarker::new((0, 0), 7, COLOURS[1].filled())
                + Text::new(name, (8, -14), ("sans-serif", 12))
        });
        chart.draw_series(dots).map_err(|e| e.to_string())?;
        Ok(())
    })
}

/// Cycles against bits: a line for each series.
///
/// # Errors
/// When it cannot be drawn.
pub fn growth(title: &str, series: &[Series]) -> Result<String, String> {
    let one = |s: &Series| {
        let points = s.points.iter().map(|(x, y)| format!("{x} bits {y}"));
        format!("{}: {}", s.name, points.collect::<Vec<_>>().join(", "))
    };
    let description = format!(
        "{title}. {}",
        series.iter().map(one).collect::<Vec<_>>().join("; ")
    );
    drawn(&description, |area| {
        let all = || series.iter().flat_map(|s| s.points.iter());
        let (x, y) = (range(all().map(|p| p.0)), range(all().map(|p| p.1)));
        let mut chart = ChartBuilder::on(area)
            .caption(title, ("sans-serif", 18))
            .margin(14)
            .x_label_area_size(46)
            .y_label_area_size(76)
            .build_cartesian_2d(x.log_scale(), y.log_scale())
            .map_err(|e| e.to_string())?;
        let mesh = chart
            .configure_mesh()
            .x_desc("bits of an operand")
            .y_desc("cycles of a call, at most")
            .x_label_formatter(&|x| format!("{x:.0}"))
            .y_label_formatter(&|y| format!("{y:.0}"))
            .light_line_style(TRANSPARENT)
            .x_labels(7)
            .draw();
        mesh.map_err(|e| e.to_string())?;
        for (i, s) in series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            let line =
                LineSeries::new(s.points.iter().copied(), colour.stroke_width(2)).point_size(4);
            let legend = chart.draw_series(line).map_err(|e| e.to_string())?;
            legend.label(s.name.clone()).legend(move |(x, y)| {
                PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(3))
            });
        }
        let labels = chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .background_style(WHITE.mix(0.9))
            .border_style(RGBColor(200, 200, 200))
            .label_font(("sans-serif", 13))
            .draw();
        labels.map_err(|e| e.to_string())
    })
}
