/** Drops fields that a kind does not have, and reports them as the client asked (`fieldValidation`). */
import { frozenCopy } from '../frozen.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { badRequest } from './status-errors.ts';
import type { WriteRequest } from './writing.ts';

/**
 * The object without unknown fields. Strict mode refuses unknown and duplicate fields. Top-level fields that are
 * identical to the current object's were checked before and are skipped.
 */
export function checkFields(kind: Kind, object: Draft, request: WriteRequest, current?: Draft): Draft {
  const schema = kind.schema();
  // A client in the same process may pass undefined fields, which JSON does not have.
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
  // Go types have a spec even if none was sent.
  const hasSpec = schema.schema.properties?.spec?.type === 'object';
  return hasSpec && decoded.spec === undefined ? { ...decoded, spec: {} } : decoded;
}
