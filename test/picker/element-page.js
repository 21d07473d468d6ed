/** A page of somebody else's that has the picker in it, over a real server. */
import { connect } from "../../src/client/connect.ts";
import { definePicker } from "/element/index.js";

const { server, early } = JSON.parse(decodeURIComponent(location.hash.slice(1)));
const picker = document.querySelector("pressmark-picker");
globalThis.chosen = [];
picker.addEventListener("choose", ({ detail }) => globalThis.chosen.push(detail.resources.map(({ uri }) => uri)));
globalThis.watched = [];
globalThis.open = async () => {
  const pressmark = await connect(server);
  picker.resources = {
    ...pressmark,
    async children(...request) {
      if (globalThis.isBroken) throw new Error("broken");
      return pressmark.children(...request);
    },
    watch(filter, call) {
      globalThis.watched.push(call.signal);
      return pressmark.watch(filter, call);
    },
  };
};
if (early) await globalThis.open();
definePicker();
definePicker();
if (!early) await globalThis.open();
