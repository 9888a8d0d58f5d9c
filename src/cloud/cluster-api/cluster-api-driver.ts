/**
 * The driver for clusters whose machines Cluster API runs. Its offerings are MachineDeployments, a launch is a replica more or
 * an unclaimed machine that is adopted, and the instance comes minutes later, from a provider that we only read.
 */
import type { ClusterApiNodeClass } from '../../apis/cluster-api/cluster-api-node-class.ts';
import type { CoreMachine } from '../../apis/cluster-api/machine.ts';
import { rolloutStrategy } from '../../apis/cluster-api/machine-deployment.ts';
import { ANNOTATION_MACHINE, LABEL_DEPLOYMENT_NAME, LABEL_INTERRUPTIBLE } from '../../apis/cluster-api/names.ts';
import { referred } from '../../apis/cluster-api/reference.ts';
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { compileLabelSelector } from '../../apis/kubernetes/label-selector.ts';
import { keyOf, keyText } from '../../apis/kubernetes/object.ts';
import type { Clock } from '../../platform/clock.ts';
import { SpindriftError } from '../../platform/errors.ts';
import type {
  Catalogue,
  Cloud,
  CloudController,
  CloudLabels,
  Drift,
  LaunchAnswer,
  LaunchRequest,
  NoticeSource,
  Refusal,
} from '../cloud.ts';
import type { Machine, MachineRef } from '../machine.ts';
import type { NodeClass } from '../node-class-kind.ts';
import { nameOf } from '../offering-key.ts';
import type { RepairPolicy } from '../repair-policy.ts';
import { isMarked } from './census.ts';
import type { DescribedDeployment } from './describe-deployment.ts';
import { type CreateFailure, createFailure } from './infrastructure/create-failure.ts';
import { machineSettings } from './infrastructure/machine-settings.ts';
import type { InfrastructureObjects } from './infrastructure-objects.ts';
import { kubeFailure } from './kube-failure.ts';
import { readLedger } from './ledger.ts';
import type { Claimant, MachineDeploymentScaler } from './machine-deployment-scaler.ts';
import { instanceKey, machineOf } from './machine-of.ts';
import type { ManagementCluster } from './management-cluster.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';
import { ANNOTATION_DEPLOYMENT, ANNOTATION_REFUSED, LABEL_CLAIM_UID } from './own-names.ts';
import { REPAIR_POLICIES } from './repair-policies.ts';
import type { SelectedDeployments } from './selected-deployments.ts';

export interface ClusterApiDriverOptions {
  readonly clock: Clock;
  readonly management: ManagementCluster;
  readonly infrastructure: InfrastructureObjects;
  readonly selected: SelectedDeployments;
  readonly scaler: MachineDeploymentScaler;
  readonly controllers?: readonly CloudController[];
  readonly noticeSources?: readonly NoticeSource[];
  /** After which a call that is not answered is given up. */
  readonly callTimeoutMs?: number;
}

export const CLOUD_LABELS: CloudLabels = { wellKnown: [LABEL_INTERRUPTIBLE], restrictedDomains: [] };

const SCOPE = 'cluster-api';
/** A machine takes a minute or more; its Machine object a second. */
const ASK_AGAIN_MS = 5_000;

export class ClusterApiDriver implements Cloud {
  readonly name = 'cluster-api';
  readonly nodeClass = NODE_CLASS_KIND as unknown as Cloud['nodeClass'];
  readonly labels = CLOUD_LABELS;
  /** Our writes are read back at once, but caches may be some seconds behind. */
  readonly settleMs = 10_000;
  readonly repairPolicies: readonly RepairPolicy[] = REPAIR_POLICIES;
  readonly noticeSources: readonly NoticeSource[];
  readonly controllers: readonly CloudController[];
  readonly #options: ClusterApiDriverOptions;
  /** Where claims wait, as far as this process knows: caches may not show it yet. */
  readonly #places = new Map<string, string>();

  constructor(options: ClusterApiDriverOptions) {
    this.#options = options;
    this.controllers = options.controllers ?? [];
    this.noticeSources = options.noticeSources ?? [];
  }

  scopes(): readonly string[] {
    return [SCOPE];
  }

  scopeOf(): string {
    return SCOPE;
  }

  async catalogue(nodeClass: NodeClass, signal: AbortSignal): Promise<Catalogue> {
    const { selected, clock } = this.#options;
    const countedAt = clock.elapsed();
    return this.#ask('reading MachineDeployments', signal, async (limit) => {
      const { instanceTypes } = await selected.market(nodeClass as ClusterApiNodeClass, limit);
      return { instanceTypes, reservations: [], countedAt };
    }).catch((error) => {
      const known = selected.lastMarket(nodeClass.metadata.name ?? '');
      // Offerings of a while ago are better than none: pods need not wait until the API server answers again.
      if (known === undefined || signal.aborted) throw error;
      return { instanceTypes: known.instanceTypes, reservations: [], countedAt };
    });
  }

  launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    return this.#ask(`launch of ${request.claim.metadata.name}`, signal, (limit) => this.#launch(request, limit));
  }

  find(claim: NodeClaim, signal: AbortSignal): Promise<Machine | undefined> {
    return this.#ask(`looking for the machine of ${claim.metadata.name}`, signal, async (limit) => {
      const machines = await this.#options.management.machinesOf(claim.metadata.uid ?? '', limit);
      for (const machine of machines.filter((one) => !isMarked(one))) {
        const found = await this.#machine(machine, limit);
        if (found !== undefined) return found;
      }
      return undefined;
    });
  }

  get(providerID: string, signal: AbortSignal): Promise<Machine> {
    return this.#ask(`reading ${providerID}`, signal, async (limit) => {
      const machine = await this.#options.management.machine(providerID, limit);
      const found = machine === undefined ? undefined : await this.#machine(machine, limit);
      if (found === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
      return found;
    });
  }

  list(_scope: string, signal: AbortSignal): Promise<readonly Machine[]> {
    return this.#ask('listing machines', signal, async (limit) => {
      const machines = (await this.#options.management.machines(limit)).filter(isClaimed);
      return (await Promise.all(machines.map((machine) => this.#machine(machine, limit)))).filter(
        (machine) => machine !== undefined,
      );
    });
  }

  delete({ claimUID, providerID }: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    return this.#ask(`deleting the machine of claim ${claimUID}`, signal, async (limit) => {
      const { management, scaler } = this.#options;
      const carried = claimUID === '' ? [] : await management.machinesOf(claimUID, limit);
      const named =
        carried.length > 0 || providerID === undefined ? undefined : await management.machine(providerID, limit);
      const machines = named === undefined ? carried : [named];
      for (const machine of machines) await scaler.release(machine, limit);
      if (machines.length > 0) return 'terminating';
      const place = await this.#placeOf(claimUID, limit);
      if (place !== undefined) await scaler.withdraw(place, claimUID, limit);
      this.#places.delete(claimUID);
      return 'gone';
    });
  }

  async drift(
    _claim: NodeClaim,
    nodeClass: NodeClass,
    { providerID }: Machine,
    signal: AbortSignal,
  ): Promise<Drift | undefined> {
    return this.#ask(`looking for drift of ${providerID}`, signal, async (limit) => {
      const { management } = this.#options;
      const machine = await management.machine(providerID, limit);
      const key = machine === undefined ? undefined : deploymentKey(machine);
      const deployment = (await management.deployments(limit)).find((one) => keyText(keyOf(one)) === key);
      if (machine === undefined || deployment === undefined) return undefined;
      const { spec } = nodeClass as ClusterApiNodeClass;
      if (!compileLabelSelector(spec.scalableResourceSelector).matches(deployment.metadata.labels)) {
        return {
          reason: 'MachineDeploymentNotSelected',
          message: `${nodeClass.metadata.name} no longer selects MachineDeployment ${key}`,
        };
      }
      const upToDate = machine.status?.conditions?.find(({ type }) => type === 'UpToDate');
      // With any other strategy Cluster API replaces the machine by itself.
      if (upToDate?.status !== 'False' || rolloutStrategy(deployment) !== 'OnDelete') return undefined;
      return {
        reason: 'MachineTemplateChanged',
        message: upToDate.message ?? 'the template of its MachineDeployment has changed',
      };
    });
  }

  machineKey(providerID: string): string | undefined {
    return instanceKey(providerID);
  }

  async #launch({ claim, nodeClass, offerings }: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    const { management, scaler, selected } = this.#options;
    const claimant = claimantOf(claim, nodeClass);
    const tried = new Set(
      (claim.metadata.annotations?.[ANNOTATION_REFUSED] ?? '').split(',').filter((key) => key !== ''),
    );
    const machines = (await management.machinesOf(claimant.uid, signal)).filter((machine) => !isMarked(machine));
    const going = machines.find(({ metadata }) => metadata.deletionTimestamp !== undefined);
    if (going !== undefined)
      throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', {
        instance: `of ${claimant.name}: machine ${going.metadata.name} is being deleted`,
      });
    let place = machines[0] === undefined ? await this.#placeOf(claimant.uid, signal) : deploymentKey(machines[0]);
    let machine = machines[0];
    const market = await selected.market(nodeClass as ClusterApiNodeClass, signal);
    const places = offerings.flatMap((offering) =>
      market.deploymentsOf(offering).map((deployment) => ({ offering, deployment })),
    );
    const refused: Refusal[] = [];
    const refuse = (key: string, cause: Refusal['cause'], message: string): void => {
      tried.add(key);
      // An offering is refused when the last MachineDeployment behind it is.
      for (const offering of offerings) {
        const behind = market.deploymentsOf(offering);
        if (behind.some((one) => one.key === key) && behind.every((one) => tried.has(one.key))) {
          refused.push({ offering: nameOf(offering), cause, message: `MachineDeployment ${key}: ${message}` });
        }
      }
    };
    for (;;) {
      if (machine !== undefined) {
        const key = deploymentKey(machine) ?? '';
        const launched = await this.#machine(machine, signal);
        if (launched !== undefined) return { kind: 'launched', machine: launched, refused };
        const failure = await this.#failureOf(machine, signal);
        if (failure === undefined) return this.#pending(key, tried, refused, machine);
        await scaler.giveBack(machine, signal);
        this.#places.delete(claimant.uid);
        refuse(key, failure.cause, failure.message);
        machine = undefined;
        place = undefined;
      }
      place ??= places.find(({ deployment }) => !tried.has(deployment.key))?.deployment.key;
      if (place === undefined) {
        const missing = offerings.filter((offering) =>
          market.deploymentsOf(offering).every(({ key }) => tried.has(key)),
        );
        const said = new Set(refused.map(({ offering }) => JSON.stringify(offering)));
        for (const offering of missing.map(nameOf)) {
          if (!said.has(JSON.stringify(offering)))
            refused.push({ offering, cause: 'unsupported', message: 'no MachineDeployment offers it any more' });
        }
        return { kind: 'refused', refused };
      }
      this.#places.set(claimant.uid, place);
      const answer = await scaler.request(place, claimant, signal);
      if (answer.kind === 'waiting') return this.#pending(place, tried, refused);
      if (answer.kind === 'machine') {
        machine = answer.machine;
        continue;
      }
      this.#places.delete(claimant.uid);
      refuse(place, 'capacity', answer.problem);
      place = undefined;
    }
  }

  #pending(key: string, tried: ReadonlySet<string>, refused: readonly Refusal[], machine?: CoreMachine): LaunchAnswer {
    const name = machine === undefined ? undefined : keyText(keyOf(machine));
    return {
      kind: 'pending',
      annotations: {
        [ANNOTATION_DEPLOYMENT]: key,
        ...(tried.size > 0 && { [ANNOTATION_REFUSED]: [...tried].join(',') }),
        ...(name !== undefined && { [ANNOTATION_MACHINE]: name }),
      },
      refused,
      askAgainMs: ASK_AGAIN_MS,
      message:
        name === undefined
          ? `waiting for a machine of MachineDeployment ${key}`
          : `waiting for the instance of machine ${name}`,
    };
  }

  /** The MachineDeployment on whose record a claim is. */
  async #placeOf(claimUID: string, signal: AbortSignal): Promise<string | undefined> {
    const known = this.#places.get(claimUID);
    if (known !== undefined) return known;
    const deployments = await this.#options.management.deployments(signal);
    const found = deployments.find((deployment) => readLedger(deployment).waiting.has(claimUID));
    return found === undefined ? undefined : keyText(keyOf(found));
  }

  async #failureOf(machine: CoreMachine, signal: AbortSignal): Promise<CreateFailure | undefined> {
    const reference = referred(machine.spec?.infrastructureRef);
    if (reference === undefined) return undefined;
    const infrastructure = await this.#options.infrastructure.read(reference, machine.metadata.namespace ?? '', signal);
    if (infrastructure?.status === undefined) return undefined;
    return createFailure(machineSettings(reference.kind, infrastructure.spec ?? {}).provider, infrastructure.status);
  }

  async #machine(machine: CoreMachine, signal: AbortSignal): Promise<Machine | undefined> {
    const key = deploymentKey(machine);
    const deployment: DescribedDeployment | undefined =
      key === undefined ? undefined : await this.#options.selected.ofKey(key, signal);
    return machineOf(machine, deployment);
  }

  /** Asks the management cluster with a time limit, and says its failures in the words of clouds. */
  async #ask<Answer>(
    operation: string,
    signal: AbortSignal,
    work: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, callTimeoutMs = 30_000 } = this.#options;
    signal.throwIfAborted();
    const limit = clock.deadline(callTimeoutMs, signal);
    try {
      return await work(limit.signal);
    } catch (error) {
      throw kubeFailure(operation, error);
    } finally {
      limit.cancel();
    }
  }
}

/** `namespace/name` of the MachineDeployment that a machine came from. */
export function deploymentKey({ metadata }: CoreMachine): string | undefined {
  const name = metadata.labels?.[LABEL_DEPLOYMENT_NAME];
  return name === undefined ? undefined : keyText({ namespace: metadata.namespace ?? '', name });
}

function isClaimed({ metadata }: CoreMachine): boolean {
  return (metadata.labels?.[LABEL_CLAIM_UID] ?? '') !== '';
}

function claimantOf({ metadata }: NodeClaim, nodeClass: NodeClass): Claimant {
  return {
    uid: metadata.uid ?? '',
    name: metadata.name ?? '',
    pool: metadata.labels?.[LABEL_NODE_POOL] ?? '',
    nodeClass: nodeClass.metadata.name ?? '',
  };
}
