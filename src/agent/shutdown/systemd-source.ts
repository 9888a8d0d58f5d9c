/** Learns from systemd-logind that the machine is about to shut down: the only notice in clouds without their own. */
import type { Clock, EpochMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { NodeWarning, WarningSource } from '../node-warning.ts';
import { Trouble } from '../trouble.ts';
import { subscribe } from './d-bus.ts';

export interface SystemdSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The socket of the host's system bus. */
  readonly socket: string;
  /** The time until a shutdown is forced: clouds give a guest about 30 s. */
  readonly noticeMs: number;
}

const RULE = "type='signal',interface='org.freedesktop.login1.Manager',member='PrepareForShutdown'";
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

export class SystemdSource implements WarningSource {
  readonly name = 'systemd';
  readonly #options: SystemdSourceOptions;

  constructor(options: SystemdSourceOptions) {
    this.#options = options;
  }

  async run(report: (warnings: readonly NodeWarning[]) => void, signal: AbortSignal): Promise<void> {
    const { clock, logger, noticeMs, socket } = this.#options;
    const trouble = new Trouble(logger.with({ source: this.name, socket }));
    let waitMs = FIRST_WAIT_MS;
    while (!signal.aborted) {
      const openedAt = clock.elapsed();
      try {
        await subscribe(
          socket,
          RULE,
          ({ interface: name, member, body, littleEndian }) => {
            trouble.end();
            if (name !== 'org.freedesktop.login1.Manager' || member !== 'PrepareForShutdown' || body.length < 4) return;
            const isComing = (littleEndian ? body.readUInt32LE(0) : body.readUInt32BE(0)) === 1;
            const at = clock.now();
            const deadline = (at + noticeMs) as EpochMs;
            report(isComing ? [{ kind: 'stopping', at, deadline, detail: 'The machine is shutting down' }] : []);
          },
          signal,
        );
        if (!signal.aborted) trouble.begin('the system bus closed the connection');
      } catch (error) {
        if (signal.aborted) return;
        trouble.begin(error instanceof Error ? error.message : String(error));
      }
      waitMs = clock.elapsed() - openedAt > LONGEST_WAIT_MS ? FIRST_WAIT_MS : Math.min(LONGEST_WAIT_MS, waitMs * 2);
      await clock.sleep(waitMs, signal).catch(() => {});
    }
  }
}
