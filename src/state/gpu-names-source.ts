/** The source of GPU names: the built-in ones, optionally with those of a ConfigMap, or none if aliases are off. */
import { CONFIG_MAPS, type ConfigMap } from '../apis/kubernetes/core.ts';
import type { KubeClient } from '../kube/client.ts';
import { Informer } from '../kube/informer.ts';
import type { Clock } from '../platform/clock.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { GpuNames, type GpuTable, KNOWN_GPUS } from './gpu-names.ts';

/** `known`, `off`, or `NAMESPACE/NAME` of a ConfigMap that adds to the built-in names. */
export type GpuNamesSetting = 'known' | 'off' | `${string}/${string}`;

/** Parses the setting; undefined if it is invalid. */
export function parseGpuNamesSetting(text: string): GpuNamesSetting | undefined {
  if (text === 'known' || text === 'off') return text;
  return /^[a-z0-9-]+\/[a-z0-9.-]+$/.test(text) ? (text as GpuNamesSetting) : undefined;
}

export interface GpuNamesSourceOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger?: Logger;
  readonly setting?: GpuNamesSetting;
}

export class GpuNamesSource {
  readonly #informer: Informer<ConfigMap> | undefined;
  readonly #logger: Logger;
  #names: GpuNames | undefined;

  constructor({ setting = 'known', ...shared }: GpuNamesSourceOptions) {
    this.#logger = shared.logger ?? SILENT_LOGGER;
    this.#names = setting === 'off' ? undefined : new GpuNames();
    const [namespace, name] = setting.split('/');
    if (namespace === undefined || name === undefined) return;
    const selection = { namespace, fieldSelector: `metadata.name=${name}` };
    this.#informer = new Informer({ ...shared, kind: CONFIG_MAPS, selection });
    const read = (map: ConfigMap): void => this.#read(map);
    this.#informer.addHandler({ added: read, updated: read, deleted: () => this.#read({}) });
  }

  /** The present names; undefined if aliases are off, so that a selector matches only the label it names. */
  get names(): GpuNames | undefined {
    return this.#names;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#informer?.run(signal);
  }

  #read({ data = {} }: Pick<ConfigMap, 'data'>): void {
    const { table, problems } = readGpuNames(Object.values(data).join('\n'));
    for (const problem of problems) this.#logger.warn('ignored a line of the GPU names ConfigMap', { problem });
    this.#names = new GpuNames(table);
  }
}

/** The built-in names with lines such as `example.com/gpu=tesla-t4: t4-16`. A line for a built-in label value replaces its meaning. */
export function readGpuNames(text: string): { readonly table: GpuTable; readonly problems: readonly string[] } {
  const table: Record<string, Record<string, readonly string[]>> = {};
  for (const [key, values] of Object.entries(KNOWN_GPUS)) table[key] = { ...values };
  const problems: string[] = [];
  for (const line of text.split('\n').map((one) => one.trim())) {
    if (line === '' || line.startsWith('#')) continue;
    const [, key, value, gpus] = /^([^=\s]+)=([^:\s]+)\s*:\s*(.+)$/.exec(line) ?? [];
    if (key === undefined || value === undefined || gpus === undefined) {
      problems.push(`${JSON.stringify(line)} is not like example.com/gpu=tesla-t4: t4-16`);
      continue;
    }
    table[key] = { ...table[key], [value]: gpus.split(',').map((gpu) => gpu.trim()) };
  }
  return { table, problems };
}
