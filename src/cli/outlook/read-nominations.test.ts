import { describe, expect, it } from 'vitest';
import type { Event } from '../../apis/kubernetes/event.ts';
import type { Pod } from '../../apis/kubernetes/pod.ts';
import { nominated } from '../../controllers/provisioning/events.ts';
import { type EpochMs, parseTimestamp, toTimestamp } from '../../platform/clock.ts';
import { aPodAsking } from '../../state/testkit/a-state-node.ts';
import { places } from './read-nominations.ts';

const NOW = parseTimestamp('2030-01-01T12:00:00Z') as EpochMs;

function pod(name: string, nodeName?: string): Pod {
  const base = aPodAsking(name, { cpu: '1' }, nodeName === undefined ? {} : { nodeName });
  return { ...base, metadata: { ...base.metadata, uid: `uid-${name}` } };
}

/** The pod was told so many seconds ago. */
function told(about: Pod, where: string, secondsAgo: number): Event {
  const { reason, message, type } = nominated(about, where);
  const { name = '', namespace = '', uid = '' } = about.metadata;
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `${name}.${secondsAgo}`, namespace },
    involvedObject: { kind: 'Pod', name, namespace, uid },
    type,
    reason,
    message,
    lastTimestamp: toTimestamp((NOW - secondsAgo * 1000) as EpochMs),
  };
}

function nodes(events: readonly Event[], ...pods: readonly Pod[]): string[] {
  const known = new Map(pods.map((one) => [one.metadata.name, one]));
  return places(events, { get: ({ name }) => known.get(name) }, NOW).map(({ node }) => node);
}

describe('places that pods were told of', () => {
  it('are kept while the pod has not come, by the names that the state has', () => {
    const [web, db] = [pod('web'), pod('db')];
    const events = [told(web, 'node/general-1', 60), told(db, 'nodeclaim/general-2', 60)];
    expect(nodes(events, web, db)).toEqual(['general-1', 'nodeclaim/general-2']);
  });

  it('are kept for a while after it has come, as others may have been meant', () => {
    const web = pod('web', 'general-1');
    expect(nodes([told(web, 'node/general-1', 5)], web)).toEqual(['general-1']);
    expect(nodes([told(web, 'node/general-1', 30)], web)).toEqual([]);
  });

  it('are given up when the pod does not come, is gone, or is another one by now', () => {
    const web = pod('web');
    expect(nodes([told(web, 'node/general-1', 601)], web)).toEqual([]);
    expect(nodes([told(web, 'node/general-1', 5)])).toEqual([]);
    const another = { ...web, metadata: { ...web.metadata, uid: 'another' } };
    expect(nodes([told(web, 'node/general-1', 5)], another)).toEqual([]);
  });

  it('are those that were named last', () => {
    const web = pod('web');
    expect(nodes([told(web, 'node/new', 10), told(web, 'node/old', 60)], web)).toEqual(['new']);
  });

  it('may be a claim and its node in one sentence, as Karpenter writes it', () => {
    const web = pod('web');
    expect(nodes([told(web, 'nodeclaim/general-1, node/ip-1', 60)], web)).toEqual(['nodeclaim/general-1', 'ip-1']);
  });

  it('are nowhere in an event that says something else', () => {
    const web = pod('web');
    expect(nodes([{ ...told(web, 'x', 5), message: 'Nominated for something' }], web)).toEqual([]);
  });
});
