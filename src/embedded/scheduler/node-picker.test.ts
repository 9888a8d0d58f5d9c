import { describe, expect, it } from 'vitest';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Pod, PodAffinityTerm, PodSpec, TopologySpreadConstraint } from '../../apis/kubernetes/pod.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../apis/kubernetes/volumes.ts';
import { seededRandom } from '../../platform/random.ts';
import { aNode, aPod } from '../testkit/objects.ts';
import { candidatesWanted, NodePicker } from './node-picker.ts';
import { ClusterSnapshot } from './snapshot.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';

function cluster(...nodes: Node[]): ClusterSnapshot {
  const snapshot = new ClusterSnapshot();
  for (const node of nodes) snapshot.setNode(node);
  return snapshot;
}

function zones(...names: string[]): Node[] {
  return names.map((zone, index) => aNode(`n${index}`, { labels: { [ZONE]: zone } }));
}

/** The chosen node, or the failure message. */
function pick(snapshot: ClusterSnapshot, pod: Pod): string {
  const placement = new NodePicker(seededRandom(1)).pick(snapshot, snapshot.classOf(pod));
  return 'node' in placement ? placement.node : placement.failure.message;
}

/** Schedules the pods one by one, and returns how many each node got and how many found none. */
function fill(snapshot: ClusterSnapshot, pods: Pod[]): Record<string, number> {
  const picker = new NodePicker(seededRandom(1));
  const counts: Record<string, number> = {};
  for (const pod of pods) {
    const placement = picker.pick(snapshot, snapshot.classOf(pod));
    const outcome = 'node' in placement ? placement.node : 'nowhere';
    if ('node' in placement) snapshot.place(pod, placement.node);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const pods = (count: number, make: (index: number) => Pod): Pod[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('a pod that fits nowhere', () => {
  it('is told so when there are no nodes', () => {
    expect(pick(cluster(), aPod('p'))).toBe('no nodes available to schedule pods');
  });

  it("is told how many nodes each reason holds for, in kube-scheduler's words", () => {
    const snapshot = cluster(
      aNode('small', { capacity: { cpu: '1' } }),
      aNode('tainted', { taints: [{ key: 'spot', effect: 'NoSchedule' }] }),
      aNode('out', { taints: [{ key: 'spot', effect: 'NoExecute' }] }),
      aNode('cordoned', { unschedulable: true }),
      aNode('busy'),
    );
    snapshot.place(aPod('other', { requests: { cpu: '3' } }), 'busy');
    expect(pick(snapshot, aPod('p', { requests: { cpu: '2' } }))).toBe(
      '0/5 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu, 2 node(s) had untolerated taint(s). ' +
        'no new claims to deallocate, preemption: 0/5 nodes are available: 1 No preemption victims found for incoming pod, 4 Preemption is not helpful for scheduling.',
    );
  });

  it('hears of every resource that is short, and of a node that is full of pods', () => {
    const snapshot = cluster(aNode('n', { capacity: { cpu: '1', memory: '1Gi', pods: '1' } }));
    snapshot.place(aPod('other'), 'n');
    expect(pick(snapshot, aPod('p', { requests: { cpu: '2', memory: '2Gi', 'example.com/gpu': '1' } }))).toMatch(
      /^0\/1 nodes are available: 1 Insufficient cpu, 1 Insufficient example.com\/gpu, 1 Insufficient memory, 1 Too many pods\. /,
    );
  });

  it('is told that preemption is out of the question when its policy says so', () => {
    const message = pick(
      cluster(aNode('n')),
      aPod('p', { requests: { cpu: '9' }, spec: { preemptionPolicy: 'Never' } }),
    );
    expect(message).toBe(
      '0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.',
    );
  });

  it('is told apart for the nodes that it does not name and the one that it does', () => {
    const nodeSelectorTerms = [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] }];
    const spec: Partial<PodSpec> = {
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    };
    expect(pick(cluster(aNode('a'), aNode('b')), aPod('p', { requests: { cpu: '9' }, spec }))).toContain(
      "1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    );
    expect(pick(cluster(aNode('a'), aNode('b')), aPod('p', { spec }))).toBe('a');
  });

  it('is not asked about again before something changed', () => {
    const snapshot = cluster(aNode('n'));
    const big = snapshot.classOf(aPod('p', { requests: { cpu: '9' } }));
    const picker = new NodePicker(seededRandom(1));
    const first = picker.pick(snapshot, big);
    snapshot.place(aPod('other'), 'n');
    expect(picker.pick(snapshot, big)).toBe(big.failure);
    expect('failure' in first).toBe(true);
    snapshot.setNode(aNode('m', { capacity: { cpu: '16' } }));
    expect(picker.pick(snapshot, big)).toMatchObject({ node: 'm' });
  });
});

describe('a pod goes only to a node', () => {
  it.each<[string, Partial<PodSpec>]>([
    ['that has the labels it selects', { nodeSelector: { disk: 'ssd' } }],
    ['whose taints it tolerates', { nodeSelector: { disk: 'ssd' }, tolerations: [{ operator: 'Exists' }] }],
  ])('%s', (_, spec) => {
    const snapshot = cluster(aNode('bad'), aNode('good', { labels: { disk: 'ssd' } }), aNode('bad2'));
    expect(pick(snapshot, aPod('p', { spec }))).toBe('good');
  });

  it('where its host ports are free, whatever address they were taken on', () => {
    const port = (hostIP?: string): Partial<PodSpec> => ({
      containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80, ...(hostIP && { hostIP }) }] }],
    });
    const snapshot = cluster(aNode('a'), aNode('b'));
    snapshot.place(aPod('p1', { spec: port() }), 'a');
    snapshot.place(aPod('p2', { spec: port('10.0.0.1') }), 'b');
    expect(pick(snapshot, aPod('p3', { spec: port('10.0.0.2') }))).toBe('b');
    expect(pick(snapshot, aPod('p3', { spec: port('10.0.0.1') }))).toContain(
      "2 node(s) didn't have free ports for the requested pod ports",
    );
  });

  it('that is cordoned, only when it tolerates that', () => {
    const snapshot = cluster(aNode('n', { unschedulable: true }));
    const spec: Partial<PodSpec> = { tolerations: [{ key: 'node.kubernetes.io/unschedulable', operator: 'Exists' }] };
    expect(pick(snapshot, aPod('p'))).toContain('node(s) were unschedulable');
    expect(pick(snapshot, aPod('p', { spec }))).toBe('n');
  });
});

describe('pods without wishes', () => {
  it('fill the nodes evenly', () => {
    const counts = fill(
      cluster(aNode('a'), aNode('b'), aNode('c')),
      pods(9, (index) => aPod(`p${index}`, { requests: { cpu: '1' } })),
    );
    expect(counts).toEqual({ a: 3, b: 3, c: 3 });
  });

  it('never take more than a node has', () => {
    const counts = fill(
      cluster(aNode('a'), aNode('b')),
      pods(10, (index) => aPod(`p${index}`, { requests: { cpu: '1' } })),
    );
    expect(counts).toEqual({ a: 4, b: 4, nowhere: 2 });
  });

  it('of one controller keep away from each other although nothing says so', () => {
    const snapshot = cluster(
      aNode('big', { capacity: { cpu: '64', memory: '256Gi' } }),
      aNode('small'),
      aNode('small2'),
    );
    const counts = fill(
      snapshot,
      pods(3, (index) => aPod(`p${index}`, { owner: 'uid', requests: { cpu: '1', memory: '4Gi' } })),
    );
    expect(counts).toEqual({ big: 1, small: 1, small2: 1 });
  });
});

describe('topology spread', () => {
  const spread =
    (constraint: Partial<TopologySpreadConstraint>, labels = { app: 'web' }) =>
    (index: number) =>
      aPod(`p${index}`, {
        labels,
        spec: {
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: ZONE,
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: { app: 'web' } },
              ...constraint,
            },
          ],
        },
      });

  it('keeps the zones within the skew', () => {
    const snapshot = cluster(...zones('a', 'a', 'a', 'b'));
    const counts = fill(snapshot, pods(8, spread({})));
    expect(counts.n3).toBe(4);
  });

  it('refuses when the emptiest zone has no room', () => {
    const snapshot = cluster(...zones('a'), aNode('full', { labels: { [ZONE]: 'b' }, capacity: { pods: '0' } }));
    expect(fill(snapshot, pods(3, spread({})))).toEqual({ n0: 1, nowhere: 2 });
    expect(pick(snapshot, spread({})(9))).toContain(
      "1 Too many pods, 1 node(s) didn't match pod topology spread constraints.",
    );
  });

  it('does not count nodes that the pod cannot go to by affinity, but does when told to ignore affinity', () => {
    const make = (nodeAffinityPolicy: 'Honor' | 'Ignore') => (index: number) => {
      const pod = spread({ nodeAffinityPolicy })(index);
      return { ...pod, spec: { ...pod.spec, nodeSelector: { [ZONE]: 'a' } } };
    };
    expect(fill(cluster(...zones('a', 'b')), pods(3, make('Honor')))).toEqual({ n0: 3 });
    expect(fill(cluster(...zones('a', 'b')), pods(3, make('Ignore')))).toEqual({ n0: 1, nowhere: 2 });
  });

  it('counts tainted nodes unless told to honour taints', () => {
    const nodes = (): Node[] => [
      ...zones('a'),
      aNode('t', { labels: { [ZONE]: 'b' }, taints: [{ key: 'x', effect: 'NoSchedule' }] }),
    ];
    expect(fill(cluster(...nodes()), pods(3, spread({})))).toEqual({ n0: 1, nowhere: 2 });
    expect(fill(cluster(...nodes()), pods(3, spread({ nodeTaintsPolicy: 'Honor' })))).toEqual({ n0: 3 });
  });

  it('takes the emptiest domain for empty while there are fewer domains than wanted', () => {
    expect(fill(cluster(...zones('a', 'b')), pods(5, spread({ minDomains: 3 })))).toEqual({ n0: 1, n1: 1, nowhere: 3 });
  });

  it('refuses nodes without the label', () => {
    expect(pick(cluster(aNode('n')), spread({})(0))).toContain(
      "1 node(s) didn't match pod topology spread constraints (missing required label).",
    );
  });

  it('counts only pods with the same values of the label keys it is given', () => {
    const snapshot = cluster(...zones('a', 'b'));
    const old = spread({ matchLabelKeys: ['hash'] }, { app: 'web', hash: '1' } as never);
    fill(snapshot, pods(2, old));
    snapshot.removePod('default/p1');
    const fresh = spread({ matchLabelKeys: ['hash'] }, { app: 'web', hash: '2' } as never);
    expect(
      fill(
        snapshot,
        pods(4, (index) => fresh(index + 10)),
      ),
    ).toEqual({ n0: 2, n1: 2 });
  });

  it('counts nobody when its selector selects everybody, as kube-scheduler does', () => {
    const all = (index: number) => spread({ labelSelector: {} })(index);
    expect(
      fill(cluster(...zones('a'), aNode('full', { labels: { [ZONE]: 'b' }, capacity: { pods: '0' } })), pods(3, all)),
    ).toEqual({ n0: 3 });
  });

  it('does not count pods that are being deleted', () => {
    const snapshot = cluster(...zones('a', 'b'));
    const leaving = spread({})(0);
    snapshot.place({ ...leaving, metadata: { ...leaving.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }, 'n0');
    const counts = fill(
      snapshot,
      pods(2, (index) => spread({})(index + 1)),
    );
    expect(counts).toEqual({ n0: 1, n1: 1 });
  });

  it('only prefers when it is told to schedule anyway', () => {
    expect(fill(cluster(...zones('a', 'a', 'b')), pods(4, spread({ whenUnsatisfiable: 'ScheduleAnyway' }))).n2).toBe(2);
    const full = cluster(...zones('a'), aNode('full', { labels: { [ZONE]: 'b' }, capacity: { pods: '0' } }));
    expect(fill(full, pods(3, spread({ whenUnsatisfiable: 'ScheduleAnyway' })))).toEqual({ n0: 3 });
  });
});

describe('affinity between pods', () => {
  const term = (more: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
    topologyKey: HOST,
    labelSelector: { matchLabels: { app: 'web' } },
    ...more,
  });
  const near = (more?: Partial<PodAffinityTerm>): Partial<PodSpec> => ({
    affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(more)] } },
  });
  const away = (more?: Partial<PodAffinityTerm>): Partial<PodSpec> => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term(more)] } },
  });
  const web = (name: string, namespace = 'default') => aPod(name, { namespace, labels: { app: 'web' } });

  it('brings a pod to the domain of those it wants to be near', () => {
    const snapshot = cluster(...zones('a', 'b', 'b'));
    snapshot.place(web('w'), 'n1');
    expect(['n1', 'n2']).toContain(pick(snapshot, aPod('p', { spec: near({ topologyKey: ZONE }) })));
    expect(pick(snapshot, aPod('p', { spec: near() }))).toBe('n1');
  });

  it('refuses when there is nobody to be near, unless the pod is the first of its own kind', () => {
    const snapshot = cluster(...zones('a'));
    expect(pick(snapshot, aPod('p', { spec: near() }))).toContain("1 node(s) didn't match pod affinity rules");
    expect(pick(snapshot, aPod('p', { labels: { app: 'web' }, spec: near() }))).toBe('n0');
  });

  it('keeps a pod away from those it does not want', () => {
    const counts = fill(
      cluster(...zones('a', 'b')),
      pods(3, (index) => aPod(`p${index}`, { labels: { app: 'web' }, spec: away() })),
    );
    expect(counts).toEqual({ n0: 1, n1: 1, nowhere: 1 });
  });

  it('keeps a pod away from those that do not want it', () => {
    const snapshot = cluster(...zones('a', 'a', 'b'));
    snapshot.place(aPod('hermit', { spec: away({ topologyKey: ZONE }) }), 'n0');
    expect(pick(snapshot, web('w'))).toBe('n2');
    snapshot.removeNode('n2');
    expect(pick(snapshot, web('w'))).toContain("2 node(s) didn't satisfy existing pods anti-affinity rules");
    snapshot.removePod('default/hermit');
    expect(pick(snapshot, web('w'))).toMatch(/^n[01]$/);
  });

  it('means the own namespace, those named, and those whose labels are selected', () => {
    const snapshot = cluster(...zones('a', 'b'));
    snapshot.setNamespace('prod', { tier: 'prod' });
    snapshot.setNamespace('default', {});
    snapshot.place(web('w', 'prod'), 'n1');
    expect(pick(snapshot, aPod('p', { spec: near() }))).toContain('pod affinity rules');
    expect(pick(snapshot, aPod('p', { spec: near({ namespaces: ['prod'] }) }))).toBe('n1');
    expect(pick(snapshot, aPod('p', { spec: near({ namespaceSelector: { matchLabels: { tier: 'prod' } } }) }))).toBe(
      'n1',
    );
    expect(pick(snapshot, aPod('p', { spec: near({ namespaceSelector: {} }) }))).toBe('n1');
    snapshot.setNamespace('prod', {});
    expect(
      pick(snapshot, aPod('p', { spec: near({ namespaceSelector: { matchLabels: { tier: 'prod' } } }) })),
    ).toContain('pod affinity rules');
  });

  it('that is only preferred decides among nodes that would do', () => {
    const snapshot = cluster(...zones('a', 'b'));
    snapshot.place(web('w'), 'n1');
    const preferred = [{ weight: 100, podAffinityTerm: term() }];
    const spec = (affinity: 'podAffinity' | 'podAntiAffinity'): Partial<PodSpec> => ({
      affinity: { [affinity]: { preferredDuringSchedulingIgnoredDuringExecution: preferred } },
    });
    expect(pick(snapshot, aPod('p', { spec: spec('podAffinity') }))).toBe('n1');
    expect(pick(snapshot, aPod('p', { spec: spec('podAntiAffinity') }))).toBe('n0');
  });
});

describe('preferences about nodes', () => {
  it('decide among nodes that would do', () => {
    const snapshot = cluster(
      aNode('a'),
      aNode('b', { labels: { disk: 'ssd' } }),
      aNode('c', { taints: [{ key: 'x', effect: 'PreferNoSchedule' }] }),
    );
    const preference = { matchExpressions: [{ key: 'disk', operator: 'In', values: ['ssd'] }] };
    const spec: Partial<PodSpec> = {
      affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 10, preference }] } },
    };
    expect(pick(snapshot, aPod('p', { spec }))).toBe('b');
    snapshot.removeNode('b');
    expect(pick(snapshot, aPod('p', { spec }))).toBe('a');
  });
});

describe('volumes', () => {
  const meta = (name: string) => ({ apiVersion: 'v1', kind: 'x', metadata: { name, namespace: 'default' } });
  const claim = (spec: PersistentVolumeClaim['spec']): PersistentVolumeClaim => ({ ...meta('data'), spec });
  const volume = (more: Partial<PersistentVolume>): PersistentVolume => ({
    ...meta('pv'),
    metadata: { name: 'pv' },
    spec: {},
    ...more,
  });
  const storageClass = (more: Partial<StorageClass>): StorageClass => ({
    ...meta('fast'),
    metadata: { name: 'fast' },
    provisioner: 'disk.example.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  });
  const pod = aPod('p', { spec: { volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }] } });

  it('must be claimed', () => {
    expect(pick(cluster(...zones('a')), pod)).toBe(
      '0/1 nodes are available: persistentvolumeclaim "data" not found. not found',
    );
  });

  it('that are bound hold the pod where they are', () => {
    const snapshot = cluster(...zones('a', 'b'));
    snapshot.volumes.setClaim(claim({ volumeName: 'pv' }));
    expect(pick(snapshot, pod)).toContain(
      '2 node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)',
    );
    const nodeSelectorTerms = [{ matchExpressions: [{ key: ZONE, operator: 'In', values: ['b'] }] }];
    snapshot.volumes.setVolume(volume({ spec: { nodeAffinity: { required: { nodeSelectorTerms } } } }));
    expect(pick(snapshot, pod)).toBe('n1');
    snapshot.volumes.setVolume(volume({ metadata: { name: 'pv', labels: { [ZONE]: 'a' } } }));
    expect(pick(snapshot, pod)).toBe('n0');
    snapshot.removeNode('n0');
    expect(pick(snapshot, pod)).toContain('1 node(s) had no available volume zone');
  });

  it('that are not bound yet must be makeable where the pod goes', () => {
    const snapshot = cluster(...zones('a', 'b'));
    snapshot.volumes.setClaim(claim({ storageClassName: 'fast' }));
    snapshot.volumes.setStorageClass(storageClass({ volumeBindingMode: 'Immediate' }));
    expect(pick(snapshot, pod)).toContain('pod has unbound immediate PersistentVolumeClaims');
    const allowedTopologies = [{ matchLabelExpressions: [{ key: ZONE, values: ['b'] }] }];
    snapshot.volumes.setStorageClass(storageClass({ allowedTopologies }));
    const placement = new NodePicker(seededRandom(1)).pick(snapshot, snapshot.classOf(pod));
    expect(placement).toEqual({ node: 'n1', unboundClaims: ['data'] });
    snapshot.removeNode('n1');
    expect(pick(snapshot, pod)).toContain("1 node(s) didn't find available persistent volumes to bind");
  });
});

describe('the number of nodes to choose from', () => {
  it('is all of a small cluster and a share of a large one', () => {
    expect([5, 99, 100, 1000, 5000, 10_000].map(candidatesWanted)).toEqual([5, 99, 100, 100, 250, 500]);
  });
});
