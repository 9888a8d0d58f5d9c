/** Polls EC2 once a minute for impaired instances, and emits notices for ours. */
import type { Clock } from '../../../platform/clock.ts';
import { asError, hasCode } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Metrics } from '../../../platform/metrics.ts';
import type { NoticeSource } from '../../cloud.ts';
import type { ReceivedNotice } from '../../notice.ts';
import { type InstanceStatus, noticesOfStatus, STATUS_CATEGORIES } from './instance-status.ts';

export interface InstanceStatusSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** All instances of the account and region that are impaired or have scheduled events; CLOUD_DENIED without the permission. */
  unwell(signal: AbortSignal): Promise<readonly InstanceStatus[]>;
  isKnown(machine: string): boolean;
}

const PERIOD_MS = 60_000;
/** Without the permission, it tries again after this time, as someone may grant it. */
const DENIED_PERIOD_MS = 3_600_000;

export class InstanceStatusSource implements NoticeSource {
  readonly name = 'instance-status';
  readonly warns = false;
  readonly #options: InstanceStatusSourceOptions;
  readonly #unhealthy;
  #isDenied = false;

  constructor(options: InstanceStatusSourceOptions) {
    this.#options = options;
    this.#unhealthy = options.metrics.counter({
      name: 'karpenter_interruption_instance_status_unhealthy_total',
      help: 'Instances of ours that EC2 said were not well, per category',
      labels: ['category'],
      initial: STATUS_CATEGORIES.map((category) => ({ category })),
    });
  }

  async *receive(signal: AbortSignal): AsyncGenerator<ReceivedNotice, void, undefined> {
    const { clock, isKnown, logger, unwell } = this.#options;
    /** Problems already reported, as long as EC2 still shows them. */
    let told = new Set<string>();
    while (!signal.aborted) {
      let periodMs = PERIOD_MS;
      try {
        const still = new Set<string>();
        for (const status of (await unwell(signal)).filter(({ machine }) => isKnown(machine))) {
          for (const { category, ...notice } of noticesOfStatus(status, clock.now())) {
            const key = `${notice.machine} ${category} ${notice.detail}`;
            still.add(key);
            if (told.has(key)) continue;
            this.#unhealthy.add({ category });
            yield { ...notice, source: 'instance-status', acknowledge: async () => {} };
          }
        }
        told = still;
        this.#isDenied = false;
      } catch (error) {
        if (signal.aborted) return;
        const isDenied = hasCode(error, 'CLOUD_DENIED');
        if (isDenied) periodMs = DENIED_PERIOD_MS;
        if (isDenied && !this.#isDenied)
          logger.warn('instance status cannot be read: allow ec2:DescribeInstanceStatus', { error });
        else if (!isDenied) logger.debug('instance status could not be read', { error: asError(error) });
        this.#isDenied = isDenied;
      }
      await clock.sleep(periodMs, signal).catch(() => {});
    }
  }
}
