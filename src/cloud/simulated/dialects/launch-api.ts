/**
 * The launch calls of the simulated cloud's dialects, on the cloud's side: the meaning of tokens, names and operations, when refusals are
 * reported, and what a failure leaves behind.
 */
import type { Clock, EpochMs } from '../../../platform/clock.ts';
import type { OfferingName } from '../../offering-key.ts';
import type { Account } from '../account.ts';
import { ApiError } from '../api-error.ts';
import type { Fleet } from '../fleet.ts';
import type { RunRequest } from '../simulated-cloud.ts';
import type { SimulatedInstance } from '../simulated-instance.ts';

export interface LaunchApiOptions {
  readonly clock: Clock;
  readonly fleet: Fleet;
  /** Executes a call with the faults of the account. */
  call<Answer>(
    account: string,
    signal: AbortSignal,
    work: (account: Account) => Answer,
    kind?: 'launch' | 'other',
  ): Promise<Answer>;
  /** Launches a machine, or throws the refusal. */
  run(account: Account, request: RunRequest): SimulatedInstance;
  /** Launches without checking capacity. */
  accept(account: Account, request: RunRequest, also: Partial<SimulatedInstance>): SimulatedInstance;
}

/** A launch of one machine from any of several offerings. */
export type FleetRequest = Omit<RunRequest, 'offering'> & { readonly offerings: readonly OfferingName[] };

/** The result: a machine, refusals, or both. */
export interface FleetAnswer {
  readonly instance?: SimulatedInstance;
  readonly errors: readonly { readonly offering: OfferingName; readonly error: ApiError }[];
}

/** A launch under a name that the driver chooses. */
export type NamedRequest = RunRequest & { readonly name: string };

/** Work that continues after its call was answered. */
export interface Operation {
  readonly id: string;
  readonly done: boolean;
  readonly error?: ApiError;
  readonly instance?: SimulatedInstance;
}

/** A disk or network interface: created before its machine, and paid for even without it. */
export interface Part {
  readonly id: string;
  /** The name of its machine. */
  readonly machine: string;
  readonly madeAt: EpochMs;
}

/** Time from acceptance until a machine fails for lack of capacity. */
const FAILS_AFTER_MS = 8_000;
const OPERATION_MS = 3_000;
/** Time from launch until the provider ID of a machine is known. */
export const NAMED_AFTER_MS = 60_000;

export class LaunchApi {
  readonly #options: LaunchApiOptions;
  /** By token: its first input and answer. */
  readonly #tokens = new Map<string, { readonly input: string; readonly answer: FleetAnswer }>();
  readonly #operations = new Map<string, Operation & { readonly doneAt: number }>();
  /** By account and part. */
  readonly #parts = new Map<string, Map<string, Part>>();

  constructor(options: LaunchApiOptions) {
    this.#options = options;
  }

  /** `fleet`: launches the first offering with capacity. A token replays its first answer, even if the machine is gone. */
  createFleet(account: string, request: FleetRequest, signal: AbortSignal): Promise<FleetAnswer> {
    return this.#options.call(
      account,
      signal,
      (found) => {
        const input = JSON.stringify([request.offerings, request.tags]);
        const known = this.#tokens.get(request.token);
        if (known !== undefined) {
          if (known.input === input) return known.answer;
          throw new ApiError('IdempotentParameterMismatch', `token ${request.token} was used with other parameters`);
        }
        const answer = this.#fleet(found, request);
        this.#tokens.set(request.token, { input, answer });
        return answer;
      },
      'launch',
    );
  }

  /** `late-failure`: always succeeds, under a name that must be new. */
  createNamed(account: string, request: NamedRequest, signal: AbortSignal): Promise<SimulatedInstance> {
    const { clock, fleet } = this.#options;
    return this.#options.call(
      account,
      signal,
      (found) => {
        this.#requireNew(account, request.name);
        const refusal = found.refusal(request.offering, clock.now());
        if (refusal !== undefined && !isCapacity(refusal)) throw refusal;
        const { name } = request;
        if (refusal === undefined) return this.#options.accept(found, request, { name });
        const doomed = this.#options.accept(found, request, { name, failure: refusal.message });
        clock.setTimer(FAILS_AFTER_MS, () => fleet.update(doomed.id, { state: 'failed' }));
        return doomed;
      },
      'launch',
    );
  }

  /** The machine of a name, even if it is new; undefined if there is none. */
  byName(account: string, name: string, signal: AbortSignal): Promise<SimulatedInstance | undefined> {
    const { clock, fleet } = this.#options;
    return this.#options.call(account, signal, () => {
      const found = [...fleet.list()].find((each) => each.account === account && each.name === name);
      const named = found?.namedAt === undefined || clock.now() >= found.namedAt;
      return found && (named ? found : { ...found, providerID: '' });
    });
  }

  /** `operations`: succeeds, with an operation that has the result later. The same request ID is the same operation. */
  insert(
    account: string,
    request: NamedRequest & { readonly requestId: string },
    signal: AbortSignal,
  ): Promise<Operation> {
    const { clock } = this.#options;
    return this.#options.call(
      account,
      signal,
      (found) => {
        const id = `operation-${request.requestId}`;
        const known = this.#operations.get(id);
        if (known !== undefined) return this.#shown(known);
        const { name, offering } = request;
        this.#requireNew(account, name, offering.zone);
        const refusal = found.refusal(offering, clock.now());
        if (refusal !== undefined && !isCapacity(refusal)) throw refusal;
        const done =
          refusal === undefined ? { instance: this.#options.accept(found, request, { name }) } : { error: refusal };
        const operation = { id, done: true, doneAt: clock.elapsed() + OPERATION_MS, ...done };
        this.#operations.set(id, operation);
        return this.#shown(operation);
      },
      'launch',
    );
  }

  /** The state of an operation. */
  operation(account: string, id: string, signal: AbortSignal): Promise<Operation> {
    return this.#options.call(account, signal, () => {
      const known = this.#operations.get(id);
      if (known === undefined) throw new ApiError('InstanceNotFound', `there is no operation ${id}`);
      return this.#shown(known);
    });
  }

  /** `leftovers`: creates a disk and an interface, then the machine. If that fails, the parts stay. */
  createWithParts(account: string, request: NamedRequest, signal: AbortSignal): Promise<SimulatedInstance> {
    const { clock, fleet, run } = this.#options;
    return this.#options.call(
      account,
      signal,
      (found) => {
        const { name } = request;
        this.#requireNew(account, name);
        const parts = this.#parts.get(account) ?? new Map<string, Part>();
        this.#parts.set(account, parts);
        for (const what of ['disk', 'nic'])
          parts.set(`${name}-${what}`, { id: `${name}-${what}`, machine: name, madeAt: clock.now() });
        const instance = run(found, request);
        return fleet.update(instance.id, { name }) ?? instance;
      },
      'launch',
    );
  }

  /** All disks and interfaces of an account, attached or not. */
  parts(account: string, signal: AbortSignal): Promise<readonly Part[]> {
    return this.#options.call(account, signal, () => [...(this.#parts.get(account)?.values() ?? [])]);
  }

  deletePart(account: string, id: string, signal: AbortSignal): Promise<void> {
    return this.#options.call(account, signal, () => void this.#parts.get(account)?.delete(id));
  }

  /** Deletes the parts of a terminated machine. */
  dropParts(account: string, machine: string): void {
    const parts = this.#parts.get(account);
    for (const { id, machine: of } of parts?.values() ?? []) if (of === machine) parts?.delete(id);
  }

  /** The number of parts, for tests. */
  countParts(): number {
    return [...this.#parts.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** `machines`: accepted at once, with a provider ID a minute later. */
  createMachine(account: string, request: NamedRequest, signal: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    return this.#options.call(
      account,
      signal,
      (found) => {
        const { name } = request;
        this.#requireNew(account, name);
        const refusal = found.refusal(request.offering, clock.now());
        if (refusal !== undefined) throw refusal;
        this.#options.accept(found, request, { name, namedAt: (clock.now() + NAMED_AFTER_MS) as EpochMs });
      },
      'launch',
    );
  }

  /** Adds a machine to the cluster's set, as an outside controller does. */
  addStray(account: Account, request: NamedRequest): SimulatedInstance {
    return this.#options.accept(account, request, { name: request.name });
  }

  #fleet(account: Account, { offerings, ...request }: FleetRequest): FleetAnswer {
    const errors: { offering: OfferingName; error: ApiError }[] = [];
    for (const offering of offerings) {
      try {
        return { instance: this.#options.run(account, { ...request, offering }), errors };
      } catch (error) {
        if (!(error instanceof ApiError) || (!isCapacity(error) && error.code !== 'InstanceLimitExceeded')) throw error;
        errors.push({ offering, error });
      }
    }
    return { errors };
  }

  #requireNew(account: string, name: string, zone?: string): void {
    for (const instance of this.#options.fleet.list()) {
      if (instance.account !== account || instance.name !== name) continue;
      if (zone === undefined || instance.zone === zone)
        throw new ApiError('NameNotUnique', `the name ${name} is not unique`);
    }
  }

  #shown({ id, doneAt, ...rest }: Operation & { readonly doneAt: number }): Operation {
    return this.#options.clock.elapsed() >= doneAt ? { ...rest, id } : { id, done: false };
  }
}

function isCapacity({ code }: ApiError): boolean {
  return ['InsufficientInstanceCapacity', 'ReservationCapacityExceeded', 'InvalidParameter'].includes(code);
}
