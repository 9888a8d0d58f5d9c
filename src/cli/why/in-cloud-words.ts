import type { UnplacedReason } from '../../engine/solution.ts';

/** The reason with the instance type as the cloud calls it, which a problem of several node classes may call otherwise. */
export function inCloudWords(reason: UnplacedReason, cloudName: (instanceType: string) => string): UnplacedReason {
  const { nearest } = reason;
  return nearest === undefined
    ? reason
    : { ...reason, nearest: { ...nearest, instanceType: cloudName(nearest.instanceType) } };
}
