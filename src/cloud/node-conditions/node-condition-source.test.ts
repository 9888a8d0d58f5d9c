import { describe, expect, it } from 'vitest';
import type { Node } from '../../apis/kubernetes/node.ts';
import { interruptionCondition, noInterruptionCondition } from '../../apis/spindrift/interruption-condition.ts';
import type { InformerHandler } from '../../kube/informer.ts';
import { type EpochMs, toTimestamp } from '../../platform/clock.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import type { ReceivedNotice } from '../notice.ts';
import { parseNamedConditions } from './named-conditions.ts';
import { NodeConditionSource } from './node-condition-source.ts';

type Conditions = NonNullable<NonNullable<Node['status']>['conditions']>;

function world(named: readonly string[] = []) {
  const clock = new VirtualClock();
  const nodes = new Map<string, Node>();
  const handlers = new Set<InformerHandler<Node>>();
  const source = new NodeConditionSource({
    clock,
    conditions: parseNamedConditions(named),
    machineKey: (providerID) => /^aws:\/\/\/.*\/(i-\w+)$/.exec(providerID)?.[1],
    nodes: {
      addHandler: (handler) => {
        handlers.add(handler);
        for (const node of nodes.values()) handler.added?.(node);
        return () => handlers.delete(handler);
      },
    },
  });
  const set = (name: string, conditions: Conditions, spec: Node['spec'] = {}): void => {
    const old = nodes.get(name);
    const node: Node = {
      ...{ apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${name}` } },
      ...{ spec: { providerID: `aws:///zone/${name}`, ...spec }, status: { conditions } },
    };
    nodes.set(name, node);
    for (const handler of handlers) old === undefined ? handler.added?.(node) : handler.updated?.(node, old);
  };
  const listen = () => {
    const heard: ReceivedNotice[] = [];
    const stop = new AbortController();
    const run = (async () => {
      for await (const notice of source.receive(stop.signal)) heard.push(notice);
    })();
    const end = async (): Promise<void> => {
      stop.abort();
      await run;
    };
    return { heard, end };
  };
  return { clock, set, listen };
}

const soon = (clock: VirtualClock, ms = 120_000) => (clock.now() + ms) as EpochMs;
const ours = (clock: VirtualClock, ms?: number) =>
  interruptionCondition(
    { kind: 'spot-interruption', at: clock.now(), deadline: soon(clock, ms), source: 'imds', detail: 'Spot' },
    clock.now(),
  );

describe('what Nodes say', () => {
  it('becomes a notice once, and again for who listens later', async () => {
    const { clock, set, listen } = world();
    const first = listen();
    await clock.advance(0);
    set('i-1', [ours(clock)]);
    set('i-1', [ours(clock), { type: 'Ready', status: 'True' }]);
    await clock.advance(0);
    expect(first.heard).toMatchObject([
      { kind: 'spot-interruption', machine: 'i-1', deadline: soon(clock), source: 'agent/imds' },
    ]);
    await first.end();
    const second = listen();
    await clock.advance(0);
    expect(second.heard).toHaveLength(1);
    await second.end();
  });

  it('is told again when its deadline moves, and not when it is taken back', async () => {
    const { clock, set, listen } = world();
    const { heard, end } = listen();
    set('i-1', [ours(clock)]);
    set('i-1', [ours(clock, 30_000)]);
    set('i-1', [noInterruptionCondition(clock.now())]);
    await clock.advance(0);
    expect(heard.map(({ deadline }) => (deadline ?? 0) - clock.now())).toEqual([120_000, 30_000]);
    await end();
  });

  it('is heard from the agent of AKS, with its time', async () => {
    const { clock, set, listen } = world();
    const { heard, end } = listen();
    const message = 'Preempt Scheduled: Tue, 01 Jan 2030 00:00:41 GMT. DurationInSeconds: -1. EventId: 1';
    const condition = { type: 'PreemptionScheduled', reason: 'SpotEvictionIncoming', message } as const;
    const lastTransitionTime = toTimestamp(clock.now());
    set('i-1', [{ ...condition, status: 'False', lastTransitionTime }]);
    set('i-1', [{ ...condition, status: 'True', lastTransitionTime }]);
    await clock.advance(0);
    expect(heard).toMatchObject([{ kind: 'spot-interruption', deadline: clock.now() + 41_000 }]);
    await end();
  });

  it('is heard from conditions that an option names', async () => {
    const { clock, set, listen } = world(['GCESpotPreempting', 'DiskDying=scheduled-maintenance,HostTired=rebalance']);
    const { heard, end } = listen();
    for (const type of ['GCESpotPreempting', 'DiskDying', 'HostTired', 'MemoryPressure'])
      set(`i-${type}`, [{ type, status: 'True' }]);
    await clock.advance(0);
    expect(heard.map(({ kind }) => kind)).toEqual(['spot-interruption', 'scheduled-maintenance', 'rebalance']);
    await end();
    expect(() => parseNamedConditions(['X=boom'])).toThrow(/X=boom.*spot-interruption/);
    expect(() => parseNamedConditions(['Ready'])).toThrow();
  });

  it('is heard from the kubelet, and from the taints of aws-node-termination-handler', async () => {
    const { clock, set, listen } = world();
    const { heard, end } = listen();
    set('i-1', [{ type: 'Ready', status: 'False', reason: 'KubeletNotReady', message: 'node is shutting down' }]);
    const taints = ['spot-itn', 'rebalance-recommendation', 'other'].map(
      (name) => ({ key: `aws-node-termination-handler/${name}`, effect: 'NoSchedule', value: 'e' }) as const,
    );
    set('i-2', [], { providerID: 'aws:///zone/i-2', taints });
    await clock.advance(0);
    expect(heard.map(({ machine, kind }) => `${machine} ${kind}`)).toEqual([
      'i-1 stopping',
      'i-2 spot-interruption',
      'i-2 rebalance',
    ]);
    await end();
  });

  it('is nothing of machines of other clouds', async () => {
    const { clock, set, listen } = world();
    const { heard, end } = listen();
    set('i-1', [ours(clock)], { providerID: 'gce://p/z/n' });
    await clock.advance(0);
    expect(heard).toEqual([]);
    await end();
  });
});
