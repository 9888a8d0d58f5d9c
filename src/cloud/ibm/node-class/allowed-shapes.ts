/** Which profiles a class may launch. Pure. */
import type { IBMNodeClassSpec } from '../../../apis/ibm/ibm-node-class.ts';
import type { MachineShape } from '../profiles/machine-shape.ts';

/** The shapes that the class allows, whatever their price. */
export function allowedShapes(
  { instanceProfile, instanceRequirements = {} }: Pick<IBMNodeClassSpec, 'instanceProfile' | 'instanceRequirements'>,
  shapes: readonly MachineShape[],
  architecture: string | undefined,
): readonly MachineShape[] {
  const { minimumCPU = 0, minimumMemory = 0 } = instanceRequirements;
  const wanted = instanceRequirements.architecture ?? architecture;
  return shapes.filter(
    (shape) =>
      (instanceProfile === undefined || shape.name === instanceProfile) &&
      (wanted === undefined || shape.architecture === wanted) &&
      shape.vcpu >= minimumCPU &&
      shape.memoryGiB >= minimumMemory,
  );
}
