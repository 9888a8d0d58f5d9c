import { describe, expect, it } from 'vitest';
import { reasonSentence } from './explain/sentence.ts';
import type { DaemonGroup, PodAffinityTerm, Problem } from './problem.ts';
import type { Solution } from './solution.ts';
import { solve } from './solve.ts';
import { aNode, aPod, aPool, aProblem, aType, HOSTNAME, INSTANCE_TYPE, oneOf, ZONE } from './testkit/builders.ts';
import { verify } from './verify/verify.ts';

const apartFrom = (app: string, overrides: Partial<PodAffinityTerm> = {}): PodAffinityTerm => ({
  topologyKey: HOSTNAME,
  selector: { matchLabels: { app } },
  ...overrides,
});

const agent = (overrides: Partial<DaemonGroup> = {}): DaemonGroup => ({
  name: 'kube-system/agent',
  namespace: 'default',
  labels: { app: 'agent' },
  requests: { cpu: 100 },
  ...overrides,
});

const web = aPod({ name: 'web', labels: { app: 'web' } });
const shy = { ...web, podAntiAffinity: [apartFrom('agent')] };

function solved(problem: Problem): Solution {
  const solution = solve(problem, { maxSteps: 50_000 });
  expect(verify(problem, solution)).toEqual([]);
  return solution;
}

const sentence = ({ unplaced: [first] }: Solution): string => (first === undefined ? '' : reasonSentence(first.reason));

describe('a pod that avoids a daemon', () => {
  it('gets no new node where the daemon will run, and is told why', () => {
    const solution = solved(aProblem({ pods: [shy], daemons: [agent()] }));
    expect(solution.newNodes).toEqual([]);
    expect(solution.unplaced[0]?.reason.nearest?.change).toEqual({
      kind: 'daemon',
      daemon: 'kube-system/agent',
      topologyKey: HOSTNAME,
      avoidedBy: 'pod',
    });
    expect(sentence(solution)).toContain(
      'its anti-affinity over kubernetes.io/hostname keeps it from DaemonSet kube-system/agent, which will run there',
    );
  });

  it('gets a dearer one where the daemon does not run', () => {
    const elsewhere = agent({ requirements: [[oneOf(INSTANCE_TYPE, 'medium')]] });
    const dear = aType({ name: 'dear', offerings: [{ zone: 'a', capacityType: 'on-demand', price: 9 }] });
    const { newNodes } = solved(aProblem({ pods: [shy], daemons: [elsewhere], instanceTypes: [aType(), dear] }));
    expect(newNodes.map(({ offerings }) => offerings.map(({ instanceType }) => instanceType))).toEqual([['dear']]);
  });

  it('gets one of a pool whose taint keeps the daemon out', () => {
    const taints = [{ key: 'quiet', effect: 'NoSchedule' as const }];
    const pods = [{ ...shy, tolerations: [{ key: 'quiet', operator: 'Exists' as const }] }];
    const pools = [aPool(), aPool({ name: 'quiet', taints })];
    const { newNodes } = solved(aProblem({ pods, pools, daemons: [agent()] }));
    expect(newNodes.map(({ pool }) => pool)).toEqual(['quiet']);
  });

  it('is kept apart from it in every domain that a new node is in', () => {
    const pods = [{ ...web, podAntiAffinity: [apartFrom('agent', { topologyKey: ZONE })] }];
    expect(solved(aProblem({ pods, daemons: [agent()] })).newNodes).toEqual([]);
    const nowhere = [{ ...web, podAntiAffinity: [apartFrom('agent', { topologyKey: 'rack' })] }];
    expect(solved(aProblem({ pods: nowhere, daemons: [agent()] })).newNodes).toHaveLength(1);
  });

  it('does not mind daemons of other names and namespaces', () => {
    for (const other of [agent({ labels: { app: 'proxy' } }), agent({ namespace: 'kube-system' })]) {
      expect(solved(aProblem({ pods: [shy], daemons: [other] })).newNodes).toHaveLength(1);
    }
    const everywhere = { ...web, podAntiAffinity: [apartFrom('agent', { namespaceSelector: {} })] };
    expect(solved(aProblem({ pods: [everywhere], daemons: [agent({ namespace: 'x' })] })).newNodes).toEqual([]);
  });

  it('gets no node where the daemon is still to come', () => {
    const waiting = aNode({ inFlight: true, daemonsToCome: [0] });
    const problem = aProblem({ pods: [shy], pools: [], instanceTypes: [], daemons: [agent()], nodes: [waiting] });
    const solution = solved(problem);
    expect(solution.existing).toEqual([]);
    expect(solution.unplaced[0]?.reason.nodesRejectedBy).toEqual({ daemons: 1 });
    expect(solved({ ...problem, nodes: [aNode()] }).existing).toHaveLength(1);
  });

  it('has no part in the reason of a pod that does not', () => {
    const pods = [shy, { ...web, requests: { cpu: 90_000 } }];
    const { unplaced } = solved(aProblem({ pods, daemons: [agent()] }));
    expect(unplaced.map(({ reason }) => reason.nearest?.constraint).sort()).toEqual(['daemons', 'resources']);
  });
});

describe('a daemon that avoids a pod', () => {
  it('keeps it from new nodes and from those that the daemon is still to come to', () => {
    const daemons = [agent({ podAntiAffinity: [apartFrom('web')] })];
    const solution = solved(aProblem({ pods: [web], daemons, nodes: [aNode({ daemonsToCome: [0] })] }));
    expect(solution.existing).toEqual([]);
    expect(solution.newNodes).toEqual([]);
    expect(sentence(solution)).toContain(
      'the anti-affinity over kubernetes.io/hostname of DaemonSet kube-system/agent, which will run there, keeps it away',
    );
  });

  it('does not mind others', () => {
    const daemons = [agent({ podAntiAffinity: [apartFrom('db')] })];
    expect(solved(aProblem({ pods: [web], daemons })).newNodes).toHaveLength(1);
  });
});
