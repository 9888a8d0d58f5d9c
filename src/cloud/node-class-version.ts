import type { NodeClass } from './node-class-kind.ts';

const KNOWN = new WeakMap<NodeClass, string>();

/**
 * Tells whether anything of a node class has changed that machines are compared with: its spec and what it was resolved to.
 * Conditions say how that went, and are written far more often.
 */
export function nodeClassVersion(nodeClass: NodeClass | undefined): string {
  if (nodeClass === undefined) return '';
  const known = KNOWN.get(nodeClass);
  if (known !== undefined) return known;
  const { conditions: _, ...resolved } = nodeClass.status ?? {};
  const { name, uid, generation } = nodeClass.metadata;
  const version = JSON.stringify([name, uid, generation, resolved]);
  KNOWN.set(nodeClass, version);
  return version;
}
