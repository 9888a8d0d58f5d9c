import type { CustomResourceDefinition } from '../../crd/custom-resource-definition.ts';
import { defaultDefinition, validateDefinition } from '../../crd/definition-rules.ts';
import type { Draft, KindRules } from '../kind.ts';

/** Holds a definition that is being deleted until its objects are gone. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export const definitionRules: KindRules = {
  defaults: withDefaults,
  prepareCreate: (object) => {
    const others = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== CLEANUP_FINALIZER);
    const held = { ...object, metadata: { ...object.metadata, finalizers: [...others, CLEANUP_FINALIZER] } };
    // storedVersions is part of the status, which new objects do not have; so defaults are applied again.
    return withDefaults(held);
  },
  validate: (object, old) =>
    validateDefinition(
      object as unknown as CustomResourceDefinition,
      old as unknown as CustomResourceDefinition | undefined,
    ),
};

function withDefaults(object: Draft): Draft {
  if (object.spec === undefined) return object;
  return defaultDefinition(object as unknown as CustomResourceDefinition) as unknown as Draft;
}
