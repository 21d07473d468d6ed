/** Copies an object with other members. Getters stay getters: a copy by spread would freeze their values. */
export function withMembers<T extends object>(object: T, members: Partial<T>): T {
  return Object.defineProperties(
    {},
    { ...Object.getOwnPropertyDescriptors(object), ...Object.getOwnPropertyDescriptors(members) },
  ) as T;
}
