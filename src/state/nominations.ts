/** Which nodes are kept for pods that are not on them yet. It is memory only: after a restart the next plan says it anew. */

import { conditionOf } from '../apis/karpenter/conditions.ts';
import type { NodeClaim } from '../apis/karpenter/node-claim.ts';
import { keyOf, type ObjectKey } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Informer } from '../kube/informer.ts';
import { type Clock, type EpochMs, parseTimestamp } from '../platform/clock.ts';
import { CLAIM_PREFIX, type StateNode } from './state-node.ts';
import type { WaitingPods } from './waiting-pods.ts';

export interface NominationsOptions {
  readonly clock: Clock;
  readonly pods: Pick<Informer<Pod>, 'get'>;
  readonly waitingPods: Pick<WaitingPods, 'quietMs'>;
}

interface NominatedPod {
  readonly key: ObjectKey;
  readonly uid: string | undefined;
  /** Where it was when it was nominated. */
  readonly node: string;
}

interface Nomination {
  readonly pods: readonly NominatedPod[];
  readonly at: number;
}

/** A pod that is not there after so long has found another place, or nobody places it. */
export const LONGEST_MS = 600_000;
/** The scheduler may send other pods than those that were meant: so long the node is kept, whoever has come, while some wait for a place. */
export const SHORTEST_MS = 20_000;
/** Where nobody has been on the way for so long, nobody else is coming. */
const QUIET_MS = 3000;
/** So long after a node was opened the cache shows which pods are on it. */
const OPENED_MS = 3_000;

export class Nominations {
  readonly #options: NominationsOptions;
  /** Those that were last spoken of longest ago come first. */
  readonly #byNode = new Map<string, Nomination>();
  /** From when on places are not kept any more, because the node is open to the scheduler; those opened longest ago come first. */
  readonly #openFrom = new Map<string, number>();
  /** Where each pod is to go, by UID; those of whom it was said longest ago come first. */
  readonly #places = new Map<string, { readonly node: string; readonly until: number }>();

  constructor(options: NominationsOptions) {
    this.#options = options;
  }

  /** Keeps a node, named as in the state, for pods, beside those without a node that it is kept for already. */
  nominate(node: string, pods: readonly Pod[]): void {
    const all = new Set([...this.#waitingOn(node), ...pods]);
    const named = [...all].map((pod) => ({ key: keyOf(pod), uid: pod.metadata.uid, node: pod.spec.nodeName ?? '' }));
    const at = this.#options.clock.elapsed();
    const until = at + LONGEST_MS;
    this.#byNode.delete(node);
    this.#byNode.set(node, { pods: named, at });
    for (const { uid = '' } of named) {
      this.#places.delete(uid);
      this.#places.set(uid, { node, until });
    }
    this.#forgetOld(at);
  }

  /** How many nodes are remembered. */
  get size(): number {
    return this.#byNode.size;
  }

  /** These pods stay where they are after all: nothing is kept for them. */
  withdraw(pods: readonly Pod[]): void {
    const staying = new Set(pods.map(({ metadata }) => metadata.uid ?? ''));
    for (const uid of staying) this.#places.delete(uid);
    for (const [node, nomination] of this.#byNode) {
      const left = nomination.pods.filter(({ uid = '' }) => !staying.has(uid));
      if (left.length < nomination.pods.length) this.#byNode.set(node, { ...nomination, pods: left });
    }
  }

  /** The node, named as in the state, that was last kept for the pod. */
  placeOf({ metadata }: Pod): string | undefined {
    const place = this.#places.get(metadata.uid ?? '');
    return place === undefined || place.until <= this.#options.clock.elapsed() ? undefined : place.node;
  }

  /** Whether some pod is still to come to the node, or to the node of the claim, or may be as it has only just come up. */
  has({ name, claim }: StateNode): boolean {
    if (this.#waits(name)) return true;
    if (claim === undefined) return false;
    const upMs = upForMs(claim, this.#options.clock.now());
    return (upMs !== undefined && this.#othersMayCome(upMs)) || this.#waits(`${CLAIM_PREFIX}${claim.metadata.name}`);
  }

  /**
   * The node of a claim is open to the scheduler: from now on it says who finds a place there, also among pods that a plan made while
   * the node was closed has yet to speak of.
   */
  opened(claim: NodeClaim): void {
    const node = `${CLAIM_PREFIX}${claim.metadata.name}`;
    if (!this.#openFrom.has(node)) this.#openFrom.set(node, this.#options.clock.elapsed() + OPENED_MS);
  }

  /** The pods without a node whose place is on the node of a claim, while nobody else can take it. */
  keptFor(claim: NodeClaim): Pod[] {
    const node = `${CLAIM_PREFIX}${claim.metadata.name}`;
    const nomination = this.#byNode.get(node);
    if (nomination === undefined) return [];
    const openFrom = this.#openFrom.get(node) ?? nomination.at + LONGEST_MS;
    return this.#options.clock.elapsed() < openFrom ? this.waitingFor(claim) : [];
  }

  /** The pods without a node that are to come to the node of a claim. */
  waitingFor(claim: NodeClaim): Pod[] {
    return this.#waitingOn(`${CLAIM_PREFIX}${claim.metadata.name}`);
  }

  /** Nobody asks any more for nodes that never came up, or that are gone. */
  #forgetOld(now: number): void {
    for (const [node, { at }] of this.#byNode) {
      if (now - at < LONGEST_MS) break;
      this.#byNode.delete(node);
    }
    for (const [uid, { until }] of this.#places) {
      if (now < until) break;
      this.#places.delete(uid);
    }
    // By then no plan is under way that saw the node closed.
    for (const [node, openFrom] of this.#openFrom) {
      if (now - openFrom < LONGEST_MS) break;
      this.#openFrom.delete(node);
    }
  }

  #waitingOn(node: string): Pod[] {
    const { pods = [] } = this.#byNode.get(node) ?? {};
    return pods.flatMap((nominated) => this.#ifWaiting(nominated) ?? []).filter((pod) => !pod.spec.nodeName);
  }

  #waits(node: string): boolean {
    const nomination = this.#byNode.get(node);
    if (nomination === undefined) return false;
    const age = this.#options.clock.elapsed() - nomination.at;
    const waits =
      this.#othersMayCome(age) ||
      (age < LONGEST_MS && nomination.pods.some((nominated) => this.#ifWaiting(nominated) !== undefined));
    if (!waits) this.#byNode.delete(node);
    return waits;
  }

  /** Whether other pods than those that were meant may still come to a node that is kept for so long. */
  #othersMayCome(age: number): boolean {
    return age < SHORTEST_MS && Math.min(age, this.#options.waitingPods.quietMs) < QUIET_MS;
  }

  #ifWaiting({ key, uid, node }: NominatedPod): Pod | undefined {
    const pod = this.#options.pods.get(key);
    return pod !== undefined && pod.metadata.uid === uid && (pod.spec.nodeName ?? '') === node ? pod : undefined;
  }
}

/** Whether the node of a claim came up so lately that pods it was made for may still be coming. */
export function hasJustComeUp(claim: NodeClaim, now: EpochMs): boolean {
  const upMs = upForMs(claim, now);
  return upMs !== undefined && upMs < SHORTEST_MS;
}

function upForMs(claim: NodeClaim, now: EpochMs): number | undefined {
  const initialized = conditionOf(claim, 'Initialized');
  const since = initialized?.status === 'True' ? parseTimestamp(initialized.lastTransitionTime) : undefined;
  return since === undefined ? undefined : now - since;
}
