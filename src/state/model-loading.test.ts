import { describe, expect, it } from 'vitest';
import type { Pod } from '../apis/kubernetes/pod.ts';
import type { InformerHandler } from '../kube/informer.ts';
import { LoadingTimes, loadingMs, loadingTime } from './model-loading.ts';
import { aModelPod } from './testkit/a-model.ts';

function aPod(startTime: string, readyAt: string, status = 'True', model = 'qwen'): Pod {
  const conditions = [{ type: 'Ready', status: status as 'True', lastTransitionTime: readyAt }];
  return { ...aModelPod('a', model), status: { phase: 'Running', startTime, conditions } };
}

describe('the loading time of a model', () => {
  it('is from the start of a pod on its node until it is ready', () => {
    expect(loadingMs(aPod('2030-01-01T00:00:00Z', '2030-01-01T00:01:30Z'))).toBe(90_000);
    expect(loadingMs(aPod('2030-01-01T00:00:00Z', '2030-01-01T00:01:30Z', 'False'))).toBeUndefined();
    expect(loadingMs(aPod('2030-01-01T00:02:00Z', '2030-01-01T00:01:30Z'))).toBeUndefined();
    expect(loadingMs(aModelPod('a', 'qwen'))).toBeUndefined();
  });

  it('is the median of the pods that serve it, and of no others', () => {
    const pods = [
      aPod('2030-01-01T00:00:00Z', '2030-01-01T00:01:00Z'),
      aPod('2030-01-01T00:00:00Z', '2030-01-01T00:01:30Z'),
      // It became unready a day later, and recovered.
      aPod('2030-01-01T00:00:00Z', '2030-01-02T00:00:00Z'),
      aPod('2030-01-01T00:00:00Z', '2030-01-01T00:00:01Z', 'True', 'other'),
    ];
    expect(loadingTime('qwen', pods)).toEqual({ model: 'qwen', ms: 90_000, pods: 3 });
    expect(loadingTime('none', pods)).toBeUndefined();
  });

  it('is remembered when the pods are gone, and counts each pod once, when it is first ready (5)', () => {
    let handler: InformerHandler<Pod> = {};
    const times = new LoadingTimes({
      addHandler: (given) => {
        handler = given;
        return () => {};
      },
    });
    const named = (uid: string, readyAt: string): Pod => {
      const pod = aPod('2030-01-01T00:00:00Z', readyAt);
      return { ...pod, metadata: { ...pod.metadata, uid } };
    };
    const first = named('1', '2030-01-01T00:01:00Z');
    handler.added?.(first);
    handler.updated?.(named('1', '2030-01-01T09:00:00Z'), first);
    handler.added?.(named('2', '2030-01-01T00:01:10Z'));
    handler.deleted?.(first, first);
    expect(times.ofPod(aModelPod('b', 'qwen'))).toEqual({ model: 'qwen', ms: 70_000, pods: 2 });
    expect(times.ofPod(aModelPod('b', 'other'))).toBeUndefined();
  });
});
