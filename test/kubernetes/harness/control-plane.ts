/**
 * A real Kubernetes control plane on loopback: etcd and the API server, and optionally the controller manager, the scheduler and kwok,
 * which simulates kubelets.
 */
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../../../src/platform/clock.ts';
import { RealClock } from '../../../src/platform/real-clock.ts';
import type { Binaries } from './binaries.ts';
import {
  type ApiServerSettings,
  AUDIT_LOG,
  type Component,
  type ComponentName,
  components,
  PORT_NAMES,
} from './components.ts';
import { type Credentials, writeCredentials } from './credentials.ts';
import { freePorts } from './free-ports.ts';
import type { Guard } from './guard.ts';
import { Kubectl } from './kubectl.ts';
import { ManagedProcess } from './managed-process.ts';
import { untilReady } from './readiness.ts';

const READY_DEADLINE_MS = 90_000;
/** An API server finishes open requests before it exits. */
const STOP_GRACE_MS = 60_000;

export interface ControlPlaneOptions {
  readonly binaries: Binaries;
  /** For logs, data and credentials. Owned by the caller: it is not removed here. */
  readonly directory: string;
  readonly guard: Guard;
  /** The programs to run besides etcd and the API server; default: all. */
  readonly components?: {
    readonly controllerManager?: boolean;
    readonly scheduler?: boolean;
    readonly kwok?: boolean;
  };
  readonly apiServer?: ApiServerSettings;
  readonly clock?: Clock;
}

/** Starts and stops the programs of one control plane. */
export class ControlPlane {
  /** Resolves when a program exits unexpectedly. */
  readonly broken: Promise<Error>;
  readonly #reportBroken: (error: Error) => void;
  readonly #options: ControlPlaneOptions;
  readonly #clock: Clock;
  readonly #processes = new Map<ComponentName, ManagedProcess>();
  #components: Record<ComponentName, Component> | undefined;
  #credentials: Credentials | undefined;

  constructor(options: ControlPlaneOptions) {
    this.#options = options;
    this.#clock = options.clock ?? new RealClock();
    const { promise, resolve } = Promise.withResolvers<Error>();
    this.broken = promise;
    this.#reportBroken = resolve;
  }

  /** Resolves when every program is ready. If one fails, all are stopped and the error says which and why. */
  async start(): Promise<void> {
    const { binaries, directory, apiServer } = this.#options;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const ports = await freePorts(PORT_NAMES);
    const credentials = await writeCredentials(join(directory, 'credentials'), `https://127.0.0.1:${ports.apiServer}`);
    this.#credentials = credentials;
    this.#components = components({
      ...{ binaries, credentials, ports, dataDirectory: directory },
      ...(apiServer !== undefined && { apiServer }),
    });
    const { controllerManager = true, scheduler = true, kwok = true } = this.#options.components ?? {};
    const asked = { controllerManager, scheduler, kwok };
    try {
      await this.#launch('etcd');
      await this.#launch('apiServer');
      const others = (['controllerManager', 'scheduler', 'kwok'] as const).filter((name) => asked[name]);
      await Promise.all(others.map((name) => this.#launch(name)));
    } catch (error) {
      await this.#killAll();
      throw error;
    }
  }

  /**
   * Kills everything at once: nothing is kept, and a graceful shutdown of the API server takes seconds. Throws if a program had exited
   * unexpectedly before.
   */
  async stop(): Promise<void> {
    const failures = [...this.#processes.values()]
      .map((process) => process.failure)
      .filter((error) => error !== undefined);
    await this.#killAll();
    if (failures.length > 0) throw new AggregateError(failures, failures.map((error) => error.message).join('\n'));
  }

  /** Stops the API server gracefully, as a rollout does; resolves when its process is gone and its port is free. */
  async stopApiServer(): Promise<void> {
    await this.#processes.get('apiServer')?.stop(STOP_GRACE_MS);
  }

  /** Kills the API server, as a crash would. */
  async killApiServer(): Promise<void> {
    await this.#processes.get('apiServer')?.kill();
  }

  /** Starts the API server again with the same port and data; resolves when it is ready. */
  async startApiServer(): Promise<void> {
    await this.#launch('apiServer');
  }

  /** The path of an administrator's kubeconfig. */
  get kubeconfig(): string {
    if (this.#credentials === undefined) throw new Error('the control plane has not been started');
    return this.#credentials.kubeconfig;
  }

  /** The path of the audit log with all requests of service accounts. */
  get auditLog(): string {
    return join(this.#options.directory, AUDIT_LOG);
  }

  /** kubectl of the same version, for this control plane. */
  get kubectl(): Kubectl {
    return new Kubectl(this.#options.binaries.kubectl, this.kubeconfig);
  }

  async #launch(name: ComponentName): Promise<void> {
    const component = this.#components?.[name];
    if (component === undefined || this.#credentials === undefined) {
      throw new Error('the control plane has not been started');
    }
    if (this.#processes.get(name)?.running) throw new Error(`${component.name} is running already`);
    const { directory, guard } = this.#options;
    const process = ManagedProcess.start({
      name: component.name,
      command: component.command,
      arguments: component.arguments,
      logFile: join(directory, `${component.name}.log`),
      clock: this.#clock,
      guard,
      onFailure: this.#reportBroken,
    });
    this.#processes.set(name, process);
    await untilReady({
      name: component.name,
      url: component.readyUrl,
      authority: readFileSync(this.#credentials.authority, 'utf8'),
      process,
      clock: this.#clock,
      deadlineMs: READY_DEADLINE_MS,
    });
  }

  async #killAll(): Promise<void> {
    await Promise.all([...this.#processes.values()].map((process) => process.kill()));
    this.#processes.clear();
  }
}
