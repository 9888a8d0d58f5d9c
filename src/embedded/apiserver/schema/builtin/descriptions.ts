/** What the types and their most used fields are for, shown by `kubectl explain`. */
export const DESCRIPTIONS: Readonly<Record<string, string>> = {
  'core-v1/Pod': 'A group of containers that run together on one node.',
};
