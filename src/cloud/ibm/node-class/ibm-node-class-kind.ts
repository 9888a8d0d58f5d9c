/** IBMNodeClass for code shared by all clouds. */
import { createHash } from 'node:crypto';
import {
  IBM_NODE_CLASS_CONDITIONS,
  IBM_NODE_CLASS_DEFINITION,
  IBM_NODE_CLASSES,
  type IBMNodeClass,
} from '../../../apis/ibm/ibm-node-class.ts';
import {
  ANNOTATION_IBM_HASH,
  ANNOTATION_IBM_HASH_VERSION,
  FINALIZER_IBM_NODE_CLASS,
} from '../../../apis/ibm/labels.ts';
import type { NodeClassKind } from '../../node-class-kind.ts';

export const IBM_NODE_CLASS_KIND: NodeClassKind<IBMNodeClass> = {
  resource: IBM_NODE_CLASSES,
  definition: IBM_NODE_CLASS_DEFINITION,
  conditions: IBM_NODE_CLASS_CONDITIONS,
  hash: {
    annotation: ANNOTATION_IBM_HASH,
    versionAnnotation: ANNOTATION_IBM_HASH_VERSION,
    version: 'v1',
    of: ({ spec }) => createHash('sha256').update(canonical(spec)).digest('hex').slice(0, 16),
  },
  finalizer: FINALIZER_IBM_NODE_CLASS,
};

/** The whole spec with sorted keys, so that reordered fields are no change. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${entries
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, one]) => `${JSON.stringify(key)}:${canonical(one)}`)
    .join()}}`;
}
