/**
 * OpenModel, llmaz.io/v1alpha1, with the fields that are read. The definition is used by `spindrift plan` and tests; Spindrift
 * never installs it, as the kind belongs to llmaz.
 */
import { type KubeObject, resource } from '../kubernetes/object.ts';
import { customResourceDefinition } from '../schema/custom-resource-definition.ts';
import { required, type Static } from '../schema/schema.ts';
import { LLMAZ_GROUP } from './labels.ts';
import { OPEN_MODEL_SPEC, OPEN_MODEL_STATUS } from './open-model-schema.ts';

export type OpenModelSpec = Static<typeof OPEN_MODEL_SPEC>;
export type Flavor = NonNullable<NonNullable<OpenModelSpec['inferenceConfig']>['flavors']>[number];

export interface OpenModel extends KubeObject {
  readonly spec: OpenModelSpec;
}

export const OPEN_MODELS = resource<OpenModel>(`${LLMAZ_GROUP}/v1alpha1`, 'OpenModel', 'openmodels', 'cluster');

export const OPEN_MODEL_DEFINITION = customResourceDefinition(OPEN_MODELS, {
  description: 'A model, and the machines that can serve it, in the order of preference.',
  spec: required(OPEN_MODEL_SPEC),
  status: OPEN_MODEL_STATUS,
  shortNames: ['om'],
  categories: [],
  columns: [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }],
});
