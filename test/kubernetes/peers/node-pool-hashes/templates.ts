/** Templates of NodePools that together show every rule of the hash; plain JSON, as an API server would store it. */

type Json = Readonly<Record<string, unknown>>;

const CLASS = { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' };
const TAINTS = [
  { key: 'a', value: 'x', effect: 'NoSchedule' },
  { key: 'b', effect: 'NoExecute' },
  { key: 'example.com/c', value: 'true', effect: 'PreferNoSchedule' },
];

/** The list, the same each time. */
export function templates(): readonly Json[] {
  const spec = (fields: Json): Json => ({ spec: { requirements: [], nodeClassRef: CLASS, ...fields } });
  const meta = (metadata: Json): Json => ({ metadata, ...spec({ expireAfter: '720h' }) });
  return [
    spec({}),
    spec({ expireAfter: '720h' }),
    { metadata: {}, ...spec({ expireAfter: '720h' }) },
    spec({ expireAfter: '719h60m' }),
    spec({ expireAfter: 'Never' }),
    spec({ expireAfter: '0s' }),
    spec({ expireAfter: '1h30m15s' }),
    spec({ expireAfter: '2562047h' }),
    spec({ terminationGracePeriod: '0s' }),
    spec({ terminationGracePeriod: '30s' }),
    spec({ terminationGracePeriod: '1h', expireAfter: 'Never' }),
    spec({ requirements: [{ key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'], minValues: 1 }] }),
    spec({ taints: [] }),
    spec({ startupTaints: [] }),
    spec({ taints: TAINTS }),
    spec({ taints: TAINTS.toReversed() }),
    spec({ startupTaints: TAINTS }),
    spec({ taints: TAINTS, startupTaints: TAINTS.slice(1) }),
    // Equal elements of a set cancel each other out.
    spec({ taints: [TAINTS[0], TAINTS[0]] }),
    spec({ taints: [{ key: 'a', value: '', effect: 'NoSchedule' }] }),
    spec({ taints: [{ key: 'a', effect: 'NoSchedule', timeAdded: '2026-11-18T01:02:03Z' }] }),
    spec({ taints: [{ key: 'a', effect: 'NoSchedule', timeAdded: '2026-11-18T01:02:03+05:30' }] }),
    spec({ nodeClassRef: { group: '', kind: 'Old', name: 'x' } }),
    spec({ nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'gpu' } }),
    meta({ labels: {} }),
    meta({ annotations: {} }),
    meta({ labels: {}, annotations: {} }),
    meta({ labels: { team: 'a' } }),
    meta({ labels: { team: '' } }),
    meta({ annotations: { team: 'a' } }),
    meta({ labels: { team: 'a', 'example.com/tier': 'gold', z: '1' }, annotations: { 'k/v': 'line\nbreak "quoted"' } }),
    meta({ annotations: { words: 'Grüße, 世界 🌍', json: '{"a":[1,2,3]}' } }),
    meta({ labels: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`label-${i}`, `value-${i * 7919}`])) }),
    {
      metadata: { labels: { team: 'ml' }, annotations: { owner: 'x' } },
      ...spec({ taints: TAINTS, startupTaints: TAINTS, terminationGracePeriod: '48h', expireAfter: '168h' }),
    },
  ];
}
