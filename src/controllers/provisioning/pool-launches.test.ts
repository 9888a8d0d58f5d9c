import { expect, it } from 'vitest';
import { LABEL_NODE_POOL } from '../../apis/karpenter/labels.ts';
import { aNodePool } from '../../apis/karpenter/testkit/a-node-pool.ts';
import { SpindriftError } from '../../platform/errors.ts';
import { SILENT_LOGGER } from '../../platform/logger.ts';
import { VirtualClock } from '../../platform/virtual-clock.ts';
import { aStateNode } from '../../state/testkit/a-state-node.ts';
import { PoolLaunches, type PoolLaunchesOptions } from './pool-launches.ts';

it('asks for another write when somebody else has changed the pool meanwhile, and logs nothing', async () => {
  const pool = aNodePool();
  const conflict = new SpindriftError('KUBE_CONFLICT', { message: 'the object has been modified' });
  let warnings = 0;
  const launches = new PoolLaunches({
    clock: new VirtualClock(),
    logger: { ...SILENT_LOGGER, warn: () => void warnings++ },
    state: { informers: { nodePools: { get: () => pool, list: () => [pool], addHandler: () => () => {} } } },
    writes: { newest: () => pool, patch: () => Promise.reject(conflict) },
  } as unknown as PoolLaunchesOptions);
  let asked = 0;
  launches.follow(() => asked++);
  const { claim } = aStateNode({ labels: { [LABEL_NODE_POOL]: pool.metadata.name ?? '' } });
  launches.failed('web', 1, claim, () => 'no pod came');
  expect(asked).toBe(1);
  await launches.write(new AbortController().signal);
  expect([asked, warnings]).toEqual([2, 0]);
});
