/** A node without a machine: kwok keeps it ready and simulates its kubelet. */
export function fakeNode(name: string, labels: Readonly<Record<string, string>> = {}): object {
  const resources = { cpu: '16', memory: '64Gi', pods: '110', 'ephemeral-storage': '100Gi' };
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      annotations: { 'kwok.x-k8s.io/node': 'fake' },
      labels: {
        'kubernetes.io/hostname': name,
        'kubernetes.io/os': 'linux',
        'kubernetes.io/arch': 'amd64',
        ...labels,
      },
    },
    status: { capacity: resources, allocatable: resources },
  };
}
