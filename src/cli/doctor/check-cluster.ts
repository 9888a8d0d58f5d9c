/** The API server: whether it answers, its version, and its clock. */
import { NODES } from '../../apis/kubernetes/node.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import { decideClock, decideNodeClocks } from './decide-clock.ts';
import type { Finding } from './finding.ts';
import type { Check } from './ground.ts';
import { whereAllowed } from './where-allowed.ts';

/** The oldest minor version that is tested with our definitions and bound tokens. */
const OLDEST_MINOR = 30;

export const checkCluster: Check = async ({ client, clock, get, server, signal }) => {
  const askedAt = clock.now();
  const { code, text, serverTime } = await get('/version');
  const answeredAt = clock.now();
  const findings: Finding[] = [versionFinding(server, code, text)];
  if (serverTime !== undefined) findings.push(decideClock({ askedAt, answeredAt, serverTime }));
  else findings.push({ check: 'clock', status: 'skipped', text: 'the API server sends no Date header' });
  const nodes = await whereAllowed(() => client.list(NODES, {}, { signal }));
  const readings = (nodes?.items ?? []).map(({ metadata: { name = '' }, status }) => {
    const heartbeat = status?.conditions?.find(({ type }) => type === 'Ready')?.lastHeartbeatTime;
    return { name, heartbeat: parseTimestamp(heartbeat) };
  });
  const off = decideNodeClocks(readings, serverTime ?? answeredAt);
  return off === undefined ? findings : [...findings, off];
};

function versionFinding(server: string, code: number, text: string): Finding {
  const { gitVersion = '', major = '', minor = '' } = code === 200 ? (JSON.parse(text) as Record<string, string>) : {};
  if (gitVersion === '')
    return {
      check: 'cluster',
      status: 'warning',
      text: `${server} answers ${code} to /version`,
      todo: 'is it a Kubernetes API server?',
    };
  const found = `${server} runs Kubernetes ${gitVersion.replace(/^v/, '')}`;
  if (major === '1' && Number.parseInt(minor, 10) < OLDEST_MINOR)
    return {
      check: 'cluster',
      status: 'warning',
      text: `${found}, which is older than 1.${OLDEST_MINOR}`,
      todo: 'upgrade the cluster: Spindrift is not tested with this version',
    };
  return { check: 'cluster', status: 'ok', text: found };
}
