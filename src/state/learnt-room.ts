/**
 * How much less room nodes have than planned, measured on initialized nodes: machines smaller than their instance type says, and pods on
 * every node that belong to no DaemonSet, such as static pods. After a restart it is measured again on the present nodes; measurements of
 * removed nodes last as long as the process.
 */
import { LABEL_INITIALIZED, LABEL_INSTANCE_TYPE } from '../apis/karpenter/labels.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import type { Node } from '../apis/kubernetes/node.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { InstanceType, Resources } from '../engine/problem.ts';
import { knownRequests } from './known-requests.ts';
import { listedResources } from './pod-group.ts';
import { labelsOf, poolOf, type StateNode } from './state-node.ts';

/** The nodes to measure. */
export interface SeenNodes {
  nodes(): readonly StateNode[];
  /** The pods that belong to the node itself, such as static pods. */
  staticPodsOn(node: string): readonly Pod[];
}

interface Corrected {
  readonly sold: readonly InstanceType[];
  readonly version: number;
  readonly types: readonly InstanceType[];
}

/** Measurement of a node, and the objects it was read from. */
interface Told {
  readonly node: Node;
  readonly claim: NodeClaim;
  readonly own: Resources;
}

const NOTHING: Resources = {};
/** Yields to the event loop after this many nodes. */
const AT_A_TIME = 100;
/** Machines of one type may differ by this share of their promised resources. */
const ALIKE = 0.01;

export class LearntRoom {
  readonly #seen: SeenNodes;
  /** By pool and instance type: what nodes lack of their type's resources. */
  readonly #lacking = new Map<string, Resources>();
  /** By pool: what static pods and the like take of a node. */
  readonly #taken = new Map<string, Resources>();
  /** By node name: its last measurement. */
  readonly #known = new Map<string, Told>();
  readonly #corrected = new Map<string, Corrected>();
  #version = 0;

  constructor(seen: SeenNodes) {
    this.#seen = seen;
  }

  /** A pool's instance types, with overhead corrected by the last measurements. The same list is returned until something new is learnt. */
  corrected(pool: string, sold: readonly InstanceType[]): readonly InstanceType[] {
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

  /** Resources that a starting node will lack of its promised ones. */
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

  /** Measures the nodes in slices. Unchanged nodes are not measured again. */
  *look(): Generator<void> {
    /** By pool with initialized nodes: the most that the own pods of one node take. */
    const taken = new Map<string, Resources>();
    let told = 0;
    for (const state of this.#seen.nodes()) {
      const { node, claim } = state;
      if (node?.metadata.labels?.[LABEL_INITIALIZED] !== 'true' || claim === undefined) continue;
      if (++told % AT_A_TIME === 0) yield;
      const pool = poolOf(state) ?? '';
      const own = this.#ownOf(state, node, claim);
      const before = taken.get(pool);
      if (before === undefined || own !== NOTHING) taken.set(pool, most(before ?? NOTHING, own));
    }
    for (const [pool, amounts] of taken) this.#learn(this.#taken, pool, amounts);
    if (this.#known.size > told) this.#forgetGone();
  }

  /** Resources used by the node's own pods. If the node has changed, what it lacks is learnt too. */
  #ownOf(state: StateNode, node: Node, claim: NodeClaim): Resources {
    const known = this.#known.get(state.name);
    if (known?.node === node && known.claim === claim) return known.own;
    if (!(known !== undefined && saysTheSame(known, node, claim))) {
      const promised = listedResources(claim.status?.allocatable ?? {});
      const lacking = less(promised, listedResources(node.status?.allocatable ?? {}));
      const type = node.metadata.labels?.[LABEL_INSTANCE_TYPE] ?? '';
      this.#learn(this.#lacking, `${poolOf(state) ?? ''} ${type}`, lacking, promised);
    }
    let own = NOTHING;
    for (const pod of this.#seen.staticPodsOn(state.name)) own = sum(own, { pods: 1, ...knownRequests(pod).resources });
    this.#known.set(state.name, { node, claim, own });
    return own;
  }

  #forgetGone(): void {
    const names = new Set(this.#seen.nodes().map(({ name }) => name));
    for (const name of this.#known.keys()) if (!names.has(name)) this.#known.delete(name);
  }

  /** Machines of one type differ slightly: the least room counts, and slightly more room changes nothing. */
  #learn(known: Map<string, Resources>, key: string, amounts: Resources, promised: Resources = NOTHING): void {
    const before = known.get(key) ?? NOTHING;
    const names = new Set([...Object.keys(before), ...Object.keys(amounts)]);
    const found = [...names].flatMap((name): [string, number][] => {
      const [was, is] = [before[name] ?? 0, amounts[name] ?? 0];
      const amount = is < was && was - is <= ALIKE * (promised[name] ?? 0) ? was : is;
      return amount > 0 ? [[name, amount]] : [];
    });
    if (found.length === Object.keys(before).length && found.every(([name, amount]) => before[name] === amount)) return;
    if (found.length === 0) known.delete(key);
    else known.set(key, Object.fromEntries(found));
    this.#version++;
  }
}

function sum(a: Resources, b: Resources): Resources {
  const all: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) all[name] = (all[name] ?? 0) + amount;
  return all;
}

/** Whether the allocatable resources of a node and its claim are unchanged, so that nothing new can be learnt. */
function saysTheSame({ node, claim }: Told, newNode: Node, newClaim: NodeClaim): boolean {
  return (
    sameQuantities(node.status?.allocatable, newNode.status?.allocatable) &&
    sameQuantities(claim.status?.allocatable, newClaim.status?.allocatable)
  );
}

type Quantities = Readonly<Record<string, unknown>> | undefined;

function sameQuantities(a: Quantities, b: Quantities): boolean {
  if (a === b) return true;
  if (a === undefined || b === undefined) return false;
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}

/** The larger amount of each resource. */
function most(a: Resources, b: Resources): Resources {
  if (a === NOTHING || b === NOTHING) return a === NOTHING ? b : a;
  const all: Record<string, number> = { ...a };
  for (const [name, amount] of Object.entries(b)) all[name] = Math.max(all[name] ?? 0, amount);
  return all;
}

/** How much the second has less than the first, for resources that both list. */
function less(promised: Resources, found: Resources): Resources {
  return Object.fromEntries(
    Object.entries(promised).flatMap(([name, amount]) =>
      found[name] === undefined ? [] : [[name, Math.max(0, amount - found[name])]],
    ),
  );
}
