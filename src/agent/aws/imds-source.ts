/** Polls the metadata service of an EC2 instance as often as EC2's documentation says. */
import type { Clock, EpochMs } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { type AskMetadata, UNREADABLE } from '../metadata/ask-metadata.ts';
import type { NodeWarning, WarningSource } from '../node-warning.ts';
import { Trouble } from '../trouble.ts';
import { Imds } from './imds.ts';
import { parseInstanceAction, parseMaintenance, parseRebalance, parseTargetState } from './parse-imds.ts';

export interface ImdsSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ask: AskMetadata;
}

/** The interval that EC2 recommends for spot notices. */
const PERIOD_MS = 5000;
/** Maintenance is announced days ahead, so that every twelfth poll is enough. */
const MAINTENANCE_EVERY = 12;
/** Between an Auto Scaling group's decision and the end: two minutes, unless a lifecycle hook gives more. */
const TARGET_STATE_NOTICE_MS = 120_000;

const PATHS = [
  'spot/instance-action',
  'events/recommendations/rebalance',
  'autoscaling/target-lifecycle-state',
] as const;
const MAINTENANCE = 'events/maintenance/scheduled';

export class ImdsSource implements WarningSource {
  readonly name = 'imds';
  readonly #options: ImdsSourceOptions;

  constructor(options: ImdsSourceOptions) {
    this.#options = options;
  }

  async run(report: (warnings: readonly NodeWarning[]) => void, signal: AbortSignal): Promise<void> {
    const { clock, logger, ask } = this.#options;
    const imds = new Imds(ask, clock);
    const trouble = new Trouble(logger.with({ source: this.name }));
    /** By path. EC2 can withdraw scheduled events, but never a spot interruption. */
    const known = new Map<string, readonly NodeWarning[]>();
    for (let round = 0; !signal.aborted; round++) {
      const startedAt = clock.elapsed();
      const paths = round % MAINTENANCE_EVERY === 0 ? [...PATHS, MAINTENANCE] : PATHS;
      let problem: string | undefined;
      let changed = false;
      for (const path of paths) {
        const answer = await imds.read(path, signal).catch(() => undefined);
        if (answer === undefined) return;
        const heard = answer.kind === 'value' ? meaning(path, answer.body, clock.now()) : undefined;
        if (answer.kind === 'trouble') problem = `${path}: ${answer.problem}`;
        else if (heard === UNREADABLE) problem = `${path}: the answer is invalid`;
        else if (path === MAINTENANCE ? true : !known.has(path) && heard !== undefined && heard.length > 0) {
          const before = known.get(path)?.map(identity).join() ?? '';
          const news = heard ?? [];
          if (news.map(identity).join() === before) continue;
          known.set(path, news);
          changed = true;
        }
      }
      if (problem === undefined) trouble.end();
      else trouble.begin(problem);
      if (changed) report([...known.values()].flat());
      await clock.sleep(Math.max(0, startedAt + PERIOD_MS - clock.elapsed()), signal).catch(() => {});
    }
  }
}

function identity({ kind, deadline, detail }: NodeWarning): string {
  return `${kind} ${deadline} ${detail}`;
}

function meaning(path: string, body: string, now: EpochMs): readonly NodeWarning[] | typeof UNREADABLE {
  switch (path) {
    case 'spot/instance-action':
      return listed(parseInstanceAction(body, now));
    case 'events/recommendations/rebalance':
      return listed(parseRebalance(body, now));
    case 'autoscaling/target-lifecycle-state':
      return listed(parseTargetState(body, now, TARGET_STATE_NOTICE_MS));
    default:
      return parseMaintenance(body, now);
  }
}

function listed(warning: NodeWarning | typeof UNREADABLE | undefined): readonly NodeWarning[] | typeof UNREADABLE {
  return warning === undefined ? [] : warning === UNREADABLE ? UNREADABLE : [warning];
}
