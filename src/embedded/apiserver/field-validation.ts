/** Fields that a kind does not have: dropped, and told to the client as it asked (`fieldValidation`). */
import { decodeBuiltIn } from './built-in-decoding.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { badRequest } from './status-errors.ts';
import type { WriteRequest } from './writing.ts';

/** The object without unknown fields; refused in strict mode when there are any, or when a field stood twice. */
export function checkFields(kind: Kind, object: Draft, request: WriteRequest): Draft {
  const { object: known, unknown } = kind.builtIn ? decodeBuiltIn(kind, object) : pruned(kind, object);
  const { fieldValidation = 'Ignore', duplicateFields = [] } = request;
  if (fieldValidation === 'Ignore' || (unknown.length === 0 && duplicateFields.length === 0)) return known;
  const problems = [
    ...duplicateFields.map((field) => `duplicate field "${field}"`),
    ...unknown.map((field) => `unknown field "${field}"`),
  ];
  if (fieldValidation === 'Strict') {
    const context = kind.builtIn
      ? `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: `
      : '';
    throw badRequest(`${context}strict decoding error: ${problems.join(', ')}`);
  }
  for (const problem of problems) request.warn?.(problem);
  return known;
}

function pruned(kind: Kind, object: Draft): { object: Draft; unknown: readonly string[] } {
  if (kind.schema === undefined) return { object, unknown: [] };
  const result = kind.schema.prune(object as never);
  return { object: kind.schema.applyDefaults(result.object) as unknown as Draft, unknown: result.unknown };
}
