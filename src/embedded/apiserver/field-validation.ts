/** Fields that a kind does not have: dropped, and told to the client as it asked (`fieldValidation`). */
import { frozenCopy } from '../frozen.ts';
import type { Draft, Kind } from './kinds/kind.ts';
import { badRequest } from './status-errors.ts';
import type { WriteRequest } from './writing.ts';

/** The object without unknown fields; refused in strict mode when there are any, or when a field stood twice. */
export function checkFields(kind: Kind, object: Draft, request: WriteRequest): Draft {
  const schema = kind.schema();
  // A client in the same process may have left fields undefined, which JSON does not know.
  const given = frozenCopy(object);
  if (schema === undefined) return given;
  const { object: known, unknown, problem } = schema.prune(given as never);
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
  return (kind.builtIn ? known : schema.applyDefaults(known)) as unknown as Draft;
}
