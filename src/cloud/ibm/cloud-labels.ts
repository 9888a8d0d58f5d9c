/** The labels of IBM Cloud, besides those of every cloud. */
import {
  IBM_GROUP,
  LABEL_IBM_CPU,
  LABEL_IBM_FAMILY,
  LABEL_IBM_GENERATION,
  LABEL_IBM_GPU_COUNT,
  LABEL_IBM_GPU_MANUFACTURER,
  LABEL_IBM_GPU_MEMORY,
  LABEL_IBM_GPU_NAME,
  LABEL_IBM_LOCAL_STORAGE,
  LABEL_IBM_MEMORY,
  LABEL_IBM_SIZE,
} from '../../apis/ibm/labels.ts';
import type { CloudLabels } from '../cloud.ts';

export const IBM_LABELS: CloudLabels = {
  wellKnown: [
    LABEL_IBM_FAMILY,
    LABEL_IBM_SIZE,
    LABEL_IBM_GENERATION,
    LABEL_IBM_CPU,
    LABEL_IBM_MEMORY,
    LABEL_IBM_GPU_COUNT,
    LABEL_IBM_GPU_NAME,
    LABEL_IBM_GPU_MANUFACTURER,
    LABEL_IBM_GPU_MEMORY,
    LABEL_IBM_LOCAL_STORAGE,
  ],
  restrictedDomains: [IBM_GROUP],
};
