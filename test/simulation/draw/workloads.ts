/** The workloads of a simulated cluster: many kinds of Deployments with PodDisruptionBudgets, DaemonSets, Jobs. */
import {
  ANNOTATION_DO_NOT_DISRUPT,
  LABEL_CAPACITY_TYPE,
  LABEL_HOSTNAME,
  LABEL_ZONE,
} from '../../../src/apis/karpenter/labels.ts';
import type { PodSpec } from '../../../src/apis/kubernetes/pod.ts';
import type { PodDisruptionBudget } from '../../../src/apis/kubernetes/pod-disruption-budget.ts';
import type { DaemonSet, Deployment, Job } from '../../../src/apis/kubernetes/workloads.ts';
import { aDaemonSet, aDeployment, aJob, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import type { Random } from '../../../src/platform/random.ts';
import { chance, maybe } from './chance.ts';
import { TEAM_TAINT } from './pools.ts';

export interface Workload {
  readonly deployment: Deployment;
  readonly budget?: PodDisruptionBudget;
}

const CPU = ['200m', '500m', '900m', '1500m', '3'];
const MEMORY = ['256Mi', '1Gi', '3Gi', '6Gi'];

export function drawWorkload(random: Random, name: string, pools: readonly string[]): Workload {
  const replicas = random.below(9);
  const annotations = {
    ...drawScript(random),
    ...maybe(random, 0.1, () => ({ [ANNOTATION_DO_NOT_DISRUPT]: random.pick(['true', '20m']) })),
  };
  const spec = { ...drawPodSpec(random, name, pools), terminationGracePeriodSeconds: random.pick([5, 20, 30, 60]) };
  const template = aTemplate(name, 'app:1', spec, annotations);
  const deployment = aDeployment(name, { replicas, template });
  return chance(random, 0.5) ? { deployment, budget: drawBudget(random, name) } : { deployment };
}

function drawPodSpec(random: Random, name: string, pools: readonly string[]): Partial<PodSpec> {
  const labelSelector = { matchLabels: { app: name } };
  const apart = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: LABEL_HOSTNAME, labelSelector }] };
  const spread = {
    maxSkew: 1 + random.below(2),
    topologyKey: LABEL_ZONE,
    whenUnsatisfiable: random.pick(['DoNotSchedule', 'DoNotSchedule', 'ScheduleAnyway'] as const),
    labelSelector,
  };
  const together = { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: LABEL_ZONE, labelSelector }] };
  // Pods that spread over zones require no pool. So all of them can be placed, which the invariants rely on.
  const spreads = chance(random, 0.25);
  const where = random.pick([
    ...(spreads ? [] : pools.map((pool) => ({ pool }))),
    { [LABEL_CAPACITY_TYPE]: 'on-demand' },
  ]);
  return {
    containers: [container(random)],
    ...maybe(random, 0.3, () => ({ nodeSelector: where })),
    ...maybe(random, 0.35, () => ({ tolerations: [{ ...TEAM_TAINT, operator: 'Equal' as const }] })),
    ...maybe(random, 0.1, () => ({ priorityClassName: 'system-cluster-critical' })),
    ...(spreads
      ? { topologySpreadConstraints: [spread] }
      : maybe(random, 0.35, () => ({
          affinity: random.pick([{ podAntiAffinity: apart }, { podAntiAffinity: apart }, { podAffinity: together }]),
        }))),
  };
}

export function container(random: Random) {
  const requests = { cpu: random.pick(CPU), memory: random.pick(MEMORY) };
  const ports = [{ containerPort: 80, hostPort: 8080 }];
  return { name: 'main', image: 'app:1', resources: { requests }, ...maybe(random, 0.08, () => ({ ports })) };
}

export function drawScript(random: Random): Record<string, string> {
  return {
    'spindrift.dev/start-after': random.pick(['0s', '1s', '5s']),
    'spindrift.dev/ready-after': random.pick(['0s', '2s', '15s']),
    'spindrift.dev/stop-after': random.pick(['0s', '2s', '20s', '1m']),
  };
}

export function drawBudget(random: Random, app: string): PodDisruptionBudget {
  const limit = random.pick([
    { maxUnavailable: 1 },
    { maxUnavailable: 1 },
    { maxUnavailable: '50%' },
    { minAvailable: 1 },
    { minAvailable: '70%' },
    { minAvailable: '100%' },
    { maxUnavailable: 1, unhealthyPodEvictionPolicy: 'AlwaysAllow' as const },
  ]);
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: app, namespace: 'default' },
    spec: { selector: { matchLabels: { app } }, ...limit },
  };
}

export function drawDaemons(random: Random): readonly DaemonSet[] {
  return Array.from({ length: random.pick([0, 1, 1, 2]) }, (_, index) => {
    const name = `daemon-${index}`;
    const resources = { requests: { cpu: random.pick(['50m', '150m']), memory: '64Mi' } };
    const spec = {
      containers: [{ name: 'main', image: 'app:1', resources }],
      tolerations: [{ operator: 'Exists' as const }],
    };
    return aDaemonSet(name, { template: aTemplate(name, 'app:1', spec) });
  });
}

export function drawJob(random: Random, name: string): Job {
  const pods = 1 + random.below(6);
  const job = aJob(name, ['sleep', String(30 + random.below(1800))], { parallelism: pods, completions: pods });
  const { spec } = job.spec.template;
  const resources = { requests: { cpu: random.pick(CPU), memory: random.pick(MEMORY) } };
  const annotations = maybe(random, 0.3, () => ({ [ANNOTATION_DO_NOT_DISRUPT]: 'true' }));
  const template = {
    metadata: { labels: { app: name }, annotations },
    spec: { ...spec, containers: spec.containers.map((each) => ({ ...each, resources })) },
  };
  return { ...job, spec: { ...job.spec, backoffLimit: 50, ttlSecondsAfterFinished: 60, template } };
}
