/** A commit: its message, and the files that it changed. */
import type { Language } from "../texts.ts";
import { GitLink } from "./git-link.tsx";
import { changesUri, commitTimes, commitUri, type GitCommit } from "./git-log.ts";
import { PlainTable } from "./plain-table.tsx";
import type { ViewProps } from "./view.ts";

interface GitCommitProps extends Pick<ViewProps, "uri" | "follow"> {
  readonly commit: GitCommit;
  readonly language: Language;
}

const maxFiles = 2000;

export default function GitCommitView({ commit, uri, follow, language }: GitCommitProps) {
  const { previews, shown } = language.texts;
  const { subject, body, author, date, parents, files } = commit;
  const all = changesUri(uri, commit);
  return (
    <div class="git-log">
      <h3>{subject}</h3>
      {body !== "" && <pre>{body}</pre>}
      <p class="quiet">
        {author} · {commitTimes(language.code)(date)}
        {parents.map((parent) => (
          <>
            {" · "}
            {previews.parent}{" "}
            <GitLink to={commitUri(uri, parent)} follow={follow}>
              <code>{parent.slice(0, 9)}</code>
            </GitLink>
          </>
        ))}
      </p>
      {all !== undefined && files.length > 0 && (
        <button type="button" onClick={() => follow(all, subject)}>
          {previews.showChanges}
        </button>
      )}
      {files.length > 0 && (
        <div class="table" tabIndex={0}>
          <PlainTable
            label={previews.changedFiles}
            head={[previews.change, previews.file]}
            rows={files.slice(0, maxFiles).map(({ path, from, change }) => [
              change,
              <GitLink to={changesUri(uri, commit, path)} follow={(to) => follow(to, path)}>
                {from === undefined ? path : `${from} → ${path}`}
              </GitLink>,
            ])}
          />
        </div>
      )}
      {files.length > maxFiles && <p class="quiet">{shown.andMore(files.length - maxFiles)}</p>}
    </div>
  );
}
