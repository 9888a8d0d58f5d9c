/**
 * Which nodes are nominated for pods that are not bound to them yet. Kept in memory only: after a restart the next plan nominates again.
 */

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
  /** The pod's node when it was nominated; empty for pending pods. */
  readonly node: string;
}

interface Nomination {
  readonly pods: readonly NominatedPod[];
  readonly at: number;
}

/** A nomination expires after this long. */
export const LONGEST_MS = 600_000;
/** The scheduler may bind other pods than the nominated ones: the node stays nominated this long while any pods are pending. */
export const SHORTEST_MS = 20_000;
/** If no pod has been pending for this long, no other pod is coming. */
const QUIET_MS = 3000;
/** This long after a node was opened, the cache shows its pods. */
const OPENED_MS = 3_000;

export class Nominations {
  readonly #options: NominationsOptions;
  /** Oldest nominations first. */
  readonly #byNode = new Map<string, Nomination>();
  /** When nodes opened to the scheduler stop keeping places; oldest first. */
  readonly #openFrom = new Map<string, number>();
  /** The nominated node of each pod, by UID; oldest first. */
  readonly #places = new Map<string, { readonly node: string; readonly until: number }>();

  constructor(options: NominationsOptions) {
    this.#options = options;
  }

  /** Nominates a node, named as in the state, for pods, in addition to pending pods it is nominated for already. */
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

  /** The number of nominated nodes. */
  get size(): number {
    return this.#byNode.size;
  }

  /** Withdraws the nominations of pods that stay on their nodes. */
  withdraw(pods: readonly Pod[]): void {
    const staying = new Set(pods.map(({ metadata }) => metadata.uid ?? ''));
    for (const uid of staying) this.#places.delete(uid);
    for (const [node, nomination] of this.#byNode) {
      const left = nomination.pods.filter(({ uid = '' }) => !staying.has(uid));
      if (left.length < nomination.pods.length) this.#byNode.set(node, { ...nomination, pods: left });
    }
  }

  /** The node, named as in the state, that was last nominated for the pod. */
  placeOf({ metadata }: Pod): string | undefined {
    const place = this.#places.get(metadata.uid ?? '');
    return place === undefined || place.until <= this.#options.clock.elapsed() ? undefined : place.node;
  }

  /** Whether pods are still expected on the node, or may be because it was initialized only just now. */
  has({ name, claim }: StateNode): boolean {
    if (this.#waits(name)) return true;
    if (claim === undefined) return false;
    const upMs = upForMs(claim, this.#options.clock.now());
    return (upMs !== undefined && this.#othersMayCome(upMs)) || this.#waits(`${CLAIM_PREFIX}${claim.metadata.name}`);
  }

  /**
   * Marks the node of a claim as open to the scheduler, which from now on decides which pods run there. This includes pods of plans that
   * were made while the node was closed.
   */
  opened(claim: NodeClaim): void {
    const node = `${CLAIM_PREFIX}${claim.metadata.name}`;
    if (!this.#openFrom.has(node)) this.#openFrom.set(node, this.#options.clock.elapsed() + OPENED_MS);
  }

  /** Pending pods nominated to the node of a claim, while it is closed to all others. */
  keptFor(claim: NodeClaim): Pod[] {
    const node = `${CLAIM_PREFIX}${claim.metadata.name}`;
    const nomination = this.#byNode.get(node);
    if (nomination === undefined) return [];
    const openFrom = this.#openFrom.get(node) ?? nomination.at + LONGEST_MS;
    return this.#options.clock.elapsed() < openFrom ? this.waitingFor(claim) : [];
  }

  /** Pending pods nominated to the node of a claim. */
  waitingFor(claim: NodeClaim): Pod[] {
    return this.#waitingOn(`${CLAIM_PREFIX}${claim.metadata.name}`);
  }

  /** Drops expired entries of nodes that never came up, or are gone. */
  #forgetOld(now: number): void {
    for (const [node, { at }] of this.#byNode) {
      if (now - at < LONGEST_MS) break;
      this.#byNode.delete(node);
    }
    for (const [uid, { until }] of this.#places) {
      if (now < until) break;
      this.#places.delete(uid);
    }
    // By then no plan is running that saw the node closed.
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

  /** Whether pods other than the nominated ones may still be bound to a node nominated this long ago. */
  #othersMayCome(age: number): boolean {
    return age < SHORTEST_MS && Math.min(age, this.#options.waitingPods.quietMs) < QUIET_MS;
  }

  #ifWaiting({ key, uid, node }: NominatedPod): Pod | undefined {
    const pod = this.#options.pods.get(key);
    return pod !== undefined && pod.metadata.uid === uid && (pod.spec.nodeName ?? '') === node ? pod : undefined;
  }
}

/** Whether the node of a claim was initialized so recently that its pods may still be coming. */
export function hasJustComeUp(claim: NodeClaim, now: EpochMs): boolean {
  const upMs = upForMs(claim, now);
  return upMs !== undefined && upMs < SHORTEST_MS;
}

function upForMs(claim: NodeClaim, now: EpochMs): number | undefined {
  const initialized = conditionOf(claim, 'Initialized');
  const since = initialized?.status === 'True' ? parseTimestamp(initialized.lastTransitionTime) : undefined;
  return since === undefined ? undefined : now - since;
}
