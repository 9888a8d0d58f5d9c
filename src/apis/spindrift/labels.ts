/** Node labels that Spindrift reads and other tools write. */
import { SPINDRIFT_GROUP } from './group.ts';

/** The prefix before the name of an OpenModel, on nodes that cache the files of the model in a directory or volume for its pods. */
export const MODEL_CACHE_PREFIX = `model-cache.${SPINDRIFT_GROUP}/`;
