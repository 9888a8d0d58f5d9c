/** Fields that a kind does not have: dropped, and told to the client as it asked (`fieldValidation`). */
import type { Draft, Kind } from './kinds/kind.ts';
import { badRequest } from './status-errors.ts';
import type { WriteRequest } from './writing.ts';

/** The object without unknown fields; refused in strict mode when there are any, or when a field stood twice. */
export function checkFields(kind: Kind, object: Draft, request: WriteRequest): Draft {
  const pruned = kind.schema?.prune(object as never);
  const { fieldValidation = 'Ignore', duplicateFields = [] } = request;
  if (fieldValidation !== 'Ignore') {
    const problems = [
      ...duplicateFields.map((field) => `duplicate field "${field}"`),
      ...(pruned?.unknown ?? []).map((field) => `unknown field "${field}"`),
    ];
    if (problems.length > 0 && fieldValidation === 'Strict') {
      const context = kind.builtIn
        ? `${kind.kind} in version "${kind.version}" cannot be handled as a ${kind.kind}: `
        : '';
      throw badRequest(`${context}strict decoding error: ${problems.join(', ')}`);
    }
    for (const problem of problems) request.warn?.(problem);
  }
  return (pruned?.object as unknown as Draft | undefined) ?? object;
}
