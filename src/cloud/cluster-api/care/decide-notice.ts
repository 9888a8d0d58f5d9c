/** Whether the state of a machine says that its instance will end, or has ended. Pure. */
import type { CoreMachine } from '../../../apis/cluster-api/machine.ts';
import { ANNOTATION_REMEDIATE_MACHINE } from '../../../apis/cluster-api/names.ts';
import type { Node } from '../../../apis/kubernetes/node.ts';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import type { NoticeKind } from '../../notice.ts';
import { isMarked } from '../census.ts';
import { isInstanceGone } from '../infrastructure/create-failure.ts';
import { machineSettings } from '../infrastructure/machine-settings.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';

export interface MachineNotice {
  readonly kind: NoticeKind;
  readonly at: EpochMs;
  readonly deadline?: EpochMs;
  readonly detail: string;
}

/** How long before the end of a preemptible instance its replacement begins. */
export const END_LEAD_MS = 3_600_000;
/** A stopped instance says nothing any more; after this long its Node is taken for evicted. */
const SILENT_MS = 60_000;

export function decideNotice(
  machine: CoreMachine,
  infrastructure: InfrastructureObject | undefined,
  node: Node | undefined,
  now: EpochMs,
): MachineNotice | undefined {
  const { metadata } = machine;
  const deletedAt = parseTimestamp(metadata.deletionTimestamp);
  // We have marked it for deletion ourselves.
  if (isMarked(machine)) return undefined;
  if (deletedAt !== undefined)
    return { kind: 'stopping', at: deletedAt, detail: `machine ${metadata.name} is being deleted` };
  if (metadata.annotations?.[ANNOTATION_REMEDIATE_MACHINE] !== undefined) {
    return { kind: 'scheduled-maintenance', at: now, detail: `machine ${metadata.name} is marked to be remediated` };
  }
  if (infrastructure === undefined || machine.spec?.providerID === undefined) return undefined;
  const gone = isInstanceGone(infrastructure.status ?? {});
  if (gone !== undefined) return { kind: 'preempted', at: now, detail: gone };
  const { spot } = machineSettings(infrastructure.kind, infrastructure.spec ?? {});
  if (spot === undefined) return undefined;
  const silentSince = notReadySince(node);
  if (spot.staysWhenEvicted && silentSince !== undefined && now - silentSince >= SILENT_MS) {
    return {
      kind: 'preempted',
      at: silentSince,
      detail: `node ${node?.metadata.name} is silent and its spot instance stays behind when it is evicted`,
    };
  }
  const startedAt = parseTimestamp(metadata.creationTimestamp);
  if (spot.endsAfterMs === undefined || startedAt === undefined) return undefined;
  const deadline = (startedAt + spot.endsAfterMs) as EpochMs;
  if (now < deadline - END_LEAD_MS) return undefined;
  return {
    kind: 'scheduled-maintenance',
    at: (deadline - END_LEAD_MS) as EpochMs,
    deadline,
    detail: 'preemptible instances end after 24 hours',
  };
}

function notReadySince(node: Node | undefined): EpochMs | undefined {
  const ready = node?.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined || ready.status !== 'Unknown' ? undefined : parseTimestamp(ready.lastTransitionTime);
}
