/** Maintains EC2NodeClasses: their status, and the resources created for them. */
import type { Ec2NodeClass } from '../../../apis/aws/ec2-node-class.ts';
import { ANNOTATION_INSTANCE_PROFILE } from '../../../apis/aws/labels.ts';
import type { CloudController } from '../../cloud.ts';
import type { CloudWorld } from '../../cloud-module.ts';
import { NodeClassController } from '../../node-class/node-class-controller.ts';
import type { NodeClassKind } from '../../node-class-kind.ts';
import type { Ec2Catalogue } from '../catalogue/ec2-catalogue.ts';
import type { LaunchTemplates } from '../launch/launch-templates.ts';
import type { InstanceProfiles } from './instance-profiles.ts';
import { resolveAndValidate } from './resolve-and-validate.ts';
import type { ResolveOptions } from './resolve-node-class.ts';
import type { NodeClassValidation } from './validate-node-class.ts';

const PROFILES_MS = 30 * 60_000;

export interface Ec2NodeClassControllerOptions {
  readonly world: CloudWorld;
  readonly kind: NodeClassKind<Ec2NodeClass>;
  readonly resolve: ResolveOptions;
  readonly validation: NodeClassValidation;
  readonly profiles: InstanceProfiles;
  readonly templates: LaunchTemplates;
  readonly catalogue: Ec2Catalogue;
  readonly isolated: boolean;
}

export function ec2NodeClassController(options: Ec2NodeClassControllerOptions): CloudController {
  const { world, kind, resolve, validation, profiles, templates, catalogue, isolated } = options;
  const tidiedAt = new Map<string, number>();
  const usedProfiles = (nodeClass: Ec2NodeClass): ReadonlySet<string> => {
    const ofClaims = world.informers.nodeClaims
      .list()
      .flatMap(({ metadata }) => metadata.annotations?.[ANNOTATION_INSTANCE_PROFILE] ?? []);
    const current = nodeClass.status?.instanceProfile;
    return new Set(current === undefined ? ofClaims : [...ofClaims, current]);
  };
  /** Deletes profiles of former roles once no instance uses them. */
  const tidyProfiles = async (nodeClass: Ec2NodeClass, signal: AbortSignal): Promise<void> => {
    const { name = '' } = nodeClass.metadata;
    const now = world.clock.elapsed();
    if (isolated || nodeClass.spec.role === undefined) return;
    if (now - (tidiedAt.get(name) ?? Number.NEGATIVE_INFINITY) < PROFILES_MS) return;
    tidiedAt.set(name, now);
    await profiles.deleteUnused(nodeClass, usedProfiles(nodeClass), signal);
  };
  return new NodeClassController<Ec2NodeClass>({
    name: 'aws.nodeclass',
    kind,
    world,
    resolve: async (nodeClass, signal) => {
      const resolution = await resolveAndValidate(nodeClass, resolve, validation, signal);
      if (nodeClass.status?.instanceProfile === resolution.status.instanceProfile)
        await tidyProfiles(nodeClass, signal);
      return resolution;
    },
    cleanUp: async (nodeClass, signal) => {
      await templates.deleteOf(nodeClass.metadata.name ?? '', signal);
      if (!isolated && nodeClass.spec.role !== undefined) await profiles.deleteUnused(nodeClass, new Set(), signal);
    },
    forget: (name) => {
      catalogue.forget(name);
      tidiedAt.delete(name);
    },
  });
}
