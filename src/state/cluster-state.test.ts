import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import type { KubeObject } from '../apis/kubernetes/object.ts';
import type { Pod, PodSpec, PodStatus } from '../apis/kubernetes/pod.ts';
import type { InformerHandler } from '../kube/informer.ts';
import { ObjectCache } from '../kube/object-cache.ts';
import { BY_PROVIDER_ID, type ClusterInformers } from './cluster-informers.ts';
import { ClusterState } from './cluster-state.ts';
import type { StateNode } from './state-node.ts';
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

/** Nodes and claims that come, change and go as an informer tells of them. */
class Told<T extends KubeObject> extends ObjectCache<T> {
  readonly #handlers: InformerHandler<T>[] = [];

  addHandler(handler: InformerHandler<T>): void {
    this.#handlers.push(handler);
  }

  tell(object: T): void {
    const old = this.set(object);
    for (const handler of this.#handlers) old === undefined ? handler.added?.(object) : handler.updated?.(object, old);
  }

  tellGone(object: T): void {
    this.delete(object.metadata.name ?? '');
    for (const handler of this.#handlers) handler.deleted?.(object);
  }
}

describe('the nodes of the cluster', () => {
  const { node, claim } = aStateNode({ name: 'a' }) as Required<StateNode>;
  const start = () => {
    const nodes = new Told<Node>({ [BY_PROVIDER_ID]: ({ spec }) => [spec?.providerID ?? ''] });
    const nodeClaims = new Told<NodeClaim>();
    return { nodes, nodeClaims, state: new ClusterState({ nodes, nodeClaims } as unknown as ClusterInformers) };
  };

  it('are the same to all who ask while nothing changes', () => {
    const { nodes, state } = start();
    nodes.tell(node);
    expect(state.nodes()).toEqual([{ name: 'a', node }]);
    expect(state.nodes()).toBe(state.nodes());
  });

  it('are as they were last heard of', () => {
    const { nodes, nodeClaims, state } = start();
    expect(state.nodes()).toEqual([]);
    state.assume(claim);
    expect(state.nodes()).toEqual([{ name: `nodeclaim/${claim.metadata.name}`, claim }]);
    nodes.tell(node);
    expect(state.nodes()).toEqual([{ name: 'a', node, claim }]);
    const heard = { ...claim, metadata: { ...claim.metadata, resourceVersion: '2' } };
    nodeClaims.tell(heard);
    expect(state.nodes()).toEqual([{ name: 'a', node, claim: heard }]);
    const updated = { ...heard, metadata: { ...claim.metadata, resourceVersion: '3' } };
    nodeClaims.tell(updated);
    expect(state.nodes()).toEqual([{ name: 'a', node, claim: updated }]);
    nodeClaims.tellGone(updated);
    expect(state.nodes()).toEqual([{ name: 'a', node }]);
    const cordoned = { ...node, spec: { ...node.spec, unschedulable: true } };
    nodes.tell(cordoned);
    expect(state.nodes()).toEqual([{ name: 'a', node: cordoned }]);
    nodes.tellGone(cordoned);
    expect(state.nodes()).toEqual([]);
  });
});
