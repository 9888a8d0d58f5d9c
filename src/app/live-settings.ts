/**
 * Settings that change without a restart: a file, such as a ConfigMap that is mounted, is read again and again, and what it
 * says wins over flags and variables. A file with a mistake changes nothing, and the log says what is wrong.
 */
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Clock } from '../platform/clock.ts';
import { asError, SpindriftError } from '../platform/errors.ts';
import type { Logger } from '../platform/logger.ts';
import { hint } from '../platform/nearest.ts';
import type { OptionValues } from '../platform/options.ts';
import { LIVE_OPTIONS } from './live-options.ts';

export type LiveValues = OptionValues<typeof LIVE_OPTIONS>;

export interface LiveSettingsOptions {
  /** Nothing changes without one. */
  readonly file: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** What flags and variables say. */
  readonly start: LiveValues;
  /** Hears what holds now, whenever it changes. */
  changed(values: LiveValues): void;
}

/** The kubelet brings a changed ConfigMap into a pod within a minute or so; this adds little to it. */
const PERIOD_MS = 5000;

export class LiveSettings {
  readonly #options: LiveSettingsOptions;
  #values: LiveValues;
  #text: string | undefined;
  #isMissing = false;

  constructor(options: LiveSettingsOptions) {
    this.#options = options;
    this.#values = options.start;
  }

  /** What holds now. */
  get values(): LiveValues {
    return this.#values;
  }

  /** Looks at the file until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, file } = this.#options;
    while (file !== undefined && !signal.aborted) {
      await this.look();
      await clock.sleep(PERIOD_MS, signal).catch(() => {});
    }
  }

  /** Reads the file once, and takes over what has changed in it. */
  async look(): Promise<void> {
    const { file, logger, start, changed } = this.#options;
    if (file === undefined) return;
    const text = await this.#read(file);
    if (text === undefined || text === this.#text) return;
    this.#text = text;
    try {
      const values = { ...start, ...parseSettings(text, file) };
      if (JSON.stringify(values) === JSON.stringify(this.#values)) return;
      this.#values = values;
      changed(values);
      logger.info('settings were applied', { file, ...values });
    } catch (error) {
      logger.warn('settings were not applied: the former ones hold', { file, error: asError(error) });
    }
  }

  /** A file that is not there (yet) changes nothing; that is said once. */
  async #read(file: string): Promise<string | undefined> {
    const { logger } = this.#options;
    try {
      const text = await readFile(file, 'utf8');
      this.#isMissing = false;
      return text;
    } catch (error) {
      if (!this.#isMissing) logger.info('settings file cannot be read', { file, problem: asError(error).message });
      this.#isMissing = true;
      return undefined;
    }
  }
}

/** What a settings file says; SETTINGS_INVALID with the key and what is allowed. */
export function parseSettings(text: string, file: string): Partial<LiveValues> {
  const refuse = (problem: string): SpindriftError => new SpindriftError('SETTINGS_INVALID', { file, problem });
  let content: unknown;
  try {
    content = parse(text) ?? {};
  } catch (error) {
    throw refuse(asError(error).message);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw refuse('write one setting a line, as in log-level: debug');
  const table = Object.entries(LIVE_OPTIONS);
  const known = table.map(([, { flag }]) => flag);
  const values = Object.entries(content).map(([key, value]) => {
    const found = table.find(([, { flag }]) => flag === key);
    if (found === undefined)
      throw refuse(`${key} cannot be set here${hint(key, known)}; what can is ${known.join(', ')}`);
    const [name, option] = found;
    const parsed = option.parse(String(value));
    if (parsed === undefined) throw refuse(`${key} is ${value}, but it must be ${option.allowed}`);
    return [name, parsed];
  });
  return Object.fromEntries(values) as Partial<LiveValues>;
}
