import type { KubeClient } from '../../../../src/kube/client.ts';
import { type Fault, FaultyClient } from '../../../../src/kube/testkit/faulty-client.ts';
import type { Clock } from '../../../../src/platform/clock.ts';
import type { Random } from '../../../../src/platform/random.ts';

/**
 * A client on which a share of the calls fails. The others take a moment, so that a kill can happen in between. Watch events are delayed by
 * `lagMs`.
 */
export function troubledClient(
  client: KubeClient,
  clock: Clock,
  random: Random,
  trouble: () => number,
  lagMs = 0,
): FaultyClient {
  const fault = (verb: string): Fault | undefined => {
    if (random.next() >= trouble()) return verb === 'watch' ? undefined : { kind: 'late', byMs: random.below(20) };
    return random.pick([{ kind: 'lost' }, { kind: 'unanswered' }, { kind: 'late', byMs: 2000 }, { kind: 'hangs' }]);
  };
  return new FaultyClient({ client, clock, fault, lagMs });
}
