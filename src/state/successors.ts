/**
 * Reserves room on replacement nodes for pods that will be recreated. A recreated pod has a new name, so room is reserved per owner (for
 * example a ReplicaSet), not per pod.
 *
 * Kept in memory only: after a restart the scheduler places the pods.
 */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Clock } from '../platform/clock.ts';
import { isSteerable, ownerOf } from './steerable.ts';

/** Longest reservation: pods blocked for longer may be blocked for ever. A command may drain many nodes, a few at a time. */
const LONGEST_MS = 30 * 60_000;
/** How long a replacement node stays closed to other pods while its own have not been evicted; interrupted ones have been by then. */
const LONGEST_CLOSED_MS = 10 * 60_000;

interface Places {
  /** Pods still expected, per owner. */
  readonly left: Map<string, number>;
  readonly until: number;
  /** Claims that the pods leave; empty if the caller reports when all have left. */
  readonly origins: readonly string[];
}

export class Successors {
  readonly #clock: Clock;
  readonly #isGoing: (claim: string) => boolean;
  /** By the name of the claim. */
  readonly #places = new Map<string, Places>();
  /** By owner: names of the claims that have places for its pods. */
  readonly #byOwner = new Map<string, Set<string>>();

  /** `isGoing`: whether the claim with that name is still being removed. */
  constructor(clock: Clock, isGoing: (claim: string) => boolean) {
    this.#clock = clock;
    this.#isGoing = isGoing;
  }

  /**
   * Reserves room on the node of a claim for the replacements of these pods. Only if Spindrift can bind all of them: the node is closed
   * while room is reserved, and a pod that only a scheduler can place would wait for all others.
   */
  expect(claim: string, pods: readonly Pod[], origins: readonly string[] = []): void {
    if (!pods.every(isSteerable)) return;
    const left = new Map<string, number>();
    for (const pod of pods) add(left, ownerOf(pod) ?? '', 1);
    this.forget(claim);
    for (const owner of left.keys()) this.#byOwner.set(owner, (this.#byOwner.get(owner) ?? new Set()).add(claim));
    const until = this.#clock.elapsed() + (origins.length > 0 ? LONGEST_CLOSED_MS : LONGEST_MS);
    if (left.size > 0) this.#places.set(claim, { left, until, origins });
  }

  /** Whether pods are still expected on the node of the claim. */
  awaitedBy(claim: string): boolean {
    return this.#of(claim).size > 0;
  }

  /** Whether the node of the claim stays closed for expected pods. */
  keepsClosed(claim: string): boolean {
    return this.awaitedBy(claim) && this.#clock.elapsed() < (this.#places.get(claim)?.until ?? 0);
  }

  /** Takes reserved room for the pod, and returns the claim that has it. */
  take(pod: Pod): string | undefined {
    const owner = ownerOf(pod);
    if (owner === undefined || !isSteerable(pod)) return undefined;
    for (const claim of this.#byOwner.get(owner) ?? []) {
      const left = this.#of(claim);
      if (!left.has(owner)) continue;
      add(left, owner, -1);
      if (!left.has(owner)) this.#unlist(owner, claim);
      if (left.size === 0) this.#places.delete(claim);
      return claim;
    }
    return undefined;
  }

  /** Releases all room: every pod has left the nodes being removed, or none will. */
  forget(claim: string): void {
    for (const owner of this.#places.get(claim)?.left.keys() ?? []) this.#unlist(owner, claim);
    this.#places.delete(claim);
  }

  /** The pods whose replacements have reserved room, by claim. */
  placesFor(pods: readonly Pod[]): ReadonlyMap<string, readonly Pod[]> {
    const found = new Map<string, Pod[]>();
    const byOwner = Map.groupBy(pods.filter(isSteerable), (pod) => ownerOf(pod) ?? '');
    for (const claim of [...this.#places.keys()]) {
      const here = [...this.#of(claim)].flatMap(([owner, count]) => byOwner.get(owner)?.splice(0, count) ?? []);
      if (here.length > 0) found.set(claim, here);
    }
    return found;
  }

  #of(claim: string): Map<string, number> {
    const places = this.#places.get(claim);
    if (places === undefined) return new Map();
    const { left, until, origins } = places;
    // Pods can still arrive while the nodes they leave exist. A node that expects no pods would be removed as empty.
    if (origins.length > 0 ? origins.some(this.#isGoing) : this.#clock.elapsed() < until) return left;
    this.forget(claim);
    return new Map();
  }

  #unlist(owner: string, claim: string): void {
    const claims = this.#byOwner.get(owner);
    claims?.delete(claim);
    if (claims?.size === 0) this.#byOwner.delete(owner);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
