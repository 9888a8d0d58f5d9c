import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import type { KubeObject } from '../apis/kubernetes/object.ts';
import type { InformerHandler } from '../kube/informer.ts';
import { type Indexer, ObjectCache } from '../kube/object-cache.ts';
import { BY_PROVIDER_ID, type ClusterInformers } from './cluster-informers.ts';
import { ClusterState } from './cluster-state.ts';
import { aStateNode } from './testkit/a-state-node.ts';

/** Objects of one kind, announced one by one. */
function told<T extends KubeObject>(indexer: Indexer<T>) {
  const cache = new ObjectCache<T>({ [BY_PROVIDER_ID]: indexer });
  const handlers: InformerHandler<T>[] = [];
  const informer = {
    list: () => cache.list(),
    get: (name: string) => cache.get(name),
    byIndex: (name: string, value: string) => cache.byIndex(name, value),
    addHandler: (handler: InformerHandler<T>) => void handlers.push(handler),
  };
  const put = (object: T): void => {
    const old = cache.set(object);
    for (const handler of handlers) old === undefined ? handler.added?.(object) : handler.updated?.(object, old);
  };
  const remove = (name: string): void => {
    const known = cache.delete(name);
    if (known !== undefined) for (const handler of handlers) handler.deleted?.(known, known);
  };
  return { informer, put, remove };
}

function setUp() {
  const nodes = told<Node>(({ spec }) => (spec?.providerID ? [spec.providerID] : []));
  const claims = told<NodeClaim>(({ status }) => (status?.providerID ? [status.providerID] : []));
  const silent = { addHandler: () => {} };
  const workloads = { deployments: silent, leaderWorkerSets: silent, playgrounds: silent };
  const others = { pods: silent, daemonSets: silent, limitRanges: silent, ...workloads };
  const informers = { nodes: nodes.informer, nodeClaims: claims.informer, ...others } as unknown as ClusterInformers;
  return { nodes, claims, state: new ClusterState(informers) };
}

type World = ReturnType<typeof setUp>;

function aNode(name: string, providerID: string): Node {
  return { ...aStateNode({ name }).node, spec: providerID === '' ? {} : { providerID } };
}

function aClaim(name: string, providerID: string): NodeClaim {
  const { status, ...claim } = aStateNode({ name }).claim;
  return providerID === '' ? claim : ({ ...claim, status: { ...status, providerID } } as NodeClaim);
}

/** The same, computed from scratch. */
function byLooking({ nodes, claims }: World, assumed: readonly NodeClaim[]): string[] {
  const all = [...claims.informer.list(), ...assumed];
  const of = (node: Node): NodeClaim[] =>
    all.filter(({ status }) => status?.providerID !== undefined && status.providerID === node.spec?.providerID);
  const joined = new Set(nodes.informer.list().flatMap(of));
  return [
    ...nodes.informer.list().map((node) => `${node.metadata.name} of ${of(node).length > 0}`),
    ...all.filter((claim) => !joined.has(claim)).map(({ metadata }) => `nodeclaim/${metadata.name} of true`),
  ].sort();
}

const said = ({ state }: World): string[] =>
  state
    .nodes()
    .map(({ name, claim }) => `${name} of ${claim !== undefined}`)
    .sort();

describe('the nodes of the cluster', () => {
  it('are known with their claims, and claims without a node by themselves', () => {
    const world = setUp();
    world.state.assume(aClaim('one', ''));
    expect(said(world)).toEqual(['nodeclaim/one of true']);
    world.claims.put(aClaim('one', ''));
    world.nodes.put(aNode('node', 'machine'));
    expect(said(world)).toEqual(['node of false', 'nodeclaim/one of true']);
    world.claims.put(aClaim('one', 'machine'));
    expect(world.state.nodes()).toEqual([
      { name: 'node', node: aNode('node', 'machine'), claim: aClaim('one', 'machine') },
    ]);
    world.nodes.remove('node');
    expect(said(world)).toEqual(['nodeclaim/one of true']);
    world.claims.remove('one');
    expect(said(world)).toEqual([]);
  });

  it('are what a look at all nodes and claims finds, whatever came, changed and went', () => {
    const name = fc.constantFrom('a', 'b', 'c');
    const machine = fc.constantFrom('', 'one', 'two', 'three');
    const step = fc.record({ what: fc.constantFrom('node', 'claim', 'no node', 'no claim', 'assume'), name, machine });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const world = setUp();
        const assumed = new Map<string, NodeClaim>();
        for (const { what, name: one, machine: providerID } of steps) {
          if (what === 'node') world.nodes.put(aNode(one, providerID));
          else if (what === 'no node') world.nodes.remove(one);
          else if (what === 'claim') world.claims.put(aClaim(one, providerID));
          else if (what === 'no claim') world.claims.remove(one);
          else {
            world.state.assume(aClaim(one, ''));
            assumed.set(one, aClaim(one, ''));
          }
          for (const { metadata } of world.claims.informer.list()) assumed.delete(metadata.name ?? '');
          expect(said(world)).toEqual(byLooking(world, [...assumed.values()]));
          for (const { node, claim } of world.state.nodes()) {
            if (node !== undefined) expect(world.nodes.informer.get(node.metadata.name ?? '')).toBe(node);
            const shown = claim && world.claims.informer.get(claim.metadata.name ?? '');
            if (shown !== undefined) expect(shown).toBe(claim);
          }
        }
      }),
    );
  });
});
