/** Workloads for the tests of the controllers. */

import type { PodSpec } from '../../apis/kubernetes/pod.ts';
import type { DaemonSet, Deployment, Job, StatefulSet } from '../../apis/kubernetes/workloads.ts';

type Spec<T extends { readonly spec: object }> = Partial<T['spec']>;

const metadata = (name: string) => ({ name, namespace: 'default' });
const template = (
  name: string,
  image: string,
  spec: Partial<PodSpec> = {},
  annotations: Record<string, string> = {},
) => ({
  metadata: { labels: { app: name }, annotations },
  spec: { containers: [{ name: 'main', image }], ...spec },
});

/** A pod template of an app. */
export const aTemplate = template;

export function aDeployment(name: string, spec: Spec<Deployment> = {}): Deployment {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metadata(name),
    spec: { selector: { matchLabels: { app: name } }, template: template(name, 'app:1'), ...spec },
  };
}

export function aStatefulSet(name: string, spec: Spec<StatefulSet> = {}): StatefulSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: metadata(name),
    spec: { serviceName: name, selector: { matchLabels: { app: name } }, template: template(name, 'app:1'), ...spec },
  };
}

export function aDaemonSet(name: string, spec: Spec<DaemonSet> = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: metadata(name),
    spec: { selector: { matchLabels: { app: name } }, template: template(name, 'app:1'), ...spec },
  };
}

export function aJob(name: string, command: string[], spec: Spec<Job> = {}): Job {
  const containers = [{ name: 'main', image: 'app', command }];
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: metadata(name),
    spec: { template: { spec: { containers, restartPolicy: 'Never' } }, ...spec },
  };
}
