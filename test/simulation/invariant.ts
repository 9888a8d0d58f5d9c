/** Something that must hold in every life of a cluster, looked at from outside. */
import type { SimulatedInstance } from '../../src/cloud/simulated/simulated-instance.ts';
import type { Deed } from './draw/happenings.ts';
import type { Facts } from './facts.ts';
import type { Write } from './scribe.ts';

export interface Invariant {
  /** Just before something is made to happen. */
  happens?(deed: Deed): void;
  /** With each write to the cluster, in the moment it takes effect. */
  written?(write: Write): void;
  /** With each change of a machine. */
  changed?(instance: SimulatedInstance): void;
  /** Every virtual minute. */
  minute?(): void;
  /** When the trouble is over and what it broke should be whole. */
  mended?(): void;
  /** When nothing has happened for two hours. */
  rested?(): void;
  /** When everything a person made has been deleted, and what followed from it should be gone. */
  cleared?(): void;
}

/** Makes an invariant that says in a sentence, with the names of the objects, what breaks it. */
export type InvariantMaker = (facts: Facts, broken: (sentence: string) => void) => Invariant;
