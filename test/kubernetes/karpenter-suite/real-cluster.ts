/** A real control plane whose kubelets are kwok's, with the stages that Karpenter sets up for its own tests. */
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse, stringify } from 'yaml';
import type { Binaries } from '../harness/binaries.ts';
import { ControlPlane } from '../harness/control-plane.ts';
import type { Guard } from '../harness/guard.ts';
import type { KarpenterBinaries } from '../peers/karpenter.ts';
import type { StartCluster } from './ground.ts';

/** Starts control planes of these binaries. */
export function realCluster(binaries: Binaries, karpenter: KarpenterBinaries, guard: Guard): StartCluster {
  return async (directory) => {
    const kwokStages = suiteStages(binaries.kwokStages, karpenter.kwokStages, directory);
    const controlPlane = new ControlPlane({ binaries: { ...binaries, kwokStages }, directory, guard });
    await controlPlane.start();
    return { kubeconfig: controlPlane.kubeconfig, stop: () => controlPlane.stop() };
  };
}

interface Stage {
  readonly spec: { readonly selector: { readonly matchExpressions: readonly object[] } };
}

/** The files of both: a stage of Karpenter's takes the place of kwok's own of the same name. */
export function suiteStages(own: readonly string[], others: readonly string[], directory: string): string[] {
  const replaced = new Set(others.map((file) => basename(file)));
  const kept = own.filter((file) => !replaced.has(basename(file)));
  return [
    ...kept.map((file) => (basename(file) === 'node-initialize.yaml' ? onlyOnce(file, directory) : file)),
    ...others,
  ];
}

/** kwok makes every node ready again at once that is not; a sick kubelet does not, and repair could not be seen. */
function onlyOnce(file: string, directory: string): string {
  const stage = parse(readFileSync(file, 'utf8')) as Stage;
  const notYet = { key: '.status.phase', operator: 'NotIn', values: ['Running'] };
  const { selector } = stage.spec;
  const changed = {
    ...stage,
    spec: { ...stage.spec, selector: { ...selector, matchExpressions: [...selector.matchExpressions, notYet] } },
  };
  const written = join(directory, basename(file));
  writeFileSync(written, stringify(changed));
  return written;
}
