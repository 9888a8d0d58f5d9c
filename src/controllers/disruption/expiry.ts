import { durationMs } from '../../apis/karpenter/duration.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import type { StateNode } from '../../state/state-node.ts';

/** When the node has lived as long as it may; undefined for one that may live for ever. */
export function expiresAt({ claim }: StateNode): number | undefined {
  const createdAt = parseTimestamp(claim?.metadata.creationTimestamp);
  const livesMs = durationMs(claim?.spec.expireAfter ?? '');
  return createdAt === undefined || livesMs === undefined ? undefined : createdAt + livesMs;
}
