import { describe, expect, test } from 'vitest';
import type { Written } from '../schema/with-defaults.ts';
import type { Ec2NodeClass, Ec2NodeClassSpec } from './ec2-node-class.ts';
import { ec2NodeClassHash } from './ec2-node-class-hash.ts';

const BASE: Written<Ec2NodeClassSpec> = {
  amiSelectorTerms: [],
  role: 'role-1',
  tags: { 'keyTag-1': 'valueTag-1', 'keyTag-2': 'valueTag-2' },
  context: 'fake-context',
  detailedMonitoring: false,
  associatePublicIPAddress: false,
  metadataOptions: {
    httpEndpoint: 'disabled',
    httpProtocolIPv6: 'disabled',
    httpPutResponseHopLimit: 1,
    httpTokens: 'optional',
  },
  blockDeviceMappings: [
    {
      deviceName: 'map-device-1',
      ebs: {
        deleteOnTermination: false,
        encrypted: false,
        iops: 0,
        kmsKeyID: 'fakeKMSKeyID',
        snapshotID: 'fakeSnapshot',
        throughput: 0,
        volumeSize: '2G',
        volumeType: 'standard',
      },
    },
    { deviceName: 'map-device-2' },
  ],
  userData: 'userdata-test-1',
};
const BASE_HASH = '2608468723537941485';
const CA = 'test-ca-bundle';

const hashOf = (changes: Written<Ec2NodeClassSpec>): string =>
  ec2NodeClassHash({ metadata: { name: 'x' }, spec: { ...BASE, ...changes } } as unknown as Ec2NodeClass, CA);

describe('the hash of an EC2NodeClass is the one Karpenter 1.14 computes', () => {
  test.each([
    ['as it is', BASE_HASH, {}],
    ['user data', '2153344579995979450', { userData: 'userdata-test-2' }],
    ['context', '11612053647989098410', { context: 'context-2' }],
    ['monitoring', '11845605438531206428', { detailedMonitoring: true }],
    ['local disks', '6430637013089544585', { instanceStorePolicy: 'RAID0' }],
    ['public address', '6811176403923819181', { associatePublicIPAddress: true }],
    ['connection tracking', '12177489405137904098', { connectionTracking: { tcpEstablishedTimeout: 300 } }],
    ['nested virtual machines', '17001101224536964682', { cpuOptions: { nestedVirtualization: 'enabled' } }],
    ['metadata', '12408995450371615650', { metadataOptions: { ...BASE.metadataOptions, httpTokens: 'required' } }],
    ['instance profile', '3585768058063247698', { role: '', instanceProfile: 'test-instance-profile' }],
  ] satisfies [string, string, Written<Ec2NodeClassSpec>][])('%s', (_, hash, changes) => {
    expect(hashOf(changes)).toBe(hash);
  });

  test('the size of a volume counts', () => {
    const [first, second] = BASE.blockDeviceMappings ?? [];
    const changed = { ...first, ebs: { ...first?.ebs, volumeSize: '10G' } };
    expect(hashOf({ blockDeviceMappings: [changed, second ?? {}] })).toBe('3564293065344858862');
  });

  test('the order of lists and tags does not count', () => {
    expect(hashOf({ blockDeviceMappings: [...(BASE.blockDeviceMappings ?? [])].reverse() })).toBe(BASE_HASH);
    expect(hashOf({ tags: { 'keyTag-2': 'valueTag-2', 'keyTag-1': 'valueTag-1' } })).toBe(BASE_HASH);
  });

  test('selectors do not count', () => {
    expect(hashOf({ subnetSelectorTerms: [{ id: 'subnet-1' }], ipPrefixCount: 3 })).toBe(BASE_HASH);
  });
});
