import { type KubeObject, keyOf, keyText } from '../apis/kubernetes/object.ts';
import type { Informer } from './informer.ts';
import type { WorkQueue } from './work-queue.ts';

/**
 * Adds keys to the queue whenever an object of the informer changes: its own key, or those that `keys` returns. An update adds
 * the keys of the old and the new object, so that an owner that lost an object is reconciled too.
 */
export function enqueueOn<T extends KubeObject>(
  informer: Informer<T>,
  queue: WorkQueue,
  keys: (object: T) => readonly string[] = (object) => [keyText(keyOf(object))],
): () => void {
  const enqueue = (object: T): void => {
    for (const key of keys(object)) queue.add(key);
  };
  return informer.addHandler({
    added: enqueue,
    updated: (object, old) => {
      enqueue(old);
      enqueue(object);
    },
    deleted: enqueue,
  });
}
