/** The driver of the simulated cloud. */
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import type { SimulatedNodeClass } from '../../apis/spindrift/simulated-node-class.ts';
import type { InstanceType, Labels } from '../../engine/problem.ts';
import type { Clock } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import type { Catalogue, Cloud, CloudController, Drift, LaunchAnswer, LaunchRequest, NoticeSource } from '../cloud.ts';
import type { Machine, MachineRef } from '../machine.ts';
import type { ReceivedNotice } from '../notice.ts';
import type { RepairPolicy } from '../repair-policy.ts';
import { apiFailure } from './api-failure.ts';
import { LAUNCH } from './dialects/dialect-launch.ts';
import { CLOUD_LABELS, TAG_CLAIM, TAG_CLAIM_UID, TAG_CLUSTER, TAG_POOL } from './labels.ts';
import { launchRequest } from './launch-request.ts';
import { NODE_CLASS_KIND } from './node-class-kind.ts';
import type { CloudMessage } from './notice-queue.ts';
import { repairPolicies } from './repair-policies.ts';
import type { SimulatedCloud } from './simulated-cloud.ts';
import { parseProviderID, type SimulatedInstance } from './simulated-instance.ts';

export interface SimulatedDriverOptions {
  readonly clock: Clock;
  readonly cloud: SimulatedCloud;
  /** The cluster of these machines. Instances of other clusters are ignored. */
  readonly cluster: string;
  /** Opens the account of a node class, if this process has not done so yet. */
  readonly ensureAccount?: (nodeClass: SimulatedNodeClass) => void;
  readonly controllers?: readonly CloudController[];
  /** Upper limit for how long unhealthy nodes are tolerated. */
  readonly longestSicknessMs?: number;
  /** Timeout of a call. */
  readonly callTimeoutMs?: number;
}

const MESSAGES_AT_A_TIME = 10;

export class SimulatedDriver implements Cloud {
  readonly name = 'simulated';
  readonly nodeClass = NODE_CLASS_KIND;
  readonly labels = CLOUD_LABELS;
  readonly repairPolicies: readonly RepairPolicy[];
  readonly noticeSources: readonly NoticeSource[] = [{ name: 'simulated', receive: (signal) => this.#receive(signal) }];
  readonly controllers: readonly CloudController[];
  readonly #options: SimulatedDriverOptions;
  /** By account, so that an unchanged answer is the same array. */
  readonly #catalogues = new Map<string, Catalogue>();

  constructor(options: SimulatedDriverOptions) {
    this.#options = options;
    this.controllers = options.controllers ?? [];
    this.repairPolicies = repairPolicies(options.longestSicknessMs);
  }

  get settleMs(): number {
    const { cloud } = this.#options;
    return Math.max(0, ...cloud.accounts.map((name) => cloud.consistencyDelayMs(name) + cloud.namingDelayMs(name)));
  }

  /** Each node class has an account of its own. */
  scopes(): readonly string[] {
    return this.#options.cloud.accounts;
  }

  scopeOf(nodeClass: string): string | undefined {
    return this.#options.cloud.account(nodeClass) === undefined ? undefined : nodeClass;
  }

  async catalogue(nodeClass: SimulatedNodeClass, signal: AbortSignal): Promise<Catalogue> {
    const { clock, cloud } = this.#options;
    const account = this.#account(nodeClass);
    const countedAt = clock.elapsed();
    const [instanceTypes, reservations] = await Promise.all([
      this.#ask('describe instance types', signal, (limit) => cloud.describeInstanceTypes(account, limit)),
      this.#ask('describe reservations', signal, (limit) => cloud.describeReservations(account, limit)),
    ]);
    const catalogue = { instanceTypes, reservations, countedAt };
    this.#catalogues.set(account, catalogue);
    return catalogue;
  }

  async launch(request: LaunchRequest, signal: AbortSignal): Promise<LaunchAnswer> {
    const { clock, cloud, cluster } = this.#options;
    const { claim, nodeClass } = request;
    const account = this.#account(nodeClass as SimulatedNodeClass);
    const { dialect = 'plain' } = cloud.account(account)?.settings ?? {};
    return LAUNCH[dialect]({
      cloud,
      account,
      request,
      wanted: launchRequest(claim, cluster),
      toMachine,
      ask: (call) => this.#ask(`launch ${claim.metadata.name}`, signal, call),
      find: (tags) => this.#find([account], tags, signal),
      sleep: (milliseconds) => clock.sleep(milliseconds, signal),
    });
  }

  async find({ metadata, spec }: NodeClaim, signal: AbortSignal): Promise<Machine | undefined> {
    const account = spec.nodeClassRef.name;
    const { dialect } = this.#options.cloud.account(account)?.settings ?? {};
    const found = await this.#find([account], { [TAG_CLAIM_UID]: metadata.uid ?? '' }, signal);
    // Instances that may still fail, or have no provider ID yet, are left to `launch`.
    const judged = found.find(({ failure, providerID, state }) =>
      dialect === 'late-failure' ? failure === undefined && state !== 'pending' : providerID !== '',
    );
    return judged === undefined ? undefined : toMachine(judged);
  }

  async get(providerID: string, signal: AbortSignal): Promise<Machine> {
    const id = idOf(providerID);
    return toMachine(await this.#ask(providerID, signal, (limit) => this.#options.cloud.describeInstance(id, limit)));
  }

  async list(scope: string, signal: AbortSignal): Promise<readonly Machine[]> {
    const found = await this.#find([scope], {}, signal);
    return found.filter(({ providerID }) => providerID !== '').map(toMachine);
  }

  async delete(machine: MachineRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const { providerID } = machine;
    const ids = providerID === undefined ? await this.#idsOf(machine, signal) : [idOf(providerID)];
    const outcomes = await Promise.all(ids.map((id) => this.#terminate(id, signal)));
    return outcomes.includes('terminating') ? 'terminating' : 'gone';
  }

  async drift(
    _claim: NodeClaim,
    nodeClass: SimulatedNodeClass,
    { zone, reservationId }: Machine,
    signal: AbortSignal,
  ): Promise<Drift | undefined> {
    const name = nodeClass.metadata.name ?? '';
    const known = this.#catalogues.get(name) ?? (await this.catalogue(nodeClass, signal));
    if (!sellsIn(known.instanceTypes, zone))
      return { reason: 'ZoneDrift', message: `SimulatedNodeClass ${name} does not have zone ${zone} any more` };
    if (reservationId === undefined || known.reservations.some(({ id }) => id === reservationId)) return undefined;
    const message = `SimulatedNodeClass ${name} does not have reservation ${reservationId} any more`;
    return { reason: 'CapacityReservationDrift', message };
  }

  async reboot(providerID: string, operation: string, signal: AbortSignal): Promise<void> {
    const id = idOf(providerID);
    await this.#ask(providerID, signal, (limit) => this.#options.cloud.rebootInstance(id, operation, limit));
  }

  machineKey(providerID: string): string | undefined {
    return parseProviderID(providerID)?.id;
  }

  async *#receive(signal: AbortSignal): AsyncGenerator<ReceivedNotice> {
    while (!signal.aborted) {
      const messages = await this.#options.cloud.receiveMessages(MESSAGES_AT_A_TIME, signal).catch((error) => {
        if (signal.aborted) return [];
        throw error;
      });
      for (const message of messages) yield this.#received(message);
    }
  }

  #received({ id, kind, instanceId, at, deadline, detail }: CloudMessage): ReceivedNotice {
    return {
      kind,
      machine: instanceId,
      at,
      ...(deadline !== undefined && { deadline }),
      source: this.name,
      detail,
      acknowledge: (signal) => this.#options.cloud.deleteMessage(id, signal),
    };
  }

  /** The account of a node class; a process that has just started may have to open it. */
  #account(nodeClass: SimulatedNodeClass): string {
    const { name = '' } = nodeClass.metadata;
    if (this.#options.cloud.account(name) === undefined) this.#options.ensureAccount?.(nodeClass);
    return name;
  }

  async #terminate(id: string, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    try {
      await this.#ask(id, signal, (limit) => this.#options.cloud.terminateInstance(id, limit));
      return 'terminating';
    } catch (error) {
      if (hasCode(error, 'CLOUD_INSTANCE_NOT_FOUND')) return 'gone';
      throw error;
    }
  }

  async #idsOf({ claimUID, nodeClass }: MachineRef, signal: AbortSignal): Promise<readonly string[]> {
    const { accounts } = this.#options.cloud;
    // Only the account of the claim's node class: faults elsewhere must not matter.
    const places = nodeClass === undefined ? accounts : accounts.filter((account) => account === nodeClass);
    return (await this.#find(places, { [TAG_CLAIM_UID]: claimUID }, signal)).map(({ id }) => id);
  }

  /** Instances of this cluster in these accounts with all these tags. */
  async #find(accounts: readonly string[], tags: Labels, signal: AbortSignal): Promise<readonly SimulatedInstance[]> {
    const wanted = { ...tags, [TAG_CLUSTER]: this.#options.cluster };
    const found = await Promise.all(accounts.map((account) => this.#pages(account, wanted, signal)));
    return found.flat();
  }

  /** All pages, or an error: an incomplete list must not be used. */
  async #pages(account: string, tags: Labels, signal: AbortSignal): Promise<SimulatedInstance[]> {
    const { cloud } = this.#options;
    const all: SimulatedInstance[] = [];
    let start: string | undefined;
    do {
      const from = start;
      const page = await this.#ask('describe instances', signal, (limit) =>
        cloud.describeInstances(account, tags, from, limit),
      );
      all.push(...page.instances);
      start = page.next;
    } while (start !== undefined);
    return all;
  }

  /** Makes a call with a timeout, and converts its errors to ours. */
  async #ask<Answer>(
    operation: string,
    signal: AbortSignal,
    call: (signal: AbortSignal) => Promise<Answer>,
  ): Promise<Answer> {
    const { clock, callTimeoutMs = 30_000 } = this.#options;
    const limit = clock.deadline(callTimeoutMs, signal);
    try {
      return await call(limit.signal);
    } catch (error) {
      throw apiFailure(operation, error);
    } finally {
      limit.cancel();
    }
  }
}

function sellsIn(types: readonly InstanceType[], zone: string): boolean {
  return types.some(({ offerings }) => offerings.some((offering) => offering.zone === zone));
}

function idOf(providerID: string): string {
  const id = parseProviderID(providerID)?.id;
  if (id === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
  return id;
}

function toMachine(instance: SimulatedInstance): Machine {
  const { providerID, instanceType, zone, capacityType, reservationId, labels, capacity, allocatable } = instance;
  const { launchedAt, tags, account } = instance;
  return {
    providerID: providerID.toLowerCase(),
    // An instance that is gone is never shown here.
    state: instance.state === 'terminated' || instance.state === 'failed' ? 'stopped' : instance.state,
    instanceType,
    zone,
    capacityType,
    ...(reservationId !== undefined && { reservationId }),
    labels,
    capacity,
    allocatable,
    launchedAt,
    claim: { name: tags[TAG_CLAIM] ?? '', uid: tags[TAG_CLAIM_UID] ?? '' },
    pool: tags[TAG_POOL] ?? '',
    nodeClass: account,
  };
}
