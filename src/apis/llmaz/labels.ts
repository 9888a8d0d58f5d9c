/** Names that llmaz writes on the pods of its inference services. */

export const LLMAZ_GROUP = 'llmaz.io';

/** On pods: the OpenModel that is served. */
export const LABEL_MODEL_NAME = `${LLMAZ_GROUP}/model-name`;

/** On pods: which flavors of the model may be used, in the order of preference, separated by commas. */
export const ANNOTATION_FLAVORS = `${LLMAZ_GROUP}/inference-service-flavors`;
