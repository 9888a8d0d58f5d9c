/** Deletes disks and interfaces left behind by a failed or killed launch: old parts whose machine does not exist. */
import type { Clock } from '../../../platform/clock.ts';
import { asError } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { CloudController } from '../../cloud.ts';
import type { SimulatedCloud } from '../simulated-cloud.ts';

export interface PartSweeperOptions {
  readonly cloud: SimulatedCloud;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PERIOD_MS = 60_000;
/** No launch takes longer. */
const YOUNG_MS = 120_000;

export class PartSweeper implements CloudController {
  readonly name = 'simulated.parts';
  readonly #options: PartSweeperOptions;

  constructor(options: PartSweeperOptions) {
    this.#options = options;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, cloud, logger } = this.#options;
    while (!signal.aborted) {
      await clock.sleep(PERIOD_MS, signal).catch(() => {});
      const accounts = cloud.accounts.filter((name) => cloud.account(name)?.settings.dialect === 'leftovers');
      for (const account of accounts) {
        if (signal.aborted) return;
        await this.#sweep(account, signal).catch((error: unknown) => {
          if (!signal.aborted) logger.warn('parts cannot be swept', { account, error: asError(error) });
        });
      }
    }
  }

  async #sweep(account: string, signal: AbortSignal): Promise<void> {
    const { clock, cloud } = this.#options;
    // Parts are listed first: a machine created meanwhile has parts that are not on this list.
    const parts = await cloud.launchApi.parts(account, signal);
    const names = new Set([...cloud.fleet.list()].flatMap((each) => (each.account === account ? [each.name] : [])));
    for (const { id, machine, madeAt } of parts) {
      if (names.has(machine) || clock.now() - madeAt < YOUNG_MS) continue;
      await cloud.launchApi.deletePart(account, id, signal);
    }
  }
}
