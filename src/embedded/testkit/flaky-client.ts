/** A client whose writes sometimes fail, half of them after they took effect, as on a bad network. */
import type { KubeClient } from '../../kube/client.ts';
import { KubeError } from '../../kube/kube-error.ts';
import type { Random } from '../../platform/random.ts';

export function flakyClient(client: KubeClient, random: Random, share: number): KubeClient {
  const trouble = (code: number, reason: string): KubeError =>
    new KubeError({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      code,
      reason,
      message: `${reason} for a test`,
    });
  const flaky = async <T>(write: () => Promise<T>): Promise<T> => {
    const luck = random.next();
    if (luck < share / 3) throw trouble(500, 'InternalError');
    if (luck < share / 2) throw trouble(429, 'TooManyRequests');
    const answer = await write();
    if (luck < share) throw trouble(500, 'InternalError');
    return answer;
  };
  return {
    get: (...args) => client.get(...args),
    list: (...args) => client.list(...args),
    watch: (...args) => client.watch(...args),
    create: (...args) => flaky(() => client.create(...args)),
    replace: (...args) => flaky(() => client.replace(...args)),
    patch: (...args) => flaky(() => client.patch(...args)),
    delete: (...args) => flaky(() => client.delete(...args)),
    evict: (...args) => flaky(() => client.evict(...args)),
    bind: (...args) => flaky(() => client.bind(...args)),
  };
}
