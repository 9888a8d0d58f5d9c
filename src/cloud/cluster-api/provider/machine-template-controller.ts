/** Writes into machine templates what their machines have, for autoscalers that scale from zero, and reports specs that can never be launched. */

import { keyOf, type Resource } from '../../../apis/kubernetes/object.ts';
import { quantities } from '../../../apis/kubernetes/resource-quantities.ts';
import type { KubeClient } from '../../../kube/client.ts';
import type { EventRecorder } from '../../../kube/event-recorder.ts';
import { Informer } from '../../../kube/informer.ts';
import type { Clock } from '../../../platform/clock.ts';
import { hasCode } from '../../../platform/errors.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { Random } from '../../../platform/random.ts';
import type { CloudController } from '../../cloud.ts';
import { machineSettings, objectAt } from '../infrastructure/machine-settings.ts';
import type { InfrastructureObject } from '../infrastructure-objects.ts';
import type { FindShape } from '../known-shapes.ts';
import type { ControllerWatch } from './controller-watch.ts';
import { reconcileKind } from './reconcile-kind.ts';

export interface MachineTemplateControllerOptions {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  readonly recorder: EventRecorder;
  readonly kind: Resource<InfrastructureObject>;
  readonly namespace?: string;
  readonly findShape: FindShape;
  readonly watch: ControllerWatch;
}

const MIB = 1024 * 1024;

export class MachineTemplateController implements CloudController {
  readonly name: string;
  readonly #options: MachineTemplateControllerOptions;
  readonly #templates: Informer<InfrastructureObject>;

  constructor(options: MachineTemplateControllerOptions) {
    this.#options = options;
    this.name = `cluster-api.provider.${options.kind.plural}`;
    const { client, clock, random, kind, namespace } = options;
    const selection = namespace === undefined ? {} : { namespace };
    this.#templates = new Informer({ client, clock, random, kind, selection });
  }

  async run(signal: AbortSignal): Promise<void> {
    const { clock, logger } = this.#options;
    const reconcile = (object: InfrastructureObject, stop: AbortSignal): Promise<void> => this.#reconcile(object, stop);
    await reconcileKind({ name: this.name, clock, logger, informer: this.#templates, reconcile }, signal);
  }

  async #reconcile(template: InfrastructureObject, signal: AbortSignal): Promise<void> {
    const { client, kind, recorder, watch } = this.#options;
    if (watch.other !== undefined) return;
    const spec = objectAt(objectAt(template.spec ?? {}, 'template') ?? {}, 'spec') ?? {};
    for (const { field, message } of machineSettings(kind.kind, spec).problems) {
      const text = `spec.template.spec.${field} ${message}`;
      recorder.record({ object: template, type: 'Warning', reason: 'InvalidConfiguration', message: text });
    }
    const status = capacityOf(kind.kind, spec, this.#options.findShape);
    if (status === undefined || template.status?.capacity !== undefined) return;
    const patch = { type: 'merge', body: { status } } as const;
    // Templates of CAPG have no status.
    await client.patch(kind, keyOf(template), patch, { signal, subresource: 'status' }).catch((error) => {
      if (!hasCode(error, 'KUBE_NOT_FOUND')) throw error;
    });
  }
}

/** As the contract names it; undefined for a type that the tables do not know. */
export function capacityOf(
  kind: string,
  spec: Readonly<Record<string, unknown>>,
  findShape: FindShape,
): { readonly capacity: object; readonly nodeInfo: object } | undefined {
  const { provider, instanceType, zone } = machineSettings(kind, spec);
  const shape = provider && instanceType !== undefined ? findShape(provider, instanceType, zone) : undefined;
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
