import type { CustomResourceDefinition } from '../../crd/custom-resource-definition.ts';
import { defaultDefinition, validateDefinition } from '../../crd/definition-rules.ts';
import type { Draft, KindRules } from '../kind.ts';

/** Holds a definition that is being deleted until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const definitionRules: KindRules = {
  defaults: (object) =>
    object.spec === undefined ? object : asDraft(defaultDefinition(object as unknown as CustomResourceDefinition)),
  prepareCreate: (object) => {
    const others = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    return { ...object, metadata: { ...object.metadata, finalizers: [...others, CLEANUP_FINALIZER] } };
  },
  validate: (object, old) =>
    validateDefinition(
      object as unknown as CustomResourceDefinition,
      old as unknown as CustomResourceDefinition | undefined,
    ),
};

function asDraft(definition: CustomResourceDefinition): Draft {
  return definition as unknown as Draft;
}
