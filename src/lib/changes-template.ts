/** Ending of the URI template of a history that also serves the changes of its checkout. */
export const changesTemplate = "changes{?base,path,as}";
