// What stands on the stage on every frame, seen from outside the page's own script: runs in the
// page before it, and knows nothing of it but the canvas.
export const observe = () => {
  const seen = (window.__seen = { frames: [], shifts: [], boxes: new Set() });
  const small = new OffscreenCanvas(12, 12).getContext("2d", { willReadFrequently: true });
  // A frame is looked at when all of its callbacks have drawn, which is before the next one.
  const later = new MessageChannel();
  const tick = (now) => {
    requestAnimationFrame(tick);
    later.port2.postMessage(now);
  };
  later.port1.onmessage = ({ data: now }) => {
    const stage = document.getElementById("stage");
    if (!stage?.checkVisibility() || stage.width < 2) return;
    small.drawImage(stage, 0, 0, 12, 12);
    const pixels = small.getImageData(0, 0, 12, 12).data;
    // The corners and edges; the cross is in the middle.
    let text = "";
    for (let i = 0; i < pixels.length; i += 4) {
      const [x, y] = [(i / 4) % 12, Math.floor(i / 48)];
      if (x < 4 || x > 7 || y < 4 || y > 7) text += String.fromCharCode(pixels[i], pixels[i + 1], pixels[i + 2]);
    }
    const grey = [...text].every((letter) => Math.abs(letter.charCodeAt(0) - 128) < 2);
    const what = grey ? "grey" : text;
    const last = seen.frames.at(-1);
    if (last?.what !== what) seen.frames.push({ what, now });
    const { x, y, width, height } = stage.getBoundingClientRect();
    seen.boxes.add([x, y, width, height].join());
  };
  requestAnimationFrame(tick);
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      const trial = document.getElementById("trial");
      if (trial?.checkVisibility() && !entry.hadRecentInput) seen.shifts.push(entry.value);
    }
  }).observe({ type: "layout-shift", buffered: true });
};

/** For how long each picture stood, from what was seen: grey, picture, noise, grey. */
export function durations(frames) {
  const found = [];
  for (let at = 0; at + 3 < frames.length; at += 1) {
    const [before, picture, noise, after] = frames.slice(at, at + 4);
    if (before.what === "grey" && picture.what !== "grey" && noise.what !== "grey" && after.what === "grey") {
      found.push(noise.now - picture.now);
    }
  }
  return found;
}
