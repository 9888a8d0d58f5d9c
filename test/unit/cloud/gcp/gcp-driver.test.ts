/** What Compute Engine does that hides bugs, beside what every driver is tested for. */
import { describe, expect, it } from 'vitest';
import type { LaunchAnswer } from '../../../../src/cloud/cloud.ts';
import { ComputeApi, ComputeRefusal } from '../../../../src/cloud/gcp/compute-api.ts';
import { computeFailureKind, refusedByCompute } from '../../../../src/cloud/gcp/compute-failure.ts';
import { GcpDriver } from '../../../../src/cloud/gcp/gcp-driver.ts';
import { gcpMachineTypes } from '../../../../src/cloud/gcp/machine-types.ts';
import { NODE_CLASS_KIND } from '../../../../src/cloud/gcp/node-class-kind.ts';
import type { HttpAnswer, HttpCall } from '../../../../src/cloud/http-send.ts';
import { aReadyNodeClass } from '../../../../src/cloud/testkit/opened-clouds.ts';
import type { RankedOffering } from '../../../../src/engine/solution.ts';
import { VirtualClock } from '../../../../src/platform/virtual-clock.ts';
import { ComputeServer } from '../../../gcp/compute-server.ts';

const NEVER = new AbortController().signal;
const CLAIM = {
  apiVersion: 'karpenter.sh/v1',
  kind: 'NodeClaim',
  metadata: { name: 'c', uid: '00000000-0000-4000-8000-000000000001', labels: {} },
  spec: { nodeClassRef: { group: 'g', kind: 'k', name: 'ready' }, requirements: [], expireAfter: '720h' },
} as const;

function world(machineTypes = ['e2-standard-2', 'n2-standard-4', 'n4-standard-2']) {
  const clock = new VirtualClock();
  const server = new ComputeServer({ clock, machineTypes });
  const calls: HttpCall[] = [];
  const state = {
    answer: undefined as ((call: HttpCall) => HttpAnswer | undefined) | undefined,
    token: async () => 'token',
  };
  const api = new ComputeApi({
    ...{ clock, endpoint: 'https://compute.googleapis.com/compute/v1', project: 'p', token: () => state.token() },
    send: async (call, signal) => {
      calls.push(call);
      return state.answer?.(call) ?? server.handle(call, signal);
    },
  });
  const driver = new GcpDriver({ clock, api, project: 'p', region: 'us-central1', cluster: 'c' });
  const nodeClass = (spec: object = {}) =>
    aReadyNodeClass({ nodeClass: NODE_CLASS_KIND as never }, 'ready', {
      ...{ imageSelectorTerms: [{ id: 'projects/p/global/images/node' }], ...spec },
    });
  const launch = (offerings: readonly RankedOffering[], spec: object = {}): Promise<LaunchAnswer> =>
    clock.run(
      driver.launch(
        { claim: CLAIM as never, nodeClass: nodeClass(spec), offerings, attempt: 0, takeSlot: () => true },
        NEVER,
      ),
    );
  const inserts = (): readonly HttpCall[] => calls.filter(({ method }) => method === 'POST');
  return { clock, server, driver, state, nodeClass, launch, inserts };
}

const spot = (instanceType: string, zone = 'us-central1-a'): RankedOffering => ({
  ...{ instanceType, zone, capacityType: 'spot', price: 1 },
});
const json = (status: number, body: object): HttpAnswer => ({ status, headers: {}, body: JSON.stringify(body) });

describe('an insert', () => {
  it('whose operation ended with trouble is asked for by another request ID, as the same one shows the same end', async () => {
    const { server, launch, inserts } = world();
    server.endings.push({ code: 'INTERNAL_ERROR', message: 'Internal error.' });
    expect(await launch([spot('e2-standard-2')])).toMatchObject({ kind: 'launched' });
    const ids = inserts().map(({ url }) => new URL(url).searchParams.get('requestId'));
    expect(ids).toHaveLength(2);
    expect(new Set(ids).size).toBe(2);
    expect(server.launches).toBe(1);
  });

  it('is waited for while questions about its operation are refused', async () => {
    const { state, server, launch, inserts } = world();
    let refused = 0;
    const limit = { error: { code: 403, errors: [{ reason: 'rateLimitExceeded', message: 'slow down' }] } };
    const passing = [json(403, limit), json(503, {}), json(429, {})];
    state.answer = ({ url }) => (url.includes('/operations/') ? passing[refused++] : undefined);
    expect(await launch([spot('e2-standard-2')])).toMatchObject({ kind: 'launched' });
    expect(refused).toBeGreaterThan(passing.length);
    expect([server.launches, inserts().length]).toEqual([1, 1]);
  });

  it('for an image that is not there is refused as it is, and not taken for an instance that has gone', async () => {
    const { launch } = world();
    await expect(
      launch([spot('e2-standard-2')], { imageSelectorTerms: [{ id: 'projects/p/global/images/missing' }] }),
    ).rejects.toMatchObject({ code: 'CLOUD_REFUSED', message: expect.stringContaining('images/missing') });
  });
});

describe('a boot disk', () => {
  it('that a family does not take keeps its types out of the catalogue, which stays the same array', async () => {
    const { driver, nodeClass, clock } = world();
    const sold = async (spec: object) =>
      (await clock.run(driver.catalogue(nodeClass(spec), NEVER))).instanceTypes.map(({ name }) => name);
    expect(await sold({})).toEqual(['e2-standard-2', 'n2-standard-4', 'n4-standard-2']);
    const boot = (category: string) => ({ disks: [{ boot: true, category }] });
    expect(await sold(boot('pd-ssd'))).toEqual(['e2-standard-2', 'n2-standard-4']);
    expect(await sold(boot('hyperdisk-balanced'))).toEqual(['n2-standard-4', 'n4-standard-2']);
    const again = await clock.run(driver.catalogue(nodeClass(boot('pd-ssd')), NEVER));
    expect(await clock.run(driver.catalogue(nodeClass(boot('pd-ssd')), NEVER))).toEqual(again);
    expect((await clock.run(driver.catalogue(nodeClass(boot('pd-ssd')), NEVER))).instanceTypes).toBe(
      again.instanceTypes,
    );
  });

  it('is of a kind that the family takes where the node class names none', async () => {
    const { launch } = world();
    expect(await launch([spot('n4-standard-2')])).toMatchObject({ kind: 'launched' });
  });

  it('that was refused takes the type out of the market, and the next one is launched', async () => {
    const { launch } = world();
    const answer = await launch([spot('n4-standard-2'), spot('e2-standard-2')], {
      disks: [{ boot: true, category: 'pd-ssd' }],
    });
    expect(answer).toMatchObject({ kind: 'launched', refused: [{ cause: 'unsupported' }] });
  });
});

describe('a zone that does not answer', () => {
  it('makes the list fail, as the instances in it are not gone', async () => {
    const { server, driver, launch, clock } = world();
    await launch([spot('e2-standard-2')]);
    server.unreachable = 'us-central1-b';
    await expect(clock.run(driver.list('us-central1', NEVER))).rejects.toMatchObject({ code: 'CLOUD_UNAVAILABLE' });
    server.unreachable = undefined;
    expect(await clock.run(driver.list('us-central1', NEVER))).toHaveLength(1);
  });
});

describe('a project that cannot be seen', () => {
  it('does not make its instances gone', async () => {
    const { state, driver, launch, clock } = world();
    const answer = await launch([spot('e2-standard-2')]);
    const { providerID } = (answer as LaunchAnswer & { kind: 'launched' }).machine;
    const message = "The resource 'projects/p' was not found";
    state.answer = () => json(404, { error: { code: 404, message, errors: [{ reason: 'notFound', message }] } });
    await expect(clock.run(driver.get(providerID, NEVER))).rejects.toMatchObject({ code: 'CLOUD_REFUSED' });
    await expect(clock.run(driver.delete({ claimUID: 'u', providerID }, NEVER))).rejects.toMatchObject({
      code: 'CLOUD_REFUSED',
    });
  });
});

describe('a token', () => {
  it('that cannot be had is told as missing credentials, and is asked for again', async () => {
    const { state, launch } = world();
    state.token = () => Promise.reject(new Error('metadata server is away'));
    await expect(launch([spot('e2-standard-2')])).rejects.toMatchObject({ code: 'CLOUD_CREDENTIALS', retry: 'retry' });
    state.token = async () => 'token';
    expect(await launch([spot('e2-standard-2')])).toMatchObject({ kind: 'launched' });
  });

  it('that never comes ends at the time limit', async () => {
    const { state, launch } = world();
    state.token = () => new Promise(() => {});
    await expect(launch([spot('e2-standard-2')])).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
  });
});

describe('errors of Compute Engine', () => {
  it.each([
    [200, 'ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS', '', 'capacity'],
    [400, 'x', 'e2-standard-2 is currently unavailable in the us-central1-a zone', 'capacity'],
    [400, 'IP_SPACE_EXHAUSTED', '', 'capacity'],
    [403, 'QUOTA_EXCEEDED', "Quota 'N2_CPUS' exceeded", 'quota'],
    [403, 'rateLimitExceeded', "Quota exceeded for quota metric 'Queries'", 'throttled'],
    [403, 'forbidden', 'Required permission', 'denied'],
    [412, 'CONDITION_NOT_MET', 'Constraint constraints/compute.vmExternalIpAccess violated', 'denied'],
    [401, 'authError', 'Invalid Credentials', 'unauthenticated'],
    [400, 'invalid', "Invalid value for field 'resource.machineType': 'x'", 'unsupported'],
    [400, 'invalid', "Invalid value for field 'resource.labels': 'x'", 'invalid'],
    [404, 'notFound', "The resource 'projects/p/zones/z/instances/i' was not found", 'not-found'],
    [404, 'notFound', "The resource 'projects/p/global/images/i' was not found", 'invalid'],
    [409, 'alreadyExists', '', 'exists'],
    [503, 'INTERNAL_ERROR', '', 'trouble'],
    [400, 'RESOURCE_NOT_READY', '', 'trouble'],
  ] as const)('%i %s %s are of the kind %s', (status, code, message, kind) => {
    expect(computeFailureKind(new ComputeRefusal(status, [{ code, message }]))).toBe(kind);
  });

  const shapes = new Map(gcpMachineTypes().map((shape) => [shape.name, shape]));
  const refused = (message: string, type = 'n2-standard-4') =>
    refusedByCompute(spot(type), new ComputeRefusal(403, [{ code: 'QUOTA_EXCEEDED', message }]), shapes);

  it('of a quota cover all that is counted by its metric, in every zone', () => {
    expect(refused("Quota 'PREEMPTIBLE_CPUS' exceeded. Limit: 0.0")).toEqual({
      ...{ offering: { capacityType: 'spot' }, cause: 'quota' },
    });
    expect(refused("Quota 'IN_USE_ADDRESSES' exceeded").offering).toEqual({ capacityType: 'spot' });
    const family = refused("Quota 'N2_CPUS' exceeded").offering;
    expect(family).toMatchObject({ capacityType: 'spot' });
    expect(family.zone).toBeUndefined();
    expect([...(family.instanceTypes ?? [])].every((name) => name.startsWith('n2-'))).toBe(true);
    const gpus = refused("Quota 'PREEMPTIBLE_NVIDIA_L4_GPUS' exceeded", 'g2-standard-4').offering;
    expect([...(gpus.instanceTypes ?? [])].every((name) => name.startsWith('g2-'))).toBe(true);
    expect(gpus.instanceTypes?.has('g2-standard-96')).toBe(true);
  });

  it('of a quota spare offerings that it covers the question', async () => {
    const { server, launch, inserts } = world();
    server.endings.push({ code: 'QUOTA_EXCEEDED', message: "Quota 'PREEMPTIBLE_CPUS' exceeded. Limit: 0.0" });
    const onDemand = { ...spot('e2-standard-2'), capacityType: 'on-demand' as const };
    const answer = await launch([spot('e2-standard-2'), spot('n2-standard-4', 'us-central1-b'), onDemand]);
    expect(answer).toMatchObject({ kind: 'launched', machine: { capacityType: 'on-demand' } });
    expect(inserts()).toHaveLength(2);
  });
});
