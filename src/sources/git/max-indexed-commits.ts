/** The largest "indexedCommits". With more entries than "search.maxFiles" of the config, a mount is not indexed at all. */
export const maxIndexedCommits = 200_000;
