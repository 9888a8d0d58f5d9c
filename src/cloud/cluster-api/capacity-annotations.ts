/** The annotations by which autoscalers learn what a machine of a MachineDeployment would have, before there is one. */
import { CAPACITY_ANNOTATIONS } from '../../apis/cluster-api/names.ts';
import { milliValue, wholeValue } from '../../apis/kubernetes/quantity.ts';
import type { Labels, Resources, Taint } from '../../engine/problem.ts';
import { asError } from '../../platform/errors.ts';

export interface DescribedCapacity {
  readonly capacity: Resources;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** Annotations that cannot be read, as sentences. */
  readonly problems: readonly string[];
}

/** Reads the annotations; what cannot be read is left out and told. */
export function describedCapacity(annotations: Readonly<Record<string, string>> = {}): DescribedCapacity {
  const problems: string[] = [];
  const at = (name: string): string | undefined => annotations[`${CAPACITY_ANNOTATIONS}/${name}`];
  const amount = (name: string, read: (text: string) => bigint): number | undefined => {
    const text = at(name);
    if (text === undefined) return undefined;
    try {
      return Number(read(text));
    } catch (error) {
      problems.push(`annotation ${CAPACITY_ANNOTATIONS}/${name}: ${asError(error).message}`);
      return undefined;
    }
  };
  const gpuType = at('gpu-type');
  const amounts = {
    cpu: amount('cpu', milliValue),
    memory: amount('memory', wholeValue),
    'ephemeral-storage': amount('ephemeral-disk', wholeValue),
    pods: amount('maxPods', wholeValue),
    // Without the type the resource is unknown, and autoscalers ignore the count.
    ...(gpuType !== undefined && { [gpuType]: amount('gpu-count', wholeValue) }),
  };
  return {
    capacity: Object.fromEntries(
      Object.entries(amounts).filter((entry): entry is [string, number] => entry[1] !== undefined),
    ),
    labels: Object.fromEntries(pairs(at('labels'))),
    taints: listOf(at('taints')).flatMap((text) => taintOf(text, problems)),
    problems,
  };
}

function listOf(text: string | undefined): readonly string[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function pairs(text: string | undefined): readonly (readonly [string, string])[] {
  return listOf(text).map((part) => {
    const equals = part.indexOf('=');
    return equals < 0 ? [part, ''] : [part.slice(0, equals), part.slice(equals + 1)];
  });
}

function taintOf(text: string, problems: string[]): readonly Taint[] {
  const match = /^([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)$/.exec(text);
  if (match === null) {
    problems.push(`annotation ${CAPACITY_ANNOTATIONS}/taints: ${text} is not key=value:Effect`);
    return [];
  }
  const [, key = '', value, effect] = match;
  return [{ key, ...(value !== undefined && value !== '' && { value }), effect: effect as Taint['effect'] }];
}
