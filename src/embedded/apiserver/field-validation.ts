/** Fields that a kind does not have: dropped, and told to the client as it asked (`fieldValidation`). */
import { frozenCopy } from '../frozen.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { badRequest } from './status-errors.ts';
import type { WriteRequest } from './writing.ts';

/**
 * The object without unknown fields; refused in strict mode when there are any, or when a field stood twice. What is one
 * and the same as in the present object has been looked at before.
 */
export function checkFields(kind: Kind, object: Draft, request: WriteRequest, current?: Draft): Draft {
  const schema = kind.schema();
  // A client in the same process may have left fields undefined, which JSON does not know.
  const given = frozenCopy(object);
  if (schema === undefined) return given;
  const isKnown = (field: string): boolean => kind.builtIn && current !== undefined && given[field] === current[field];
  const fields = Object.entries(given);
  const fresh = Object.fromEntries(fields.filter(([field]) => !isKnown(field)));
  const { object: read, unknown, problem } = schema.prune(fresh as never);
  const context = kind.builtIn ? `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: ` : '';
  if (problem !== undefined) throw badRequest(`${context}${problem}`);
  const { fieldValidation = 'Ignore', duplicateFields = [] } = request;
  if (fieldValidation !== 'Ignore' && unknown.length + duplicateFields.length > 0) {
    const problems = [
      ...duplicateFields.map((field) => `duplicate field "${field}"`),
      ...unknown.map((field) => `unknown field "${field}"`),
    ];
    if (fieldValidation === 'Strict') throw badRequest(`${context}strict decoding error: ${problems.join(', ')}`);
    for (const text of problems) request.warn?.(text);
  }
  if (!kind.builtIn) return schema.applyDefaults(read) as unknown as Draft;
  const decoded = { ...Object.fromEntries(fields.filter(([field]) => isKnown(field))), ...read } as unknown as Draft;
  // The types of Go have a spec whether or not one was sent.
  const hasSpec = schema.schema.properties?.spec?.type === 'object';
  return hasSpec && decoded.spec === undefined ? { ...decoded, spec: {} } : decoded;
}
