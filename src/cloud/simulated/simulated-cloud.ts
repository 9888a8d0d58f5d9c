/**
 * The simulated cloud, seen from its own side: it keeps accounts and machines, answers an API over a line that is slow and
 * loses calls, and takes spot machines back. It knows nothing of claims, and outlives whoever calls it: a provider that
 * is thrown away and made anew finds everything as the former one left it.
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

/** Lists come in pages of so many. */
const PAGE = 50;
/** How long a new machine is not shown by an account that speaks of fleets. */
const FLEET_DELAY_MS = 5_000;

/** A page of a list, and where the next one starts. */
export interface InstancePage {
  readonly instances: readonly SimulatedInstance[];
  readonly next?: string;
}

/** What a launch is asked for. */
export interface RunRequest {
  /** Launches of one token are one launch: the second gives the instance of the first, whatever else it says. */
  readonly token: string;
  readonly offering: OfferingName;
  /** Whether an on-demand launch may fall into an open reservation that matches it. */
  readonly openReservations: 'use' | 'none';
  readonly tags: Labels;
  readonly bootstrap: Bootstrap;
}

export class SimulatedCloud {
  /** The machines themselves, for those who stand beside them. */
  readonly fleet: Fleet;
  /** Calls that only accounts of some dialects have. */
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

  /** Opens an account, or changes what one is like; its machines and what was done by hand stay. */
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

  // What the API offers.

  /** Everything an account can buy, at the prices of this moment. */
  describeInstanceTypes(account: string, signal: AbortSignal): Promise<readonly InstanceType[]> {
    return this.#call(account, signal, (found) => found.priceList(this.#clock.now()));
  }

  describeReservations(account: string, signal: AbortSignal): Promise<readonly ReservationState[]> {
    return this.#call(account, signal, (found) => found.reservations(this.#clock.now()));
  }

  runInstance(account: string, request: RunRequest, signal: AbortSignal): Promise<SimulatedInstance> {
    return this.#call(account, signal, (found) => this.#run(found, request), 'launch');
  }

  /** A page of the instances of an account that carry all these tags; very young ones may be missing. */
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

  /** One instance of whatever account. */
  describeInstance(id: string, signal: AbortSignal): Promise<SimulatedInstance> {
    return this.#callFor(id, signal, (instance) => {
      if (!this.#isShown(instance)) throw notFound(id);
      const shown = this.#shown(instance);
      // The same machine in a list has another case.
      const loud = this.#accounts.get(instance.account)?.settings.dialect === 'leftovers';
      return loud ? { ...shown, id: shown.id.toUpperCase(), providerID: shown.providerID.toUpperCase() } : shown;
    });
  }

  terminateInstance(id: string, signal: AbortSignal): Promise<void> {
    return this.#callFor(id, signal, (instance, { settings }) => {
      // Parts that came with it go with it.
      this.launchApi.dropParts(instance.account, instance.name ?? '');
      this.fleet.stop(id, settings.stopMs);
    });
  }

  /** Reboots a running instance, once for each operation. */
  rebootInstance(id: string, operation: string, signal: AbortSignal): Promise<void> {
    return this.#callFor(id, signal, ({ reboots, state }) => {
      if (reboots.includes(operation)) return;
      if (state !== 'running') throw new ApiError('IncorrectInstanceState', `${id} is ${state}`);
      this.fleet.update(id, { reboots: [...reboots, operation] });
    });
  }

  /** Waits for messages about the machines of all accounts; each comes again until it is deleted. */
  receiveMessages(most: number, signal: AbortSignal): Promise<readonly CloudMessage[]> {
    return this.#queue.receive(most, signal);
  }

  async deleteMessage(id: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    this.#queue.delete(id);
  }

  // What happens to the cloud from outside.

  /** Takes a machine back after that much warning; without any it is gone at once. */
  interrupt(providerID: string, noticeMs?: number): boolean {
    const instance = this.#instanceNamed(providerID);
    if (instance === undefined) return false;
    const market = this.#accounts.get(instance.account)?.settings.market;
    this.#interrupt(instance, noticeMs ?? market?.noticeMs ?? 0);
    return true;
  }

  /** Says something about a machine, without doing it. */
  announce(providerID: string, kind: NoticeKind, detail: string, deadline?: EpochMs): void {
    const instance = this.#instanceNamed(providerID);
    if (instance !== undefined) this.#send(instance, kind, detail, deadline);
  }

  /** Takes up a machine that a former process had launched, as its node tells of it. */
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

  /** A call about an instance, which fails as calls of its account do. */
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
    // From the token alone, so that a cloud which has lost its memory gives a claim the same instance again.
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

  /** How long new machines of an account are not shown. */
  consistencyDelayMs(account: string): number {
    const { dialect, faults } = this.#accounts.get(account)?.settings ?? {};
    return Math.max(faults?.consistencyDelayMs ?? 0, dialect === 'fleet' ? FLEET_DELAY_MS : 0);
  }

  /** How long after its launch the provider ID of a machine is not known. */
  namingDelayMs(account: string): number {
    return this.#accounts.get(account)?.settings.dialect === 'machines' ? NAMED_AFTER_MS : 0;
  }

  /** What is told of an instance now. */
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

  /** Some clouds leave the machine where it is, stopped and paid for, until somebody deletes it. */
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

  /** Machines whose reservation ends go on as on-demand. */
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
