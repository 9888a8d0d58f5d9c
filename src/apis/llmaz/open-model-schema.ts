/** The schema of OpenModel, llmaz.io/v1alpha1: the fields of llmaz 0.1. */
import { conditions } from '../karpenter/condition-schema.ts';
import { defaulted, list, map, object, quantity, required, text } from '../schema/schema.ts';

const word = (description: string) => text(description, { maxLength: 253 });

const modelHub = object('A hub that the model is loaded from.', {
  name: defaulted('Huggingface', word('The hub: Huggingface or ModelScope.')),
  modelID: word('The name of the model on the hub.'),
  filename: word('One file of the model.'),
  revision: defaulted('main', word('The revision of the model.')),
  allowPatterns: list('Only files that match are loaded.', word('A pattern.')),
  ignorePatterns: list('Files that match are not loaded.', word('A pattern.')),
});

/** A kind of machine that can serve the model. */
export const FLAVOR = object('A kind of machine that can serve the model.', {
  name: required(word('The name by which services pick the flavor.')),
  limits: map('The resources of a replica.', quantity()),
  requests: map('The same, as llmaz 0.1.0 calls it.', quantity()),
  nodeSelector: map('Labels of nodes of this flavor; without any, every node matches.', word('A value.')),
  params: map('Parameters for other components.', word('A value.')),
});

/** The spec as llmaz 0.1 defines it. */
export const OPEN_MODEL_SPEC = object('A model and the machines that can serve it.', {
  familyName: word('The family of the model.'),
  source: object('Where the model is loaded from.', {
    modelHub,
    uri: word('An address such as s3://, gcs://, oss://, ollama:// or host://.'),
  }),
  inferenceConfig: object('How the model is served.', {
    flavors: list('The flavors, in the order of preference.', FLAVOR),
  }),
  ownedBy: word('The owner of the model.'),
  createdAt: text('When the model was made.'),
});

export const OPEN_MODEL_STATUS = object('The state that llmaz reports.', { conditions: conditions('reason optional') });
