import { describe, expect, it } from 'vitest';
import type { NodePool } from '../../apis/karpenter/node-pool.ts';
import type { DaemonSet } from '../../apis/kubernetes/workloads.ts';
import { decideSignals } from './decide-signals.ts';

const pool = (requirements: object[], conditions: object[] = []): NodePool =>
  ({ metadata: { name: 'p' }, spec: { template: { spec: { requirements } } }, status: { conditions } }) as never;
const capacity = (operator: string, ...values: string[]) => ({ key: 'karpenter.sh/capacity-type', operator, values });
const SAID = [{ type: 'InterruptionSignals', status: 'False' }];
const daemonSet = (name: string): DaemonSet => ({ metadata: { name } }) as never;

describe('whether somebody hears of interruptions', () => {
  it.each([[[]], [[capacity('In', 'spot')]], [[capacity('NotIn', 'on-demand')]]])(
    'is asked of pools that allow spot: %o',
    (requirements) => {
      expect(decideSignals(pool(requirements), false, [])).toMatchObject({ status: 'False', reason: 'NoSignalSource' });
      expect(decideSignals(pool(requirements), true, [])).toBeUndefined();
      expect(decideSignals(pool(requirements, SAID), true, [])).toMatchObject({ status: 'True' });
      expect(decideSignals(pool(requirements), undefined, [])).toBeUndefined();
    },
  );

  it('is not asked of pools that do not, unless it was said before', () => {
    const onDemand = [capacity('In', 'on-demand', 'reserved')];
    expect(decideSignals(pool(onDemand), false, [])).toBeUndefined();
    expect(decideSignals(pool(onDemand, SAID), false, [])).toMatchObject({ status: 'True', reason: 'SpotNotAllowed' });
  });

  it('is answered by an agent on the nodes', () => {
    expect(decideSignals(pool([], SAID), false, [daemonSet('spindrift-agent')])).toMatchObject({ status: 'True' });
    expect(decideSignals(pool([]), false, [daemonSet('spindrift-agent')])).toBeUndefined();
    expect(decideSignals(pool([]), false, [daemonSet('other')])).toMatchObject({ status: 'False' });
  });
});
