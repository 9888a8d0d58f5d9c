import { LABEL_WATCH_FILTER } from '../../../apis/cluster-api/names.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';
import { FINALIZER_INSTANCE } from '../own-names.ts';
import type { ProvidedKinds } from './provided-kinds.ts';

/** The value of the watch filter for machines that are ours by name. */
const OUR_FILTER = 'spindrift';

/** The controller that owns an infrastructure machine, as a sentence; undefined when Spindrift does. */
export function foreignOwner(
  { metadata }: InfrastructureObject,
  { controller, finalizer }: ProvidedKinds,
  /** Where the provider itself was seen. */
  other: string | undefined,
): string | undefined {
  if (other !== undefined) return `${controller.name} is there (${other})`;
  const finalizers = metadata.finalizers ?? [];
  if (finalizers.includes(finalizer) && !finalizers.includes(FINALIZER_INSTANCE))
    return `it carries the finalizer of ${controller.name}`;
  const filter = metadata.labels?.[LABEL_WATCH_FILTER];
  return filter === undefined || filter === OUR_FILTER ? undefined : `its ${LABEL_WATCH_FILTER} is ${filter}`;
}
