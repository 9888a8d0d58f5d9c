/**
 * Finds preempted spot machines by listing all spot machines of a region: one paged list per interval, for any number of nodes. Each page
 * is handled before the next is read, so that a failing page loses none of the others. A machine is reported again until it has been
 * handled, also by the next process.
 */
import type { Clock, EpochMs } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { NoticeSource } from '../../cloud.ts';
import type { ReceivedNotice } from '../../notice.ts';
import type { VpcClient } from '../api/vpc-client.ts';
import type { VpcInstance } from '../api/vpc-types.ts';
import { isPreempted } from '../launch/instance-state.ts';

export interface PreemptionSweepOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly regions: () => readonly VpcClient[];
  readonly isOurs: (instance: VpcInstance) => boolean;
  /** Called once the notice is recorded. */
  readonly dealtWith: (instance: VpcInstance, vpc: VpcClient, signal: AbortSignal) => Promise<void>;
  readonly everyMs: number;
  readonly pageSize?: number;
}

export class PreemptionSweep implements NoticeSource {
  readonly name = 'ibm.preemption';
  readonly warns = false;
  readonly #options: PreemptionSweepOptions;

  constructor(options: PreemptionSweepOptions) {
    this.#options = options;
  }

  async *receive(signal: AbortSignal): AsyncGenerator<ReceivedNotice> {
    const { clock, regions, everyMs } = this.#options;
    while (!signal.aborted) {
      const began = clock.elapsed();
      for (const vpc of regions()) yield* this.#sweep(vpc, began + everyMs, signal);
      await clock.sleep(Math.max(1000, began + everyMs - clock.elapsed()), signal).catch(() => {});
    }
  }

  async *#sweep(vpc: VpcClient, until: number, signal: AbortSignal): AsyncGenerator<ReceivedNotice> {
    const { clock, logger, isOurs, pageSize } = this.#options;
    let start: string | undefined;
    do {
      let page: { readonly instances: readonly VpcInstance[]; readonly next: string | undefined };
      try {
        page = await vpc.instancePage({ availabilityClass: 'spot' }, start, signal, pageSize);
      } catch (error) {
        if (signal.aborted) return;
        logger.warn('a page of spot machines could not be read: it is asked for again', { region: vpc.region, error });
        if (clock.elapsed() >= until) return;
        await clock.sleep(Math.min(5000, Math.max(1, until - clock.elapsed())), signal).catch(() => {});
        continue;
      }
      for (const instance of page.instances) {
        if (!isOurs(instance) || !isPreempted(instance)) continue;
        // Even if its claim is gone: then the machine is only deleted, so that its boot volume does not cost money for ever.
        yield this.#notice(instance, vpc);
      }
      start = page.next;
      if (page.next === undefined) return;
    } while (!signal.aborted);
  }

  #notice(instance: VpcInstance, vpc: VpcClient): ReceivedNotice {
    const { clock, dealtWith } = this.#options;
    return {
      kind: 'preempted',
      machine: instance.id,
      at: clock.now() as EpochMs,
      source: 'ibm-vpc',
      detail: `IBM Cloud preempted the spot machine ${instance.id} (${instance.profile.name} in ${instance.zone.name})`,
      acknowledge: (signal) => dealtWith(instance, vpc, signal),
    };
  }
}
