/** The messages of a large account: a third each spot warning, state change and scheduled change, with what goes wrong. */
import type { Random } from '../../src/platform/random.ts';

export interface MixedMessages {
  readonly bodies: readonly string[];
  /** Machines of ours that something is said about. */
  readonly ours: ReadonlySet<string>;
}

const DUPLICATES = 0.1;
const FOREIGN = 0.3;
const JUNK = 0.02;
const KINDS = ['spot', 'state', 'health'] as const;

/** So many messages, or all of them foreign. */
export function mixedMessages(count: number, random: Random, time: string, allForeign = false): MixedMessages {
  const ours = new Set<string>();
  const bodies: string[] = [];
  for (let index = 0; bodies.length < count; index++) {
    if (!allForeign && random.next() < JUNK) {
      bodies.push(random.next() < 0.5 ? '{"detail-type":' : JSON.stringify({ hello: index }));
      continue;
    }
    const isForeign = allForeign || random.next() < FOREIGN;
    // Ours are numbered without gaps, as the machines of a standing fleet are.
    const machine = `i-${isForeign ? 'f' : '0'}${String(isForeign ? index : ours.size).padStart(16, '0')}`;
    if (!isForeign) ours.add(machine);
    const body = JSON.stringify(event(allForeign ? 'spot' : (KINDS[index % 3] ?? 'spot'), machine, time));
    bodies.push(body);
    if (!allForeign && bodies.length < count && random.next() < DUPLICATES) bodies.push(body);
  }
  return { bodies, ours };
}

function event(kind: (typeof KINDS)[number], machine: string, time: string): object {
  const common = { version: '0', id: machine, account: '123456789012', region: 'us-east-1', time, resources: [] };
  switch (kind) {
    case 'spot': {
      const detail = { 'instance-id': machine, 'instance-action': 'terminate' };
      return { ...common, source: 'aws.ec2', 'detail-type': 'EC2 Spot Instance Interruption Warning', detail };
    }
    case 'state': {
      const detail = { 'instance-id': machine, state: 'stopping' };
      return { ...common, source: 'aws.ec2', 'detail-type': 'EC2 Instance State-change Notification', detail };
    }
    case 'health': {
      const detail = {
        service: 'EC2',
        eventTypeCode: 'AWS_EC2_INSTANCE_STOP_SCHEDULED',
        eventTypeCategory: 'scheduledChange',
        startTime: time,
        affectedEntities: [{ entityValue: machine }],
      };
      return { ...common, source: 'aws.health', 'detail-type': 'AWS Health Event', detail };
    }
  }
}
