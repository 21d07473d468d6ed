/** A live list of what clients were given: gathered, found, read, or inserted as a prompt. */
import { useState } from "preact/hooks";
import { nameIn } from "../client/tree-of.ts";
import { linesOf, withLines } from "../lib/line-range-uri.ts";
import { wholeUri } from "../lib/passage-uri.ts";
import type { Content } from "../resources.ts";
import { type ActivityTexts, activityTexts } from "./activity-texts.ts";
import { reasonText } from "./gather-reasons.ts";
import { LiveDialog } from "./live-dialog.tsx";
import { numberOf, optionalNumber, optionalText, recordOf, recordsIn, textOf, textsIn } from "./loose.ts";
import type { StatePageProps } from "./state-page.tsx";
import { queryText } from "./query-text.ts";
import { ago, type Language } from "./texts.ts";
import { shownPath } from "./tree.ts";

const activityUri = "pressmark://activity";

type Delivery = ReturnType<typeof parseActivity>[number];

export function ActivityPage({ picker, language, pressmark, close }: StatePageProps) {
  const [hasOwn, setHasOwn] = useState(false);
  const texts = activityTexts(language.code);
  const number = new Intl.NumberFormat(language.code);
  const pathOf = (uri: string): string => shownPath(picker.state.tree.roots, uri);

  return (
    <LiveDialog
      id="activity-title"
      class="state-page activity"
      uri={activityUri}
      parse={parseActivity}
      {...{ pressmark, texts, close }}
    >
      {(deliveries, { now, leave }) => {
        const shown = deliveries.filter(({ isPicker }) => hasOwn || !isPicker);
        const hasCallers = new Set(deliveries.map(({ caller }) => caller)).size > 1;
        function open(uri: string): void {
          picker.preview({ uri, name: nameIn(wholeUri(uri)) });
          leave();
        }
        return (
          <>
            <label class="quiet">
              <input
                type="checkbox"
                checked={hasOwn}
                onChange={({ currentTarget }) => setHasOwn(currentTarget.checked)}
              />{" "}
              {texts.own}
            </label>
            {shown.length === 0 ? (
              <div class="state">
                <p class="state-title">{texts.none}</p>
                <p class="quiet">{texts.noneHint}</p>
              </div>
            ) : (
              <ol class="deliveries">
                {shown.map((delivery) => (
                  <li key={delivery.id}>
                    <DeliveryView
                      {...{ delivery, texts, language, open, pathOf, number, hasCallers }}
                      when={ago(delivery.at, now, language.code)}
                    />
                  </li>
                ))}
              </ol>
            )}
          </>
        );
      }}
    </LiveDialog>
  );
}

interface DeliveryViewProps {
  readonly delivery: Delivery;
  readonly texts: ActivityTexts;
  readonly number: Intl.NumberFormat;
  readonly language: Language;
  readonly when: string;
  /** Several callers are in the list. */
  readonly hasCallers: boolean;
  open(uri: string): void;
  pathOf(uri: string): string;
}

function DeliveryView({ delivery, texts, language, number, when, hasCallers, open, pathOf }: DeliveryViewProps) {
  const { kind, caller, client, version, at, text, uri, part, tokens, items, moreItems, leftOut } = delivery;
  const count = items.length + moreItems;
  const label = { gather: texts.passages, search: texts.hits, prompt: texts.resources, read: texts.resources }[kind];
  return (
    <>
      <div class="delivery">
        <span>
          <span class="kind">{texts.kinds[kind]}</span>{" "}
          {uri === undefined ? (
            <q>{kind === "search" ? queryText(text, language.texts) : text}</q>
          ) : (
            <UriLink {...{ uri, part, texts, open, pathOf }} />
          )}
        </span>
        <span class="quiet">{texts.tokens(number.format(tokens))}</span>
      </div>
      <div class="quiet">
        <time dateTime={at} title={at}>
          {texts.by([client, version, hasCallers && `(${caller})`].filter(Boolean).join(" "), when)}
        </time>
      </div>
      {count > 0 && (
        <details>
          <summary>
            {label(count)}
            {leftOut > 0 && ` · ${texts.leftOut(leftOut)}`}
          </summary>
          <ul>
            {items.map((item, index) => (
              <li key={index}>
                <UriLink uri={item.uri} part={item.lines} {...{ texts, open, pathOf }} />{" "}
                <span class="quiet">
                  {[
                    ...(item.tokens === undefined ? [] : [texts.tokens(number.format(item.tokens))]),
                    ...item.why.map((each) => reasonText(each, language.code, pathOf)),
                  ].join(" · ")}
                </span>
              </li>
            ))}
            {moreItems > 0 && <li class="quiet">{texts.more(moreItems)}</li>}
          </ul>
        </details>
      )}
    </>
  );
}

interface UriLinkProps extends Pick<DeliveryViewProps, "open" | "pathOf" | "texts"> {
  readonly uri: string;
  /** The range that was given, as in `12-20`; otherwise it may be in the URI. */
  readonly part: string | undefined;
}

/** Opens the resource at the lines that were given. */
function UriLink({ uri, part, open, pathOf, texts }: UriLinkProps) {
  const lines = linesOf(part === undefined ? uri : `?lines=${part}`);
  return (
    <>
      <button type="button" class="link uri" title={uri} onClick={() => open(lines ? withLines(uri, lines) : uri)}>
        {pathOf(wholeUri(uri))}
      </button>
      {lines && <span class="quiet"> {texts.lines(lines)}</span>}
    </>
  );
}

/** Defensive, because another server may use another format. */
function parseActivity([content]: readonly Content[]) {
  const parsed: unknown = JSON.parse(content && "text" in content.body ? content.body.text : "");
  return recordsIn(recordOf(parsed)["deliveries"]).flatMap((entry) => {
    const kind = (["gather", "search", "read", "prompt"] as const).find((known) => known === entry["kind"]);
    if (!kind) return [];
    return [
      {
        kind,
        id: numberOf(entry["id"]),
        at: textOf(entry["at"]),
        caller: textOf(entry["caller"]),
        client: textOf(entry["client"]),
        isPicker: entry["isPicker"] === true,
        version: optionalText(entry["version"]),
        text: textOf(entry["text"]),
        uri: optionalText(entry["uri"]),
        part: optionalText(entry["part"]),
        tokens: numberOf(entry["tokens"]),
        leftOut: numberOf(entry["leftOut"]),
        moreItems: numberOf(entry["moreItems"]),
        items: recordsIn(entry["items"]).map(({ uri, lines, tokens, why }) => ({
          uri: textOf(uri),
          lines: optionalText(lines),
          tokens: optionalNumber(tokens),
          why: textsIn(why),
        })),
      },
    ];
  });
}
