/** The page Connect: for each host the link, command or settings that add this server, and whether it has connected. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ResourceError } from "../errors.ts";
import { visibleText } from "../lib/visible-text.ts";
import type { Resources } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { type ConnectTexts, connectTexts } from "./connect-texts.ts";
import { CopyButton } from "./copy-button.tsx";
import { Failure, Waiting } from "./notes.tsx";
import { remember, serverName } from "./preferences.ts";
import { withServerName } from "./with-server-name.ts";
import { type HostWayView, type Status, statusUri } from "./state-page-status.ts";
import { useStatus } from "./state-page.tsx";
import { ago, type PickerTexts } from "./texts.ts";

export interface ConnectPageProps extends Shared {
  readonly pressmark: Resources;
}

type Way = "http" | "stdio";
const tickMs = 10_000;

export function ConnectPage({ language: { code, texts: pageTexts }, pressmark }: ConnectPageProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [turn, setTurn] = useState(0);
  const [now, setNow] = useState(Date.now());
  const [way, setWay] = useState<Way>("http");
  const [name, setName] = useState(serverName());
  const { status, problem } = useStatus(pressmark, turn, setNow);
  const isOwner = useIsOwner(pressmark);
  const texts = connectTexts(code);
  const hosts = status?.hosts.filter((host) => host[way]) ?? [];
  const hasToken = hosts.some(({ http }) => http && /bearer/i.test(http.text));
  const url = status?.url ?? new URL("/mcp", location.origin).href;

  useLayoutEffect(() => {
    const { title } = document;
    document.title = `${texts.title} – Pressmark`;
    dialog.current?.showModal();
    const tick = setInterval(() => setNow(Date.now()), tickMs);
    return () => {
      clearInterval(tick);
      document.title = title;
      // Returns the focus.
      dialog.current?.close();
    };
  }, []);

  return (
    <dialog
      ref={dialog}
      class="connect-page"
      aria-labelledby="connect-title"
      onCancel={(event) => {
        event.preventDefault();
        leave();
      }}
    >
      <div class="connect-top">
        <h2 id="connect-title">{texts.title}</h2>
        <button type="button" onClick={leave}>
          {texts.back}
        </button>
      </div>
      <p>{texts.intro}</p>
      <p class="connect-address">
        {texts.address} <code>{url}</code>{" "}
        <CopyButton texts={pageTexts} label={texts.copyAddress} text={async () => url} isSmall />
      </p>
      <label class="connect-name">
        {texts.name}{" "}
        <input
          type="text"
          value={name}
          maxLength={64}
          pattern="[A-Za-z0-9_\-]+"
          required
          onInput={({ currentTarget: { value, validity } }) => {
            if (!validity.valid) return;
            setName(value);
            remember("serverName", value);
          }}
        />{" "}
        <span class="quiet">{texts.nameHint}</span>
      </label>
      {isOwner === false ? (
        <p>
          {texts.guest} {texts.guestAccess}
        </p>
      ) : status ? (
        <>
          {status.hosts.some(({ stdio }) => stdio) && <Ways {...{ texts, way, setWay }} />}
          {way === "stdio" && <p class="quiet">{texts.stdioHint}</p>}
          {way === "http" && hasToken && <p class="quiet">{texts.tokenHint}</p>}
          <ul class="connect-hosts">
            {hosts.map(({ host, seen, [way]: shown }) => (
              <li key={host} aria-label={host}>
                <h3>{host}</h3>
                {way === "http" && <Seen {...{ seen, texts }} when={(iso) => ago(iso, now, code)} />}
                <HostSteps {...{ host, texts, pageTexts }} way={withServerName(shown!, name)} />
              </li>
            ))}
          </ul>
        </>
      ) : problem === undefined ? (
        <Waiting text={texts.loading} />
      ) : (
        <Failure title={texts.failed} {...{ problem }} texts={pageTexts} retry={() => setTurn(turn + 1)} />
      )}
    </dialog>
  );
}

function leave(): void {
  location.hash = "";
}

/** Undefined until it is known. Others than the owner have no status. */
function useIsOwner(pressmark: Resources): boolean | undefined {
  const [isOwner, setIsOwner] = useState<boolean>();
  useEffect(() => {
    const ended = new AbortController();
    pressmark.stat(statusUri, { caller: { id: "picker" }, signal: ended.signal }).then(
      () => setIsOwner(true),
      (cause: unknown) => {
        const isDown = cause instanceof ResourceError && cause.kind === "unavailable";
        if (!ended.signal.aborted && !isDown) setIsOwner(false);
      },
    );
    return () => ended.abort();
  }, [pressmark]);
  return isOwner;
}

interface WaysProps {
  readonly texts: ConnectTexts;
  readonly way: Way;
  setWay(way: Way): void;
}

function Ways({ texts, way, setWay }: WaysProps) {
  return (
    <fieldset>
      <legend>{texts.ways}</legend>
      {(["http", "stdio"] as const).map((each) => (
        <label key={each}>
          <input type="radio" name="way" checked={way === each} onChange={() => setWay(each)} /> {texts[each]}
        </label>
      ))}
    </fieldset>
  );
}

interface SeenProps {
  readonly seen: Status["hosts"][number]["seen"];
  readonly texts: ConnectTexts;
  when(iso: string): string;
}

function Seen({ seen, texts, when }: SeenProps) {
  const client = seen && visibleText(`${seen.name} ${seen.version}`.trim());
  return (
    <p class={`seen ${seen?.isConnected ? "now" : ""}`} role="status">
      {client === undefined
        ? texts.notYet
        : seen?.isConnected
          ? texts.connected(client)
          : texts.lastSeen(client, when(seen!.lastSeen))}
    </p>
  );
}

interface HostStepsProps {
  readonly host: string;
  readonly way: HostWayView;
  readonly texts: ConnectTexts;
  readonly pageTexts: PickerTexts;
}

function HostSteps({ host, way: { links, isCommand, file, text }, texts, pageTexts }: HostStepsProps) {
  return (
    <>
      {links.length > 0 && (
        <p class="connect-links">
          {links.map(({ title, url }) => (
            <a key={title} class="button" href={url}>
              {texts.install(title)}
            </a>
          ))}
        </p>
      )}
      <p class="connect-step">
        <span class="quiet">
          {isCommand ? texts.inTerminal : file === undefined ? texts.inSettings : texts.inFile(file)}
        </span>
        <CopyButton texts={pageTexts} label={texts.copyFor(host)} text={async () => text} isSmall />
      </p>
      <code class="connect-text">{text}</code>
    </>
  );
}
