// Talks to the server. The link's secret is the page's own address; nothing is kept here.

const home = location.pathname.replace(/\/$/, "");

/** A refusal that trying again does not mend. */
export class Refused extends Error {
  constructor(status) {
    super(`status ${status}`);
    this.status = status;
  }
}

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function once(path, options) {
  const answer = await fetch(home + path, { cache: "no-store", credentials: "omit", ...options });
  if (answer.ok) return answer;
  // The server is slow or in trouble: that passes. Anything else does not.
  if (answer.status === 429 || answer.status >= 500) throw new Error(`status ${answer.status}`);
  throw new Refused(answer.status);
}

/** Asks, and asks again a few times where the line is bad. */
async function asked(path, options) {
  for (const wait of [200, 600, 1500, 3000]) {
    try {
      return await once(path, options);
    } catch (error) {
      if (error instanceof Refused) throw error;
      await pause(wait);
    }
  }
  return once(path, options);
}

const post = (path, body) =>
  asked(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

/** Where this person stands. */
export const step = async () => (await asked("/step")).json();

/** The next pictures, please. */
export const goOn = async () => (await post("/on", {})).json();

/** A picture is about to be shown, and never will be again. */
export const begin = (batch, trial) => post("/begin", { batch, trial });

/** An answer; comes back when it is on the server's disk. */
export const answer = async (batch, trial, said) => (await post("/answer", { batch, trial, said })).json();

/** A picture, decoded. */
export async function picture(name) {
  const bytes = await (await asked(`/picture/${name}`)).blob();
  const image = new Image();
  image.src = URL.createObjectURL(bytes);
  await image.decode();
  URL.revokeObjectURL(image.src);
  return image;
}
