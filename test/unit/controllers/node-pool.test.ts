/** What pools say of themselves, in virtual time, on the embedded cluster and the simulated cloud. */
import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../../src/apis/karpenter/conditions.ts';
import { NODE_CLAIMS } from '../../../src/apis/karpenter/node-claim.ts';
import { NODE_POOLS, type NodePool } from '../../../src/apis/karpenter/node-pool.ts';
import { NO_FAULTS } from '../../../src/cloud/simulated/account-settings.ts';
import { aClaim, FleetWorld } from './testkit/fleet-world.ts';

const MINUTE = 60_000;

function aPool(template: object = {}, spec: object = {}): NodePool {
  const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'default' };
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'general' },
    spec: { template: { spec: { requirements: [], nodeClassRef, ...template } }, ...spec },
  } as unknown as NodePool;
}

async function withPool(pool: NodePool, world?: FleetWorld) {
  const there = world ?? (await FleetWorld.start());
  await there.client.create(NODE_POOLS, pool);
  await there.clock.advance(2000);
  const read = (): Promise<NodePool> => there.client.get(NODE_POOLS, { name: 'general' });
  const said = async (type: string) => conditionOf(await read(), type);
  return { world: there, read, said };
}

describe('a pool', () => {
  it('is ready when it makes sense and its node class is ready', async () => {
    const { world, read } = await withPool(aPool());
    const { status } = await read();
    const summary = status?.conditions?.map((condition) => `${condition.type}=${condition.status}`).sort();
    expect(summary).toEqual([
      'NodeClassReady=True',
      'NodeRegistrationHealthy=Unknown',
      'Ready=True',
      'ValidationSucceeded=True',
    ]);
    await world.end();
  });

  it('that asks for labels of another cloud says so, and whose label to write instead', async () => {
    const requirements = [{ key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['r7i'] }];
    const { world, said } = await withPool(aPool({ requirements }));
    expect(await said('ValidationSucceeded')).toMatchObject({
      status: 'False',
      message: expect.stringContaining(
        'karpenter.k8s.aws/instance-family is a label of AWS, which nodes of spindrift.dev never have: write spindrift.dev/instance-family',
      ),
    });
    expect(await said('Ready')).toMatchObject({ status: 'False' });
    await world.end();
  });

  it('with a fixed number of nodes is ready like any other', async () => {
    const { world, said } = await withPool(aPool({}, { replicas: 3 }));
    expect(await said('ValidationSucceeded')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('that makes no sense says what to write instead', async () => {
    const limits = { cpu: '-5' };
    const { world, said } = await withPool(aPool({}, { limits }));
    expect(await said('ValidationSucceeded')).toMatchObject({
      status: 'False',
      reason: 'NodePoolValidationFailed',
      message: expect.stringContaining('spec.limits.cpu is -5: write 0 or more'),
    });
    expect(await said('Ready')).toMatchObject({ status: 'False' });
    expect(await world.events('general')).toHaveProperty('ValidationFailed');
    await world.client.patch(
      NODE_POOLS,
      { name: 'general' },
      { type: 'merge', body: { spec: { limits: { cpu: '5' } } } },
    );
    await world.clock.advance(1000);
    expect(await said('Ready')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('is told of words in it that mean nothing, and ready all the same', async () => {
    const requirements = [{ key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot', 'ondemand'] }];
    const { world, said } = await withPool(aPool({ requirements }));
    expect(await said('ValidationSucceeded')).toMatchObject({
      status: 'True',
      message: expect.stringContaining('have ondemand, which is ignored'),
    });
    expect(await said('Ready')).toMatchObject({ status: 'True' });
    expect(await world.events('general')).toHaveProperty('PartlyIgnored');
    await world.end();
  });

  it('may not ask for labels that only its cloud sets', async () => {
    const requirements = [{ key: 'spindrift.dev/anything', operator: 'Exists' }];
    const { world, said } = await withPool(aPool({ requirements }));
    expect(await said('ValidationSucceeded')).toMatchObject({
      status: 'False',
      message: expect.stringContaining('labels of the domain spindrift.dev are set by the autoscaler'),
    });
    await world.end();
  });

  it('whose node class is missing is ready as soon as it is there', async () => {
    const nodeClassRef = { group: 'spindrift.dev', kind: 'SimulatedNodeClass', name: 'later' };
    const { world, said } = await withPool(aPool({ nodeClassRef }));
    expect(await said('NodeClassReady')).toMatchObject({ status: 'False', reason: 'NodeClassNotFound' });
    expect(await world.events('general')).toHaveProperty('NodeClassNotReady');
    await world.addNodeClass('later');
    await world.clock.advance(1000);
    expect(await said('Ready')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('of a cloud that is not enabled here is left as it is: another autoscaler looks after it', async () => {
    const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
    const { world } = await withPool(aPool({ nodeClassRef }));
    await world.clock.advance(120_000);
    const pool = await world.client.get(NODE_POOLS, { name: 'general' });
    expect([pool.status?.conditions, pool.metadata.annotations]).toEqual([undefined, undefined]);
    expect(await world.events('general')).toEqual({});
    await world.end();
  });

  it('counts its nodes and what they have, up and down', async () => {
    const { world, read } = await withPool(
      aPool({}, { limits: { cpu: '10' }, disruption: { consolidateAfter: 'Never' } }),
    );
    for (const name of ['one', 'two', 'three']) await world.client.create(NODE_CLAIMS, aClaim(name));
    await world.clock.advance(MINUTE);
    expect((await read()).status).toMatchObject({ nodes: 3, resources: { cpu: '6', memory: '24Gi', nodes: '3' } });
    const cpu = { nodepool: 'general', resource_type: 'cpu' };
    expect(await world.metrics.read('karpenter_nodepools_usage', cpu)).toBe(6);
    expect(await world.metrics.read('karpenter_nodepools_limit', cpu)).toBe(10);
    for (const name of ['one', 'two', 'three']) await world.client.delete(NODE_CLAIMS, { name });
    await world.clock.advance(MINUTE);
    expect((await read()).status).toMatchObject({ nodes: 0, resources: { nodes: '0' } });
    expect((await read()).status?.resources).not.toHaveProperty('cpu');
    expect(await world.metrics.read('karpenter_nodepools_usage', cpu)).toBeUndefined();
    await world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body: { spec: { limits: null } } });
    await world.clock.advance(1000);
    expect(await world.metrics.read('karpenter_nodepools_limit', cpu)).toBeUndefined();
    expect(await world.metrics.read('karpenter_nodepools_usage', { nodepool: 'general' })).toBe(0);
    await world.client.delete(NODE_POOLS, { name: 'general' });
    await world.clock.advance(1000);
    expect(await world.metrics.read('karpenter_nodepools_usage', { nodepool: 'general' })).toBeUndefined();
    await world.end();
  });

  it('is unhealthy when its nodes do not come up, and says nothing of that after a change', async () => {
    const account = { overrides: [{ capacity: 0 }] };
    const { world, said } = await withPool(aPool(), await FleetWorld.start({ account }));
    for (const name of ['one', 'two']) await world.client.create(NODE_CLAIMS, aClaim(name));
    await world.clock.advance(10_000);
    expect(await said('NodeRegistrationHealthy')).toMatchObject({
      status: 'False',
      reason: 'InsufficientCapacityError',
    });
    expect(await said('Ready')).toMatchObject({ status: 'True' });
    const body = { spec: { weight: 5 } };
    await world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body });
    await world.clock.advance(1000);
    expect(await said('NodeRegistrationHealthy')).toMatchObject({ status: 'Unknown' });
    world.cloud.configure('default', { ...world.cloud.account('default')!.settings, overrides: [], faults: NO_FAULTS });
    await world.clock.advance(10 * MINUTE);
    await world.client.create(NODE_CLAIMS, aClaim('three'));
    await world.clock.advance(MINUTE);
    expect(await said('NodeRegistrationHealthy')).toMatchObject({ status: 'True' });
    await world.end();
  });

  it('does not inherit the health of a deleted pool with the same name', async () => {
    const account = { overrides: [{ capacity: 0 }] };
    const { world, said } = await withPool(aPool(), await FleetWorld.start({ account }));
    for (const name of ['one', 'two']) await world.client.create(NODE_CLAIMS, aClaim(name));
    await world.clock.advance(10_000);
    expect(await said('NodeRegistrationHealthy')).toMatchObject({ status: 'False' });
    await world.client.delete(NODE_POOLS, { name: 'general' });
    await world.clock.advance(10_000);
    await world.client.create(NODE_POOLS, aPool());
    await world.clock.advance(10_000);
    expect(await said('NodeRegistrationHealthy')).toMatchObject({ status: 'Unknown' });
    await world.end();
  });

  it('carries the hash of its template, and claims without one are given it', async () => {
    const { world, read } = await withPool(aPool());
    await world.client.create(NODE_CLAIMS, aClaim('one'));
    await world.clock.advance(1000);
    const hash = (await read()).metadata.annotations?.['karpenter.sh/nodepool-hash'];
    expect(hash).toMatch(/^\d+$/);
    expect((await world.claim('one'))?.metadata.annotations).toMatchObject({ 'karpenter.sh/nodepool-hash': hash });
    const body = { spec: { template: { metadata: { labels: { team: 'a' } } } } };
    await world.client.patch(NODE_POOLS, { name: 'general' }, { type: 'merge', body });
    await world.clock.advance(1000);
    expect((await read()).metadata.annotations?.['karpenter.sh/nodepool-hash']).not.toBe(hash);
    expect((await world.claim('one'))?.metadata.annotations).toMatchObject({ 'karpenter.sh/nodepool-hash': hash });
    await world.end();
  });
});
