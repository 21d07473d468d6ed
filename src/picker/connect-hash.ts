/** The part of the page's address that shows the page Connect. */
export const connectHash = "#connect";
