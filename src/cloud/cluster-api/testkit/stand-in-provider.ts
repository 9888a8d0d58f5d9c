/** An infrastructure provider for tests: its machines get an instance and a Node after a while, or report why not. */
import { NODES } from '../../../apis/kubernetes/node.ts';
import { keyOf, type Resource } from '../../../apis/kubernetes/object.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { Clock } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { Random } from '../../../platform/random.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';

export interface StandInProviderOptions {
  readonly client: KubeClient;
  /** The client of the cluster that instances join; default: the same cluster. */
  readonly workload?: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly kind: Resource<InfrastructureObject>;
  /** Minimum and maximum start time of instances. */
  readonly startMs: readonly [number, number];
  /** Why a machine gets no instance; undefined if it gets one. */
  refusal?(machine: InfrastructureObject): string | undefined;
  providerID(machine: InfrastructureObject): string;
  /** Further fields of the Node. */
  node?(machine: InfrastructureObject): object;
}

const LOOK_EVERY_MS = 2_000;

export class StandInProvider {
  readonly #options: StandInProviderOptions;
  readonly #due = new Map<string, number>();
  /** The number of instances ever launched. */
  launches = 0;

  constructor(options: StandInProviderOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, clock, kind } = this.#options;
    while (!signal.aborted) {
      const { items } = await client.list(kind);
      for (const machine of items) await this.#reconcile(machine);
      await clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
  }

  async #reconcile(machine: InfrastructureObject): Promise<void> {
    const { client, workload = client, clock, random, kind, startMs, refusal } = this.#options;
    const { uid = '', name = '', deletionTimestamp } = machine.metadata;
    if (deletionTimestamp !== undefined || machine.spec?.providerID !== undefined) return;
    if (!this.#due.has(uid)) this.#due.set(uid, clock.now() + random.between(...startMs));
    if (clock.now() < (this.#due.get(uid) ?? 0)) return;
    const message = refusal?.(machine);
    const options = { subresource: 'status' } as const;
    try {
      if (message !== undefined) {
        const condition = { type: 'InstanceReady', status: 'False', reason: 'InstanceProvisionFailed', message };
        const body = { status: { conditions: [condition] } };
        await client.patch(kind, keyOf(machine), { type: 'merge', body }, options);
        return;
      }
      const providerID = this.#options.providerID(machine);
      await client.patch(kind, keyOf(machine), { type: 'merge', body: { spec: { providerID } } });
      await client.patch(
        kind,
        keyOf(machine),
        { type: 'merge', body: { status: { ready: true, initialization: { provisioned: true } } } },
        options,
      );
      this.launches++;
      await workload.create(NODES, {
        apiVersion: 'v1',
        kind: 'Node',
        metadata: { name },
        spec: { providerID },
        ...this.#options.node?.(machine),
      });
    } catch (error) {
      if (!hasCode(error, 'KUBE_NOT_FOUND', 'KUBE_CONFLICT', 'KUBE_ALREADY_EXISTS')) throw error;
    }
  }
}
