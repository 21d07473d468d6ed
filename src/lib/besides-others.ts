/** Makes a refinement of an object run although some of its fields are wrong, so that all problems are reported at once. */

/** Among the parameters of `refine`. The fields may have any type then: compare them, and call nothing on them. */
export const besidesOthers = {
  when: ({ value }: { readonly value: unknown }): boolean => typeof value === "object" && value !== null,
};
