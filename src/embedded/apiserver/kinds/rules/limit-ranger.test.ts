import { describe, expect, it } from 'vitest';
import { NAMESPACES } from '../../../../apis/kubernetes/core.ts';
import { LIMIT_RANGES, type LimitRange, type LimitRangeItem } from '../../../../apis/kubernetes/limit-range.ts';
import { PODS, type ResourceRequirements } from '../../../../apis/kubernetes/pod.ts';
import { PERSISTENT_VOLUME_CLAIMS } from '../../../../apis/kubernetes/volumes.ts';
import { seededRandom } from '../../../../platform/random.ts';
import { VirtualClock } from '../../../../platform/virtual-clock.ts';
import { InMemoryClient } from '../../../in-memory-client.ts';
import { aPod } from '../../../testkit/objects.ts';
import { ApiServer } from '../../api-server.ts';

const NAMESPACE = 'limited';

async function limited(...limits: LimitRangeItem[]) {
  const client = new InMemoryClient(new ApiServer({ clock: new VirtualClock(), random: seededRandom(1) }));
  await client.create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: NAMESPACE } });
  const range: LimitRange = {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'range', namespace: NAMESPACE },
    spec: { limits },
  };
  const made = await client.create(LIMIT_RANGES, range);
  const pod = (resources: ResourceRequirements, name = 'p') =>
    client.create(
      PODS,
      aPod(name, { namespace: NAMESPACE, spec: { containers: [{ name: 'main', image: 'app', resources }] } }),
    );
  return { client, made, pod };
}

describe('a LimitRange', () => {
  it('implies defaults from its bounds', async () => {
    const { made } = await limited({ type: 'Container', max: { cpu: '2' }, min: { cpu: '100m', memory: '64Mi' } });
    expect(made.spec?.limits).toEqual([
      {
        type: 'Container',
        max: { cpu: '2' },
        min: { cpu: '100m', memory: '64Mi' },
        default: { cpu: '2' },
        defaultRequest: { cpu: '2', memory: '64Mi' },
      },
    ]);
  });

  it('is refused when its bounds contradict each other', async () => {
    await expect(limited({ type: 'Container', min: { cpu: '2' }, max: { cpu: '1' } })).rejects.toThrow(
      'min value 2 is greater than max value 1',
    );
    await expect(limited({ type: 'Pod', default: { cpu: '2' } })).rejects.toThrow(
      "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'",
    );
  });
});

describe('a pod in a namespace with a LimitRange', () => {
  it('gets the default request and limit for what it does not say, and is told so', async () => {
    const { pod } = await limited({
      type: 'Container',
      default: { cpu: '3', memory: '1Gi' },
      defaultRequest: { cpu: '2' },
    });
    const made = await pod({ requests: { memory: '512Mi' } });
    expect(made.spec.containers[0]?.resources).toEqual({
      requests: { cpu: '2', memory: '512Mi' },
      limits: { cpu: '3', memory: '1Gi' },
    });
    expect(made.metadata.annotations).toEqual({
      'kubernetes.io/limit-ranger':
        'LimitRanger plugin set: cpu request for container main; cpu, memory limit for container main',
    });
    expect(made.status?.qosClass).toBe('Burstable');
  });

  it('keeps its own limit as request before the default request is looked at', async () => {
    const { pod } = await limited({ type: 'Container', defaultRequest: { cpu: '2' } });
    const made = await pod({ limits: { cpu: '1' } });
    expect(made.spec.containers[0]?.resources).toEqual({ requests: { cpu: '1' }, limits: { cpu: '1' } });
    expect(made.metadata.annotations).toBeUndefined();
  });

  it.each<[string, LimitRangeItem, ResourceRequirements, string]>([
    [
      'below the minimum',
      { type: 'Container', min: { cpu: '200m' } },
      { requests: { cpu: '100m' } },
      'pods "p" is forbidden: minimum cpu usage per Container is 200m, but request is 100m',
    ],
    [
      'above the maximum',
      { type: 'Container', max: { memory: '1Gi' } },
      { requests: { memory: '2Gi' }, limits: { memory: '2Gi' } },
      'maximum memory usage per Container is 1Gi, but limit is 2Gi',
    ],
    [
      'above the maximum of pods without a limit',
      { type: 'Pod', max: { cpu: '1' } },
      { requests: { cpu: '1' } },
      'maximum cpu usage per Pod is 1.  No limit is specified',
    ],
    [
      'with too high a limit for its request',
      { type: 'Container', maxLimitRequestRatio: { cpu: '2' } },
      { requests: { cpu: '1' }, limits: { cpu: '3' } },
      'cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000',
    ],
  ])('is refused %s', async (_, item, resources, message) => {
    const { pod } = await limited(item);
    await expect(pod(resources)).rejects.toThrow(message);
  });

  it('is let be in another namespace', async () => {
    const { client } = await limited({ type: 'Container', default: { cpu: '3' } });
    const made = await client.create(PODS, aPod('elsewhere'));
    expect(made.spec.containers[0]?.resources).toEqual({});
  });
});

it('refuses a volume claim that asks for more storage than its namespace allows', async () => {
  const { client } = await limited({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } });
  const claim = (storage: string) =>
    client.create(PERSISTENT_VOLUME_CLAIMS, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      metadata: { name: `data-${storage.toLowerCase()}`, namespace: NAMESPACE },
      spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } },
    });
  await expect(claim('2Gi')).rejects.toThrow(
    'maximum storage usage per PersistentVolumeClaim is 1Gi, but request is 2Gi',
  );
  await expect(claim('1Gi')).resolves.toBeDefined();
});
