import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../apis/kubernetes/pod.ts';
import { builtInKinds } from '../built-in-kinds.ts';
import { humanDuration } from './column.ts';
import { summaryOf } from './pod-columns.ts';

function pod(status: object, more: object = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'p' },
    spec: { containers: [{ name: 'a' }, { name: 'b' }], initContainers: [{ name: 'i' }] },
    status,
    ...more,
  } as Pod;
}
const running = { ready: true, state: { running: {} } };

describe('the columns of kubectl', () => {
  it('tell ages as kubectl does', () => {
    const seconds = [
      0,
      59,
      119,
      120,
      125,
      599,
      600,
      3600 * 2,
      3600 * 3,
      3600 * 7 + 60,
      3600 * 30,
      86400 * 3 + 3600,
      86400 * 100,
      86400 * 800,
    ];
    expect(seconds.map((second) => humanDuration(second * 1000))).toEqual([
      '0s',
      '59s',
      '119s',
      '2m',
      '2m5s',
      '9m59s',
      '10m',
      '120m',
      '3h',
      '7h1m',
      '30h',
      '3d1h',
      '100d',
      '2y70d',
    ]);
  });

  it('tell the state of a pod in one word', () => {
    const word = (status: object, more: object = {}) => summaryOf(pod(status, more)).status;
    expect(word({ phase: 'Pending' })).toBe('Pending');
    expect(word({ phase: 'Failed', reason: 'Evicted' })).toBe('Evicted');
    expect(
      word({ phase: 'Pending', conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] }),
    ).toBe('SchedulingGated');
    expect(word({ phase: 'Pending', initContainerStatuses: [{ name: 'i', state: { running: {} } }] })).toBe('Init:0/1');
    expect(
      word({
        phase: 'Pending',
        initContainerStatuses: [{ name: 'i', state: { waiting: { reason: 'CrashLoopBackOff' } } }],
      }),
    ).toBe('Init:CrashLoopBackOff');
    expect(
      word({
        phase: 'Running',
        containerStatuses: [
          { name: 'a', ...running },
          { name: 'b', state: { waiting: { reason: 'ImagePullBackOff' } } },
        ],
      }),
    ).toBe('ImagePullBackOff');
    expect(
      word({
        phase: 'Succeeded',
        containerStatuses: [{ name: 'a', state: { terminated: { reason: 'Completed', exitCode: 0 } } }],
      }),
    ).toBe('Completed');
    expect(word({ phase: 'Failed', containerStatuses: [{ name: 'a', state: { terminated: { exitCode: 3 } } }] })).toBe(
      'ExitCode:3',
    );
    expect(word({ phase: 'Running' }, { metadata: { name: 'p', deletionTimestamp: '2030-01-01T00:00:00Z' } })).toBe(
      'Terminating',
    );
    expect(
      summaryOf(
        pod({ phase: 'Running', containerStatuses: [{ name: 'a', ...running, restartCount: 2 }, { name: 'b' }] }),
      ),
    ).toMatchObject({ ready: 1, total: 2, restarts: 2 });
  });

  it('can be printed for an object of any kind that says nothing of itself', () => {
    for (const kind of builtInKinds()) {
      const bare = { apiVersion: kind.apiVersion, kind: kind.kind, metadata: { name: 'bare' } };
      const object =
        kind.kind === 'Pod'
          ? { ...bare, spec: { containers: [] } }
          : kind.kind === 'PodDisruptionBudget'
            ? { ...bare, spec: {} }
            : bare;
      const cells = kind.cells(object, 0);
      expect(cells, kind.kind).toHaveLength(kind.columns.length);
      expect(JSON.parse(JSON.stringify(cells)), kind.kind).toEqual(cells);
    }
  });
});
