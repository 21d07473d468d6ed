/** Gathering for a task, and its receipt line by line: what is included, what is left out, and why. */
import { useLayoutEffect, useState } from "preact/hooks";
import { changesTemplate } from "../lib/changes-template.ts";
import { wholeUri } from "../lib/passage-uri.ts";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { maxInclude } from "./create-gathering.ts";
import { markedTokens } from "./facts.ts";
import { reasonText } from "./gather-reasons.ts";
import { gatherTexts } from "./gather-texts.ts";
import { IconImage } from "./icon.tsx";
import type { ReceiptView } from "./receipt.ts";
import { shownTitle } from "./shown-title.ts";
import { choiceOf, trayFiles } from "./tray.ts";
import { labelOf, linesIn } from "./tray-list.tsx";
import { shownPath } from "./tree.ts";

export function GatherPane({ picker, language }: Shared) {
  const { texts, code } = language;
  const gather = gatherTexts(code);
  const { gathering, tools, tray, budget, templates } = picker.state;
  const [task, setTask] = useState(gathering.task ?? "");
  const [withChosen, setWithChosen] = useState(true);
  // Before the person can type: a later effect would remove what was typed.
  useLayoutEffect(() => {
    if (gathering.task !== undefined) setTask(gathering.task);
  }, [gathering.task]);
  const number = new Intl.NumberFormat(code);
  const files = trayFiles(tray);
  const { status, receipt, problem, text } = gathering;
  if (!tools.has("gather_context")) return <p class="state">{gather.unsupported}</p>;

  const hasBranch = templates.items.some(({ uriTemplate }) => uriTemplate.endsWith(changesTemplate));

  function submit(event: Event): void {
    event.preventDefault();
    if (task.trim() !== "") picker.gather(task.trim(), withChosen);
  }

  return (
    <div class="pane">
      <form class="gather" onSubmit={submit}>
        <label>
          {gather.task}
          <textarea
            rows={3}
            value={task}
            placeholder={gather.hint}
            onInput={({ currentTarget }) => setTask(currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
            }}
          />
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={withChosen}
            disabled={tray.length === 0}
            onChange={({ currentTarget }) => setWithChosen(currentTarget.checked)}
          />
          {files > maxInclude ? texts.inTray.firstChosen(maxInclude, number.format(files)) : gather.withChosen(files)}
        </label>
        <div class="actions">
          <button type="submit" disabled={task.trim() === "" || status === "loading"}>
            {gather.go(number.format(budget))}
          </button>
          {hasBranch && (
            <button
              type="button"
              title={gather.branchHint}
              disabled={status === "loading"}
              onClick={() => picker.gather(task.trim(), withChosen, true)}
            >
              {gather.branch}
            </button>
          )}
        </div>
      </form>
      <p class="count" role="status">
        {status === "loading" && gather.working}
        {status === "failed" && (picker.state.isLost ? texts.offline : texts.failedWith(problem ?? ""))}
        {receipt?.changed && `${gather.changedSince(receipt.changed)} · `}
        {receipt &&
          (receipt.included.length === 0
            ? gather.nothing
            : gather.sum(
                receipt.included.length,
                `${receipt.isExact ? "" : "≈ "}${number.format(receipt.tokens)}`,
                number.format(receipt.budget),
              ))}
        {receipt && receipt.included.length > 0 && receipt.hasAllRelevant && ` · ${gather.allRelevant}`}
        {receipt &&
          receipt.ready < 1 &&
          ` · ${texts.indexing(new Intl.NumberFormat(code, { style: "percent" }).format(receipt.ready))}`}
      </p>
      {receipt && receipt.included.length > 0 && (
        <div class="actions">
          <button type="button" onClick={() => picker.choose(receipt.included.flatMap(({ passages }) => passages))}>
            {gather.chooseAll}
          </button>
          <CopyButton texts={texts} label={gather.copy} text={async () => text} />
        </div>
      )}
      {receipt && <ReceiptView {...{ picker, language, receipt }} />}
    </div>
  );
}

function ReceiptView({ picker, language, receipt }: Shared & { readonly receipt: ReceiptView }) {
  const { texts, code } = language;
  const gather = gatherTexts(code);
  const { roots } = picker.state.tree;
  const { included, leftOut, moreLeftOut, isExact } = receipt;
  const number = new Intl.NumberFormat(code);
  const pathOf = (uri: string): string => shownPath(roots, uri);
  return (
    <div class="receipt">
      {included.length > 0 && (
        <>
          <h2>{gather.included}</h2>
          <ol>
            {included.map(({ resource, passages, tokens, why, also, masked, removed }, index) => (
              <li key={`${resource.uri} ${index}`}>
                <Line {...{ picker, language, passages }} />
                <p class="facts">
                  {[
                    ...passages.map((each) => linesIn(each, texts)),
                    markedTokens({ count: tokens, isExact }, texts, number),
                  ]
                    .filter(Boolean)
                    .join(" · ")}
                  {masked > 0 && ` · ${gather.masked(masked)}`}
                  {removed > 0 && ` · ${gather.removed(removed)}`}
                </p>
                <ul class="why" aria-label={gather.why}>
                  {why.map((each) => (
                    <li key={each}>{reasonText(each, code, pathOf)}</li>
                  ))}
                  {also.length > 0 && <li>{gather.also(also.map(pathOf).join(texts.listSeparator))}</li>}
                </ul>
              </li>
            ))}
          </ol>
        </>
      )}
      {leftOut.length + moreLeftOut > 0 && (
        <>
          <h2>{gather.leftOut}</h2>
          <ul>
            {leftOut.map(({ resource, why }, index) => (
              <li key={`${resource.uri} ${index}`}>
                <Line {...{ picker, language }} passages={[{ ...resource, uri: wholeUri(resource.uri) }]} />
                <p class="facts">{reasonText(why, code, pathOf)}</p>
              </li>
            ))}
            {moreLeftOut > 0 && <li class="quiet">{gather.moreLeftOut(moreLeftOut)}</li>}
          </ul>
        </>
      )}
    </div>
  );
}

/** A checkbox for these passages, and a button that opens the first. */
function Line({ picker, language: { texts }, passages }: Shared & { readonly passages: readonly Resource[] }) {
  const { tray, tree } = picker.state;
  const [first] = passages;
  const choices = passages.map(({ uri }) => choiceOf(tray, uri));
  if (!first) return null;
  const isAll = choices.every((choice) => choice === "all");
  const path = shownPath(tree.roots, wholeUri(first.uri));
  return (
    <div class="receipt-line">
      <input
        type="checkbox"
        aria-label={texts.inTray.choose(labelOf(first, texts))}
        checked={isAll}
        indeterminate={!isAll && choices.some((choice) => choice !== "none")}
        onChange={() => (isAll ? picker.unchoose(passages) : picker.choose(passages))}
      />
      <button type="button" class="line" title={first.uri} onClick={() => picker.preview(first)}>
        <IconImage type={first.mimeType} uri={wholeUri(first.uri)} />
        <span class="name">{shownTitle(first)}</span>
        {path !== shownTitle(first) && <span class="hit-uri">{path}</span>}
      </button>
    </div>
  );
}
