/** Events are stored in their core form; `events.k8s.io` serves the same events with other field names. */
import type { Draft, Fields, KindRules } from '../kind.ts';

/** Core name first. */
const NAMES: readonly (readonly [core: string, newer: string])[] = [
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['reportingComponent', 'reportingController'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
];

export const newerEventRules: KindRules = {
  conversion: {
    fromStored: (event) => renamed(event, new Map(NAMES)),
    toStored: (event) => renamed(event, new Map(NAMES.map(([core, newer]) => [newer, core]))),
  },
};

function renamed(event: Draft, names: ReadonlyMap<string, string>): Draft {
  const fields: Fields = event;
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [names.get(name) ?? name, value]),
  ) as unknown as Draft;
}
