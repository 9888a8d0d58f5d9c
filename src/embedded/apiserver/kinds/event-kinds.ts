/** `events.k8s.io/v1`: another view of the core group's events. */

import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import { builtIn } from './built-in.ts';
import { age, type Column, column, NAME, wideColumn } from './columns/column.ts';
import type { Kind } from './kind.ts';
import { newerEventRules } from './rules/event-conversion.ts';

interface NewerEvent extends KubeObject {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly eventTime?: string | null;
  readonly reportingController?: string;
  readonly regarding?: {
    readonly kind?: string;
    readonly name?: string;
    readonly namespace?: string;
    readonly fieldPath?: string;
  };
  readonly series?: { readonly count?: number; readonly lastObservedTime?: string };
  readonly deprecatedFirstTimestamp?: string;
  readonly deprecatedLastTimestamp?: string;
  readonly deprecatedCount?: number;
}

const lastSeen = (event: NewerEvent): string | undefined =>
  event.series?.lastObservedTime ?? event.deprecatedLastTimestamp ?? event.eventTime ?? undefined;

const COLUMNS: readonly Column[] = [
  column<NewerEvent>('Last Seen', (event, now) => age(lastSeen(event), now)),
  column<NewerEvent>('Type', ({ type }) => type ?? ''),
  column<NewerEvent>('Reason', ({ reason }) => reason ?? ''),
  column<NewerEvent>('Object', ({ regarding }) => `${regarding?.kind?.toLowerCase()}/${regarding?.name}`),
  wideColumn<NewerEvent>('Subobject', ({ regarding }) => regarding?.fieldPath ?? ''),
  wideColumn<NewerEvent>('Source', ({ reportingController }) => reportingController ?? ''),
  column<NewerEvent>('Message', ({ note }) => (note ?? '').trim()),
  wideColumn<NewerEvent>('First Seen', (event, now) =>
    age(event.deprecatedFirstTimestamp ?? event.eventTime ?? undefined, now),
  ),
  wideColumn<NewerEvent>('Count', ({ deprecatedCount, series }) => String(series?.count ?? deprecatedCount ?? 1)),
  { ...NAME, definition: { ...NAME.definition, priority: 1 } },
];

export const EVENT_KINDS: readonly Kind[] = [
  builtIn('events.k8s.io/v1', 'Event', 'events', 'namespaced', {
    shortNames: ['ev'],
    collection: 'events',
    storedVersion: 'v1',
    columns: COLUMNS,
    selectableFields: {
      'regarding.kind': ({ regarding }: NewerEvent) => regarding?.kind,
      'regarding.namespace': ({ regarding }: NewerEvent) => regarding?.namespace,
      'regarding.name': ({ regarding }: NewerEvent) => regarding?.name,
      reason: ({ reason }: NewerEvent) => reason,
      reportingController: ({ reportingController }: NewerEvent) => reportingController,
      type: ({ type }: NewerEvent) => type,
    },
    rules: newerEventRules,
  }),
];
