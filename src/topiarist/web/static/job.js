// The strip about a fit that runs: how far it is, once a second. Read aloud are its beginning and its end only.
import { data, gone, root, say } from "./explorer.js";

const OFTEN = 1000; // ms

export function startJob() {
  const strip = document.querySelector("[data-job]");
  if (!strip) return;
  const text = strip.querySelector(".job");
  say(text.textContent);
  strip.removeAttribute("role"); // what changes every second is to be seen, not heard
  const look = async () => {
    let job;
    try {
      job = await data(`${root}/job.json`);
    } catch (error) {
      return gone(error);
    }
    if (!job.running) return ended(strip, text, job);
    text.textContent = `${job.sentence} ${job.beside}`;
    if (!job.stoppable) strip.querySelector("form")?.remove();
    return setTimeout(look, OFTEN);
  };
  setTimeout(look, OFTEN);
}

function ended(strip, text, job) {
  strip.classList.toggle("bad", job.phase === "failed");
  strip.querySelector("form")?.remove();
  text.textContent = job.sentence;
  const link = document.createElement("a"); // after a failure the page says how to try again
  link.href = location.href;
  link.textContent = "Reload";
  link.className = "button";
  strip.append(link);
  say(job.sentence);
}
