import { expect, it } from 'vitest';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import type { InstanceType } from '../../engine/problem.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { aFleetSnapshot } from '../../state/testkit/a-fleet-snapshot.ts';
import { aFlavor, aModel, aModelPod, gpuMachines, someModels } from '../../state/testkit/a-model.ts';
import { aStateNode } from '../../state/testkit/a-state-node.ts';
import { engineSolve } from './engine-solve.ts';

it('plans the replacement of a pod with the limits of its flavor, where its workload says so', async () => {
  const model = aModel('big', [aFlavor('a100-80g'), { ...aFlavor('a100'), limits: { 'nvidia.com/gpu': 4 } }]);
  const sold = gpuMachines('a100').flatMap((type): InstanceType[] =>
    [1, 4].map((gpus) => ({
      ...type,
      name: `a100-${gpus}`,
      capacity: { ...type.capacity, 'nvidia.com/gpu': gpus },
      offerings: type.offerings.map((one) => ({ ...one, price: one.price * gpus })),
    })),
  );
  const { metadata, ...rest } = aModelPod('big-0', 'big', undefined, { nodeName: 'drifted' });
  const pod = { ...rest, metadata: { ...metadata, annotations: { 'spindrift.dev/flavor-limits': 'true' } } };
  const snapshot = aFleetSnapshot({
    pools: [{ pool: aNodePool(), instanceTypes: sold }],
    models: someModels(model),
    nodes: [aStateNode({ name: 'drifted' })],
    pods: [pod],
    isClosed: () => true,
  });
  const spot = {
    *settle<T>(solution: T) {
      yield;
      return { solution, changes: [], gaps: [] };
    },
  };
  const clock = new VirtualClock();
  const { signal } = new AbortController();
  const found = engineSolve(clock, spot, {})({ ...snapshot, pending: [], displaced: [pod] }, signal);
  await clock.advance(1000);
  const { built, solution } = await found;
  expect(solution.newNodes.map(({ offerings: [first] }) => first?.instanceType)).toEqual(['a100-4']);
  expect(built.pods[0]).toBe(pod);
});
