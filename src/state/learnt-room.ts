/**
 * How much less room nodes have than was planned, learnt from the nodes that have come up: machines that are smaller than their type
 * says, and pods that come with every node and that no DaemonSet makes, such as the static pods of a kubelet. Nodes that are there tell
 * it again after a restart; what nodes told that are gone is remembered for as long as the process lives.
 */
import { LABEL_INITIALIZED, LABEL_INSTANCE_TYPE } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { InstanceType, Resources } from '../engine/problem.ts';
import { knownRequests } from './known-requests.ts';
import { listedResources } from './pod-group.ts';
import { labelsOf, poolOf, type StateNode } from './state-node.ts';

/** What is looked at. */
export interface SeenNodes {
  nodes(): readonly StateNode[];
  podsOn(node: string): readonly Pod[];
}

interface Corrected {
  readonly sold: readonly InstanceType[];
  readonly version: number;
  readonly types: readonly InstanceType[];
}

const NOTHING: Resources = {};

export class LearntRoom {
  readonly #seen: SeenNodes;
  /** By pool and instance type, what nodes lack of what their type says. */
  readonly #lacking = new Map<string, Resources>();
  /** By pool, what pods take that belong to the node itself. */
  readonly #taken = new Map<string, Resources>();
  readonly #known = new WeakMap<Node, NodeClaim>();
  readonly #corrected = new Map<string, Corrected>();
  #version = 0;

  constructor(seen: SeenNodes) {
    this.#seen = seen;
  }

  /** What a pool sells, with the room that its nodes turned out to have; the same list as long as nothing new is learnt. */
  corrected(pool: string, sold: readonly InstanceType[]): readonly InstanceType[] {
    this.#look();
    if (this.#version === 0) return sold;
    const known = this.#corrected.get(pool);
    if (known?.sold === sold && known.version === this.#version) return known.types;
    const types = sold.map((type) => {
      const missing = this.#missing(pool, type.name);
      return missing === NOTHING ? type : { ...type, overhead: sum(type.overhead ?? NOTHING, missing) };
    });
    const corrected = types.every((type, index) => type === sold[index]) ? sold : types;
    this.#corrected.set(pool, { sold, version: this.#version, types: corrected });
    return corrected;
  }

  /** What a node on its way will lack of what its cloud says. */
  missingFrom(state: StateNode): Resources {
    return this.#version === 0
      ? NOTHING
      : this.#missing(poolOf(state) ?? '', labelsOf(state)[LABEL_INSTANCE_TYPE] ?? '');
  }

  #missing(pool: string, instanceType: string): Resources {
    const lacking = this.#lacking.get(`${pool} ${instanceType}`);
    const taken = this.#taken.get(pool);
    if (lacking === undefined) return taken ?? NOTHING;
    return taken === undefined ? lacking : sum(lacking, taken);
  }

  /** Nodes that have not changed since are passed over. */
  #look(): void {
    for (const state of this.#seen.nodes()) {
      const { node, claim } = state;
      if (node === undefined || claim === undefined || this.#known.get(node) === claim) continue;
      if (node.metadata.labels?.[LABEL_INITIALIZED] !== 'true') continue;
      this.#known.set(node, claim);
      const pool = poolOf(state) ?? '';
      const lacking = less(
        listedResources(claim.status?.allocatable ?? {}),
        listedResources(node.status?.allocatable ?? {}),
      );
      this.#learn(this.#lacking, `${pool} ${node.metadata.labels[LABEL_INSTANCE_TYPE] ?? ''}`, lacking);
      const own = this.#seen
        .podsOn(state.name)
        .filter(isOfNode)
        .map((pod) => knownRequests(pod).resources);
      this.#learn(
        this.#taken,
        pool,
        own.reduce((all, one) => sum(all, { pods: 1, ...one }), NOTHING),
      );
    }
  }

  #learn(known: Map<string, Resources>, key: string, amounts: Resources): void {
    const found = Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount > 0));
    if (JSON.stringify(known.get(key) ?? {}) === JSON.stringify(found)) return;
    if (Object.keys(found).length === 0) known.delete(key);
    else known.set(key, found);
    this.#version++;
  }
}

/** Whether a pod belongs to its node, as static pods do. */
export function isOfNode({ metadata }: Pod): boolean {
  return metadata.ownerReferences?.some(({ kind }) => kind === 'Node') ?? false;
}

function sum(a: Resources, b: Resources): Resources {
  const all: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) all[name] = (all[name] ?? 0) + amount;
  return all;
}

/** What the first has more of than the second, of what both speak of. */
function less(promised: Resources, found: Resources): Resources {
  return Object.fromEntries(
    Object.entries(promised).flatMap(([name, amount]) =>
      found[name] === undefined ? [] : [[name, Math.max(0, amount - found[name])]],
    ),
  );
}
