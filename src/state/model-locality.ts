/** Nodes that hold the image of a model's pods, or a cache of the model. Pure. */
import type { Pod } from '../apis/kubernetes/pod.ts';
import { MODEL_CACHE_PREFIX } from '../apis/spindrift/labels.ts';
import type { Alternatives, ExistingNode, Labels, Requirement } from '../engine/problem.ts';
import { type ModelLookup, modelName } from './model-flavors.ts';
import { labelsOf, type StateNode } from './state-node.ts';

/** Prefix of images among labels: no real label starts with it. */
const IMAGE = 'image:';

/** The model cache and the images of a pod, as label keys, the cache first; none for pods that serve no model. */
export function fetchedBy(pod: Pod, models: ModelLookup | undefined): readonly string[] {
  const leader = modelName(pod) === undefined ? models?.leader?.(pod)?.pod : pod;
  const model = leader && modelName(leader);
  if (model === undefined || models === undefined || models.presence === 'missing') return [];
  const images = pod.spec.containers.flatMap(({ image }) => (image ? [`${IMAGE}${fullImageName(image)}`] : []));
  return [`${MODEL_CACHE_PREFIX}${model}`, ...new Set(images)];
}

/** The images that a node holds, as labels beside its own. */
export function heldBy({ node }: StateNode): Labels {
  const names = node?.status?.images?.flatMap((image) => image.names ?? []) ?? [];
  return Object.fromEntries(names.map((name) => [`${IMAGE}${fullImageName(name)}`, '']));
}

/** The model caches and images that at least one node holds. */
export function heldBySome(nodes: readonly StateNode[]): ReadonlySet<string> {
  const held = new Set<string>();
  for (const state of nodes) {
    for (const key of Object.keys(labelsOf(state))) if (key.startsWith(MODEL_CACHE_PREFIX)) held.add(key);
    for (const key of Object.keys(heldBy(state))) held.add(key);
  }
  return held;
}

/** Nodes to prefer: first nodes that hold everything, then nodes with the cache, then nodes with an image. A cache takes longer to fill. */
export function preferredNodes(fetched: readonly string[], held: ReadonlySet<string>): Alternatives {
  const terms = fetched
    .filter((key) => held.has(key))
    .map((key): Requirement => ({ key, operator: 'Exists', values: [] }));
  return terms.length < 2 ? terms.map((term) => [term]) : [terms, ...terms.map((term) => [term])];
}

/** The images and caches that a node holds for a pod, as text for users; empty for none. */
export function heldText({ labels }: Pick<ExistingNode, 'labels'>, preferred: Alternatives = []): string {
  const keys = new Set(preferred.flat().flatMap(({ key }) => (labels[key] === undefined ? [] : [key])));
  const words = [...keys].map((key) => (key.startsWith(IMAGE) ? 'its image' : 'a cache of its model'));
  return [...new Set(words)].join(' and ');
}

/** The image name with registry and tag, as kubelets report it; people leave both out. */
export function fullImageName(name: string): string {
  const [first = '', ...rest] = name.split('/');
  const hasHost = rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost');
  const full = hasHost ? name : `docker.io/${rest.length === 0 ? 'library/' : ''}${name}`;
  const last = full.slice(full.lastIndexOf('/') + 1);
  return last.includes(':') || last.includes('@') ? full : `${full}:latest`;
}
