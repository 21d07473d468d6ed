/** Gathering for a task, and its receipt line by line: what is included, what is left out, and why. */
import { useState } from "preact/hooks";
import { changesTemplate } from "../lib/changes-template.ts";
import type { Resource } from "../resources.ts";
import type { Shared } from "./app.tsx";
import { CopyButton } from "./copy-button.tsx";
import { IconImage } from "./icon.tsx";
import type { ReceiptView } from "./receipt.ts";
import { shortTitle } from "../lib/own-title.ts";
import { visibleUri } from "../lib/visible-uri.ts";

export function GatherPane({ picker, language }: Shared) {
  const { texts, code } = language;
  const { gather } = texts;
  const { gathering, tools, tray, budget, templates } = picker.state;
  const [task, setTask] = useState("");
  const [withChosen, setWithChosen] = useState(true);
  const number = new Intl.NumberFormat(code);
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
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing) submit(event);
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
          {gather.withChosen(tray.length)}
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
        {status === "failed" && `${texts.failed}: ${problem}`}
        {receipt?.changed && `${gather.changedSince(receipt.changed)} · `}
        {receipt &&
          (receipt.included.length === 0
            ? gather.nothing
            : gather.sum(receipt.included.length, number.format(receipt.tokens), number.format(receipt.budget)))}
        {receipt && receipt.included.length > 0 && receipt.hasAllRelevant && ` · ${gather.allRelevant}`}
        {receipt &&
          receipt.ready < 1 &&
          ` · ${texts.indexing(new Intl.NumberFormat(code, { style: "percent" }).format(receipt.ready))}`}
      </p>
      {receipt && receipt.included.length > 0 && (
        <div class="actions">
          <button type="button" onClick={() => picker.choose(receipt.included.map(({ resource }) => plain(resource)))}>
            {gather.chooseAll}
          </button>
          <CopyButton texts={texts} label={gather.copy} text={async () => text} />
        </div>
      )}
      {receipt && <ReceiptView {...{ picker, language, receipt }} />}
    </div>
  );
}

function ReceiptView({ picker, language: { texts, code }, receipt }: Shared & { readonly receipt: ReceiptView }) {
  const { gather } = texts;
  const { included, leftOut, moreLeftOut } = receipt;
  const number = new Intl.NumberFormat(code);
  return (
    <div class="receipt">
      {included.length > 0 && (
        <>
          <h2>{gather.included}</h2>
          <ol>
            {included.map(({ resource, lines, tokens, why, also, masked, removed }, index) => (
              <li key={`${resource.uri} ${lines} ${index}`}>
                <Line picker={picker} resource={resource} />
                <p class="facts">
                  {[gather.lines(lines), texts.tokens(number.format(tokens))].join(" · ")}
                  {masked > 0 && ` · ${gather.masked(masked)}`}
                  {removed > 0 && ` · ${gather.removed(removed)}`}
                </p>
                <ul class="why" aria-label={gather.why}>
                  {why.map((each) => (
                    <li key={each}>{each}</li>
                  ))}
                  {also.length > 0 && <li>{gather.also(also.join(", "))}</li>}
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
                <Line picker={picker} resource={resource} />
                <p class="facts">{why}</p>
              </li>
            ))}
            {moreLeftOut > 0 && <li class="quiet">{gather.moreLeftOut(moreLeftOut)}</li>}
          </ul>
        </>
      )}
    </div>
  );
}

function Line({ picker, resource }: Pick<Shared, "picker"> & { readonly resource: Resource }) {
  return (
    <button type="button" class="line" title={resource.uri} onClick={() => picker.preview(plain(resource))}>
      <IconImage type={resource.mimeType} />
      <span class="name">{shortTitle(resource)}</span>
      <span class="hit-uri">{visibleUri(resource.uri)}</span>
    </button>
  );
}

/** The document itself, if its extracted text was gathered. */
function plain(resource: Resource): Resource {
  return { ...resource, uri: resource.uri.replace(/\?as=text$/, "") };
}
