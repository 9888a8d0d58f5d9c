import type { Container, Pod, ResourceList } from '../../../../apis/kubernetes/pod.ts';

/** The QoS class, by which a kubelet chooses the pods to evict first. */
export function qosClass(pod: Pod): 'Guaranteed' | 'Burstable' | 'BestEffort' {
  const containers = [...(pod.spec.containers ?? []), ...(pod.spec.initContainers ?? [])];
  const named = (list: ResourceList | undefined): string[] =>
    ['cpu', 'memory'].filter((name) => list?.[name] !== undefined && list[name] !== '0');
  const guaranteed = (container: Container): boolean => {
    const { requests, limits } = container.resources ?? {};
    return (
      named(limits).length === 2 &&
      named(limits).every((name) => (requests?.[name] ?? limits?.[name]) === limits?.[name])
    );
  };
  if (containers.length > 0 && containers.every(guaranteed)) return 'Guaranteed';
  const asks = containers.some(
    ({ resources }) => named(resources?.requests).length > 0 || named(resources?.limits).length > 0,
  );
  return asks ? 'Burstable' : 'BestEffort';
}
