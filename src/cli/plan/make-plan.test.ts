import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { makePlan } from './make-plan.ts';
import type { PlanReport } from './plan-report.ts';
import { planTable } from './plan-table.ts';
import { parseManifests } from './read-manifests.ts';

const plan = (text: string): Promise<PlanReport> =>
  makePlan(parseManifests('all.yaml', text), { now: new VirtualClock().now(), solve: { maxSteps: 1_000_000 } });

const pool = (spec = ''): string => `---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  ${spec}
  template:
    spec:
      nodeClassRef: {group: spindrift.dev, kind: SimulatedNodeClass, name: default}
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]
`;
const deployment = (name: string, replicas: number, pod: string): string => `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: ${name}}
spec:
  replicas: ${replicas}
  selector: {matchLabels: {app: ${name}}}
  template:
    metadata: {labels: {app: ${name}}}
    spec: ${pod}
`;
const containers = (resources: string): string => `{containers: [{name: main, image: x, resources: ${resources}}]}`;

describe('a plan', () => {
  it('says which nodes are launched, for which pods, at what price', async () => {
    const made = await plan(pool() + deployment('web', 6, containers('{requests: {cpu: 1}}')));
    expect(made.nodes.flatMap(({ pods }) => pods).toSorted()).toEqual(
      Array.from({ length: 6 }, (_, index) => `default/web-${index + 1}`),
    );
    for (const node of made.nodes) expect(node).toMatchObject({ pool: 'general', capacityType: 'on-demand' });
    expect(made.price.perHour).toBeCloseTo(made.nodes.reduce((sum, { price }) => sum + price, 0));
    expect(made.price.perHour).toBeGreaterThan(0);
    expect(made.lowerBound).toBeLessThanOrEqual(made.price.perHour);
    expect(made.withoutPlace).toEqual([]);
    expect(planTable(made)).toMatch(/NODES\s+POOL\s+TYPE.*\n\s+\d+\s+general/);
  });

  it('counts a limit as a request where there is none, as the API server does', async () => {
    const made = await plan(pool() + deployment('web', 1, containers('{limits: {cpu: 7}}')));
    expect(made.nodes[0]?.requests.cpu).toBe(7000);
  });

  it('counts what LimitRanges give to pods and daemons, wherever they are written', async () => {
    const range = `---
apiVersion: v1
kind: LimitRange
metadata: {name: range}
spec: {limits: [{type: Container, defaultRequest: {cpu: 5}}]}
`;
    const daemon = deployment('agent', 1, containers('{}'))
      .replace('kind: Deployment', 'kind: DaemonSet')
      .replace('replicas: 1', 'updateStrategy: {type: OnDelete}');
    const web = pool() + deployment('web', 1, containers('{}'));
    const [alone, beside] = await Promise.all([plan(web + range), plan(web + daemon + range)]);
    expect(alone.nodes[0]?.requests.cpu).toBe(5000);
    expect(beside.price.perHour).toBeGreaterThan(alone.price.perHour);
  });

  it('notes pools that can make nothing, and words in them that mean nothing', async () => {
    const text = pool().replace(
      'requirements: [',
      'requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [m5.larg]}, ',
    );
    const { notes } = await plan(text.replace('[on-demand]', '[on-demand, spots]'));
    expect(notes).toContain(
      'NodePool general launches no nodes: nothing that its node class sells has node.kubernetes.io/instance-type In m5.larg, did you mean m5.large?',
    );
    expect(notes.join()).toContain('values have spots, which is ignored');
  });

  it('says what keeps the nodes of a static pool from being launched, without a price for none', async () => {
    const text = pool('replicas: 2').replace('[on-demand]', '[reserved]');
    const { notes } = await plan(text);
    expect(notes.join('\n')).toContain(
      'NodePool general keeps 2 nodes, whatever pods there are: 2 of them cannot be launched: ',
    );
  });

  it('leaves room for DaemonSets', async () => {
    const daemon = deployment('agent', 1, containers('{requests: {cpu: 30}}'))
      .replace('kind: Deployment', 'kind: DaemonSet')
      .replace('replicas: 1', 'updateStrategy: {type: OnDelete}');
    const web = pool() + deployment('web', 1, containers('{requests: {cpu: 1}}'));
    const [without, beside] = await Promise.all([plan(web), plan(web + daemon)]);
    expect(beside.price.perHour).toBeGreaterThan(without.price.perHour * 5);
    expect(beside.podsPlaced).toBe(1);
  });

  it('says once for all pods that are alike why they have no place, and what to do', async () => {
    const made = await plan(
      pool() +
        deployment('far', 3, '{nodeSelector: {topology.kubernetes.io/zone: mars}, containers: [{name: a, image: b}]}'),
    );
    expect(made.nodes).toEqual([]);
    expect(made.withoutPlace).toHaveLength(1);
    expect(made.withoutPlace[0]?.pods).toHaveLength(3);
    const text = planTable(made);
    expect(text).toContain('Unschedulable: 3 far:');
    expect(text).toContain('0 with the labels that the pod wants');
    expect(text).toContain('to do: let the pod accept what pool general has of topology.kubernetes.io/zone (sim-1a, ');
  });

  it('keeps the limits of a pool', async () => {
    const made = await plan(pool('limits: {cpu: 4}') + deployment('web', 10, containers('{requests: {cpu: 1}}')));
    expect(made.podsPlaced).toBeLessThan(4);
    expect(made.withoutPlace[0]?.advice).toContain('spec.limits.cpu');
  });

  it('takes the pool that a new cluster starts with, and says so, where none is given', async () => {
    const made = await plan(deployment('web', 1, containers('{requests: {cpu: 1}}')));
    expect(made.nodes).toHaveLength(1);
    expect(made.notes).toEqual(['no NodePool is given: planned with the default NodePool of spindrift up']);
  });

  it('passes over kinds that it does not know, and says so', async () => {
    const made = await plan('apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: x}\n');
    expect(planTable(made)).toContain('kind example.com/v1 Thing is unknown and was ignored');
  });

  it('refuses a pool whose node class nothing is known about here', async () => {
    const foreign = pool().replace('spindrift.dev, kind: SimulatedNodeClass', 'example.com, kind: OtherNodeClass');
    const made = plan(foreign + deployment('web', 1, containers('{requests: {cpu: 1}}')));
    await expect(made).rejects.toThrow('the instance types of OtherNodeClass are known to its cloud only');
  });

  it('is refused, and told the label to write, where a pool asks for labels of another cloud', async () => {
    const aws = '{key: karpenter.k8s.aws/instance-family, operator: In, values: [r7i]}';
    const text = pool().replace('requirements: [', `requirements: [${aws}, `);
    await expect(plan(text)).rejects.toThrow(
      'all.yaml: NodePool general: spec.template.spec.requirements[0].key karpenter.k8s.aws/instance-family is a label of AWS, which nodes of spindrift.dev never have: write spindrift.dev/instance-family',
    );
  });

  it('does not wait for volumes that nobody has made yet', async () => {
    const set = deployment('db', 3, containers('{requests: {cpu: 1}}'))
      .replace('kind: Deployment', 'kind: StatefulSet')
      .replace(
        'replicas:',
        'volumeClaimTemplates: [{metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]\n  replicas:',
      );
    expect((await plan(pool() + set)).podsPlaced).toBe(3);
  });

  it('is made for objects as kubectl get -o yaml prints them', async () => {
    const web = deployment('web', 6, containers('{requests: {cpu: 1}}'));
    const fromServer = web
      .replace('{name: web}', '{name: web, uid: 5e2b, resourceVersion: "1123", generation: 3, managedFields: []}')
      .replace('spec:', 'status: {replicas: 6, observedGeneration: 3}\nspec:');
    const made = await plan(pool() + fromServer);
    expect(made.podsPlaced).toBe(6);
  });

  it('has the pods of one run of each CronJob, and says so', async () => {
    const cron = `---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      parallelism: 2
      completions: 2
      template: {spec: {restartPolicy: Never, containers: [{name: main, image: x, resources: {requests: {cpu: 1}}}]}}
`;
    const made = await plan(pool() + cron);
    expect(made.nodes.flatMap(({ pods }) => pods).toSorted()).toEqual(['default/nightly-1', 'default/nightly-2']);
    expect(made.notes).toContain('CronJob default/nightly is planned as one run at the same time as all other pods');
  });

  it('is refused with every problem of all manifests: file, document, object, field', async () => {
    const bad = pool('limits: {cpu: ten}') + deployment('web', 1, '{containers: [{name: main, imag: x}]}');
    const refused = await plan(bad).catch((error: Error) => error.message);
    expect(refused).toMatch(/^all\.yaml, document 1: NodePool general: .*spec\.limits/m);
    expect(refused).not.toContain('should match');
    expect(refused).toMatch(/^all\.yaml, document 2: Deployment web: .*imag/m);
  });

  it('is refused when pods would be', async () => {
    const bad = deployment('web', 1, '{priorityClassName: high, containers: [{name: main, image: x}]}');
    await expect(plan(bad)).rejects.toThrow(
      /^all.yaml: Deployment web: the API server would refuse its pods: .*no PriorityClass with name high was found/,
    );
  });

  it('finds a place first for pods of higher priority, wherever their class is written', async () => {
    const pods = '{priorityClassName: high, containers: [{name: main, image: x, resources: {requests: {cpu: 1}}}]}';
    const high = '---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: high}\nvalue: 1000\n';
    const low = deployment('low', 10, containers('{requests: {cpu: 1}}'));
    const made = await plan(pool('limits: {cpu: 4}') + low + deployment('first', 2, pods) + high);
    expect(made.nodes.flatMap((node) => node.pods)).toEqual(
      expect.arrayContaining(['default/first-1', 'default/first-2']),
    );
  });

  it('tells unknown fields beside everything else that is wrong with an object', async () => {
    const bad = pool('limits: {cpu: 10Gi}\n  disruption: {consolidateAfer: 10s}');
    const problems = await plan(bad).then(
      () => '',
      (error: Error) => error.message,
    );
    expect(problems.split('\n')).toEqual([
      expect.stringContaining('unknown field "spec.disruption.consolidateAfer"'),
      expect.stringContaining('limits.cpu counts cores'),
    ]);
  });
});
