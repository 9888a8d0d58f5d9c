/** Writes into machine templates what their machines have, for autoscalers that scale from zero, and reports specs that can never be launched. */
import { keyOf } from '../../../apis/kubernetes/object.ts';
import { quantities } from '../../../apis/kubernetes/resource-quantities.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { CloudController } from '../../cloud.ts';
import { machineSettings, objectAt } from '../infrastructure/machine-settings.ts';
import type { FindShape } from '../known-shapes.ts';
import type { ControllerWatch } from './controller-watch.ts';
import { KindController, type KindControllerOptions } from './kind-controller.ts';

export interface MachineTemplateControllerOptions extends KindControllerOptions {
  readonly findShape: FindShape;
  readonly watch: ControllerWatch;
}

const MIB = 1024 * 1024;

export function machineTemplateController(options: MachineTemplateControllerOptions): CloudController {
  const { client, kind, recorder, watch, findShape } = options;
  return new KindController(options, async (template, signal) => {
    if (watch.other !== undefined) return;
    const spec = objectAt(objectAt(template.spec ?? {}, 'template') ?? {}, 'spec') ?? {};
    for (const { field, message } of machineSettings(kind.kind, spec).problems) {
      const text = `spec.template.spec.${field} ${message}`;
      recorder.record({ object: template, type: 'Warning', reason: 'InvalidConfiguration', message: text });
    }
    const status = capacityOf(kind.kind, spec, findShape);
    if (status === undefined || template.status?.capacity !== undefined) return;
    const patch = { type: 'merge', body: { status } } as const;
    // Templates of CAPG have no status.
    await client.patch(kind, keyOf(template), patch, { signal, subresource: 'status' }).catch((error) => {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    });
  });
}

/** As the contract names it; undefined for a type that the tables do not know. */
export function capacityOf(
  kind: string,
  spec: Readonly<Record<string, unknown>>,
  findShape: FindShape,
): { readonly capacity: object; readonly nodeInfo: object } | undefined {
  const { provider, instanceType } = machineSettings(kind, spec);
  const shape = provider && instanceType !== undefined ? findShape(provider, instanceType, undefined) : undefined;
  if (shape === undefined) return undefined;
  const { accelerator } = shape;
  return {
    capacity: quantities({
      cpu: shape.vcpus * 1000,
      memory: shape.memoryMib * MIB,
      ...(accelerator && { [accelerator.resource]: accelerator.count }),
    }),
    nodeInfo: { architecture: shape.arch, operatingSystem: 'linux' },
  };
}
