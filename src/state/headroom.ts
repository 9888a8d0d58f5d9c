/**
 * The room that CapacityBuffers keep: which virtual pods there are, and on which nodes their room is. It is memory only: after a
 * restart buffers are read and placed anew, and until then no node is taken for empty (`isKnown`).
 */
import type { CapacityBuffer } from '../apis/autoscaling/capacity-buffer.ts';
import { keyOf, keyText } from '../apis/kubernetes/object.ts';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { OptionalInformer } from '../kube/optional-informer.ts';
import type { Clock } from '../platform/clock.ts';
import { CLAIM_PREFIX, type StateNode } from './state-node.ts';

/** Where the virtual pods of one buffer are. */
export interface BufferPlaces {
  /** Virtual pods by the place that has room for them: `nodeclaim/NAME`, or the name of a node without a claim. */
  readonly placed: ReadonlyMap<string, readonly Pod[]>;
  /** Virtual pods that no node has room for, and why. */
  readonly unplaced: readonly Pod[];
  readonly why: string;
}

/** What a round of provisioning has found. */
export interface FoundPlaces {
  /** By place. */
  readonly placed: ReadonlyMap<string, readonly Pod[]>;
  readonly unplaced: ReadonlyMap<Pod, string>;
}

const NOTHING: FoundPlaces = { placed: new Map(), unplaced: new Map() };
const NONE: readonly Pod[] = [];
/** Buffers that are not read by then cannot be. */
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
  /** There are virtual pods that no round has looked at. */
  #isOutdated = false;

  constructor(buffers: Pick<OptionalInformer<CapacityBuffer>, 'presence' | 'list'>, clock?: Pick<Clock, 'elapsed'>) {
    this.#buffers = buffers;
    this.#clock = clock;
    this.#since = clock?.elapsed() ?? 0;
  }

  /** Whether all buffers have been read, and a round of provisioning has placed their virtual pods. */
  get isKnown(): boolean {
    if (this.#buffers.presence === 'missing') return true;
    // Where they cannot be read, as without the right to, nodes do not stay for ever for their sake.
    if (this.#buffers.presence === 'unknown') return (this.#clock?.elapsed() ?? 0) - this.#since >= LONGEST_UNKNOWN_MS;
    return !this.#isOutdated && this.#buffers.list().every((buffer) => this.#read.has(keyText(keyOf(buffer))));
  }

  /** All virtual pods. */
  pods(): readonly Pod[] {
    return [...this.#pods.values()].flat();
  }

  get isEmpty(): boolean {
    return this.#pods.size === 0;
  }

  /** These are the virtual pods of a buffer now. */
  set(key: string, pods: readonly Pod[]): void {
    this.#read.add(key);
    const before = this.#pods.get(key) ?? NONE;
    if (before.length === pods.length && pods.every((pod, index) => pod === before[index])) return;
    if (pods.length === 0) this.#pods.delete(key);
    else this.#pods.set(key, pods);
    this.#prune();
    const known = new Set(before);
    if (pods.some((pod) => !known.has(pod))) {
      this.#isOutdated = true;
      call(this.#onPods);
    }
    call(this.#onPlaces);
  }

  /** The buffer is gone. */
  delete(key: string): void {
    this.#read.delete(key);
    if (!this.#pods.delete(key)) return;
    this.#prune();
    call(this.#onPlaces);
  }

  /** The virtual pods whose room is on a node. */
  on(state: Pick<StateNode, 'name' | 'claim'>): readonly Pod[] {
    return this.#found.placed.size === 0 ? NONE : (this.#found.placed.get(placeOf(state)) ?? NONE);
  }

  /** Where the virtual pods of a buffer are. */
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

  /** A round that looked at these virtual pods has found these places. */
  place(looked: readonly Pod[], found: FoundPlaces): void {
    this.#found = found;
    this.#prune();
    const seen = new Set(looked);
    this.#isOutdated = this.pods().some((pod) => !seen.has(pod));
    call(this.#onPlaces);
  }

  /** Calls back when there are new virtual pods; gives what ends that. */
  onPods(listener: () => void): () => void {
    this.#onPods.add(listener);
    return () => this.#onPods.delete(listener);
  }

  /** Calls back when places of virtual pods may have changed; gives what ends that. */
  onPlaces(listener: () => void): () => void {
    this.#onPlaces.add(listener);
    return () => this.#onPlaces.delete(listener);
  }

  /** Forgets places of virtual pods that are no more. */
  #prune(): void {
    const all = new Set(this.pods());
    const placed = new Map<string, readonly Pod[]>();
    for (const [place, pods] of this.#found.placed) {
      const left = pods.filter((pod) => all.has(pod));
      if (left.length > 0) placed.set(place, left);
    }
    this.#found = { placed, unplaced: new Map([...this.#found.unplaced].filter(([pod]) => all.has(pod))) };
  }
}

/** What a place is called: it stays the same while the machine of a claim becomes a node. */
export function placeOf({ name, claim }: Pick<StateNode, 'name' | 'claim'>): string {
  return claim === undefined ? name : `${CLAIM_PREFIX}${claim.metadata.name}`;
}

function call(listeners: ReadonlySet<() => void>): void {
  for (const listener of [...listeners]) listener();
}
