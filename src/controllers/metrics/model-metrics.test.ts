import { expect, it } from 'vitest';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import type { InformerHandler } from '../../kube/informer.ts';
import { Metrics } from '../../platform/metrics.ts';
import { aModelPod } from '../../state/testkit/a-model.ts';
import { ModelMetrics } from './model-metrics.ts';

function aPod(name: string, readyAt?: string): Pod {
  const pod = aModelPod(name, 'qwen');
  const status = readyAt === undefined ? 'False' : 'True';
  const conditions = [{ type: 'Ready', status: status as 'True', lastTransitionTime: readyAt ?? '' }];
  const metadata = { ...pod.metadata, uid: name };
  return { ...pod, metadata, status: { startTime: '2030-01-01T00:00:00Z', conditions } };
}

it('observes each pod once, when it is ready for the first time', async () => {
  const metrics = new Metrics();
  let handler: InformerHandler<Pod> = {};
  const addHandler = (given: InformerHandler<Pod>) => {
    handler = given;
    return () => {};
  };
  new ModelMetrics({ metrics }).follow({ addHandler });
  handler.added?.(aPod('old', '2030-01-01T00:00:20Z'));
  handler.updated?.(aPod('old', '2030-01-01T05:00:00Z'), aPod('old'));
  handler.added?.(aPod('new'));
  handler.updated?.(aPod('new', '2030-01-01T00:01:30Z'), aPod('new'));
  handler.updated?.(aPod('new'), aPod('new', '2030-01-01T00:01:30Z'));
  handler.updated?.(aPod('new', '2030-01-01T09:00:00Z'), aPod('new'));
  const text = await metrics.text();
  expect(text).toContain('spindrift_models_loading_duration_seconds_sum{model="qwen"} 90\n');
  expect(text).toContain('spindrift_models_loading_duration_seconds_count{model="qwen"} 1\n');
});
