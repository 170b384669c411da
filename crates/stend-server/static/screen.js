// The screen of a virtual machine: noVNC, with a channel that this server passes on.
import RFB from "/novnc/core/rfb.js";

const place = document.querySelector("#screen"), said = document.querySelector("#screen-state");

// Has what noVNC asks of a WebSocket. Events come, and requests go, one after another.
class Channel {
  binaryType = "arraybuffer";
  protocol = "";
  readyState = "connecting";
  onopen = null;
  onmessage = null;
  onerror = null;
  onclose = null;
  #events;
  #to;
  #waiting = [];
  #isSending = false;

  constructor(at, node) {
    this.#events = new EventSource(`${at}/events${node}`);
    this.#events.addEventListener("open", (event) => {
      // The connection has an event of this name too, without data.
      if (!event.data) return;
      this.#to = `${at}/${event.data}${node}`;
      this.readyState = "open";
      this.onopen?.(event);
    });
    this.#events.addEventListener("message", (event) => {
      const bytes = Uint8Array.from(atob(event.data), (sign) => sign.charCodeAt(0));
      this.onmessage?.({ data: bytes.buffer });
    });
    this.#events.addEventListener("error", () => this.close());
  }

  send(bytes) {
    // noVNC writes over them.
    this.#waiting.push(bytes.slice());
    this.#send();
  }

  async #send() {
    if (this.#isSending) return;
    this.#isSending = true;
    while (this.#waiting.length > 0 && this.readyState === "open") {
      const body = new Blob(this.#waiting.splice(0, 1000), { type: "application/octet-stream" });
      const answer = await fetch(this.#to, { method: "POST", body }).catch(() => undefined);
      if (!answer?.ok) this.close();
    }
    this.#isSending = false;
  }

  close() {
    if (this.readyState === "closed") return;
    this.readyState = "closed";
    this.#events.close();
    this.onclose?.({ code: 1000, reason: "", wasClean: true });
  }
}

const screen = new RFB(place, new Channel(place.dataset.place, place.dataset.node));
screen.scaleViewport = true;
screen.addEventListener("connect", () => {
  said.textContent = said.dataset.open;
  screen.focus();
});
screen.addEventListener("disconnect", () => { said.textContent = said.dataset.closed; });
