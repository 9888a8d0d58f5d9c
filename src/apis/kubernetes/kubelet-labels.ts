type Labels = Readonly<Record<string, string>>;

/** The labels that every kubelet writes on its node, with the deprecated names of two; given labels win. */
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
