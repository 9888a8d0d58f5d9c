/** The columns of `kubectl get`: the type of a column, and the columns that every kind has. */
import type { KubeObject } from '../../../../apis/kubernetes/object.ts';
import { parseTimestamp } from '../../../../platform/clock.ts';
import type { Cell, ColumnDefinition } from '../../crd/served-kind.ts';

/** One column: its header, and its cell for an object. */
export interface Column {
  readonly definition: ColumnDefinition;
  cell(object: KubeObject, now: number): Cell;
}

interface ColumnOptions {
  readonly type?: 'string' | 'integer' | 'number' | 'boolean' | 'date';
  readonly format?: string;
  readonly description?: string;
  /** Above 0, only `-o wide` shows it. */
  readonly priority?: number;
}

/** A column that reads its cell from objects of type T. */
export function column<T extends KubeObject>(
  name: string,
  cell: (object: T, now: number) => Cell | undefined,
  options: ColumnOptions = {},
): Column {
  const { type = 'string', format = '', description = '', priority = 0 } = options;
  return {
    definition: { name, type, format, description, priority },
    cell: (object, now) => cell(object as T, now) ?? (type === 'string' ? '<none>' : null),
  };
}

/** A column that only `-o wide` shows. */
export function wideColumn<T extends KubeObject>(
  name: string,
  cell: (object: T, now: number) => Cell | undefined,
): Column {
  return column(name, cell, { priority: 1 });
}

/** A column of whole numbers; 0 if the object has no value. */
export function countColumn<T extends KubeObject>(name: string, cell: (object: T) => number | undefined): Column {
  return column<T>(name, (object) => cell(object) ?? 0, { type: 'integer' });
}

/** The first column of nearly every kind. */
export const NAME = column('Name', (object) => object.metadata.name ?? '', {
  format: 'name',
  description: 'Name must be unique within a namespace.',
});

/** The time since an object was created. */
export const AGE = column('Age', (object, now) => age(object.metadata.creationTimestamp, now), {
  description: 'The time since the object was created.',
});

/** The time since a timestamp, as `kubectl get` prints it. */
export function age(timestamp: string | undefined, now: number): string {
  const time = parseTimestamp(timestamp);
  return time === undefined ? '<unknown>' : humanDuration(now - time);
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

/** At most two units, with less detail for longer times: `45s`, `3m20s`, `47h`, `5d3h`, `2y40d` (apimachinery HumanDuration). */
export function humanDuration(milliseconds: number): string {
  if (milliseconds < -SECOND) return '<invalid>';
  if (milliseconds < 0) return '0s';
  if (milliseconds < 2 * MINUTE) return `${Math.floor(milliseconds / SECOND)}s`;
  if (milliseconds < 10 * MINUTE) return two(milliseconds, MINUTE, 'm', SECOND, 's');
  if (milliseconds < 3 * HOUR) return `${Math.floor(milliseconds / MINUTE)}m`;
  if (milliseconds < 8 * HOUR) return two(milliseconds, HOUR, 'h', MINUTE, 'm');
  if (milliseconds < 2 * DAY) return `${Math.floor(milliseconds / HOUR)}h`;
  if (milliseconds < 8 * DAY) return two(milliseconds, DAY, 'd', HOUR, 'h');
  if (milliseconds < 2 * YEAR) return `${Math.floor(milliseconds / DAY)}d`;
  if (milliseconds < 8 * YEAR) return two(milliseconds, YEAR, 'y', DAY, 'd');
  return `${Math.floor(milliseconds / YEAR)}y`;
}

function two(milliseconds: number, large: number, largeName: string, small: number, smallName: string): string {
  const rest = Math.floor((milliseconds % large) / small);
  return `${Math.floor(milliseconds / large)}${largeName}${rest === 0 ? '' : `${rest}${smallName}`}`;
}
