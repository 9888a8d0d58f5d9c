/**
 * Which pods that do not exist yet are to come to which new node. Who evicts a pod does not know what the one is called that takes
 * its place; but pods of one owner are alike, and so a place on a new node is kept for any pod of that owner.
 *
 * It is memory only: after a restart the scheduler places the pods.
 */
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { Clock } from '../platform/clock.ts';
import { isSteerable, ownerOf } from './steerable.ts';

/** What keeps pods from leaving for so long may keep them for ever. A command may drain many nodes, a few at a time. */
const LONGEST_MS = 30 * 60_000;
/** Others are let on a node that is kept for pods which do not leave theirs; whose machine is taken soon has left by then. */
const LONGEST_CLOSED_MS = 10 * 60_000;

interface Places {
  /** How many pods of an owner are still to come. */
  readonly left: Map<string, number>;
  readonly until: number;
  /** Names of the claims that they leave; none where whoever has them leave says when all have. */
  readonly origins: readonly string[];
}

export class Successors {
  readonly #clock: Clock;
  readonly #isGoing: (claim: string) => boolean;
  /** By the name of the claim. */
  readonly #places = new Map<string, Places>();
  /** By owner: names of the claims that have places for its pods. */
  readonly #byOwner = new Map<string, Set<string>>();

  /** `isGoing` says of a claim's name whether its machine still goes. */
  constructor(clock: Clock, isGoing: (claim: string) => boolean) {
    this.#clock = clock;
    this.#isGoing = isGoing;
  }

  /**
   * The node of the claim is there for what comes after these pods. Places are kept only where all of them can be put there by us:
   * a node is closed while places on it are kept, and a pod that only a scheduler can place would wait outside for all others.
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

  /** Whether pods are still to come to the node of the claim. */
  awaitedBy(claim: string): boolean {
    return this.#of(claim).size > 0;
  }

  /** Whether the node of the claim is kept closed for pods that are still to come to it. */
  keepsClosed(claim: string): boolean {
    return this.awaitedBy(claim) && this.#clock.elapsed() < (this.#places.get(claim)?.until ?? 0);
  }

  /** The claim with a place for the pod, which is taken now. */
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

  /** Nobody is to come any more: all have left the nodes that go, or none will. */
  forget(claim: string): void {
    for (const owner of this.#places.get(claim)?.left.keys() ?? []) this.#unlist(owner, claim);
    this.#places.delete(claim);
  }

  /** Where those that come after these pods will be, by claim, as far as places are kept for them. */
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
    // While what they leave is there they may come; a node that nobody is awaited on would be taken away as empty.
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
