/** Deletes network interfaces of this cluster that no VM uses: failed creates leave them, and they cannot be deleted at once. */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { CloudController } from '../cloud.ts';
import type { AzureDriver } from './azure-driver.ts';

export interface InterfaceSweeperOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly interfaces: Pick<AzureDriver, 'unusedInterfaces' | 'deleteInterface'>;
}

const LOOK_EVERY_MS = 60_000;
/** An interface is made before its VM: one that has had no VM for this long gets none. */
const ALONE_MS = 180_000;

export class InterfaceSweeper implements CloudController {
  readonly name = 'azure.leftovers';
  readonly #options: InterfaceSweeperOptions;
  readonly #seen = new Map<string, number>();

  constructor(options: InterfaceSweeperOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    while (!signal.aborted) {
      await this.#look(signal).catch((error) => {
        if (!signal.aborted) logger.warn('cannot list network interfaces', { error });
      });
      await clock.sleep(LOOK_EVERY_MS, signal).catch(() => {});
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const { clock, interfaces, logger } = this.#options;
    const unused = await interfaces.unusedInterfaces(signal);
    for (const name of this.#seen.keys()) if (!unused.includes(name)) this.#seen.delete(name);
    for (const name of unused) {
      const since = this.#seen.get(name) ?? clock.elapsed();
      this.#seen.set(name, since);
      if (clock.elapsed() - since < ALONE_MS) continue;
      // A locked interface does not hold up the next one.
      await interfaces.deleteInterface(name, signal).catch((error) => {
        if (signal.aborted) throw error;
        logger.warn('cannot delete a network interface that no VM uses', { name, error });
      });
    }
  }
}
