/**
 * An AWS account on loopback for tests: the program in `ground/` (moto in process, with our additions), started on free
 * ports, and the calls by which a test steers it. The endpoint is plain HTTP; any credentials will do.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Clock } from '../../src/platform/clock.ts';
import { RealClock } from '../../src/platform/real-clock.ts';
import { freePorts } from '../kubernetes/harness/free-ports.ts';
import { Guard } from '../kubernetes/harness/guard.ts';
import { ManagedProcess } from '../kubernetes/harness/managed-process.ts';
import type {
  Account,
  CallPattern,
  Calls,
  CapacityPool,
  Launch,
  Life,
  Machine,
  ReservationOptions,
  ReservationState,
  SoldType,
} from './aws-ground-types.ts';
import { motoPython } from './peers/moto.ts';

const PROGRAM = join(import.meta.dirname, 'ground', 'main.py');
const READY_DEADLINE_MS = 120_000;
const POLL_MS = 50;

export interface AwsGroundOptions {
  readonly region?: string;
  /** For its log; a temporary one that goes with the ground unless given. */
  readonly directory?: string;
  readonly clock?: Clock;
}

/** One AWS account. Everything a test does to it beyond AWS's own API is a method here. */
export class AwsGround {
  readonly region: string;
  readonly #options: AwsGroundOptions;
  readonly #clock: Clock;
  readonly #guard: Guard;
  readonly #directory: string;
  #process: ManagedProcess | undefined;
  #ports: { aws: number; control: number } | undefined;

  constructor(options: AwsGroundOptions = {}) {
    this.region = options.region ?? 'us-east-1';
    this.#options = options;
    this.#clock = options.clock ?? new RealClock();
    this.#directory = options.directory ?? mkdtempSync(join(tmpdir(), 'spindrift-aws-'));
    this.#guard = new Guard(options.directory === undefined ? { directory: this.#directory } : {});
  }

  /** Builds the Python environment if need be, and resolves when the account can be called. */
  async start(): Promise<void> {
    const python = await motoPython();
    this.#ports = await freePorts(['aws', 'control']);
    const ports = ['--port', String(this.#ports.aws), '--control-port', String(this.#ports.control)];
    this.#process = ManagedProcess.start({
      name: 'aws ground',
      command: python,
      arguments: [PROGRAM, ...ports, '--region', this.region],
      // Bytecode would be written beside the sources.
      environment: { PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
      logFile: join(this.#directory, 'aws-ground.log'),
      clock: this.#clock,
      guard: this.#guard,
      onFailure: () => undefined,
    });
    const deadline = this.#clock.elapsed() + READY_DEADLINE_MS;
    for (;;) {
      if (this.#process.failure !== undefined) throw this.#process.failure;
      if (await this.#answers()) return;
      if (this.#clock.elapsed() > deadline) throw new Error(`the aws ground is not ready; see ${this.#directory}`);
      await this.#clock.sleep(POLL_MS);
    }
  }

  async stop(): Promise<void> {
    await this.#process?.kill();
    this.#guard.dismiss();
    if (this.#options.directory === undefined) rmSync(this.#directory, { recursive: true, force: true });
  }

  /** For `endpoint` of an SDK client, or `AWS_ENDPOINT_URL` of a process. */
  get endpoint(): string {
    if (this.#ports === undefined) throw new Error('the aws ground has not been started');
    return `http://127.0.0.1:${this.#ports.aws}`;
  }

  /** Where steering calls go, for programs that are not written in TypeScript. */
  get controlEndpoint(): string {
    if (this.#ports === undefined) throw new Error('the aws ground has not been started');
    return `http://127.0.0.1:${this.#ports.control}`;
  }

  /** Variables that make any SDK or AWS program use this account. */
  get environment(): Record<string, string> {
    return {
      AWS_ENDPOINT_URL: this.endpoint,
      AWS_REGION: this.region,
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
      AWS_EC2_METADATA_DISABLED: 'true',
    };
  }

  /** VPC, subnets, security groups, node role, EKS cluster and interruption queue, as an EKS user has them. */
  seed(options: {
    cluster: string;
    version?: string;
    zones?: readonly string[];
    subnetPrefix?: number;
    serviceCidr?: string;
  }): Promise<Account> {
    return this.#steer('seed', { version: '1.36', ...options });
  }

  /** Forgets everything; seed again afterwards. */
  async reset(): Promise<void> {
    await this.#steer('reset');
  }

  /** Lets launches into these pools fail, by default with InsufficientInstanceCapacity; `left` succeed before that. */
  async exhaust(pool: CapacityPool & { code?: string; message?: string; left?: number }): Promise<void> {
    await this.#steer('exhaust', pool);
  }

  /** Gives capacity back to a pool named as it was exhausted, or to all. */
  async restore(pool: CapacityPool = {}): Promise<void> {
    await this.#steer('restore', pool);
  }

  /** How deep a spot pool is, which capacity-optimized strategies go by; 1 unless said. */
  async depth(options: { type: string; zone: string; depth: number }): Promise<void> {
    await this.#steer('depth', options);
  }

  /** The account's quota; undefined takes it away. */
  async quota(options: { capacityType: 'spot' | 'on-demand'; vcpus: number | undefined }): Promise<void> {
    await this.#steer('quota', options);
  }

  async price(options: {
    type: string;
    zone?: string;
    capacityType: 'spot' | 'on-demand';
    price: number;
  }): Promise<void> {
    await this.#steer('price', options);
  }

  prices(options: {
    types: readonly string[];
    zones?: readonly string[];
  }): Promise<Record<string, { onDemand: number; spot: Record<string, number> }>> {
    return this.#steer('prices', options);
  }

  /** Everything that is sold in these zones. */
  types(zones: readonly string[]): Promise<SoldType[]> {
    return this.#steer('types', { zones });
  }

  /** Makes a capacity reservation of any kind; instances that match an open one move into it. */
  reserve(options: ReservationOptions): Promise<ReservationState> {
    return this.#steer('reserve', options);
  }

  changeReservation(
    options: { id: string; total?: number; cancelled?: boolean } & Partial<
      Pick<ReservationOptions, 'match' | 'tags' | 'end' | 'start' | 'interruptible' | 'usedByOthers'>
    >,
  ): Promise<ReservationState> {
    return this.#steer('change-reservation', options);
  }

  reservations(): Promise<ReservationState[]> {
    return this.#steer('reservations');
  }

  /** Moves the account's clock; returns its time in seconds since the epoch. */
  async advance(seconds: number): Promise<number> {
    return (await this.#steer<{ now: number }>('clock', { advanceSeconds: seconds })).now;
  }

  async now(): Promise<number> {
    return (await this.#steer<{ now: number }>('clock')).now;
  }

  async life(options: Life): Promise<void> {
    await this.#steer('life', options);
  }

  /** Delays calls; returns the number of the rule, for {@link AwsGround.mend}. */
  latency(options: CallPattern & { seconds: number }): Promise<{ id: number }> {
    return this.#steer('latency', options);
  }

  /** A token bucket: `burst` calls at once, `rate` more each second; the others get RequestLimitExceeded. */
  throttle(options: CallPattern & { rate: number; burst: number }): Promise<{ id: number }> {
    return this.#steer('throttle', options);
  }

  /** Takes a permission away. */
  deny(options: CallPattern & { resource?: string }): Promise<{ id: number }> {
    return this.#steer('deny', options);
  }

  /** Fails calls with a code, for example ExpiredToken or InternalError with status 500. */
  fail(options: CallPattern & { code: string; message?: string; status?: number }): Promise<{ id: number }> {
    return this.#steer('fail', options);
  }

  /** Takes one rule of latency, throttle, deny and fail away, or all of them. */
  async mend(rule: { id?: number } = {}): Promise<void> {
    await this.#steer('mend', rule);
  }

  /** Calls since the start, the seeding or the last reset, by `service:Action`. */
  calls(options: { reset?: boolean } = {}): Promise<Calls> {
    return this.#steer('calls', options);
  }

  /** Closes the port: callers are refused the connection until {@link AwsGround.plug}. */
  async unplug(): Promise<void> {
    await this.#steer('unplug');
  }

  async plug(): Promise<void> {
    await this.#steer('plug');
  }

  /** Every CreateFleet and RunInstances that was not a dry run, in order. */
  launches(since = 0): Promise<Launch[]> {
    return this.#steer('launches', { since });
  }

  /** Instances that still use capacity, or all that ever were. */
  instances(options: { all?: boolean } = {}): Promise<Machine[]> {
    return this.#steer('instances', options);
  }

  /** Instances that changed since a number; the first number is 0. */
  machines(since: number): Promise<{ next: number; machines: Machine[] }> {
    return this.#steer('machines', { since });
  }

  /** Sends what EventBridge would send; the instance stays until {@link AwsGround.terminate}. */
  async interrupt(options: {
    id: string;
    kind?: 'spot' | 'rebalance' | 'reservation' | 'health' | 'state';
    code?: string;
    state?: string;
  }): Promise<void> {
    await this.#steer('interrupt', options);
  }

  /** Ends an instance as EC2 itself does. */
  async terminate(id: string): Promise<void> {
    await this.#steer('terminate', { id });
  }

  /** Fails the status checks of an instance. */
  async impair(options: { id: string; system?: 'ok' | 'impaired'; instance?: 'ok' | 'impaired' }): Promise<void> {
    await this.#steer('impair', options);
  }

  /** Gives an instance a scheduled event, for example instance-retirement or system-reboot. */
  async schedule(options: { id: string; code?: string; description?: string; inSeconds?: number }): Promise<void> {
    await this.#steer('schedule', options);
  }

  images(named = ''): Promise<{ id: string; name: string; architecture: string }[]> {
    return this.#steer('images', { named });
  }

  /** Deprecates an image, takes it away, or points an SSM parameter at it. */
  async image(options: {
    id: string;
    deprecated?: boolean;
    state?: 'available' | 'deregistered';
    parameter?: string;
  }): Promise<void> {
    await this.#steer('image', options);
  }

  /** By Python's own parser. */
  parseToml(text: string): Promise<unknown> {
    return this.#steer('parse-toml', { text });
  }

  async #answers(): Promise<boolean> {
    try {
      await this.#steer('health');
      return true;
    } catch (error) {
      if (error instanceof TypeError) return false;
      throw error;
    }
  }

  async #steer<T>(name: string, body: object = {}): Promise<T> {
    const response = await fetch(`${this.controlEndpoint}/spindrift/${name}`, {
      method: 'POST',
      body: JSON.stringify(body),
    });
    const answer = (await response.json()) as T;
    if (!response.ok) throw new Error(`the aws ground refused ${name}: ${(answer as { error: string }).error}`);
    return answer;
  }
}
