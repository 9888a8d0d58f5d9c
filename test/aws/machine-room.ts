/**
 * Where instances become nodes: every instance that EC2 runs boots from its image and user data and, if both are right,
 * registers a Node, whose kubelet kwok plays. An instance that ends takes its Node away, as the cloud's node controller does.
 */
import { NODES } from '../../src/apis/kubernetes/node.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import { KubeError } from '../../src/kube/kube-error.ts';
import type { Clock } from '../../src/platform/clock.ts';
import type { AwsGround } from './aws-ground.ts';
import type { Machine } from './aws-ground-types.ts';
import { boot, type Cluster } from './boot/boot.ts';
import { BootFailure } from './boot/boot-settings.ts';

const POLL_MS = 200;

export interface MachineRoomOptions {
  readonly ground: AwsGround;
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly cluster: Cluster;
  /** From running to registered; a real machine takes most of a minute. */
  readonly bootMs?: number;
}

/** Turns instances into nodes while it runs. */
export class MachineRoom {
  readonly #options: MachineRoomOptions;
  readonly #booting = new Set<string>();
  readonly #registered = new Map<string, string>();
  readonly #failures = new Map<string, string>();
  #bootMs: number;

  constructor(options: MachineRoomOptions) {
    this.#options = options;
    this.#bootMs = options.bootMs ?? 0;
  }

  /** Why machines did not join, by instance. */
  get failures(): ReadonlyMap<string, string> {
    return this.#failures;
  }

  /** Names of the nodes that registered and whose instance has not ended, by instance. */
  get nodes(): ReadonlyMap<string, string> {
    return this.#registered;
  }

  /** From now on machines take this long to boot; Infinity: they never come up. */
  set bootMs(milliseconds: number) {
    this.#bootMs = milliseconds;
  }

  /** Until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    const { ground, clock } = this.#options;
    let since = 0;
    const known = new Map<string, Machine>();
    const dueAt = new Map<string, number>();
    while (!signal.aborted) {
      const { next, machines } = await ground.machines(since);
      since = next;
      for (const machine of machines) known.set(machine.id, machine);
      const work: Promise<void>[] = [];
      for (const machine of known.values()) {
        if (machine.state === 'running' && !this.#booting.has(machine.id)) {
          const due = dueAt.get(machine.id) ?? clock.elapsed() + this.#bootMs;
          dueAt.set(machine.id, due);
          if (clock.elapsed() >= due) work.push(this.#boot(machine));
        } else if (machine.state === 'terminated') {
          known.delete(machine.id);
          work.push(this.#end(machine));
        }
      }
      await Promise.all(work);
      await clock.sleep(POLL_MS, signal).catch(() => undefined);
    }
  }

  async #boot(machine: Machine): Promise<void> {
    const { client, cluster, ground } = this.#options;
    this.#booting.add(machine.id);
    try {
      const node = await boot({ machine, cluster, parseToml: (text) => ground.parseToml(text) });
      await client.create(NODES, node);
      this.#registered.set(machine.id, machine.privateDnsName);
    } catch (error) {
      if (!(error instanceof BootFailure || error instanceof KubeError)) throw error;
      this.#failures.set(machine.id, error.message);
    }
  }

  async #end(machine: Machine): Promise<void> {
    this.#registered.delete(machine.id);
    try {
      await this.#options.client.delete(NODES, { name: machine.privateDnsName });
    } catch (error) {
      if (!(error instanceof KubeError && error.status.code === 404)) throw error;
    }
  }
}
