/** The columns of `kubectl get` for a custom resource: its name, then the columns of its definition, or its age. */
import type { KubeObject } from '../../../apis/kubernetes/object.ts';
import { age, NAME } from '../kinds/columns/column.ts';
import { sortedJson } from '../schema/go-text.ts';
import type { Json } from '../schema/schema.ts';
import type { CustomResourceColumn } from './custom-resource-definition.ts';
import { firstAt } from './json-path.ts';
import type { Cell, ColumnDefinition } from './served-kind.ts';

const DEFAULT_COLUMNS: readonly CustomResourceColumn[] = [
  {
    name: 'Age',
    type: 'date',
    jsonPath: '.metadata.creationTimestamp',
    description: 'The time since the object was created.',
  },
];

export interface PrinterColumns {
  readonly definitions: readonly ColumnDefinition[];
  cells(object: KubeObject, now: number): Cell[];
}

/** The columns of one version of a custom resource. */
export function printerColumns(written: readonly CustomResourceColumn[] | undefined): PrinterColumns {
  const columns = written === undefined || written.length === 0 ? DEFAULT_COLUMNS : written;
  return {
    definitions: [
      NAME.definition,
      ...columns.map(({ name, type, jsonPath, format = '', description, priority = 0 }) => ({
        name,
        type,
        format,
        description: description ?? `The value at ${jsonPath} of the object.`,
        priority,
      })),
    ],
    cells: (object, now) => [
      NAME.cell(object, now),
      ...columns.map(({ type, jsonPath }) => cellOf(type, firstAt(object as unknown as Json, jsonPath), now)),
    ],
  };
}

function cellOf(type: string, value: Json | undefined, now: number): Cell {
  if (value === undefined) return null;
  if (value === null) return type === 'string' ? '<no value>' : null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : null;
    case 'number':
      return typeof value === 'number' ? value : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date': {
      const text = typeof value === 'string' ? age(value, now) : '<unknown>';
      return text === '<unknown>' ? '<invalid>' : text;
    }
    default:
      return typeof value === 'object' ? sortedJson(value) : String(value);
  }
}
