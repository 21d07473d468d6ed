/** The live state of the server: mounts and their health, the index, clients, and recent reads. */
import { visibleText } from "../lib/visible-text.ts";
import type { ComponentChildren } from "preact";
import { nameIn } from "../client/tree-of.ts";
import { decodeForDisplay } from "../lib/readable-uri.ts";
import type { Resources } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { connectHash } from "./connect-hash.ts";
import { LiveDialog } from "./live-dialog.tsx";
import { parseServerStatus, type Status, statusUri } from "./state-page-status.ts";
import { type StateTexts, stateTexts } from "./state-page-texts.ts";
import { ago } from "./texts.ts";
import { shownPath } from "./tree.ts";
import { useLiveResource } from "./use-live-resource.ts";
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

export function StatePage({ picker, language, pressmark, close }: StatePageProps) {
  const texts = stateTexts(language.code);
  return (
    <LiveDialog
      id="state-title"
      class="state-page"
      uri={statusUri}
      parse={parseServerStatus}
      version={({ version }) => version !== undefined && <span class="quiet">Pressmark {version}</span>}
      {...{ pressmark, texts, close }}
    >
      {(status, { now, leave }) => {
        const when = (iso: string): string => ago(iso, now, language.code);
        return (
          <>
            <Mounts {...{ status, texts, when }} />
            <Clients {...{ status, texts, when }} />
            <Reads
              {...{ status, texts, when }}
              pathOf={(uri) => shownPath(picker.state.tree.roots, uri)}
              open={(uri) => {
                picker.preview({ uri, name: nameIn(uri) });
                leave();
              }}
            />
            <p>
              <button
                type="button"
                onClick={() => {
                  leave();
                  location.hash = connectHash;
                }}
              >
                {texts.connect}
              </button>
            </p>
          </>
        );
      }}
    </LiveDialog>
  );
}

/** The last status, updated whenever it changes. */
export function useStatus(pressmark: Resources, turn: number, heardAt: (now: number) => void): Seen {
  const { value: status, ...rest } = useLiveResource(pressmark, statusUri, parseServerStatus, turn, heardAt);
  return { status, ...rest };
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
            {title} <span class="uri">{decodeForDisplay(uri)}</span>
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
              {visibleText(name)} <span class="quiet">{visibleText(version)}</span>
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

interface ReadsProps extends Part {
  pathOf(uri: string): string;
  open(uri: string): void;
}

function Reads({ status: { reads }, texts, when, pathOf, open }: ReadsProps) {
  return (
    <Section title={texts.reads}>
      {reads.length === 0 ? (
        <p class="quiet">{texts.noReads}</p>
      ) : (
        <ol class="reads">
          {reads.map(({ uri, at, client, times }) => (
            <li key={`${client} ${uri}`}>
              <button type="button" class="link uri" title={uri} onClick={() => open(uri)}>
                {pathOf(uri)}
              </button>{" "}
              <span class="quiet">{texts.readBy(client, when(at), times)}</span>
            </li>
          ))}
        </ol>
      )}
    </Section>
  );
}
