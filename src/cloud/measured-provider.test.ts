import { describe, expect, it } from 'vitest';
import { Metrics } from '../platform/metrics.ts';
import { seededRandom } from '../platform/random.ts';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { measuredProvider } from './measured-provider.ts';
import { Reservations } from './reservations.ts';
import { NO_FAULTS } from './simulated/account-settings.ts';
import { SimulatedCloud } from './simulated/simulated-cloud.ts';
import { SimulatedProvider } from './simulated/simulated-provider.ts';
import { anAccount } from './simulated/testkit/small-account.ts';
import { UnavailableOfferings } from './unavailable-offerings.ts';

const NEVER = new AbortController().signal;

describe('a measured provider', () => {
  const clock = new VirtualClock();
  const metrics = new Metrics();
  const cloud = new SimulatedCloud({ clock, random: seededRandom('test') });
  cloud.configure('account', anAccount({ faults: { ...NO_FAULTS, latencyMs: 400 } }));
  const provider = measuredProvider({
    provider: new SimulatedProvider({
      clock,
      cloud,
      cluster: 'test',
      unavailable: new UnavailableOfferings({ clock }),
      reservations: new Reservations({ clock }),
    }),
    controller: 'nodeclaim.lifecycle',
    clock,
    metrics,
  });

  it('times each call by controller and method', async () => {
    await clock.run(provider.list(NEVER));
    const text = await metrics.text();
    expect(text).toContain(
      'karpenter_cloudprovider_duration_seconds_sum{controller="nodeclaim.lifecycle",method="List",provider="simulated"} 0.4',
    );
  });

  it('counts errors by the names that dashboards look for, and passes them on', async () => {
    const call = provider.get('simulated:///region-1/zone-a/i-1', NEVER);
    await expect(clock.run(call)).rejects.toMatchObject({ code: 'CLOUD_INSTANCE_NOT_FOUND' });
    const labels = { method: 'Get', error: 'NodeClaimNotFoundError', nodepool: '' };
    expect(await metrics.read('karpenter_cloudprovider_errors_total', labels)).toBe(1);
  });

  it('has everything that the provider has', () => {
    expect(provider.reboot).toBeDefined();
    expect(provider.settleMs).toBe(0);
    expect(provider.name).toBe('simulated');
  });
});
