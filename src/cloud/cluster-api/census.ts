/** Counts the machines of a MachineDeployment: whose they are, which ones go, and how many are still to come. */
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import type { MachineDeployment } from '../../apis/cluster-api/machine-deployment.ts';
import {
  ANNOTATION_DELETE_MACHINE,
  ANNOTATION_MAX_SIZE,
  ANNOTATION_MIN_SIZE,
  ANNOTATION_PAUSED,
} from '../../apis/cluster-api/names.ts';
import { type Ledger, readLedger } from './ledger.ts';
import { LABEL_CLAIM_UID } from './own-names.ts';

export interface Census {
  readonly replicas: number;
  readonly min: number;
  /** Absent where nothing limits it. */
  readonly max?: number;
  readonly paused: boolean;
  /** Machines of claims, by the UID of the claim, without machines that are being deleted or marked for it. */
  readonly claimed: ReadonlyMap<string, CoreMachine>;
  /** Unclaimed machines, in the order in which to adopt them. */
  readonly free: readonly CoreMachine[];
  /** Marked to be deleted first, and not being deleted yet. */
  readonly marked: readonly CoreMachine[];
  /** Machines that replicas ask for and that do not exist yet. */
  readonly coming: number;
  /** Claims that wait for a machine and have none, not even one that is being deleted. */
  readonly waiting: ReadonlyMap<string, string>;
  readonly surplus: number;
}

/** Counts; `exists` tells whether there is a claim of a UID, so that deleted claims stop waiting. */
export function takeCensus(
  deployment: MachineDeployment,
  machines: readonly CoreMachine[],
  exists: (claimUID: string) => boolean,
): Census {
  const present = machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  const marked = present.filter(isMarked);
  const kept = present.filter((machine) => !isMarked(machine));
  const claimed = new Map(kept.flatMap((machine) => claimOf(machine).map((uid) => [uid, machine] as const)));
  const free = kept.filter((machine) => claimOf(machine).length === 0).sort(byFitness);
  const served = new Set(machines.flatMap(claimOf));
  const { replicas = 0 } = deployment.spec ?? {};
  const ledger: Ledger = readLedger(deployment);
  const max = sizeOf(deployment, ANNOTATION_MAX_SIZE);
  return {
    replicas,
    min: sizeOf(deployment, ANNOTATION_MIN_SIZE) ?? 0,
    ...(max !== undefined && { max }),
    paused: isPaused(deployment),
    claimed,
    free,
    marked,
    coming: Math.max(0, replicas - present.length),
    waiting: new Map([...ledger.waiting].filter(([uid]) => exists(uid) && !served.has(uid))),
    surplus: ledger.surplus,
  };
}

/** Whether controllers of Cluster API leave an object alone. */
export function isPaused({ metadata, spec }: MachineDeployment): boolean {
  return spec?.paused === true || metadata.annotations?.[ANNOTATION_PAUSED] !== undefined;
}

/** Whether a machine is the first to go when its set is scaled down. */
export function isMarked({ metadata }: CoreMachine): boolean {
  return metadata.annotations?.[ANNOTATION_DELETE_MACHINE] !== undefined;
}

function claimOf({ metadata }: CoreMachine): readonly string[] {
  const uid = metadata.labels?.[LABEL_CLAIM_UID];
  return uid === undefined || uid === '' ? [] : [uid];
}

function sizeOf({ metadata }: MachineDeployment, annotation: string): number | undefined {
  const text = metadata.annotations?.[annotation];
  return text !== undefined && /^\d+$/.test(text) ? Number(text) : undefined;
}

/** Machines that have started are of use sooner; among equals the youngest is the least likely to be replaced by a rollout. */
function byFitness(a: CoreMachine, b: CoreMachine): number {
  const started = Number(b.spec?.providerID !== undefined) - Number(a.spec?.providerID !== undefined);
  if (started !== 0) return started;
  const [younger, older] = [b.metadata.creationTimestamp ?? '', a.metadata.creationTimestamp ?? ''];
  if (younger !== older) return younger < older ? -1 : 1;
  return (a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1;
}
