/** The live state of the server: mounts and their health, the index, clients, recent reads, and settings for hosts. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Resources } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { messageOf } from "./message-of.ts";
import { Failure, Waiting } from "./notes.tsx";
import { parseServerStatus, type Status, statusUri } from "./state-page-status.ts";
import { type StateTexts, stateTexts } from "./state-page-texts.ts";
import { ago } from "./texts.ts";
import { PlainTable } from "./views/plain-table.tsx";

export interface StatePageProps extends Shared {
  readonly pressmark: Resources;
  close(): void;
}

interface Seen {
  readonly status?: Status;
  readonly problem?: string;
  readonly isStale?: boolean;
}

interface Part {
  readonly status: Status;
  readonly texts: StateTexts;
  when(iso: string): string;
}

const tickMs = 10_000;

export function StatePage({ picker, language, pressmark, close }: StatePageProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [turn, setTurn] = useState(0);
  const [now, setNow] = useState(Date.now());
  const { status, problem, isStale } = useStatus(pressmark, turn, setNow);
  const texts = stateTexts(language.code);

  useEffect(() => {
    dialog.current?.showModal();
    const tick = setInterval(() => setNow(Date.now()), tickMs);
    return () => clearInterval(tick);
  }, []);

  const retry = (): void => setTurn((before) => before + 1);
  const when = (iso: string): string => ago(iso, now, language.code);
  return (
    <dialog ref={dialog} class="state-page" aria-labelledby="state-title" onClose={close}>
      <div class="state-top">
        <h2 id="state-title">
          {texts.title} {status?.version !== undefined && <span class="quiet">Pressmark {status.version}</span>}
        </h2>
        <button type="button" onClick={() => dialog.current?.close()}>
          {texts.close}
        </button>
      </div>
      {status ? (
        <>
          {isStale && (
            <p class="stale" role="status">
              {texts.stale}{" "}
              <button type="button" onClick={retry}>
                {texts.retry}
              </button>
            </p>
          )}
          <Mounts {...{ status, texts, when }} />
          <Clients {...{ status, texts, when }} />
          <Reads
            {...{ status, texts, when }}
            open={(uri) => {
              picker.preview({ uri, name: uri.slice(uri.lastIndexOf("/") + 1) });
              dialog.current?.close();
            }}
          />
          <Hosts {...{ status, texts, when, language, picker }} />
        </>
      ) : problem === undefined ? (
        <Waiting text={texts.loading} />
      ) : (
        <Failure title={texts.failed} {...{ problem, texts, retry }} />
      )}
    </dialog>
  );
}

/** The last status, updated whenever it changes. */
function useStatus(pressmark: Resources, turn: number, heardAt: (now: number) => void): Seen {
  const [seen, setSeen] = useState<Seen>({});
  useEffect(() => {
    const ended = new AbortController();
    const call = { caller: { id: "picker" }, signal: ended.signal };
    async function look(): Promise<void> {
      const { contents } = await pressmark.read(statusUri, call);
      if (ended.signal.aborted) return;
      heardAt(Date.now());
      setSeen({ status: parseServerStatus(contents) });
    }
    async function follow(): Promise<void> {
      // Watched before the read, so that no change is missed. If it cannot be watched, it is shown once.
      const watch = await pressmark.watch({ uris: [statusUri] }, call).catch(() => undefined);
      await look();
      for await (const _ of watch ?? []) await look();
    }
    follow().catch((cause: unknown) => {
      if (!ended.signal.aborted) setSeen((before) => ({ ...before, problem: messageOf(cause), isStale: true }));
    });
    return () => ended.abort();
  }, [pressmark, turn]);
  return seen;
}

function Section({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

function Mounts({ status: { mounts, index, indexProblem }, texts }: Part) {
  return (
    <Section title={texts.mounts}>
      <PlainTable
        head={[texts.mount, texts.health, texts.indexed]}
        rows={mounts.map(({ name, title = name, uri, state, problem, indexed }) => [
          <>
            {title} <span class="uri">{uri}</span>
          </>,
          <span class={`health ${state}`}>
            {texts.states[state]}
            {problem !== undefined && <span class="quiet"> {problem}</span>}
          </span>,
          indexed ? (
            <>
              <progress max={1} value={indexed.ready} aria-label={`${texts.indexed}: ${name}`} />{" "}
              {texts.documents(indexed.documents)}
            </>
          ) : (
            <span class="quiet">{texts.notIndexed}</span>
          ),
        ])}
        hasRowHeads
      />
      {index && (
        <p class="quiet">
          {texts.index[index]}
          {indexProblem !== undefined && `: ${indexProblem}`}
        </p>
      )}
    </Section>
  );
}

function Clients({ status: { clients }, texts, when }: Part) {
  return (
    <Section title={texts.clients}>
      {clients.length === 0 ? (
        <p class="quiet">{texts.noClients}</p>
      ) : (
        <PlainTable
          head={[texts.client, texts.revision, texts.connections, texts.since]}
          rows={clients.map(({ name, version, revision, connections, since }) => [
            <>
              {name} <span class="quiet">{version}</span>
            </>,
            revision,
            connections,
            when(since),
          ])}
          hasRowHeads
        />
      )}
    </Section>
  );
}

function Reads({ status: { reads }, texts, when, open }: Part & { open(uri: string): void }) {
  return (
    <Section title={texts.reads}>
      {reads.length === 0 ? (
        <p class="quiet">{texts.noReads}</p>
      ) : (
        <ol class="reads">
          {reads.map(({ uri, at, client, times }) => (
            <li key={`${client} ${uri}`}>
              <button type="button" class="link uri" onClick={() => open(uri)}>
                {uri}
              </button>{" "}
              <span class="quiet">{texts.readBy(client, when(at), times)}</span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}

function Hosts({ status: { hosts }, texts, language: { texts: pageTexts } }: Part & Shared) {
  return (
    <Section title={texts.hosts}>
      {hosts.length === 0 ? (
        <p class="quiet">{texts.noHosts}</p>
      ) : (
        <dl class="hosts">
          {hosts.map(({ host, isCommand, file, text }) => (
            <div key={host}>
              <dt>
                {host}{" "}
                <span class="quiet">
                  {isCommand ? texts.type : file === undefined ? texts.intoSettings : texts.into(file)}
                </span>
              </dt>
              <dd>
                <code>{text}</code> <CopyButton texts={pageTexts} label={texts.copyFor(host)} text={async () => text} />
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Section>
  );
}
