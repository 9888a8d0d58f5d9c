import { hasCode } from '../../platform/errors.ts';

/** The answer; undefined where the user may not ask, or the kind is not served. */
export async function whereAllowed<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    if (hasCode(error, 'KUBE_FORBIDDEN') || hasCode(error, 'KUBE_NOT_FOUND')) return undefined;
    throw error;
  }
}
