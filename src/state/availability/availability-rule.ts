/** The number of replicas that a service keeps ready, by its annotations. Pure. */
import type { KubeObject } from '../../apis/kubernetes/object.ts';
import {
  ANNOTATION_EXTRA_SPOT_REPLICAS,
  ANNOTATION_ON_DEMAND_REPLICAS,
  ANNOTATION_READY_REPLICAS,
} from '../../apis/spindrift/annotations.ts';

/** The replicas that a service asks for. */
export interface AvailabilityRule {
  /** Replicas that must be ready. */
  readonly ready: number;
  /** Extra replicas on spot, for replicas that are lost. */
  readonly extra: number;
  /** Replicas that are always on demand. */
  readonly onDemand: number;
}

/** The rule of an object; undefined without the annotation. */
export function availabilityRule({
  metadata,
}: KubeObject): AvailabilityRule | { readonly problem: string } | undefined {
  const { annotations = {} } = metadata;
  if (annotations[ANNOTATION_READY_REPLICAS] === undefined) return undefined;
  const problems: string[] = [];
  const read = (name: string, least: number, fallback: number): number => {
    const text = annotations[name];
    if (text === undefined) return fallback;
    const number = /^\d{1,5}$/.test(text) ? Number(text) : -1;
    if (number < least)
      problems.push(`its annotation ${name} is ${JSON.stringify(text)}: write a whole number from ${least}`);
    return number;
  };
  const ready = read(ANNOTATION_READY_REPLICAS, 1, 1);
  const extra = read(ANNOTATION_EXTRA_SPOT_REPLICAS, 0, 1);
  const onDemand = read(ANNOTATION_ON_DEMAND_REPLICAS, 0, 0);
  if (problems.length === 0 && onDemand > ready)
    problems.push(
      `its annotation ${ANNOTATION_ON_DEMAND_REPLICAS} is ${onDemand}, more than the ${ready} of ${ANNOTATION_READY_REPLICAS}`,
    );
  return problems.length === 0 ? { ready, extra, onDemand } : { problem: problems.join('; ') };
}
