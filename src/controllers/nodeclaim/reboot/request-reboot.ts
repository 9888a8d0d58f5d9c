import { durationMs } from '../../../apis/karpenter/duration.ts';
import { NODE_CLAIMS, type NodeClaim } from '../../../apis/karpenter/node-claim.ts';
import type { ControllersOptions } from '../../controllers-options.ts';
import { writeClaimConditions } from '../write-claim-conditions.ts';
import { ANNOTATION_PRE_BOOT_ID, ANNOTATION_REBOOT_GRACE, REBOOT_REQUESTED } from './decide-reboot.ts';
import { ANNOTATION_REBOOTS, withReboot } from './reboot-history.ts';

/** Requests a reboot of a claim's node. Its drain is bounded by `graceMs` and the claim's terminationGracePeriod, whichever is shorter. */
export async function requestReboot(
  options: Pick<ControllersOptions, 'clock' | 'writes'>,
  claim: NodeClaim,
  graceMs: number | undefined,
  signal: AbortSignal,
): Promise<void> {
  const { clock, writes } = options;
  const own = durationMs(claim.spec.terminationGracePeriod ?? '');
  const bound = Math.min(graceMs ?? Number.POSITIVE_INFINITY, own ?? Number.POSITIVE_INFINITY);
  const annotations = {
    [ANNOTATION_REBOOTS]: withReboot(claim, clock.now()),
    [ANNOTATION_PRE_BOOT_ID]: null,
    [ANNOTATION_REBOOT_GRACE]: Number.isFinite(bound) ? `${Math.ceil(bound / 1000)}s` : null,
  };
  const noted = await writes.patch(NODE_CLAIMS, writes.newest(claim), { metadata: { annotations } }, { signal });
  const message = 'the node is unhealthy and is rebooted when its pods have left';
  await writeClaimConditions(
    options,
    noted,
    [{ type: 'Rebooting', status: 'True', reason: REBOOT_REQUESTED, message }],
    signal,
  );
}
