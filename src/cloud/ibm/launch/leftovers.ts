/** Deletes volumes and network interfaces that failed creates left behind. */
import type { Clock } from '../../../platform/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { CloudController } from '../../cloud.ts';
import type { VpcClient } from '../api/vpc-client.ts';
import { bootVolumeName, interfaceName, machineOfPart } from './machine-name.ts';

/** Deletes the remaining parts of a deleted machine, by its name. */
export async function removeLeftovers(vpc: VpcClient, name: string, signal: AbortSignal): Promise<number> {
  const volumes = (await vpc.volumesNamed(bootVolumeName(name), signal)).filter(isLoose);
  const interfaces = (await vpc.interfacesNamed(interfaceName(name), signal)).filter(
    ({ target }) => target === undefined,
  );
  for (const { id } of volumes) await vpc.deleteVolume(id, signal);
  for (const { id } of interfaces) await vpc.deleteInterface(id, signal);
  return volumes.length + interfaces.length;
}

function isLoose({ volume_attachments: attachments }: { readonly volume_attachments: readonly unknown[] }): boolean {
  return attachments.length === 0;
}

export interface LeftoverSweepOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly regions: () => readonly VpcClient[];
  readonly isOurs: (machine: { readonly name: string }) => boolean;
  readonly everyMs?: number;
}

const EVERY_MS = 10 * 60_000;

/** Periodically looks for unattached parts of this cluster's machines. A part that is unattached in two checks is deleted. */
export class LeftoverSweep implements CloudController {
  readonly name = 'ibm.leftovers';
  readonly #options: LeftoverSweepOptions;
  #seen = new Set<string>();

  constructor(options: LeftoverSweepOptions) {
    this.#options = options;
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger, everyMs = EVERY_MS } = this.#options;
    while (!signal.aborted) {
      await this.sweep(signal).catch((error: unknown) => {
        if (!signal.aborted) logger.warn('leftovers could not be swept', { error });
      });
      await clock.sleep(everyMs, signal).catch(() => {});
    }
  }

  /**
   * One check; returns the number of deleted parts. A part is spared once, because a new machine's parts exist before they are attached.
   */
  async sweep(signal: AbortSignal): Promise<number> {
    const { regions, isOurs, logger } = this.#options;
    const loose = new Set<string>();
    let deleted = 0;
    for (const vpc of regions()) {
      const ours = ({ name }: { readonly name: string }): boolean => isOurs({ name: machineOfPart(name) ?? '' });
      const volumes = (await vpc.volumesNamed(undefined, signal)).filter((one) => ours(one) && isLoose(one));
      const interfaces = (await vpc.interfacesNamed(undefined, signal)).filter(
        (one) => ours(one) && one.target === undefined,
      );
      for (const { id, name } of [...volumes, ...interfaces]) {
        loose.add(id);
        if (!this.#seen.has(id)) continue;
        logger.info('deleting what a machine left behind', { part: name, id });
        if (volumes.some((one) => one.id === id)) await vpc.deleteVolume(id, signal);
        else await vpc.deleteInterface(id, signal);
        deleted++;
      }
    }
    this.#seen = loose;
    return deleted;
  }
}
