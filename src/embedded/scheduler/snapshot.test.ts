import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Node } from '../../apis/kubernetes/node.ts';
import type { Pod, PodSpec } from '../../apis/kubernetes/pod.ts';
import { aNode, aPod } from '../testkit/objects.ts';
import { passes, prepareCycle, refusalOf } from './filter.ts';
import { ClusterSnapshot } from './snapshot.ts';

const ZONE = 'topology.kubernetes.io/zone';
const HOST = 'kubernetes.io/hostname';
const NODE_NAMES = ['n0', 'n1', 'n2', 'n3'];

const web = { matchLabels: { app: 'web' } };
const SPECS: readonly Partial<PodSpec>[] = [
  {},
  { nodeSelector: { [ZONE]: 'a' } },
  {
    topologySpreadConstraints: [
      { maxSkew: 1, topologyKey: ZONE, whenUnsatisfiable: 'DoNotSchedule', labelSelector: web },
    ],
  },
  {
    affinity: {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: HOST, labelSelector: web }] },
    },
  },
  {
    affinity: {
      podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey: ZONE, labelSelector: web }] },
    },
  },
  { containers: [{ name: 'c', ports: [{ containerPort: 80, hostPort: 80 }] }] },
];

const node = fc.record({
  name: fc.constantFrom(...NODE_NAMES),
  zone: fc.constantFrom('a', 'b'),
  cpu: fc.constantFrom('1', '2'),
  cordoned: fc.boolean(),
});
const pod = fc.record({
  name: fc.constantFrom('p0', 'p1', 'p2', 'p3', 'p4'),
  app: fc.constantFrom('web', 'db'),
  spec: fc.nat(SPECS.length - 1),
  on: fc.constantFrom(...NODE_NAMES),
});
const step = fc.oneof(
  fc.record({ do: fc.constant('node' as const), node }),
  fc.record({ do: fc.constant('noNode' as const), name: fc.constantFrom(...NODE_NAMES) }),
  fc.record({ do: fc.constant('pod' as const), pod }),
  fc.record({ do: fc.constant('noPod' as const), name: fc.constantFrom('p0', 'p1', 'p2', 'p3', 'p4') }),
);

function makeNode({ name, zone, cpu, cordoned }: { name: string; zone: string; cpu: string; cordoned: boolean }): Node {
  return aNode(name, { labels: { [ZONE]: zone }, capacity: { cpu }, ...(cordoned && { unschedulable: true }) });
}

function makePod({ name, app, spec }: { name: string; app: string; spec: number }): Pod {
  return aPod(name, { labels: { app }, requests: { cpu: '400m' }, owner: app, spec: SPECS[spec] ?? {} });
}

/** The results of the filters for every kind of pod on every node. */
function verdicts(snapshot: ClusterSnapshot): unknown {
  return ['web', 'db'].flatMap((app) =>
    SPECS.map((_, spec) => {
      const cycle = prepareCycle(snapshot, snapshot.classOf(makePod({ name: 'new', app, spec })));
      return [...snapshot.nodes]
        .sort((a, b) => (a.name < b.name ? -1 : 1))
        .map((entry) => {
          const refusal = refusalOf(cycle, entry);
          expect(passes(cycle, entry)).toBe(refusal === undefined);
          return [entry.name, entry.requested[0] ?? 0, entry.pods.size, refusal?.reasons ?? 'fits'];
        });
    }),
  );
}

describe('a snapshot', () => {
  it('that was changed step by step says the same as one made at once from the outcome', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const grown = new ClusterSnapshot();
        const nodes = new Map<string, Node>();
        const pods = new Map<string, { pod: Pod; on: string }>();
        steps.forEach((change, index) => {
          if (change.do === 'node') {
            nodes.set(change.node.name, makeNode(change.node));
            grown.setNode(nodes.get(change.node.name)!);
          } else if (change.do === 'noNode') {
            nodes.delete(change.name);
            grown.removeNode(change.name);
          } else if (change.do === 'pod') {
            pods.set(change.pod.name, { pod: makePod(change.pod), on: change.pod.on });
            grown.place(pods.get(change.pod.name)!.pod, change.pod.on);
          } else {
            pods.delete(change.name);
            grown.removePod(`default/${change.name}`);
          }
          // Fills the caches in between; the following steps must keep them correct.
          if (index % 7 === 0) verdicts(grown);
        });
        const made = new ClusterSnapshot();
        for (const each of nodes.values()) made.setNode(each);
        for (const { pod: each, on } of pods.values()) made.place(each, on);
        expect(verdicts(grown)).toEqual(verdicts(made));
        expect(grown.placedCount).toBe(pods.size);
      }),
    );
  });

  it('tells changes that may make room from those that cannot', () => {
    const snapshot = new ClusterSnapshot();
    snapshot.setNode(aNode('n'));
    const before = snapshot.relief;
    snapshot.place(aPod('p'), 'n');
    expect(snapshot.relief).toBe(before);
    snapshot.removePod('default/p');
    expect(snapshot.relief).toBeGreaterThan(before);
  });
});
