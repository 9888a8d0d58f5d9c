/** What Azure does that hides bugs, beside what every driver is tested for. */
import { describe, expect, it } from 'vitest';
import { ArmApi, ArmRefusal } from '../../../../src/cloud/azure/arm-api.ts';
import { armFailureKind, refusedByArm } from '../../../../src/cloud/azure/arm-failure.ts';
import { AzureDriver } from '../../../../src/cloud/azure/azure-driver.ts';
import { InterfaceSweeper } from '../../../../src/cloud/azure/interface-sweeper.ts';
import { NODE_CLASS_KIND } from '../../../../src/cloud/azure/node-class-kind.ts';
import { azureVmSizes } from '../../../../src/cloud/azure/vm-sizes.ts';
import type { LaunchAnswer } from '../../../../src/cloud/cloud.ts';
import type { HttpAnswer, HttpCall } from '../../../../src/cloud/http-send.ts';
import { aReadyNodeClass } from '../../../../src/cloud/testkit/opened-clouds.ts';
import type { RankedOffering } from '../../../../src/engine/solution.ts';
import { SILENT_LOGGER } from '../../../../src/platform/logger.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { ArmServer } from '../../../azure/arm-server.ts';

const NEVER = new AbortController().signal;
const UID = '00000000-0000-4000-8000-000000000001';
const CLAIM = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'c', uid: UID, labels: {} },
  spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'ready' }, requirements: [], expireAfter: '720h' },
} as const;

function world() {
  const clock = new VirtualClock();
  const server = new ArmServer({ clock });
  const calls: HttpCall[] = [];
  const state = { answer: undefined as ((call: HttpCall) => HttpAnswer | undefined) | undefined };
  const api = new ArmApi({
    ...{ clock, endpoint: 'https://management.azure.com', token: async () => 'token' },
    send: async (call, signal) => {
      calls.push(call);
      return state.answer?.(call) ?? server.handle(call, signal);
    },
  });
  const place = { subscription: 's', resourceGroup: 'Nodes', location: 'eastus', cluster: 'c' };
  const driver = new AzureDriver({ clock, api, ...place });
  const nodeClass = aReadyNodeClass({ nodeClass: NODE_CLASS_KIND as never }, 'ready', {
    ...{ imageID: '/i', vnetSubnetID: '/subscriptions/s/n', sshPublicKey: 'ssh-rsa A' },
  });
  const launch = (offerings: readonly RankedOffering[], attempt = 0): Promise<LaunchAnswer> =>
    clock.run(driver.launch({ claim: CLAIM as never, nodeClass, offerings, attempt, takeSlot: () => true }, NEVER));
  const creates = (): readonly HttpCall[] =>
    calls.filter(({ method, url }) => method === 'PUT' && url.includes('/virtualMachines/'));
  return { clock, server, driver, state, nodeClass, launch, creates, calls };
}

const spot = (zone = 'eastus-1', instanceType = 'Standard_D2s_v5'): RankedOffering => ({
  ...{ instanceType, zone, capacityType: 'spot', price: 1 },
});
const refusal = (status: number, code: string, headers: Record<string, string> = {}): HttpAnswer => ({
  ...{ status, headers, body: JSON.stringify({ error: { code, message: 'no' } }) },
});
const providerID = `azure:///subscriptions/s/resourceGroups/nodes/providers/Microsoft.Compute/virtualMachines/spindrift-${UID}`;

describe('a create', () => {
  it('that was answered 429 is sent again after Retry-After, and not before', async () => {
    const { state, clock, launch, creates } = world();
    const sentAt: number[] = [];
    state.answer = ({ method, url }) => {
      if (method !== 'PUT' || !url.includes('/virtualMachines/')) return undefined;
      sentAt.push(clock.elapsed());
      return sentAt.length === 1 ? refusal(429, 'TooManyRequests', { 'retry-after': '17' }) : undefined;
    };
    expect(await launch([spot()])).toMatchObject({ kind: 'launched' });
    expect(creates()).toHaveLength(2);
    expect((sentAt[1] ?? 0) - (sentAt[0] ?? 0)).toBe(17_000);
  });

  it('is waited for while questions about its operation are refused, and the VM is not taken back', async () => {
    const { state, server, launch, calls } = world();
    let asked = 0;
    state.answer = ({ url }) =>
      url.includes('/operations/') && asked++ < 2 ? refusal(503, 'ServiceUnavailable') : undefined;
    expect(await launch([spot()])).toMatchObject({ kind: 'launched' });
    expect(calls.some(({ method }) => method === 'DELETE')).toBe(false);
    expect(server.launches).toBe(1);
  });

  it('that is shown by a location alone is waited for', async () => {
    const { clock } = world();
    let asked = 0;
    const done: HttpAnswer = { status: 200, headers: {}, body: '{"name":"vm"}' };
    const begun: HttpAnswer = { status: 202, headers: { location: 'https://management.azure.com/o' }, body: '' };
    const api = new ArmApi({
      ...{ clock, endpoint: 'https://management.azure.com', token: async () => 'token' },
      send: async ({ method }) => (method === 'DELETE' || asked++ < 3 ? begun : done),
    });
    await clock.run(api.call('DELETE', '/x', '1', NEVER));
    expect(asked).toBe(4);
  });

  it('for a group that is not there is refused as it is, and not taken for a VM that has gone', async () => {
    const { state, launch } = world();
    state.answer = ({ method }) => (method === 'PUT' ? refusal(404, 'ResourceGroupNotFound') : undefined);
    await expect(launch([spot()])).rejects.toMatchObject({ code: 'CLOUD_REFUSED' });
  });

  it('of a former process that failed is removed, whether the next one asks for the same or for another zone', async () => {
    for (const zone of ['eastus-1', 'eastus-2']) {
      const { server, state, clock, launch, driver } = world();
      server.exhausted.add('1/Standard_D2s_v5/Spot');
      // The process ends before it can clean up.
      state.answer = ({ method, url }) =>
        method === 'DELETE' || url.includes('/operations/') ? refusal(503, 'ServiceUnavailable') : undefined;
      await expect(launch([spot()])).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      expect(server.all).toMatchObject([{ state: 'Failed' }]);
      state.answer = undefined;
      server.exhausted.clear();
      await expect(launch([spot(zone)])).rejects.toMatchObject({ code: 'CLOUD_UNAVAILABLE', retry: 'retry' });
      await clock.advance(200_000);
      expect(await launch([spot(zone)])).toMatchObject({ kind: 'launched', machine: { zone } });
      expect(await clock.run(driver.list('eastus', NEVER))).toHaveLength(1);
    }
  });
});

describe('a VM', () => {
  it('that was deallocated is shown as stopped, whatever its provisioning state says', async () => {
    const { server, clock, launch, driver } = world();
    await launch([{ ...spot(), capacityType: 'on-demand' }]);
    server.evict(`spindrift-${UID}`);
    expect(await clock.run(driver.get(providerID, NEVER))).toMatchObject({ state: 'stopped' });
  });

  it('is found by an ID in any case', async () => {
    const { clock, launch, driver } = world();
    await launch([spot()]);
    const found = await clock.run(driver.get(providerID.toUpperCase().replace('AZURE:', 'azure:'), NEVER));
    expect(found.providerID).toBe(providerID);
    expect(driver.machineKey(providerID.replace('nodes', 'NODES'))).toBe(driver.machineKey(providerID));
  });

  it('is not gone because the subscription cannot be seen', async () => {
    const { state, clock, launch, driver } = world();
    await launch([spot()]);
    state.answer = () => refusal(404, 'SubscriptionNotFound');
    await expect(clock.run(driver.get(providerID, NEVER))).rejects.toMatchObject({ code: 'CLOUD_REFUSED' });
    await expect(clock.run(driver.delete({ claimUID: UID, providerID }, NEVER))).rejects.toMatchObject({
      code: 'CLOUD_REFUSED',
    });
  });
});

describe('sizes', () => {
  it('are sold on spot again when LowPriorityCapable flips back, within an hour', async () => {
    const { server, clock, driver, nodeClass } = world();
    const markets = async () => {
      const { instanceTypes } = await clock.run(driver.catalogue(nodeClass, NEVER));
      const type = instanceTypes.find(({ name }) => name === 'Standard_D2s_v5');
      return new Set(type?.offerings.map(({ capacityType }) => capacityType));
    };
    server.noSpot.add('Standard_D2s_v5');
    expect(await markets()).toEqual(new Set(['on-demand']));
    server.noSpot.clear();
    await clock.advance(3_600_000);
    expect(await markets()).toEqual(new Set(['on-demand', 'spot']));
  });

  it('without zones are sold in zone 0, and their VMs are created without one', async () => {
    const { server, clock, driver, nodeClass, launch } = world();
    server.zoneless.add('Standard_D2s_v5');
    const { instanceTypes } = await clock.run(driver.catalogue(nodeClass, NEVER));
    const type = instanceTypes.find(({ name }) => name === 'Standard_D2s_v5');
    expect(type?.offerings.map(({ zone }) => zone)).toEqual(['0', '0']);
    expect(await launch([spot('0')])).toMatchObject({ kind: 'launched', machine: { zone: '0' } });
    expect(server.all[0]?.body).not.toHaveProperty('zones');
  });
});

describe('interfaces that no VM uses', () => {
  it('are deleted after a while, also where one of them cannot be', async () => {
    const { clock } = world();
    const deleted: string[] = [];
    const stop = new AbortController();
    const interfaces = {
      unusedInterfaces: async () => ['locked', 'left'].filter((name) => !deleted.includes(name)),
      deleteInterface: async (name: string) => {
        if (name === 'locked') throw new Error('ScopeLocked');
        deleted.push(name);
      },
    };
    const run = new InterfaceSweeper({ clock, logger: SILENT_LOGGER, interfaces }).run(stop.signal);
    await clock.advance(179_000);
    expect(deleted).toEqual([]);
    await clock.advance(61_000);
    expect(deleted).toEqual(['left']);
    stop.abort();
    await clock.run(run);
  });
});

describe('errors of Azure', () => {
  it.each([
    [409, 'OperationNotAllowed', 'exceeding approved LowPriorityCores quota', 'quota'],
    [409, 'OperationNotAllowed', 'exceeding approved standardDSv5Family Cores quota', 'quota'],
    [409, 'OperationNotAllowed', 'exceeding approved Total Regional Cores quota', 'quota'],
    [409, 'OperationNotAllowed', 'The VM is being deleted', 'exists'],
    [409, 'SkuNotAvailable', '', 'capacity'],
    [200, 'ZonalAllocationFailed', '', 'capacity'],
    [200, 'OverconstrainedAllocationRequest', '', 'capacity'],
    [409, 'SpotPriceGreaterThanProvidedMaxPrice', '', 'capacity'],
    [400, 'BadRequest', 'Standard_D2s_v5 is not supported for subscription s', 'unsupported'],
    [429, 'SubscriptionRequestsThrottled', '', 'throttled'],
    [401, 'ExpiredAuthenticationToken', '', 'unauthenticated'],
    [403, 'AuthorizationFailed', '', 'denied'],
    [404, 'ResourceNotFound', '', 'not-found'],
    [404, 'SubscriptionNotFound', '', 'invalid'],
    [400, 'InvalidResourceReference', '', 'invalid'],
    [409, 'PropertyChangeNotAllowed', '', 'exists'],
    [200, 'InternalExecutionError', '', 'trouble'],
  ] as const)('%i %s %s are of the kind %s', (status, code, message, kind) => {
    expect(armFailureKind(new ArmRefusal(status, code, message))).toBe(kind);
  });

  const shapes = new Map(azureVmSizes().map((shape) => [shape.name.toLowerCase(), shape]));
  const refused = (code: string, message = '', offering = spot()) =>
    refusedByArm(offering, new ArmRefusal(409, code, message), shapes);
  const size = { instanceType: 'Standard_D2s_v5' };

  it.each([
    ['OperationNotAllowed', 'LowPriorityCores quota', { offering: { capacityType: 'spot' }, cause: 'quota' }],
    ['SkuNotAvailable', '', { offering: { ...size, capacityType: 'spot' }, cause: 'capacity' }],
    ['ZonalAllocationFailed', '', { offering: { ...size, zone: 'eastus-1' }, cause: 'capacity' }],
    ['AllocationFailed', '', { offering: size, cause: 'capacity' }],
    ['VMSizeNotSupported', '', { offering: size, cause: 'unsupported' }],
    [
      ...['OverconstrainedZonalAllocationRequest', ''],
      { offering: { ...size, zone: 'eastus-1', capacityType: 'spot' }, cause: 'capacity' },
    ],
  ] as const)('%s %s cover what Azure counts together', (code, message, scope) => {
    expect(refused(code as string, message as string)).toEqual(scope);
  });

  it('of the quota of a series cover its sizes from this one upwards', () => {
    const message = 'exceeding approved standardDSv5Family Cores quota';
    const { offering } = refused('OperationNotAllowed', message, spot('eastus-1', 'Standard_D8s_v5'));
    expect(offering.instanceTypes).toContain('Standard_D96s_v5');
    expect(offering.instanceTypes).not.toContain('Standard_D4s_v5');
    expect(offering.instanceTypes).not.toContain('Standard_E8s_v5');
  });

  it('spare offerings that they cover the question', async () => {
    const { server, launch, creates } = world();
    server.refusals.push({
      status: 409,
      code: 'OperationNotAllowed',
      message: 'exceeding approved LowPriorityCores quota',
    });
    const answer = await launch([spot(), spot('eastus-2'), { ...spot(), capacityType: 'on-demand' }]);
    expect(answer).toMatchObject({ kind: 'launched', machine: { capacityType: 'on-demand' } });
    expect(creates()).toHaveLength(2);
  });
});
