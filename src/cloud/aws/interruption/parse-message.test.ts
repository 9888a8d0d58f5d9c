import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type EpochMs, parseTimestamp } from '../../../platform/clock.ts';
import { CHECK_DETAIL_TYPE, CHECK_SOURCE, parseMessage } from './parse-message.ts';
import { anEvent, type EventParts, healthEvent, SENT_AT, spotWarning, stateChange } from './testkit/messages.ts';

const I = 'i-0123456789abcdef0';
const at = parseTimestamp('2026-01-02T03:04:05Z') as EpochMs;
const parse = (message: unknown) => parseMessage(JSON.stringify(message), SENT_AT);
const read = (parts: EventParts) => parse(anEvent(parts));

describe('a message of the interruption queue', () => {
  it('that warns of a spot interruption gives the machine, when it was said and two minutes', () => {
    expect(parse(spotWarning(I))).toEqual({
      kind: 'spot_interrupted',
      warnings: [
        {
          kind: 'spot-interruption',
          about: { machine: I },
          at,
          deadline: at + 120_000,
          detail: 'Spot interruption warning was triggered',
        },
      ],
    });
  });

  it('of a hibernation leaves no time at all', () => {
    const detail = { 'instance-id': I, 'instance-action': 'hibernate' };
    const { warnings } = read({ type: 'EC2 Spot Instance Interruption Warning', detail });
    expect(warnings[0]).toMatchObject({ deadline: at, detail: 'Spot interruption warning was triggered (hibernate)' });
  });

  it('means the same wrapped by SNS', () => {
    const wrapped = { Type: 'Notification', MessageId: 'x', TopicArn: 'arn', Message: JSON.stringify(spotWarning(I)) };
    expect(parse(wrapped)).toEqual(parse(spotWarning(I)));
    expect(parse({ Type: 'Notification', Message: 'no event' }).kind).toBe('junk');
  });

  it.each([
    ['stopping', 'instance_stopped', 'stopping'],
    ['stopped', 'instance_stopped', 'stopping'],
    ['shutting-down', 'instance_terminated', 'terminated'],
    ['terminated', 'instance_terminated', 'terminated'],
  ])('of a state that ends a machine (%s) is one, any other is none', (state, kind, notice) => {
    const parsed = parse(stateChange(I, state));
    expect([parsed.kind, parsed.warnings[0]?.kind]).toEqual([kind, notice]);
    expect(parse(stateChange(I, 'running'))).toEqual({ kind: 'no_op', warnings: [] });
    expect(parse(stateChange(I, `un${state}`))).toEqual({ kind: 'no_op', warnings: [] });
  });

  it('of AWS Health gives each affected instance once, with the start as its deadline', () => {
    const entities = [I, 'vol-0123456789abcdef0', 'i-00000000000000001', I, 7, null].map((entityValue) => ({
      entityValue,
    }));
    const { kind, warnings } = parse(healthEvent(entities));
    expect(kind).toBe('scheduled_change');
    expect(warnings.map(({ about }) => about)).toEqual([{ machine: I }, { machine: 'i-00000000000000001' }]);
    expect(warnings[0]).toMatchObject({
      kind: 'scheduled-maintenance',
      deadline: parseTimestamp('2026-01-09T15:10:09Z'),
      detail: 'AWS Health announces a scheduled change (AWS_EC2_INSTANCE_STOP_SCHEDULED)',
    });
  });

  it.each([
    { service: 'RDS' },
    { eventTypeCategory: 'accountNotification' },
    { statusCode: 'closed' },
    { affectedEntities: 'i-0123456789abcdef0' },
  ])('of AWS Health about something else is none: %o', (changed) => {
    expect(parse(healthEvent([{ entityValue: I }], changed))).toEqual({ kind: 'no_op', warnings: [] });
  });

  it.each([
    'EC2 Capacity Reservation Instance Interruption Warning',
    'EC2 Interruptible Capacity Reservation Instance Interruption Warning',
  ])('named "%s" ends a machine at the time that it says, also where resources is a text', (type) => {
    const detail = {
      'instance-id': I,
      'instance-action': 'terminate',
      'instance-termination-time': '2026-01-02T03:06:00Z',
    };
    const { kind, warnings } = read({ type, detail, resources: 'arn:aws:ec2:us-east-1' });
    expect(kind).toBe('capacity_reservation_interrupted');
    expect(warnings[0]?.deadline).toBe(parseTimestamp('2026-01-02T03:06:00Z'));
    expect(read({ type, detail: { 'instance-id': I } }).warnings[0]?.deadline).toBe(at + 120_000);
  });

  it('of a capacity block that ends speaks of the reservation, half an hour before its end', () => {
    const detail = { 'capacity-reservation-id': 'cr-0123456789abcdef0', 'end-date': '2026-01-02T03:44:05Z' };
    const { kind, warnings } = read({ type: 'Capacity Block Reservation Expiration Warning', detail });
    expect(kind).toBe('capacity_block_expiring');
    expect(warnings[0]).toMatchObject({ about: { reservation: 'cr-0123456789abcdef0' }, deadline: at + 600_000 });
  });

  it.each([
    { Event: 'autoscaling:TEST_NOTIFICATION', RequestId: 'r' },
    { LifecycleTransition: 'autoscaling:EC2_INSTANCE_TERMINATING', EC2InstanceId: I },
    anEvent({ source: 'aws.autoscaling', type: 'EC2 Instance-terminate Lifecycle Action', detail: {} }),
  ])('of an Auto Scaling group is left to that group', (message) => {
    expect(parse(message)).toEqual({ kind: 'lifecycle_action', warnings: [] });
  });

  it('that a check sent gives the token back', () => {
    const message = anEvent({ source: CHECK_SOURCE, type: CHECK_DETAIL_TYPE, detail: { token: 't' } });
    expect(parse(message)).toEqual({ kind: 'check', warnings: [], token: 't' });
  });

  it('is not believed about a time after it was sent, or centuries away', () => {
    const later = { ...spotWarning(I), time: '2026-01-02T09:00:00Z' };
    expect(parse(later).warnings[0]?.at).toBe(SENT_AT);
    expect(parse({ ...spotWarning(I), time: '1206-01-02T03:04:05Z' }).warnings[0]?.at).toBe(SENT_AT);
    expect(parse({ ...spotWarning(I), time: 7 }).warnings[0]?.at).toBe(SENT_AT);
  });

  it.each([
    ['another version', { ...spotWarning(I), version: '1' }, 'no_op'],
    ['a version of another type', { ...spotWarning(I), version: 0 }, 'no_op'],
    ['another source', { ...spotWarning(I), source: 'aws.evil' }, 'no_op'],
    ['an ID that is none', spotWarning('i-xyz; rm -rf /'), 'no_op'],
    ['an ID of another type', spotWarning([I] as never), 'no_op'],
    ['no detail', { ...spotWarning(I), detail: undefined }, 'no_op'],
    ['the name of a method', { ...spotWarning(I), source: '__proto__', 'detail-type': 'constructor' }, 'no_op'],
    ['a list', [], 'junk'],
    ['null', null, 'junk'],
    ['nothing', {}, 'junk'],
  ])('with %s is not acted on', (_, message, kind) => {
    expect(parse(message)).toEqual({ kind, warnings: [] });
  });

  it('that is no JSON, or larger than any can be, is junk', () => {
    expect(parseMessage('', SENT_AT).kind).toBe('junk');
    expect(parseMessage('{"detail-type":', SENT_AT).kind).toBe('junk');
    expect(parseMessage(JSON.stringify({ ...spotWarning(I), fill: 'x'.repeat(2 ** 20) }), SENT_AT).kind).toBe('junk');
  });
});

/** Set FC_RUNS=100000 for a longer search. */
const RUNS = fc.readConfigureGlobal()?.numRuns ?? 4000;

describe('messages that nobody can foresee', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom(I, 'aws.ec2', 'terminated', '0', '2026-01-02T03:04:05Z'));
  const whole = [spotWarning(I), stateChange(I, 'terminated'), healthEvent([{ entityValue: I }])];
  const paths = ['version', 'source', 'detail-type', 'time', 'resources', 'detail', 'id'];
  const broken = fc
    .record({
      base: fc.constantFrom(...whole),
      path: fc.constantFrom(...paths),
      value: fc.oneof(text, fc.jsonValue(), fc.constant(undefined)),
    })
    .map(({ base, path, value }) => ({ changed: { ...base, [path]: value }, path }));

  it('never throw, and give only warnings that name a machine, with times that can be', () => {
    const any = fc.oneof(
      fc.string(),
      fc.json(),
      broken.map(({ changed }) => JSON.stringify(changed)),
      broken.chain(({ changed }) => {
        const whole = JSON.stringify(changed);
        return fc.nat(whole.length).map((length) => whole.slice(0, length));
      }),
    );
    fc.assert(
      fc.property(any, (body) => {
        for (const { about, at, deadline, detail } of parseMessage(body, SENT_AT).warnings) {
          expect('machine' in about ? about.machine : about.reservation).toMatch(/^(?:i|cr)-[0-9a-f]{8,17}$/);
          expect(at).toBeLessThanOrEqual(SENT_AT);
          if (deadline !== undefined) expect(Number.isSafeInteger(deadline)).toBe(true);
          expect(detail.length).toBeLessThan(200);
        }
      }),
      { numRuns: RUNS },
    );
  });

  it('are not acted on when what identifies them has been changed', () => {
    fc.assert(
      fc.property(broken, ({ changed, path }) => {
        if (!['version', 'source', 'detail-type'].includes(path)) return;
        if (whole.some((base) => JSON.stringify(base) === JSON.stringify(changed))) return;
        expect(parseMessage(JSON.stringify(changed), SENT_AT).warnings).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});
