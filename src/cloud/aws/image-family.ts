/** What differs between the families of images: devices, disks, and how many pods kubelet may be told of. */

import type { BlockDeviceMapping } from '../../apis/aws/ec2-node-class.ts';
import type { AmiFamily } from '../../apis/aws/ec2-node-class-schema.ts';

export interface ImageFamily {
  readonly os: 'linux' | 'windows';
  /** Windows only: as kubelet labels the node. */
  readonly windowsBuild?: string;
  /** The device that kubelet and containers use; unknown for images of an own build. */
  readonly dataDevice?: string;
  /** The disks of an instance when the node class names none; none where the image decides. */
  readonly disks: readonly BlockDeviceMapping[];
  /** Whether pods are limited by network interfaces; where not, there are 110. */
  readonly limitsPodsByInterfaces: boolean;
  /** Whether what kubelet keeps is counted from the pods that interfaces allow, also where maxPods is set. */
  readonly reservesByInterfaces: boolean;
  readonly knowsPodsPerCore: boolean;
}

const GP3 = { encrypted: true, volumeType: 'gp3' } as const;

function disk(deviceName: string, volumeSize: string): BlockDeviceMapping {
  return { deviceName, ebs: { ...GP3, volumeSize } };
}

const LINUX: ImageFamily = {
  os: 'linux',
  dataDevice: '/dev/xvda',
  disks: [disk('/dev/xvda', '20Gi')],
  limitsPodsByInterfaces: true,
  reservesByInterfaces: true,
  knowsPodsPerCore: true,
};

function windows(windowsBuild: string): ImageFamily {
  return {
    os: 'windows',
    windowsBuild,
    dataDevice: '/dev/sda1',
    disks: [disk('/dev/sda1', '50Gi')],
    limitsPodsByInterfaces: false,
    reservesByInterfaces: false,
    knowsPodsPerCore: true,
  };
}

export const IMAGE_FAMILIES: Readonly<Record<AmiFamily, ImageFamily>> = {
  AL2: LINUX,
  AL2023: LINUX,
  Bottlerocket: {
    ...LINUX,
    dataDevice: '/dev/xvdb',
    disks: [disk('/dev/xvda', '4Gi'), disk('/dev/xvdb', '20Gi')],
    reservesByInterfaces: false,
    knowsPodsPerCore: false,
  },
  Custom: { os: 'linux', disks: [], limitsPodsByInterfaces: true, reservesByInterfaces: true, knowsPodsPerCore: true },
  Windows2019: windows('10.0.17763'),
  Windows2022: windows('10.0.20348'),
  Windows2025: windows('10.0.26100'),
};
