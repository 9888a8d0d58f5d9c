/**
 * The pending pods: active ones to try now, by priority and age; delayed ones that wait for their back-off; and parked
 * ones for which no node fits, which wait for a change that may help.
 */
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { Clock, Timer } from '../../platform/clock.ts';
import { Heap } from '../../platform/heap.ts';
import type { PodClass } from './pod-class.ts';

/** A pending pod. */
export interface WaitingPod {
  readonly key: string;
  pod: Pod;
  attempts: number;
  readonly order: number;
  place: 'active' | 'delayed' | 'parked' | 'out';
  /** In the clock's `elapsed` time: when it was last tried, and when it will be tried again at the latest. */
  triedAt: number;
  dueAt: number;
  podClass: PodClass | undefined;
}

const FIRST_BACK_OFF_MS = 1000;
const LONGEST_BACK_OFF_MS = 10_000;
/** A pod is tried again after this long even if nothing seems to have changed. */
const LONGEST_PARKED_MS = 300_000;

export class SchedulingQueue {
  readonly #clock: Clock;
  readonly #wake: () => void;
  readonly #pods = new Map<string, WaitingPod>();
  readonly #active = new Heap<WaitingPod>(goesBefore);
  readonly #later = new Heap<{ readonly waiting: WaitingPod; readonly at: number }>((a, b) => a.at < b.at);
  readonly #parked = new Map<PodClass, Set<WaitingPod>>();
  #order = 0;
  #timer: Timer | undefined;
  #timerAt = Number.POSITIVE_INFINITY;

  /** `wake` is called whenever a pod becomes active. */
  constructor(clock: Clock, wake: () => void) {
    this.#clock = clock;
    this.#wake = wake;
  }

  get size(): number {
    return this.#pods.size;
  }

  get parkedClasses(): IterableIterator<PodClass> {
    return this.#parked.keys();
  }

  /** Adds a pod that is new, or whose spec changed. It is tried at once. */
  add(pod: Pod): void {
    const key = keyText(keyOf(pod));
    const known = this.#pods.get(key);
    if (known?.place === 'active') {
      known.pod = pod;
      return;
    }
    this.remove(key);
    const waiting: WaitingPod = {
      key,
      pod,
      attempts: 0,
      order: this.#order++,
      place: 'out',
      triedAt: 0,
      dueAt: 0,
      podClass: undefined,
    };
    this.#pods.set(key, waiting);
    this.#activate(waiting);
  }

  /** Updates a pod without trying it again. */
  refresh(pod: Pod): void {
    const waiting = this.#pods.get(keyText(keyOf(pod)));
    if (waiting !== undefined) waiting.pod = pod;
  }

  remove(key: string): void {
    const waiting = this.#pods.get(key);
    if (waiting === undefined) return;
    this.#unpark(waiting);
    waiting.place = 'out';
    this.#pods.delete(key);
  }

  /** The next pod to try. */
  pop(): WaitingPod | undefined {
    for (let waiting = this.#active.pop(); waiting !== undefined; waiting = this.#active.pop()) {
      if (waiting.place !== 'active' || this.#pods.get(waiting.key) !== waiting) continue;
      waiting.place = 'out';
      waiting.attempts++;
      waiting.triedAt = this.#clock.elapsed();
      return waiting;
    }
    return undefined;
  }

  /** Parks a pod for which no node fits, until something changes. */
  park(waiting: WaitingPod, podClass: PodClass): void {
    if (this.#pods.get(waiting.key) !== waiting) return;
    waiting.place = 'parked';
    waiting.podClass = podClass;
    const others = this.#parked.get(podClass);
    if (others === undefined) this.#parked.set(podClass, new Set([waiting]));
    else others.add(waiting);
    this.#delay(waiting, waiting.triedAt + LONGEST_PARKED_MS);
  }

  /** Tries a pod again after its back-off, because of a failure unrelated to the nodes. */
  retry(waiting: WaitingPod): void {
    if (this.#pods.get(waiting.key) !== waiting || waiting.place === 'active') return;
    this.#unpark(waiting);
    waiting.place = 'delayed';
    this.#delay(waiting, backOffEnd(waiting));
  }

  /**
   * Tries the parked pods of a class again after a change that may help, each not before its back-off is over. If the
   * change can help at most `most` pods, only the first ones are tried and the others stay parked.
   */
  release(podClass: PodClass, most = Number.POSITIVE_INFINITY): void {
    const parked = [...(this.#parked.get(podClass) ?? [])];
    const chosen = parked.length <= most ? parked : parked.sort((a, b) => (goesBefore(a, b) ? -1 : 1)).slice(0, most);
    for (const waiting of chosen) {
      this.#unpark(waiting);
      const at = backOffEnd(waiting);
      if (at <= this.#clock.elapsed()) this.#activate(waiting);
      else {
        waiting.place = 'delayed';
        this.#delay(waiting, at);
      }
    }
  }

  close(): void {
    this.#timer?.cancel();
  }

  #activate(waiting: WaitingPod): void {
    waiting.place = 'active';
    this.#active.push(waiting);
    this.#wake();
  }

  #unpark(waiting: WaitingPod): void {
    if (waiting.place !== 'parked' || waiting.podClass === undefined) return;
    const others = this.#parked.get(waiting.podClass);
    others?.delete(waiting);
    if (others?.size === 0) this.#parked.delete(waiting.podClass);
  }

  #delay(waiting: WaitingPod, at: number): void {
    waiting.dueAt = at;
    this.#later.push({ waiting, at });
    this.#setTimer();
  }

  #setTimer(): void {
    const next = this.#later.peek();
    if (next === undefined || next.at >= this.#timerAt) return;
    this.#timer?.cancel();
    this.#timerAt = next.at;
    this.#timer = this.#clock.setTimer(next.at - this.#clock.elapsed(), () => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#activateDue();
      this.#setTimer();
    });
  }

  #activateDue(): void {
    const now = this.#clock.elapsed();
    for (let next = this.#later.peek(); next !== undefined && next.at <= now; next = this.#later.peek()) {
      this.#later.pop();
      const { waiting, at } = next;
      const current = waiting.dueAt === at && (waiting.place === 'delayed' || waiting.place === 'parked');
      if (!current) continue;
      this.#unpark(waiting);
      this.#activate(waiting);
    }
  }
}

function backOffEnd({ triedAt, attempts }: WaitingPod): number {
  return triedAt + Math.min(LONGEST_BACK_OFF_MS, FIRST_BACK_OFF_MS * 2 ** Math.max(0, attempts - 1));
}

/** Higher priority first, then older pods. */
function goesBefore(a: WaitingPod, b: WaitingPod): boolean {
  const difference = priorityOf(a.pod) - priorityOf(b.pod);
  return difference > 0 || (difference === 0 && a.order < b.order);
}

function priorityOf(pod: Pod): number {
  return pod.spec.priority ?? 0;
}
