/** A property that must hold in every life of a cluster, checked from outside. */
import type { SimulatedInstance } from '../../src/cloud/simulated/simulated-instance.ts';
import type { Deed } from './draw/happenings.ts';
import type { Facts } from './facts.ts';
import type { Write } from './scribe.ts';

export interface Invariant {
  /** Just before an event. */
  happens?(deed: Deed): void;
  /** On each write to the cluster, when it takes effect. */
  written?(write: Write): void;
  /** On each change of a machine. */
  changed?(instance: SimulatedInstance): void;
  /** Every virtual minute. */
  minute?(): void;
  /** When the faults have ended and everything should have recovered. */
  mended?(): void;
  /** After two hours without events. */
  rested?(): void;
  /** After all user objects were deleted, when everything else should be gone too. */
  cleared?(): void;
}

/** Creates an invariant that reports violations as sentences with the names of the objects. */
export type InvariantMaker = (facts: Facts, broken: (sentence: string) => void) => Invariant;
