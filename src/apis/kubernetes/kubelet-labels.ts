type Labels = Readonly<Record<string, string>>;

/** What every kubelet writes on its node, the old names of two labels among them; what is known of the node comes first. */
export function kubeletLabels(name: string, labels: Labels = {}): Labels {
  const { 'kubernetes.io/os': os = 'linux', 'kubernetes.io/arch': arch = 'amd64' } = labels;
  return {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': os,
    'kubernetes.io/arch': arch,
    'beta.kubernetes.io/os': os,
    'beta.kubernetes.io/arch': arch,
    ...labels,
  };
}
