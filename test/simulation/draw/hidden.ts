/** Conditions that no plan knows: nodes with less room than expected, and pods that never become ready. */
import type { LimitRange } from '../../../src/apis/kubernetes/limit-range.ts';
import type { ResourceList } from '../../../src/apis/kubernetes/pod.ts';
import type { DaemonSet, Deployment, Job } from '../../../src/apis/kubernetes/workloads.ts';
import { aDaemonSet, aDeployment, aJob, aTemplate } from '../../../src/embedded/testkit/workloads.ts';
import type { Random } from '../../../src/platform/random.ts';
import { chance, maybe } from './chance.ts';

/** Absent fields mean normal conditions. */
export interface Hidden {
  /** A daemon whose template has no requests, and the LimitRange that sets them. */
  readonly heavyDaemon?: { readonly requests: ResourceList; readonly set: DaemonSet; readonly range: LimitRange };
  /** Requests of a pod on every node that no DaemonSet creates. */
  readonly staticPod?: ResourceList;
  /** The share of its type's resources that a node lacks. */
  readonly missingCapacity?: number;
  /** Pods that are bound but never start. */
  readonly stillborn?: Deployment;
  /** Pods that fail as soon as they run. */
  readonly crashing?: Job;
}

/** Half of all lives have none of these. */
export function drawHidden(random: Random): Hidden {
  if (chance(random, 0.5)) return {};
  return {
    ...maybe(random, 0.4, () => ({ heavyDaemon: drawHeavyDaemon(random) })),
    ...maybe(random, 0.4, () => ({ staticPod: { cpu: random.pick(['100m', '300m', '700m']), memory: '128Mi' } })),
    ...maybe(random, 0.4, () => ({ missingCapacity: random.pick([0.02, 0.1, 0.25]) })),
    ...maybe(random, 0.4, () => ({ stillborn: drawStillborn(random) })),
    ...maybe(random, 0.4, () => ({ crashing: drawCrashing(random) })),
  };
}

function drawHeavyDaemon(random: Random): Hidden['heavyDaemon'] & object {
  const requests = { cpu: random.pick(['250m', '800m']), memory: '256Mi' };
  const spec = { containers: [{ name: 'main', image: 'app:1' }], tolerations: [{ operator: 'Exists' as const }] };
  const set = aDaemonSet('heavy', { template: aTemplate('heavy', 'app:1', spec) });
  const metadata = { name: 'defaults', namespace: 'default' };
  const limits = [{ type: 'Container' as const, defaultRequest: requests }];
  return { requests, set, range: { apiVersion: 'v1', kind: 'LimitRange', metadata, spec: { limits } } };
}

function drawStillborn(random: Random): Deployment {
  const template = aTemplate('stillborn', 'app:1', asking(random), { 'spindrift.dev/start-after': '1000h' });
  return aDeployment('stillborn', { replicas: 1 + random.below(3), template });
}

function drawCrashing(random: Random): Job {
  const job = aJob('crashing', ['sh', '-c', 'exit 1'], { backoffLimit: 6 });
  const { spec } = job.spec.template;
  const template = { metadata: { labels: { app: 'crashing' } }, spec: { ...spec, ...asking(random) } };
  return { ...job, spec: { ...job.spec, ttlSecondsAfterFinished: 60, template } };
}

function asking(random: Random) {
  const requests = { cpu: random.pick(['500m', '1500m', '3']), memory: '1Gi' };
  return { containers: [{ name: 'main', image: 'app:1', command: ['sh', '-c', 'exit 1'], resources: { requests } }] };
}
