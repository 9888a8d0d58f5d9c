/** Host ports of pods. */
import type { HostPort } from '../problem.ts';

/** Whether two pods with these ports cannot share a node: same port and protocol on a common address. */
export function portsConflict(a: HostPort, b: HostPort): boolean {
  if (a.port !== b.port || (a.protocol ?? 'TCP') !== (b.protocol ?? 'TCP')) return false;
  return isWildcard(a.hostIP) || isWildcard(b.hostIP) || a.hostIP === b.hostIP;
}

/** Whether any port of one list conflicts with any of the other. */
export function anyPortConflicts(a: readonly HostPort[], b: readonly HostPort[]): boolean {
  return a.some((one) => b.some((other) => portsConflict(one, other)));
}

function isWildcard(address: string | undefined): boolean {
  return address === undefined || address === '' || address === '0.0.0.0' || address === '::';
}
