import { describe, expect, it } from 'vitest';
import { SpindriftError } from '../platform/errors.ts';
import { Metrics } from '../platform/metrics.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { callMeasure } from './call-measure.ts';

describe('a measured call of a cloud', () => {
  const clock = new VirtualClock();
  const metrics = new Metrics();
  const measure = callMeasure({ controller: 'nodeclaim.lifecycle', clock, metrics });

  it('is timed by controller, method and cloud', async () => {
    await clock.run(measure({ method: 'List', cloud: 'aws' }, () => clock.sleep(400)));
    expect(await metrics.text()).toContain(
      'karpenter_cloudprovider_duration_seconds_sum{controller="nodeclaim.lifecycle",method="List",provider="aws"} 0.4',
    );
  });

  it('is counted by the error names that dashboards look for when it fails, and the error is passed on', async () => {
    const failure = new SpindriftError('CLOUD_INSTANCE_NOT_FOUND', { instance: 'i-1' });
    const call = measure({ method: 'Get', cloud: 'aws', pool: 'general' }, () => Promise.reject(failure));
    await expect(call).rejects.toBe(failure);
    const labels = { method: 'Get', error: 'NodeClaimNotFoundError', nodepool: 'general' };
    expect(await metrics.read('karpenter_cloudprovider_errors_total', labels)).toBe(1);
  });
});
