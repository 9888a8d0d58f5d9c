import { describe, expect, it } from 'vitest';
import type { DaemonGroup } from '../problem.ts';
import { brokenRules } from '../testkit/broken-rules.ts';
import { aNode, aPod, aPool, aProblem, HOSTNAME, ZONE } from '../testkit/builders.ts';

const apartFrom = (app: string, topologyKey = HOSTNAME) => [{ topologyKey, selector: { matchLabels: { app } } }];
const agent: DaemonGroup = { name: 'agent', namespace: 'default', labels: { app: 'agent' }, requests: {} };
const shy = aPod({ podAntiAffinity: apartFrom('agent') });
const bought = { newNodes: [{ pods: [0] }] };
const onNode = { existing: [{ node: 'node-1', pods: [0] }] };

describe('a daemon that comes later', () => {
  it('is not to meet a pod that avoids it', () => {
    expect(brokenRules(aProblem({ pods: [shy], daemons: [agent] }), bought)).toEqual(['pod-anti-affinity']);
    expect(brokenRules(aProblem({ pods: [aPod()], daemons: [agent] }), bought)).toEqual([]);
    const inZone = aPod({ podAntiAffinity: apartFrom('agent', ZONE) });
    expect(brokenRules(aProblem({ pods: [inZone], daemons: [agent] }), bought)).toEqual(['pod-anti-affinity']);
    const inRack = aPod({ podAntiAffinity: apartFrom('agent', 'rack') });
    expect(brokenRules(aProblem({ pods: [inRack], daemons: [agent] }), bought)).toEqual([]);
  });

  it('is not to meet a pod that it avoids', () => {
    const avoiding = { ...agent, podAntiAffinity: apartFrom('web') };
    const web = aPod({ labels: { app: 'web' } });
    expect(brokenRules(aProblem({ pods: [web], daemons: [avoiding] }), bought)).toEqual(['pod-anti-affinity']);
    expect(brokenRules(aProblem({ pods: [aPod()], daemons: [avoiding] }), bought)).toEqual([]);
  });

  it('may, where it does not run', () => {
    const taints = [{ key: 'quiet', effect: 'NoSchedule' as const }];
    const pods = [{ ...shy, tolerations: [{ operator: 'Exists' as const }] }];
    expect(brokenRules(aProblem({ pods, daemons: [agent], pools: [aPool({ taints })] }), bought)).toEqual([]);
    expect(brokenRules(aProblem({ pods, daemons: [agent], nodes: [aNode()] }), onNode)).toEqual([]);
  });

  it('comes to nodes that wait for it', () => {
    const nodes = [aNode({ daemonsToCome: [0] })];
    expect(brokenRules(aProblem({ pods: [shy], daemons: [agent], nodes }), onNode)).toEqual(['pod-anti-affinity']);
  });
});
