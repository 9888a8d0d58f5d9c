/**
 * The simulated cloud itself: it has accounts and machines, serves an API over a slow and lossy connection, and reclaims spot machines. It
 * knows nothing of claims and outlives its callers: a restarted driver finds everything as before.
 */
import { LABEL_CAPACITY_TYPE } from '../../apis/karpenter/labels.ts';
import type { InstanceType, Labels } from '../../engine/problem.ts';
import type { Clock, EpochMs, Timer } from '../../platform/clock.ts';
import { type Random, seededRandom } from '../../platform/random.ts';
import type { NoticeKind } from '../notice.ts';
import type { OfferingName } from '../offering-key.ts';
import { Account, type ReservationState } from './account.ts';
import { type AccountSettings, NO_FAULTS } from './account-settings.ts';
import { ApiError } from './api-error.ts';
import { ApiGate } from './api-gate.ts';
import { LaunchApi, NAMED_AFTER_MS } from './dialects/launch-api.ts';
import { Fleet } from './fleet.ts';
import { RESERVATION_ID } from './labels.ts';
import { type CloudMessage, NoticeQueue } from './notice-queue.ts';
import { Reclaimer } from './reclaimer.ts';
import { type Bootstrap, parseProviderID, providerIDOf, type SimulatedInstance } from './simulated-instance.ts';

export interface SimulatedCloudOptions {
  readonly clock: Clock;
  readonly random: Random;
}

/** The page size of lists. */
const PAGE = 50;
/** How long accounts of the fleet dialect do not show a new machine. */
const FLEET_DELAY_MS = 5_000;

/** A page of a list, and where the next one starts. */
export interface InstancePage {
  readonly instances: readonly SimulatedInstance[];
  readonly next?: string;
}

/** The request of a launch. */
export interface RunRequest {
  /** Launches with the same token are one launch: later ones return the instance of the first, whatever else they request. */
  readonly token: string;
  readonly offering: OfferingName;
  /** Whether an on-demand launch may use a matching open reservation. */
  readonly openReservations: 'use' | 'none';
  readonly tags: Labels;
  readonly bootstrap: Bootstrap;
}

export class SimulatedCloud {
  /** The machines, for tests and `spindrift sim`. */
  readonly fleet: Fleet;
  /** Calls that only some dialects have. */
  readonly launchApi: LaunchApi;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #gate: ApiGate;
  readonly #queue: NoticeQueue;
  readonly #reclaimer: Reclaimer;
  readonly #accounts = new Map<string, Account>();
  readonly #endings = new Map<string, Timer>();

  constructor({ clock, random }: SimulatedCloudOptions) {
    this.#clock = clock;
    this.#random = random.split('simulated-cloud');
    this.#gate = new ApiGate({ clock, random: this.#random.split('api') });
    this.#queue = new NoticeQueue(clock);
    this.fleet = new Fleet(clock);
    this.#reclaimer = new Reclaimer({
      clock,
      random: this.#random.split('reclaims'),
      fleet: this.fleet,
      interrupt: (instance, noticeMs) => this.#interrupt(instance, noticeMs),
    });
    this.launchApi = new LaunchApi({
      clock,
      fleet: this.fleet,
      call: (account, signal, work, kind) => this.#call(account, signal, work, kind),
      run: (account, request) => this.#run(account, request),
      accept: (account, request, state) => this.#accept(account, request.offering, request, this.#clock.now(), state),
    });
  }

  /** Opens an account, or changes its settings; its machines and overrides by hand stay. */
  configure(name: string, settings: AccountSettings): Account {
    let account = this.#accounts.get(name);
    if (account === undefined) {
      const random = settings.seed === undefined ? this.#random.split(name) : seededRandom(settings.seed);
      account = new Account({ name, settings, random, fleet: this.fleet });
      this.#accounts.set(name, account);
    } else account.configure(settings);
    this.#watchEndings(account);
    this.#reclaimer.watch(account);
    return account;
  }

  account(name: string): Account | undefined {
    return this.#accounts.get(name);
  }

  /** Names of all accounts. */
  get accounts(): readonly string[] {
    return [...this.#accounts.keys()];
  }

  // The API.

  /** All instance types of an account, at present prices. */
  describeInstanceTypes(account: string, signal: AbortSignal): Promise<readonly InstanceType[]> {
    return this.#call(account, signal, (found) => found.priceList(this.#clock.now()));
  }

  describeReservations(account: string, signal: AbortSignal): Promise<readonly ReservationState[]> {
    return this.#call(account, signal, (found) => found.reservations(this.#clock.now()));
  }

  runInstance(account: string, request: RunRequest, signal: AbortSignal): Promise<SimulatedInstance> {
    return this.#call(account, signal, (found) => this.#run(found, request), 'launch');
  }

  /** A page of the instances of an account with all these tags; very new ones may be missing. */
  describeInstances(
    account: string,
    tags: Labels,
    start: string | undefined,
    signal: AbortSignal,
  ): Promise<InstancePage> {
    const wanted = Object.entries(tags);
    return this.#call(account, signal, ({ settings }) => {
      if (settings.faults.listsFail === true) throw new ApiError('InternalError', 'lists do not work');
      const all = [...this.fleet.list()].filter(
        (instance) =>
          instance.account === account &&
          this.#isShown(instance) &&
          wanted.every(([key, value]) => instance.tags[key] === value),
      );
      const from = start === undefined ? 0 : Number(start);
      const instances = all.slice(from, from + PAGE).map((instance) => this.#shown(instance));
      return { instances, ...(all.length > from + PAGE && { next: `${from + PAGE}` }) };
    });
  }

  /** An instance of any account. */
  describeInstance(id: string, signal: AbortSignal): Promise<SimulatedInstance> {
    return this.#callFor(id, signal, (instance) => {
      if (!this.#isShown(instance)) throw notFound(id);
      const shown = this.#shown(instance);
      // Lists show the same ID in another case.
      const loud = this.#accounts.get(instance.account)?.settings.dialect === 'leftovers';
      return loud ? { ...shown, id: shown.id.toUpperCase(), providerID: shown.providerID.toUpperCase() } : shown;
    });
  }

  terminateInstance(id: string, signal: AbortSignal): Promise<void> {
    return this.#callFor(id, signal, (instance, { settings }) => {
      // Its parts are deleted with it.
      this.launchApi.dropParts(instance.account, instance.name ?? '');
      this.fleet.stop(id, settings.stopMs);
    });
  }

  /** Reboots a running instance, once per operation. */
  rebootInstance(id: string, operation: string, signal: AbortSignal): Promise<void> {
    return this.#callFor(id, signal, ({ reboots, state }) => {
      if (reboots.includes(operation)) return;
      if (state !== 'running') throw new ApiError('IncorrectInstanceState', `${id} is ${state}`);
      this.fleet.update(id, { reboots: [...reboots, operation] });
    });
  }

  /** Waits for messages about the machines of all accounts; each is delivered again until it is deleted. */
  receiveMessages(most: number, signal: AbortSignal): Promise<readonly CloudMessage[]> {
    return this.#queue.receive(most, signal);
  }

  async deleteMessage(id: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#queue.delete(id);
  }

  // Events from outside.

  /** Reclaims a machine after this warning time; without a warning it is gone at once. */
  interrupt(providerID: string, noticeMs?: number): boolean {
    const instance = this.#instanceNamed(providerID);
    if (instance === undefined) return false;
    const market = this.#accounts.get(instance.account)?.settings.market;
    this.#interrupt(instance, noticeMs ?? market?.noticeMs ?? 0);
    return true;
  }

  /** Sends a notice about a machine, without acting on it. */
  announce(providerID: string, kind: NoticeKind, detail: string, deadline?: EpochMs): void {
    const instance = this.#instanceNamed(providerID);
    if (instance !== undefined) this.#send(instance, kind, detail, deadline);
  }

  /** Restores a machine launched by an earlier process, as its node describes it. */
  restore(instance: SimulatedInstance): void {
    if (this.fleet.ofToken(instance.token) !== undefined) return;
    this.fleet.add(instance, 0);
    const account = this.#accounts.get(instance.account);
    if (account === undefined) return;
    if (instance.reservationId !== undefined) this.#watchEndings(account);
    if (instance.capacityType === 'spot') this.#reclaimer.watchPool(account, instance.instanceType, instance.zone);
  }

  #instanceNamed(providerID: string): SimulatedInstance | undefined {
    const instance = this.fleet.get(parseProviderID(providerID)?.id ?? '');
    return instance?.providerID === providerID ? instance : undefined;
  }

  #call<Answer>(
    name: string,
    signal: AbortSignal,
    work: (account: Account) => Answer,
    kind: 'launch' | 'other' = 'other',
  ): Promise<Answer> {
    const account = this.#accounts.get(name);
    if (account === undefined) return Promise.reject(new ApiError('InvalidParameter', `there is no account ${name}`));
    return this.#gate.call(name, account.settings.faults, signal, () => work(account), kind);
  }

  /** A call about an instance, with the faults of its account. */
  #callFor<Answer>(
    id: string,
    signal: AbortSignal,
    work: (instance: SimulatedInstance, account: Account) => Answer,
  ): Promise<Answer> {
    const owner = this.fleet.get(id)?.account;
    if (owner === undefined) {
      return this.#gate.call('', NO_FAULTS, signal, () => {
        throw notFound(id);
      });
    }
    return this.#call(owner, signal, (account) => {
      const instance = this.fleet.get(id);
      if (instance === undefined) throw notFound(id);
      return work(instance, account);
    });
  }

  #run(account: Account, request: RunRequest): SimulatedInstance {
    const known = this.fleet.ofToken(request.token);
    if (known === 'gone') throw notFound(`of token ${request.token}`);
    if (known !== undefined) return known;
    const now = this.#clock.now();
    const open = request.openReservations === 'use' ? account.openReservation(request.offering, now) : undefined;
    const offering: OfferingName =
      open === undefined ? request.offering : { ...request.offering, capacityType: 'reserved', reservationId: open };
    const refusal = account.refusal(offering, now);
    if (refusal !== undefined) throw refusal;
    return this.#accept(account, offering, request, now);
  }

  #accept(
    account: Account,
    offering: OfferingName,
    request: RunRequest,
    now: EpochMs,
    also: Partial<SimulatedInstance> = {},
  ): SimulatedInstance {
    const instance = { ...this.#instance(account, offering, request, now), ...also };
    this.fleet.add(instance, account.settings.startMs);
    if (offering.capacityType === 'spot') this.#reclaimer.watchPool(account, offering.instanceType, offering.zone);
    return instance;
  }

  #instance(account: Account, offering: OfferingName, request: RunRequest, now: EpochMs): SimulatedInstance {
    const { instanceType, zone, capacityType, reservationId } = offering;
    const type = account.instanceType(instanceType) as InstanceType;
    const region = account.regionOf(zone) ?? '';
    // Derived from the token alone, so that a restarted cloud gives a claim the same instance again.
    const id = `i-${seededRandom(request.token).uuid().replaceAll('-', '').slice(0, 17)}`;
    return {
      id,
      providerID: providerIDOf(region, zone, id),
      account: account.name,
      token: request.token,
      state: 'pending',
      instanceType,
      zone,
      capacityType,
      ...(reservationId !== undefined && { reservationId }),
      launchedAt: now,
      labels: account.labels(type, offering),
      capacity: type.capacity,
      allocatable: allocatableOf(type),
      tags: request.tags,
      bootstrap: request.bootstrap,
      reboots: [],
    };
  }

  #isShown(instance: SimulatedInstance): boolean {
    return this.#clock.now() >= instance.launchedAt + this.consistencyDelayMs(instance.account);
  }

  /** How long lists do not show new machines of an account. */
  consistencyDelayMs(account: string): number {
    const { dialect, faults } = this.#accounts.get(account)?.settings ?? {};
    return Math.max(faults?.consistencyDelayMs ?? 0, dialect === 'fleet' ? FLEET_DELAY_MS : 0);
  }

  /** Time from launch until the provider ID of a machine is known. */
  namingDelayMs(account: string): number {
    return this.#accounts.get(account)?.settings.dialect === 'machines' ? NAMED_AFTER_MS : 0;
  }

  /** The instance as the API shows it now: without its provider ID until that is known. */
  #shown(instance: SimulatedInstance): SimulatedInstance {
    const named = instance.namedAt === undefined || this.#clock.now() >= instance.namedAt;
    return named ? instance : { ...instance, providerID: '' };
  }

  #interrupt(instance: SimulatedInstance, noticeMs: number): void {
    const now = this.#clock.now();
    if (noticeMs <= 0) {
      this.#send(instance, 'preempted', 'taken back without a warning');
      this.#takeBack(instance);
      return;
    }
    const goesAt = (now + noticeMs) as EpochMs;
    if (instance.goesAt !== undefined && instance.goesAt <= goesAt) return;
    this.fleet.update(instance.id, { goesAt });
    this.#send(instance, 'spot-interruption', 'the cloud takes the machine back', goesAt);
    this.#clock.setTimer(noticeMs, () => {
      if (this.fleet.get(instance.id)?.goesAt !== goesAt) return;
      this.#send(instance, 'terminated', 'the cloud has taken the machine back');
      this.#takeBack(instance);
    });
  }

  /** In some dialects the machine stays, stopped and paid for, until it is deleted. */
  #takeBack({ id, account }: SimulatedInstance): void {
    const { dialect } = this.#accounts.get(account)?.settings ?? {};
    if (dialect === 'operations' || dialect === 'leftovers') this.fleet.update(id, { state: 'stopped' });
    else this.fleet.remove(id);
  }

  #send(instance: SimulatedInstance, kind: NoticeKind, detail: string, deadline?: EpochMs): void {
    const { id, providerID, account, tags } = instance;
    this.#queue.send({
      kind,
      instanceId: id,
      providerID,
      account,
      tags,
      offering: offeringOf(instance),
      at: this.#clock.now(),
      ...(deadline !== undefined && { deadline }),
      detail,
    });
  }

  /** Machines whose reservation ends continue as on-demand. */
  #watchEndings(account: Account): void {
    for (const { id, endsAt } of account.settings.reservations) {
      const key = `${account.name} ${id}`;
      this.#endings.get(key)?.cancel();
      if (endsAt === undefined) continue;
      const end = (): void => {
        for (const instance of [...this.fleet.list()]) {
          if (instance.account === account.name && instance.reservationId === id) this.#leaveReservation(instance);
        }
      };
      this.#endings.set(key, this.#clock.setTimer(endsAt - this.#clock.now(), end));
    }
  }

  #leaveReservation(instance: SimulatedInstance): void {
    const { [RESERVATION_ID]: _, ...labels } = instance.labels;
    this.fleet.update(instance.id, {
      capacityType: 'on-demand',
      reservationId: undefined,
      labels: { ...labels, [LABEL_CAPACITY_TYPE]: 'on-demand' },
    });
  }
}

/** The offering an instance runs on. */
export function offeringOf({ capacityType, instanceType, zone, reservationId }: SimulatedInstance): OfferingName {
  return { capacityType, instanceType, zone, ...(reservationId !== undefined && { reservationId }) };
}

function allocatableOf({ capacity, overhead = {} }: InstanceType): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(capacity).map(([name, amount]) => [name, Math.max(0, amount - (overhead[name] ?? 0))]),
  );
}

function notFound(id: string): ApiError {
  return new ApiError('InstanceNotFound', `there is no instance ${id}`);
}
