// What is shown for a fifth of a second: drawn before the clock starts, put up and taken away on
// the screen's own frames, timed by their timestamps. Works at any refresh rate.

const GREY = "#808080";
/** Coarse to fine, so that the mask covers what eyes keep at every scale. */
const OCTAVES = [4, 8, 16, 32, 64, 128, 256];

/** The timestamp of the next frame; what is drawn right after it is in that frame. */
export const frame = () => new Promise(requestAnimationFrame);

/** Waits for whole frames. */
export async function rest(ms) {
  const start = await frame();
  while ((await frame()) - start < ms);
}

/** The time between two frames: the median of a few. */
export async function period(frames = 24) {
  const times = [];
  for (let n = 0; n <= frames; n += 1) times.push(await frame());
  const gaps = times.slice(1).map((time, at) => time - times[at]).sort((a, b) => a - b);
  return gaps[gaps.length >> 1];
}

export class Stage {
  #canvas;
  #drawing;

  constructor(canvas) {
    this.#canvas = canvas;
    this.#drawing = canvas.getContext("2d", { alpha: false });
  }

  /** Takes the size that the page gives it, in the screen's own pixels; between trials only. */
  fit() {
    const side = Math.round(this.#canvas.clientWidth * Math.min(devicePixelRatio || 1, 2)) || 1;
    if (this.#canvas.width !== side) this.#canvas.width = this.#canvas.height = side;
    this.clear();
  }

  get side() { return this.#canvas.width; }

  clear() {
    this.#drawing.fillStyle = GREY;
    this.#drawing.fillRect(0, 0, this.side, this.side);
  }

  #sheet() {
    const sheet = new OffscreenCanvas(this.side, this.side);
    const drawing = sheet.getContext("2d", { alpha: false });
    drawing.fillStyle = GREY;
    drawing.fillRect(0, 0, this.side, this.side);
    return [sheet, drawing];
  }

  /** The picture as large as it fits, on grey. */
  prepare(image) {
    const [sheet, drawing] = this.#sheet();
    const scale = this.side / Math.max(image.naturalWidth, image.naturalHeight);
    const [width, height] = [image.naturalWidth * scale, image.naturalHeight * scale];
    drawing.imageSmoothingQuality = "high";
    drawing.drawImage(image, (this.side - width) / 2, (this.side - height) / 2, width, height);
    return sheet;
  }

  /** Noise with the same power at every scale, drawn anew for each picture. */
  noise() {
    const [sheet, drawing] = this.#sheet();
    OCTAVES.forEach((cells, at) => {
      const grain = new ImageData(cells, cells);
      // The mean of many scales has little contrast: each gets more than it has.
      for (let i = 0; i < grain.data.length; i += 4) {
        grain.data[i] = grain.data[i + 1] = grain.data[i + 2] = Math.random() < 0.5 ? 0 : 255;
        grain.data[i + 3] = 255;
      }
      const tile = new OffscreenCanvas(cells, cells);
      tile.getContext("2d").putImageData(grain, 0, 0);
      drawing.globalAlpha = 1 / (at + 1);
      drawing.imageSmoothingEnabled = cells < 128;
      drawing.drawImage(tile, 0, 0, this.side, this.side);
    });
    return sheet;
  }

  /** Where to look. */
  cross() {
    this.clear();
    const [middle, arm] = [this.side / 2, this.side / 24];
    this.#drawing.strokeStyle = "#ffffff";
    this.#drawing.lineWidth = Math.max(2, this.side / 120);
    this.#drawing.beginPath();
    this.#drawing.moveTo(middle - arm, middle);
    this.#drawing.lineTo(middle + arm, middle);
    this.#drawing.moveTo(middle, middle - arm);
    this.#drawing.lineTo(middle, middle + arm);
    this.#drawing.stroke();
  }

  #put(sheet) { this.#drawing.drawImage(sheet, 0, 0); }

  /**
   * Shows a prepared picture for a time, then noise for a time, then nothing. Tells when the
   * picture came up, for how long it stood by the frames' timestamps, and the frames' distance.
   */
  async flash(sheet, noise, shownMs, maskMs, frameMs) {
    const up = await frame();
    this.#put(sheet);
    let before = up;
    let now = await frame();
    const gaps = [now - before];
    // The frame that is nearest to the wanted time: at most half a frame off.
    while (now - up < shownMs - frameMs / 2) {
      before = now;
      now = await frame();
      gaps.push(now - before);
    }
    this.#put(noise);
    const down = now;
    while (now - down < maskMs - frameMs / 2) now = await frame();
    this.clear();
    return { up, shownMs: down - up, gaps };
  }
}
