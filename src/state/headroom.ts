/**
 * The room of CapacityBuffers: their virtual pods, and the nodes with room for them. Kept in memory only: after a restart buffers are
 * read and placed again, and until then no node counts as empty (`isKnown`).
 */
import type { CapacityBuffer } from '../apis/autoscaling/capacity-buffer.ts';
import { keyOf, keyText } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { OptionalInformer } from '../kube/optional-informer.ts';
import type { Clock } from '../platform/clock.ts';
import { CLAIM_PREFIX, type StateNode } from './state-node.ts';

/** Placement of the virtual pods of one buffer. */
export interface BufferPlaces {
  /** Virtual pods by the place that has room for them: `nodeclaim/NAME`, or the name of a node without a claim. */
  readonly placed: ReadonlyMap<string, readonly Pod[]>;
  /** Virtual pods that no node has room for, and why. */
  readonly unplaced: readonly Pod[];
  readonly why: string;
}

/** Placements that a provisioning round found. */
export interface FoundPlaces {
  /** By place. */
  readonly placed: ReadonlyMap<string, readonly Pod[]>;
  readonly unplaced: ReadonlyMap<Pod, string>;
}

const NOTHING: FoundPlaces = { placed: new Map(), unplaced: new Map() };
const NONE: readonly Pod[] = [];
/** After this long, buffers count as unreadable. */
const LONGEST_UNKNOWN_MS = 120_000;

export class Headroom {
  readonly #buffers: Pick<OptionalInformer<CapacityBuffer>, 'presence' | 'list'>;
  readonly #clock: Pick<Clock, 'elapsed'> | undefined;
  readonly #since: number;
  /** The virtual pods of each buffer, by its key. */
  readonly #pods = new Map<string, readonly Pod[]>();
  /** Versions of buffers that have been read in this term, by key. */
  readonly #read = new Set<string>();
  readonly #onPods = new Set<() => void>();
  readonly #onPlaces = new Set<() => void>();
  #found: FoundPlaces = NOTHING;
  /** Virtual pods that no round has looked at yet. */
  readonly #unseen = new Set<Pod>();

  constructor(buffers: Pick<OptionalInformer<CapacityBuffer>, 'presence' | 'list'>, clock?: Pick<Clock, 'elapsed'>) {
    this.#buffers = buffers;
    this.#clock = clock;
    this.#since = clock?.elapsed() ?? 0;
  }

  /** Whether all buffers have been read, and a round of provisioning has placed their virtual pods. */
  get isKnown(): boolean {
    if (this.#buffers.presence === 'missing') return true;
    // If buffers cannot be read, for example for lack of rights, empty nodes must not stay for ever.
    if (this.#buffers.presence === 'unknown') return (this.#clock?.elapsed() ?? 0) - this.#since >= LONGEST_UNKNOWN_MS;
    return this.#unseen.size === 0 && this.#buffers.list().every((buffer) => this.#read.has(keyText(keyOf(buffer))));
  }

  /** All virtual pods. */
  pods(): readonly Pod[] {
    return [...this.#pods.values()].flat();
  }

  get isEmpty(): boolean {
    return this.#pods.size === 0;
  }

  /** Sets the virtual pods of a buffer. */
  set(key: string, pods: readonly Pod[]): void {
    this.#read.add(key);
    const before = this.#pods.get(key) ?? NONE;
    if (before.length === pods.length && pods.every((pod, index) => pod === before[index])) return;
    if (pods.length === 0) this.#pods.delete(key);
    else this.#pods.set(key, pods);
    const known = new Set(before);
    const added = pods.filter((pod) => !known.has(pod));
    for (const pod of added) this.#unseen.add(pod);
    this.#prune();
    if (added.length > 0) call(this.#onPods);
    call(this.#onPlaces);
  }

  /** Removes a deleted buffer. */
  delete(key: string): void {
    this.#read.delete(key);
    if (!this.#pods.delete(key)) return;
    this.#prune();
    call(this.#onPlaces);
  }

  /** The virtual pods with room on a node. */
  on(state: Pick<StateNode, 'name' | 'claim'>): readonly Pod[] {
    return this.#found.placed.size === 0 ? NONE : (this.#found.placed.get(placeOf(state)) ?? NONE);
  }

  /** The placements of a buffer's virtual pods. */
  placesOf(key: string): BufferPlaces {
    const own = new Set(this.#pods.get(key) ?? NONE);
    const placed = new Map<string, readonly Pod[]>();
    for (const [place, pods] of this.#found.placed) {
      const here = pods.filter((pod) => own.has(pod));
      if (here.length > 0) placed.set(place, here);
    }
    const unplaced = [...this.#found.unplaced].filter(([pod]) => own.has(pod));
    return { placed, unplaced: unplaced.map(([pod]) => pod), why: unplaced[0]?.[1] ?? '' };
  }

  /** Stores the placements that a round found for the virtual pods it looked at. */
  place(looked: readonly Pod[], found: FoundPlaces): void {
    this.#found = found;
    for (const pod of looked) this.#unseen.delete(pod);
    this.#prune();
    call(this.#onPlaces);
  }

  /** Calls back when there are new virtual pods. Call the result to stop. */
  onPods(listener: () => void): () => void {
    this.#onPods.add(listener);
    return () => this.#onPods.delete(listener);
  }

  /** Calls back when placements may have changed. Call the result to stop. */
  onPlaces(listener: () => void): () => void {
    this.#onPlaces.add(listener);
    return () => this.#onPlaces.delete(listener);
  }

  /** Forgets virtual pods that no longer exist. */
  #prune(): void {
    const all = new Set(this.pods());
    for (const pod of this.#unseen) if (!all.has(pod)) this.#unseen.delete(pod);
    const placed = new Map<string, readonly Pod[]>();
    for (const [place, pods] of this.#found.placed) {
      const left = pods.filter((pod) => all.has(pod));
      if (left.length > 0) placed.set(place, left);
    }
    this.#found = { placed, unplaced: new Map([...this.#found.unplaced].filter(([pod]) => all.has(pod))) };
  }
}

/** The name of a place. It stays the same when the machine of a claim becomes a node. */
export function placeOf({ name, claim }: Pick<StateNode, 'name' | 'claim'>): string {
  return claim === undefined ? name : `${CLAIM_PREFIX}${claim.metadata.name}`;
}

function call(listeners: ReadonlySet<() => void>): void {
  for (const listener of [...listeners]) listener();
}
