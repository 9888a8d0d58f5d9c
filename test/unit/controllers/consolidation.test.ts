/** Fleets that shrink when their load does, in virtual time. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { DEPLOYMENTS } from '../../../src/apis/kubernetes/workloads.ts';
import { aPool, aWorkload } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

async function fleet(world: FleetWorld): Promise<string[]> {
  const { items } = await world.client.list(NODE_CLAIMS);
  return items
    .map(
      ({ metadata }) =>
        `${metadata.labels?.['node.kubernetes.io/instance-type']}/${metadata.labels?.['karpenter.sh/capacity-type']}${metadata.deletionTimestamp ? '!' : ''}`,
    )
    .sort();
}

describe('consolidation', () => {
  it('x', async () => {
    const log: string[] = [];
    const logger: any = {
      with: () => logger,
      debug() {},
      info: (m: string, d: any) =>
        log.push(
          `${(world?.clock.now() / 1000) % 100000} ${m} ${JSON.stringify(d, (k, v) => (k === 'signal' ? undefined : v))}`,
        ),
      warn: (m: string, d: any) => log.push(`W ${m} ${JSON.stringify(d)}`),
      error: (m: string, d: any) => log.push(`E ${m} ${d?.error?.stack}`),
    };
    let world: FleetWorld = undefined as never;
    world = await FleetWorld.start({ logger, controllers: { consolidation: { planSteps: 10_000_000 } } });
    await world.client.create(
      NODE_POOLS,
      aPool('general', { disruption: { consolidateAfter: '30s', budgets: [{ nodes: '100%' }] } }),
    );
    for (const [name, cpu] of [
      ['a', '300m'],
      ['b', '700m'],
      ['c', '1500m'],
    ] as const)
      await world.client.create(DEPLOYMENTS, aWorkload(name, 20, cpu));
    await world.clock.advance(3 * MINUTE);
    console.log(await fleet(world));
    for (const name of ['a', 'b', 'c'])
      await world.client.patch(
        DEPLOYMENTS,
        { name, namespace: 'default' },
        { type: 'merge', body: { spec: { replicas: 4 } } },
      );
    for (let i = 0; i < 20; i++) {
      await world.clock.advance(30_000);
      const { items } = await world.client.list(PODS);
      console.log(
        i * 30,
        (
          await Promise.all(
            (
              await world.client.list(NODE_CLAIMS)
            ).items.map(
              async ({ metadata, status }) =>
                `${metadata.name}:${metadata.annotations?.['spindrift.dev/replaces'] ? 'R' : ''}:${(await world.events(metadata.name!)).Unconsolidatable}:${status?.lastPodEventTime}`,
            ),
          )
        ).join('\n'),
      );
      console.log(
        i * 30,
        (await fleet(world)).join(' '),
        'running',
        items.filter((p) => p.status?.phase === 'Running').length,
        'of',
        items.length,
      );
    }
    console.log(log.filter((l) => !/found places|claim|regist|initial/i.test(l)).join('\n'));
    expect(1).toBe(1);
    await world.end();
  });
});
