/**
 * Polls the Scheduled Events of an Azure VM once a second, as its documentation recommends. It never approves an event, which
 * would start it at once for every VM in it.
 */
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import { parseObject, textOf } from '../../platform/untrusted-json.ts';
import { type AskMetadata, UNREADABLE } from '../metadata/ask-metadata.ts';
import type { NodeWarning, WarningSource } from '../node-warning.ts';
import { Trouble } from '../trouble.ts';
import { parseScheduledEvents } from './parse-scheduled-events.ts';

export interface ScheduledEventsSourceOptions {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly ask: AskMetadata;
  /** Another name of this VM in events, beside its name in the metadata service; see {@link vmNameOf}. */
  readonly names?: () => readonly string[];
}

const PERIOD_MS = 1000;
const TIMEOUT_MS = 5000;
/** The first request enables the service for the VM, which can take two minutes. */
const FIRST_TIMEOUT_MS = 150_000;
const LONGEST_WAIT_MS = 15_000;
const HEADERS = { Metadata: 'true' };
const EVENTS = '/metadata/scheduledevents?api-version=2020-07-01';
const COMPUTE = '/metadata/instance/compute?api-version=2021-02-01&format=json';

export class ScheduledEventsSource implements WarningSource {
  readonly name = 'azure-scheduled-events';
  readonly #options: ScheduledEventsSourceOptions;
  #ownName: string | undefined;

  constructor(options: ScheduledEventsSourceOptions) {
    this.#options = options;
  }

  async run(report: (warnings: readonly NodeWarning[]) => void, signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const trouble = new Trouble(logger.with({ source: this.name }));
    let timeoutMs = FIRST_TIMEOUT_MS;
    let waitMs = PERIOD_MS;
    let told = '';
    while (!signal.aborted) {
      try {
        this.#ownName ??= await this.#readName(signal);
        const names = [this.#ownName, ...(this.#options.names?.() ?? [])];
        const body = await this.#read(EVENTS, timeoutMs, signal);
        const events = parseScheduledEvents(body, names, clock.now());
        timeoutMs = TIMEOUT_MS;
        if (events === UNREADABLE) throw new Error(`the answer is invalid: ${body.slice(0, 40)}`);
        trouble.end();
        waitMs = PERIOD_MS;
        if (events === undefined) continue;
        const said = events.warnings.map(({ kind, detail }) => `${kind} ${detail}`).join();
        const news = said === '' ? '' : `${events.incarnation} ${said}`;
        if (news === told) continue;
        told = news;
        report(events.warnings);
      } catch (error) {
        if (signal.aborted) return;
        trouble.begin(error instanceof Error ? error.message : String(error));
        waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
      } finally {
        await clock.sleep(waitMs, signal).catch(() => {});
      }
    }
  }

  async #readName(signal: AbortSignal): Promise<string> {
    const name = textOf(parseObject(await this.#read(COMPUTE, TIMEOUT_MS, signal)), 'name') ?? '';
    if (!/^[\w.-]{1,100}$/.test(name)) throw new Error('the metadata service returns no valid VM name');
    return name;
  }

  async #read(path: string, timeoutMs: number, signal: AbortSignal): Promise<string> {
    const answer = await this.#options.ask({ method: 'GET', path, headers: HEADERS, timeoutMs, signal });
    if (answer.status !== 200) throw new Error(`answered with ${answer.status}`);
    return answer.body;
  }
}

/** The name in Scheduled Events of the VM with this provider ID: scale set and instance, or the VM's own name. */
export function vmNameOf(providerID: string): string | undefined {
  const [, set, instance] = /\/virtualMachineScaleSets\/([^/]+)\/virtualMachines\/([^/]+)$/i.exec(providerID) ?? [];
  if (set !== undefined && instance !== undefined) return `${set}_${instance}`;
  return /^azure:.*\/virtualMachines\/([^/]+)$/i.exec(providerID)?.[1];
}
