import type { Condition } from '../kubernetes/object.ts';
import { choice, integer, list, object, required, type Schema, text, time } from '../schema/schema.ts';

const TYPE =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$';
const REASON = '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?';

/** The conditions in a status; claims alone may leave out reason and message. */
export function conditions(reason: 'reason required' | 'reason optional'): Schema<readonly Condition[]> {
  const told = 'The reason for the last change, in CamelCase.';
  const message = text('Details for people; can be empty.', { maxLength: 32768 });
  const shared = {
    type: required(text('The type of the condition.', { maxLength: 316, pattern: TYPE })),
    status: required(choice('True, False or Unknown.', ['True', 'False', 'Unknown'])),
    observedGeneration: integer('The generation of the object that the condition is based on.', {
      format: 'int64',
      minimum: 0,
    }),
    lastTransitionTime: required(time('When the status last changed.')),
  };
  const item =
    reason === 'reason required'
      ? object('One aspect of the state of the object.', {
          ...shared,
          reason: required(text(told, { minLength: 1, maxLength: 1024, pattern: `^${REASON}$` })),
          message: required(message),
        })
      : object('One aspect of the state of the object.', {
          ...shared,
          reason: text(told, { maxLength: 1024, pattern: `^(${REASON}|)$` }),
          message,
        });
  return list('The conditions of the object.', item as Schema<Condition>, {
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['type'],
  });
}
