/** What goes wrong in karpenter-provider-ibm-cloud, one test each: none of it may be ours. */
import { describe, expect, it } from 'vitest';
import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE } from '../../src/apis/karpenter/labels.ts';
import type { Node } from '../../src/apis/kubernetes/node.ts';
import { learnedMemory } from '../../src/cloud/ibm/catalogue.ts';
import { machineName, machinePrefix } from '../../src/cloud/ibm/launch/machine-name.ts';
import { IBM_REPAIR_POLICIES } from '../../src/cloud/ibm/repair-policies.ts';
import { usableRepairPolicies } from '../../src/cloud/repair-policy.ts';
import { launchingProcess } from './testkit/launching-process.ts';
import { aClaim, localIbm, offering } from './testkit/local-ibm.ts';

const NEVER = new AbortController().signal;
const SPOT = offering('bxf-4x16', 'us-south-2', 'spot');

describe('upstream’s bugs', () => {
  it('1. lists were read to their first page: ours are read to their last', async () => {
    const ibm = await localIbm();
    const process = await launchingProcess(ibm);
    await ibm.clock.run(Promise.all(Array.from({ length: 130 }, () => process.launch(aClaim(), [SPOT]))));
    expect(await process.driver.list('us-south', NEVER)).toHaveLength(130);
  });

  it('2. spot was asked for on a profile that has none, and the zone of the offering was not looked at', async () => {
    const ibm = await localIbm();
    const process = await launchingProcess(ibm);
    const mixed = [offering('bx2-4x16', 'us-south-3', 'on-demand'), SPOT];
    const machine = await ibm.clock.run(process.launch(aClaim(), mixed));
    expect(machine).toMatchObject({ instanceType: 'bx2-4x16', zone: 'us-south-3', capacityType: 'on-demand' });
    const [stored] = [...ibm.server.world.instances.values()];
    expect(ibm.server.world.interfaces.get(stored?.interfaceId ?? '')?.subnet.zone).toBe('us-south-3');
  });

  it('3. a node was gone before anybody heard of it: the kubelet ends pods in the 30 s of the guest’s shutdown', async () => {
    const ibm = await localIbm();
    const process = await launchingProcess(ibm);
    await ibm.clock.run(process.launch(aClaim(), [SPOT]));
    const [stored] = [...ibm.server.world.instances.values()];
    expect(stored?.userData).toContain('"shutdownGracePeriod": "30s"');
  });

  it('4. failures to delete were only logged, and the event came again each minute: ours comes once, and the machine goes in the end', async () => {
    const ibm = await localIbm();
    const process = await launchingProcess(ibm);
    const claim = aClaim();
    ibm.claims.push(claim);
    await ibm.clock.run(process.launch(claim, [SPOT]));
    const [stored] = [...ibm.server.world.instances.values()];
    ibm.server.world.preempt(stored?.id ?? '');
    let failures = 2;
    ibm.server.world.faults.before = ({ method }) =>
      method === 'DELETE' && failures-- > 0 ? { status: 500, code: 'internal_error' } : undefined;
    const end = new AbortController();
    const listening = (async () => {
      for await (const notice of process.driver.noticeSources[0]?.receive(end.signal) ?? [])
        await notice.acknowledge(end.signal);
    })();
    await ibm.clock.advance(5 * 60_000);
    end.abort();
    await listening;
    expect(ibm.server.world.count().instances).toBe(0);
    let text = '';
    for await (const piece of ibm.metrics.pieces()) text += piece;
    expect(text).toContain('zone="us-south-2"} 1');
  });

  it('5. failed creates marked nothing, so that a sold-out profile was tried for ever', async () => {
    const ibm = await localIbm();
    ibm.server.world.faults.noCapacity.add('spot:bxf-4x16:us-south-2');
    const process = await launchingProcess(ibm);
    await expect(ibm.clock.run(process.launch(aClaim(), [SPOT]))).rejects.toMatchObject({
      code: 'CLOUD_INSUFFICIENT_CAPACITY',
    });
    ibm.server.world.requests.length = 0;
    await expect(ibm.clock.run(process.launch(aClaim(), [SPOT]))).rejects.toMatchObject({
      code: 'CLOUD_INSUFFICIENT_CAPACITY',
    });
    expect(ibm.server.world.requests).not.toContain('POST /v1/instances');
  });

  it('5b. the option that turns interruption handling off was never read', async () => {
    const ibm = await localIbm({ options: { ibmPreemptionInterval: 0 } });
    expect((await ibm.driver()).noticeSources).toEqual([]);
  });

  it('6. pressure on a node deleted it, with its pods, whoever’s it was: pressure replaces nothing here', () => {
    expect(usableRepairPolicies(IBM_REPAIR_POLICIES)).toEqual(IBM_REPAIR_POLICIES);
    expect(IBM_REPAIR_POLICIES.map(({ conditionType }) => conditionType)).toEqual(['Ready', 'Ready']);
  });

  it('6b. machines of somebody else are neither shown nor deleted', async () => {
    const ibm = await localIbm();
    const { driver, launch } = await launchingProcess(ibm);
    const machine = await ibm.clock.run(launch(aClaim(), [SPOT]));
    const id = machine.providerID.split('/').at(-1) ?? '';
    const stored = ibm.server.world.instances.get(id);
    if (stored === undefined) throw new Error('it is there');
    ibm.server.world.instances.set(id, { ...stored, name: 'somebody-else' });
    await expect(driver.get(machine.providerID, NEVER)).rejects.toMatchObject({ code: 'CLOUD_INSTANCE_NOT_FOUND' });
    expect(await driver.list('us-south', NEVER)).toEqual([]);
    expect(await driver.delete({ claimUID: 'x', providerID: machine.providerID }, NEVER)).toBe('gone');
    expect(ibm.server.world.count().instances).toBe(1);
  });

  it('7. the controller asked the metadata service of its own host: no call of ours does', async () => {
    const ibm = await localIbm();
    const process = await launchingProcess(ibm);
    await ibm.clock.run(process.launch(aClaim(), [SPOT]));
    expect(ibm.server.world.requests.filter((request) => request.includes('metadata'))).toEqual([]);
  });

  it('8. the boot volume was made for the zone of the class: ours is made with the machine, in its zone', async () => {
    const ibm = await localIbm();
    const process = await launchingProcess(ibm);
    await ibm.clock.run(process.launch(aClaim(), [SPOT]));
    expect([...ibm.server.world.volumes.values()].map(({ zone }) => zone)).toEqual(['us-south-2']);
  });

  it('9. tags were patched on the instance, which has none: ours go through Global Tagging, and onto the boot volume', async () => {
    const ibm = await localIbm({ spec: { tags: { team: 'a' } } });
    const process = await launchingProcess(ibm);
    const claim = aClaim();
    await ibm.clock.run(process.launch(claim, [SPOT]));
    const [tags] = [...ibm.server.world.tags.values()];
    expect([...(tags ?? [])]).toEqual(
      expect.arrayContaining(['team:a', `karpenter.sh/nodeclaim:${claim.metadata.name}`]),
    );
    expect(ibm.server.world.requests.filter((request) => request.startsWith('PATCH'))).toEqual([]);
    ibm.server.world.faults.before = ({ path }) =>
      path.startsWith('/v3/tags') ? { status: 403, code: 'not_authorized' } : undefined;
    expect(await ibm.clock.run(process.launch(aClaim(), [SPOT]))).toMatchObject({ state: 'running' });
  });

  it('10. two clusters of the same name met in one account: names follow from what is unique to each', () => {
    const uid = '10000000-0000-4000-8000-000000000001';
    expect(machineName('demo/uid-1', uid)).not.toBe(machineName('demo/uid-2', uid));
    expect(machineName('demo/uid-1', uid)).toMatch(/^[a-z][-a-z0-9]{0,57}[a-z0-9]$/);
    expect(machineName('demo/uid-1', uid).startsWith(machinePrefix('demo/uid-1'))).toBe(true);
  });

  it('11. a list read Kubernetes nodes, so that machines which never joined were never found', async () => {
    const ibm = await localIbm();
    const { launch } = await launchingProcess(ibm);
    await ibm.clock.run(launch(aClaim(), [SPOT]));
    const restarted = await ibm.driver();
    expect(await restarted.list('us-south', NEVER)).toHaveLength(1);
  });

  it('12. a type without a price was sold for nothing: ours is not sold', async () => {
    const ibm = await localIbm();
    const { instanceTypes } = await (await ibm.driver()).catalogue(ibm.nodeClass, NEVER);
    expect(instanceTypes.some(({ name }) => name.startsWith('gx3'))).toBe(false);
    expect(instanceTypes.flatMap(({ offerings }) => offerings).every(({ price }) => price > 0)).toBe(true);
  });

  it('13. memory was that of the profile: what nodes have is learned, the least of each profile', () => {
    const node = (profile: string, memory: string, providerID = 'ibm:///us-south/x'): Node => ({
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n', labels: { [LABEL_INSTANCE_TYPE]: profile, [LABEL_CAPACITY_TYPE]: 'spot' } },
      spec: { providerID },
      status: { capacity: { memory } },
    });
    const learned = learnedMemory([
      node('bxf-4x16', '15Gi'),
      node('bxf-4x16', '14Gi'),
      node('m5.large', '7Gi', 'aws:///a/b'),
    ]);
    expect([...learned]).toEqual([['bxf-4x16', 14 * 2 ** 30]]);
  });
});
