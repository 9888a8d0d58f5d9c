import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import type { KubeObject } from '../apis/kubernetes/object.ts';
import type { Pod, PodSpec, PodStatus } from '../apis/kubernetes/pod.ts';
import type { InformerHandler } from '../kube/informer.ts';
import type { ClusterInformers } from './cluster-informers.ts';
import { ClusterState } from './cluster-state.ts';
import { aStateNode } from './testkit/a-state-node.ts';

function aPod(name: string, status: PodStatus = {}, spec: Partial<PodSpec> = {}): Pod {
  const metadata = { name, namespace: 'default' };
  return { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [], ...spec }, status };
}

function refused(name: string, reason = 'Unschedulable', spec: Partial<PodSpec> = {}): Pod {
  return aPod(name, { conditions: [{ type: 'PodScheduled', status: 'False', reason }] as never }, spec);
}

function provisionable(...pods: Pod[]): string[] {
  const silent = { addHandler: () => {} };
  const informers = { pods: { list: () => pods }, nodeClaims: silent, nodes: silent };
  const state = new ClusterState(informers as unknown as ClusterInformers);
  return state.provisionable().map(({ metadata }) => metadata.name ?? '');
}

describe('pods to find a place for', () => {
  it('are those that the scheduler has none for, and then also those it has not looked at yet', () => {
    expect(provisionable(aPod('new'))).toEqual([]);
    expect(provisionable(aPod('new'), refused('refused'))).toEqual(['new', 'refused']);
  });

  it('are not those that another scheduler has not looked at yet', () => {
    const other = aPod('other', {}, { schedulerName: 'another' });
    expect(provisionable(other, refused('refused'))).toEqual(['refused']);
  });

  it('are not those for which the scheduler may send away pods that are less important', () => {
    const important = aPod('important', {}, { priority: 1000 });
    expect(provisionable(important, refused('refused'))).toEqual(['refused']);
    expect(provisionable(important, refused('refused', 'Unschedulable', { priority: 1000 }))).toEqual([
      'important',
      'refused',
    ]);
  });

  it('are not those that wait for something else', () => {
    const gated = aPod('gated', {}, { schedulingGates: [{ name: 'gate' }] });
    const nominated = aPod('nominated', { nominatedNodeName: 'node' });
    const placed = aPod('placed', {}, { nodeName: 'node' });
    expect(provisionable(gated, nominated, placed, refused('gated too', 'SchedulingGated'))).toEqual([]);
    expect(provisionable(gated, nominated, placed, refused('refused'))).toEqual(['refused']);
  });
});

describe('the nodes', () => {
  /** A cluster whose nodes and claims are told of one by one. */
  function setUp() {
    const kind = <T extends KubeObject>() => {
      const objects = new Map<string, T>();
      const handlers: InformerHandler<T>[] = [];
      const informer = {
        list: () => [...objects.values()],
        get: (name: string) => objects.get(name),
        addHandler: (handler: InformerHandler<T>) => void handlers.push(handler),
      };
      const tell = (object: T): void => {
        const old = objects.get(object.metadata.name ?? '');
        objects.set(object.metadata.name ?? '', object);
        for (const handler of handlers) old === undefined ? handler.added?.(object) : handler.updated?.(object, old);
      };
      const forget = (object: T): void => {
        objects.delete(object.metadata.name ?? '');
        for (const handler of handlers) handler.deleted?.(object);
      };
      return { informer, tell, forget };
    };
    const nodes = kind<Node>();
    const claims = kind<NodeClaim>();
    const informers = { nodes: nodes.informer, nodeClaims: claims.informer } as unknown as ClusterInformers;
    const state = new ClusterState(informers);
    const names = () =>
      state.nodes().map(({ name, node, claim }) => [name, node?.spec?.providerID, claim?.metadata.name]);
    return { nodes, claims, state, names };
  }

  it('are known with their claims, and claims without a node by themselves, after every change', () => {
    const { nodes, claims, state, names } = setUp();
    const { node, claim } = aStateNode({ name: 'one' });
    const { status: _, ...unlaunched } = claim;
    const id = node.spec?.providerID;
    expect(names()).toEqual([]);
    state.assume(unlaunched);
    expect(names()).toEqual([['nodeclaim/one', undefined, 'one']]);
    claims.tell(unlaunched);
    nodes.tell(node);
    expect(names()).toEqual([
      ['one', id, undefined],
      ['nodeclaim/one', undefined, 'one'],
    ]);
    claims.tell(claim);
    expect(names()).toEqual([['one', id, 'one']]);
    nodes.tell({ ...node, spec: { providerID: 'another' } });
    expect(names()).toEqual([
      ['one', 'another', undefined],
      ['nodeclaim/one', undefined, 'one'],
    ]);
    nodes.forget(node);
    expect(names()).toEqual([['nodeclaim/one', undefined, 'one']]);
    claims.forget(claim);
    expect(names()).toEqual([]);
  });

  it('without a provider ID belong to no claim', () => {
    const { nodes, claims, names } = setUp();
    const { node, claim } = aStateNode({ name: 'one' });
    const { status: _, ...unlaunched } = claim;
    claims.tell(unlaunched);
    nodes.tell({ ...node, spec: {} });
    expect(names()).toEqual([
      ['one', undefined, undefined],
      ['nodeclaim/one', undefined, 'one'],
    ]);
  });
});
