/** JSON patch (RFC 6902). The library changes its target in place, so objects and lists along each path are copied first. */
import { applyPatch, Pointer } from 'rfc6902';
import type { JsonPatchOperation } from '../../../kube/client.ts';
import { badRequest, patchRejected } from '../status-errors.ts';
import { isFields } from './merge-patch.ts';

const MOST_OPERATIONS = 10_000;
const OPERATIONS = new Set(['add', 'remove', 'replace', 'move', 'copy', 'test']);

/** Applies all operations. Untouched parts are shared with the target. */
export function applyJsonPatch(target: object, operations: readonly JsonPatchOperation[]): unknown {
  if (!Array.isArray(operations)) throw badRequest('error decoding patch: a JSON patch is a list of operations');
  if (operations.length > MOST_OPERATIONS) {
    throw badRequest(`The allowed maximum operations in a JSON patch is ${MOST_OPERATIONS}, got ${operations.length}`);
  }
  const root = { value: target as unknown };
  for (const operation of operations) {
    checkOperation(operation);
    const rooted = atRoot(operation);
    for (const path of 'from' in rooted ? [rooted.from, rooted.path] : [rooted.path]) thaw(root, path);
    checkPlace(root, rooted);
    const [problem] = applyPatch(root, [rooted as never]);
    if (problem !== null && problem !== undefined) throw patchRejected();
  }
  return root.value;
}

function checkOperation(operation: JsonPatchOperation): void {
  const isPath = (path: unknown): boolean => typeof path === 'string' && (path === '' || path.startsWith('/'));
  if (isFields(operation) && OPERATIONS.has(operation.op) && isPath(operation.path)) {
    const needsFrom = operation.op === 'move' || operation.op === 'copy';
    if (!needsFrom || isPath(operation.from)) return;
  }
  throw patchRejected();
}

/** The library cannot replace the root, so the document is wrapped in another object. */
function atRoot(operation: JsonPatchOperation): JsonPatchOperation {
  const rooted = { ...operation, path: `/value${operation.path}` };
  return 'from' in rooted ? { ...rooted, from: `/value${rooted.from}` } : rooted;
}

/** Rejects list indexes beyond the end, where the library would leave a hole, and paths below a plain value, on which it fails. */
function checkPlace(root: object, { op, path }: JsonPatchOperation): void {
  const { parent, key } = Pointer.fromJSON(path).evaluate(root);
  if (typeof parent !== 'object' || parent === null) throw patchRejected();
  if (!Array.isArray(parent)) return;
  const inserts = op === 'add' || op === 'move' || op === 'copy';
  if (inserts && key === '-') return;
  if (!/^(0|[1-9]\d*)$/.test(key) || Number(key) > parent.length - (inserts ? 0 : 1)) throw patchRejected();
}

/** Copies the objects and lists along a path, so that the library may change them. */
function thaw(root: Record<string, unknown>, path: string): void {
  let parent: Record<string, unknown> = root;
  for (const token of Pointer.fromJSON(path).tokens.slice(1, -1)) {
    if (!Object.hasOwn(parent, token)) return;
    const child = parent[token];
    if (typeof child !== 'object' || child === null) return;
    const copy = (Array.isArray(child) ? [...child] : { ...child }) as Record<string, unknown>;
    parent[token] = copy;
    parent = copy;
  }
}
