/**
 * Settings that change without a restart: a file, such as a mounted ConfigMap, is polled and wins over flags and variables.
 * A file with a mistake changes nothing, and the log says what is wrong.
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
  /** Without a file, the settings never change. */
  readonly file: string | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The values of flags and variables. */
  readonly start: LiveValues;
  /** Receives the new values whenever they change. */
  changed(values: LiveValues): void;
}

/** The kubelet takes about a minute to update a mounted ConfigMap; this adds little to it. */
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

  /** The current values. */
  get values(): LiveValues {
    return this.#values;
  }

  /** Polls the file until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, file } = this.#options;
    while (file !== undefined && !signal.aborted) {
      await this.look();
      await clock.sleep(PERIOD_MS, signal).catch(() => {});
    }
  }

  /** Reads the file once, and applies what has changed in it. */
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
      logger.warn('settings were not applied: the previous ones stay', { file, error: asError(error) });
    }
  }

  /** A missing file changes nothing; this is logged once. */
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

/** Parses a settings file; SETTINGS_INVALID names the key and the allowed values. */
export function parseSettings(text: string, file: string): Partial<LiveValues> {
  const refuse = (problem: string): SpindriftError => new SpindriftError('SETTINGS_INVALID', { file, problem });
  let content: unknown;
  try {
    content = parse(text) ?? {};
  } catch (error) {
    throw refuse(asError(error).message);
  }
  if (typeof content !== 'object' || content === null || Array.isArray(content))
    throw refuse('write one setting per line, as in log-level: debug');
  const table = Object.entries(LIVE_OPTIONS);
  const known = table.map(([, { flag }]) => flag);
  const values = Object.entries(content).map(([key, value]) => {
    const found = table.find(([, { flag }]) => flag === key);
    if (found === undefined)
      throw refuse(`${key} cannot be set here${hint(key, known)}; allowed are ${known.join(', ')}`);
    const [name, option] = found;
    const parsed = option.parse(String(value));
    if (parsed === undefined) throw refuse(`${key} is ${value}, but it must be ${option.allowed}`);
    return [name, parsed];
  });
  return Object.fromEntries(values) as Partial<LiveValues>;
}
