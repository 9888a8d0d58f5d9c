/** Differences between image families: devices, disks, and the limit on pods. */

import type { BlockDeviceMapping } from '../../apis/aws/ec2-node-class.ts';
import type { AmiFamily } from '../../apis/aws/ec2-node-class-schema.ts';

export interface ImageFamily {
  readonly os: 'linux' | 'windows';
  /** Windows only: the value of the kubelet's windows-build label. */
  readonly windowsBuild?: string;
  /** The device for kubelet and containers; unknown for custom images. */
  readonly dataDevice?: string;
  /** Default disks of an instance; empty if the image decides. */
  readonly disks: readonly BlockDeviceMapping[];
  /** Whether network interfaces limit the number of pods; else the limit is 110. */
  readonly limitsPodsByInterfaces: boolean;
  /** Whether kubelet reservations are computed from the pods that interfaces allow, even if maxPods is set. */
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
