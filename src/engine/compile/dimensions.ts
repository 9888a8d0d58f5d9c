/**
 * The resources that matter: those some pending pod requests, each a column of the resource tables. Volume attachments of
 * a CSI driver are a resource like any other, except that a machine without an entry for the driver has no limit.
 */
import type { PodGroup, Resources } from '../problem.ts';
import { Interner } from './interner.ts';
import { PODS } from './well-known.ts';

/** The amount used for something a machine does not limit. */
export const UNLIMITED = 2 ** 52;

/** The columns of the resource tables. */
export class Dimensions {
  readonly #resources = new Interner();
  readonly #drivers = new Interner();

  constructor(pods: readonly PodGroup[]) {
    this.#resources.id('cpu');
    this.#resources.id('memory');
    this.#resources.id(PODS);
    for (const pod of pods) {
      for (const name in pod.requests) if ((pod.requests[name] as number) > 0) this.#resources.id(name);
      for (const driver in pod.volumeAttachments) this.#drivers.id(driver);
    }
  }

  get size(): number {
    return this.#resources.size + this.#drivers.size;
  }

  /** The name of a column for messages. */
  name(column: number): string {
    return this.#resources.names[column] ?? `volumes of ${this.#drivers.names[column - this.#resources.size]}`;
  }

  /** Whether a column counts volumes rather than a resource. */
  isAttachment(column: number): boolean {
    return column >= this.#resources.size;
  }

  /** A pod's requests as a row of a table. */
  requestsOf(pod: PodGroup): Float64Array {
    const row = new Float64Array(this.size);
    this.writeRequests(row, pod);
    return row;
  }

  /** Writes a pod's requests, including its one unit of `pods`. */
  writeRequests(into: Float64Array, pod: Pick<PodGroup, 'requests' | 'volumeAttachments'>): void {
    for (const name in pod.requests) {
      const column = this.#resources.find(name);
      if (column !== undefined) into[column] = pod.requests[name] as number;
    }
    into[2] = 1;
    for (const driver in pod.volumeAttachments) {
      into[this.#resources.size + this.#drivers.id(driver)] = pod.volumeAttachments[driver] as number;
    }
  }

  /** Writes a machine's capacity. */
  writeCapacity(
    into: Float64Array,
    offset: number,
    capacity: Resources,
    attachLimits: Readonly<Record<string, number>> | undefined,
  ): void {
    for (let column = 0; column < this.#resources.size; column++) {
      into[offset + column] = capacity[this.#resources.names[column] as string] ?? 0;
    }
    for (let driver = 0; driver < this.#drivers.size; driver++) {
      const limit = attachLimits?.[this.#drivers.names[driver] as string];
      into[offset + this.#resources.size + driver] = limit ?? UNLIMITED;
    }
  }

  /** The amounts of a row of a table, by resource name. */
  toResources(row: Float64Array): Resources {
    const result: Record<string, number> = {};
    for (let column = 0; column < this.#resources.size; column++) {
      if (row[column] !== 0) result[this.#resources.names[column] as string] = row[column] as number;
    }
    return result;
  }
}
