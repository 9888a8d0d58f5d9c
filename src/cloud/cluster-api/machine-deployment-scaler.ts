/**
 * The only writer of replicas in Spindrift. One piece of work at a time for each MachineDeployment; each begins by reading the
 * MachineDeployment and its machines from the API server, and is begun again when another controller wrote meanwhile.
 */
import type { CoreKinds } from '../../apis/cluster-api/core-kinds.ts';
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import type { MachineDeployment } from '../../apis/cluster-api/machine-deployment.ts';
import { ANNOTATION_DELETE_MACHINE, LABEL_DEPLOYMENT_NAME } from '../../apis/cluster-api/names.ts';
import { keyOf, keyText, type ObjectKey, parseKey } from '../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../kube/client.ts';
import type { Clock } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import { type Logger, SILENT_LOGGER } from '../../platform/logger.ts';
import { type Census, isMarked, takeCensus } from './census.ts';
import { decideMachine } from './decide-machine.ts';
import { decideSettlement, type Settlement } from './decide-settlement.ts';
import { KeyLock } from './key-lock.ts';
import { type Ledger, readLedger, writeLedger } from './ledger.ts';
import { OverdueWatch } from './overdue-watch.ts';
import {
  ANNOTATION_CLAIM,
  ANNOTATION_LEDGER,
  ANNOTATION_NODE_CLASS,
  ANNOTATION_POOL,
  LABEL_CLAIM_UID,
} from './own-names.ts';

/** The claim that a machine is for, as it is written on the machine. */
export interface Claimant {
  readonly uid: string;
  readonly name: string;
  readonly pool: string;
  readonly nodeClass: string;
}

export interface ScalerOptions {
  /** Of the management cluster. */
  readonly client: KubeClient;
  readonly kinds: CoreKinds;
  readonly clock: Clock;
  readonly logger?: Logger;
  /** Whether there is a claim of that UID. */
  readonly claimExists: (uid: string) => boolean;
  /** How long a machine may be unclaimed before it is scaled away. */
  readonly graceMs: number;
}

export type MachineAnswer =
  | { readonly kind: 'machine'; readonly machine: CoreMachine }
  | { readonly kind: 'waiting' }
  | { readonly kind: 'full'; readonly problem: string };

interface Reading {
  readonly deployment: MachineDeployment;
  readonly census: Census;
}

/** After this many conflicts with other writers the caller has to try again later. */
const MOST_TRIES = 12;
const FIELD_MANAGER = { fieldManager: 'spindrift-cluster-api' } as const;

export class MachineDeploymentScaler {
  readonly #options: ScalerOptions;
  readonly #lock = new KeyLock();
  readonly #overdue: OverdueWatch;

  constructor(options: ScalerOptions) {
    this.#options = options;
    this.#overdue = new OverdueWatch(options);
  }

  /** Gives the claim a machine of the MachineDeployment, or puts it on record as waiting for one. */
  async request(key: string, claimant: Claimant, signal: AbortSignal): Promise<MachineAnswer> {
    try {
      return await this.#request(key, claimant, signal);
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
      return { kind: 'full', problem: 'it has been deleted' };
    }
  }

  #request(key: string, claimant: Claimant, signal: AbortSignal): Promise<MachineAnswer> {
    return this.#work(key, signal, async ({ deployment, census }) => {
      const decision = decideMachine(census, claimant.uid);
      switch (decision.kind) {
        case 'has':
          await this.#strike(deployment, census, claimant.uid, signal);
          return { kind: 'machine', machine: decision.machine };
        case 'adopt': {
          const machine = await this.#adopt(decision.machine, claimant, signal);
          await this.#strike(deployment, census, claimant.uid, signal);
          return { kind: 'machine', machine };
        }
        case 'wait':
          return { kind: 'waiting' };
        case 'full':
          return decision;
        case 'join': {
          const waiting = new Map([...census.waiting, [claimant.uid, claimant.name]]);
          const surplus = census.surplus - Number(decision.usesSurplus);
          await this.#write(deployment, decision.replicas, { waiting, surplus }, signal);
          return { kind: 'waiting' };
        }
      }
    });
  }

  /** Takes a claim off the record. A machine that still comes for it is deleted as soon as it is there. */
  async withdraw(key: string, claimUID: string, signal: AbortSignal): Promise<void> {
    const strike = this.#work(key, signal, async ({ deployment, census }) => {
      if (!census.waiting.has(claimUID)) return;
      const waiting = new Map(census.waiting);
      waiting.delete(claimUID);
      await this.#write(deployment, census.replicas, { waiting, surplus: census.surplus + 1 }, signal);
    });
    // A MachineDeployment that is gone has no record and makes no machine.
    await ignoringGone(strike.then(() => this.settle(key, signal)));
  }

  /**
   * Has a machine deleted, in one step: it is marked, and the replicas are lowered. When the server refuses the second part
   * the mark is taken away again, so that no other shrinking takes a machine that stays in use. Where it is not known whether the
   * replicas were lowered the mark stays, as without it the shrinking would take another machine; the next settling completes it.
   */
  async release(machine: CoreMachine, signal: AbortSignal): Promise<void> {
    const { kinds, client } = this.#options;
    const { namespace = '', labels, deletionTimestamp } = machine.metadata;
    const deployment = labels?.[LABEL_DEPLOYMENT_NAME];
    if (deletionTimestamp !== undefined) return;
    if (deployment === undefined) {
      await this.#delete(machine, signal);
      return;
    }
    const wasMarked = isMarked(machine);
    if (!wasMarked) await this.#mark(machine, signal);
    try {
      await this.settle(keyText({ namespace, name: deployment }), signal);
    } catch (error) {
      if (hasCode(error, 'KUBE_NOT_FOUND')) {
        await this.#delete(machine, signal);
        return;
      }
      if (!wasMarked && hasCode(error, 'KUBE_FORBIDDEN', 'KUBE_INVALID', 'KUBE_BAD_REQUEST')) {
        const body = { metadata: { annotations: { [ANNOTATION_DELETE_MACHINE]: null } } };
        await client.patch(kinds.machines, keyOf(machine), { type: 'merge', body }, FIELD_MANAGER).catch((failure) => {
          (this.#options.logger ?? SILENT_LOGGER).warn('a machine stays marked for deletion', { error: failure });
        });
      }
      throw error;
    }
  }

  /** Takes a machine back that never got an instance: it is unclaimed from now on, and deleted. */
  async giveBack(machine: CoreMachine, signal: AbortSignal): Promise<void> {
    const { client, kinds } = this.#options;
    const metadata = {
      labels: { [LABEL_CLAIM_UID]: null },
      annotations: { [ANNOTATION_DELETE_MACHINE]: 'spindrift', [ANNOTATION_CLAIM]: null },
    };
    const options = { ...FIELD_MANAGER, signal };
    await ignoringGone(client.patch(kinds.machines, keyOf(machine), { type: 'merge', body: { metadata } }, options));
    const deployment = machine.metadata.labels?.[LABEL_DEPLOYMENT_NAME] ?? '';
    await this.settle(keyText({ namespace: machine.metadata.namespace ?? '', name: deployment }), signal);
  }

  /** Brings the replicas in line with the claims, and completes work that was left half done. */
  async settle(key: string, signal: AbortSignal): Promise<void> {
    const isDone = (): Promise<boolean> =>
      this.#work(key, signal, async ({ deployment, census }) => {
        const settlement = decideSettlement(census, this.#overdue.look(key, census));
        await this.#carryOut(deployment, census, settlement, signal);
        return settlement.mark.length === 0;
      });
    for (let round = 0; round < MOST_TRIES && !(await isDone()); round++);
  }

  /** Forgets MachineDeployments that are no longer ours. */
  keepOnly(keys: ReadonlySet<string>): void {
    this.#overdue.keepOnly(keys);
  }

  async #carryOut(
    deployment: MachineDeployment,
    { waiting }: Census,
    { mark, replicas, surplus }: Settlement,
    signal: AbortSignal,
  ): Promise<void> {
    for (const machine of mark) await this.#mark(machine, signal);
    await this.#write(deployment, replicas, { waiting, surplus }, signal);
  }

  /** Works on a MachineDeployment as it is now; KUBE_NOT_FOUND when it is gone. */
  async #work<Answer>(key: string, signal: AbortSignal, act: (read: Reading) => Promise<Answer>): Promise<Answer> {
    return this.#lock.run(key, async () => {
      for (let tries = 1; ; tries++) {
        signal.throwIfAborted();
        const read = await this.#read(key, signal);
        try {
          return await act(read);
        } catch (error) {
          // Another controller wrote meanwhile, or deleted a machine.
          if (!hasCode(error, 'KUBE_CONFLICT', 'KUBE_NOT_FOUND')) throw error;
          if (tries < MOST_TRIES) continue;
          const problem = 'other controllers keep writing to it';
          throw new SpindriftError(
            'CLOUD_UNAVAILABLE',
            { operation: `MachineDeployment ${key}`, problem },
            { cause: error },
          );
        }
      }
    });
  }

  async #read(key: string, signal: AbortSignal): Promise<Reading> {
    const { client, kinds, claimExists } = this.#options;
    const { namespace = '', name } = parseKey(key);
    const deployment = await client.get(kinds.machineDeployments, { namespace, name }, { signal });
    // In this order: what replicas ask for may have come since they were read, and then it is counted as come.
    const { items } = await client.list(
      kinds.machines,
      { namespace, labelSelector: `${LABEL_DEPLOYMENT_NAME}=${name}` },
      { signal },
    );
    return { deployment, census: takeCensus(deployment, items, claimExists) };
  }

  async #adopt(
    machine: CoreMachine,
    { uid, name, pool, nodeClass }: Claimant,
    signal: AbortSignal,
  ): Promise<CoreMachine> {
    const annotations = { [ANNOTATION_CLAIM]: name, [ANNOTATION_POOL]: pool, [ANNOTATION_NODE_CLASS]: nodeClass };
    return this.#patchMachine(machine, { labels: { [LABEL_CLAIM_UID]: uid }, annotations }, signal);
  }

  /** Takes a claim that has its machine off the record: it must not count as waiting again when that machine is deleted. */
  async #strike(deployment: MachineDeployment, census: Census, claimUID: string, signal: AbortSignal): Promise<void> {
    const waiting = new Map(census.waiting);
    waiting.delete(claimUID);
    await this.#write(deployment, census.replicas, { waiting, surplus: census.surplus }, signal);
  }

  async #mark(machine: CoreMachine, signal: AbortSignal): Promise<void> {
    // A change of its status in between does not matter; a claim does, and is made under our lock.
    const body = { metadata: { uid: machine.metadata.uid, annotations: { [ANNOTATION_DELETE_MACHINE]: 'spindrift' } } };
    const { client, kinds } = this.#options;
    await ignoringGone(
      client.patch(kinds.machines, keyOf(machine), { type: 'merge', body }, { ...FIELD_MANAGER, signal }),
    );
  }

  async #delete(machine: CoreMachine, signal: AbortSignal): Promise<void> {
    const { client, kinds } = this.#options;
    const { uid } = machine.metadata;
    const preconditions = uid === undefined ? {} : { preconditions: { uid } };
    await ignoringGone(client.delete(kinds.machines, keyOf(machine), { signal, ...preconditions }));
  }

  #patchMachine(machine: CoreMachine, metadata: object, signal: AbortSignal): Promise<CoreMachine> {
    const { client, kinds } = this.#options;
    const { resourceVersion } = machine.metadata;
    const body = { metadata: { ...metadata, resourceVersion } };
    return client.patch(kinds.machines, keyOf(machine), { type: 'merge', body }, { ...FIELD_MANAGER, signal });
  }

  /** Replicas and record in one write, which fails when anybody wrote since the MachineDeployment was read. */
  async #write(deployment: MachineDeployment, replicas: number, ledger: Ledger, signal: AbortSignal): Promise<void> {
    const { client, kinds } = this.#options;
    const text = writeLedger(ledger);
    if (replicas === (deployment.spec?.replicas ?? 0) && text === writeLedger(readLedger(deployment))) return;
    const { resourceVersion } = deployment.metadata;
    const body = { metadata: { resourceVersion, annotations: { [ANNOTATION_LEDGER]: text } }, spec: { replicas } };
    const key: ObjectKey = keyOf(deployment);
    await client.patch(kinds.machineDeployments, key, { type: 'merge', body }, { ...FIELD_MANAGER, signal });
  }
}

/** An object that is gone already need not be written or deleted. */
async function ignoringGone(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT')) throw error;
  }
}
