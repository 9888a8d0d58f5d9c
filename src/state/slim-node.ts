/** The fields of nodes that are cached. Only large images are kept, because they take long to pull. Pure. */
import type { Node } from '../apis/kubernetes/node.ts';
import { withoutManagedFields } from '../kube/informer.ts';

/** Smaller images are pulled in seconds. Images of model servers are at least ten times larger. */
const LARGE_BYTES = 256 * 1024 * 1024;

/** Keeps the large images of a node; kubelets report up to fifty. */
export function slimNode(whole: Node): Node {
  const node = withoutManagedFields(whole);
  const { images, ...status } = node.status ?? {};
  if (images === undefined) return node;
  const large = images.filter(({ sizeBytes = 0 }) => sizeBytes >= LARGE_BYTES);
  return { ...node, status: { ...status, ...(large.length > 0 && { images: large }) } };
}
