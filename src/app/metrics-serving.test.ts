import { describe, expect, it } from 'vitest';
import { VirtualClock } from '../platform/virtual-clock.ts';
import { type MetricsServing, metricsServing } from './metrics-serving.ts';

const clock = new VirtualClock();
const serving = (options: Partial<MetricsServing>) =>
  metricsServing({ host: '0.0.0.0', metricsPort: 8080, ...options }, clock);

describe('metricsServing', () => {
  it('serves metrics where probes are served, to all, unless told otherwise', () => {
    expect(serving({})).toEqual({ host: '0.0.0.0', port: 8080, needsToken: false });
    expect(serving({ metricsHost: '127.0.0.1' }).host).toBe('127.0.0.1');
    expect(serving({ metricsAuthentication: 'token' }).needsToken).toBe(true);
  });

  it('wants a certificate and its key together', () => {
    const tls = { metricsTlsCertFile: 'a', metricsTlsKeyFile: 'b' };
    expect(serving(tls).tls).toEqual({ certificate: 'a', key: 'b' });
    expect(() => serving({ metricsTlsCertFile: 'a' })).toThrow(
      /--metrics-tls-key-file is .*--metrics-tls-cert-file is given/,
    );
    expect(() => serving({ metricsTlsKeyFile: 'b' })).toThrow(
      /--metrics-tls-cert-file is .*--metrics-tls-key-file is given/,
    );
  });

  it('shows profiles on loopback, or to those with a token', () => {
    expect(() => serving({ enableProfiling: true })).toThrow(/--metrics-authentication is none, but it must be token/);
    expect(serving({ enableProfiling: true, metricsHost: '127.0.0.1' }).profiling).toBe(clock);
    expect(serving({ enableProfiling: true, metricsHost: '::1' }).profiling).toBe(clock);
    expect(serving({ enableProfiling: true, metricsAuthentication: 'token' }).profiling).toBe(clock);
  });
});
