/** Looks for a controller that reconciles the same kinds: two of them on one kind fight, and each launches an instance of its own. */
import { CLUSTER_API_GROUP } from '../../../apis/cluster-api/names.ts';
import { LEASES } from '../../../apis/kubernetes/lease.ts';
import { keyOf, keyText } from '../../../apis/kubernetes/object.ts';
import { DEPLOYMENTS } from '../../../apis/kubernetes/workloads.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { type Clock, parseTimestamp } from '../../../platform/clock.ts';
import { SpindriftError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { ControllerMarks } from './provided-kinds.ts';

export interface ControllerWatchOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly marks: ControllerMarks;
}

const LOOK_EVERY_MS = 30_000;
/** A leader that has not renewed its Lease for this long has ended. */
const LEASE_AGE_MS = 120_000;

export class ControllerWatch {
  readonly #options: ControllerWatchOptions;
  #other: string | undefined;

  constructor(options: ControllerWatchOptions) {
    this.#options = options;
  }

  /** Where the other controller was seen; undefined while there is none. */
  get other(): string | undefined {
    return this.#other;
  }

  /** Rejects with CLOUD_NOT_CONFIGURED when there is another controller. */
  async refuse(kinds: string, signal: AbortSignal): Promise<void> {
    await this.look(signal);
    if (this.#other === undefined) return;
    const { name } = this.#options.marks;
    const problem = `${name} reconciles ${kinds} already (${this.#other}), and two controllers on one kind launch everything twice: leave ${kinds} to ${name}, or remove it`;
    throw new SpindriftError('CLOUD_NOT_CONFIGURED', { cloud: 'cluster-api', problem });
  }

  /** Looks on until the signal aborts: the other controller may be installed later. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, marks } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
      if (signal.aborted) return;
      const before = this.#other;
      await this.look(signal).catch((error) => {
        if (!signal.aborted) logger.warn('cannot see whether another controller has come', { error });
      });
      if (before === undefined && this.#other !== undefined)
        logger.error('another controller has come: its kinds are left to it', { name: marks.name, seen: this.#other });
    }
  }

  async look(signal: AbortSignal): Promise<void> {
    this.#other = (await this.#deployment(signal)) ?? (await this.#lease(signal));
  }

  async #deployment(signal: AbortSignal): Promise<string | undefined> {
    const { client, marks } = this.#options;
    const labelSelector = `${CLUSTER_API_GROUP}/provider=${marks.component}`;
    const { items } = await client.list(DEPLOYMENTS, { labelSelector }, { signal });
    const running = items.find(({ spec }) => spec?.replicas !== 0);
    return running && `Deployment ${keyText(keyOf(running))}`;
  }

  async #lease(signal: AbortSignal): Promise<string | undefined> {
    const { client, clock, marks } = this.#options;
    const { items } = await client.list(LEASES, {}, { signal });
    const held = items.find(({ metadata, spec }) => {
      const renewedAt = parseTimestamp(spec?.renewTime);
      return metadata.name?.endsWith(marks.lease) && renewedAt !== undefined && clock.now() - renewedAt < LEASE_AGE_MS;
    });
    return held && `Lease ${keyText(keyOf(held))}`;
  }
}
