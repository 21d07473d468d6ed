/** A git log as a table of commits. */
import type { Language } from "../texts.ts";
import { commitTimes, commitUri, type GitLogPage, nextPageUri } from "./git-log.ts";
import { GitLink } from "./git-link.tsx";
import { PlainTable } from "./plain-table.tsx";
import type { ViewProps } from "./view.ts";

interface GitLogProps extends Pick<ViewProps, "uri" | "follow" | "name"> {
  readonly log: GitLogPage;
  readonly language: Language;
}

const maxCommits = 2000;

export default function GitLogView({ log, uri, name, follow, language }: GitLogProps) {
  const { shown, previews } = language.texts;
  const { commits, next, notes, renamedFrom } = log;
  const timeOf = commitTimes(language.code);
  const older = next === undefined ? undefined : nextPageUri(uri, next);
  return (
    <div class="git-log">
      {commits.length === 0 && <p class="state">{previews.noCommits}</p>}
      {commits.length > 0 && (
        <div class="table" tabIndex={0}>
          <PlainTable
            label={name}
            head={[previews.commit, previews.subject, previews.author, previews.date]}
            rows={commits.slice(0, maxCommits).map(({ hash, date, author, subject, isMerge }) => [
              <GitLink to={commitUri(uri, hash)} follow={(to) => follow(to, subject)}>
                <code>{hash.slice(0, 9)}</code>
              </GitLink>,
              <>
                {subject} {isMerge && <span class="badge">{previews.merge}</span>}
              </>,
              <span class="author" title={author}>
                {author}
              </span>,
              timeOf(date),
            ])}
          />
        </div>
      )}
      {commits.length > maxCommits && <p class="quiet">{shown.andMore(commits.length - maxCommits)}</p>}
      {renamedFrom !== undefined && <p class="quiet">{previews.renamedFrom(renamedFrom)}</p>}
      {notes.map((note) => (
        <p class="quiet">{note}</p>
      ))}
      {older !== undefined && (
        <button type="button" onClick={() => follow(older)}>
          {previews.olderCommits}
        </button>
      )}
    </div>
  );
}
