/** Derives the settings of the metrics server from options; refuses unprotected profiles, and a certificate without its key. */
import { isIPv4 } from 'node:net';
import type { StatusServerOptions } from '../dashboard/status-server.ts';
import type { Clock } from '../platform/clock.ts';
import { SpindriftError } from '../platform/errors.ts';

export interface MetricsServing {
  readonly host: string;
  readonly metricsPort: number;
  readonly metricsHost?: string | undefined;
  readonly metricsTlsCertFile?: string | undefined;
  readonly metricsTlsKeyFile?: string | undefined;
  readonly metricsAuthentication?: 'none' | 'token';
  readonly enableProfiling?: boolean;
}

export interface ServedMetrics extends Pick<StatusServerOptions, 'host' | 'port' | 'tls' | 'profiling'> {
  /** Whether requests need a token of the cluster. */
  readonly needsToken: boolean;
}

export function metricsServing(options: MetricsServing, clock: Clock): ServedMetrics {
  const { metricsTlsCertFile: certificate, metricsTlsKeyFile: key, metricsPort: port } = options;
  const { metricsHost: host = options.host, metricsAuthentication = 'none', enableProfiling = false } = options;
  if ((certificate === undefined) !== (key === undefined)) {
    const [option, other] =
      key === undefined
        ? ['--metrics-tls-key-file', '--metrics-tls-cert-file']
        : ['--metrics-tls-cert-file', '--metrics-tls-key-file'];
    throw new SpindriftError('OPTION_INVALID', { option, value: '', allowed: `a file, because ${other} is given` });
  }
  const needsToken = metricsAuthentication === 'token';
  if (enableProfiling && !needsToken && !isLoopback(host)) {
    const allowed = `token, because --enable-profiling is given and metrics are served on ${host}; or serve them on --metrics-host 127.0.0.1`;
    throw new SpindriftError('OPTION_INVALID', { option: '--metrics-authentication', value: 'none', allowed });
  }
  return {
    ...{ host, port, needsToken },
    ...(certificate !== undefined && key !== undefined && { tls: { certificate, key } }),
    ...(enableProfiling && { profiling: clock }),
  };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
