/** What the log tells of a fleet, in virtual time: each step of a node once, and no line again and again. */
import { describe, expect, it } from 'vitest';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS } from '../../../src/apis/karpenter/node-pool.ts';
import { PODS } from '../../../src/apis/kubernetes/pod.ts';
import { aPod } from '../../../src/embedded/testkit/objects.ts';
import { type KeptLine, keptLines } from '../../../src/platform/testkit/kept-lines.ts';
import { aPool } from './testkit/fleet-objects.ts';
import { FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

async function start() {
  const { logger, lines } = keptLines();
  const world = await FleetWorld.start({ logger });
  await world.client.create(NODE_POOLS, aPool('web'));
  await world.clock.advance(1000);
  const told = (): KeptLine[] => lines.filter(({ level }) => level !== 'debug');
  return { world, told };
}

describe('the log', () => {
  it('tells each step of a node, with what it is and what it costs', async () => {
    const { world, told } = await start();
    await world.client.create(PODS, aPod('a', { requests: { cpu: '500m' } }));
    await world.clock.advance(2 * MINUTE);
    const [claim] = (await world.client.list(NODE_CLAIMS)).items;
    const name = claim?.metadata.name ?? '';
    const ofClaim = told().filter(({ message }) => message.endsWith(' NodeClaim'));
    expect(ofClaim.map(({ message }) => message)).toEqual([
      'created NodeClaim',
      'launched NodeClaim',
      'registered NodeClaim',
      'initialized NodeClaim',
    ]);
    for (const { fields } of ofClaim)
      expect(fields).toMatchObject({ NodeClaim: { name }, NodePool: { name: 'web' }, controller: 'nodeclaim.diary' });
    expect(ofClaim[1]?.fields).toMatchObject({
      instanceType: expect.any(String),
      zone: expect.any(String),
      capacityType: expect.any(String),
      pricePerHour: expect.any(Number),
      providerID: expect.any(String),
    });
    expect(ofClaim[3]?.fields).toMatchObject({ Node: { name: claim?.status?.nodeName }, seconds: expect.any(Number) });
    await world.client.delete(NODE_CLAIMS, { name });
    await world.clock.advance(2 * MINUTE);
    expect(told().map(({ message }) => message)).toContain('deleted NodeClaim');
    await world.end();
  });

  it('tells nothing of claims that were there before', async () => {
    const { world, told } = await start();
    await world.client.create(PODS, aPod('a', { requests: { cpu: '500m' } }));
    await world.clock.advance(2 * MINUTE);
    await world.killControllers();
    const before = told().length;
    world.startControllers();
    await world.clock.advance(MINUTE);
    expect(told().slice(before)).toEqual([]);
    await world.end();
  });

  it('tells once why pods have no place, however many rounds look at them', async () => {
    const { world, told } = await start();
    for (const name of ['a', 'b'])
      await world.client.create(
        PODS,
        aPod(name, { requests: { cpu: '500m' }, spec: { nodeSelector: { disk: 'ssd' } } }),
      );
    await world.clock.advance(5 * MINUTE);
    const lines = told().filter(({ fields }) => fields.controller === 'provisioner');
    expect(lines.map(({ message }) => message)).toEqual(['pods are unschedulable']);
    expect(lines[0]?.fields).toMatchObject({
      pods: 2,
      names: ['default/a', 'default/b'],
      why: expect.stringContaining('disk would have to be ssd, it is absent'),
    });
    await world.end();
  });
});
