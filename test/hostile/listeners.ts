/** Very many listens from a process of their own: opens them, counts what each hears, and hangs up when told. */
import { connect, type Socket } from "node:net";
import { modernBody, rawPost } from "./attacker.ts";

export type ToListeners = "hang up";
export type FromListeners = { readonly open: number } | { readonly heard: number } | { readonly failed: string };

const [port = "", uri = "", count = "", atOnce = "200"] = process.argv.slice(2);
const asked = rawPost(
  "subscriptions/listen",
  JSON.stringify(modernBody("subscriptions/listen", { notifications: { resourceSubscriptions: [uri] } })),
);
const sockets = new Set<Socket>();
let open = 0;
let heard = 0;
let begun = 0;

const tell = (message: FromListeners): void => void process.send?.(message);

function begin(): void {
  begun++;
  const socket = connect(Number(port), "127.0.0.1", () => void socket.write(asked));
  sockets.add(socket);
  let text = "";
  let acknowledged = false;
  socket.setEncoding("latin1").on("data", (chunk: string) => {
    text += chunk;
    if (!acknowledged && text.includes("notifications/subscriptions/acknowledged")) {
      acknowledged = true;
      text = "";
      if (++open === Number(count)) tell({ open });
      if (begun < Number(count)) begin();
    } else if (acknowledged && text.includes("notifications/resources/updated")) {
      text = "";
      if (++heard === Number(count)) tell({ heard });
    }
  });
  socket.on("error", (cause) => tell({ failed: cause.message }));
}

for (let at = 0; at < Math.min(Number(count), Number(atOnce)); at++) begin();
process.on("message", () => {
  for (const socket of sockets) socket.destroy();
  process.disconnect();
});
