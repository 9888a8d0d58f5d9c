import { describe, expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import { aStateNode } from '../../state/testkit/a-state-node.ts';
import { StaticLaunches, type StaticLaunchesOptions } from './static-launches.ts';

const NEVER = new AbortController().signal;

function launchesFor(pools: readonly ReturnType<typeof aNodePool>[], isOurs = true) {
  const state = { informers: { nodePools: { list: () => pools } }, nodes: () => [aStateNode()] };
  return new StaticLaunches({ state, clouds: { isOurs: () => isOurs } } as unknown as StaticLaunchesOptions);
}

describe('the nodes that static pools lack', () => {
  it('are still missing when the cloud of their pool does not answer, so that another round is needed', async () => {
    const launches = launchesFor([aNodePool({ spec: { replicas: 3 } })]);
    await launches.launch([], NEVER);
    expect(launches.missing).toBe(2);
  });

  it('are those of this moment: none once replicas are lowered', () => {
    const pools = [aNodePool({ spec: { replicas: 3 } })];
    const launches = launchesFor(pools);
    expect(launches.missing).toBe(2);
    pools[0] = aNodePool({ spec: { replicas: 1 } });
    expect(launches.missing).toBe(0);
  });

  it('are not those of another autoscaler, or of a pool that is being deleted', () => {
    const pool = aNodePool({ spec: { replicas: 3 } });
    expect(launchesFor([pool], false).missing).toBe(0);
    const metadata = { ...pool.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' };
    expect(launchesFor([{ ...pool, metadata }]).missing).toBe(0);
  });
});
