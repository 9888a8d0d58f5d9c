import { describe, expect, it } from 'vitest';
import type { Node } from '../../../apis/kubernetes/node.ts';
import type { ObjectKey } from '../../../apis/kubernetes/object.ts';
import type { Pod, PodSpec } from '../../../apis/kubernetes/pod.ts';
import { SpindriftError } from '../../../platform/errors.ts';
import { SILENT_LOGGER } from '../../../platform/logger.ts';
import { VirtualClock } from '../../../platform/virtual-clock.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { aNode, aNodeClaim, aPod } from '../../testkit/objects.ts';
import { Binder } from './binder.ts';

const NODE = aNode({ name: 'n', status: { allocatable: { cpu: '4', memory: '16Gi', pods: '10' } } });

function waiting(name: string, cpu: string, spec: Partial<PodSpec> = {}): Pod {
  const containers = [{ name: 'main', resources: { requests: { cpu } } }];
  const { nodeName: _, ...rest } = aPod().spec;
  return { ...aPod({ name }), spec: { ...rest, containers, ...spec }, status: { phase: 'Pending' } };
}

/** Binds on a node and gives the names of the pods that were bound. */
async function bound(
  pods: readonly Pod[],
  { node = NODE, there = [], fails }: { node?: Node; there?: Pod[]; fails?: (name: string) => Error | undefined } = {},
): Promise<string[]> {
  const names: string[] = [];
  const bind = async ({ name }: ObjectKey): Promise<void> => {
    const error = fails?.(name);
    if (error !== undefined) throw error;
    names.push(name);
  };
  const state = { podsOn: () => there, daemonSets: () => [], informers: { pods: NOBODY, nodes: NOBODY } };
  const get = async () => aPod({ spec: { nodeName: 'another' } });
  const options = { client: { bind, get }, clock: new VirtualClock(), state, logger: SILENT_LOGGER };
  await new Binder(options as unknown as ControllersOptions).bind(aNodeClaim(), node, pods, NEVER);
  return names;
}

const NEVER = new AbortController().signal;
const NOBODY = { get: () => undefined };

describe('the pods that a node was made for', () => {
  it('are bound to it as far as the node has room as it came, beside those that are there', async () => {
    const pods = [waiting('a', '2'), waiting('b', '1500m'), waiting('c', '500m')];
    expect(await bound(pods)).toEqual(['a', 'b', 'c']);
    expect(await bound(pods, { there: [waiting('there', '500m')] })).toEqual(['a', 'b']);
    const small = aNode({ name: 'n', status: { allocatable: { cpu: '4', pods: '1' } } });
    expect(await bound(pods, { node: small })).toEqual(['a']);
  });

  it('wait until everybody has heard that the node may be used, or who evicts for its old taint would evict them', async () => {
    const names: string[] = [];
    const bind = async ({ name }: ObjectKey): Promise<void> => void names.push(name);
    const state = { podsOn: () => [], daemonSets: () => [], informers: { pods: NOBODY, nodes: NOBODY } };
    const clock = new VirtualClock();
    const options = { client: { bind }, clock, state, logger: SILENT_LOGGER } as unknown as ControllersOptions;
    const binder = new Binder(options);
    binder.registered('n');
    expect(await binder.bind(aNodeClaim(), NODE, [waiting('a', '1')], NEVER)).toBe(false);
    expect(names).toEqual([]);
    await clock.advance(1000);
    await binder.bind(aNodeClaim(), NODE, [waiting('a', '1')], NEVER);
    expect(names).toEqual(['a']);
  });

  it('are told to be waiting where nobody hears for ten seconds that the node may be used', async () => {
    const tainted = aNode({ name: 'n', spec: { taints: [{ key: 'karpenter.sh/unregistered', effect: 'NoExecute' }] } });
    const informers = { pods: NOBODY, nodes: { get: () => tainted } };
    const clock = new VirtualClock();
    const state = { podsOn: () => [], daemonSets: () => [], informers };
    const binder = new Binder({ client: {}, clock, state, logger: SILENT_LOGGER } as unknown as ControllersOptions);
    expect(await binder.bind(aNodeClaim(), NODE, [waiting('a', '1')], NEVER)).toBe(false);
    expect(binder.isSlow('n')).toBe(false);
    await clock.advance(10_000);
    expect(await binder.bind(aNodeClaim(), NODE, [waiting('a', '1')], NEVER)).toBe(false);
    expect(binder.isSlow('n')).toBe(true);
  });

  it('are left to the scheduler where more than a binding is needed', async () => {
    const apart = (topologyKey: string) => ({
      affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
    });
    expect(await bound([waiting('by-zone', '1', apart('topology.kubernetes.io/zone'))])).toEqual([]);
    expect(await bound([waiting('by-node', '1', apart('kubernetes.io/hostname'))])).toEqual(['by-node']);
    const claim = { name: 'data', persistentVolumeClaim: { claimName: 'data' } };
    const others: Partial<PodSpec>[] = [
      { schedulerName: 'another' },
      { schedulingGates: [{ name: 'gate' }] },
      { volumes: [claim] },
      { volumes: [{ name: 'scratch', ephemeral: {} }] },
      { resourceClaims: [{ name: 'device' }] },
    ];
    expect(await bound(others.map((spec, index) => waiting(`p${index}`, '100m', spec)))).toEqual([]);
    const plain = waiting('plain', '100m', {
      schedulerName: 'default-scheduler',
      volumes: [{ name: 'x', emptyDir: {} }],
    });
    expect(await bound([plain])).toEqual(['plain']);
  });

  it('are not bound where a taint that will stay keeps them off', async () => {
    const taints = [
      { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' as const },
      { key: 'team', value: 'a', effect: 'NoSchedule' as const },
    ];
    const tolerant = waiting('tolerant', '1', { tolerations: [{ key: 'team', operator: 'Exists' }] });
    const node = { ...NODE, spec: { ...NODE.spec, taints } };
    expect(await bound([waiting('a', '1'), tolerant], { node })).toEqual(['tolerant']);
  });

  it('may have gone or found another place meanwhile', async () => {
    const gone = new SpindriftError('KUBE_NOT_FOUND', { message: 'gone' } as never);
    const taken = new SpindriftError('KUBE_CONFLICT', { message: 'taken' } as never);
    const fails = (name: string) => ({ a: gone, b: taken })[name];
    expect(await bound([waiting('a', '1'), waiting('b', '1'), waiting('c', '1')], { fails })).toEqual(['c']);
  });

  it('are bound later where the API server did not get to it, although nobody else has bound them', async () => {
    const clock = new VirtualClock();
    const answers = [new SpindriftError('KUBE_CONFLICT', { message: 'try again' } as never)];
    const names: string[] = [];
    const bind = async ({ name }: ObjectKey): Promise<void> => {
      const error = answers.pop();
      if (error !== undefined) throw error;
      names.push(name);
    };
    const client = { bind, get: async () => waiting('a', '1') };
    const state = { podsOn: () => [], daemonSets: () => [], informers: { pods: NOBODY, nodes: NOBODY } };
    const binder = new Binder({ client, clock, state, logger: SILENT_LOGGER } as unknown as ControllersOptions);
    await expect(binder.bind(aNodeClaim(), NODE, [waiting('a', '1')], NEVER)).rejects.toThrow('try again');
    await binder.bind(aNodeClaim(), NODE, [waiting('a', '1')], NEVER);
    expect(names).toEqual(['a']);
  });

  it('are bound once, and keep the node closed until all have been heard of for a second', async () => {
    const clock = new VirtualClock();
    const cache = new Map<string, Pod>(['a', 'b'].map((name) => [name, waiting(name, '1')]));
    const bound: string[] = [];
    const state = {
      podsOn: () => [...cache.values()].filter(({ spec }) => spec.nodeName === 'n'),
      daemonSets: () => [],
      informers: {
        nodes: NOBODY,
        pods: { get: ({ name }: ObjectKey) => cache.get(name) },
      },
    };
    const bind = async ({ name }: ObjectKey): Promise<void> => void bound.push(name);
    const binder = new Binder({
      client: { bind },
      clock,
      state,
      logger: SILENT_LOGGER,
    } as unknown as ControllersOptions);
    const isHeard = () =>
      binder.bind(
        aNodeClaim(),
        NODE,
        [...cache.values()].filter(({ spec }) => !spec.nodeName),
        NEVER,
      );
    const hear = (name: string): void =>
      void cache.set(name, { ...aPod({ name }), spec: { ...aPod().spec, nodeName: 'n' } });
    expect(await isHeard()).toBe(false);
    hear('a');
    await clock.advance(2000);
    expect(await isHeard()).toBe(false);
    hear('b');
    expect(await isHeard()).toBe(true);
    expect(bound).toEqual(['a', 'b']);
    cache.set('c', waiting('c', '1'));
    expect(await isHeard()).toBe(false);
    hear('c');
    expect(await isHeard()).toBe(false);
    await clock.advance(1000);
    expect(await isHeard()).toBe(true);
  });

  it('keep the node closed while it is not known whether one of them is bound', async () => {
    const fails = (name: string) => (name === 'a' ? new Error('no answer') : undefined);
    await expect(bound([waiting('a', '1'), waiting('b', '1')], { fails })).rejects.toThrow('no answer');
  });
});
