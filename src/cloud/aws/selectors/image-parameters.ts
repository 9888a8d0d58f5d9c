/** The SSM parameters in which AWS publishes the images of a family, with the machines each is for. */
import type { AmiAlias, AmiStatus } from '../../../apis/aws/ec2-node-class.ts';
import { LABEL_ACCELERATOR_COUNT, LABEL_GPU_COUNT } from '../../../apis/aws/labels.ts';
import { LABEL_ARCH } from '../../../apis/karpenter/labels.ts';

export interface ImageParameter {
  readonly name: string;
  readonly requirements: AmiStatus['requirements'];
}

type Requirement = AmiStatus['requirements'][number];
type Variant = 'standard' | 'nvidia' | 'neuron';

const AMD64: Requirement = { key: LABEL_ARCH, operator: 'In', values: ['amd64'] };
const ARM64: Requirement = { key: LABEL_ARCH, operator: 'In', values: ['arm64'] };

const VARIANTS: Readonly<Record<Variant, readonly Requirement[]>> = {
  standard: [
    { key: LABEL_GPU_COUNT, operator: 'DoesNotExist' },
    { key: LABEL_ACCELERATOR_COUNT, operator: 'DoesNotExist' },
  ],
  nvidia: [{ key: LABEL_GPU_COUNT, operator: 'Exists' }],
  neuron: [{ key: LABEL_ACCELERATOR_COUNT, operator: 'Exists' }],
};

/** The parameters of an alias for a version of Kubernetes, `1.33`. */
export function imageParameters({ family, version }: AmiAlias, kubernetes: string): ImageParameter[] {
  const latest = version === 'latest';
  const optimized = `/aws/service/eks/optimized-ami/${kubernetes}`;
  switch (family) {
    case 'AL2': {
      const at = (variant: '' | 'arm64-' | 'gpu-'): string => {
        const folder = `${optimized}/amazon-linux-2${variant === '' ? '' : `-${variant.slice(0, -1)}`}`;
        return `${folder}/${latest ? 'recommended' : `amazon-eks-${variant}node-${kubernetes}-${version}`}/image_id`;
      };
      return [
        parameter(at(''), 'standard', AMD64),
        parameter(at('arm64-'), 'standard', ARM64),
        parameter(at('gpu-'), 'nvidia', AMD64),
        parameter(at('gpu-'), 'neuron', AMD64),
      ];
    }
    case 'AL2023': {
      const at = (arch: 'x86_64' | 'arm64', variant: Variant): string =>
        `${optimized}/amazon-linux-2023/${arch}/${variant}/${latest ? 'recommended' : `amazon-eks-node-al2023-${arch}-${variant}-${kubernetes}-${version}`}/image_id`;
      return [
        parameter(at('x86_64', 'standard'), 'standard', AMD64),
        parameter(at('arm64', 'standard'), 'standard', ARM64),
        parameter(at('x86_64', 'nvidia'), 'nvidia', AMD64),
        parameter(at('arm64', 'nvidia'), 'nvidia', ARM64),
        parameter(at('x86_64', 'neuron'), 'neuron', AMD64),
      ];
    }
    case 'Bottlerocket': {
      const at = (flavor: '' | '-nvidia', arch: 'x86_64' | 'arm64'): string =>
        `/aws/service/bottlerocket/aws-k8s-${kubernetes}${flavor}/${arch}/${version.replace(/^v/, '')}/image_id`;
      return [
        parameter(at('', 'x86_64'), 'standard', AMD64),
        parameter(at('', 'arm64'), 'standard', ARM64),
        parameter(at('-nvidia', 'x86_64'), 'nvidia', AMD64),
        parameter(at('-nvidia', 'arm64'), 'nvidia', ARM64),
        parameter(at('', 'x86_64'), 'neuron', AMD64),
      ];
    }
    case 'Windows2019':
    case 'Windows2022':
    case 'Windows2025': {
      const name = `/aws/service/ami-windows-latest/Windows_Server-${family.slice(7)}-English-Core-EKS_Optimized-${kubernetes}/image_id`;
      return [{ name, requirements: [AMD64] }];
    }
    case 'Custom':
      return [];
  }
}

/** Why a family has no images for a version of Kubernetes; undefined if it has some. */
export function unsupportedAlias({ family }: AmiAlias, kubernetes: string): string | undefined {
  const minor = Number(kubernetes.split('.')[1] ?? 0);
  if (family === 'AL2' && minor >= 33)
    return `there are no images of AL2 for Kubernetes ${kubernetes}: use al2023 or bottlerocket`;
  if (family === 'Windows2025' && minor < 35)
    return `there are no images of Windows 2025 before Kubernetes 1.35, and this is ${kubernetes}`;
  return undefined;
}

function parameter(name: string, variant: Variant, arch: Requirement): ImageParameter {
  return { name, requirements: [arch, ...VARIANTS[variant]] };
}
