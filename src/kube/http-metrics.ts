import type { Metrics } from '../platform/metrics.ts';

/** Receives the result of each request. */
export interface HttpObserver {
  answered(method: string, code: string, seconds: number): void;
}

/** client-go's metric names. One series per method and answer. */
export function httpMetrics(metrics: Metrics | undefined, host: string): HttpObserver {
  if (metrics === undefined) return { answered: () => {} };
  const requests = metrics.counter({
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, per method and answer (`error`: no answer)',
    labels: ['host', 'method', 'code'],
  });
  const duration = metrics.histogram({
    name: 'rest_client_request_duration_seconds',
    help: 'Time from sending a request to the headers of its answer, per method',
    labels: ['host', 'method'],
  });
  return {
    answered: (method, code, seconds) => {
      requests.add({ host, method, code });
      duration.observe({ host, method }, seconds);
    },
  };
}
