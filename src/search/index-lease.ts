/** Name of the lease of the instance that indexes a mount. */
export const indexLease = (mount: string): string => `index:${mount}`;
