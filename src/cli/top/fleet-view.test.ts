import { describe, expect, it } from 'vitest';
import type { CapacityBuffer } from '../../apis/autoscaling/capacity-buffer.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import type { StateNode } from '../../state/state-node.ts';
import { aPodAsking, aStateNode, ON_DEMAND, SPOT } from '../../state/testkit/a-state-node.ts';
import { type FleetView, fleetView } from './fleet-view.ts';

const NOW = new VirtualClock().now();

function view(nodes: readonly StateNode[], pods: readonly Pod[] = []): FleetView {
  return fleetView({
    now: NOW,
    nodes,
    pods,
    podsOn: (name) => pods.filter(({ spec }) => spec.nodeName === name),
    pricesFor: () => () => undefined,
  });
}

const running = (pod: Pod, phase: 'Running' | 'Pending' | 'Succeeded'): Pod => ({ ...pod, status: { phase } });

describe('the view of the fleet', () => {
  it('sums what pods ask for, of what nodes have for them', () => {
    const on = { nodeName: 'general-x7k2p' };
    const pods = [
      aPodAsking('a', { cpu: '500m', memory: '1Gi' }, on),
      aPodAsking('b', { cpu: '1' }, on),
      aPodAsking('waiting', { cpu: '64' }),
    ];
    const { nodes, cpu } = view([aStateNode()], pods);
    expect(nodes[0]).toMatchObject({
      cpu: { used: 1500, total: 2000 },
      memory: { used: 1024 ** 3, total: 8 * 1024 ** 3 },
      pods: { used: 2, total: 29 },
    });
    expect(cpu).toEqual({ used: 1500, total: 2000 });
  });

  it('counts pods by whether they run, and not those that have ended', () => {
    const pods = [
      running(aPodAsking('a', {}), 'Running'),
      running(aPodAsking('b', {}), 'Pending'),
      running(aPodAsking('c', {}), 'Succeeded'),
    ];
    expect(view([], pods).pods).toEqual({ running: 1, pending: 1 });
  });

  it('compares what is paid with the same machines on demand', () => {
    const { pricePerHour, savedPerHour } = view([
      aStateNode({ name: 'a' }),
      aStateNode({ name: 'b', launched: ON_DEMAND }),
    ]);
    expect(pricePerHour).toBeCloseTo(0.13);
    expect(savedPerHour).toBeCloseTo(0.07);
  });

  it('leaves reserved machines out of both, since they are paid for', () => {
    const reserved = { ...SPOT, capacityType: 'reserved' as const, price: 0.0001 };
    const { pricePerHour, savedPerHour } = view([aStateNode({ launched: reserved, plan: [reserved, ON_DEMAND] })]);
    expect([pricePerHour, savedPerHour]).toEqual([0, 0]);
  });

  it('knows no price of machines that somebody else brought', () => {
    const { claim: _, ...foreign } = aStateNode();
    const [node] = view([foreign]).nodes;
    expect(node).toMatchObject({ capacityType: '', instanceType: 'm5.large' });
    expect(node?.price).toBeUndefined();
  });

  it('says how each node does', () => {
    const ready = aStateNode();
    const { node: _, ...launching } = aStateNode({ name: 'launching' });
    const leaving = {
      ...ready,
      claim: { ...ready.claim, metadata: { ...ready.claim.metadata, deletionTimestamp: '2030-01-01T00:30:00Z' } },
    };
    const sick = { ...ready, node: { ...ready.node, status: { ...ready.node.status, conditions: [] } } };
    const cordoned = aStateNode({ node: { unschedulable: true } });
    const starting = { ...ready, node: { ...ready.node, metadata: { ...ready.node.metadata, labels: {} } } };
    const of = (state: StateNode) => view([state]).nodes[0]?.status;
    expect([ready, launching, leaving, sick, cordoned, starting].map(of)).toEqual([
      'Ready',
      'Launching',
      'Leaving',
      'NotReady',
      'Cordoned',
      'Starting',
    ]);
  });

  it('remarks machines that the cloud takes back', () => {
    const [node] = view([aStateNode({ annotations: { 'spindrift.dev/interrupt': '120s' } })]).nodes;
    expect(node?.remarks).toEqual(['Interrupted']);
  });

  it('counts devices of whatever kind', () => {
    const allocatable = { cpu: '8', memory: '8Gi', pods: '29', 'nvidia.com/gpu': '4' };
    const pods = [aPodAsking('a', { 'nvidia.com/gpu': '1' }, { nodeName: 'general-x7k2p' })];
    expect(view([aStateNode({ allocatable })], pods).gpu).toEqual({ used: 1, total: 4 });
  });

  it('counts the room of capacity buffers, and marks the nodes that hold some', () => {
    const note = 'nodeclaim/general-x7k2p#2@0.012000';
    const buffer = { metadata: { annotations: { 'spindrift.dev/headroom': note } } } as unknown as CapacityBuffer;
    const nodes = [aStateNode()];
    const seen = fleetView({
      ...{ now: NOW, nodes, pods: [], podsOn: () => [], pricesFor: () => () => undefined },
      buffers: [buffer],
    });
    expect(seen.headroom).toEqual({ pods: 2, buffers: 1, pricePerHour: 0.012 });
    expect(seen.nodes[0]?.remarks).toEqual(['Headroom']);
    expect(view(nodes).headroom).toBeUndefined();
  });
});
