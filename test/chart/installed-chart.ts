/** Installs the chart in a real cluster without its pods: a process beside the cluster replaces them, with the same account. */
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parse, stringify } from 'yaml';
import { type Use, usesIn } from '../kubernetes/harness/audit-log.ts';
import type { Kubectl } from '../kubernetes/harness/kubectl.ts';
import { CHART } from './chart-files.ts';
import { helm, NEEDED, type Rendered, rendered } from './rendered-chart.ts';
import { type Right, rightsOf, rightText } from './rights.ts';

const NAMESPACE = 'autoscaling';
/** The service account of the agent. */
export const AGENT = 'spindrift-agent';

export interface ClusterWithChart {
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  readonly auditLog: string;
}

export interface InstalledChart {
  /** For the service account. */
  readonly kubeconfig: string;
  readonly objects: readonly Rendered[];
  /** Helm's output. */
  readonly notes: string;
  readonly rights: readonly Right[];
  /** The rights that the chart grants because of a cloud. */
  readonly cloudRights: readonly Right[];
  /** All requests of the account so far. */
  uses(account?: string): readonly Use[];
  /** A kubeconfig of the agent on a node. */
  agentKubeconfig(node: string): Promise<string>;
}

/** Installs the chart with these values, and returns what a process needs to act as the service account of its pods. */
export async function installChart(cluster: ClusterWithChart, ...values: string[]): Promise<InstalledChart> {
  const { kubeconfig, kubectl, auditLog } = cluster;
  await kubectl.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  const sets = [...NEEDED, ...values, 'replicas=0'].flatMap((value) => ['--set', value]);
  const where = ['--namespace', NAMESPACE, '--kubeconfig', kubeconfig];
  const { code, out, err } = helm('upgrade', '--install', 'spindrift', CHART, ...where, ...sets);
  if (code !== 0) throw new Error(err);
  const objects = rendered(...values);
  const account = { name: 'spindrift', namespace: NAMESPACE };
  const rights = rightsOf(objects, account);
  const usual = new Set(
    rightsOf(rendered('clouds={simulated}', 'settings.installDefinitions=true'), account).map(rightText),
  );
  return {
    kubeconfig: await kubeconfigOf(cluster, account.name),
    agentKubeconfig: (node) => kubeconfigOf(cluster, AGENT, '--bound-object-kind=Node', `--bound-object-name=${node}`),
    objects,
    notes: out,
    rights,
    cloudRights: rights.filter((right) => !usual.has(rightText(right))),
    uses: (name = account.name) => usesIn(auditLog, `system:serviceaccount:${NAMESPACE}:${name}`),
  };
}

async function kubeconfigOf(
  { kubeconfig, kubectl }: ClusterWithChart,
  account: string,
  ...bound: readonly string[]
): Promise<string> {
  const token = (await kubectl.run(['create', 'token', account, `--namespace=${NAMESPACE}`, ...bound])).trim();
  const config = parse(readFileSync(kubeconfig, 'utf8')) as { users: { user: object }[] };
  for (const each of config.users) each.user = { token };
  const file = join(dirname(kubeconfig), `${account}.kubeconfig`);
  writeFileSync(file, stringify(config), { mode: 0o600 });
  return file;
}
