/**
 * Which claims wait for a machine of a MachineDeployment. It is an annotation of the MachineDeployment, so that it changes
 * together with the replicas in one write: each replica that was asked for has a claim on record, also after a restart.
 */
import type { MachineDeployment } from '../../apis/cluster-api/machine-deployment.ts';
import { ANNOTATION_LEDGER } from './own-names.ts';

export interface Ledger {
  /** Names of claims by UID. */
  readonly waiting: ReadonlyMap<string, string>;
  /** How many machines claims asked for and no longer want. They are deleted as soon as they come. */
  readonly surplus: number;
}

/** Reads the annotation; one that cannot be read counts as empty, as its claims ask again. */
export function readLedger({ metadata }: MachineDeployment): Ledger {
  const text = metadata.annotations?.[ANNOTATION_LEDGER];
  if (text === undefined) return { waiting: new Map(), surplus: 0 };
  let written: unknown;
  try {
    written = JSON.parse(text);
  } catch {
    written = undefined;
  }
  const { waiting, surplus } = (written ?? {}) as { waiting?: unknown; surplus?: unknown };
  const entries = typeof waiting === 'object' && waiting !== null ? Object.entries(waiting) : [];
  return {
    waiting: new Map(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string')),
    surplus: typeof surplus === 'number' && Number.isInteger(surplus) && surplus > 0 ? surplus : 0,
  };
}

/** The text of the annotation; null takes it away when there is nothing to say. */
export function writeLedger({ waiting, surplus }: Ledger): string | null {
  if (waiting.size === 0 && surplus === 0) return null;
  return JSON.stringify({ waiting: Object.fromEntries(waiting), ...(surplus > 0 && { surplus }) });
}
