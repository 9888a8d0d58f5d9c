/** Where the names of GPUs come from: those that are known, with those of a ConfigMap; or none, where the aliases are switched off. */
import { CONFIG_MAPS, type ConfigMap } from '../apis/kubernetes/core.ts';
import type { KubeClient } from '../kube/client.ts';
import { Informer } from '../kube/informer.ts';
import type { Clock } from '../platform/clock.ts';
import { type Logger, SILENT_LOGGER } from '../platform/logger.ts';
import type { Random } from '../platform/random.ts';
import { GpuNames, type GpuTable, KNOWN_GPUS } from './gpu-names.ts';

/** `known`, `off`, or `NAMESPACE/NAME` of a ConfigMap that adds to what is known. */
export type GpuNamesSetting = 'known' | 'off' | `${string}/${string}`;

/** The setting of a text; undefined where it is none. */
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

  /** The names as they are now; undefined where selectors mean just what they say. */
  get names(): GpuNames | undefined {
    return this.#names;
  }

  /** Runs until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#informer?.run(signal);
  }

  #read({ data = {} }: Pick<ConfigMap, 'data'>): void {
    const { table, problems } = readGpuNames(Object.values(data).join('\n'));
    for (const problem of problems)
      this.#logger.warn('a line of the ConfigMap of GPU names was passed over', { problem });
    this.#names = new GpuNames(table);
  }
}

/** What is known, with lines such as `example.com/gpu=tesla-t4: t4-16`; a line for a label that is known replaces what it means. */
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
