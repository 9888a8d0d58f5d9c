import { durationMs } from '../../apis/karpenter/duration.ts';
import { parseTimestamp } from '../../platform/clock.ts';
import type { StateNode } from '../../state/state-node.ts';

/** When the claim's `expireAfter` ends; undefined if it never expires. */
export function expiresAt({ claim }: StateNode): number | undefined {
  const createdAt = parseTimestamp(claim?.metadata.creationTimestamp);
  const livesMs = durationMs(claim?.spec.expireAfter ?? '');
  return createdAt === undefined || livesMs === undefined ? undefined : createdAt + livesMs;
}
