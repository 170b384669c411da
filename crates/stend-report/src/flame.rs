//! Flame graphs: a profile's stacks as a drawing, laid out by inferno.
//!
//! The page gets inferno's frames alone: its own style, script and search would stand on the page once for each drawing.

use anyhow::{Context as _, Result};
use inferno::flamegraph::color::{MultiPalette, Palette};
use inferno::flamegraph::{Options, from_lines};
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesStart, Event};

use stend_model::profile::Stacks;

/// The drawing's width in its own units; as wide as inferno takes care of texts for.
const WIDTH: usize = 1200;
/// What inferno leaves free on both sides.
const MARGIN: usize = 10;
/// Frames that are narrower than this, in percent, are left out.
pub const NARROWEST: f64 = 0.1;
/// What inferno calls a sample.
const SAMPLES: &str = "samples";

/// A drawing for the page.
pub(super) struct Flame {
    /// The drawing's own coordinates: left, top, width, height.
    pub(super) view: String,
    pub(super) frames: Vec<Frame>,
}

/// A box with its label.
#[derive(Default)]
pub(super) struct Frame {
    /// What is shown when the pointer rests on it.
    pub(super) title: String,
    pub(super) x: String,
    pub(super) y: String,
    pub(super) width: String,
    pub(super) height: String,
    pub(super) fill: String,
    /// As much of the function's name as fits; empty where nothing does.
    pub(super) label: String,
    pub(super) label_x: String,
    pub(super) label_y: String,
}

/// The drawing as a file of its own, which can be searched and zoomed into with a click.
pub fn standalone(stacks: &Stacks, title: &str) -> Result<String> {
    draw(stacks, title, NARROWEST)
}

/// The drawing for the page. Frames narrower than so many percent are left out.
pub(super) fn for_page(stacks: &Stacks, narrowest: f64) -> Result<Flame> {
    frames(&draw(stacks, "", narrowest)?)
}

fn draw(stacks: &Stacks, title: &str, narrowest: f64) -> Result<String> {
    let mut options = Options::default();
    options.title = title.to_owned();
    options.image_width = Some(WIDTH);
    options.min_width = narrowest;
    options.count_name = SAMPLES.to_owned();
    // Orange for what is marked as the kernel's, red for the rest; by name, so that the same profile is the same drawing.
    options.colors = Palette::Multi(MultiPalette::Java);
    options.deterministic = true;
    let mut drawing = Vec::new();
    from_lines(&mut options, stacks.folded.lines(), &mut drawing).context("the flame graph cannot be drawn")?;
    String::from_utf8(drawing).context("the flame graph is no text")
}

/// Takes the frames out of inferno's drawing.
fn frames(drawing: &str) -> Result<Flame> {
    let mut reader = Reader::from_str(drawing);
    let mut frames: Vec<Frame> = Vec::new();
    let mut within = false;
    let mut text = String::new();
    loop {
        match reader.read_event().context("inferno's drawing is no XML")? {
            Event::Eof => break,
            Event::Start(tag) if tag.name().as_ref() == b"svg" => within = attribute(&tag, "id")? == "frames",
            Event::Start(tag) if within => {
                text.clear();
                match (tag.name().as_ref(), frames.last_mut()) {
                    (b"g", _) => frames.push(Frame::default()),
                    (b"text", Some(frame)) => {
                        (frame.label_x, frame.label_y) = (attribute(&tag, "x")?, attribute(&tag, "y")?);
                    }
                    _ => {}
                }
            }
            Event::Empty(tag) if within && tag.name().as_ref() == b"rect" => {
                let frame = frames.last_mut().context("inferno's drawing has a box outside of a frame")?;
                (frame.x, frame.y) = (attribute(&tag, "x")?, attribute(&tag, "y")?);
                (frame.width, frame.height) = (attribute(&tag, "width")?, attribute(&tag, "height")?);
                frame.fill = attribute(&tag, "fill")?;
            }
            Event::Text(part) => text.push_str(&part.decode()?),
            Event::GeneralRef(reference) => {
                let name = reference.decode()?;
                let character = resolve_predefined_entity(&name);
                text.push_str(character.with_context(|| format!("inferno's drawing has the reference &{name};"))?);
            }
            Event::End(tag) if within => match (tag.name().as_ref(), frames.last_mut()) {
                (b"title", Some(frame)) => frame.title = std::mem::take(&mut text),
                (b"text", Some(frame)) => frame.label = std::mem::take(&mut text),
                (b"svg", _) => within = false,
                _ => {}
            },
            _ => {}
        }
    }
    for frame in &mut frames {
        say_without_words(frame);
    }
    let edge = |frame: &Frame| Some((frame.y.parse::<f64>().ok()?, frame.height.parse::<f64>().ok()?));
    let edges: Vec<_> = frames.iter().filter_map(edge).collect();
    let top = edges.iter().map(|(y, _)| *y).fold(f64::INFINITY, f64::min);
    let bottom = edges.iter().map(|(y, height)| y + height).fold(0.0, f64::max);
    anyhow::ensure!(top < bottom, "inferno's drawing has no frames");
    Ok(Flame { view: format!("0 {top} {} {}", WIDTH - 2 * MARGIN, bottom - top), frames })
}

/// `write (12 samples, 3.40%)` as `write · 12 · 3.40 %`, which is right in any language. The lowest frame has no function.
fn say_without_words(frame: &mut Frame) {
    let Some((name, counts)) = frame.title.rsplit_once(" (") else { return };
    let Some((count, share)) = counts.split_once(&format!(" {SAMPLES}, ")) else { return };
    let share = share.trim_end_matches(')').replace('%', "\u{a0}%");
    let count = count.replace(',', "\u{a0}");
    if name == "all" && share == "100\u{a0}%" {
        frame.label = share.clone();
        frame.title = format!("{count} · {share}");
    } else {
        frame.title = format!("{name} · {count} · {share}");
    }
}

fn attribute(tag: &BytesStart, name: &str) -> Result<String> {
    let found = tag.try_get_attribute(name)?;
    Ok(found.map(|found| String::from_utf8_lossy(&found.value).into_owned()).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOLDED: &str =
        "probe;main;write;anon_pipe_write_[k] 1500\nprobe;main;std::vector<int>::at & \"more\" 499\nprobe;rare 1\n";

    fn stacks() -> Stacks {
        Stacks { event: "cpu-clock".into(), hertz: 997, measured_stretch: true, folded: FOLDED.into() }
    }

    #[test]
    fn each_function_is_a_box_as_wide_as_its_share() {
        let flame = for_page(&stacks(), 0.1).unwrap();
        let titled = |start: &str| {
            let found = flame.frames.iter().find(|frame| frame.title.starts_with(start));
            found.unwrap_or_else(|| panic!("no {start}"))
        };
        assert_eq!(
            flame.frames.len(),
            6,
            "all, program, main, write, the pipe, the vector; the rare one is too narrow"
        );
        assert_eq!(titled("2\u{a0}000 · 100\u{a0}%").width, "100.0000%");
        let kernel = titled("anon_pipe_write · 1\u{a0}500 · 75.00\u{a0}%");
        assert_eq!((kernel.width.as_str(), kernel.label.as_str()), ("75.0000%", "anon_pipe_write"), "without the mark");
        let user = titled("std::vector<int>::at & \"more\" · 499 · 24.95\u{a0}%");
        assert_ne!(kernel.fill, user.fill);
        let height = |frame: &Frame| frame.y.parse::<f64>().unwrap();
        assert!(height(kernel) < height(titled("main")), "what is called stands on what called it");
        assert!(flame.view.starts_with("0 ") && flame.view.split(' ').count() == 4, "{}", flame.view);
    }

    #[test]
    fn the_same_profile_is_the_same_drawing() {
        assert_eq!(standalone(&stacks(), "a <b> & c").unwrap(), standalone(&stacks(), "a <b> & c").unwrap());
        assert!(standalone(&stacks(), "a <b> & c").unwrap().contains("a &lt;b&gt; &amp; c"));
        let nothing = Stacks { folded: String::new(), ..stacks() };
        assert!(standalone(&nothing, "").is_err());
    }
}
