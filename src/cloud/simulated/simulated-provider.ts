import { LABEL_CAPACITY_TYPE, LABEL_INSTANCE_TYPE, LABEL_NODE_POOL, LABEL_ZONE } from '../../apis/karpenter/labels.ts';
import type { NodeClaim } from '../../apis/karpenter/node-claim.ts';
import { SIMULATED_NODE_CLASSES } from '../../apis/spindrift/simulated-node-class.ts';
import type { InstanceType, Labels } from '../../engine/problem.ts';
import type { RankedOffering } from '../../engine/solution.ts';
import type { Clock, EpochMs } from '../../platform/clock.ts';
import { hasCode, SpindriftError } from '../../platform/errors.ts';
import { launchInOrder } from '../launch-in-order.ts';
import type { ReceivedNotice } from '../notice.ts';
import type { CloudProvider, Instance, InstanceRef, NodeClassReadiness, NodeClassReference } from '../provider.ts';
import type { RepairPolicy } from '../repair-policy.ts';
import type { Reservations } from '../reservations.ts';
import type { UnavailableOfferings } from '../unavailable-offerings.ts';
import type { ReservationState } from './account.ts';
import { AccountMarket } from './account-market.ts';
import { apiFailure } from './api-failure.ts';
import { CLOUD_LABELS, TAG_CLAIM, TAG_CLAIM_UID, TAG_CLUSTER, TAG_POOL } from './labels.ts';
import { launchRequest } from './launch-request.ts';
import type { CloudMessage } from './notice-queue.ts';
import { REPAIR_POLICIES } from './repair-policies.ts';
import type { SimulatedCloud } from './simulated-cloud.ts';
import { parseProviderID, type SimulatedInstance } from './simulated-instance.ts';

export interface SimulatedProviderOptions {
  readonly clock: Clock;
  readonly cloud: SimulatedCloud;
  /** The cluster whose machines these are: instances of other clusters are left alone. */
  readonly cluster: string;
  readonly unavailable: UnavailableOfferings;
  readonly reservations: Reservations;
  /** Whether the account of a node class can be used; by default it can when the cloud has it. */
  readonly readiness?: (nodeClass: string) => NodeClassReadiness;
  /** After which a call that is not answered is given up. */
  readonly callTimeoutMs?: number;
  /** How old prices and reservations may be. */
  readonly marketAgeMs?: number;
}

interface KnownMarket {
  readonly market: AccountMarket;
  askedAt: number;
}

const MESSAGES_AT_A_TIME = 10;

export class SimulatedProvider implements CloudProvider {
  readonly name = 'simulated';
  readonly nodeClassKind = { group: SIMULATED_NODE_CLASSES.group, kind: SIMULATED_NODE_CLASSES.kind };
  readonly labels = CLOUD_LABELS;
  readonly #options: SimulatedProviderOptions;
  readonly #markets = new Map<string, KnownMarket>();

  constructor(options: SimulatedProviderOptions) {
    this.#options = options;
  }

  get settleMs(): number {
    const { cloud } = this.#options;
    const delays = cloud.accounts.map((name) => cloud.account(name)?.settings.faults.consistencyDelayMs ?? 0);
    return Math.max(0, ...delays);
  }

  async instanceTypes(
    nodeClass: NodeClassReference,
    signal: AbortSignal,
    pool?: string,
  ): Promise<readonly InstanceType[]> {
    signal.throwIfAborted();
    this.#requireReady(nodeClass);
    return (await this.#market(nodeClass.name, signal)).instanceTypes(pool);
  }

  async create(claim: NodeClaim, offerings: readonly RankedOffering[], signal: AbortSignal): Promise<Instance> {
    const { cloud, unavailable, reservations } = this.#options;
    const { nodeClassRef } = claim.spec;
    const { name = '', uid = '' } = claim.metadata;
    this.#requireReady(nodeClassRef);
    // Slots that nobody has counted are not used; after a restart nobody has.
    if (offerings.some(({ reservationId }) => reservationId !== undefined))
      await this.#market(nodeClassRef.name, signal);
    const request = launchRequest(claim, this.#options.cluster);
    const instance = await launchInOrder({
      claim: { name, uid },
      offerings,
      unavailable,
      reservations,
      account: nodeClassRef.name,
      pool: claim.metadata.labels?.[LABEL_NODE_POOL] ?? '',
      launch: (offering) =>
        this.#ask(`launch ${name}`, signal, (limit) =>
          cloud.runInstance(nodeClassRef.name, { ...request, offering }, limit),
        ),
      find: async () => (await this.#find([nodeClassRef.name], { [TAG_CLAIM_UID]: uid }, signal))[0],
    });
    return toInstance(instance);
  }

  async get(providerID: string, signal: AbortSignal): Promise<Instance> {
    const id = idOf(providerID);
    return toInstance(await this.#ask(providerID, signal, (limit) => this.#options.cloud.describeInstance(id, limit)));
  }

  async list(signal: AbortSignal): Promise<readonly Instance[]> {
    return (await this.#find(this.#options.cloud.accounts, {}, signal)).map(toInstance);
  }

  async delete(instance: InstanceRef, signal: AbortSignal): Promise<'terminating' | 'gone'> {
    const { providerID, claimUID } = instance;
    const ids = providerID === undefined ? await this.#idsOf(instance, signal) : [idOf(providerID)];
    const outcomes = await Promise.all(ids.map((id) => this.#terminate(id, signal)));
    if (outcomes.includes('terminating')) return 'terminating';
    if (claimUID !== undefined) this.#options.reservations.forget(claimUID);
    return 'gone';
  }

  async driftReason(claim: NodeClaim, signal: AbortSignal): Promise<string | undefined> {
    const providerID = claim.status?.providerID;
    if (providerID === undefined) return undefined;
    this.#requireReady(claim.spec.nodeClassRef);
    const [instance, market] = await Promise.all([
      this.get(providerID, signal),
      this.#market(claim.spec.nodeClassRef.name, signal),
    ]);
    if (!market.sellsIn(instance.zone)) return 'ZoneDrift';
    const { reservationId } = instance;
    return reservationId === undefined || market.reservationIds.includes(reservationId)
      ? undefined
      : 'CapacityReservationDrift';
  }

  repairPolicies(): readonly RepairPolicy[] {
    return REPAIR_POLICIES;
  }

  async reboot(providerID: string, operation: string, signal: AbortSignal): Promise<void> {
    const id = idOf(providerID);
    await this.#ask(providerID, signal, (limit) => this.#options.cloud.rebootInstance(id, operation, limit));
  }

  async *notices(signal: AbortSignal): AsyncGenerator<ReceivedNotice> {
    while (!signal.aborted) {
      const messages = await this.#options.cloud.receiveMessages(MESSAGES_AT_A_TIME, signal).catch((error) => {
        if (signal.aborted) return [];
        throw error;
      });
      for (const message of messages) yield this.#received(message);
    }
  }

  takenBack({ metadata, spec }: NodeClaim, since?: EpochMs): void {
    const { labels = {} } = metadata;
    const { [LABEL_INSTANCE_TYPE]: instanceType, [LABEL_ZONE]: zone, [LABEL_CAPACITY_TYPE]: capacityType } = labels;
    if (capacityType !== 'spot' || instanceType === undefined || zone === undefined) return;
    this.#options.unavailable.mark(
      { capacityType, instanceType, zone, account: spec.nodeClassRef.name },
      `the machine of ${metadata.name} was taken back`,
      { cause: 'notice', pool: labels[LABEL_NODE_POOL] ?? '', ...(since !== undefined && { since }) },
    );
  }

  async readiness({ name }: NodeClassReference, signal: AbortSignal): Promise<NodeClassReadiness> {
    signal.throwIfAborted();
    return this.#readiness(name);
  }

  #readiness(name: string): NodeClassReadiness {
    const { readiness, cloud } = this.#options;
    if (readiness !== undefined) return readiness(name);
    return cloud.account(name) === undefined
      ? { ready: false, reason: 'NodeClassNotFound', message: `there is no SimulatedNodeClass ${name}` }
      : { ready: true, reason: 'Ready', message: '' };
  }

  #requireReady({ name }: NodeClassReference): void {
    const { ready, message: problem } = this.#readiness(name);
    if (!ready) throw new SpindriftError('CLOUD_NODE_CLASS_NOT_READY', { nodeClass: name, problem });
  }

  async #market(account: string, signal: AbortSignal): Promise<AccountMarket> {
    const { clock, cloud, unavailable, reservations, marketAgeMs = 60_000 } = this.#options;
    const askedAt = clock.elapsed();
    const known = this.#markets.get(account);
    if (known !== undefined && askedAt - known.askedAt < marketAgeMs) return known.market;
    let answers: readonly [readonly InstanceType[], readonly ReservationState[]];
    try {
      answers = await Promise.all([
        this.#ask('describe instance types', signal, (limit) => cloud.describeInstanceTypes(account, limit)),
        this.#ask('describe reservations', signal, (limit) => cloud.describeReservations(account, limit)),
      ]);
    } catch (error) {
      // Prices of a while ago are better than none: pods need not wait until the cloud answers again.
      if (known === undefined || signal.aborted) throw error;
      return known.market;
    }
    const entry = this.#markets.get(account) ?? {
      market: new AccountMarket({ account, unavailable, reservations }),
      askedAt,
    };
    entry.askedAt = Math.max(entry.askedAt, askedAt);
    this.#markets.set(account, entry);
    entry.market.update(...answers, askedAt);
    return entry.market;
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

  async #idsOf({ claimUID = '', nodeClass }: InstanceRef, signal: AbortSignal): Promise<readonly string[]> {
    const { accounts } = this.#options.cloud;
    // Only where the claim's machine can be: trouble elsewhere is not to hold it up.
    const places = nodeClass === undefined ? accounts : accounts.filter((account) => account === nodeClass);
    return (await this.#find(places, { [TAG_CLAIM_UID]: claimUID }, signal)).map(({ id }) => id);
  }

  /** Instances of this cluster in these accounts that carry all these tags. */
  async #find(accounts: readonly string[], tags: Labels, signal: AbortSignal): Promise<readonly SimulatedInstance[]> {
    const { cloud, cluster } = this.#options;
    const wanted = { ...tags, [TAG_CLUSTER]: cluster };
    const found = await Promise.all(
      accounts.map((account) =>
        this.#ask('describe instances', signal, (limit) => cloud.describeInstances(account, wanted, limit)),
      ),
    );
    return found.flat();
  }

  /** Makes a call with a time limit, and says its failures in our own words. */
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

  #received({ id, kind, providerID, account, tags, at, deadline, detail, offering }: CloudMessage): ReceivedNotice {
    const { cloud, unavailable } = this.#options;
    if (kind === 'spot-interruption' || kind === 'preempted')
      unavailable.mark({ ...offering, account }, detail, { cause: 'notice', pool: tags[TAG_POOL] ?? '', since: at });
    return {
      kind,
      providerID,
      at,
      ...(deadline !== undefined && { deadline }),
      source: this.name,
      detail,
      acknowledge: (signal) => cloud.deleteMessage(id, signal),
    };
  }
}

function idOf(providerID: string): string {
  const id = parseProviderID(providerID)?.id;
  if (id === undefined) throw new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: providerID });
  return id;
}

function toInstance(instance: SimulatedInstance): Instance {
  const { providerID, instanceType, zone, capacityType, reservationId, labels, capacity, allocatable } = instance;
  const { launchedAt, tags, account } = instance;
  return {
    providerID,
    // An instance that is gone is never shown.
    state: instance.state === 'terminated' ? 'stopped' : instance.state,
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
