import { describe, expect, it } from 'vitest';
import type { IBMNodeClass } from '../../src/apis/ibm/ibm-node-class.ts';
import type { NodeClaim } from '../../src/apis/karpenter/node-claim.ts';
import { EVENTS } from '../../src/apis/kubernetes/event.ts';
import { machineOf } from '../../src/cloud/machine.ts';
import { launchingProcess } from './testkit/launching-process.ts';
import { aClaim, localIbm, offering } from './testkit/local-ibm.ts';

const NEVER = new AbortController().signal;
const SPOT = offering('bxf-4x16', 'us-south-1', 'spot');

async function world(poolName = 'web') {
  const ibm = await localIbm();
  const balancer = ibm.server.world.addBalancer('web');
  const integration = {
    enabled: true,
    autoDeregister: true,
    registrationTimeout: 60,
    targetGroups: [{ loadBalancerID: balancer.id, poolName, port: 30_080, weight: 50 }],
  };
  (ibm.nodeClass.spec as { loadBalancerIntegration?: unknown }).loadBalancerIntegration =
    integration satisfies NonNullable<IBMNodeClass['spec']['loadBalancerIntegration']>;
  const process = await launchingProcess(ibm);
  const launchedClaim = async (): Promise<NodeClaim> => {
    const claim = aClaim();
    const { providerID } = await ibm.clock.run(process.launch(claim, [SPOT]));
    return { ...claim, status: { providerID, conditions: [{ type: 'Registered', status: 'True' }] } as never };
  };
  const end = new AbortController();
  const running = process.driver.controllers.find(({ name }) => name === 'ibm.loadbalancer')?.run(end.signal);
  const finish = async () => {
    end.abort();
    await running;
  };
  const members = () =>
    balancer.pools[0]?.members.map(({ instanceId, port }) => `ibm:///us-south/${instanceId}:${port}`) ?? [];
  return { ibm, process, launchedClaim, members, finish };
}

describe('load balancers', () => {
  it('get every registered node as a member, one change at a time, and lose it before its machine goes', async () => {
    const { ibm, process, launchedClaim, members, finish } = await world();
    const claims = [await launchedClaim(), await launchedClaim()] as [NodeClaim, NodeClaim];
    ibm.claims.push(...claims);
    await ibm.clock.advance(60_000);
    expect(members().sort()).toEqual(claims.map(({ status }) => `${status?.providerID}:30080`).sort());
    ibm.claims.length = 0;
    expect(await ibm.clock.run(process.driver.delete(machineOf(claims[0]), NEVER))).toBe('terminating');
    expect(members()).toEqual([`${claims[1].status?.providerID}:30080`]);
    await finish();
  });

  it('without the pool that the class names are told of, once', async () => {
    const { ibm, launchedClaim, members, finish } = await world('other');
    ibm.claims.push(await launchedClaim());
    await ibm.clock.advance(5 * 60_000);
    expect(members()).toEqual([]);
    const { items } = await ibm.client.list(EVENTS);
    expect(items.map(({ reason, count }) => [reason, count])).toEqual([['LoadBalancerPoolNotFound', 1]]);
    await finish();
  });
});
