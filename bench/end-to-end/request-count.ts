/** How many requests a program has sent to the API server, by its own count. */

/** Spindrift and client-go call it the one, Karpenter the other. */
const COUNTERS = ['rest_client_requests_total', 'client_go_request_total'];

export interface Requests {
  readonly reads: number;
  readonly writes: number;
}

/** Reads the metrics that are served at a port of this machine. */
export async function requestsSent(metricsPort: number): Promise<Requests> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`, { signal: AbortSignal.timeout(10_000) });
  if (!answer.ok) throw new Error(`the metrics at port ${metricsPort} answer ${answer.status}`);
  return countRequests(await answer.text());
}

/** Sums the requests in the text of metrics. */
export function countRequests(metrics: string): Requests {
  let reads = 0;
  let writes = 0;
  for (const line of metrics.split('\n')) {
    if (!COUNTERS.some((name) => line.startsWith(`${name}{`))) continue;
    const count = Number(line.slice(line.lastIndexOf(' ') + 1));
    if (/method="GET"/i.test(line)) reads += count;
    else writes += count;
  }
  return { reads, writes };
}
