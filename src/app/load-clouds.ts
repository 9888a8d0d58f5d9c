import type { LoadedCloud } from '../cloud/cloud-module.ts';
import { SpindriftError } from '../platform/errors.ts';
import { hint } from '../platform/nearest.ts';
import { CLOUD_MODULES } from './cloud-modules.ts';

/** Loads the clouds of these names; OPTION_INVALID for an unknown name, or when a cloud lacks a required option. */
export function loadClouds(
  names: readonly string[],
  values: Readonly<Record<string, unknown>>,
): Promise<readonly LoadedCloud[]> {
  const known = CLOUD_MODULES.map(({ name }) => name);
  const modules = [...new Set(names)].map((name) => {
    const module = CLOUD_MODULES.find((each) => each.name === name);
    if (module !== undefined) return module;
    const allowed = `one or several of ${known.join(', ')}, separated by commas${hint(name, known)}`;
    throw new SpindriftError('OPTION_INVALID', { option: '--cloud', value: name, allowed });
  });
  for (const { name, options, needs = [] } of modules) {
    const missing = needs.find((option) => values[option] === undefined);
    if (missing !== undefined) {
      const option = `--${options[missing]?.flag}`;
      throw new SpindriftError('OPTION_INVALID', { option, value: 'missing', allowed: `given with --cloud ${name}` });
    }
  }
  return Promise.all(modules.map((module) => module.load(values)));
}
