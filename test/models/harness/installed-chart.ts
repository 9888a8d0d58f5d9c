import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { CHART } from '../../chart/chart-files.ts';
import { helm, NEEDED } from '../../chart/rendered-chart.ts';
import { Kubectl } from '../../kubernetes/harness/kubectl.ts';
import { findHelm } from '../../peers/helm.ts';

export interface InstalledChartOptions {
  readonly kubectl: string;
  /** An administrator's. */
  readonly kubeconfig: string;
  readonly directory: string;
}

const NAMESPACE = 'autoscaling';

/**
 * Installs the chart, and gives a kubeconfig with the rights of its service account and no others; that of the administrator where
 * there is no Helm. The Deployment has no replicas: a process of the test stands for its pods.
 */
export async function installChart({ kubectl: binary, kubeconfig, directory }: InstalledChartOptions): Promise<string> {
  if (findHelm() === undefined) return kubeconfig;
  const kubectl = new Kubectl(binary, kubeconfig);
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  const values = [...NEEDED, 'clouds={simulated}', 'replicas=0', 'settings.readyReplicas=true'].flatMap((value) => [
    '--set',
    value,
  ]);
  const place = ['--namespace', NAMESPACE, '--kubeconfig', kubeconfig];
  const { code, err } = helm('install', 'spindrift', CHART, ...place, ...values);
  if (code !== 0) throw new Error(err);
  const token = (await kubectl.run(['create', 'token', 'spindrift', `--namespace=${NAMESPACE}`])).trim();
  const own = parse(readFileSync(kubeconfig, 'utf8')) as { users: { user: object }[] };
  for (const each of own.users) each.user = { token };
  const file = join(directory, 'chart.kubeconfig');
  writeFileSync(file, stringify(own), { mode: 0o600 });
  return file;
}
